/**
 * Proofs that are checked alone: whatever is changed in one, it isn't ok.
 *
 * @module
 */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkProof, type ProofReason } from '../../src/attest/check-proof.ts';
import { originOf } from '../../src/attest/log-identity.ts';
import { proveRecord } from '../../src/attest/prove.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { utf8 } from '../../src/evidence/encoding.ts';
import {
  cosignNote,
  encodeCheckpoint,
  encodeTlogProof,
  encodeVerifierKey,
  leafHash,
  parseTlogProof,
  signerKey,
  signNote,
  type TlogProof,
} from '../../src/evidence/index.ts';
import { encodeRecord, GENESIS } from '../../src/transcript/index.ts';
import { flips } from '../evidence/vectors.ts';
import { scratch } from '../store/helpers.ts';
import { signer, userIn, writeLog } from './support.ts';

const newPath = scratch();
const KEY = signer().verifier;
let texts: string[];
let others: string[];

/** A proof of each record of a log that begins as any other of the same id. */
async function proofs(id: string): Promise<string[]> {
  const path = newPath();
  await writeLog(path, userIn(newPath('state')).attesting, { count: 7, id });
  return Promise.all([0, 1, 2, 3, 4, 5, 6].map((seq) => proveRecord(path, seq)));
}

beforeAll(async () => {
  texts = await proofs('one');
  others = await proofs('two');
});

/** The reason why it isn't ok. */
async function fault(text: string | Uint8Array, keys = [KEY]): Promise<ProofReason | undefined> {
  const checked = await checkProof(text, keys);
  expect(checked.ok).toBe(checked.fault === undefined);
  // What nothing vouches for isn't handed on.
  expect('record' in checked).toBe(checked.ok);
  return checked.fault?.reason;
}

/** The third record's proof with some of it replaced. */
function changed(members: Partial<TlogProof>): string {
  return encodeTlogProof({ ...parseTlogProof(texts[2]!), ...members });
}

test('what a proof shows', async () => {
  for (const [seq, text] of texts.entries()) {
    const checked = await checkProof(utf8(text), [signer(2).verifier, KEY]);
    expect(checked).toMatchObject({
      ok: true,
      record: { seq },
      size: 7,
      signed: [encodeVerifierKey(KEY)],
      unknown: [],
    });
    expect(checked.origin).toMatch(/^hashtape\/[0-9a-f]{64}$/);
    expect(checked.record!.kind).toBe(seq === 0 ? 'user' : seq === 6 ? 'final' : 'tool');
  }
});

test('any bit of the file flipped', async () => {
  for (const text of [texts[0]!, texts[3]!]) {
    for (const flipped of flips(utf8(text))) {
      expect((await checkProof(flipped, [KEY])).ok).toBe(false);
    }
  }
});

test('any line left out, put in or exchanged; any other end', async () => {
  const text = texts[3]!;
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i += 1) {
    const [line = '', next = ''] = lines.slice(i);
    for (const instead of [
      [],
      [line, line],
      [next, line],
      [line, ''],
      [`${line} `],
      [` ${line}`],
    ]) {
      const damaged = lines.toSpliced(i, instead[0] === next ? 2 : 1, ...instead).join('\n');
      if (damaged !== text) expect(await fault(damaged), damaged).toBeDefined();
    }
  }
  for (let end = 0; end < text.length; end += 1) {
    expect(await fault(text.slice(0, end))).toBeDefined();
  }
});

test('parts of two proofs together, of one log or of two', async () => {
  const all = [...texts, ...others].map((text) => parseTlogProof(text));
  for (const a of all) {
    for (const b of all) {
      if (a === b) continue;
      for (const part of ['extra', 'index', 'path', 'note'] as const) {
        const mixed = encodeTlogProof({ ...a, [part]: b[part] });
        const isSame = mixed === encodeTlogProof(a);
        expect((await checkProof(mixed, [KEY])).ok, part).toBe(isSame);
      }
    }
  }
});

test('another index, with and without the record that says so', async () => {
  for (const index of [0, 1, 3, 4, 6, 7, 2 ** 40]) {
    expect(await fault(changed({ index }))).toBe('root_mismatch');
    const { record } = await checkProof(texts[2]!, [KEY]);
    const head = { count: index, hash: record!.prev, sealed: false };
    const { text } = encodeRecord(head, { kind: record!.kind, payload: record!.payload });
    const extra = utf8(text.trimEnd());
    expect(await fault(changed({ index, extra }))).toBe('root_mismatch');
  }
});

test('another record with a right hash', async () => {
  const head = { count: 2, hash: GENESIS, sealed: false };
  const { text } = encodeRecord(head, { kind: 'tool', payload: { ok: true } });
  expect(await fault(changed({ extra: utf8(text.trimEnd()) }))).toBe('root_mismatch');
});

/** The third record's line. */
function thirdLine(): string {
  return Buffer.from(parseTlogProof(texts[2]!).extra!).toString();
}

