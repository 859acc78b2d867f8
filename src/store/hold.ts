/**
 * Opens a file for one writer: locked, and given up again if it turns out unfit.
 *
 * @module
 */
import { constants, rmSync } from 'node:fs';
import { type Held } from './append-file.ts';
import { identityOf, type FileSystem, type OpenFile } from './filesystem.ts';
import { takeLock } from './lock.ts';
import { createParents, realPath } from './place.ts';
import { codeOf, messageOf, openError } from './store-errors.ts';
import { StoreError } from './store.ts';

/** Opens and locks a file for appending; both are given up again if `use` fails. */
export async function holding<T>(
  location: string,
  flags: number,
  system: FileSystem,
  use: (held: Held) => Promise<T>,
): Promise<T> {
  let file: OpenFile | undefined;
  let held: Held | undefined;
  let created = false;
  try {
    ({ file, created } = await openFile(location, flags, system));
    if (!file.stat().regular) {
      throw new StoreError('failed', `${location}: it is not a regular file; choose another path`);
    }
    const path = realPath(location);
    held = { location, path, system, file, lock: takeLock(path) };
    return await use(held);
  } catch (error) {
    const failure = openError(location, error, flags !== 0);
    // Whoever holds the lock of a file that we created is about to write to it.
    if (file !== undefined && created && failure.code !== 'locked') {
      removeEmpty(file, location, system);
    }
    await giveUp(file, held);
    throw failure;
  }
}

/** Opens a file for reading and appending; tells whether it was created, if `flags` ask for that. */
async function openFile(
  location: string,
  flags: number,
  system: FileSystem,
): Promise<{ file: OpenFile; created: boolean }> {
  // O_APPEND: if another writer slips in, its bytes are mixed with ours, but never overwritten.
  const all = constants.O_RDWR | constants.O_APPEND | flags;
  if ((flags & constants.O_CREAT) !== 0) {
    try {
      return { file: await system.open(location, all | constants.O_EXCL), created: true };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
  return { file: await system.open(location, all), created: false };
}

/** Removes a file that was created in vain, unless it is used by now. */
function removeEmpty(file: OpenFile, location: string, system: FileSystem): void {
  try {
    const stat = file.stat();
    const there = system.stat(location);
    if (stat.size > 0 || there === null || identityOf(there) !== identityOf(stat)) return;
    rmSync(location);
  } catch {
    // It stays behind empty, and may be used as it is.
  }
}

/** The error that led here is the one to tell, so what goes wrong in giving up is not. */
async function giveUp(file: OpenFile | undefined, held: Held | undefined): Promise<void> {
  try {
    await file?.close();
  } catch {
    // It was not written to, or the write's own error is on its way.
  }
  try {
    held?.lock.release();
  } catch {
    // It stays behind, and the next writer is told how to remove it.
  }
}

/**
 * Creates the folders that a new file needs; returns those whose entries are to be made durable.
 *
 * @throws {StoreError} `failed` if one can't be made.
 */
export function newParents(location: string): readonly string[] {
  try {
    return createParents(location);
  } catch (error) {
    throw new StoreError('failed', `${location}: its folder can't be made: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
