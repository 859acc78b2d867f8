/**
 * Many byte strings, looked for in another at once.
 *
 * @module
 */
import { FixedSet, type Place } from './known-prefixes.ts';
import { type Escape, type PlainForm } from './plain-form.ts';
import { Hashes } from './rolling-hash.ts';

/** A set of byte strings. One look costs about the length, whatever was written to make it dear. */
export class KnownBytes {
  readonly #known = new GrowingSet();
  /** Those that end where an escape begins, which goes on with their last bytes; all from the back. */
  readonly #begun = new GrowingSet();

  get isEmpty(): boolean {
    return this.#known.isEmpty && this.#begun.isEmpty;
  }

  /**
   * @param bytes at least three.
   * @param tail what an escape must begin with that stands where `bytes` end; empty for nothing.
   */
  add(bytes: Uint8Array, tail: Uint8Array = new Uint8Array(0)): void {
    if (tail.length === 0) this.#known.add(bytes);
    else this.#begun.add(Buffer.concat([bytes, tail]).toReversed());
  }

  /** Whether one of them stands in a text, or begins or ends within one of its escapes. */
  isIn({ bytes, escapes }: PlainForm): boolean {
    const text = new Hashes(bytes);
    return (
      this.#known.isAnywhere(text) ||
      this.#known.isAt(beginnings(escapes), text) ||
      this.#endsIn(bytes, escapes)
    );
  }

  #endsIn(bytes: Uint8Array, escapes: readonly Escape[]): boolean {
    if (this.#begun.isEmpty || escapes.length === 0) return false;
    return this.#begun.isAt(endings(escapes, bytes.length), new Hashes(bytes.toReversed()));
  }
}

/** Where a text may begin within an escape. */
function* beginnings(escapes: readonly Escape[]): Generator<Place> {
  for (const { raw, end } of escapes)
    for (let from = 0; from < raw.length; from += 1) yield { first: raw.slice(from), at: end };
}

/** Where one may end within an escape, from the back. */
function* endings(escapes: readonly Escape[], length: number): Generator<Place> {
  for (const { raw, at } of escapes)
    for (let to = 1; to < raw.length; to += 1)
      yield { first: raw.slice(0, to).toReversed(), at: length - at };
}

/** A set that is made of fixed ones, each more than twice the next: adding to it costs each byte a few moves. */
class GrowingSet {
  readonly #sets: FixedSet[] = [];
  #added: Uint8Array[] = [];

  get isEmpty(): boolean {
    return this.#sets.length + this.#added.length === 0;
  }

  add(bytes: Uint8Array): void {
    this.#added.push(bytes);
  }

  isAnywhere(text: Hashes): boolean {
    this.#settle();
    return this.#sets.some((set) => set.isAnywhere(text));
  }

  isAt(places: Iterable<Place>, text: Hashes): boolean {
    this.#settle();
    if (this.#sets.length === 0) return false;
    for (const place of places) if (this.#sets.some((set) => set.isAt(place, text))) return true;
    return false;
  }

  #settle(): void {
    if (this.#added.length === 0) return;
    let all = new FixedSet(this.#added);
    this.#added = [];
    for (let last = this.#sets.at(-1); last !== undefined; last = this.#sets.at(-1)) {
      if (last.size > 2 * all.size) break;
      this.#sets.pop();
      all = new FixedSet([...last.members, ...all.members]);
    }
    this.#sets.push(all);
  }
}
