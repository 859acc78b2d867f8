/**
 * The browser's SHA-256 against Node's.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as node from '../../src/transcript/sha256-node.ts';
import * as script from '../../src/transcript/sha256.ts';

function reference(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

describe.each([
  ['in JavaScript', script.sha256Hex, script.sha256],
  ['by Node', node.sha256Hex, node.sha256],
])('SHA-256 %s', (_, hash, sha256) => {
  test('gives the published digests (FIPS 180-4 examples)', () => {
    expect(hash('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(hash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('every length from 0 to 300, which crosses each way of padding', () => {
    const bytes = randomBytes(300);
    for (let length = 0; length <= 300; length += 1) {
      const data = bytes.subarray(0, length);
      expect(hash(data)).toBe(reference(data));
    }
  });

  test('random bytes, also in the middle of a larger buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.nat(7), (bytes, offset) => {
        const data = bytes.subarray(Math.min(offset, bytes.length));
        expect(hash(data)).toBe(reference(data));
        // Exactly a Uint8Array: a Buffer would be a view on memory that others share.
        expect(sha256(data)).toEqual(new Uint8Array(Buffer.from(reference(data), 'hex')));
      }),
    );
  });

  test('strings are hashed as UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(hash(text)).toBe(reference(text));
      }),
    );
  });

  test('leaves its input as it was', () => {
    const data = randomBytes(200);
    const copy = Uint8Array.from(data);
    hash(data);
    expect(Uint8Array.from(data)).toEqual(copy);
  });

  test('a megabyte', () => {
    const data = randomBytes(1_000_003);
    expect(hash(data)).toBe(reference(data));
  });
});

test.each([
  ['in JavaScript', script.sha256Binary],
  ['by Node', node.sha256Binary],
])('one character per byte, %s', (_, hash) => {
  for (let length = 0; length <= 100; length += 1) {
    const data = randomBytes(length);
    expect(Buffer.from(hash(data), 'latin1').toString('hex')).toBe(reference(data));
  }
});
