/**
 * As much of a log's Merkle tree as the proof of one record takes, in memory that doesn't grow with the log: the
 * hashes of blocks of 256 records, and the leaves of the record's block and of the last one, which isn't complete.
 *
 * @module
 */
import { MerkleTree, type TreeHashes } from '../evidence/index.ts';
import { type OpenFile } from '../store/filesystem.ts';
import { readClaims } from './claimed-hashes.ts';
import { BLOCK, BLOCK_LEVEL, type Blocks } from './tree-cache.ts';

/** The record that is to be proven, and in how large a log. */
export interface Place {
  readonly seq: number;
  readonly size: number;
}

/** The tree over the hashes that a log's records claim. */
export class LogTree {
  readonly #file: OpenFile;
  readonly #place: Place;
  readonly #blocks: Blocks;
  readonly #leaves = new Map<number, Uint8Array>();
  #line = { start: 0, end: 0 };

  /** @param blocks those that are known; the others are added to them. */
  constructor(file: OpenFile, place: Place, blocks: Blocks) {
    this.#file = file;
    this.#place = place;
    this.#blocks = blocks;
  }

  /** Where the record's line begins and ends in the file. */
  get line(): { readonly start: number; readonly end: number } {
    return this.#line;
  }

  /** For `proveInclusion`. */
  readonly hashes: TreeHashes = (level, index) => {
    if (level === 0) return this.#leaves.get(index);
    return level === BLOCK_LEVEL ? this.#blocks.hash(index) : undefined;
  };

  /** Reads what isn't known. Gives what is wrong with the log, if it can't be read to the end. */
  async read(onBlock?: (end: number) => void): Promise<string | undefined> {
    const { seq, size } = this.#place;
    const block = Math.floor(seq / BLOCK);
    const known = Math.min(this.#blocks.count, Math.floor(size / BLOCK));
    const problem =
      block < known ? await this.#range(block * BLOCK, (block + 1) * BLOCK) : undefined;
    return problem ?? this.#range(known * BLOCK, size, onBlock);
  }

  async #range(
    from: number,
    to: number,
    onBlock?: (end: number) => void,
  ): Promise<string | undefined> {
    if (from === to) return undefined;
    const blocks = this.#blocks;
    let at = from;
    let tree = new MerkleTree();
    let malformed = false;
    await readClaims(this.#file, blocks.start(from / BLOCK), (hash, start, end) => {
      malformed = hash === null;
      if (hash === null) return false;
      this.#take(at, tree.append(hash), start, end);
      at += 1;
      if (at % BLOCK === 0) {
        if (at / BLOCK > blocks.count) blocks.push(end + 1, tree.root());
        tree = new MerkleTree();
        onBlock?.(end);
      }
      return at < to;
    });
    if (malformed) return `line ${at + 1} doesn't begin as a record does`;
    return at < to ? `it has ${at} whole records` : undefined;
  }

  #take(at: number, leaf: Uint8Array, start: number, end: number): void {
    const { seq, size } = this.#place;
    const block = Math.floor(at / BLOCK);
    if (at === seq) this.#line = { start, end };
    if (block === Math.floor(seq / BLOCK) || block === Math.floor(size / BLOCK)) {
      this.#leaves.set(at, leaf);
    }
  }
}
