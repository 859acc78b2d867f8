/**
 * Comparing and copying short pieces of text eight bytes at a time, in the hot loop of verifying an audit log.
 *
 * Eight bytes are one double, as nothing else of that size is free of allocation in JavaScript. That is exact for the
 * bytes of a text in UTF-8 without U+0000: with the low byte first, a double that isn't a number ends with a byte from
 * 0xF0 on and then 0x7F or 0xFF, which no text has; and of the doubles only 0 and -0 are equal without being the same
 * bytes, which have a 0x00 in them. So one side of each comparison must be such a text, and so must be what is copied.
 *
 * A DataView throws where a read goes beyond its end, so each function that may be asked for more than there is looks
 * at the end first.
 *
 * @module
 */
import { ascii } from './bytes.ts';

/** A view of bytes. Its length is a field, as asking a DataView for its own is a call in Node 20 (3 % of verifying, measured). */
export class View {
  readonly data: DataView;
  readonly length: number;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.data = new DataView(buffer, byteOffset, length);
    this.length = length;
  }

  /** The bytes of a part, not copied. */
  part(start: number, length: number): Uint8Array {
    return new Uint8Array(this.data.buffer, this.data.byteOffset + start, length);
  }
}

/** A text of at least eight ASCII characters, to compare with. */
export interface Words {
  readonly length: number;
  /** Its words, one after the other; the last one ends with the text, and may overlap the one before. */
  readonly words: Float64Array;
}

/** Makes a text ready for comparing. */
export function wordsOf(text: string): Words {
  const { length } = text;
  const { data } = new View(ascii(text));
  const words = Float64Array.from({ length: Math.ceil(length / 8) }, (_, i) =>
    data.getFloat64(Math.min(i * 8, length - 8), true),
  );
  return { length, words };
}

/** Whether a text stands at `at`. */
export function standsIn(view: View, at: number, { length, words }: Words): boolean {
  if (at + length > view.length) return false;
  const { data } = view;
  const last = words.length - 1;
  for (let i = 0; i < last; i += 1) {
    if (data.getFloat64(at + i * 8, true) !== words[i]) return false;
  }
  return data.getFloat64(at + length - 8, true) === words[last];
}

/** Whether the same `length` bytes, at least eight, stand at two places. The second one has them all, and is text. */
export function isSame(
  view: View,
  at: number,
  other: View,
  otherAt: number,
  length: number,
): boolean {
  if (at + length > view.length) return false;
  const [data, otherData] = [view.data, other.data];
  const last = length - 8;
  for (let i = 0; i < last; i += 8) {
    if (data.getFloat64(at + i, true) !== otherData.getFloat64(otherAt + i, true)) return false;
  }
  return data.getFloat64(at + last, true) === otherData.getFloat64(otherAt + last, true);
}

/** The two hexadecimal digits of a byte, as they stand in a word. */
const HEX: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  const [high = 0, low = 0] = ascii(byte.toString(16).padStart(2, '0'));
  return high | (low << 8);
});

/** Whether bytes, one in each character of `binary`, stand at `at` in hexadecimal digits, which are all there. */
export function isHexOf({ data }: View, at: number, binary: string): boolean {
  for (let i = 0; i < binary.length; i += 2) {
    // Every byte has its digits; `as` spares two comparisons in the hot loop.
    const first = HEX[binary.charCodeAt(i)] as number;
    const second = HEX[binary.charCodeAt(i + 1)] as number;
    if (data.getInt32(at + i * 2, true) !== (first | (second << 16))) return false;
  }
  return true;
}

/** Longer contents are copied natively, which only pays when there is much to copy. */
const LONG = 512;

/** Puts two pieces together, in memory that it uses again. */
export class Joiner {
  #bytes = new Uint8Array(LONG);
  readonly #short = this.#bytes;
  readonly #view = new View(this.#short);
  /** The first bytes of `#short`, by their number: a new view costs half as much as the copying (measured). */
  readonly #firsts: Uint8Array[] = [];

  /** `[start, middle)` and `[rest, end)`, each a text of at least eight bytes; they stay until the next call. */
  join(view: View, start: number, middle: number, rest: number, end: number): Uint8Array {
    const head = middle - start;
    const length = head + end - rest;
    if (length >= LONG) return this.#joinLong(view, start, head, rest, length);
    copy(view, start, middle, this.#view, 0);
    copy(view, rest, end, this.#view, head);
    return (this.#firsts[length] ??= this.#short.subarray(0, length));
  }

  #joinLong(view: View, start: number, head: number, rest: number, length: number): Uint8Array {
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(length * 2);
    this.#bytes.set(view.part(start, head));
    this.#bytes.set(view.part(rest, length - head), head);
    return this.#bytes.subarray(0, length);
  }
}

/** Four words a turn are faster than one (measured). */
function copy(
  { data: from }: View,
  start: number,
  end: number,
  { data: into }: View,
  at: number,
): void {
  const shift = at - start;
  let i = start;
  for (; i + 32 <= end; i += 32) {
    into.setFloat64(i + shift, from.getFloat64(i, true), true);
    into.setFloat64(i + shift + 8, from.getFloat64(i + 8, true), true);
    into.setFloat64(i + shift + 16, from.getFloat64(i + 16, true), true);
    into.setFloat64(i + shift + 24, from.getFloat64(i + 24, true), true);
  }
  for (; i + 8 <= end; i += 8) into.setFloat64(i + shift, from.getFloat64(i, true), true);
  into.setFloat64(end - 8 + shift, from.getFloat64(end - 8, true), true);
}
