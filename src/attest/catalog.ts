/**
 * The catalogue of a folder: a log of the runs that were written there, so that one that is gone is missed.
 *
 * It is a transcript like any other, `hashtape-catalog.jsonl`; catalog-notes.ts writes it.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { inFolder } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { StoreError } from '../store/store.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';

/** What a catalogue says last of a file. */
export interface Listed {
  /** The name of the file in the catalogue's folder. */
  readonly file: string;
  /** The log that was written to it. */
  readonly log: string;
  /** When that was said, UTC. */
  readonly at: string;
  /** How it stood when its writer closed it, and which record of the catalogue says so; absent if that was never said. */
  readonly end?: {
    readonly size: number;
    readonly root: string;
    readonly sealed: boolean;
    readonly seq: number;
  };
  /** The log that was written to this file before this one. */
  readonly before?: Pick<Listed, 'log' | 'at'>;
}

/** The name of a folder's catalogue. */
export const CATALOG = 'hashtape-catalog.jsonl';

/** The catalogue of the folder that a file is in. */
export function catalogPath(file: string): string {
  return inFolder(dirname(file), CATALOG);
}

/** Whether a path is that of a catalogue. */
export function isCatalog(file: string): boolean {
  return basename(file) === CATALOG;
}

/** What a catalogue says. */
export interface Catalog {
  /** Of each file. */
  readonly files: ReadonlyMap<string, Listed>;
  /** The files that were taken off it, and when. */
  readonly removed: ReadonlyMap<string, { readonly last: Listed; readonly at: string }>;
}

/** Some 300,000 runs. What it says of each is kept while it is looked up. */
const MAX_BYTES = 256 * 1024 * 1024;

/** What a catalogue says; null if there is none. Call it only for one that was verified, or say so. */
export async function readCatalog(path: string): Promise<Catalog | null> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  // A pipe would be waited for.
  if (!stat.isFile()) throw new StoreError('failed', `${path}: it is no plain file`);
  if (stat.size > MAX_BYTES)
    throw new StoreError('failed', `${path}: it is over ${MAX_BYTES} bytes`);
  const files = new Map<string, Listed>();
  const removed = new Map<string, { last: Listed; at: string }>();
  for await (const record of readRecords(path)) take(files, removed, record);
  return { files, removed };
}

function take(
  files: Map<string, Listed>,
  removed: Map<string, { last: Listed; at: string }>,
  { kind, payload, seq }: TranscriptRecord,
): void {
  const said = isJsonObject(payload) ? saidIn(payload, seq) : undefined;
  if (said === undefined) return;
  const { file, log, at } = said;
  const last = files.get(file);
  // Another log may have been begun there meanwhile.
  if (kind === 'removed' && last?.log === log) {
    files.delete(file);
    removed.set(file, { last, at });
  }
  if (kind !== 'run') return;
  const before = beforeIn(last ?? removed.get(file)?.last, log);
  // Of another log it is said that it took the place of that one.
  if (removed.get(file)?.last.log !== log) removed.delete(file);
  files.set(file, { file, log, at, ...said.end, ...before });
}

/** A file in the catalogue's own folder: no other says anything of other folders' files. */
function isName(file: JsonValue | undefined): file is string {
  return typeof file === 'string' && !/[/\\\0]/.test(file) && !['', '.', '..'].includes(file);
}

/** What a record says of a file; undefined if it isn't what one says. */
function saidIn(
  payload: JsonObject,
  seq: number,
): { file: string; log: string; at: string; end: Pick<Listed, 'end'> } | undefined {
  const { file, log, at } = payload;
  if (!isName(file) || typeof log !== 'string' || typeof at !== 'string') return undefined;
  return { file, log, at, end: endIn(payload, seq) };
}

function beforeIn(last: Listed | undefined, log: string): Pick<Listed, 'before'> {
  if (last === undefined) return {};
  if (last.log !== log) return { before: { log: last.log, at: last.at } };
  return last.before === undefined ? {} : { before: last.before };
}

function endIn({ end }: JsonObject, seq: number): Pick<Listed, 'end'> {
  const { size, root, sealed } = isJsonObject(end) ? end : {};
  if (typeof size !== 'number' || typeof root !== 'string') return {};
  return { end: { size, root, sealed: sealed === true, seq } };
}
