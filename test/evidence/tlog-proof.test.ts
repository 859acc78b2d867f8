/**
 * Proof files, and what a check of one needs.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeCheckpoint } from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError, utf8 } from '../../src/evidence/encoding.ts';
import { MerkleTree, proveInclusion } from '../../src/evidence/merkle.ts';
import { signerKey } from '../../src/evidence/note-key.ts';
import { cosignNote, signNote } from '../../src/evidence/note-signature.ts';
import { type Note } from '../../src/evidence/note.ts';
import {
  checkTlogProof,
  encodeTlogProof,
  parseTlogProof,
  type TlogProof,
} from '../../src/evidence/tlog-proof.ts';
import { arbitraryNote, KEY, rejected } from './notes.ts';
import { flips, hex } from './vectors.ts';

const DATA = Array.from({ length: 11 }, (_, i) => new Uint8Array(32).fill(i + 1));
const tree = new MerkleTree();
const leaves = DATA.map((data) => tree.append(data));
const text = encodeCheckpoint({ origin: 'log', size: 11, root: tree.root(), extensions: [] });
const note = signNote({ text, signatures: [] }, KEY, nodeEd25519);

function prove(index: number): TlogProof {
  const path = proveInclusion(index, 11, (level, i) => (level === 0 ? leaves[i] : undefined));
  return { index, path, note };
}

function check(proof: TlogProof, data: Uint8Array, keys = [KEY.verifier]) {
  return checkTlogProof(proof, data, keys, nodeEd25519);
}

const file = encodeTlogProof(prove(4));

describe('a proof file', () => {
  test('is as C2SP tlog-proof has it', () => {
    const [header, index, ...rest] = file.split('\n');
    expect([header, index]).toEqual(['c2sp.org/tlog-proof@v1', 'index 4']);
    expect(rest.indexOf('')).toBe(4);
    expect(file.endsWith(`\n\n${text}\n— example.com/log ${rest.at(-2)!.slice(18)}\n`)).toBe(true);
    const withExtra = encodeTlogProof({ ...prove(4), extra: utf8('seq 4') });
    expect(withExtra).toBe(file.replace('index', 'extra c2VxIDQ=\nindex'));
  });

  test('of a log with one record has no path', () => {
    const one = new MerkleTree();
    one.append(DATA[0]!);
    const body = encodeCheckpoint({ origin: 'log', size: 1, root: one.root(), extensions: [] });
    const proof = {
      index: 0,
      path: [],
      note: signNote({ text: body, signatures: [] }, KEY, nodeEd25519),
    };
    expect(parseTlogProof(encodeTlogProof(proof))).toEqual(proof);
  });

  const hash = `${Buffer.alloc(32).toString('base64')}\n`;
  test.each([
    ['nothing', '', 'first line'],
    ['another version', file.replace('@v1', '@v2'), 'first line'],
    ['no header', file.replace(/.*\n/, ''), 'first line'],
    ['no blank line', file.replaceAll('\n\n', '\n'), 'first line'],
    ['no index', file.replace('index 4\n', ''), '"index"'],
    ['an index with a leading zero', file.replace('index 4', 'index 04'), '"index"'],
    ['an index past 2^53', file.replace('index 4', 'index 9007199254740992'), '"index"'],
    ['a second space', file.replace('index 4', 'index  4'), '"index"'],
    ['empty extra data', file.replace('index', 'extra \nindex'), 'extra data'],
    ['extra data in base64 for URLs', file.replace('index', 'extra _w==\nindex'), 'extra data'],
    ['extra data after the index', file.replace('4\n', '4\nextra AAAA\n'), 'hash 1'],
    ['extra data twice', file.replace('index', 'extra AAAA\nextra AAAA\nindex'), '"index"'],
    ['a short hash', file.replace('4\n', '4\nAAAA\n'), 'hash 1'],
    ['64 hashes', file.replace('4\n', `4\n${hash.repeat(64)}`), 'over 63'],
    ['no note', file.slice(0, file.indexOf('\n\n') + 2), 'note'],
    ['a note that is no checkpoint', file.replace('log\n11', 'log'), 'checkpoint'],
    ['a carriage return', file.replace('4\n', '4\r\n'), 'control character'],
    ['another newline at the end', `${file}\n`, 'note'],
  ])('with %s is refused', (_, damaged, message) => {
    expect(damaged).not.toBe(file);
    expect(rejected(() => parseTlogProof(damaged))).toContain(message);
  });

  test.each<[string, Partial<TlogProof>]>([
    ['a negative index', { index: -1 }],
    ['an index that is no whole number', { index: 0.5 }],
    ['a short hash', { path: [hex('00')] }],
    ['empty extra data', { extra: hex('') }],
    ['no signature', { note: { text, signatures: [] } }],
    ['a note that is no checkpoint', { note: { ...note, text: 'hello\n' } }],
  ])('with %s is not written', (_, change) => {
    rejected(() => encodeTlogProof({ ...prove(4), ...change }));
  });

  test('that can be written is read as it was; anything else is an EvidenceError', () => {
    const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const notes: fc.Arbitrary<Note> = arbitraryNote.map(({ signatures }) => ({ text, signatures }));
    const proofs = fc.record(
      {
        index: fc.maxSafeNat(),
        path: fc.array(hashes, { maxLength: 63 }),
        note: notes,
        extra: fc.uint8Array({ minLength: 1 }),
      },
      { requiredKeys: ['index', 'path', 'note'] },
    );
    fc.assert(
      fc.property(proofs, fc.nat(), fc.string({ maxLength: 2 }), (proof, at, insert) => {
        const written = encodeTlogProof(proof);
        expect(parseTlogProof(written)).toEqual(proof);
        expect(parseTlogProof(utf8(written))).toEqual(proof);
        const place = at % (written.length + 1);
        const damaged = written.slice(0, place) + insert + written.slice(place + 1);
        try {
          expect(encodeTlogProof(parseTlogProof(damaged))).toBe(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a proof', () => {
  test('of each record holds for that record alone', async () => {
    for (const [index] of DATA.entries()) {
      const proof = parseTlogProof(encodeTlogProof(prove(index)));
      for (const [other, data] of DATA.entries()) {
        const verdict = await check(proof, data);
        expect(verdict.ok).toBe(other === index);
        expect(verdict.checkpoint).toMatchObject({ origin: 'log', size: 11 });
      }
    }
  });

  test('at another index, or beyond the log, shows nothing', async () => {
    for (let index = 0; index < 20; index += 1) {
      const { ok, detail } = await check({ ...prove(4), index }, DATA[4]!);
      expect(ok).toBe(index === 4);
      if (index > 10) expect(detail).toContain("isn't among them");
      else if (index !== 4) expect(detail).toContain("doesn't lead from this record");
    }
  });

  test('with any bit of its file flipped is refused or fails', async () => {
    for (const flipped of flips(utf8(file))) {
      let ok = false;
      try {
        ok = (await check(parseTlogProof(flipped), DATA[4]!)).ok;
      } catch (error) {
        expect(error).toBeInstanceOf(EvidenceError);
      }
      expect(ok).toBe(false);
    }
  });

  test('of a log that nobody known signed shows nothing, whatever a witness saw', async () => {
    const seed = nodeEd25519.generate();
    const witness = signerKey('w', seed, nodeEd25519, 'cosignature');
    const cosigned = { ...prove(4), note: cosignNote(note, witness, 1, nodeEd25519) };
    const both = await check(cosigned, DATA[4]!, [KEY.verifier, witness.verifier]);
    expect(both.ok).toBe(true);
    expect(both.signed.verified.map(({ time }) => time)).toEqual([undefined, 1]);
    for (const keys of [[], [witness.verifier]]) {
      const verdict = await check(cosigned, DATA[4]!, keys);
      expect(verdict).toMatchObject({ ok: false, detail: 'no known key signed the checkpoint' });
    }
  });

  test('with a forged signature fails, and says whose', async () => {
    const [made] = note.signatures;
    const forged = { text, signatures: [{ ...made!, signature: new Uint8Array(64) }] };
    const verdict = await check({ ...prove(4), note: forged }, DATA[4]!);
    expect(verdict.ok).toBe(false);
    expect(verdict.detail).toBe("the checkpoint's signature by example.com/log is wrong");
  });
});
