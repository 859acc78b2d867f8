/**
 * Merkle trees: against others' vectors, and every small tree against the definition as it is written.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkConsistency,
  checkInclusion,
  EMPTY_ROOT,
  leafHash,
  MerkleTree,
  nodeHash,
  proveConsistency,
  proveInclusion,
  type TreeHashes,
} from '../../src/evidence/merkle.ts';
import { base64, hex, vectors } from './vectors.ts';

const MAX = Number.MAX_SAFE_INTEGER;

function sha256(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());
}

/** MTH of RFC 6962 §2.1, as it is written there. */
function reference(data: readonly Uint8Array[]): Uint8Array {
  if (data.length === 0) return sha256();
  if (data.length === 1) return sha256(Uint8Array.of(0), data[0]!);
  const k = split(data.length);
  return sha256(Uint8Array.of(1), reference(data.slice(0, k)), reference(data.slice(k)));
}

/** PATH of §2.1.1. */
function referencePath(m: number, data: readonly Uint8Array[]): Uint8Array[] {
  if (data.length === 1) return [];
  const k = split(data.length);
  const [left, right] = [data.slice(0, k), data.slice(k)];
  return m < k
    ? [...referencePath(m, left), reference(right)]
    : [...referencePath(m - k, right), reference(left)];
}

/** SUBPROOF of §2.1.2. */
function referenceProof(m: number, data: readonly Uint8Array[], whole: boolean): Uint8Array[] {
  if (m === data.length) return whole ? [] : [reference(data)];
  const k = split(data.length);
  const [left, right] = [data.slice(0, k), data.slice(k)];
  return m <= k
    ? [...referenceProof(m, left, whole), reference(right)]
    : [...referenceProof(m - k, right, false), reference(left)];
}

