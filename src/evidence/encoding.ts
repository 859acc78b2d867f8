/**
 * What the text formats of evidence share: their error, strict base64 (RFC 4648 §4) and strict UTF-8.
 *
 * @module
 */

/** The largest note or proof that is read. Post-quantum signatures have 5 kB, and a note may carry 100. */
export const MAX_BYTES = 1_000_000;

/** A note, key, checkpoint or proof that doesn't follow its format. The message says in what. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
}

/** The bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  // One character at a time: `fromCharCode(...bytes)` overflows the stack on long ones.
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** The bytes of a base64 text; undefined unless the text is the one that the bytes are written as. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let characters: string;
  try {
    characters = atob(text);
  } catch {
    return undefined;
  }
  const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
  // `atob` forgives spaces, missing padding and stray bits: two texts for the same bytes.
  return encodeBase64(bytes) === text ? bytes : undefined;
}

/** The bytes as base64url without padding (RFC 4648 §5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The bytes of such a text; undefined unless the text is the one that the bytes are written as. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (/[^A-Za-z0-9_-]/.test(text)) return undefined;
  const plain = text.replaceAll('-', '+').replaceAll('_', '/');
  return decodeBase64(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
}

/** The 32 bytes of a hash in base64. */
export function decodeHash(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === 32 ? bytes : undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of a text in UTF-8. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text that a file holds, if it is one without control characters other than the newline. */
export function readText(input: string | Uint8Array, what: string): string {
  const text = readUtf8(input, what);
  if (/[\0-\t\v-\x1f]/.test(text)) {
    throw new EvidenceError(`${what}: a control character other than the newline`);
  }
  return text;
}

/** The text that a file holds, if it is not too long and one of Unicode. */
export function readUtf8(input: string | Uint8Array, what: string): string {
  if (input.length > MAX_BYTES) throw new EvidenceError(`${what}: over ${MAX_BYTES} bytes`);
  const text = typeof input === 'string' ? input : decodeText(input, what);
  if (!text.isWellFormed()) throw new EvidenceError(`${what}: not valid Unicode`);
  return text;
}

/** The text of bytes in UTF-8. */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new EvidenceError(`${what}: not valid UTF-8`);
  }
}

const DECIMAL = /^(?:0|[1-9]\d{0,15})$/;

/** A size or an index: decimal, without leading zeros, up to 2^53 - 1. */
export function readInteger(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Whether two byte strings are the same. Nothing that is compared is secret. */
export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

/** Byte strings one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
