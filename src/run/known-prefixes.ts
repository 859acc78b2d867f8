/**
 * Byte strings, one of which may begin at a place.
 *
 * None of them begins with another, as whoever finds the longer has found the shorter. So it can be said of each length
 * whether to go on there: the beginnings of a string are kept whose lengths are its own without some of the lowest bits,
 * and a place takes one bit of the length after the other, the highest first.
 *
 * @module
 */
import { Hashes, powersOf, type Pair } from './rolling-hash.ts';

/** So many bytes say whether to look on. */
const START = 3;

/** Where one may begin: first some bytes of its own, then those of the text from a place on. */
export interface Place {
  readonly first: readonly number[];
  readonly at: number;
}

/** Beginnings of one length, by their hashes: those that are whole, and `undefined` for those that go on. */
interface Alike {
  readonly powers: Pair;
  readonly byHash: Map<number, Uint8Array | undefined>;
}

/** Those that start alike. */
interface Begun {
  /** The highest bit of their lengths. */
  highest: number;
  readonly byLength: Map<number, Alike>;
}

/** A set that doesn't change. */
export class FixedSet {
  /** How many bytes they have. */
  readonly size: number;
  readonly members: readonly Uint8Array[];
  readonly #byStart = new Map<number, Begun>();

  /** @param all each of at least three bytes. */
  constructor(all: readonly Uint8Array[]) {
    const members: Uint8Array[] = [];
    // The shorter ones first: none that comes later begins one that is there.
    for (const bytes of all.toSorted((a, b) => a.length - b.length)) {
      const text = new Hashes(bytes);
      if (this.isAt({ first: [], at: 0 }, text)) continue;
      this.#insert(text);
      members.push(bytes);
    }
    this.members = members;
    this.size = members.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether one of them stands in a text. */
  isAnywhere(text: Hashes): boolean {
    const { bytes } = text;
    let start = 0;
    for (let next = 0; next < bytes.length; next += 1) {
      start = ((start << 8) | (bytes[next] ?? 0)) & 0xff_ff_ff;
      const begun = next < START - 1 ? undefined : this.#byStart.get(start);
      if (begun !== undefined && isBegun(begun, { first: [], at: next + 1 - START }, text))
        return true;
    }
    return false;
  }

  /** Whether one of them stands at a place. */
  isAt(place: Place, text: Hashes): boolean {
    const begun = this.#byStart.get(startOf(place.first, text.bytes, place.at));
    return begun !== undefined && isBegun(begun, place, text);
  }

  #insert(text: Hashes): void {
    const { bytes } = text;
    const start = startOf([], bytes, 0);
    const begun = this.#byStart.get(start) ?? { highest: 1, byLength: new Map<number, Alike>() };
    this.#byStart.set(start, begun);
    while (begun.highest * 2 <= bytes.length) begun.highest *= 2;
    let length = 0;
    for (let bit = begun.highest; bit >= 1; bit /= 2) {
      if (length + bit > bytes.length) continue;
      length += bit;
      const alike = begun.byLength.get(length) ?? { powers: powersOf(length), byHash: new Map() };
      begun.byLength.set(length, alike);
      const isWhole = length === bytes.length;
      alike.byHash.set(text.of(0, length, alike.powers), isWhole ? bytes : undefined);
    }
  }
}

function isBegun({ highest, byLength }: Begun, place: Place, text: Hashes): boolean {
  let length = 0;
  for (let bit = highest; bit >= 1; bit /= 2) {
    const alike = byLength.get(length + bit);
    const hash = alike && hashAt(place, length + bit, alike.powers, text);
    if (alike === undefined || hash === undefined || !alike.byHash.has(hash)) continue;
    length += bit;
    const whole = alike.byHash.get(hash);
    if (whole !== undefined) return isSame(whole, place, text.bytes);
  }
  return false;
}

/** The hash of so many bytes at a place; undefined where there are fewer. */
function hashAt(
  { first, at }: Place,
  length: number,
  powers: Pair,
  text: Hashes,
): number | undefined {
  const rest = length - first.length;
  if (at + rest > text.bytes.length) return undefined;
  if (first.length === 0) return text.of(at, at + length, powers);
  return text.behind(first.slice(0, length), at, Math.max(0, rest));
}

function isSame(bytes: Uint8Array, { first, at }: Place, text: Uint8Array): boolean {
  return (
    first.every((byte, i) => byte === bytes[i]) &&
    Buffer.compare(
      text.subarray(at, at + bytes.length - first.length),
      bytes.subarray(first.length),
    ) === 0
  );
}

/** The first few bytes as one number. */
function startOf(first: readonly number[], bytes: Uint8Array, at: number): number {
  let start = 0;
  for (let i = 0; i < START; i += 1)
    start = (start << 8) | (first[i] ?? bytes[at + i - first.length] ?? 0);
  return start;
}