function split(n: number): number {
  let k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

/** The data of leaves, each a hash as in a transcript. */
const DATA = Array.from({ length: 64 }, (_, i) => sha256(Uint8Array.of(i)));
const ROOTS = Array.from({ length: 65 }, (_, size) => reference(DATA.slice(0, size)));

const leavesOnly: TreeHashes = (level, index) => (level === 0 ? leafHash(DATA[index]!) : undefined);

describe('published vectors', () => {
  const tree = vectors('rfc6962-tree.json') as {
    leafInputsHex: string[];
    nodeHashes: string[][];
    rootHashes: string[];
  };
  const leaves = tree.leafInputsHex.map(hex);

  test('the reference tree of Certificate Transparency: leaves, nodes and every root', () => {
    const grown = new MerkleTree();
    expect(grown.root()).toEqual(hex(tree.rootHashes[0]!));
    leaves.forEach((leaf, i) => {
      expect(grown.append(leaf)).toEqual(hex(tree.nodeHashes[0]![i]!));
      expect(grown.root()).toEqual(hex(tree.rootHashes[i + 1]!));
    });
    const [, ...levels] = tree.nodeHashes;
    levels.forEach((level, below) => {
      level.forEach((node, i) => {
        const [left, right] = tree.nodeHashes[below]!.slice(2 * i, 2 * i + 2).map(hex);
        expect(nodeHash(left!, right!)).toEqual(hex(node));
      });
    });
  });

  const inclusion = vectors('merkle-inclusion.json') as {
    file: string;
    leafIdx: number;
    treeSize: number;
    root: string;
    leafHash: string;
    proof: string[] | null;
    desc: string;
    wantErr: boolean;
  }[];

  test('there are 98 of each', () => {
    expect([inclusion.length, consistency.length]).toEqual([98, 98]);
  });

  test.each(inclusion)('inclusion: $file ($desc)', (vector) => {
    const claim = {
      index: vector.leafIdx,
      size: vector.treeSize,
      leaf: base64(vector.leafHash),
      root: base64(vector.root),
    };
    const path = (vector.proof ?? []).map(base64);
    expect(checkInclusion(claim, path)).toBe(!vector.wantErr);
  });

  const consistency = vectors('merkle-consistency.json') as {
    file: string;
    size1: number;
    size2: number;
    root1: string;
    root2: string;
    proof: string[] | null;
    desc: string;
    wantErr: boolean;
  }[];

  test.each(consistency)('consistency: $file ($desc)', (vector) => {
    const claim = {
      size1: vector.size1,
      size2: vector.size2,
      root1: base64(vector.root1),
      root2: base64(vector.root2),
    };
    const path = (vector.proof ?? []).map(base64);
    // The one difference: the origin accepts that nothing continues nothing. Here an empty tree proves nothing.
    const isEmpty = vector.size1 === 0 && vector.size2 === 0;
    expect(checkConsistency(claim, path)).toBe(!vector.wantErr && !isEmpty);
  });
});

/** `expect(actual).toBe(expected)` without what that costs, for what is asked a million times. */
function same(actual: boolean, expected: boolean): void {
  if (actual !== expected) expect(actual).toBe(expected);
}

describe('every tree of up to 64 leaves', () => {
  test('has the root of the definition, and can be stopped and taken up anywhere', () => {
    let tree = new MerkleTree();
    for (let size = 0; size <= 64; size += 1) {
      expect(tree.size).toBe(size);
      expect(tree.root()).toEqual(ROOTS[size]);
      expect(tree.peaks.length).toBe(size.toString(2).replaceAll('0', '').length);
      tree = new MerkleTree(size, tree.peaks);
      if (size < 64) expect(tree.append(DATA[size]!)).toEqual(reference([DATA[size]!]));
    }
  });

  test('every inclusion proof is the one of the definition, and proves its leaf alone', () => {
    for (let size = 1; size <= 64; size += 1) {
      const root = ROOTS[size]!;
      for (let index = 0; index < size; index += 1) {
        const path = proveInclusion(index, size, leavesOnly);
        expect(path).toEqual(referencePath(index, DATA.slice(0, size)));
        const leaf = leafHash(DATA[index]!);
        for (let other = 0; other <= size; other += 1) {
          same(checkInclusion({ index: other, size, leaf, root }, path), other === index);
        }
      }
    }
  });

  test('every inclusion proof fails for another size, unless the path is the same there', () => {
    for (let size = 1; size <= 64; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const path = proveInclusion(index, size, leavesOnly);
        const leaf = leafHash(DATA[index]!);
        for (let other = 1; other <= 65; other += 1) {
          if (other === size) continue;
          // The root names its leaves: the same path from another size leads to another tree's root.
          const root = ROOTS[other] ?? EMPTY_ROOT;
          same(checkInclusion({ index, size: other, leaf, root }, path), false);
        }
      }
    }
  });

  test('every consistency proof is the one of the definition, and proves those two sizes alone', () => {
    for (let size2 = 1; size2 <= 64; size2 += 1) {
      for (let size1 = 1; size1 <= size2; size1 += 1) {
        const path = proveConsistency(size1, size2, leavesOnly);
        expect(path).toEqual(referenceProof(size1, DATA.slice(0, size2), true));
        const claim = { size1, size2, root1: ROOTS[size1]!, root2: ROOTS[size2]! };
        same(checkConsistency(claim, path), true);
        for (let other = 0; other <= 65; other += 1) {
          const root = ROOTS[other] ?? EMPTY_ROOT;
          if (other !== size1) {
            const wrong = { ...claim, size1: other, root1: root };
            same(checkConsistency(wrong, path), other === size2 && path.length === 0);
          }
          if (other !== size2) {
            const wrong = { ...claim, size2: other, root2: root };
            same(checkConsistency(wrong, path), other === size1 && path.length === 0);
          }
        }
      }
    }
  });

  test('a proof with a hash too many, too few, or in another place proves nothing', () => {
    const extra = sha256();
    for (let size = 1; size <= 64; size += 1) {
      for (let other = 1; other <= size; other += 1) {
        const index = other - 1;
        const leaf = leafHash(DATA[index]!);
        const inclusion = { index, size, leaf, root: ROOTS[size]! };
        for (const path of damaged(proveInclusion(index, size, leavesOnly), extra)) {
          same(checkInclusion(inclusion, path), false);
        }
        const claim = { size1: other, size2: size, root1: ROOTS[other]!, root2: ROOTS[size]! };
        for (const path of damaged(proveConsistency(other, size, leavesOnly), extra)) {
          same(checkConsistency(claim, path), false);
        }
      }
    }
  });
});

