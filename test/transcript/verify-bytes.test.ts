/**
 * Verification byte by byte: every flip, every cut, every way of handing over the bytes, and anything else.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVerifier, verifyTranscript, type Verdict } from '../../src/transcript/index.ts';
import { damaged, files, Random } from './random.ts';
import { bytesOf, chain, SAMPLE } from './sample.ts';
import { TAMPERS } from './tampers.ts';

const lines = chain(SAMPLE);
const good = bytesOf(lines.join(''));
/** The offset after each line's newline. */
const ends = lines.map((_, seq) => bytesOf(lines.slice(0, seq + 1).join('')).length);

/** The record that a byte belongs to. */
function recordAt(offset: number): number {
  return ends.findIndex((end) => offset < end);
}

/** Hands bytes over in pieces, in one buffer that is used again and again. */
function inPieces(bytes: Uint8Array, sizes: () => number, allowOpen = false): Verdict {
  const verifier = createVerifier({ allowOpen });
  const buffer = new Uint8Array(bytes.length + 16);
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + sizes());
    buffer.fill(0x2a);
    buffer.set(piece, 7);
    const borrowed = buffer.subarray(7, 7 + piece.length);
    verifier.push(borrowed);
    if (Buffer.compare(borrowed, piece) !== 0) throw new Error('the caller’s bytes were changed');
    at += piece.length;
  }
  return verifier.end();
}

/** A change of one byte names the record that the byte belongs to. */
function expectNamed(bytes: Uint8Array, at: number, seq: number): void {
  const { ok, fault, count } = verifyTranscript(bytes);
  if (ok || fault?.seq !== seq || fault.line !== seq + 1 || count !== seq) {
    throw new Error(`byte ${at} of record ${seq} as ${bytes[at]}: ${JSON.stringify(fault)}`);
  }
}

describe('every byte of a transcript', () => {
  test('with any bit flipped: a fault at the record that it belongs to', () => {
    const bytes = good.slice();
    for (let at = 0; at < bytes.length; at += 1) {
      const original = bytes[at] ?? 0;
      for (const flip of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        bytes[at] = original ^ flip;
        expectNamed(bytes, at, recordAt(at));
      }
      bytes[at] = original;
    }
    expect(verifyTranscript(bytes).ok).toBe(true);
  });

  test('as any other value, in a transcript of two records', () => {
    const small = chain([
      { kind: 'é', payload: { a: [1.5, '\n'] } },
      { kind: 'final', payload: [] },
    ]);
    const bytes = bytesOf(small.join(''));
    const first = bytesOf(small[0] ?? '').length;
    for (let at = 0; at < bytes.length; at += 1) {
      const original = bytes[at] ?? 0;
      for (let value = 0; value < 256; value += 1) {
        bytes[at] = value;
        if (value !== original) expectNamed(bytes, at, at < first ? 0 : 1);
      }
      bytes[at] = original;
    }
    expect(verifyTranscript(bytes).ok).toBe(true);
  });

  test('left out: a fault at its record', () => {
    for (let at = 0; at < good.length; at += 1) {
      const bytes = Buffer.concat([good.subarray(0, at), good.subarray(at + 1)]);
      const { ok, fault } = verifyTranscript(bytes);
      expect({ ok, seq: fault?.seq }).toEqual({ ok: false, seq: recordAt(at) });
    }
  });

  test('doubled: a fault at its record, or for the last newline, after it', () => {
    for (let at = 0; at < good.length; at += 1) {
      const bytes = Buffer.concat([good.subarray(0, at + 1), good.subarray(at)]);
      const { ok, fault } = verifyTranscript(bytes);
      // A second newline is a blank line, before the record that follows.
      const seq = recordAt(at) + (good[at] === 0x0a ? 1 : 0);
      expect({ ok, seq: fault?.seq }).toEqual({ ok: false, seq });
    }
  });

  test('cut from there on: torn, or at the end of a line, not sealed; never a fault before', () => {
    for (let length = 0; length < good.length; length += 1) {
      const cut = good.subarray(0, length);
      const whole = ends.filter((end) => end <= length).length;
      const atEnd = length === 0 || ends.includes(length);
      expect(verifyTranscript(cut)).toMatchObject({
        ok: false,
        count: whole,
        fault: { seq: whole, line: whole + 1, reason: atEnd ? 'not_sealed' : 'torn_tail' },
      });
      // The one thing that a chain alone can't show: a file cut between two records is a shorter run.
      expect(verifyTranscript(cut, { allowOpen: true }).ok).toBe(atEnd);
      expect(verifyTranscript(cut, { allowOpen: true, count: 6 }).ok).toBe(false);
    }
  });
});

describe('the pieces in which bytes come make no difference', () => {
  const cases = [
    ...TAMPERS.filter(({ options }) => options === undefined),
    { name: 'random files', bytes: Buffer.concat(files(5, 20)) },
  ];

  test.each(cases)('$name', ({ bytes }) => {
    const whole = verifyTranscript(bytes);
    for (const size of [1, 2, 3, 7, 64, 74, 75, 100, 255, 256, 300, 511, 1000]) {
      expect(inPieces(bytes, () => size)).toEqual(whole);
    }
    const random = new Random(bytes.length);
    for (let i = 0; i < 20; i += 1) {
      expect(inPieces(bytes, () => 1 + random.below(300))).toEqual(whole);
    }
  });

  test('every size of piece, and every place to part in two', () => {
    const whole = verifyTranscript(good);
    for (let size = 1; size <= good.length; size += 1) {
      expect(inPieces(good, () => size)).toEqual(whole);
      const parts = [size, good.length];
      expect(inPieces(good, () => parts.shift() ?? 1)).toEqual(whole);
    }
  });

  test('a line longer than all pieces', () => {
    const long = bytesOf(chain([{ kind: 'final', payload: { a: 'é'.repeat(100_000) } }]).join(''));
    for (const size of [997, 4096, 65_536]) {
      expect(inPieces(long, () => size)).toEqual(verifyTranscript(long));
    }
    expect(verifyTranscript(long).ok).toBe(true);
  });
});

function judge(bytes: Uint8Array): Verdict {
  const copy = bytes.slice();
  const verdict = verifyTranscript(bytes);
  expect(Buffer.compare(bytes, copy)).toBe(0);
  expect(verdict.ok).toBe(verdict.fault === undefined);
  if (verdict.fault !== undefined) expect(verdict.fault.seq).toBe(verdict.count);
  return verdict;
}

describe('anything at all gets a verdict', () => {
  test('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(judge(bytes).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('random text, as a line and inside a record', () => {
    const [before = '', after = ''] = (lines[2] ?? '').split('"sum":42');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (piece) => {
        expect(judge(bytesOf(`${piece}\n${lines.join('')}`)).ok).toBe(false);
        const inside = [...lines.slice(0, 2), before, piece, after, ...lines.slice(3)].join('');
        expect(judge(bytesOf(inside)).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('generated transcripts, and one to three changes of each', () => {
    const random = new Random(11);
    for (const bytes of files(12, 1500)) {
      judge(bytes);
      let changed = bytes;
      for (let i = random.below(3); i >= 0; i -= 1) changed = damaged(random, changed);
      judge(changed);
    }
  });
});
