/**
 * A file system whose calls can be made to fail, before or after they take effect.
 *
 * @module
 */
import {
  nodeFileSystem,
  type FileStat,
  type FileSystem,
  type OpenFile,
} from '../../src/store/filesystem.ts';

/** What stands in for a call; `real` makes the call. Everything else goes to the disk. */
export interface Faults {
  open?: (real: () => Promise<OpenFile>, path: string) => Promise<OpenFile>;
  syncDirectory?: (real: () => Promise<void>, path: string) => Promise<void>;
  /** `real` writes only the first `length` of the bytes. */
  write?: (real: (length: number) => number, length: number) => number;
  read?: (real: () => number) => number;
  truncate?: (real: () => void, size: number) => void;
  stat?: (real: () => FileStat) => FileStat;
  pathStat?: (real: () => FileStat | null) => FileStat | null;
  datasync?: (real: () => Promise<void>) => Promise<void>;
  close?: (real: () => Promise<void>) => Promise<void>;
}

/** The error that the operating system would give. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

export function failing(code: string): () => never {
  return () => {
    throw systemError(code);
  };
}

export async function failingLater(): Promise<never> {
  throw systemError('EIO');
}

export async function failingLaterAfter(real: () => Promise<unknown>): Promise<never> {
  await real();
  throw systemError('EIO');
}

/** The machine's file system with `faults`, which may be changed while it is used. */
export function faultySystem(faults: Faults): FileSystem {
  return {
    open(path, flags, mode) {
      const real = async (): Promise<OpenFile> =>
        wrap(await nodeFileSystem.open(path, flags, mode), faults);
      return faults.open?.(real, path) ?? real();
    },
    stat: (path) => faults.pathStat?.(() => nodeFileSystem.stat(path)) ?? nodeFileSystem.stat(path),
    syncDirectory: (path) =>
      faults.syncDirectory?.(() => nodeFileSystem.syncDirectory(path), path) ??
      nodeFileSystem.syncDirectory(path),
  };
}

function wrap(file: OpenFile, faults: Faults): OpenFile {
  return {
    read: (into, position) =>
      faults.read?.(() => file.read(into, position)) ?? file.read(into, position),
    write: (bytes, from) =>
      faults.write?.(
        (length) => file.write(bytes.subarray(0, from + length), from),
        bytes.length - from,
      ) ?? file.write(bytes, from),
    truncate(size) {
      if (faults.truncate === undefined) file.truncate(size);
      else faults.truncate(() => file.truncate(size), size);
    },
    stat: () => faults.stat?.(() => file.stat()) ?? file.stat(),
    datasync: () => faults.datasync?.(() => file.datasync()) ?? file.datasync(),
    close: () => faults.close?.(() => file.close()) ?? file.close(),
  };
}
