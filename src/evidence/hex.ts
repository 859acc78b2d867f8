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
  // By hand: this runs for every record that is verified, and a pattern and parseInt take ten times as long.
  for (let i = 0; i < bytes.length; i += 1) {
    const high = digit(text.charCodeAt(2 * i));
    const low = digit(text.charCodeAt(2 * i + 1));
    if (high < 0 || low < 0) return undefined;
    bytes[i] = high * 16 + low;
  }
  return bytes;
}

/** Reads a hash's 64 lower-case hex digits, as characters in bytes, into 32 bytes; false if they aren't ones. */
export function readHexHash(bytes: Uint8Array, at: number, into: Uint8Array): boolean {
  for (let i = 0; i < 32; i += 1) {
    const high = digit(bytes[at + 2 * i] ?? 0);
    const low = digit(bytes[at + 2 * i + 1] ?? 0);
    if (high < 0 || low < 0) return false;
    into[i] = high * 16 + low;
  }
  return true;
}

/** What a lower-case hex digit stands for; negative for any other character. */
function digit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  return unit >= 0x61 && unit <= 0x66 ? unit - 0x57 : -1;
}
