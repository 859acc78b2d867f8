/**
 * The outline of a long line: its members, with long values left out.
 *
 * @module
 */
import { BAD, scanString, ValueScanner } from './scan.ts';

/** Longer values are shortened, in characters. */
const SHORT = 1000;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A line of canonical JSON as short JSON text: an object with its members, whose long values are empty ones
 * of the same type; any other value shortened likewise. Null if the bytes aren't canonical JSON.
 */
export function outlineOf(bytes: Uint8Array): string | null {
  const scanner = new ValueScanner();
  if (scanner.scan(bytes, 0) !== bytes.length) return null;
  if (bytes[0] !== 0x7b) return shortened(bytes, 0, bytes.length);
  const members: string[] = [];
  // The scan has shown that every step finds what it expects.
  for (let at = 1; at < bytes.length - 1;) {
    const keyEnd = scanString(bytes, at + 1);
    const valueEnd = scanner.scan(bytes, keyEnd + 1);
    if (keyEnd === BAD || valueEnd === BAD) break;
    members.push(`${shortened(bytes, at, keyEnd)}:${shortened(bytes, keyEnd + 1, valueEnd)}`);
    at = valueEnd + 1;
  }
  return `{${members.join(',')}}`;
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
