/**
 * Comparing and copying short pieces of bytes four at a time, in the hot loop of verifying an audit log. One byte at a
 * time takes half as long again (measured).
 *
 * A DataView throws where a read goes beyond its end, so each function that may be asked for more than there is looks
 * at the end first. Words are read with their low byte first, so that they don't depend on the machine.
 *
 * @module
 */
import { ascii } from './bytes.ts';

/** A text of at least four ASCII characters, to compare with. */
export interface Words {
  readonly length: number;
  /** Its words, one after the other; the last one ends with the text, and may overlap the one before. */
  readonly words: Int32Array;
}

/** A view of the same bytes. */
export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Makes a text ready for comparing. */
export function wordsOf(text: string): Words {
  const { length } = text;
  const view = viewOf(ascii(text));
  const words = Int32Array.from({ length: Math.ceil(length / 4) }, (_, i) =>
    view.getInt32(Math.min(i * 4, length - 4), true),
  );
  return { length, words };
}

/** Whether a text stands at `at`. */
export function standsIn(view: DataView, at: number, { length, words }: Words): boolean {
  if (at + length > view.byteLength) return false;
  const last = words.length - 1;
  for (let i = 0; i < last; i += 1) {
    if (view.getInt32(at + i * 4, true) !== words[i]) return false;
  }
  return view.getInt32(at + length - 4, true) === words[last];
}

/** Whether the same `length` bytes, at least four, stand at two places. The second one has them all. */
export function isSame(
  view: DataView,
  at: number,
  other: DataView,
  otherAt: number,
  length: number,
): boolean {
  if (at + length > view.byteLength) return false;
  const last = length - 4;
  for (let i = 0; i < last; i += 4) {
    if (view.getInt32(at + i, true) !== other.getInt32(otherAt + i, true)) return false;
  }
  return view.getInt32(at + last, true) === other.getInt32(otherAt + last, true);
}

/** The two hexadecimal digits of a byte, as they stand in a word. */
const HEX: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  const [high = 0, low = 0] = ascii(byte.toString(16).padStart(2, '0'));
  return high | (low << 8);
});

/** Whether bytes, one in each character of `binary`, stand at `at` in hexadecimal digits, which are all there. */
export function isHexOf(view: DataView, at: number, binary: string): boolean {
  for (let i = 0; i < binary.length; i += 2) {
    // Every byte has its digits; `as` spares two comparisons in the hot loop.
    const first = HEX[binary.charCodeAt(i)] as number;
    const second = HEX[binary.charCodeAt(i + 1)] as number;
    if (view.getInt32(at + i * 2, true) !== (first | (second << 16))) return false;
  }
  return true;
}

/** Longer contents are copied natively, which only pays when there is much to copy. */
const LONG = 512;

/** Puts two pieces together, in memory that it uses again. */
export class Joiner {
  #bytes = new Uint8Array(LONG);
  readonly #short = this.#bytes;
  readonly #view = viewOf(this.#short);
  /** The first bytes of `#short`, by their number: a new view costs half as much as the copying (measured). */
  readonly #firsts: Uint8Array[] = [];

  /** `[start, middle)` and `[rest, end)`, each of at least four bytes; they stay until the next call. */
  join(view: DataView, start: number, middle: number, rest: number, end: number): Uint8Array {
    const head = middle - start;
    const length = head + end - rest;
    if (length >= LONG) return this.#joinLong(view, start, head, rest, length);
    copy(view, start, middle, this.#view, 0);
    copy(view, rest, end, this.#view, head);
    return (this.#firsts[length] ??= this.#short.subarray(0, length));
  }

  #joinLong(view: DataView, start: number, head: number, rest: number, length: number): Uint8Array {
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(length * 2);
    const { buffer, byteOffset } = view;
    this.#bytes.set(new Uint8Array(buffer, byteOffset + start, head));
    this.#bytes.set(new Uint8Array(buffer, byteOffset + rest, length - head), head);
    return this.#bytes.subarray(0, length);
  }
}

/** Four words a turn: one at a time takes half as long again (measured). */
function copy(from: DataView, start: number, end: number, into: DataView, at: number): void {
  const shift = at - start;
  let i = start;
  for (; i + 16 <= end; i += 16) {
    into.setInt32(i + shift, from.getInt32(i, true), true);
    into.setInt32(i + shift + 4, from.getInt32(i + 4, true), true);
    into.setInt32(i + shift + 8, from.getInt32(i + 8, true), true);
    into.setInt32(i + shift + 12, from.getInt32(i + 12, true), true);
  }
  for (; i + 4 <= end; i += 4) into.setInt32(i + shift, from.getInt32(i, true), true);
  into.setInt32(end - 4 + shift, from.getInt32(end - 4, true), true);
}
