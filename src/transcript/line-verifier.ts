/**
 * What the verifiers of chained lines share: pieces of any size become lines, and the first line that isn't exactly
 * the expected one ends the work.
 *
 * @module
 */
import { BAD } from './bytes.ts';
import { MAX_LINE_BYTES } from './record.ts';

/** What is said of a last line that was cut, or only lost its newline. */
export const NO_NEWLINE = 'the last line has no newline';

const NEWLINE = 0x0a;
/** The most bytes that are looked at as one buffer: the scanner keeps places in 32 bits. */
const PIECE = 2 ** 30;

/** Verifies lines as their bytes come. Nothing in it throws, whatever the bytes are. */
export abstract class LineVerifier<F extends { readonly reason: string; readonly detail: string }> {
  /** The fault that was found, if any; nothing after it is looked at. */
  fault: F | undefined;
  /** A line whose end hasn't come yet: the first `#carried` bytes of `#carry`. */
  #carry: Uint8Array = new Uint8Array(0);
  #carried = 0;
  /** A fault that becomes `torn_tail` if its line turns out to be the last. */
  #suspect: F | undefined;

  /** Takes the next bytes. They are only borrowed: they may be reused afterwards. */
  push(borrowed: Uint8Array): void {
    const { buffer, byteOffset, length } = borrowed;
    for (let at = 0; at < length; at += PIECE) {
      // A plain view: a Buffer's `subarray` costs twice as much (measured).
      this.#piece(new Uint8Array(buffer, byteOffset + at, Math.min(PIECE, length - at)));
    }
  }

  /** Checks the line at `start`; returns where the next begins, or BAD if it isn't exactly the expected one. */
  protected abstract accept(bytes: Uint8Array, start: number): number;
  /** Names what is wrong with a line (without its newline) that was not accepted. */
  protected abstract judge(line: Uint8Array): F;
  /** The fault of a line of which no more is known. */
  protected abstract lineFault(reason: 'torn_tail' | 'too_long', detail: string): F;
  /** The bytes that lines were accepted from are about to be reused. */
  protected abstract letGo(): void;

  /** Ends the input: what is left of a line is a torn tail. */
  protected endLines(): void {
    if (this.fault !== undefined) return;
    if (this.#suspect !== undefined) {
      this.fault = this.lineFault('torn_tail', `the last line is cut: ${this.#suspect.detail}`);
    } else if (this.#carried > 0) {
      this.fault = this.lineFault('torn_tail', NO_NEWLINE);
    }
  }

  #piece(bytes: Uint8Array): void {
    // More bytes came: a suspect line was not the last.
    this.fault ??= this.#suspect;
    if (this.fault !== undefined) return;
    let start = 0;
    if (this.#carried > 0) {
      start = bytes.indexOf(NEWLINE) + 1;
      this.#keep(start === 0 ? bytes : bytes.subarray(0, start));
      if (start === 0 || this.fault !== undefined) return;
      const length = this.#carried;
      this.#carried = 0;
      this.#lines(this.#carry, 0, length, start < bytes.length);
    }
    const last = bytes.lastIndexOf(NEWLINE) + 1;
    this.#lines(bytes, start, last, last < bytes.length);
    if (this.fault === undefined && last < bytes.length) this.#keep(bytes.subarray(last));
  }

  /** Checks the complete lines in `bytes[from, end)`; `more` says that bytes follow. */
  #lines(bytes: Uint8Array, from: number, end: number, more: boolean): void {
    if (this.fault !== undefined) return;
    let start = from;
    while (start < end) {
      const next = this.accept(bytes, start);
      if (next === BAD) {
        this.#reject(bytes, start, end, more);
        break;
      }
      start = next;
    }
    this.letGo();
  }

  #reject(bytes: Uint8Array, start: number, end: number, more: boolean): void {
    const newline = bytes.indexOf(NEWLINE, start);
    const fault = this.judge(bytes.subarray(start, newline));
    const couldBeTorn = fault.reason === 'bad_json' || fault.reason === 'bad_utf8';
    if (couldBeTorn && newline + 1 === end && !more) this.#suspect = fault;
    else this.fault = fault;
  }

  /** Adds bytes to the unfinished line; the buffer doubles, so that many small pushes stay linear. */
  #keep(bytes: Uint8Array): void {
    const length = this.#carried + bytes.length;
    if (length > MAX_LINE_BYTES + 1) {
      this.fault = this.lineFault('too_long', `a line over ${MAX_LINE_BYTES} bytes`);
      return;
    }
    if (length > this.#carry.length) {
      const larger = new Uint8Array(Math.max(length, this.#carry.length * 2, 4096));
      larger.set(this.#carry.subarray(0, this.#carried));
      this.#carry = larger;
    }
    this.#carry.set(bytes, this.#carried);
    this.#carried = length;
  }
}

/**
 * Pushes a whole input. A lone surrogate is pushed as 0xFF, which UTF-8 never holds: TextEncoder would write
 * U+FFFD in its place, and the text would verify as what it isn't.
 */
export function pushAll(
  verifier: { push(bytes: Uint8Array): void },
  input: Uint8Array | string,
): void {
  if (typeof input !== 'string') {
    verifier.push(input);
    return;
  }
  const encoder = new TextEncoder();
  const pieces = input.isWellFormed() ? [input] : input.split(/\p{Surrogate}/u);
  pieces.forEach((piece, i) => {
    if (i > 0) verifier.push(Uint8Array.of(0xff));
    verifier.push(encoder.encode(piece));
  });
}