/** A path without each hash, with one more at each place, with neighbours swapped, and with hashes of another length. */
function* damaged(path: readonly Uint8Array[], extra: Uint8Array): Generator<Uint8Array[]> {
  for (let i = 0; i <= path.length; i += 1) {
    yield path.toSpliced(i, 0, extra);
    if (i < path.length) {
      yield path.toSpliced(i, 1);
      yield path.with(i, path[i]!.subarray(0, 31));
      yield path.with(i, Uint8Array.of(...path[i]!, 0));
    }
    if (i + 1 < path.length) yield path.toSpliced(i, 2, path[i + 1]!, path[i]!);
  }
}

describe('trees larger than 31 bits can count', () => {
  // Every leaf is the same, so a complete subtree's hash depends on its height alone.
  const levels = [leafHash(DATA[0]!)];
  for (let level = 1; level <= 53; level += 1)
    levels.push(nodeHash(levels.at(-1)!, levels.at(-1)!));
  const uniform: TreeHashes = (level) => levels[level];

  /** The peaks of such a tree, from its size's bits. */
  function grown(size: number): MerkleTree {
    const bits = size.toString(2).split('');
    const peaks = bits.flatMap((bit, i) => (bit === '1' ? [levels[bits.length - 1 - i]!] : []));
    return new MerkleTree(size, peaks);
  }

  const size = fc.oneof(
    fc
      .maxSafeNat()
      .map((n) => n + 1)
      .filter(Number.isSafeInteger),
    fc
      .tuple(fc.integer({ min: 30, max: 52 }), fc.integer({ min: -2, max: 2 }))
      .map(([bits, near]) => 2 ** bits + near),
    fc.constant(MAX),
  );

  test('appending to them gives the root of the next size', () => {
    fc.assert(
      fc.property(
        size.filter((n) => n < MAX),
        (n) => {
          const tree = grown(n);
          tree.append(DATA[0]!);
          expect(tree.size).toBe(n + 1);
          expect(tree.peaks).toEqual(grown(n + 1).peaks);
          expect(tree.root()).toEqual(grown(n + 1).root());
        },
      ),
    );
  });

  test('inclusion', () => {
    fc.assert(
      fc.property(size, fc.double({ min: 0, max: 1, noNaN: true }), (n, at) => {
        const index = Math.min(n - 1, Math.floor(at * n));
        const path = proveInclusion(index, n, uniform);
        const claim = { index, size: n, leaf: levels[0]!, root: grown(n).root() };
        expect(checkInclusion(claim, path)).toBe(true);
        expect(checkInclusion({ ...claim, leaf: levels[1]! }, path)).toBe(false);
        expect(checkInclusion(claim, [...path, levels[0]!])).toBe(false);
      }),
    );
  });

  test('a proof is of 53 hashes at most', () => {
    expect(proveInclusion(0, MAX, uniform)).toHaveLength(53);
  });

  test('consistency', () => {
    fc.assert(
      fc.property(size, size, (a, b) => {
        const [size1, size2] = [Math.min(a, b), Math.max(a, b)];
        const path = proveConsistency(size1, size2, uniform);
        const claim = { size1, size2, root1: grown(size1).root(), root2: grown(size2).root() };
        expect(checkConsistency(claim, path)).toBe(true);
        expect(checkConsistency({ ...claim, root1: EMPTY_ROOT }, path)).toBe(false);
        expect(checkConsistency(claim, [...path, levels[0]!])).toBe(false);
      }),
    );
  });

  test('an index that 32 bits would wrap to the right one is wrong', () => {
    const index = 5;
    const claim = { index: index + 2 ** 32, size: 8, leaf: leafHash(DATA[5]!), root: ROOTS[8]! };
    expect(checkInclusion(claim, proveInclusion(index, 8, leavesOnly))).toBe(false);
  });
});

