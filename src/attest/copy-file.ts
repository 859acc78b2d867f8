/**
 * Copies of checkpoints in other places: files of signed notes, of any number of logs.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { encodeNote, parseCheckpoint, type Note } from '../evidence/index.ts';
import { StoreError } from '../store/store.ts';
import { appendText } from './append-text.ts';
import { bytesIfThere } from './atomic-file.ts';
import { notesOf } from './notes.ts';

/** A file of notes that was read. */
export interface Copy {
  /** As it was named. */
  readonly path: string;
  /** Which file it is, whatever it was called. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Tells a file from others under whatever path; null if there is none. */
export function fileId(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/**
 * Reads a copy; null if there is no such file.
 *
 * @throws {Error} if it can't be read, or is over 16 MiB.
 */
export function readCopy(path: string, name: string = path): Copy | null {
  const bytes = bytesIfThere(path, MAX_BYTES);
  return bytes === null ? null : { path: name, id: fileId(path) ?? path, bytes };
}

/**
 * Adds a note to a copy, or begins one; false if it is there already. It is on the disk, and can be found again, when
 * this resolves.
 *
 * @throws {Error} if it can't be written, or read afterwards.
 */
export async function addToCopy(path: string, note: Note): Promise<boolean> {
  const text = encodeNote(note);
  const before = readCopy(path);
  if (before !== null && holds(before, note)) return false;
  if ((before?.bytes.length ?? 0) + text.length > MAX_BYTES) {
    throw new StoreError('failed', `${path} is full: begin another file`);
  }
  await appendText(path, text);
  const after = readCopy(path);
  if (after !== null && holds(after, note)) return true;
  throw new StoreError('failed', `${path} was written to, but the checkpoint isn't in it`);
}

/** Real copies have some hundred bytes a checkpoint. */
const MAX_BYTES = 16 * 1024 * 1024;

function holds({ bytes }: Copy, note: Note): boolean {
  const wanted = Buffer.from(encodeNote(note));
  for (const each of notesOf(parseCheckpoint(note.text).origin, bytes)) {
    if (wanted.equals(each)) return true;
  }
  return false;
}
