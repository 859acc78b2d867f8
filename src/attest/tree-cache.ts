/**
 * What is kept of a large log's tree, so that a second proof need not read the log again: for every 256 records the
 * hash of their subtree, and where they end in the file.
 *
 * It is a cache that is never trusted: a proof that is made with it must lead to the root that was signed.
 *
 * @module
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from './atomic-file.ts';

/** The level of the subtrees that are kept. */
export const BLOCK_LEVEL = 8;
/** How many records they have. */
export const BLOCK: number = 2 ** BLOCK_LEVEL;

const HASH_BYTES = 32;
/** A block's end in the file, a double in little-endian order, and its hash. */
const ENTRY_BYTES = 8 + HASH_BYTES;

/** The complete subtrees of 256 records that a log begins with. */
export class Blocks {
  #bytes: Uint8Array<ArrayBuffer>;
  #count: number;

  /** Those that {@link bytes} gave; what is left of a cut one is left out. */
  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = new Uint8Array(bytes);
    this.#count = Math.floor(bytes.length / ENTRY_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  /** The hash of a block's subtree; undefined if it isn't there. */
  hash(index: number): Uint8Array | undefined {
    if (index >= this.#count) return undefined;
    const at = index * ENTRY_BYTES + 8;
    return this.#bytes.subarray(at, at + HASH_BYTES);
  }

  /** Where a block begins in the file: where the one before ends. A place that can't be one is 0. */
  start(index: number): number {
    const end = index === 0 ? 0 : this.#view().getFloat64((index - 1) * ENTRY_BYTES, true);
    return Number.isSafeInteger(end) && end > 0 ? end : 0;
  }

  /** Adds the next block. @param end where it ends in the file, its last newline included. */
  push(end: number, hash: Uint8Array): void {
    const at = this.#count * ENTRY_BYTES;
    if (at + ENTRY_BYTES > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, 64 * ENTRY_BYTES));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
    }
    this.#count += 1;
    this.#view().setFloat64(at, end, true);
    this.#bytes.set(hash, at + 8);
  }

  /** The first blocks as bytes. */
  bytes(count: number): Uint8Array {
    return this.#bytes.subarray(0, Math.min(count, this.#count) * ENTRY_BYTES);
  }

  #view(): DataView {
    return new DataView(this.#bytes.buffer);
  }
}

/** 4 MiB a log, for its first 26 million records; what follows them is read each time. */
const MAX_BLOCKS: number = Math.floor((4 * 1024 * 1024) / ENTRY_BYTES);
/** Reading fewer takes no longer than keeping them. */
const MIN_BLOCKS = 32;
/** So many logs are kept, the newest: 64 MiB at most. */
const MAX_LOGS = 16;

/** What is kept of a log, by its id; nothing if there is no such file, or it can't be read. */
export function loadBlocks(folder: string, log: string): Blocks {
  try {
    const path = pathOf(folder, log);
    return statSync(path).size > MAX_BLOCKS * ENTRY_BYTES
      ? new Blocks()
      : new Blocks(readFileSync(path));
  } catch {
    return new Blocks();
  }
}

/** Keeps a log's blocks, if they are worth it. Where that can't be done, nothing is kept. */
export async function saveBlocks(folder: string, log: string, blocks: Blocks): Promise<void> {
  if (blocks.count < MIN_BLOCKS) return;
  const path = pathOf(folder, log);
  try {
    await replaceFile(path, blocks.bytes(MAX_BLOCKS));
    removeOldest(dirname(path));
  } catch {
    // The next proof takes as long as this one did.
  }
}

function pathOf(folder: string, log: string): string {
  return join(folder, 'trees', log);
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return { path, time: statSync(path).mtimeMs };
  });
  const oldest = files.toSorted((a, b) => b.time - a.time).slice(MAX_LOGS);
  for (const { path } of oldest) rmSync(path, { force: true });
}
