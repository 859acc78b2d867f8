/**
 * Repairs a torn tail: what a crash leaves at the end of a transcript.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Held } from './append-file.ts';
import { writeAll, type FileSystem, type OpenFile } from './filesystem.ts';
import { codeOf, messageOf } from './store-errors.ts';
import { StoreError } from './store.ts';

/** A torn tail that was set aside. */
export interface TornTail {
  readonly bytes: number;
  /** The name of the file that holds them now, beside the one they were in. */
  readonly kept: string;
  readonly sha256: string;
}

/** What a repair did, and the file's size after it. */
export interface Repair {
  readonly size: number;
  readonly torn: TornTail;
}

/**
 * Cuts the last line of a file of `size` bytes. The bytes are durable in `<path>.torn-<k>` before the file
 * is cut, so they are never in neither place.
 *
 * @throws {StoreError} `failed` if the disk does; unless only the cut's own sync failed, the file is as it was.
 */
export async function cutTornTail(held: Held, size: number): Promise<Repair> {
  try {
    const start = lastLineStart(held.file, size);
    const bytes = readExactly(held.file, start, size - start);
    const kept = await setAside(held, bytes);
    held.file.truncate(start);
    await held.file.datasync();
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { size: start, torn: { bytes: bytes.length, kept: basename(kept), sha256 } };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      'failed',
      `${held.location}: its torn tail could not be repaired: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

const STEP_BYTES = 64 * 1024;

/** Where the last line begins; its own newline, if it has one, doesn't end the search. */
function lastLineStart(file: OpenFile, size: number): number {
  let end = size - 1;
  while (end > 0) {
    const start = Math.max(0, end - STEP_BYTES);
    const newline = readExactly(file, start, end - start).lastIndexOf(0x0a);
    if (newline !== -1) return start + newline + 1;
    end = start;
  }
  return 0;
}

function readExactly(file: OpenFile, start: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const got = file.read(bytes.subarray(done), start + done);
    if (got === 0) throw new Error('it became shorter while it was read');
    done += got;
  }
  return bytes;
}

/** Keeps the bytes in a new file beside the transcript; returns its path. */
async function setAside(held: Held, bytes: Uint8Array): Promise<string> {
  const { system } = held;
  const { mode } = held.file.stat();
  for (let k = 1; ; k += 1) {
    const path = `${held.path}.torn-${k}`;
    const file = await createNew(system, path, mode);
    if (file === null) continue;
    try {
      await fill(file, bytes);
      await system.syncDirectory(dirname(path));
    } catch (error) {
      // A part of the bytes beside a transcript that still has them all would only confuse.
      rmSync(path, { force: true });
      throw error;
    }
    return path;
  }
}

async function fill(file: OpenFile, bytes: Uint8Array): Promise<void> {
  try {
    writeAll(file, bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** A new file, no wider open than the transcript is; null if there is one of that name. */
async function createNew(system: FileSystem, path: string, mode: number): Promise<OpenFile | null> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  try {
    return await system.open(path, O_CREAT | O_EXCL | O_WRONLY, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null;
    throw error;
  }
}
