/**
 * Logs that are known to have been somewhere: by the catalogue of a folder, and by what this user remembers.
 *
 * @module
 */
import { basename, dirname, join, sep } from 'node:path';
import { inFolder, realPath } from '../store/place.ts';
import { catalogPath, isCatalog, readCatalog, type Listed } from './catalog.ts';
import { type EvidenceFault } from './compare.ts';
import { headsOf, seenAs, sizeWords, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf } from './log-identity.ts';
import { isFileItself, isThere, placeOf, placesOf } from './place-of.ts';

/** A log that is gone. */
export interface Gone {
  /** Where it was. */
  readonly file: string;
  readonly fault: EvidenceFault;
}

/** The log that was at a path where no file is any more; null if it is known to be elsewhere now. */
export async function goneAt(file: string, memory: HeadMemory | undefined): Promise<Gone | null> {
  const path = placeOf(file);
  if (isThere(path)) return null;
  const catalog = await readCatalog(catalogPath(path)).catch(() => null);
  const listed = catalog?.files.get(basename(path));
  if (listed !== undefined) return { file, fault: unlisted(listed) };
  const [known] = placesOf(file).flatMap((place) => headsOf(memory?.at(place)));
  if (known === undefined || isElsewhere(known.log, memory)) return null;
  return { file, fault: forgotten(known) };
}

/**
 * The files that are known to be in folders, are there, and aren't among those that were found in them: below a link, or
 * with another ending.
 *
 * @param files what was found in the folders, at any depth.
 */
export async function unreachedIn(
  folders: readonly string[],
  files: readonly string[],
  memory: HeadMemory | undefined,
): Promise<readonly string[]> {
  const found = new Set(files.map(realOf));
  const unreached = new Map<string, string>();
  const listed = (await listedIn(files)).map(({ file }) => file);
  const known = knownBelow(folders, memory).map(({ file }) => file);
  for (const file of [...listed, ...known]) {
    const real = realOf(file);
    if (isThere(file) && !found.has(real)) unreached.set(real, file);
  }
  return [...unreached.values()];
}

/**
 * The logs that are missing from folders, each once, also where one folder is in another.
 *
 * @param files the transcripts that are there, at any depth.
 * @param origins what checkpoints call the logs in them, and their sizes: one that has another name now isn't missing.
 */
export async function goneFrom(
  folders: readonly string[],
  {
    files,
    origins,
  }: { readonly files: readonly string[]; readonly origins: ReadonlyMap<string, number> },
  memory: HeadMemory | undefined,
): Promise<readonly Gone[]> {
  const gone = new Map<string, Gone>();
  for (const { file, listed } of await listedIn(files)) {
    // A file that is there is judged itself: it may be damaged, or another log by now.
    if (isFileItself(file) || origins.has(originOf(listed.log))) continue;
    gone.set(listed.log, { file, fault: unlisted(listed) });
  }
  for (const { file, head } of knownBelow(folders, memory)) {
    const { log, path } = head;
    if (isFileItself(path) || gone.has(log) || isSeen(head, origins)) continue;
    if (!isElsewhere(log, memory)) gone.set(log, { file, fault: forgotten(head) });
  }
  return [...gone.values()];
}

/** Whether a log is among those that were found. A transcript that is smaller there is a fault itself; of an audit log that isn't known. */
function isSeen({ log, kind, size }: KnownHead, origins: ReadonlyMap<string, number>): boolean {
  const found = origins.get(originOf(log));
  return found !== undefined && (kind === 'transcript' || found >= size);
}

/** What is remembered of files below folders, and what to call them. */
function knownBelow(
  folders: readonly string[],
  memory: HeadMemory | undefined,
): { file: string; head: KnownHead }[] {
  const roots = folders.flatMap((folder) =>
    placesOf(folder).map((place) => ({ folder, real: join(place, sep) })),
  );
  return (memory?.list() ?? []).flatMap((head) => {
    const root = roots.find(({ real }) => head.path.startsWith(real));
    // One whose place another log took on purpose isn't looked for there.
    if (root === undefined || memory?.isLast(head) !== true) return [];
    return [{ file: inFolder(root.folder, head.path.slice(root.real.length)), head }];
  });
}

/** Whether a log is still where it was seen once, and no other since: then it was moved, or copied, and is to be looked for there. */
function isElsewhere(log: string, memory: HeadMemory | undefined): boolean {
  return headsOf(memory?.recall(log)).some(
    (head) => isFileItself(head.path) && memory?.isLast(head) === true,
  );
}

/** What the catalogues among the files list, and where it was. */
async function listedIn(files: readonly string[]): Promise<{ file: string; listed: Listed }[]> {
  const all: { file: string; listed: Listed }[] = [];
  for (const catalog of files.filter(isCatalog)) {
    const listing = await readCatalog(catalog).catch(() => null);
    for (const listed of listing?.files.values() ?? []) {
      all.push({ file: inFolder(dirname(catalog), listed.file), listed });
    }
  }
  return all;
}

function unlisted({ at, end }: Listed): EvidenceFault {
  const records = end === undefined ? '' : `, and it was closed with ${end.size} records`;
  const detail = `the catalogue of its folder says at ${at} that a log was written here${records}`;
  return { seq: 0, reason: 'missing', detail };
}

function forgotten({ time, by, ...head }: KnownHead): EvidenceFault {
  return {
    seq: 0,
    reason: 'missing',
    detail: `by this machine's memory of heads, a log of ${sizeWords(head)} was ${seenAs(by)} here at ${time}`,
  };
}

/** The real path of a file or folder, or where it was. */
function realOf(path: string): string {
  try {
    return realPath(path);
  } catch {
    return placeOf(path);
  }
}
