/**
 * Logs that were there and are gone: by the catalogue of a folder, and by what this user remembers.
 *
 * @module
 */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { codeOf } from '../store/store-errors.ts';
import { catalogPath, isCatalog, readCatalog, type Listed } from './catalog.ts';
import { type EvidenceFault } from './compare.ts';
import { knownOf, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf } from './log-identity.ts';
import { placeOf } from './place-of.ts';

/** A log that is gone. */
export interface Gone {
  /** Where it was. */
  readonly file: string;
  readonly fault: EvidenceFault;
}

/** The log that was at a path where no file is any more. */
export async function goneAt(file: string, memory: HeadMemory | undefined): Promise<Gone | null> {
  const path = placeOf(file);
  if (isThere(path)) return null;
  const catalog = await readCatalog(catalogPath(path)).catch(() => null);
  const listed = catalog?.get(basename(path));
  if (listed !== undefined) return { file, fault: unlisted(listed) };
  const known = knownOf(memory?.at(path));
  return known === null ? null : { file, fault: forgotten(known) };
}

/**
 * The logs that are missing from a folder.
 *
 * @param files the transcripts that are there, at any depth.
 * @param origins what checkpoints call the logs in them: one that has another name now isn't missing.
 */
export async function goneFrom(
  folder: string,
  { files, origins }: { readonly files: readonly string[]; readonly origins: ReadonlySet<string> },
  memory: HeadMemory | undefined,
): Promise<readonly Gone[]> {
  const gone = new Map<string, Gone>();
  for (const { file, listed } of await listedIn(files)) {
    // A file that is there is judged itself: it may be damaged, or another log by now.
    if (isThere(file) || origins.has(originOf(listed.log))) continue;
    gone.set(listed.log, { file, fault: unlisted(listed) });
  }
  const root = realOf(folder);
  for (const known of memory?.list() ?? []) {
    const { log, path } = known;
    if (!path.startsWith(root + sep) || isThere(path)) continue;
    if (gone.has(log) || origins.has(originOf(log))) continue;
    gone.set(log, { file: join(folder, path.slice(root.length + 1)), fault: forgotten(known) });
  }
  return [...gone.values()];
}

/** What the catalogues among the files list, and where it was. */
async function listedIn(files: readonly string[]): Promise<{ file: string; listed: Listed }[]> {
  const all: { file: string; listed: Listed }[] = [];
  for (const catalog of files.filter(isCatalog)) {
    const listing = await readCatalog(catalog).catch(() => null);
    for (const listed of listing?.values() ?? []) {
      all.push({ file: join(dirname(catalog), listed.file), listed });
    }
  }
  return all;
}

function unlisted({ at, end }: Listed): EvidenceFault {
  const records = end === undefined ? '' : `, and it was closed with ${end.size} records`;
  const detail = `the catalogue of its folder says at ${at} that a log was written here${records}`;
  return { seq: 0, reason: 'missing', detail };
}

function forgotten({ size, time, by }: KnownHead): EvidenceFault {
  const who = by === 'writer' ? 'written' : 'verified';
  return {
    seq: 0,
    reason: 'missing',
    detail: `by this machine's memory of heads, a log of ${size} records was ${who} here at ${time}`,
  };
}

/** The real path of a folder, or where it was. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return placeOf(folder);
  }
}

/** Whether a file is there, or may be: where that can't be seen, nothing is called missing. */
function isThere(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    return !['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '');
  }
}
