/**
 * The roots of a log at chosen sizes, computed as its records come.
 *
 * @module
 */
import { toHex } from '../evidence/hex.ts';
import { MerkleTree } from '../evidence/index.ts';

/** A Merkle tree that remembers its roots at the sizes that somebody wants. */
export class Roots {
  readonly #tree = new MerkleTree();
  readonly #wanted = new Set<number>();
  readonly #roots = new Map<number, string>();

  /** How many records came. */
  get size(): number {
    return this.#tree.size;
  }

  /** The root so far, 64 hex digits. */
  get root(): string {
    return toHex(this.#tree.root());
  }

  /** Asks for the root at a size that is reached now, or is still to come. */
  want(size: number): void {
    if (size === this.size) this.#roots.set(size, this.root);
    else this.#wanted.add(size);
  }

  /** Takes the next record's hash, 64 hex digits. */
  add(hash: string): void {
    this.#tree.appendHex(hash);
    if (this.#wanted.size > 0 && this.#wanted.delete(this.size))
      this.#roots.set(this.size, this.root);
  }

  /** The root that was asked for; undefined if the log is smaller, or nobody asked. */
  at(size: number): string | undefined {
    return this.#roots.get(size);
  }
}
