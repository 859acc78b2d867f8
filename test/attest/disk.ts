/**
 * Every change of the disk that this process makes, one after the other, so that a test can look on, make one
 * fail, or end the process there: from then on nothing is changed any more, as after a kill.
 *
 * @module
 */
import fs, { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeFileSystem, type OpenFile } from '../../src/store/filesystem.ts';

// Node keeps the functions that it removes with when it first removes something: they must be its own.
rmSync(mkdtempSync(join(tmpdir(), 'hashtape-disk-')), { recursive: true });

/** A change that is about to be made. */
export interface Change {
  readonly name: string;
  readonly path: string;
  /** Makes a part of it: of a write, so much of its bytes. */
  readonly part?: (share: number) => void;
}

/** Looks at each change before it is made; what it throws comes of the change. */
export type Watch = (change: Change) => void;

/** What is thrown where a process would have been killed. */
export class Killed extends Error {}

/** Does something while the disk is watched. Nothing waits for a real disk. */
export async function watching<T>(watch: Watch, act: () => Promise<T>): Promise<T> {
  const restore = patch(watch);
  try {
    return await act();
  } finally {
    await restore();
  }
}

/** Does something, and is killed at the n-th change, of which it makes a share. Gives the changes so far. */
export async function killedAt(
  nth: number,
  share: number,
  act: () => Promise<unknown>,
): Promise<{ readonly killed: boolean; readonly changes: readonly Change[] }> {
  const changes: Change[] = [];
  const watch: Watch = (change) => {
    if (changes.length >= nth) throw new Killed();
    changes.push(change);
    if (changes.length < nth) return;
    if (share > 0) change.part?.(share);
    throw new Killed();
  };
  const killed = await watching(watch, act).then(
    () => changes.length >= nth,
    (error: unknown) => {
      if (changes.length >= nth) return true;
      throw error;
    },
  );
  return { killed, changes };
}

/** Removes the locks of a process that is gone: this one isn't, so they would be believed. */
export function removeLocks(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (name.includes('.lock')) rmSync(join(folder, name));
}

function patch(watch: Watch): () => Promise<void> {
  const files = new Set<OpenFile>();
  const system = { ...nodeFileSystem };
  nodeFileSystem.open = async (path, flags, mode) => {
    if ((flags & fs.constants.O_CREAT) !== 0) watch({ name: 'create', path });
    const file = await system.open(path, flags, mode);
    files.add(file);
    return { ...watched(path, file, watch), close: () => (files.delete(file), file.close()) };
  };
  nodeFileSystem.syncDirectory = async (path) => watch({ name: 'sync folder', path });
  const { writeFileSync, renameSync, linkSync, unlinkSync, rmSync: remove, mkdirSync } = fs;
  const real = { renameSync, linkSync, unlinkSync, rmSync: remove, mkdirSync };
  fs.writeFileSync = (path, data, options) => {
    const settings = { ...(typeof options === 'object' ? options : {}), flush: false };
    // Only text is written so.
    const text = data as string;
    const part = (share: number): void =>
      writeFileSync(path, text.slice(0, Math.floor(text.length * share)), settings);
    watch({ name: 'write file', path: String(path), part });
    writeFileSync(path, data, settings);
  };
  for (const [name, each] of Object.entries(real)) {
    // Their arguments are passed on as they are.
    const call = each as (...how: unknown[]) => unknown;
    Object.assign(fs, {
      [name](...how: unknown[]) {
        watch({ name, path: String(how[0]) });
        return call(...how);
      },
    });
  }
  syncBuiltinESMExports();
  return async () => {
    Object.assign(nodeFileSystem, system);
    Object.assign(fs, { ...real, writeFileSync });
    syncBuiltinESMExports();
    // As the system does when a process ends.
    for (const file of files) await file.close();
  };
}

function watched(path: string, file: OpenFile, watch: Watch): Omit<OpenFile, 'close'> {
  return {
    read: (into, position) => file.read(into, position),
    stat: () => file.stat(),
    write(bytes, from) {
      const part = (share: number): void => {
        const end = from + Math.floor((bytes.length - from) * share);
        if (end > from) file.write(bytes.subarray(0, end), from);
      };
      watch({ name: 'write', path, part });
      return file.write(bytes, from);
    },
    truncate(size) {
      watch({ name: 'truncate', path });
      file.truncate(size);
    },
    async datasync() {
      watch({ name: 'sync', path });
    },
  };
}
