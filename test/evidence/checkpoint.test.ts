/**
 * Checkpoints and cosignatures.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Checkpoint,
  encodeCheckpoint,
  parseCheckpoint,
} from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError, utf8 } from '../../src/evidence/encoding.ts';
import { checkConsistency } from '../../src/evidence/merkle.ts';
import { signerKey, verifierKey } from '../../src/evidence/note-key.ts';
import { checkNote, cosignNote, signNote } from '../../src/evidence/note-signature.ts';
import { encodeNote, parseNote } from '../../src/evidence/note.ts';
import { KEY, rejected } from './notes.ts';
import { base64, flips, hex, vectors } from './vectors.ts';

const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
/** The example of C2SP tlog-checkpoint. */
const TEXT = `example.com/behind-the-sofa\n20852163\n${ROOT}\n`;

describe('a checkpoint', () => {
  test('as in the specification', () => {
    const checkpoint = {
      origin: 'example.com/behind-the-sofa',
      size: 20_852_163,
      root: base64(ROOT),
      extensions: [],
    };
    expect(parseCheckpoint(TEXT)).toEqual(checkpoint);
    expect(encodeCheckpoint(checkpoint)).toBe(TEXT);
  });

  test.each([
    ['nothing', '', 'three lines'],
    ['no newline at the end', TEXT.slice(0, -1), 'three lines'],
    ['a blank line at the end', `${TEXT}\n`, 'three lines'],
    ['an empty extension', `${TEXT}\nx\n`, 'three lines'],
    ['no origin', TEXT.replace(/.*\n/, '\n'), 'three lines'],
    ['two lines', TEXT.replace(/.*\n/, ''), 'three lines'],
    ['a leading zero', TEXT.replace('2085', '02085'), 'the size'],
    ['a plus', TEXT.replace('2085', '+2085'), 'the size'],
    ['a minus', TEXT.replace('2085', '-2085'), 'the size'],
    ['a fraction', TEXT.replace('2085', '2.085'), 'the size'],
    ['hex', TEXT.replace('20852163', '0x10'), 'the size'],
    ['an exponent', TEXT.replace('20852163', '1e3'), 'the size'],
    ['a space', TEXT.replace('20852163', '20852163 '), 'the size'],
    ['no size', TEXT.replace('20852163', ''), 'the size'],
    ['other digits', TEXT.replace('20852163', '٣'), 'the size'],
    ['2^53', TEXT.replace('20852163', '9007199254740992'), 'the size'],
    ['2^64', TEXT.replace('20852163', '18446744073709551616'), 'the size'],
    ['a short root', TEXT.replace(ROOT, 'CsUY'), 'the root'],
    ['a long root', TEXT.replace(ROOT, 'A'.repeat(44)), 'the root'],
    ['a root with stray bits', TEXT.replace('q2I=', 'q2J='), 'the root'],
    ['a root without padding', TEXT.replace('q2I=', 'q2I'), 'the root'],
    ['a carriage return', TEXT.replaceAll('\n', '\r\n'), 'control character'],
  ])('with %s is refused', (_, text, message) => {
    expect(rejected(() => parseCheckpoint(text))).toContain(message);
  });

  test.each<[string, Partial<Checkpoint>]>([
    ['no origin', { origin: '' }],
    ['an origin of two lines', { origin: `a\n1\n${ROOT}` }],
    ['a negative size', { size: -1 }],
    ['a size that is no whole number', { size: 1.5 }],
    ['a size past 2^53', { size: 2 ** 53 }],
    ['a size past what is written in digits', { size: 1e21 }],
    ['a short root', { root: hex('00') }],
    ['an empty extension', { extensions: [''] }],
    ['an extension of two lines', { extensions: ['a\nb'] }],
  ])('with %s is not written', (_, change) => {
    rejected(() => encodeCheckpoint({ ...parseCheckpoint(TEXT), ...change }));
  });

  test('that can be written is read as it was; anything else is an EvidenceError', () => {
    const line = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .map((text) => `x${text.replaceAll(/[\0-\x1f]/g, '')}`);
    const checkpoints = fc.record({
      origin: line,
      size: fc.maxSafeNat(),
      root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      extensions: fc.array(line, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(checkpoints, fc.nat(), fc.string({ maxLength: 2 }), (checkpoint, at, insert) => {
        const text = encodeCheckpoint(checkpoint);
        expect(parseCheckpoint(text)).toEqual(checkpoint);
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + insert + text.slice(place + 1);
        try {
          expect(encodeCheckpoint(parseCheckpoint(damaged))).toBe(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a cosignature', () => {
  const seed = hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
  const witness = signerKey('witness.example.com/w1', seed, nodeEd25519, 'cosignature');
  const signed = signNote({ text: TEXT, signatures: [] }, KEY, nodeEd25519);

  test('signs the message of the specification, and carries its time in front', () => {
    const note = cosignNote(signed, witness, 1_679_315_147, nodeEd25519);
    const signature = note.signatures.at(-1)!.signature;
    // The time is the one in the specification's example: `jWbPPw` is its key's ID, `AAAAABkGFDL` the time.
    expect(signature.subarray(0, 8)).toEqual(base64('jWbPPwAAAABkGFDL').subarray(4));
    const message = utf8(`cosignature/v1\ntime 1679315147\n${TEXT}`);
    expect(nodeEd25519.verify(witness.verifier.publicKey, message, signature.subarray(8))).toBe(
      true,
    );
  });

  test('is checked beside the log’s own signature', async () => {
    const note = parseNote(encodeNote(cosignNote(signed, witness, 7, nodeEd25519)));
    const verdict = await checkNote(note, [KEY.verifier, witness.verifier], nodeEd25519);
    expect(verdict).toEqual({
      ok: true,
      verified: [{ key: KEY.verifier }, { key: witness.verifier, time: 7 }],
      unknown: [],
      wrong: [],
    });
  });

  test('may be of any time that 64 bits hold', async () => {
    const stamp = hex('7fffffffffffffff');
    const message = utf8(`cosignature/v1\ntime 9223372036854775807\n${TEXT}`);
    const { name, keyId } = witness.verifier;
    const signature = Uint8Array.of(...stamp, ...nodeEd25519.sign(seed, message));
    const note = { text: TEXT, signatures: [{ name, keyId, signature }] };
    expect((await checkNote(note, [witness.verifier], nodeEd25519)).ok).toBe(true);
  });

  test('fails with any bit of it flipped, its time too, and when it is cut', async () => {
    const note = cosignNote({ text: TEXT, signatures: [] }, witness, 7, nodeEd25519);
    const [made] = note.signatures;
    const cut = Array.from({ length: 72 }, (_, length) => made!.signature.slice(0, length));
    for (const signature of [...flips(made!.signature), ...cut]) {
      const forged = { text: TEXT, signatures: [{ ...made!, signature }] };
      expect((await checkNote(forged, [witness.verifier], nodeEd25519)).ok).toBe(false);
    }
  });

  test('is no signature of a note, nor the other way round', async () => {
    const cosigned = cosignNote({ text: TEXT, signatures: [] }, witness, 7, nodeEd25519);
    const plain = verifierKey(witness.verifier.name, witness.verifier.publicKey);
    const relabelled = {
      text: TEXT,
      signatures: cosigned.signatures.map((made) => ({ ...made, keyId: plain.keyId })),
    };
    expect((await checkNote(relabelled, [plain], nodeEd25519)).wrong).toHaveLength(1);
    expect(rejected(() => signNote(signed, witness, nodeEd25519))).toContain('no ed25519 key');
    expect(rejected(() => cosignNote(signed, KEY, 7, nodeEd25519))).toContain('no cosignature key');
  });

  test('is of a checkpoint, at a time', () => {
    const note = { text: 'hello\n', signatures: [] };
    rejected(() => cosignNote(note, witness, 7, nodeEd25519));
    for (const time of [-1, 0.5, NaN, 2 ** 53]) {
      expect(() => cosignNote(signed, witness, time, nodeEd25519)).toThrow(RangeError);
    }
  });
});

/** The signature that is wrong there has stray bits in its base64, so here its note isn't even read. */
function refuse(error: unknown): number {
  return error instanceof EvidenceError ? 403 : 500;
}

describe('requests to a witness, as recorded by torchwood', () => {
  const published = vectors('tlog-witness-http.json') as Record<
    'sigsum' | 'sumdb',
    { body: string; status: number }[]
  >;
  const pub = hex('ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f');
  const origin = published.sigsum[0]!.body.split('\n')[2]!;
  const key = verifierKey(origin, pub);

  test('are answered from signatures and consistency alone as they were there', async () => {
    let known = { size: 0, root: new Uint8Array() };
    const answer = async (body: string): Promise<number> => {
      const split = body.indexOf('\n\n');
      const [old = '', ...path] = body.slice(0, split).split('\n');
      const note = parseNote(body.slice(split + 2));
      const checkpoint = parseCheckpoint(note.text);
      if (!(await checkNote(note, [key], nodeEd25519)).ok) return 403;
      if (Number(old.slice('old '.length)) !== known.size) return 409;
      const claim = {
        size1: known.size,
        size2: checkpoint.size,
        root1: known.root,
        root2: checkpoint.root,
      };
      if (known.size > 0 && !checkConsistency(claim, path.map(base64))) return 422;
      known = { size: checkpoint.size, root: new Uint8Array(checkpoint.root) };
      return 200;
    };
    for (const { body, status } of published.sigsum) {
      expect(await answer(body).catch(refuse)).toBe(status);
    }
    expect(known.size).toBe(5);
  });
});
