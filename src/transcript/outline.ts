/**
 * The outline of a long line: what is judged of its shape, in little memory.
 *
 * @module
 */
import { ascii, BAD, matches } from './bytes.ts';
import { scanString, ValueScanner } from './scan.ts';

/** Longer values are shortened, in bytes. */
const SHORT = 1000;
/** Longer names are cut, in bytes. */
const SHORT_NAME = 100;
/** One unknown member is a fault, and the verdict names no more than these. */
const MAX_UNKNOWN = 8;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A line of canonical JSON as short JSON text: an object with the known members, whose long values are
 * empty ones of the same type, and the first few other members, without their values; any other value
 * shortened likewise. Null if the bytes aren't canonical JSON.
 */
export function outlineOf(bytes: Uint8Array, fields: readonly string[]): string | null {
  const known = fields.map((field) => ascii(`"${field}"`));
  const scanner = new ValueScanner();
  if (scanner.scan(bytes, 0) !== bytes.length) return null;
  if (bytes[0] !== 0x7b) return shortened(bytes, 0, bytes.length);
  const members: string[] = [];
  let unknown = 0;
  // The scan has shown that every step finds what it expects, and that no key comes twice.
  for (let at = 1; at < bytes.length - 1;) {
    const keyEnd = scanString(bytes, at + 1);
    const valueEnd = scanner.scan(bytes, keyEnd + 1);
    if (keyEnd === BAD || valueEnd === BAD) break;
    if (known.some((name) => matches(bytes, at, name))) {
      const name = decoder.decode(bytes.subarray(at, keyEnd));
      members.push(`${name}:${shortened(bytes, keyEnd + 1, valueEnd)}`);
    } else if (unknown < MAX_UNKNOWN) {
      unknown += 1;
      members.push(`"${cutName(bytes, at + 1, keyEnd - 1)}":0`);
    }
    at = valueEnd + 1;
  }
  return `{${members.join(',')}}`;
}

/** The beginning of a name, as it stands between its quotes, without a part of an escape at its end. */
function cutName(bytes: Uint8Array, start: number, end: number): string {
  const text = decoder.decode(bytes.subarray(start, Math.min(end, start + SHORT_NAME)));
  return /^(?:[^\\]|\\u.{4}|\\[^u])*/.exec(text)?.[0] ?? '';
}

function shortened(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= SHORT) return decoder.decode(bytes.subarray(start, end));
  switch (bytes[start]) {
    case 0x22:
      return '""';
    case 0x5b:
      return '[]';
    case 0x7b:
      return '{}';
    default: // only an integer can be as long, and its first digits are one
      return decoder.decode(bytes.subarray(start, start + SHORT));
  }
}
