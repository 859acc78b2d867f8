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
    async open(path, flags) {
      const real = async (): Promise<OpenFile> =>
        wrap(await nodeFileSystem.open(path, flags), faults);
      return faults.open === undefined ? real() : faults.open(real, path);
    },
    async syncDirectory(path) {
      const real = (): Promise<void> => nodeFileSystem.syncDirectory(path);
      await (faults.syncDirectory === undefined ? real() : faults.syncDirectory(real, path));
    },
  };
}

function wrap(file: OpenFile, faults: Faults): OpenFile {
  return {
    read(into, position) {
      const real = (): number => file.read(into, position);
      return faults.read === undefined ? real() : faults.read(real);
    },
    write(bytes, from) {
      const real = (length: number): number => file.write(bytes.subarray(0, from + length), from);
      const length = bytes.length - from;
      return faults.write === undefined ? real(length) : faults.write(real, length);
    },
    truncate(size) {
      const real = (): void => {
        file.truncate(size);
      };
      if (faults.truncate === undefined) real();
      else faults.truncate(real, size);
    },
    stat() {
      const real = (): FileStat => file.stat();
      return faults.stat === undefined ? real() : faults.stat(real);
    },
    async datasync() {
      const real = (): Promise<void> => file.datasync();
      await (faults.datasync === undefined ? real() : faults.datasync(real));
    },
    async close() {
      const real = (): Promise<void> => file.close();
      await (faults.close === undefined ? real() : faults.close(real));
    },
  };
}