describe('the record in it', () => {
  test.each<[string, (line: string) => string | Uint8Array, ProofReason]>([
    ['edited', (text) => text.replace('"value":1', '"value":2'), 'hash_mismatch'],
    ['with another hash', (text) => text.replace(/"hash":"./, '"hash":"0'), 'hash_mismatch'],
    ['with a newline', (text) => `${text}\n`, 'not_canonical'],
    ['with a space', (text) => text.replace(',', ', '), 'not_canonical'],
    ['with an escape', (text) => text.replace('tool', '\\u0074ool'), 'not_canonical'],
    ['with a number spelled otherwise', (text) => text.replace(/2}$/, '2.0}'), 'bad_record'],
    ['with another member', (text) => text.replace('{', '{"a":1,'), 'not_canonical'],
    ['with a member twice', (text) => text.replace('{', '{"seq":9,'), 'not_canonical'],
    ['with a byte order mark', (text) => `\uFEFF${text}`, 'bad_record'],
    ['with a huge number', (text) => text.replace('"value":1', '"value":1e999'), 'bad_record'],
    ['with half a pair', (text) => text.replace('"value":1', '"value":"\\ud800"'), 'bad_record'],
    ['without a payload', (text) => text.replace(/"payload":{.*?},/, ''), 'bad_record'],
    ['with a text as payload', (text) => text.replace(/{"ok.*?}/, '""'), 'bad_record'],
    ['with a short prev', (text) => text.replace(/"prev":"./, '"prev":"'), 'bad_record'],
    [
      'with capitals',
      (text) => text.replace(/[0-9a-f]{64}/, (hash) => `A${hash.slice(1)}`),
      'bad_record',
    ],
    ['with a negative seq', (text) => text.replace(/2}$/, '-2}'), 'bad_record'],
    ['which is a list', (text) => `[${text}]`, 'bad_record'],
    ['which isn’t JSON', () => 'text', 'bad_record'],
    ['which isn’t UTF-8', () => Uint8Array.of(0xff), 'bad_record'],
  ])('%s', async (_, change, reason) => {
    const now = change(thirdLine());
    expect(now).not.toBe(thirdLine());
    const extra = typeof now === 'string' ? utf8(now) : now;
    expect(await fault(changed({ extra }))).toBe(reason);
  });

  test('may be nested as deep as any', async () => {
    const { note } = parseTlogProof(texts[2]!);
    const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    const extra = utf8(thirdLine().replace('"value":1', `"value":${deep}`));
    expect(await fault(encodeTlogProof({ index: 2, path: [], note, extra }))).toBe('hash_mismatch');
  });

  test('must be there', async () => {
    const { index, path, note } = parseTlogProof(texts[2]!);
    const checked = await checkProof(encodeTlogProof({ index, path, note }), [KEY]);
    expect(checked.fault).toEqual({ reason: 'bad_proof', detail: 'the record is not in it' });
  });
});

/** A proof of the only record of a log, whose checkpoint says what it is given. */
function lone({ origin, size = 1 }: { origin?: string; size?: number }, key = signer()): string {
  const head = { count: 0, hash: GENESIS, sealed: false };
  const { hash, text } = encodeRecord(head, { kind: 'user', payload: { content: 'x' } });
  const root = leafHash(Buffer.from(hash, 'hex'));
  const body = encodeCheckpoint({ origin: origin ?? originOf(hash), size, root, extensions: [] });
  const note = signNote({ text: body, signatures: [] }, key, nodeEd25519);
  return encodeTlogProof({ index: 0, path: [], note, extra: utf8(text.trimEnd()) });
}

test('the checkpoint must be of a log of ours, and a first record of its own log', async () => {
  expect(await fault(lone({}))).toBeUndefined();
  expect(await fault(lone({ origin: originOf('0'.repeat(64)) }))).toBe('root_mismatch');
  expect(await fault(lone({ origin: 'example.com/log' }))).toBe('bad_proof');
  expect(await fault(lone({ size: 2 }))).toBe('root_mismatch');
});

describe('who signed', () => {
  test('a key that isn’t known vouches for nothing', async () => {
    for (const keys of [[], [signer(2).verifier]]) {
      const checked = await checkProof(texts[3]!, keys);
      expect(checked).toMatchObject({
        ok: false,
        fault: { reason: 'unknown_key' },
        signed: [],
        unknown: [`${KEY.name}+${KEY.keyId}`],
      });
    }
    // What is wrong whoever signed is said first.
    expect(await fault(changed({ index: 3 }), [])).toBe('root_mismatch');
  });

  test('a key of the same name and ID that is another', async () => {
    const forger = { ...KEY, publicKey: signer(2).verifier.publicKey };
    expect(await fault(texts[3]!, [forger])).toBe('bad_signature');
  });

  test('a witness alone doesn’t vouch, and one beside the owner is told', async () => {
    const witness = signerKey('w', new Uint8Array(32).fill(9), nodeEd25519, 'cosignature');
    const note = cosignNote(parseTlogProof(texts[2]!).note, witness, 1, nodeEd25519);
    const text = changed({ note });
    expect(await fault(text, [witness.verifier])).toBe('unknown_key');
    const both = await checkProof(text, [witness.verifier, KEY]);
    expect(both.ok).toBe(true);
    expect(both.signed.toSorted()).toEqual(
      [KEY, witness.verifier].map(encodeVerifierKey).toSorted(),
    );
    expect(await checkProof(text, [KEY])).toMatchObject({
      ok: true,
      unknown: [`w+${witness.verifier.keyId}`],
    });
  });
});

test('whatever the bytes are, there is a verdict', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), fc.nat(), fc.nat(60), async (bytes, at, cut) => {
      expect(await fault(bytes)).toBe('bad_proof');
      const text = Buffer.from(texts[4]!);
      const place = at % text.length;
      const damaged = Buffer.concat([text.subarray(0, place), bytes, text.subarray(place + cut)]);
      expect((await checkProof(damaged, [KEY])).ok).toBe(damaged.equals(text));
    }),
    { numRuns: 500 },
  );
  expect(await fault(new Uint8Array(1_000_001))).toBe('bad_proof');
});
