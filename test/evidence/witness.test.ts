/**
 * What is said between a log and a witness, and the exchanges that torchwood's witness had.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { parseVerifierKey, signerKey, verifierKey } from '../../src/evidence/note-key.ts';
import { checkNote, signNote } from '../../src/evidence/note-signature.ts';
import {
  type AddCheckpoint,
  encodeAddCheckpoint,
  encodeCosignatures,
  encodeTreeSize,
  parseAddCheckpoint,
  parseCosignatures,
  parseTreeSize,
} from '../../src/evidence/witness.ts';
import { TestWitness } from '../attest/test-witness.ts';
import { arbitraryNote, KEY, rejected } from './notes.ts';
import { hex, vectors } from './vectors.ts';

interface Exchange {
  readonly url: string;
  readonly body: string;
  readonly status: number;
  readonly asserts: string;
}

const published = vectors('tlog-witness-http.json') as Record<'sigsum' | 'sumdb', Exchange[]>;
const WITNESS = signerKey(
  'example.com/witness',
  new Uint8Array(32).fill(5),
  nodeEd25519,
  'cosignature',
);

describe('the exchanges of torchwood', () => {
  const origin = published.sigsum[0]!.body.split('\n')[2]!;
  const pub = hex('ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f');
  const sumdb = parseVerifierKey(
    'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8',
  );
  const logs = { [origin]: [verifierKey(origin, pub)], 'go.sum database tree': [sumdb] };
  /** Two answers of theirs differ from ours, each for a reason. */
  const differs = new Map([
    // Its base64 has stray bits: here the note isn't even read.
    [published.sigsum[1], 400],
    // Theirs is older than the version of the specification that says 404 of an unknown origin.
    [published.sigsum[2], 404],
  ]);

  test.each(['sigsum', 'sumdb'] as const)('with %s end as they ended', async (name) => {
    const witness = new TestWitness(WITNESS, logs);
    for (const exchange of published[name]) {
      const answer = await witness.answer(exchange.body);
      expect(answer.status).toBe(differs.get(exchange) ?? exchange.status);
      const size = /body == "(\d+)\\n"/.exec(exchange.asserts)?.[1];
      expect(size !== undefined).toBe(exchange.status === 409);
      if (size !== undefined) expect(answer.body).toBe(encodeTreeSize(Number(size)));
      if (exchange.status !== 200) continue;
      const { note } = parseAddCheckpoint(exchange.body);
      const signatures = parseCosignatures(answer.body);
      const signed = await checkNote({ ...note, signatures }, [WITNESS.verifier], nodeEd25519);
      expect(signed).toMatchObject({ ok: true, verified: [{ time: 1_700_000_000 }] });
    }
    const sizes = [...witness.latest.values()].map(({ size }) => size);
    expect(sizes).toEqual([name === 'sigsum' ? 5 : 35_225_469]);
  });

  test('are written again byte for byte', () => {
    const bodies = [...published.sigsum, ...published.sumdb].filter(
      (exchange) => differs.get(exchange) !== 400,
    );
    expect(bodies).toHaveLength(9);
    for (const { body } of bodies) expect(encodeAddCheckpoint(parseAddCheckpoint(body))).toBe(body);
  });
});

const hash = Buffer.alloc(32, 3).toString('base64');
const note = signNote(
  { text: `${KEY.verifier.name}\n9\n${hash}\n`, signatures: [] },
  KEY,
  nodeEd25519,
);
const body = encodeAddCheckpoint({ oldSize: 4, consistency: [new Uint8Array(32).fill(3)], note });
const tail = body.slice(body.indexOf('\n\n'));

