/**
 * Texts that were taken out of a record, found again wherever they stand in others.
 *
 * @module
 */
import { isJsonArray, isJsonObject, Verbatim, type JsonValue } from '../transcript/index.ts';
import { KnownBytes } from './known-bytes.ts';
import { inLetters, plainForm, type Reading } from './plain-form.ts';

/** Shorter ones stand in half of all texts by chance. In UTF-16 units, and in bytes of the form. */
const SHORTEST = 4;

/** What may be the beginning of an escape, at the end of a text or of its one form (a byte a character). */
const BEGUN = /%[\da-f]?$|(?<=\\)u[\da-f]{0,3}$/iu;
const LONGEST_BEGUN = 5;

/** Without one of these each character is as it is. */
const ESCAPE = /[%\\+]/u;

const READINGS: readonly Reading[] = ['letters', 'controls'];

/** A set of texts. One look at a text costs its length. */
export class KnownTexts {
  readonly #texts = new Set<string>();
  /** As they are, and as JSON, addresses and forms usually have them. */
  readonly #written = new KnownBytes();
  /** However they are spelled, in each reading. */
  readonly #plain = { letters: new KnownBytes(), controls: new KnownBytes() };

  readonly #shortest: number;

  /** @param shortest three or more. */
  constructor(shortest: number = SHORTEST) {
    this.#shortest = shortest;
  }

  /** Adds the texts and numbers in a value, and the names in it that are data, in all the ways in which they may be spelled. */
  learn(value: JsonValue): void {
    // Not by recursion: a value that was read from a file may nest to any depth.
    const left = [value];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      if (!isJsonArray(one) && !isJsonObject(one)) this.#add(textOf(one) ?? '');
      else {
        for (const member of Object.values(one)) left.push(member);
        if (isJsonObject(one))
          for (const name of Object.keys(one)) if (isDatum(name)) this.#add(name);
      }
    }
  }

  /** Whether one of them stands in a text. */
  isIn(text: string): boolean {
    if (this.#written.isEmpty || text.length < this.#shortest) return false;
    if (this.#written.isIn({ bytes: Buffer.from(text), escapes: [] })) return true;
    return (
      ESCAPE.test(text) &&
      READINGS.some((reading) => this.#plain[reading].isIn(plainForm(text, reading)))
    );
  }

  #add(text: string): void {
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    for (const spelling of spellingsOf(text))
      if (spelling.length >= this.#shortest) this.#written.add(Buffer.from(spelling));
    if (text.length < this.#shortest) return;
    const { bytes } = plainForm(text, 'letters');
    this.#addForm('letters', text, bytes);
    // A newline in it may have become a letter in the text that it stands in; one that stands there is none.
    this.#addForm('letters', text, inLetters(bytes));
    this.#addForm('controls', text, plainForm(text, 'controls').bytes);
  }

  #addForm(reading: Reading, text: string, bytes: Uint8Array): void {
    const known = this.#plain[reading];
    if (bytes.length >= this.#shortest) known.add(bytes);
    // It may end with what the text that it stands in goes on to make an escape of.
    const ends = [text, Buffer.from(bytes).toString('latin1')].map((end) =>
      end.slice(-LONGEST_BEGUN),
    );
    const tail = Math.max(...ends.map((end) => BEGUN.exec(end)?.[0].length ?? 0));
    const body = bytes.length - tail;
    if (tail > 0 && body >= this.#shortest) known.add(bytes.subarray(0, body), bytes.slice(body));
  }
}

/** Whether the name of a member is rather a datum, as an address or a number: other names stand in every record. */
function isDatum(name: string): boolean {
  return name.includes('@') || (name.match(/\d/gu)?.length ?? 0) >= DATUM_DIGITS;
}

/** More than names have that end with a number, or are those of standards. */
const DATUM_DIGITS = 5;

/**
 * The usual spellings. The one form has them too, but for texts of which little is left there, as of backslashes, and
 * those that what stands beside them makes other escapes of, more than once.
 */
export function spellingsOf(text: string): ReadonlySet<string> {
  const inForm = new URLSearchParams({ '': text }).toString().slice(1);
  const inJson = JSON.stringify(text).slice(1, -1);
  return new Set([text, inJson, encodeURIComponent(text.toWellFormed()), inForm]);
}

/** A text as it is, a number as JSON has it; undefined for anything else. */
export function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Verbatim) return value.text;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
