/**
 * Small files that are there whole or not at all, and one writer at a time for what goes with them.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nodeFileSystem } from '../store/filesystem.ts';
import { takeLock } from '../store/lock.ts';
import { createParents } from '../store/place.ts';
import { codeOf } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';

/** The file's text; null if there is no such file. Throws as {@link bytesIfThere} does. */
export function readIfThere(path: string): string | null {
  return bytesIfThere(path)?.toString('utf8') ?? null;
}

/**
 * The file's bytes; null if there is no such file.
 *
 * @throws {Error} if it can't be read, is no plain file (reading a pipe may never end), or has over `most` bytes.
 */
export function bytesIfThere(path: string, most: number = MAX_BYTES): Buffer | null {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new StoreError('failed', `${path} is no plain file`);
    if (stat.size > most) {
      throw new StoreError('failed', `${path} is too large: over ${most / MIB} MiB`);
    }
    // What the system itself makes up, as below /proc, has no size, and may have no end either.
    return stat.size === 0 ? Buffer.alloc(0) : readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

const MIB = 1024 * 1024;
/** No file of ours comes near it. */
const MAX_BYTES = 64 * MIB;

/** Puts on the disk what is in a file that somebody else wrote, and its name. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
  await nodeFileSystem.syncDirectory(dirname(path));
}

/** Replaces a file, or makes it, with the folders above it: what is new is on the disk before its name is. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const folder = privateFolder(path);
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { mode, flag: 'wx', flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  await nodeFileSystem.syncDirectory(folder);
}

/** Makes the folder that a file of the user's own stands in. */
export function privateFolder(path: string): string {
  createParents(path, 0o700);
  return dirname(path);
}

/**
 * Does something while nobody else does it to the file at `path`.
 *
 * @throws {StoreError} `locked` if others keep it for over ten seconds.
 */
export async function alone<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  const lock = await inTurn(() => takeLock(path));
  try {
    return await act();
  } finally {
    lock.release();
  }
}

/** How long others are waited for: each holds a lock for milliseconds. */
const PATIENCE_MS = 10_000;
const BETWEEN_MS = 10;

/** Tries again while others hold a lock. */
export async function inTurn<T>(act: () => T | Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isTaken = error instanceof StoreError && error.code === 'locked';
      if (!isTaken || performance.now() > end) throw error;
    }
    // Not all at once again.
    await wait(BETWEEN_MS * (0.5 + Math.random()));
  }
}
