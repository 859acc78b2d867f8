/**
 * The file of disclosures beside a transcript: read whole, or written before the records that need it.
 *
 * @module
 */
import { constants, lstatSync, rmSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NOTHING_OPEN, parseOpenFile, type OpenFile } from '../evidence/open-file.ts';
import { Revealer } from '../evidence/revealer.ts';
import { AppendFile } from './append-file.ts';
import { type OpenFile as Opened } from './filesystem.ts';
import { pathText, realPath } from './place.ts';
import { SIDECAR } from './sidecars.ts';
import { codeOf, openError, readError, throughLink } from './store-errors.ts';
import { StoreError, type Place, type TranscriptStore } from './store.ts';

/**
 * Reads the disclosures of the transcript at `path`; there are none if there is no such file.
 *
 * @throws {StoreError} `failed` if it can't be read.
 */
export async function readDisclosures(path: string | URL): Promise<OpenFile> {
  const location = pathText(path) + SIDECAR.disclosures;
  try {
    const file = realPath(pathText(path)) + SIDECAR.disclosures;
    const found = await stat(file);
    // A pipe would be waited for.
    if (!found.isFile()) {
      throw new StoreError('failed', `${location}: it is no plain file; move it away`);
    }
    if (found.size > MAX_BYTES) throw tooLarge(location, `has over ${MAX_BYTES} bytes`);
    const bytes = await readFile(file);
    if (hasMoreLines(bytes)) throw tooLarge(location, `has over ${MAX_LINES} lines`);
    // A character a byte: a good file is ASCII, and no byte of a bad one may be lost.
    return parseOpenFile(bytes.toString('latin1'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return NOTHING_OPEN;
    throw readError(location, error);
  }
}

/** Room for the longest record as one value in base64url. More is neither read, as it is read whole, nor written. */
const MAX_BYTES = 128 * 1024 * 1024;
/** What is kept of a line takes more than the shortest line does. */
const MAX_LINES = 500_000;

function hasMoreLines(bytes: Uint8Array): boolean {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
    if (lines > MAX_LINES) return true;
  }
  return false;
}

const NEWLINE = 0x0a;

function tooLarge(location: string, what: string): StoreError {
  const advice = 'move it away to read the transcript without';
  return new StoreError('failed', `${location}: it ${what}, more than is read; ${advice}`);
}

/** What puts the records of a transcript together again: for a file, the disclosures beside it. */
export async function revealerFor(transcript: string | URL | TranscriptStore): Promise<Revealer> {
  const isPath = typeof transcript === 'string' || transcript instanceof URL;
  const path = isPath ? transcript : transcript.place?.path;
  return new Revealer(path === undefined ? NOTHING_OPEN : await readDisclosures(path));
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Disclosures that are being written. The lock of the transcript is theirs too. */
export class DisclosureFile {
  /** Its state is how many bytes belong to records. */
  readonly #file: AppendFile<number>;
  /** The size before the last write, as long as nobody said that its record was written. */
  #pending: number | undefined;

  private constructor(file: AppendFile<number>) {
    this.#file = file;
  }

  /**
   * Opens the file of the transcript at a place, for its owner alone to read.
   *
   * @param kept how many of its bytes belong to records that are there: what follows, a crash left, and is cut
   * off. Null for a transcript that begins: then there must be no such file.
   * @throws {StoreError} `exists` if there is; `failed` if the disk does.
   */
  static async open(place: Place, location: string, kept: number | null): Promise<DisclosureFile> {
    const { system, durability } = place;
    const path = place.path + SIDECAR.disclosures;
    const name = location + SIDECAR.disclosures;
    const isNew = isFresh(path, kept);
    let file: Opened | undefined;
    try {
      file = await system.open(path, isNew ? FLAGS | constants.O_EXCL : FLAGS, 0o600);
      if (file.stat().size > (kept ?? 0)) file.truncate(kept ?? 0);
      if (durability !== 'never') {
        await file.datasync();
        await system.syncDirectory(dirname(path));
      }
      const held = { location: name, path, system, file, lock: { release: () => undefined } };
      const { size } = file.stat();
      return new DisclosureFile(new AppendFile(held, durability, size, size));
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw leftOver(name);
      // The error that led here is the one to tell.
      await file?.close().catch(() => undefined);
      if (file !== undefined && isNew) rmSync(path, { force: true });
      throw openError(name, throughLink(name, error), true);
    }
  }

  /** Writes lines and makes them durable, so that no record is ever there without its disclosures. */
  async append(lines: string): Promise<void> {
    const bytes = Buffer.from(lines);
    const before = this.#file.head;
    if (before + bytes.length > MAX_BYTES) {
      const advice = 'record less, or redact less';
      throw new StoreError(
        'failed',
        `${this.#file.location}: it is full (${MAX_BYTES} bytes); ${advice}`,
      );
    }
    await this.#file.append(bytes, before + bytes.length);
    this.#pending = before;
    await this.#file.sync();
  }

  /** The records of the last lines were written. */
  settled(): void {
    this.#pending = undefined;
  }

  /** Whether the records of the last lines were not written, as far as anybody said. */
  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Takes lines back whose records were not written. */
  takeBack(): void {
    if (this.#pending === undefined) return;
    this.#file.cutBack(this.#pending, this.#pending);
    this.#pending = undefined;
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/**
 * Whether a file is to be made, where none may be: nobody who made one beforehand, or a link in its place, may get to
 * read what is written to it. One of which nothing belongs to a record may be anybody's, and is removed.
 */
function isFresh(path: string, kept: number | null): boolean {
  if (kept !== 0) return kept === null;
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isFile() === false) return false;
  rmSync(path, { force: true });
  return true;
}

function leftOver(name: string): StoreError {
  return new StoreError(
    'exists',
    `${name}: there is such a file already, with the disclosures of another transcript; choose another path for this one, or move it away`,
  );
}
