/**
 * One folder that file tools may not leave.
 *
 * @module
 */
import { constants } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { TextDecoder } from 'node:util';
import { codeOf } from '../../store/store-errors.ts';

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

/** Files above this size are not read whole. */
export const MAX_FILE_BYTES: number = 32 * 1024 * 1024;

/**
 * The root of file tools. It guards against paths that lead out (`..`, absolute ones, symbolic links), not
 * against another process that exchanges folders while a tool works.
 */
export class Root {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly #own = new Set<string>();

  constructor(realPath: string) {
    this.path = realPath;
  }

  /** Keeps the run's own transcript, which may lie below the root, from being written to by its tools. */
  keep(realPath: string): void {
    this.#own.add(realPath).add(`${realPath}.lock`);
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
    const target = resolve(this.path, path);
    const shown = this.#show(target);
    if (!this.#holds(target)) throw outside(path);
    const real = await this.#real(target, shown);
    if (!this.#holds(real)) throw outside(path);
    return { shown, real };
  }

  /**
   * Opens a regular file, never through a symbolic link that was put in place since it was looked at.
   *
   * @throws {FileError} if there is none, or it is something else.
   */
  async open({ real, shown }: Place, flags: number): Promise<FileHandle> {
    if (flags !== constants.O_RDONLY && this.#own.has(real)) {
      throw new FileError(`${shown}: it is this run's own transcript, which is read-only`);
    }
    let file: FileHandle;
    try {
      // Without O_NONBLOCK, opening a named pipe would wait for its other end.
      file = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      throw fileError(shown, error);
    }
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new FileError(`${shown}: it is not a regular file`);
  }

  /**
   * The whole text of a file.
   *
   * @throws {FileError} if it isn't UTF-8 text, or is too large.
   */
  async readText(place: Place): Promise<string> {
    const file = await this.open(place, constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      if (size > MAX_FILE_BYTES) {
        throw new FileError(`${place.shown}: ${size} bytes is over the limit of ${MAX_FILE_BYTES}`);
      }
      return decode(await file.readFile(), place);
    } finally {
      await file.close();
    }
  }

  /** Resolves the links of the deepest part that exists; what doesn't exist holds none. */
  async #real(target: string, shown: string): Promise<string> {
    try {
      return await realpath(target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw fileError(shown, error);
    }
    // A link that leads nowhere exists, and writing to it would create a file where it points.
    if (await exists(target)) throw new FileError(`${shown}: a symbolic link that leads nowhere`);
    if (target === this.path) throw new FileError('the root folder is gone');
    const parent = dirname(target);
    return join(await this.#real(parent, shown), relative(parent, target));
  }

  #holds(path: string): boolean {
    return (
      path === this.path || path.startsWith(this.path.endsWith(sep) ? this.path : this.path + sep)
    );
  }

  #show(target: string): string {
    return relative(this.path, target).split(sep).join('/') || '.';
  }
}

/** The error of a failed file operation, without the absolute path that Node's own holds. */
export function fileError(shown: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  const code = codeOf(error) ?? 'unknown error';
  return new FileError(`${shown}: ${WORDS[code] ?? `the system refused (${code})`}`, {
    cause: error,
  });
}

const WORDS: Readonly<Record<string, string | undefined>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'a symbolic link, which is not followed',
  ENXIO: 'it is not a regular file',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
};

function outside(path: string): FileError {
  return new FileError(`${JSON.stringify(path)} leads out of the root folder`);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function decode(bytes: Uint8Array, { shown }: Place): string {
  if (bytes.subarray(0, 8192).includes(0)) throw new FileError(`${shown}: it is not a text file`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new FileError(`${shown}: it is not UTF-8 text`, { cause: error });
  }
}
