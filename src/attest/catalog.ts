/**
 * The catalogue of a folder: a log of the runs that were written there, so that one that is gone is missed.
 *
 * It is a transcript like any other, `hashtape-catalog.jsonl`; catalog-notes.ts writes it.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readRecords } from '../store/read.ts';
import { messageOf } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';
import { isJsonObject, type JsonObject, type TranscriptRecord } from '../transcript/index.ts';

/** What a catalogue says last of a file. */
export interface Listed {
  /** The name of the file in the catalogue's folder. */
  readonly file: string;
  /** The log that was written to it. */
  readonly log: string;
  /** When that was said, UTC. */
  readonly at: string;
  /** How it stood when its writer closed it; absent if that was never said. */
  readonly end?: { readonly size: number; readonly root: string; readonly sealed: boolean };
  /** The log that was written to this file before this one. */
  readonly before?: Pick<Listed, 'log' | 'at'>;
}

const NAME = 'hashtape-catalog.jsonl';

/** The catalogue of the folder that a file is in. */
export function catalogPath(file: string): string {
  return join(dirname(file), NAME);
}

/** Whether a path is that of a catalogue. */
export function isCatalog(file: string): boolean {
  return basename(file) === NAME;
}

/** What a catalogue says of each file; null if there is none. Call it only for one that was verified, or say so. */
export async function readCatalog(path: string): Promise<ReadonlyMap<string, Listed> | null> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  // A pipe would be waited for.
  if (!stat.isFile()) throw new StoreError('failed', `${path}: it is no plain file`);
  if (stat.size > MAX_BYTES)
    throw new StoreError('failed', `${path}: it is over ${MAX_BYTES} bytes`);
  const files = new Map<string, Listed>();
  const removed = new Map<string, Listed>();
  for await (const record of readRecords(path)) take(files, removed, record);
  return files;
}

/** Some 300,000 runs. What it says of each is kept while it is looked up. */
const MAX_BYTES = 256 * 1024 * 1024;

/** What a folder's catalogue says of the file at a path, or else of the log with this id. */
export type LookUp = (
  path: string,
  id?: string,
) => Promise<Listed | null | { readonly problem: string }>;

/** Looks files up in the catalogues of their folders, each of which is read once. */
export function lookUp(): LookUp {
  const catalogs = new Map<string, ReturnType<typeof readCatalog>>();
  return async (path, id) => {
    const catalog = catalogPath(path);
    const read = catalogs.get(catalog) ?? readCatalog(catalog);
    catalogs.set(catalog, read);
    try {
      return listedAs(await read, basename(path), id);
    } catch (error) {
      return { problem: `the catalogue of its folder can't be read: ${messageOf(error)}` };
    }
  };
}

/** What a look-up found, if it found something. */
export function listedIn(found: Awaited<ReturnType<LookUp>> | undefined): Listed | null {
  return found && 'log' in found ? found : null;
}

/** By name, or by log: a run that was renamed is still the same. */
function listedAs(
  catalog: ReadonlyMap<string, Listed> | null,
  name: string,
  id: string | undefined,
): Listed | null {
  const named = catalog?.get(name);
  if (named !== undefined || id === undefined) return named ?? null;
  return [...(catalog?.values() ?? [])].find(({ log }) => log === id) ?? null;
}

function take(
  files: Map<string, Listed>,
  removed: Map<string, Listed>,
  { kind, payload }: TranscriptRecord,
): void {
  if (!isJsonObject(payload)) return;
  const { file, log, at } = payload;
  if (typeof file !== 'string' || typeof log !== 'string' || typeof at !== 'string') return;
  const last = files.get(file);
  // Another log may have been begun there meanwhile.
  if (kind === 'removed' && last?.log === log) {
    files.delete(file);
    removed.set(file, last);
  }
  if (kind !== 'run') return;
  const before = beforeIn(last ?? removed.get(file), log);
  files.set(file, { file, log, at, ...endIn(payload), ...before });
}

function beforeIn(last: Listed | undefined, log: string): Pick<Listed, 'before'> {
  if (last === undefined) return {};
  if (last.log !== log) return { before: { log: last.log, at: last.at } };
  return last.before === undefined ? {} : { before: last.before };
}

function endIn({ end }: JsonObject): Pick<Listed, 'end'> {
  const { size, root, sealed } = isJsonObject(end) ? end : {};
  if (typeof size !== 'number' || typeof root !== 'string') return {};
  return { end: { size, root, sealed: sealed === true } };
}
