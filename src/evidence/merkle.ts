/**
 * The Merkle tree of RFC 6962 §2.1 (the same as RFC 9162 §2.1) with SHA-256: its root, kept up record by
 * record, and proofs that a leaf is in it and that one tree continues another.
 *
 * Sizes and indices are whole numbers up to 2^53 - 1, so no bit operator may touch them: those keep 32 bits.
 *
 * @module
 */
import { sha256, sha256Binary } from '#sha256';
import { sameBytes } from './encoding.ts';
import { hexInto } from './hex.ts';

/** How many bytes every hash of a tree has. */
export const HASH_BYTES = 32;

/** The root of the tree without leaves: the SHA-256 of nothing. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0));

// Hashing allocates nothing for its input, which would take longer than the hash: nothing else runs meanwhile.
const leafInput = new Uint8Array(1 + HASH_BYTES);
const nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
// The first byte tells a node from a leaf: without it a leaf could be passed off as two.
nodeInput[0] = 1;

/** The hash of a leaf that holds `data`; in hashtape the data are the 32 bytes of a record's hash. */
export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(leafOf(data));
}

function leafOf(data: Uint8Array): Uint8Array {
  const input = data.length === HASH_BYTES ? leafInput : new Uint8Array(1 + data.length);
  input.set(data, 1);
  return input;
}

/** The hash of a node above two others. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) {
    throw new RangeError(`a hash has ${HASH_BYTES} bytes`);
  }
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
}

/**
 * A tree that grows. It keeps the roots of its complete parts only: one hash for each 1 bit of its size.
 *
 * Inside, a hash is a string with a character for each byte: that is made in half the time of an array (measured).
 */
export class MerkleTree {
  #size: number;
  readonly #peaks: string[];

  /** An empty tree, or the one of `size` leaves whose `peaks` were kept. */
  constructor(size = 0, peaks: readonly Uint8Array[] = []) {
    if (!isSize(size) || ones(size) !== peaks.length || !areHashes(peaks)) {
      throw new RangeError(`a tree can't have size ${size} and ${peaks.length} peaks`);
    }
    this.#size = size;
    this.#peaks = peaks.map((peak) => String.fromCharCode(...peak));
  }

  /** How many leaves it has. */
  get size(): number {
    return this.#size;
  }

  /** The roots of the complete subtrees it is made of, from the left; with `size` they are all of its state. */
  get peaks(): readonly Uint8Array[] {
    return this.#peaks.map(bytesOf);
  }

  /** Adds a leaf that holds `data`; returns the leaf's hash, which proofs will need. */
  append(data: Uint8Array): Uint8Array {
    const leaf = sha256Binary(leafOf(data));
    this.#add(leaf);
    return bytesOf(leaf);
  }

  /** Adds a leaf that holds the 32 bytes of a record's hash, 64 lower-case hex digits: what a log does, and quicker. */
  appendHex(hash: string): void {
    if (hash.length !== 2 * HASH_BYTES || !hexInto(hash, leafInput, 1)) {
      throw new RangeError(`a record's hash has ${2 * HASH_BYTES} hex digits`);
    }
    this.#add(sha256Binary(leafInput));
  }

  /** The root of the leaves so far. */
  root(): Uint8Array {
    const last = this.#peaks.at(-1);
    if (last === undefined) return EMPTY_ROOT.slice();
    return bytesOf(this.#peaks.slice(0, -1).reduceRight((right, left) => above(left, right), last));
  }

  #add(leaf: string): void {
    let peak = leaf;
    // Every 1 bit at the end of the size is a complete subtree that the new leaf completes a larger one with.
    for (let rest = this.#size; rest % 2 === 1; rest = half(rest)) {
      peak = above(this.#peaks.pop() ?? '', peak);
    }
    this.#peaks.push(peak);
    this.#size += 1;
  }
}

/** The hash above two others. */
function above(left: string, right: string): string {
  for (let i = 0; i < HASH_BYTES; i += 1) {
    nodeInput[1 + i] = left.charCodeAt(i);
    nodeInput[1 + HASH_BYTES + i] = right.charCodeAt(i);
  }
  return sha256Binary(nodeInput);
}

function bytesOf(hash: string): Uint8Array {
  const bytes = new Uint8Array(HASH_BYTES);
  for (let i = 0; i < HASH_BYTES; i += 1) bytes[i] = hash.charCodeAt(i);
  return bytes;
}

/**
 * What a prover knows of a tree: the hash of the complete subtree with 2^level leaves that begins at leaf
 * index × 2^level. Level 0, the leaves' hashes, must be known. Above it `undefined` means "compute it", so
 * that a caller may keep no level, some, or all.
 */
export type TreeHashes = (level: number, index: number) => Uint8Array | undefined;

/** The path from leaf `index` to the root of the first `size` leaves: RFC 6962 §2.1.1. */
export function proveInclusion(index: number, size: number, hashes: TreeHashes): Uint8Array[] {
  if (!isIndex(index, size)) {
    throw new RangeError(`leaf ${index} isn't in a tree of ${size}`);
  }
  const path: Uint8Array[] = [];
  for (let [begin, end] = [0, size]; end - begin > 1;) {
    const middle = begin + 2 ** levelBelow(end - begin);
    if (index < middle) {
      path.push(rangeHash(hashes, middle, end));
      end = middle;
    } else {
      path.push(rangeHash(hashes, begin, middle));
      begin = middle;
    }
  }
  return path.toReversed();
}

/** That leaf hash `leaf` is at `index` of the tree with `size` leaves and root `root`. */
export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly root: Uint8Array;
}

