/**
 * One form for all spellings of a text: as it is, percent-encoded in addresses and forms, and in JSON, however often
 * each was done. Two spellings of a text have the same form, wherever they stand.
 *
 * Percent signs with two hex digits become the byte, `\uXXXX` the character, `+` a space. The other backslashes are
 * dropped, as JSON within JSON doubles them; so a character that JSON writes by a letter (a newline, `\n`) becomes that
 * letter. What this makes alike is alike for whoever looks for a secret; it is for finding only, never for reading.
 *
 * @module
 */

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
const LETTER_U = 0x75;

/** What is written otherwise in the form, whether it stood there or was decoded. */
const INSTEAD: ReadonlyMap<number, string> = new Map([
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x2b, ' '],
]);
const TABLE = Uint8Array.from(
  { length: 256 },
  (_, byte) => INSTEAD.get(byte)?.charCodeAt(0) ?? byte,
);

/** The form of a text. It costs the text's length. */
export function plainForm(text: string): PlainForm {
  const reader = new Reader(Buffer.byteLength(text));
  for (const byte of Buffer.from(text)) reader.take(byte);
  return reader.form();
}

/** Takes bytes one by one; what completes an escape is taken back, and what that stands for is taken in its place. */
class Reader {
  readonly #out: Uint8Array;
  /** For each byte of the form, whether a backslash stood before it. */
  readonly #isEscaped: Uint8Array;
  #length = 0;
  #isAfterBackslash = false;
  readonly #escapes: Escape[] = [];

  constructor(size: number) {
    this.#out = new Uint8Array(size);
    this.#isEscaped = new Uint8Array(size);
  }

  form(): PlainForm {
    return { bytes: this.#out.subarray(0, this.#length), escapes: this.#escapes };
  }

  take(first: number): void {
    this.#put(first);
    // Not by recursion: what was decoded may complete another escape, to any depth.
    for (let found = this.#escape(); found !== undefined; found = this.#escape()) {
      const { at, isEscaped, value } = found;
      const raw = this.#takeBack(at);
      this.#isAfterBackslash = isEscaped;
      for (const byte of value) this.#put(byte);
      this.#escapes.push({ at, end: this.#length, raw });
      this.#joinSurrogates();
      if (this.#length === at) break;
    }
  }

  #put(byte: number): void {
    if (byte === BACKSLASH) {
      this.#isAfterBackslash = true;
      return;
    }
    this.#out[this.#length] = TABLE[byte] ?? byte;
    this.#isEscaped[this.#length] = this.#isAfterBackslash ? 1 : 0;
    this.#isAfterBackslash = false;
    this.#length += 1;
  }

  /** The escape that the form ends with. */
  #escape(): { at: number; isEscaped: boolean; value: readonly number[] } | undefined {
    if (this.#isAfterBackslash) return undefined;
    const percent = this.#length - 3;
    if (this.#out[percent] === PERCENT) {
      const value = this.#hex(percent + 1);
      if (value !== undefined)
        return { at: percent, isEscaped: this.#isEscaped[percent] === 1, value: [value] };
    }
    const u = this.#length - 5;
    if (this.#out[u] !== LETTER_U || this.#isEscaped[u] !== 1) return undefined;
    const value = this.#hex(u + 1);
    return value === undefined ? undefined : { at: u, isEscaped: false, value: utf8(value) };
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
    const isEscaped = this.#isEscaped[at] === 1;
    this.#takeBack(at);
    this.#isAfterBackslash = isEscaped;
    for (const byte of Buffer.from(String.fromCodePoint(code))) this.#put(byte);
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
