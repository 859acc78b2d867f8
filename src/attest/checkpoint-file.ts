/**
 * The checkpoints of a transcript: signed notes in `<transcript>.checkpoint`, the newest last.
 *
 * @module
 */
import { constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  encodeNote,
  EvidenceError,
  parseCheckpoint,
  parseNote,
  type Checkpoint,
  type Note,
} from '../evidence/index.ts';
import { nodeFileSystem, writeAll, type FileSystem, type OpenFile } from '../store/filesystem.ts';
import { isLink } from '../store/place.ts';
import { SIDECAR } from '../store/sidecars.ts';
import { linkError, messageOf, throughLink } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';
import { bytesIfThere, replaceFile } from './atomic-file.ts';
import { isCutOff, splitNotes } from './notes.ts';

/** Of a real checkpoint there are some 65,000 in it. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A checkpoint as its file has it; its signatures are not checked yet. */
export interface StoredCheckpoint {
  /** Its place in the file, from 1. */
  readonly number: number;
  readonly note: Note;
  readonly checkpoint: Checkpoint;
}

/** What a file of checkpoints holds. */
export interface CheckpointFile {
  /** As far as the first that is damaged. */
  readonly checkpoints: readonly StoredCheckpoint[];
  /** Which one is no checkpoint, and why. */
  readonly damage?: string;
  /** Whether the writing of a last one was cut off, as a crash does. */
  readonly torn: boolean;
  /** Why the file can't be read. */
  readonly problem?: string;
}

/** The name of the file beside a transcript. */
export function checkpointPath(transcript: string): string {
  return transcript + SIDECAR.checkpoints;
}

/**
 * Reads the checkpoints beside a transcript; null if there is no file of them.
 *
 * @param origin what they must be of: nothing is read behind one that isn't.
 */
export function readCheckpoints(transcript: string, origin?: string): CheckpointFile | null {
  let bytes: Uint8Array | null;
  try {
    bytes = bytesIfThere(checkpointPath(transcript), MAX_BYTES);
  } catch (error) {
    return { checkpoints: [], torn: false, problem: messageOf(error) };
  }
  return bytes === null ? null : checkpointsIn(bytes, origin);
}

function checkpointsIn(bytes: Uint8Array, origin?: string): CheckpointFile {
  const { notes, rest } = splitNotes(bytes);
  const checkpoints: StoredCheckpoint[] = [];
  for (const [index, each] of notes.entries()) {
    try {
      const note = parseNote(each);
      const checkpoint = parseCheckpoint(note.text);
      checkpoints.push({ number: index + 1, note, checkpoint });
      if (origin !== undefined && checkpoint.origin !== origin) return { checkpoints, torn: false };
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      return { checkpoints, damage: `checkpoint ${index + 1}: ${error.message}`, torn: false };
    }
  }
  // A crash leaves the beginning of one. Anything else was changed.
  if (isCutOff(rest)) return { checkpoints, torn: rest.length > 0 };
  const number = notes.length + 1;
  return {
    checkpoints,
    damage: `checkpoint ${number}: it isn't one, nor a part of one`,
    torn: false,
  };
}

/** Adds checkpoints to the file beside a transcript. There must be one writer, as of the transcript itself. */
export class CheckpointWriter {
  readonly #path: string;
  readonly #system: FileSystem;
  /** Whether the file is known to end in a whole note. */
  #isWhole = false;

  constructor(transcript: string, system: FileSystem = nodeFileSystem) {
    this.#path = checkpointPath(transcript);
    this.#system = system;
  }

  /**
   * Adds one; it is on the disk when this resolves. What a crash left of another is taken away first; a file that
   * would grow over what is read loses every second of its older ones.
   */
  async append(note: Note): Promise<void> {
    const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
    const bytes = Buffer.from(encodeNote(note));
    const there = this.#system.stat(this.#path);
    if (there !== null && there.size + bytes.length > MAX_BYTES) await this.#thin(bytes.length);
    const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;
    const file = await this.#system.open(this.#path, flags).catch((error: unknown) => {
      throw throughLink(this.#path, error);
    });
    try {
      if (!this.#isWhole) this.#cut(file);
      this.#isWhole = false;
      writeAll(file, bytes);
      await file.datasync();
      this.#isWhole = true;
    } finally {
      await file.close();
    }
    if (there === null) await this.#system.syncDirectory(dirname(this.#path));
  }

  #cut(file: OpenFile): void {
    const bytes = bytesIfThere(this.#path);
    const { rest } = splitNotes(bytes ?? new Uint8Array(0));
    if (bytes !== null && rest.length > 0) file.truncate(bytes.length - rest.length);
  }

  /** An older statement only tells more exactly where a fault is; what others have cosigned is kept. */
  async #thin(more: number): Promise<void> {
    if (isLink(this.#path)) throw linkError(this.#path);
    const { notes } = splitNotes(bytesIfThere(this.#path) ?? new Uint8Array(0));
    const kept = notes.filter(
      (note, i) => i % 2 === 0 || i === notes.length - 1 || isCosigned(note),
    );
    const bytes = Buffer.concat(kept);
    if (bytes.length + more > MAX_BYTES) {
      throw new StoreError('failed', `${this.#path} is full: move it away to go on without it`);
    }
    await replaceFile(this.#path, bytes, statSync(this.#path).mode & 0o777);
  }
}

/** Whether a note has more than one signature. */
function isCosigned(note: Uint8Array): boolean {
  const bytes = Buffer.from(note);
  return bytes.indexOf(SIGNATURE) !== bytes.lastIndexOf(SIGNATURE);
}

const SIGNATURE = '\n— ';