/** Whether `path` proves the claim: RFC 9162 §2.1.3.2. Nothing that is passed makes it throw. */
export function checkInclusion(claim: InclusionClaim, path: readonly Uint8Array[]): boolean {
  const { index, size, leaf, root } = claim;
  if (!isIndex(index, size)) return false;
  const sides = siblings(index, size - 1);
  if (path.length !== sides.length || !areHashes([leaf, root, ...path])) return false;
  return sameBytes(climb(leaf, path, sides), root);
}

/** What shows that the tree of `size1` leaves is how the one of `size2` began: RFC 6962 §2.1.2. */
export function proveConsistency(size1: number, size2: number, hashes: TreeHashes): Uint8Array[] {
  if (!isIndex(size1 - 1, size2)) {
    throw new RangeError(`a tree of ${size2} can't be shown to continue one of ${size1}`);
  }
  const path: Uint8Array[] = [];
  let [begin, end] = [0, size2];
  while (end !== size1) {
    const middle = begin + 2 ** levelBelow(end - begin);
    if (size1 <= middle) {
      path.push(rangeHash(hashes, middle, end));
      end = middle;
    } else {
      path.push(rangeHash(hashes, begin, middle));
      begin = middle;
    }
  }
  // A range that begins at 0 is the whole older tree, whose root the checker has.
  if (begin > 0) path.push(rangeHash(hashes, begin, end));
  return path.toReversed();
}

/** That the tree with `size2` leaves and root `root2` begins with the one of `size1` and `root1`. */
export interface ConsistencyClaim {
  readonly size1: number;
  readonly size2: number;
  readonly root1: Uint8Array;
  readonly root2: Uint8Array;
}

/**
 * Whether `path` proves the claim: RFC 9162 §2.1.4.2. Nothing that is passed makes it throw. An empty older
 * tree is refused: every tree begins with it, so it would prove nothing.
 */
export function checkConsistency(claim: ConsistencyClaim, path: readonly Uint8Array[]): boolean {
  const { size1, size2, root1, root2 } = claim;
  if (!isIndex(size1 - 1, size2)) return false;
  if (size1 === size2) return path.length === 0 && sameBytes(root1, root2);
  if (!areHashes([root1, root2, ...path])) return false;
  let [at, last] = [size1 - 1, size2 - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  // At 0 the older tree is complete, and the walk begins at its own root, which isn't in the proof.
  const [start, ...rest] = at === 0 ? [root1, ...path] : path;
  const sides = siblings(at, last);
  if (start === undefined || rest.length !== sides.length) return false;
  const older = rest.filter((_, i) => sides[i] === 'left');
  return (
    sameBytes(climb(start, older, older.map(toLeft)), root1) &&
    sameBytes(climb(start, rest, sides), root2)
  );
}

type Side = 'left' | 'right';

function toLeft(): Side {
  return 'left';
}

/**
 * On which side each sibling stands on the way up from node `at` of a level whose last node is `last`. A last
 * node without a sibling rises as it is. Knowing the sides first leaves one right length for a proof.
 */
function siblings(at: number, last: number): Side[] {
  const sides: Side[] = [];
  while (last > 0) {
    const isLast = at === last;
    sides.push(at % 2 === 1 || isLast ? 'left' : 'right');
    if (isLast) while (at % 2 === 0) [at, last] = [half(at), half(last)];
    [at, last] = [half(at), half(last)];
  }
  return sides;
}

function climb(from: Uint8Array, path: readonly Uint8Array[], sides: readonly Side[]): Uint8Array {
  return path.reduce(
    (hash, other, i) => (sides[i] === 'left' ? nodeHash(other, hash) : nodeHash(hash, other)),
    from,
  );
}

/** The root of the leaves from `begin` to before `end`, where such a subtree can be in a tree. */
function rangeHash(hashes: TreeHashes, begin: number, end: number): Uint8Array {
  const size = end - begin;
  if (size === 1) return completeHash(hashes, 0, begin);
  const level = levelBelow(size);
  if (2 ** (level + 1) === size) return completeHash(hashes, level + 1, begin / size);
  const middle = begin + 2 ** level;
  return nodeHash(rangeHash(hashes, begin, middle), rangeHash(hashes, middle, end));
}

function completeHash(hashes: TreeHashes, level: number, index: number): Uint8Array {
  const known = hashes(level, index);
  if (known !== undefined) return known;
  if (level === 0) throw new RangeError(`the hash of leaf ${index} isn't known`);
  const left = completeHash(hashes, level - 1, 2 * index);
  return nodeHash(left, completeHash(hashes, level - 1, 2 * index + 1));
}

/** The exponent of the largest power of two that is less than `size`, for a size above 1: where a tree is split. */
function levelBelow(size: number): number {
  let level = 0;
  while (2 ** (level + 1) < size) level += 1;
  return level;
}

function half(value: number): number {
  return Math.floor(value / 2);
}

/** How many bits of a number are 1. */
function ones(value: number): number {
  let count = 0;
  for (let rest = value; rest > 0; rest = half(rest)) count += rest % 2;
  return count;
}

function isIndex(index: number, size: number): boolean {
  return isSize(index) && isSize(size) && index < size;
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every((hash) => hash.length === HASH_BYTES);
}
