/**
 * Many byte strings, looked for in another at once.
 *
 * @module
 */
import { randomInt } from 'node:crypto';
import { type Escape, type PlainForm } from './plain-form.ts';

/** So many bytes say which ones to compare. */
const START = 4;

/** A prime below 2^26, so that products are exact; and a base that nobody can write texts for. */
const PRIME = 67_108_859;
const BASE = randomInt(256, PRIME);

interface Known {
  readonly bytes: Uint8Array;
  /** What an escape must begin with that stands where `bytes` end; empty for nothing. */
  readonly tail: Uint8Array;
}

/** Those that begin alike and are of one length, by their hashes. */
interface Alike {
  readonly length: number;
  /** The base to the power of the length. */
  readonly power: number;
  readonly byHash: Map<number, Known[]>;
}

/** Where a known one may begin: first some bytes of its own, then those of the form from a place on. */
interface Place {
  readonly first: readonly number[];
  readonly at: number;
}

/** A set of byte strings. One look costs the length, whatever was written to make it dear. */
export class KnownBytes {
  /** By their first few bytes. */
  readonly #byStart = new Map<number, Map<number, Alike>>();

  get isEmpty(): boolean {
    return this.#byStart.size === 0;
  }

  /** @param bytes at least four. */
  add(bytes: Uint8Array, tail: Uint8Array = new Uint8Array(0)): void {
    const start = startOf([], bytes, 0);
    const { length } = bytes;
    const begun = this.#byStart.get(start) ?? new Map<number, Alike>();
    this.#byStart.set(start, begun);
    const alike = begun.get(length) ?? { length, power: powerOf(length), byHash: new Map() };
    begun.set(length, alike);
    const hash = new Hashes(bytes).of(0, length, alike.power);
    const same = alike.byHash.get(hash);
    if (same === undefined) alike.byHash.set(hash, [{ bytes, tail }]);
    else same.push({ bytes, tail });
  }

  /** Whether one of them stands in a text, or begins or ends within one of its escapes. */
  isIn(form: PlainForm): boolean {
    const look = new Look(form);
    const { bytes } = form;
    let start = 0;
    for (let next = 0; next < bytes.length; next += 1) {
      start = (start << 8) | (bytes[next] ?? 0);
      const begun = next < START - 1 ? undefined : this.#byStart.get(start);
      if (begun === undefined) continue;
      if (look.isAnyAt(begun, { first: [], at: next + 1 - START })) return true;
    }
    return form.escapes.some(({ raw, end }) =>
      raw.some((_, from) => this.#begins({ first: raw.slice(from), at: end }, look)),
    );
  }

  #begins(place: Place, look: Look): boolean {
    const begun = this.#byStart.get(startOf(place.first, look.bytes, place.at));
    return begun !== undefined && look.isAnyAt(begun, place);
  }
}

/** One look at a form. */
class Look {
  readonly bytes: Uint8Array;
  readonly #escapes: readonly Escape[];
  #hashes: Hashes | undefined;
  #begun: ReadonlyMap<number, readonly (readonly number[])[]> | undefined;

  constructor({ bytes, escapes }: PlainForm) {
    this.bytes = bytes;
    this.#escapes = escapes;
  }

  isAnyAt(begun: ReadonlyMap<number, Alike>, place: Place): boolean {
    for (const { length, power, byHash } of begun.values()) {
      const rest = length - place.first.length;
      if (rest < 0 || place.at + rest > this.bytes.length) continue;
      const same = byHash.get(this.#hashOf(place, rest, power));
      if (same?.some((known) => this.#isAt(known, place)) === true) return true;
    }
    return false;
  }

  #isAt({ bytes, tail }: Known, { first, at }: Place): boolean {
    const end = at + bytes.length - first.length;
    if (tail.length > 0 && !this.#hasEscape(end, tail)) return false;
    return (
      first.every((byte, i) => byte === bytes[i]) &&
      Buffer.compare(this.bytes.subarray(at, end), bytes.subarray(first.length)) === 0
    );
  }

  #hasEscape(at: number, tail: Uint8Array): boolean {
    this.#begun ??= begunAt(this.#escapes);
    const found = this.#begun.get(at) ?? [];
    return found.some((raw) => tail.every((byte, i) => byte === raw[i]));
  }

  #hashOf({ first, at }: Place, rest: number, power: number): number {
    this.#hashes ??= new Hashes(this.bytes);
    if (first.length === 0) return this.#hashes.of(at, at + rest, power);
    const begun = first.reduce((hash, byte) => (hash * BASE + byte) % PRIME, 0);
    const ofRest = powerOf(rest);
    return (((begun * ofRest) % PRIME) + this.#hashes.of(at, at + rest, ofRest)) % PRIME;
  }
}

/** How escapes were written, by the places where they begin. */
function begunAt(escapes: readonly Escape[]): ReadonlyMap<number, readonly (readonly number[])[]> {
  const begun = new Map<number, (readonly number[])[]>();
  for (const { at, raw } of escapes) {
    const there = begun.get(at);
    if (there === undefined) begun.set(at, [raw]);
    else there.push(raw);
  }
  return begun;
}

/** The hashes of all parts of some bytes. */
class Hashes {
  /** Of what comes before each place. */
  readonly #before: Uint32Array;

  constructor(bytes: Uint8Array) {
    this.#before = new Uint32Array(bytes.length + 1);
    let hash = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      hash = (hash * BASE + (bytes[at] ?? 0)) % PRIME;
      this.#before[at + 1] = hash;
    }
  }

  /** @param power the base to the power of how many there are. */
  of(from: number, to: number, power: number): number {
    const [before = 0, all = 0] = [this.#before[from], this.#before[to]];
    return (all + PRIME - ((before * power) % PRIME)) % PRIME;
  }
}

/** A power of the base. */
function powerOf(exponent: number): number {
  let [result, square] = [1, BASE];
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

/** The first few bytes as one number. */
function startOf(first: readonly number[], bytes: Uint8Array, at: number): number {
  let start = 0;
  for (let i = 0; i < START; i += 1)
    start = (start << 8) | (first[i] ?? bytes[at + i - first.length] ?? 0);
  return start;
}
