/**
 * Comparing and copying four bytes at a time, against the plain way.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isHexOf, isSame, Joiner, standsIn, viewOf, wordsOf } from '../../src/transcript/words.ts';

/** In the midst of its buffer, as pieces of a file are. */
function placed(text: string): DataView {
  return viewOf(Buffer.from(`..${text}..`, 'latin1').subarray(2, -2));
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

test('a text stands where all of its bytes do, and nowhere near the end', () => {
  for (let length = 4; length <= 20; length += 1) {
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

test('two pieces of any length are joined, and what they are taken from stays', () => {
  const bytes = randomBytes(3000);
  const before = Buffer.from(bytes);
  const joiner = new Joiner();
  for (const head of [4, 5, 6, 7, 60, 500, 900]) {
    for (const rest of [4, 5, 6, 7, 10, 11, 12, 13, 450, 505, 506, 507, 508, 509, 2000]) {
      const joined = joiner.join(viewOf(bytes), 3, 3 + head, 3000 - rest, 3000);
      const plain = Buffer.concat([bytes.subarray(3, 3 + head), bytes.subarray(3000 - rest)]);
      expect(plain.equals(joined)).toBe(true);
    }
  }
  expect(before.equals(bytes)).toBe(true);
});
