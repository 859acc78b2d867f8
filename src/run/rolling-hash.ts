/**
 * Hashes of all parts of some bytes.
 *
 * Two at once, of 26 bits each, by bases that nobody can write texts for: that two parts of other bytes have the same
 * is as unlikely as 1 in 2^52, and wherever it finds something, who asks compares the bytes as well.
 *
 * @module
 */
import { randomInt } from 'node:crypto';

/** Below 2^26, so that products are exact. Primes, as are the halves of what comes before them. */
const PRIMES = { one: 67108187, other: 67107983 } as const;
const BASES = { one: randomInt(256, PRIMES.one), other: randomInt(256, PRIMES.other) };

/** A number for each of the two. */
export interface Pair {
  readonly one: number;
  readonly other: number;
}

/** The bases to the power of a length. */
export function powersOf(length: number): Pair {
  return {
    one: powerOf(BASES.one, length, PRIMES.one),
    other: powerOf(BASES.other, length, PRIMES.other),
  };
}

/** Some bytes, and the hashes of their parts. */
export class Hashes {
  readonly bytes: Uint8Array;
  /** Of what comes before each place; they cost something, and most texts are never asked for them. */
  #before: { readonly one: Uint32Array; readonly other: Uint32Array } | undefined;
  /** Few counts are asked for, but often. */
  readonly #powers = new Map<number, Pair>();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** @param powers those of how many there are from one place to the other. */
  of(from: number, to: number, powers: Pair): number {
    this.#before ??= {
      one: allBefore(this.bytes, BASES.one, PRIMES.one),
      other: allBefore(this.bytes, BASES.other, PRIMES.other),
    };
    const { one, other } = this.#before;
    return joined({
      one: part(one, from, to, powers.one, PRIMES.one),
      other: part(other, from, to, powers.other, PRIMES.other),
    });
  }

  #powersOf(count: number): Pair {
    const powers = this.#powers.get(count) ?? powersOf(count);
    this.#powers.set(count, powers);
    return powers;
  }

  /** The hash of some bytes and, behind them, so many from a place on. */
  behind(first: readonly number[], at: number, count: number): number {
    const powers = this.#powersOf(count);
    const rest = this.of(at, at + count, powers);
    const begun = { one: 0, other: 0 };
    for (const byte of first) {
      begun.one = (begun.one * BASES.one + byte) % PRIMES.one;
      begun.other = (begun.other * BASES.other + byte) % PRIMES.other;
    }
    return joined({
      one: (((begun.one * powers.one) % PRIMES.one) + Math.floor(rest / BITS)) % PRIMES.one,
      other: (((begun.other * powers.other) % PRIMES.other) + (rest % BITS)) % PRIMES.other,
    });
  }
}

const BITS = 2 ** 26;

function joined({ one, other }: Pair): number {
  return one * BITS + other;
}

function allBefore(bytes: Uint8Array, base: number, prime: number): Uint32Array {
  const before = new Uint32Array(bytes.length + 1);
  let hash = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    hash = (hash * base + (bytes[at] ?? 0)) % prime;
    before[at + 1] = hash;
  }
  return before;
}

function part(before: Uint32Array, from: number, to: number, power: number, prime: number): number {
  const [skipped = 0, all = 0] = [before[from], before[to]];
  return (all + prime - ((skipped * power) % prime)) % prime;
}

function powerOf(base: number, exponent: number, prime: number): number {
  let [result, square] = [1, base];
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}
