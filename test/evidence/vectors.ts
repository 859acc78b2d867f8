/**
 * Reads test/testdata/vectors.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

/** One of the files, as the shape that the test says it has. */
export function vectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../testdata/vectors/${name}`, import.meta.url), 'utf8'));
}

/** Bytes of base64, also where it is wrong on purpose. */
export function base64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** Bytes of hex. */
export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** Every copy of the bytes with one bit flipped. */
export function* flips(bytes: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = Uint8Array.from(bytes);
    const at = Math.floor(bit / 8);
    copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8));
    yield copy;
  }
}
