/**
 * Asking witnesses: honest ones, ones that lie, and ones that aren't there.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cosign, type CosignRequest } from '../../src/attest/witness-client.ts';
import { encodeCheckpoint, parseCheckpoint } from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { MerkleTree, proveConsistency } from '../../src/evidence/merkle.ts';
import { signerKey } from '../../src/evidence/note-key.ts';
import { checkNote, cosignNote, signNote } from '../../src/evidence/note-signature.ts';
import { encodeNote, type Note } from '../../src/evidence/note.ts';
import {
  encodeCosignatures,
  parseAddCheckpoint,
  parseCosignatures,
} from '../../src/evidence/witness.ts';
import { KEY } from '../evidence/notes.ts';
import { flips } from '../evidence/vectors.ts';
import { type Answer, serve, type TestServer, TestWitness } from './test-witness.ts';

const ORIGIN = KEY.verifier.name;
const WITNESS = signerKey(
  'witness.example/w1',
  new Uint8Array(32).fill(5),
  nodeEd25519,
  'cosignature',
);
const OTHER = signerKey(
  'witness.example/w2',
  new Uint8Array(32).fill(6),
  nodeEd25519,
  'cosignature',
);

/** A log whose records are numbers, so that another history is another function. */
class Log {
  readonly #leaves: Uint8Array[] = [];
  readonly #notes: Note[] = [];

  constructor(size: number, record: (i: number) => number = (i) => i) {
    const tree = new MerkleTree();
    for (let i = 0; i <= size; i += 1) {
      const text = encodeCheckpoint({ origin: ORIGIN, size: i, root: tree.root(), extensions: [] });
      this.#notes.push(signNote({ text, signatures: [] }, KEY, nodeEd25519));
      this.#leaves.push(tree.append(new Uint8Array(32).fill(record(i))));
    }
  }

