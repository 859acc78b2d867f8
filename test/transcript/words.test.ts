/**
 * Comparing and copying eight bytes at a time, against the plain way.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isHexOf, isSame, Joiner, standsIn, View, wordsOf } from '../../src/transcript/words.ts';

/** In the midst of its buffer, as pieces of a file are. */
function placed(text: string): View {
  return new View(Buffer.from(`..${text}..`, 'latin1').subarray(2, -2));
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

test('a text stands where all of its bytes do, and nowhere near the end', () => {
  for (let length = 8; length <= 26; length += 1) {
    const text = LETTERS.slice(0, length);
    expect(standsIn(placed(`x${text}`), 1, wordsOf(text))).toBe(true);
    expect(standsIn(placed(text), 1, wordsOf(text))).toBe(false);
    expect(standsIn(placed(text.slice(0, -1)), 0, wordsOf(text))).toBe(false);
    expect(isSame(placed(`x${text}`), 1, placed(`yy${text}`), 2, length)).toBe(true);
    expect(isSame(placed(text.slice(0, -1)), 0, placed(text), 0, length)).toBe(false);
    for (let i = 0; i < length; i += 1) {
      const other = `${text.slice(0, i)}!${text.slice(i + 1)}`;
      expect(standsIn(placed(other), 0, wordsOf(text))).toBe(false);
      expect(isSame(placed(other), 0, placed(text), 0, length)).toBe(false);
    }
  }
});

test('hexadecimal digits are those of each byte, in lower case', () => {
  const binary = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte));
  const hex = Buffer.from(binary, 'latin1').toString('hex');
  expect(isHexOf(placed(`x${hex}`), 1, binary)).toBe(true);
  expect(isHexOf(placed(hex.toUpperCase()), 0, binary)).toBe(false);
  for (let i = 0; i < hex.length; i += 1) {
    expect(isHexOf(placed(`${hex.slice(0, i)}g${hex.slice(i + 1)}`), 0, binary)).toBe(false);
  }
});

/** Texts whose bytes are all sorts of doubles, and bytes that are no text, as NaNs, zeros and the smallest numbers. */
const UNUSUAL = ['\u007F', '\u{10FFFF}', '\u{10FFFF}\u007F', '\u{80}', '\uFFFF', '\u0001', 'a'];
const NO_TEXT = [0x00, 0x01, 0x7f, 0x80, 0xf0, 0xf4, 0xf7, 0xf8, 0xff];

test('any bytes are compared exactly with any text', () => {
  const texts = fc.array(fc.constantFrom(...UNUSUAL), { minLength: 8, maxLength: 30 });
  const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...NO_TEXT)), { maxLength: 4 });
  fc.assert(
    fc.property(texts, changes, (parts, changed) => {
      const text = Buffer.from(parts.join(''));
      const bytes = Buffer.from(text);
      for (const [at, byte] of changed) bytes[at % bytes.length] = byte;
      const isEqual = isSame(new View(bytes), 0, new View(text), 0, text.length);
      expect(isEqual).toBe(bytes.equals(text));
    }),
    { numRuns: 5000 },
  );
});

test('no double that is not a number, and no zero, stands for eight bytes of text', () => {
  const double = new View(new Uint8Array(8));
  const bytes = double.part(0, 8);
  // Exponent and sign are in the last two bytes, whatever the others are.
  for (let low = 0; low < 256; low += 1) {
    for (let high = 0; high < 256; high += 1) {
      bytes.set([0x61, 0x61, 0x61, 0x61, 0x61, 0x61, low, high]);
      if (Number.isFinite(double.data.getFloat64(0, true))) continue;
      expect(low >= 0xf0 && (high === 0x7f || high === 0xff)).toBe(true);
      for (const before of ['', '\u{10000}', '\u{10FFFF}']) {
        const around = Buffer.concat([Buffer.from(before), Buffer.of(low, high)]);
        expect(isUtf8(around), around.toString('hex')).toBe(false);
      }
    }
  }
});

test('two pieces of any length are joined, and what they are taken from stays', () => {
  const bytes = Buffer.from(UNUSUAL.join('').repeat(400)).subarray(0, 3000);
  const before = Buffer.from(bytes);
  const joiner = new Joiner();
  for (const head of [8, 9, 10, 11, 12, 13, 14, 15, 60, 500, 900]) {
    for (const rest of [8, 9, 15, 16, 17, 39, 40, 41, 450, 505, 506, 507, 508, 509, 2000]) {
      const joined = joiner.join(new View(bytes), 3, 3 + head, 3000 - rest, 3000);
      const plain = Buffer.concat([bytes.subarray(3, 3 + head), bytes.subarray(3000 - rest)]);
      expect(plain.equals(joined)).toBe(true);
    }
  }
  expect(before.equals(bytes)).toBe(true);
});
