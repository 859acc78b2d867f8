/**
 * One folder that file tools may not leave.
 *
 * @module
 */
import { constants, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { TextDecoder } from 'node:util';
import { codeOf } from '../../store/store-errors.ts';
import { compareCodePoints } from '../../transcript/index.ts';

/** Why a file tool can't do something. Paths in it are relative to the root. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** A path that was found to lie below the root. */
export interface Place {
  /** Relative to the root, with `/`; `.` is the root itself. For messages and results. */
  readonly shown: string;
  /** Absolute, with every symbolic link resolved that was there. */
  readonly real: string;
}

/** Larger files are not read whole. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/**
 * The root of file tools. It guards against paths that lead out (`..`, absolute ones, symbolic links), not
 * against another process that exchanges folders while a tool works.
 */
export class Root {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly #protected = new Set<string>();

  constructor(realPath: string) {
    this.path = realPath;
  }

  /** Keeps the run's own transcript, which may lie below the root, from being written to by its tools. */
  protect(realPath: string): void {
    for (const suffix of ['', '.lock', '.open']) this.#protected.add(realPath + suffix);
  }

  /**
   * Finds a path's place, which need not exist.
   *
   * @throws {FileError} if it lies outside of the root.
   */
  async place(path: string): Promise<Place> {
    if (path.includes('\0')) throw new FileError('a path must not hold a NUL character');
    if (isAbsolute(path)) {
      throw new FileError('absolute paths are not accepted; give a path relative to the root');
    }
    const target = this.#inside(resolve(this.path, path), path);
    const shown = relative(this.path, target).split(sep).join('/') || '.';
    return { shown, real: this.#inside(await this.#real(target, shown), path) };
  }

  /** The entries of a folder, in the order of their names. */
  async list({ real, shown }: Place): Promise<readonly Dirent[]> {
    const entries = await told(shown, readdir(real, { withFileTypes: true }));
    return entries.toSorted((a, b) => compareCodePoints(a.name, b.name));
  }

  /**
   * The whole text of a file.
   *
   * @throws {FileError} if it isn't UTF-8 text, or has more than `limit` bytes.
   */
  async readText(place: Place, limit: number = MAX_FILE_BYTES): Promise<string> {
    const { shown } = place;
    const file = await this.#open(place, constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      if (size > limit) throw new FileError(`${shown}: ${size} bytes is over the limit (${limit})`);
      return decode(await told(shown, file.readFile()), shown);
    } finally {
      await file.close();
    }
  }

  /** Replaces a file's content; makes the file and the folders that it needs. Returns the bytes written. */
  async writeText(path: string, text: string): Promise<number> {
    const { shown, real } = await this.place(path);
    await told(shown, mkdir(dirname(real), { recursive: true }));
    // Links may have come in between, and the folders are there now.
    const file = await this.#open(await this.place(path), constants.O_WRONLY | constants.O_CREAT);
    try {
      // It is cut only now that it was found to be a regular file.
      await told(shown, file.truncate(0));
      await told(shown, file.writeFile(text));
    } finally {
      await file.close();
    }
    return Buffer.byteLength(text);
  }

  /** Opens a regular file, never through a symbolic link that was put in place since it was looked at. */
  async #open({ real, shown }: Place, flags: number): Promise<FileHandle> {
    if (flags !== constants.O_RDONLY && this.#protected.has(real)) {
      throw new FileError(`${shown}: it is this run's own transcript, which is read-only`);
    }
    // Without O_NONBLOCK, opening a named pipe would wait for its other end.
    const safe = flags | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await told(shown, open(real, safe));
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new FileError(`${shown}: it is not a regular file`);
  }

  /** Resolves the links of the deepest part that exists; what doesn't exist holds none. */
  async #real(target: string, shown: string): Promise<string> {
    try {
      return await realpath(target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw fileError(shown, error);
    }
    // A link that leads nowhere exists, and writing to it would create a file where it points.
    const isThere = await lstat(target).catch(() => null);
    if (isThere !== null) throw new FileError(`${shown}: a symbolic link that leads nowhere`);
    if (target === this.path) throw new FileError('the root folder is gone');
    const parent = dirname(target);
    return join(await this.#real(parent, shown), relative(parent, target));
  }

  #inside(absolute: string, given: string): string {
    const below = this.path.endsWith(sep) ? this.path : this.path + sep;
    if (absolute === this.path || absolute.startsWith(below)) return absolute;
    throw new FileError(`${JSON.stringify(given)} leads out of the root folder`);
  }
}

/** What a file operation gives, or its error in words. */
async function told<T>(shown: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw fileError(shown, error);
  }
}

/** The error of a failed file operation, without the absolute path that Node's own holds. */
function fileError(shown: string, error: unknown): FileError {
  const code = codeOf(error) ?? 'unknown error';
  const words = WORDS.get(code) ?? `the system refused (${code})`;
  return new FileError(`${shown}: ${words}`, { cause: error });
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ELOOP', 'a symbolic link, which is not followed'],
  ['ENXIO', 'it is not a regular file'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['ENOSPC', 'the disk is full'],
]);

function decode(bytes: Uint8Array, shown: string): string {
  if (bytes.subarray(0, 8192).includes(0)) throw new FileError(`${shown}: it is not a text file`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new FileError(`${shown}: it is not UTF-8 text`, { cause: error });
  }
}
