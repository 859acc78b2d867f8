/**
 * Bytes as lower-case hex.
 *
 * @module
 */

/** The bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The bytes of a lower-case hex text; undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 === 1) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  return hexInto(text, bytes, 0) ? bytes : undefined;
}

/** Puts the bytes of a lower-case hex text, of even length, in their place in others; false for any other text. */
export function hexInto(text: string, into: Uint8Array, at: number): boolean {
  // By hand: this runs for every record that is verified, and a pattern and parseInt take far longer.
  let all = 0;
  for (let i = 0; i < text.length; i += 2) {
    const byte = (digit(text.charCodeAt(i)) << 4) | digit(text.charCodeAt(i + 1));
    all |= byte;
    into[at + i / 2] = byte;
  }
  return all >= 0;
}

/** Reads a hash's 64 lower-case hex digits, as characters in bytes, into 32 bytes; false if they aren't ones. */
export function readHexHash(bytes: Uint8Array, at: number, into: Uint8Array): boolean {
  let all = 0;
  for (let i = 0; i < 64; i += 2) {
    const byte = (digit(bytes[at + i]) << 4) | digit(bytes[at + i + 1]);
    all |= byte;
    into[i / 2] = byte;
  }
  return all >= 0;
}

/** What each character stands for; -1 for those that are no lower-case hex digit. A table is four times as quick. */
const DIGITS = Int8Array.from({ length: 128 }, (_, unit) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(unit)),
);

/** What a lower-case hex digit stands for; negative for anything else. */
function digit(unit = -1): number {
  return DIGITS[unit] ?? -1;
}
