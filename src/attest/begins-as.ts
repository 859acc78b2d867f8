/**
 * Whether a file is still the log that was seen there.
 *
 * @module
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { identityOfLine } from './log-identity.ts';
import { isFileItself } from './place-of.ts';

/** First records are shorter; of a longer one it is believed. */
const MOST_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Whether a file begins with the first record of the transcript `id`. One that can't be read may. */
export function beginsAs(path: string, id: string): boolean {
  if (!isFileItself(path)) return false;
  const line = firstLine(path);
  return line === null || identityOfLine(line)?.id === id;
}

/** The first line, or all that there is; null if that can't be told. */
function firstLine(path: string): string | null {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(MOST_BYTES);
    let size = 0;
    for (let got = -1; got !== 0 && size < bytes.length; size += got) {
      got = readSync(file, bytes, size, Math.min(64 * 1024, bytes.length - size), size);
      const end = bytes.subarray(size, size + got).indexOf(NEWLINE);
      if (end !== -1) return bytes.toString('utf8', 0, size + end);
    }
    return size < bytes.length ? bytes.toString('utf8', 0, size) : null;
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