describe('a request', () => {
  test('is as C2SP tlog-witness has it', () => {
    const [, line = ''] = body.split('— ');
    expect(body).toBe(`old 4\n${hash}\n\n${KEY.verifier.name}\n9\n${hash}\n\n— ${line}`);
    expect(parseAddCheckpoint(Buffer.from(body))).toEqual(parseAddCheckpoint(body));
  });

  test.each([
    ['', /must be "old"/],
    [tail, /must be "old"/],
    [`old 4${tail.trimEnd()}`, /no newline/],
    [`old 04${tail}`, /must be "old"/],
    [`old -1${tail}`, /must be "old"/],
    [`old  4${tail}`, /must be "old"/],
    [`Old 4${tail}`, /must be "old"/],
    [`old 9007199254740992${tail}`, /must be "old"/],
    [`old 10${tail}`, /above the checkpoint's/],
    [`old 4\n${hash.slice(1)}${tail}`, /hash 1 of the proof/],
    [`old 4\n${hash} ${tail}`, /hash 1 of the proof/],
    [`old 4\n${`${hash}\n`.repeat(63)}${hash}${tail}`, /over 63 hashes/],
    [`old 4\n${hash}\n`, /must be "old"/],
    [`old 4\n\nhello\n\n— a AAAAAAA=\n`, /checkpoint: /],
    [body.replaceAll('\n', '\r\n'), /control character/],
  ])('%# is refused', (input, words) => {
    expect(rejected(() => parseAddCheckpoint(input))).toMatch(words);
  });

  test('with 63 hashes, and of the same size, is read', () => {
    expect(parseAddCheckpoint(`old 4${`\n${hash}`.repeat(63)}${tail}`).consistency).toHaveLength(
      63,
    );
    expect(parseAddCheckpoint(`old 9${tail}`).oldSize).toBe(9);
  });

  test.each<[string, Partial<AddCheckpoint>]>([
    ['a size that is no integer', { oldSize: 0.5 }],
    ['a size above the checkpoint', { oldSize: 10 }],
    ['a hash that is short', { consistency: [new Uint8Array(31)] }],
    ['a note that is no checkpoint', { note: { ...note, text: 'hello\n' } }],
    ['a note without a signature', { note: { ...note, signatures: [] } }],
  ])('with %s is not written', (_, change) => {
    rejected(() => encodeAddCheckpoint({ oldSize: 4, consistency: [], note, ...change }));
  });

  test('that is read is written again byte for byte, and no other error comes', () => {
    const edits = fc.array(
      fc.tuple(fc.nat(body.length - 1), fc.string({ unit: 'binary', maxLength: 2 })),
      { maxLength: 3 },
    );
    let read = 0;
    fc.assert(
      fc.property(edits, (list) => {
        let input = body;
        for (const [at, text] of list) input = input.slice(0, at) + text + input.slice(at + 1);
        try {
          expect(encodeAddCheckpoint(parseAddCheckpoint(input))).toBe(input);
          read += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(50);
  });
});

describe('an answer', () => {
  test('with cosignatures is written and read', () => {
    fc.assert(
      fc.property(arbitraryNote, ({ signatures }) => {
        expect(parseCosignatures(encodeCosignatures(signatures))).toEqual(signatures);
      }),
    );
    const [signature] = note.signatures;
    rejected(() => encodeCosignatures([]));
    rejected(() => encodeCosignatures([{ ...signature!, name: 'a AAAAAAA=\n— b' }]));
  });

  test.each([
    '',
    '\n',
    'sorry\n',
    '— a AAAAAAA=',
    '\n— a AAAAAAA=\n',
    '— a AAAAAAA=\n\n',
    '— a AAAAAAA=\n— a AAAAAAA=\n',
    'text\n\n— a AAAAAAA=\n',
    Uint8Array.of(0xff),
  ])('that is no list of signatures is refused: %#', (input) => {
    rejected(() => parseCosignatures(input));
  });

  test('with a size is written and read; anything else is none', () => {
    for (const size of [0, 7, 2 ** 53 - 1]) expect(parseTreeSize(encodeTreeSize(size))).toBe(size);
    for (const text of [
      '',
      '7',
      '72',
      '\n',
      '7\n\n',
      ' 7\n',
      '07\n',
      '-1\n',
      '7\r\n',
      '7 \n',
      '1e3\n',
    ]) {
      expect(parseTreeSize(text)).toBeUndefined();
    }
  });
});
