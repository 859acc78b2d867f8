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
  const verifier = createVerifier(options);
  const problem = await feed(path, verifier, options.onProgress);
  return problem === null ? verifier.end() : unreadable(problem);
}

/** Pushes a file's bytes, until a fault is found. It never rejects: it gives why the file can't be read, or null. */
export async function feed(
  path: string | URL,
  verifier: { push(bytes: Uint8Array): void; readonly fault: object | undefined },
  onProgress?: VerifyFileOptions['onProgress'],
): Promise<string | null> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const stat = await file.stat();
    let done = 0;
    for await (const piece of pieces(stat.isFile() ? fromFile(file) : fromStream(file))) {
      verifier.push(piece);
      done += piece.length;
      report(onProgress, done, stat.size);
      if (verifier.fault !== undefined) break;
    }
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    // A file that was only read has nothing to lose when closing it fails.
    await file?.close().catch(() => undefined);
  }
}

function fromFile(file: FileHandle): Read {
  return (into, position) => readSync(file.fd, into, 0, into.length, position);
}

/** A pipe has no positions and may keep us waiting, which must not stop the process. */
function fromStream(file: FileHandle): Read {
  return async (into) => (await file.read(into, 0, into.length, null)).bytesRead;
}

function report(onProgress: VerifyFileOptions['onProgress'], done: number, total: number): void {
  try {
    onProgress?.(done, total);
  } catch {
    // Who watches the verification must not change its verdict.
  }
}
