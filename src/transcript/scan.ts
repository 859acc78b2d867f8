/**
 * Decides, in one pass over a line's bytes, whether they are canonical JSON (docs/format.md §3).
 *
 * This is the verifier's hot loop. It neither decodes nor rebuilds anything: a good line is read once.
 * Bytes past the end of the buffer read as `undefined`, fail every comparison and so end the scan.
 *
 * @module
 */
import { ascii, BAD, matches, MINUS, NINE, ZERO } from './bytes.ts';
import { compareCodePoints } from './canonical.ts';
import { scanNumber } from './scan-number.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 where a byte can't stand for itself inside a string: controls, `"`, `\`, and multi-byte starts. */
const SPECIAL: Uint8Array = new Uint8Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte >= 0x80) SPECIAL[byte] = 1;
}

/** 1 for what ends a two-byte escape. */
const ESCAPE: Uint8Array = new Uint8Array(256);
for (const byte of ascii('"\\bfnrt')) ESCAPE[byte] = 1;

/** The values of `\u00xx` that have a two-byte escape, so that the long one isn't canonical. */
const SHORTER: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

const NULL = ascii('null');
const TRUE = ascii('true');
const FALSE = ascii('false');

/**
 * Scans a string from the byte after its opening quote; returns the position after its closing one.
 *
 * Four bytes at a time halve the time of long strings (measured). Beyond the end of the buffer the
 * table gives `undefined`, which counts as 0 in `|`; the byte-wise loop then stops on it.
 */
export function scanString(bytes: Uint8Array, start: number): number {
  const last = bytes.length - 4;
  let i = start;
  for (;;) {
    while (i <= last && plain4(bytes, i)) i += 4;
    while (SPECIAL[bytes[i] as number] === 0) i += 1;
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte !== BACKSLASH) i = scanMultibyte(bytes, i);
    else i = ESCAPE[bytes[i + 1] ?? 0] === 1 ? i + 2 : scanLongEscape(bytes, i);
    if (i === BAD) return BAD;
  }
}

function plain4(bytes: Uint8Array, i: number): boolean {
  // The caller has checked that all four are there; `as` spares four comparisons in the hot loop.
  const a = SPECIAL[bytes[i] as number] as number;
  const b = SPECIAL[bytes[i + 1] as number] as number;
  const c = SPECIAL[bytes[i + 2] as number] as number;
  const d = SPECIAL[bytes[i + 3] as number] as number;
  return (a | b | c | d) === 0;
}

/** `\u00xx` in lower case, for the controls that have no two-byte escape. */
function scanLongEscape(bytes: Uint8Array, i: number): number {
  if (bytes[i + 1] !== 0x75 || bytes[i + 2] !== ZERO || bytes[i + 3] !== ZERO) return BAD;
  const high = hexValue(bytes[i + 4]);
  const low = hexValue(bytes[i + 5]);
  if (high > 1 || low > 15) return BAD;
  return SHORTER.has(high * 16 + low) ? BAD : i + 6;
}

/** The value of a lower-case hex digit; 99 for anything else. */
function hexValue(byte: number | undefined): number {
  if (byte === undefined) return 99;
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : 99;
}

/**
 * One character of two to four bytes, by the table of well-formed sequences in Unicode §3.9 (Table 3-7):
 * no overlong forms, no surrogates, nothing above U+10FFFF.
 */
function scanMultibyte(bytes: Uint8Array, i: number): number {
  const first = bytes[i];
  if (first === undefined || first < 0xc2 || first > 0xf4) return BAD;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const [low, high] = secondByteRange(first);
  const second = bytes[i + 1];
  if (second === undefined || second < low || second > high) return BAD;
  for (let k = 2; k < length; k += 1) {
    if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return BAD;
  }
  return i + length;
}

function secondByteRange(first: number): readonly [number, number] {
  switch (first) {
    case 0xe0:
      return [0xa0, 0xbf];
    case 0xed:
      return [0x80, 0x9f];
    case 0xf0:
      return [0x90, 0xbf];
    case 0xf4:
      return [0x80, 0x8f];
    default:
      return [0x80, 0xbf];
  }
}

/**
 * The deepest nesting of a line. Writers stop at 500; a reader's stack has to have some bound.
 */
const MAX_LINE_DEPTH = 1_000_000;

/** Scans JSON values; keeps its stack between calls so that a line costs no allocation. */
export class ValueScanner {
  /** Where the newest key of each open object begins; -1 for an array, 0 before the first key. */
  #keyStart = new Int32Array(64);
  #keyEnd = new Int32Array(64);
  #depth = 0;
  #maxDepth = 0;

  /**
   * Returns the position after the value that begins at `start`, or {@link BAD}. `open` containers of the
   * line are open round it.
   */
  scan(bytes: Uint8Array, start: number, open = 0): number {
    this.#depth = 0;
    this.#maxDepth = MAX_LINE_DEPTH - open;
    let i = start;
    for (;;) {
      i = this.#begin(bytes, i);
      if (i === BAD) return BAD;
      if (i < 0) {
        i = -i; // a container was entered: its first value comes next
        continue;
      }
      i = this.#end(bytes, i);
      if (i === BAD || this.#depth === 0) return i;
    }
  }

  /** Scans a scalar or an empty container whole; enters any other container and returns -position. */
  #begin(bytes: Uint8Array, i: number): number {
    const byte = bytes[i];
    if (byte === QUOTE) return scanString(bytes, i + 1);
    if (byte === OPEN_OBJECT) {
      if (bytes[i + 1] === CLOSE_OBJECT) return i + 2;
      if (!this.#push(0)) return BAD;
      const next = this.#key(bytes, i + 1);
      return next === BAD ? BAD : -next;
    }
    if (byte === OPEN_ARRAY) {
      if (bytes[i + 1] === CLOSE_ARRAY) return i + 2;
      if (!this.#push(-1)) return BAD;
      return -(i + 1);
    }
    return byte === MINUS || (byte !== undefined && byte <= NINE)
      ? scanNumber(bytes, i)
      : scanLiteral(bytes, i);
  }

  /** After a value: closes what closes here; returns where the next value begins, or the end. */
  #end(bytes: Uint8Array, start: number): number {
    let i = start;
    while (this.#depth > 0) {
      const isArray = this.#keyStart[this.#depth - 1] === -1;
      const byte = bytes[i];
      if (byte === COMMA) return isArray ? i + 1 : this.#key(bytes, i + 1);
      if (byte !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) return BAD;
      this.#depth -= 1;
      i += 1;
    }
    return i;
  }

  /** Scans `"key":`, which must sort after the object's last key; returns where its value begins. */
  #key(bytes: Uint8Array, i: number): number {
    if (bytes[i] !== QUOTE) return BAD;
    const start = i + 1;
    const after = scanString(bytes, start);
    if (after === BAD || bytes[after] !== COLON) return BAD;
    const top = this.#depth - 1;
    const lastStart = this.#keyStart[top] ?? 0;
    if (lastStart > 0 && !ascends(bytes, lastStart, this.#keyEnd[top] ?? 0, start, after - 1)) {
      return BAD;
    }
    this.#keyStart[top] = start;
    this.#keyEnd[top] = after - 1;
    return after + 1;
  }

  /** Opens a container; false if it is nested deeper than any line may be. */
  #push(keyStart: number): boolean {
    if (this.#depth === this.#maxDepth) return false;
    if (this.#depth === this.#keyStart.length) {
      this.#keyStart = grown(this.#keyStart);
      this.#keyEnd = grown(this.#keyEnd);
    }
    this.#keyStart[this.#depth] = keyStart;
    this.#depth += 1;
    return true;
  }
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function scanLiteral(bytes: Uint8Array, i: number): number {
  if (matches(bytes, i, NULL) || matches(bytes, i, TRUE)) return i + 4;
  return matches(bytes, i, FALSE) ? i + 5 : BAD;
}

/**
 * Whether the key at `b` sorts strictly after the key at `a`, by code point. UTF-8 bytes sort as code
 * points do; only escapes have to be decoded.
 */
function ascends(bytes: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): boolean {
  const length = Math.min(aEnd - a, bEnd - b);
  for (let k = 0; k < length; k += 1) {
    const x = bytes[a + k];
    const y = bytes[b + k];
    if (x === BACKSLASH || y === BACKSLASH) {
      return compareCodePoints(decodeKey(bytes, a, aEnd), decodeKey(bytes, b, bEnd)) < 0;
    }
    if (x !== y) return (x ?? 0) < (y ?? 0);
  }
  return aEnd - a < bEnd - b;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function decodeKey(bytes: Uint8Array, start: number, end: number): string {
  const decoded: unknown = JSON.parse(`"${decoder.decode(bytes.subarray(start, end))}"`);
  return String(decoded);
}
