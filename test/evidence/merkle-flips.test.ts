/**
 * Merkle proofs, exhaustively: every proof of every tree of up to 64 leaves, with each bit of each hash flipped. These
 * are seven million checks.
 *
 * @module
 */
import { expect, test } from 'vitest';
import {
  checkConsistency,
  checkInclusion,
  leafHash,
  MerkleTree,
  proveConsistency,
  proveInclusion,
} from '../../src/evidence/merkle.ts';

const MOST = 64;
const LEAVES = Array.from({ length: MOST }, (_, i) => new Uint8Array(32).fill(i));
const HASHES = LEAVES.map(leafHash);
const ROOTS = rootsOf(LEAVES);
const leavesOnly = (level: number, index: number): Uint8Array | undefined =>
  level === 0 ? HASHES[index] : undefined;

/** The root of each size, from 0. */
function rootsOf(leaves: readonly Uint8Array[]): Uint8Array[] {
  const tree = new MerkleTree();
  return [
    tree.root(),
    ...leaves.map((leaf) => {
      tree.append(leaf);
      return tree.root();
    }),
  ];
}

/** How many of these hashes' bits, each flipped in its place and back, leave the check true. */
function survivors(hashes: readonly Uint8Array[], check: () => boolean): number {
  let found = 0;
  for (const hash of hashes) {
    for (let bit = 0; bit < 8 * hash.length; bit += 1) {
      const mask = 1 << (bit % 8);
      hash[bit >> 3]! ^= mask;
      if (check()) found += 1;
      hash[bit >> 3]! ^= mask;
    }
  }
  return found;
}

test('every bit of every hash of every inclusion proof counts', () => {
  let proofs = 0;
  for (let size = 1; size <= MOST; size += 1) {
    for (let index = 0; index < size; index += 1) {
      const path = proveInclusion(index, size, leavesOnly).map((hash) => hash.slice());
      const claim = { index, size, leaf: HASHES[index]!.slice(), root: ROOTS[size]!.slice() };
      const check = (): boolean => checkInclusion(claim, path);
      const found = survivors([claim.leaf, claim.root, ...path], check);
      if (found > 0 || !check()) expect({ index, size, found }).toBeNull();
      proofs += 1;
    }
  }
  expect(proofs).toBe((MOST * (MOST + 1)) / 2);
});

test('every bit of every hash of every consistency proof counts', () => {
  let proofs = 0;
  for (let size2 = 1; size2 <= MOST; size2 += 1) {
    for (let size1 = 1; size1 <= size2; size1 += 1) {
      const path = proveConsistency(size1, size2, leavesOnly).map((hash) => hash.slice());
      const [root1, root2] = [ROOTS[size1]!.slice(), ROOTS[size2]!.slice()];
      const claim = { size1, size2, root1, root2 };
      const check = (): boolean => checkConsistency(claim, path);
      const found = survivors([root1, root2, ...path], check);
      if (found > 0 || !check()) expect({ size1, size2, found }).toBeNull();
      proofs += 1;
    }
  }
  expect(proofs).toBe((MOST * (MOST + 1)) / 2);
});
