/**
 * Copies of checkpoints in other places: files of signed notes, of any number of logs.
 *
 * @module
 */
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodeNote, parseCheckpoint, type Note } from '../evidence/index.ts';
import { isLink, meantPath, realPath } from '../store/place.ts';
import { SIDECAR } from '../store/sidecars.ts';
import { StoreError } from '../store/store.ts';
import { appendText } from './append-text.ts';
import { bytesIfThere } from './atomic-file.ts';
import { holdsNote, isCutOff, notesOf } from './notes.ts';

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
 * Refuses a file that notes would spoil: what it is would not be read again, or `verify` would take it for something
 * else. Nothing is written.
 *
 * @throws {StoreError} with what to do.
 */
export function checkCopy(path: string): void {
  const name = nameOf(path);
  if (name.endsWith('.jsonl')) {
    throw refused(`${path} has the name of a transcript; name a file that doesn't end in .jsonl`);
  }
  const log = Object.values(SIDECAR)
    .filter((ending) => name.endsWith(ending))
    .map((ending) => name.slice(0, -ending.length))
    .find((each) => existsSync(each));
  if (log !== undefined) throw refused(`${path} belongs to ${log}; name another file`);
  const bytes = readCopy(path)?.bytes ?? new Uint8Array(0);
  if (bytes.length >= MAX_BYTES) throw full(path);
  // A crash may have left the beginning of one alone.
  if (!holdsNote(bytes) && !isCutOff(bytes)) {
    throw refused(`${path} holds something else than checkpoints; name a new file`);
  }
}

function refused(message: string): StoreError {
  return new StoreError('failed', message);
}

function full(path: string): StoreError {
  return refused(`${path} is full: begin another file`);
}

/** What a file is called itself, whatever link leads there; also where it would be made by writing through one. */
function nameOf(path: string): string {
  if (existsSync(path)) return realPath(path);
  return isLink(path) ? meantPath(readlinkSync(path), dirname(path)) : path;
}

/**
 * Adds a note to a copy, or begins one; false if it is there already. It is on the disk, and can be found again, when
 * this resolves.
 *
 * @throws {Error} if it can't be written, or read afterwards, or is nothing to add notes to.
 */
export async function addToCopy(path: string, note: Note): Promise<boolean> {
  const text = encodeNote(note);
  const before = readCopy(path);
  if (before !== null && holds(before, note)) return false;
  if ((before?.bytes.length ?? 0) + text.length > MAX_BYTES) throw full(path);
  checkCopy(path);
  await appendText(path, text);
  const after = readCopy(path);
  if (after !== null && holds(after, note)) return true;
  throw refused(`${path} was written to, but the checkpoint isn't in it`);
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