/** Proves with the inner hashes from level `floor` up known; returns how many leaves that asked for. */
function leavesAsked(size: number, index: number, floor: number): number {
  let leaves = 0;
  const path = proveInclusion(index, size, (level, i) => {
    if (level === 0) leaves += 1;
    if (level < floor && level > 0) return undefined;
    return reference(DATA.slice(i * 2 ** level, (i + 1) * 2 ** level));
  });
  expect(path).toEqual(referencePath(index, DATA.slice(0, size)));
  return leaves;
}

describe('what a prover keeps', () => {
  test('of inner hashes changes no proof, and each that it keeps is used', () => {
    for (let size = 1; size <= 64; size += 1) leavesAsked(size, Math.floor(size / 2), 3);
    expect(leavesAsked(64, 0, 1)).toBe(1);
    expect(leavesAsked(64, 0, 99)).toBe(63);
  });

  test('too little is a fault that names the leaf', () => {
    expect(() => proveInclusion(0, 4, () => undefined)).toThrow('leaf 2');
  });
});

describe('numbers that are no sizes', () => {
  const path: Uint8Array[] = [];
  test.each([-1, 0.5, NaN, Infinity, -Infinity, MAX + 1])('%d', (n) => {
    const leaf = leafHash(DATA[0]!);
    const root = ROOTS[1]!;
    expect(checkInclusion({ index: n, size: 1, leaf, root }, path)).toBe(false);
    expect(checkInclusion({ index: 0, size: n, leaf, root }, path)).toBe(false);
    expect(checkConsistency({ size1: n, size2: n, root1: root, root2: root }, path)).toBe(false);
    expect(() => proveInclusion(n, 1, leavesOnly)).toThrow(RangeError);
    expect(() => proveInclusion(0, n, leavesOnly)).toThrow(RangeError);
    expect(() => proveConsistency(1, n, leavesOnly)).toThrow(RangeError);
    expect(() => new MerkleTree(n)).toThrow(RangeError);
  });

  test('a prover refuses what has no proof', () => {
    expect(() => proveInclusion(3, 3, leavesOnly)).toThrow("leaf 3 isn't in a tree of 3");
    expect(() => proveConsistency(0, 3, leavesOnly)).toThrow(RangeError);
    expect(() => proveConsistency(4, 3, leavesOnly)).toThrow(RangeError);
  });

  test('nothing is not the beginning of a root', () => {
    const [root1, root2] = [EMPTY_ROOT.subarray(32), ROOTS[1]!];
    expect(checkConsistency({ size1: 1, size2: 1, root1, root2 }, path)).toBe(false);
    expect(checkConsistency({ size1: 1, size2: 1, root1: root2, root2: root1 }, path)).toBe(false);
  });

  test('a node is made of two hashes', () => {
    expect(() => nodeHash(EMPTY_ROOT, EMPTY_ROOT.subarray(1))).toThrow(RangeError);
    expect(() => nodeHash(EMPTY_ROOT.subarray(1), EMPTY_ROOT)).toThrow(RangeError);
  });

  test('peaks that belong to no tree of that size are refused', () => {
    expect(() => new MerkleTree(3, [ROOTS[1]!])).toThrow(RangeError);
    expect(() => new MerkleTree(1, [ROOTS[1]!.subarray(1)])).toThrow(RangeError);
  });
});
