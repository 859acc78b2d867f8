/**
 * Verifies a transcript file in constant memory.
 *
 * @module
 */
import { open, type FileHandle } from 'node:fs/promises';
import { readSync } from 'node:fs';
import {
  createVerifier,
  unreadable,
  type Verdict,
  type VerifyOptions,
} from '../transcript/index.ts';
import { pieces, type Read } from './pieces.ts';
import { messageOf } from './store-errors.ts';

/** How to verify a file. */
export interface VerifyFileOptions extends VerifyOptions {
  /** Is told after every piece (about 1 MiB) how far it got. What it throws is ignored. */
  readonly onProgress?: (bytesRead: number, totalBytes: number) => void;
}

/**
 * Verifies the file at `path`. It never rejects: a file that can't be read has the verdict `unreadable`.
 * Pipes and devices are read too; their `totalBytes` is 0. While a run is still writing the file, a
 * `torn_tail` may be a record that is just being written: verify it again.
 */
export async function verifyFile(
  path: string | URL,
  options: VerifyFileOptions = {},
): Promise<Verdict> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    return await verifyHandle(file, options);
  } catch (error) {
    return unreadable(messageOf(error));
  } finally {
    // A file that was only read has nothing to lose when closing it fails.
    await file?.close().catch(() => undefined);
  }
}

async function verifyHandle(file: FileHandle, options: VerifyFileOptions): Promise<Verdict> {
  const stat = await file.stat();
  const verifier = createVerifier(options);
  let done = 0;
  for await (const piece of pieces(stat.isFile() ? fromFile(file) : fromStream(file))) {
    verifier.push(piece);
    done += piece.length;
    report(options, done, stat.size);
    if (verifier.fault !== undefined) break;
  }
  return verifier.end();
}

function fromFile(file: FileHandle): Read {
  return (into, position) => readSync(file.fd, into, 0, into.length, position);
}

/** A pipe has no positions and may keep us waiting, which must not stop the process. */
function fromStream(file: FileHandle): Read {
  return async (into) => (await file.read(into, 0, into.length, null)).bytesRead;
}

function report(options: VerifyFileOptions, done: number, total: number): void {
  try {
    options.onProgress?.(done, total);
  } catch {
    // Who watches the verification must not change its verdict.
  }
}
