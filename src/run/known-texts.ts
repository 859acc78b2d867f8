/**
 * Texts that were taken out of a record, found again wherever they stand in others.
 *
 * @module
 */
import { isJsonArray, isJsonObject, Verbatim, type JsonValue } from '../transcript/index.ts';

/** Shorter ones stand in half of all texts by chance. In UTF-16 units. */
const SHORTEST = 4;

/** A set of texts. One look at a text costs its length, however many there are. */
export class KnownTexts {
  /** By their first few units. */
  readonly #texts = new Map<string, Set<string>>();

  /** Adds the texts and numbers in a value, as they are and as JSON and addresses spell them. */
  learn(value: JsonValue): void {
    // Not by recursion: a value that was read from a file may nest to any depth.
    const left = [value];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      if (isJsonArray(one) || isJsonObject(one))
        for (const member of Object.values(one)) left.push(member);
      else this.#add(textOf(one) ?? '');
    }
  }

  /** Whether one of them stands in a text. */
  isIn(text: string): boolean {
    if (this.#texts.size === 0) return false;
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      const begun = this.#texts.get(text.slice(at, at + SHORTEST));
      if (begun === undefined) continue;
      for (const known of begun) if (text.startsWith(known, at)) return true;
    }
    return false;
  }

  #add(text: string): void {
    const inForm = new URLSearchParams({ '': text }).toString().slice(1);
    const inJson = JSON.stringify(text).slice(1, -1);
    for (const spelling of [text, inJson, encodeURIComponent(text.toWellFormed()), inForm]) {
      if (spelling.length < SHORTEST) continue;
      const start = spelling.slice(0, SHORTEST);
      const begun = this.#texts.get(start);
      if (begun === undefined) this.#texts.set(start, new Set([spelling]));
      else begun.add(spelling);
    }
  }
}

/** A text as it is, a number as JSON has it; undefined for anything else. */
export function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Verbatim) return value.text;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
