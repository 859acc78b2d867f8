/**
 * One form for all spellings of a text: as it is, percent-encoded in addresses and forms, and in JSON, however often
 * each was done. Two spellings of a text have the same form in one of two readings, wherever they stand.
 *
 * Percent signs with two hex digits become the byte, `\uXXXX` the character, `+` a space. The other backslashes are
 * dropped, as JSON within JSON doubles them. So nobody knows what a letter behind one was: a newline, or the `n` of
 * `C:\new`. There is a reading for each. What this makes alike is alike for whoever looks for a secret; it is for
 * finding only, never for reading.
 *
 * @module
 */
import { levelBehind, unescape, withMore, type Backslashes } from './backslashes.ts';

/** An escape that was read, which a text may also begin or end within: `%41bc` holds `41bc`. */
export interface Escape {
  /** Where what it stands for begins in the form. */
  readonly at: number;
  /** Where what it stands for ends. */
  readonly end: number;
  /** The escape itself, `%41` or `u0041`. */
  readonly raw: readonly number[];
}

/** A text in the one form. */
export interface PlainForm {
  readonly bytes: Uint8Array;
  /** In the order of their places. */
  readonly escapes: readonly Escape[];
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const LETTER_U = 0x75;

/** What JSON writes as a letter behind a backslash, by the letter. */
const CONTROLS: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x74, 0x09],
  [0x6e, 0x0a],
  [0x66, 0x0c],
  [0x72, 0x0d],
]);
const LETTERS: ReadonlyMap<number, number> = new Map(
  [...CONTROLS].map(([letter, control]) => [control, letter]),
);

/**
 * How backslashes are read.
 *
 * - `letters`: a letter behind them is a letter, and one that was escaped itself has none before it.
 * - `controls`: such a letter is what JSON writes by it, and those that belong to no escape stay before what was one.
 */
export type Reading = 'letters' | 'controls';

/** The form of a text. It costs the text's length. */
export function plainForm(text: string, reading: Reading): PlainForm {
  const reader = new Reader(Buffer.byteLength(text), reading === 'controls');
  for (const byte of Buffer.from(text)) reader.take(byte);
  return reader.form();
}

/** A form with the letters that JSON writes for control characters in their place. */
export function inLetters(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => LETTERS.get(byte) ?? byte);
}

/** An escape that the form ends with, and what it stands for. */
interface Found {
  readonly at: number;
  readonly before: Backslashes | undefined;
  readonly level: number;
  readonly value: readonly number[];
}

/** Takes bytes one by one; what completes an escape is taken back, and what that stands for is taken in its place. */
class Reader {
  readonly #isStrict: boolean;
  readonly #out: Uint8Array;
  /** For each byte of the form, how often something was decoded to see it, and the backslashes before it. */
  readonly #levels: Uint32Array;
  readonly #before: (Backslashes | undefined)[] = [];
  #length = 0;
  /** The backslashes that the text ends with so far. */
  #last: Backslashes | undefined;
  readonly #escapes: Escape[] = [];

  constructor(size: number, isStrict: boolean) {
    this.#isStrict = isStrict;
    this.#out = new Uint8Array(size);
    this.#levels = new Uint32Array(size);
  }

  form(): PlainForm {
    return { bytes: this.#out.subarray(0, this.#length), escapes: this.#escapes };
  }

  take(first: number): void {
    this.#put(first, 0);
    // Not by recursion: what was decoded may complete another escape, to any depth.
    for (let found = this.#escape(); found !== undefined; found = this.#escape()) {
      const { at, before, level, value } = found;
      const raw = this.#takeBack(at);
      this.#last = before;
      for (const byte of value) this.#put(byte, level);
      this.#escapes.push({ at, end: this.#length, raw });
      this.#joinSurrogates();
      if (this.#length === at) break;
    }
    this.#readLetter();
  }

  #put(byte: number, level: number): void {
    if (byte === BACKSLASH) {
      this.#last = withMore(this.#last, 1, level);
      return;
    }
    this.#out[this.#length] = byte === PLUS ? SPACE : byte;
    this.#levels[this.#length] = level;
    this.#before[this.#length] = this.#last;
    this.#last = undefined;
    this.#length += 1;
  }

  /** The escape that the form ends with. */
  #escape(): Found | undefined {
    if (this.#last !== undefined) return undefined;
    const percent = this.#length - 3;
    if (this.#out[percent] === PERCENT) {
      const value = this.#hex(percent + 1);
      const [before, level] = [this.#before[percent], levelBehind(this.#levelFrom(percent))];
      if (value !== undefined) return { at: percent, before, level, value: [value] };
    }
    const u = this.#length - 5;
    const backslashes = this.#before[u];
    if (this.#out[u] !== LETTER_U || backslashes === undefined) return undefined;
    const value = this.#hex(u + 1);
    if (value === undefined) return undefined;
    const { before, level } = unescape(backslashes, this.#levelFrom(u));
    return { at: u, before: this.#isStrict ? before : undefined, level, value: utf8(value) };
  }

  /** A letter that JSON writes for a control character, once it is sure that it belongs to no other escape. */
  #readLetter(): void {
    const at = this.#length - 1;
    if (!this.#isStrict || this.#last !== undefined || this.#before[at] === undefined) return;
    const letter = this.#out[at] ?? 0;
    const control = CONTROLS.get(letter);
    if (control === undefined) return;
    this.#takeBack(at);
    this.#put(control, 0);
    this.#escapes.push({ at, end: at + 1, raw: [letter] });
  }

  /** How often something was decoded to see all from a place on. */
  #levelFrom(from: number): number {
    let level = 0;
    for (let at = from; at < this.#length; at += 1) level = Math.max(level, this.#levels[at] ?? 0);
    return level;
  }

  /** The number that the form ends with. */
  #hex(from: number): number | undefined {
    let value = 0;
    for (let at = from; at < this.#length; at += 1) {
      const digit = digitOf(this.#out[at] ?? 0);
      if (digit === undefined) return undefined;
      value = value * 16 + digit;
    }
    return value;
  }

  /** Takes the end of the form away, and the escapes in it. */
  #takeBack(from: number): readonly number[] {
    // A backslash that was decoded ends where it began.
    while ((this.#escapes.at(-1)?.end ?? 0) > from) this.#escapes.pop();
    const taken = [...this.#out.subarray(from, this.#length)];
    this.#length = from;
    return taken;
  }

  /** Two halves of a character that JSON writes as two escapes. */
  #joinSurrogates(): void {
    const at = this.#length - 6;
    if (at < 0) return;
    const [high, low] = [surrogate(this.#out, at), surrogate(this.#out, at + 3)];
    if (high < 0xd800 || high > 0xdbff || low < 0xdc00) return;
    const code = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
    const [before, level] = [this.#before[at], this.#levelFrom(at)];
    this.#takeBack(at);
    this.#last = before;
    for (const byte of Buffer.from(String.fromCodePoint(code))) this.#put(byte, level);
  }
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

/** The bytes of a UTF-16 unit; half of a pair is written like any other, until its other half comes. */
function utf8(unit: number): readonly number[] {
  if (unit < 0x80) return [unit];
  if (unit < 0x800) return [0xc0 | (unit >> 6), 0x80 | (unit & 0x3f)];
  return [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
}

/** The half of a pair that three bytes stand for; 0 if they stand for none. */
function surrogate(bytes: Uint8Array, at: number): number {
  const [first, second = 0, third = 0] = bytes.subarray(at, at + 3);
  return first === 0xed && second >= 0xa0 ? 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f) : 0;
}
