/**
 * The catalogue of a folder: a log of the runs that were written there, so that one that is gone is missed.
 *
 * It is a transcript like any other, `hashtape-catalog.jsonl`, and attested like one.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readRecords } from '../store/read.ts';
import { StoreError } from '../store/store.ts';
import { isJsonObject, type JsonObject, type TranscriptRecord } from '../transcript/index.ts';
import { inTurn } from './atomic-file.ts';
import { type AttestedState, type AttestedStore, type Attesting } from './attested-store.ts';
import { createAttested, openAttested } from './open.ts';

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
  readonly before?: Listed;
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

/** Notes in its folder's catalogue that a log was begun, or how it stands when it is closed. */
export async function noteRun(state: AttestedState, attesting: Attesting): Promise<void> {
  const { identity, path, size, root, sealed, closed } = state;
  const run = { file: basename(path), log: identity.id };
  const payload = closed ? { ...run, end: { size, root, sealed } } : run;
  await note(catalogPath(path), { kind: 'run', payload }, attesting);
}

/** Notes that a file is gone, or another now, because somebody wanted that. False if it isn't in the catalogue. */
export async function noteRemoval(file: string, attesting: Attesting): Promise<boolean> {
  const path = catalogPath(file);
  const listed = (await readCatalog(path))?.get(basename(file));
  if (listed === undefined) return false;
  await note(path, { kind: 'removed', payload: { file: listed.file, log: listed.log } }, attesting);
  return true;
}

/** What a catalogue says of each file; null if there is none. Call it only for one that was verified, or say so. */
export async function readCatalog(path: string): Promise<ReadonlyMap<string, Listed> | null> {
  if (!existsSync(path)) return null;
  const files = new Map<string, Listed>();
  for await (const record of readRecords(path)) take(files, record);
  return files;
}

/** Looks files up in the catalogues of their folders, each of which is read once. A broken one says nothing. */
export function lookUp(): (path: string) => Promise<Listed | null> {
  const catalogs = new Map<string, Promise<ReadonlyMap<string, Listed> | null>>();
  return async (path) => {
    const catalog = catalogPath(path);
    const read = catalogs.get(catalog) ?? readCatalog(catalog).catch(() => null);
    catalogs.set(catalog, read);
    return (await read)?.get(basename(path)) ?? null;
  };
}

async function note(
  path: string,
  { kind, payload }: { kind: string; payload: JsonObject },
  { signer, memory, onProblem }: Attesting,
): Promise<void> {
  const at = new Date().toISOString();
  const store = await inTurn(() => openCatalog(path, { signer, memory, onProblem }));
  try {
    // New, or a crash came before this record.
    if (store.head.count === 0) {
      const head = { at, format: 'hashtape/1', id: randomUUID() };
      await store.append([{ kind: 'catalog', payload: head }]);
    }
    await store.append([{ kind, payload: { ...payload, at } }]);
  } finally {
    await store.close();
  }
}

async function openCatalog(path: string, attesting: Attesting): Promise<AttestedStore> {
  try {
    if (!existsSync(path)) return await createAttested(path, attesting);
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (!(error instanceof StoreError) || error.code !== 'exists') throw error;
  }
  return openAttested(path, attesting, { recover: true });
}

function take(files: Map<string, Listed>, { kind, payload }: TranscriptRecord): void {
  if (!isJsonObject(payload)) return;
  const { file, log, at } = payload;
  if (typeof file !== 'string' || typeof log !== 'string' || typeof at !== 'string') return;
  const last = files.get(file);
  // Another log may have been begun there meanwhile.
  if (kind === 'removed' && last?.log === log) files.delete(file);
  if (kind !== 'run') return;
  const before = last?.log === log ? last.before : last;
  files.set(file, {
    file,
    log,
    at,
    ...endIn(payload),
    ...(before === undefined ? {} : { before }),
  });
}

function endIn({ end }: JsonObject): Pick<Listed, 'end'> {
  const { size, root, sealed } = isJsonObject(end) ? end : {};
  if (typeof size !== 'number' || typeof root !== 'string') return {};
  return { end: { size, root, sealed: sealed === true } };
}
