/**
 * Proves to a witness that a log continues what the witness saw of it.
 *
 * @module
 */
import { constants } from 'node:fs';
import { EvidenceError, leafHash, proveConsistency } from '../evidence/index.ts';
import { nodeFileSystem } from '../store/filesystem.ts';
import { readClaims } from './claimed-hashes.ts';

const HASH_BYTES = 32;

/**
 * The proof, by the old size, for the first `size` records of the log at a path. All of their hashes are kept: 32 bytes each.
 *
 * @throws {EvidenceError} if it has fewer.
 */
export async function consistencyOf(
  path: string,
  size: number,
): Promise<(oldSize: number) => Uint8Array[]> {
  const hashes = new Uint8Array(size * HASH_BYTES);
  let count = 0;
  const file = await nodeFileSystem.open(path, constants.O_RDONLY);
  try {
    await readClaims(file, 0, (hash) => {
      if (hash === null) return false;
      hashes.set(hash, count * HASH_BYTES);
      count += 1;
      return count < size;
    });
  } finally {
    await file.close();
  }
  if (count < size) throw new EvidenceError(`the log has ${count} records, and not ${size}`);
  return (oldSize) =>
    proveConsistency(oldSize, size, (level, index) =>
      level === 0
        ? leafHash(hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES))
        : undefined,
    );
}
