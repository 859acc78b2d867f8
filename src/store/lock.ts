/**
 * One writer a transcript: a lock file that names its owner.
 *
 * Node has no flock(2), so the lock is a file that is created only if it isn't there. It outlives its owner, and
 * is taken over only if that owner is provably gone.
 *
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { isGone, parseOwner, thisProcess, type Owner } from './owner.ts';
import { codeOf, messageOf } from './store-errors.ts';
import { StoreError } from './store.ts';

/** A lock that is held. */
export interface Lock {
  /** Gives it up. A lock that isn't ours any more is left alone. */
  release(): void;
}

/**
 * Takes the lock of the transcript at `path`: the file `<path>.lock`.
 *
 * @throws {StoreError} `locked` if another writer holds it or may hold it; `failed` if the lock can't be written,
 * or the transcript's name is too long.
 */
export function takeLock(path: string): Lock {
  if (Buffer.byteLength(basename(path)) > MAX_NAME_BYTES) {
    throw new StoreError(
      'failed',
      `${path}: its name has over ${MAX_NAME_BYTES} bytes, and files beside it need longer ones; give it a shorter name`,
    );
  }
  return take(`${path}.lock`);
}

/**
 * File systems take names of 255 bytes. What stands beside a transcript is longer than its name by 31 bytes
 * at most (`.lock.<16 hex>.<8 hex>`), and by 17 more for each taker of a stale lock that died in taking it.
 */
const MAX_NAME_BYTES = 200;

/** Under contention others may take and leave the lock between our looks; each try ends in one of them winning. */
const TRIES = 100;

function take(lockPath: string): Lock {
  // The token tells two locks of one process apart.
  const text = `${JSON.stringify({ ...thisProcess(), token: randomUUID() })}\n`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (create(lockPath, text)) {
      return {
        release() {
          removeIf(lockPath, text);
        },
      };
    }
    const held = readLock(lockPath);
    if (held !== null) removeStale(lockPath, held);
  }
  throw new StoreError('locked', `${lockPath}: other writers take it again and again; try later`);
}

/** Creates a lock that names its owner from the first: one that doesn't would keep everybody out for ever. */
function create(lockPath: string, text: string): boolean {
  const draft = `${lockPath}.${randomUUID().slice(-8)}`;
  try {
    try {
      // On the disk, as a crash of the machine could leave the name alone.
      writeFileSync(draft, text, { flag: 'wx', flush: true });
      place(draft, lockPath);
    } finally {
      rmSync(draft, { force: true });
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw lockFailure(lockPath, error);
  }
}

function place(draft: string, lockPath: string): void {
  try {
    linkSync(draft, lockPath);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    // A file system without links.
    copyFileSync(draft, lockPath, constants.COPYFILE_EXCL);
  }
}

/** No lock is larger. */
const MAX_BYTES = 65_536;

/** The lock's text, or null if it is gone. */
function readLock(lockPath: string): string | null {
  try {
    const stat = statSync(lockPath);
    // Only a plain file is a lock; a pipe would be waited for.
    if (!stat.isFile()) return '';
    return stat.size > MAX_BYTES ? 'too much' : readFileSync(lockPath, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw lockFailure(lockPath, error);
  }
}

/**
 * Removes a lock that was read as `held`, if its owner is provably gone.
 *
 * Judging and removing are two steps, and in between another writer may have taken the lock over: its new
 * lock must not be removed. So the right to remove this very text is itself a lock, named by the text's
 * hash. Whoever holds it looks again; a lock that still has the stale text can't change any more, as its
 * owner is gone and nobody else may remove it. If a taker dies, its own lock is taken over the same way.
 */
function removeStale(lockPath: string, held: string): void {
  const owner = parseOwner(held);
  if (owner === null) throw unclearLock(lockPath, held);
  if (!isGone(owner)) throw heldLock(lockPath, owner);
  const name = createHash('sha256').update(held).digest('hex').slice(0, 16);
  const right = take(`${lockPath}.${name}`);
  try {
    removeIf(lockPath, held);
  } finally {
    right.release();
  }
}

function removeIf(lockPath: string, text: string): void {
  try {
    if (readLock(lockPath) === text) unlinkSync(lockPath);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw lockFailure(lockPath, error);
  }
}

function unclearLock(lockPath: string, held: string): StoreError {
  const what = held === '' ? 'is empty' : 'does not name its owner';
  return new StoreError(
    'locked',
    `${lockPath} ${what}, so it can't be told whether a writer lives. Try again; if it stays and no other writer runs, delete it by hand`,
  );
}

function heldLock(lockPath: string, owner: Owner): StoreError {
  const self = thisProcess();
  if (owner.pid === self.pid && owner.host === self.host) {
    return new StoreError(
      'locked',
      `${lockPath} is held by this process (${owner.pid}): close the transcript that is open, or choose another path`,
    );
  }
  return new StoreError(
    'locked',
    `${lockPath} is held by process ${owner.pid} on ${owner.host}: wait for it or stop it. If that process is surely gone, delete the lock by hand`,
  );
}

function lockFailure(lockPath: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('failed', `${lockPath}: the lock failed: ${messageOf(error)}`, {
    cause: error,
  });
}
