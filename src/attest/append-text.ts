/**
 * Adds lines to a file that somebody else may have written to, or that a crash has left without its end.
 *
 * @module
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { nodeFileSystem } from '../store/filesystem.ts';
import { throughLink } from '../store/store-errors.ts';

/**
 * Adds text to a file, or makes it; it is on the disk when this resolves. Where the last line was cut off, a new one
 * is begun: what is added would be lost in it.
 *
 * @param flags more of those of open(2).
 */
export async function appendText(path: string, text: string, flags = 0): Promise<void> {
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  const file = opened(path, O_RDWR | O_APPEND | O_CREAT | flags);
  let isNew: boolean;
  try {
    const { size } = fstatSync(file);
    isNew = size === 0;
    const last = Buffer.alloc(1);
    const isCut = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
    writeFileSync(file, (isCut ? '\n' : '') + text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (isNew) await nodeFileSystem.syncDirectory(dirname(path));
}

const NEWLINE = 0x0a;

function opened(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw throughLink(path, error);
  }
}
