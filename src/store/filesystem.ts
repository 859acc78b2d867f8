/**
 * The few system calls that a transcript file needs, behind an interface, so that tests can make each fail.
 *
 * @module
 */
import { fstatSync, ftruncateSync, readSync, statSync, writeSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** What is asked about a file. */
export interface FileStat {
  readonly size: number;
  /** How many names it has; 0 once it was deleted or replaced. */
  readonly links: number;
  readonly device: number;
  readonly inode: number;
  /** Whether it is a plain file: no folder, pipe or device. */
  readonly regular: boolean;
  /** Who may do what with it: the bits of chmod(2). */
  readonly mode: number;
}

/**
 * An open file. Reading and writing are synchronous: a record is a few hundred bytes in the page cache,
 * and a trip through the thread pool costs ten times the write itself. Waiting for the disk is not.
 */
export interface OpenFile {
  /** Reads into the buffer from a place in the file; 0 at its end. */
  read(into: Uint8Array, position: number): number;
  /** Writes `bytes` from an offset in them, at the file's end; returns how many were taken. */
  write(bytes: Uint8Array, from: number): number;
  truncate(size: number): void;
  stat(): FileStat;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** How files are opened, and how a name in a folder becomes durable. */
export interface FileSystem {
  /** `flags` are those of open(2); `mode` is that of a file that it creates. */
  open(path: string, flags: number, mode?: number): Promise<OpenFile>;
  /** What a path leads to; null if to nothing. */
  stat(path: string): FileStat | null;
  syncDirectory(path: string): Promise<void>;
}

/** The machine's own file system. */
export const nodeFileSystem: FileSystem = {
  open: async (path, flags, mode = 0o666) => new NodeFile(await open(path, flags, mode)),
  stat(path) {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? null : fileStat(stat);
  },
  async syncDirectory(path) {
    // Windows can't open a folder, and journals names by itself.
    if (process.platform === 'win32') return;
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
};

/** Writes all of the bytes at the file's end: write(2) may take fewer than it is given. */
export function writeAll(file: OpenFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    const taken = file.write(bytes, done);
    if (taken <= 0) throw new Error('the disk took no bytes');
    done += taken;
  }
}

class NodeFile implements OpenFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  read(into: Uint8Array, position: number): number {
    return readSync(this.#handle.fd, into, 0, into.length, position);
  }

  write(bytes: Uint8Array, from: number): number {
    return writeSync(this.#handle.fd, bytes, from);
  }

  truncate(size: number): void {
    ftruncateSync(this.#handle.fd, size);
  }

  stat(): FileStat {
    return fileStat(fstatSync(this.#handle.fd));
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

function fileStat(stat: Stats): FileStat {
  const { size, nlink: links, dev: device, ino: inode } = stat;
  return { size, links, device, inode, regular: stat.isFile(), mode: stat.mode & 0o777 };
}

/** Tells a file from another of the same name. */
export function identityOf({ device, inode }: FileStat): string {
  return `${device}:${inode}`;
}
