/**
 * What the scanners share: how they say no, and a few bytes.
 *
 * @module
 */

/**
 * What every scanning function returns when the bytes are not canonical JSON. Nothing ends at 0, and
 * every other value, also negated, is a place.
 */
export const BAD = 0;

export const MINUS = 0x2d;
export const ZERO = 0x30;
export const NINE = 0x39;

/** The bytes of an ASCII text. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Whether `expected` stands at `at`. */
export function matches(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i += 1) {
    if (bytes[at + i] !== expected[i]) return false;
  }
  return true;
}

/** Whether an ASCII text stands at a place. */
export function standsAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (bytes[at + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}