  request(size: number, oldSize = 0): CosignRequest & { asked: number[] } {
    const asked: number[] = [];
    const consistency = (old: number): Uint8Array[] => {
      asked.push(old);
      return proveConsistency(old, size, (level, i) => (level === 0 ? this.#leaves[i] : undefined));
    };
    return { note: this.#notes[size]!, oldSize, consistency, asked };
  }
}

const log = new Log(40);
let witness: TestWitness;
let answer: (body: Buffer) => Answer | Promise<Answer>;
let server: TestServer;

beforeEach(async () => {
  witness = new TestWitness(WITNESS, { [ORIGIN]: [KEY.verifier] });
  answer = (body) => witness.answer(body);
  server = await serve((body) => answer(body));
});

afterEach(() => server.close());

function ask(request: CosignRequest, key = WITNESS.verifier) {
  return cosign({ url: server.url, key }, request);
}

/** The size that the witness has stored. */
function seen(): number | undefined {
  return witness.latest.get(ORIGIN)?.size;
}

describe('an honest witness', () => {
  test('cosigns a log as it grows, and its cosignature is checked', async () => {
    for (const [oldSize, size] of [
      [0, 1],
      [1, 1],
      [1, 7],
      [7, 8],
      [8, 40],
    ] as const) {
      witness.time += 60;
      const request = log.request(size, oldSize);
      const outcome = await ask(request);
      if (outcome.outcome !== 'ok') throw new Error(outcome.detail);
      expect(outcome.time).toBe(witness.time);
      expect(outcome.note.text).toBe(request.note.text);
      const keys = [KEY.verifier, WITNESS.verifier];
      const { verified } = await checkNote(outcome.note, keys, nodeEd25519);
      expect(verified.map(({ key }) => key)).toEqual(keys);
      expect(() => encodeNote(outcome.note)).not.toThrow();
      expect(seen()).toBe(size);
    }
    expect(server.requests).toHaveLength(5);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/add-checkpoint',
      type: 'text/plain; charset=utf-8',
    });
  });

  test('is asked again, once, with the size that it says', async () => {
    await ask(log.request(9));
    for (const guess of [0, 3, 12]) {
      server.requests.length = 0;
      witness.latest.set(ORIGIN, parseCheckpoint(log.request(9).note.text));
      const request = log.request(30, guess);
      expect(await ask(request)).toMatchObject({ outcome: 'ok' });
      expect(request.asked).toEqual(guess === 0 ? [9] : [guess, 9]);
      const sizes = server.requests.map(({ body }) => parseAddCheckpoint(body).oldSize);
      expect(sizes).toEqual([guess, 9]);
    }
  });

  test('that has seen this size already cosigns it again, without a proof', async () => {
    await ask(log.request(9));
    const request = log.request(9, 4);
    expect(await ask(request)).toMatchObject({ outcome: 'ok' });
    expect(request.asked).toEqual([4]);
  });

  test('replaces its own cosignature and leaves the others', async () => {
    const request = log.request(5);
    const before = cosignNote(
      cosignNote(request.note, WITNESS, 5, nodeEd25519),
      OTHER,
      6,
      nodeEd25519,
    );
    const outcome = await ask({ ...request, note: before });
    if (outcome.outcome !== 'ok') throw new Error(outcome.detail);
    expect(outcome.note.signatures.map(({ name }) => name)).toEqual([
      ORIGIN,
      OTHER.verifier.name,
      WITNESS.verifier.name,
    ]);
  });

  test('is found behind a prefix with or without a slash', async () => {
    for (const url of [`${server.url}/a/b`, `${server.url}/a/b//`]) {
      await cosign({ url, key: WITNESS.verifier }, log.request(3));
    }
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(
      new Set(['/a/b/add-checkpoint']),
    );
  });

  test('refuses a log that was cut, and says how much it had seen', async () => {
    await ask(log.request(30));
    server.requests.length = 0;
    for (const guess of [0, 20]) {
      expect(await ask(log.request(20, guess))).toEqual({
        outcome: 'refused',
        status: 409,
        size: 30,
        detail: 'it has seen 30 records of this log, and here are only 20',
      });
    }
    expect(server.requests).toHaveLength(2);
    expect(seen()).toBe(30);
  });

  test('refuses a log that was rewritten: longer, and of the same size', async () => {
    await ask(log.request(30));
    const rewritten = new Log(40, (i) => (i === 3 ? 99 : i));
    expect(await ask(rewritten.request(40))).toEqual({
      outcome: 'refused',
      status: 422,
      detail: 'the consistency proof is wrong',
    });
    expect(await ask(rewritten.request(30))).toEqual({
      outcome: 'refused',
      status: 409,
      size: 30,
      detail: 'it has seen another log of 30 records by this name',
    });
    expect(await ask(log.request(40))).toMatchObject({ outcome: 'ok' });
  });

  test('refuses a log or a key that it does not know', async () => {
    const stranger = signerKey(ORIGIN, new Uint8Array(32).fill(8), nodeEd25519);
    const { note, ...rest } = log.request(3);
    const forged = signNote({ text: note.text, signatures: [] }, stranger, nodeEd25519);
    expect(await ask({ ...rest, note: forged })).toMatchObject({ outcome: 'refused', status: 403 });
    const text = note.text.replace(ORIGIN, 'else.example');
    const other = signNote({ text, signatures: [] }, KEY, nodeEd25519);
    expect(await ask({ ...rest, note: other })).toEqual({
      outcome: 'refused',
      status: 404,
      detail: 'unknown log',
    });
    expect(seen()).toBeUndefined();
  });

  test('never goes back, whatever many ask at once', async () => {
    const sizes = [5, 40, 12, 33, 8, 21, 40, 1];
    const outcomes = await Promise.all(sizes.map((size) => ask(log.request(size))));
    const cosigned = sizes.filter((_, i) => outcomes[i]?.outcome === 'ok');
    expect(cosigned.length).toBeGreaterThan(0);
    expect(seen()).toBe(Math.max(...cosigned));
    for (const outcome of outcomes) expect(outcome.outcome).toMatch(/^(?:ok|refused)$/);
  });

  test('knows after a restart what it knew', async () => {
    await ask(log.request(30));
    witness = new TestWitness(WITNESS, { [ORIGIN]: [KEY.verifier] }, witness.latest);
    expect(await ask(log.request(20))).toMatchObject({ status: 409, size: 30 });
  });
});

describe('a witness that lies', () => {
  const request = log.request(9);
  const lines = encodeCosignatures(
    cosignNote({ ...request.note, signatures: [] }, WITNESS, 7, nodeEd25519).signatures,
  );
  const foreign = encodeCosignatures(
    cosignNote({ ...request.note, signatures: [] }, OTHER, 7, nodeEd25519).signatures,
  );

  test('with lines of others beside its own is believed for its own only', async () => {
    answer = () => ({ status: 200, body: foreign + lines });
    const outcome = await ask(request);
    if (outcome.outcome !== 'ok') throw new Error(outcome.detail);
    expect(outcome.note.signatures.map(({ name }) => name)).toEqual([
      ORIGIN,
      WITNESS.verifier.name,
    ]);
    expect(outcome.time).toBe(7);
  });

  test.each([
    ['nothing', '', /no list of cosignatures/],
    ['a web page', '<html>\n', /no list of cosignatures/],
    ['no newline', lines.trimEnd(), /no list of cosignatures/],
    ['two of one key', lines + lines, /no list of cosignatures/],
    ['another key', foreign, /no right cosignature by witness\.example\/w1/],
    [
      'another checkpoint',
      encodeCosignatures(cosignNote(log.request(8).note, WITNESS, 7, nodeEd25519).signatures),
      /no right cosignature/,
    ],
    [
      'a signature of the plain text',
      encodeCosignatures([
        {
          name: WITNESS.verifier.name,
          keyId: WITNESS.verifier.keyId,
          signature: nodeEd25519.sign(WITNESS.seed, Buffer.from(request.note.text)),
        },
      ]),
      /no right cosignature/,
    ],
  ])('with %s is not believed', async (_, body, words) => {
    answer = () => ({ status: 200, body });
    const outcome = await ask(request);
    expect(outcome).toMatchObject({ outcome: 'refused', status: 200 });
    expect('detail' in outcome && outcome.detail).toMatch(words);
  });

  test('by its name or by its ID alone is somebody else', async () => {
    const { name, keyId } = WITNESS.verifier;
    const [own] = parseCosignatures(lines);
    const strangers = [
      { ...own!, keyId: '00000000' },
      { ...own!, name: 'somebody' },
    ];
    answer = () => ({ status: 200, body: encodeCosignatures(strangers) });
    expect(await ask(request)).toMatchObject({ outcome: 'refused', status: 200 });
    // Neither is put in its place, nor taken for it in the note that we have.
    answer = () => ({ status: 200, body: encodeCosignatures([...strangers, own!]) });
    const signatures = [...request.note.signatures, ...strangers];
    const outcome = await ask({ ...request, note: { ...request.note, signatures } });
    if (outcome.outcome !== 'ok') throw new Error(outcome.detail);
    expect(outcome.note.signatures).toEqual([...signatures, own]);
    expect(own).toMatchObject({ name, keyId });
  });

  test('in one bit of its cosignature is not believed', async () => {
    const [signature] = cosignNote(
      { ...request.note, signatures: [] },
      WITNESS,
      7,
      nodeEd25519,
    ).signatures;
    let tried = 0;
    for (const flipped of flips(signature!.signature)) {
      // One in seven, and all of the time's: a request each takes its time.
      tried += 1;
      if (tried > 64 && tried % 7 !== 0) continue;
      answer = () => ({
        status: 200,
        body: encodeCosignatures([{ ...signature!, signature: flipped }]),
      });
      expect(await ask(request)).toMatchObject({ outcome: 'refused', status: 200 });
    }
    expect(tried).toBe(72 * 8);
  });

  test('by a key that only signs is not believed', async () => {
    const signer = signerKey('w', new Uint8Array(32).fill(5), nodeEd25519);
    const { signatures } = signNote({ ...request.note, signatures: [] }, signer, nodeEd25519);
    answer = () => ({ status: 200, body: encodeCosignatures(signatures) });
    expect(await ask(request, signer.verifier)).toMatchObject({ outcome: 'refused', status: 200 });
  });

  test.each([
    ['text', 'no\n', 'no'],
    ['nothing', '', 'it said no size'],
    ['zeros before', '05\n', '05'],
    ['no newline', '5', '5'],
    ['negative', '-5\n', '-5'],
  ])('about its size (%s) is not asked again', async (_, body, detail) => {
    answer = () => ({ status: 409, body });
    expect(await ask(request)).toEqual({ outcome: 'refused', status: 409, detail });
    expect(server.requests).toHaveLength(1);
  });

  test('with another size each time is asked twice only', async () => {
    let size = 3;
    answer = () => ({ status: 409, body: `${size++}\n` });
    const { outcome, ...rest } = await ask(request);
    expect(outcome).toBe('refused');
    expect(rest).toEqual({
      status: 409,
      size: 4,
      detail: 'it has seen 4 records of this log, not 3',
    });
    expect(server.requests).toHaveLength(2);
  });

  test('by saying the size that it was told is asked once', async () => {
    answer = () => ({ status: 409, body: '3\n' });
    const outcome = await ask(log.request(9, 3));
    expect(outcome).toMatchObject({ status: 409, size: 3 });
    expect('detail' in outcome && outcome.detail).toMatch(/as it was told, and refuses/);
    expect(server.requests).toHaveLength(1);
  });

  test.each([201, 400, 403, 404, 422, 429, 500, 503])('with status %i refuses', async (status) => {
    answer = () => ({ status, body: `because\u001b[31m\r\n  of ${'x'.repeat(500)}` });
    const outcome = await ask(request);
    if (outcome.outcome !== 'refused') throw new Error(outcome.outcome);
    expect(outcome.status).toBe(status);
    expect(outcome.detail).toMatch(/^because \[31m of x+$/);
    expect(outcome.detail.length).toBeLessThanOrEqual(200);
    answer = () => ({ status, body: '' });
    expect(await ask(request)).toMatchObject({ status, detail: 'it said nothing more' });
    expect(server.requests).toHaveLength(2);
  });
});

test.each([301, 302, 307, 308])(
  'a witness that sends us elsewhere (%i) is not followed',
  async (status) => {
    answer = () => ({ status, location: `${server.url}/else`, body: 'moved' });
    expect(await ask(log.request(9))).toEqual({
      outcome: 'refused',
      status,
      detail: 'it sends you to another address: give that one',
    });
    expect(server.requests).toHaveLength(1);
  },
);

describe('a witness that is not there', () => {
  const request = log.request(9);

  async function unreachable(url: string, options: Partial<CosignRequest> = {}): Promise<string> {
    const outcome = await cosign({ url, key: WITNESS.verifier }, { ...request, ...options });
    if (outcome.outcome !== 'unreachable') throw new Error(JSON.stringify(outcome));
    return outcome.detail;
  }

  test('is unreachable, with the reason', async () => {
    const { url } = server;
    await server.close();
    for (const other of [
      url,
      url.replace('http:', 'https:'),
      // Both its addresses, of IPv4 and of IPv6, may be tried: then the fault has a code and no message.
      url.replace('127.0.0.1', 'localhost'),
    ]) {
      expect(await unreachable(other)).toMatch(/ECONNREFUSED/);
    }
    server = await serve((body) => answer(body));
  });

  test('or hangs is given up after the time', async () => {
    answer = () => new Promise<never>(() => undefined);
    expect(await unreachable(server.url, { timeoutMs: 50 })).toBe('no answer within 50 ms');
  });

  test('or is no longer wanted is given up when told', async () => {
    answer = () => new Promise<never>(() => undefined);
    const signal = AbortSignal.abort();
    expect(await unreachable(server.url, { signal })).toMatch(/aborted/);
  });

  test('or says too much is not listened to', async () => {
    answer = () => ({ status: 200, body: 'x'.repeat(100_000) });
    expect(await cosign({ url: server.url, key: WITNESS.verifier }, request)).toMatchObject({
      outcome: 'refused',
    });
    answer = () => ({ status: 200, body: 'x'.repeat(100_001) });
    expect(await unreachable(server.url)).toBe('its answer has over 100000 bytes');
    answer = () => ({ status: 500, body: 'x'.repeat(10_000_000) });
    expect(await unreachable(server.url)).toBe('its answer has over 100000 bytes');
  });

  test.each([
    ['closes the connection', (socket: Socket) => socket.destroy()],
    ['speaks no HTTP', (socket: Socket) => socket.end('hello\r\n\r\n')],
    [
      'stops in the middle',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'),
    ],
    [
      'lies about its encoding',
      (socket: Socket) =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'),
    ],
  ])('or %s is unreachable', async (_, behave) => {
    const raw = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => behave(socket));
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const { port } = raw.address() as AddressInfo;
    expect(await unreachable(`http://127.0.0.1:${port}`)).not.toBe('');
    raw.close();
  });

  test.each([
    ['', /no URL/],
    ['witness.example', /no URL/],
    ['file:///etc', /must be http or https/],
    ['data:text/plain,x', /must be http or https/],
    ['http://user:secret@127.0.0.1:1', /no password/],
  ])('because of its address %j is unreachable', async (url, words) => {
    const detail = await unreachable(url);
    expect(detail).toMatch(words);
    expect(detail).not.toContain('secret');
  });
});

describe('a request that is wrong', () => {
  test('throws before anything is sent', async () => {
    const { note, ...rest } = log.request(9);
    const wrong = [
      { ...rest, note: { ...note, text: 'hello\n' } },
      { ...rest, note: { ...note, signatures: [] } },
      { ...rest, note, oldSize: 10 },
      { ...rest, note, oldSize: -1 },
      { ...rest, note, oldSize: 3, consistency: () => [new Uint8Array(5)] },
    ];
    for (const request of wrong) await expect(ask(request)).rejects.toThrow(EvidenceError);
    const broken = {
      ...rest,
      note,
      oldSize: 3,
      consistency: () => Promise.reject(new RangeError()),
    };
    await expect(ask(broken)).rejects.toThrow(RangeError);
    expect(server.requests).toHaveLength(0);
  });
});
