/**
 * Logs that are known to have been somewhere: by the catalogue of a folder, and by what this user remembers.
 *
 * @module
 */
import { basename, dirname, join, sep } from 'node:path';
import { inFolder } from '../store/place.ts';
import { catalogPath, isCatalog, readCatalog, type Listed } from './catalog.ts';
import { type EvidenceFault } from './compare.ts';
import { headsOf, seenAs, sizeWords, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf } from './log-identity.ts';
import { isFileItself, isThere, placeOf, placesOf, realOrPlace } from './place-of.ts';
import { hasAll, holdsRecords, type Holds, type Stood } from './whole.ts';

/** A log that is gone. */
export interface Gone {
  /** Where it was. */
  readonly file: string;
  readonly fault: EvidenceFault;
}

/** The log that was at a path where no file is any more; null if it is known to be elsewhere now. */
export async function goneAt(
  file: string,
  memory: HeadMemory | undefined,
  holds: Holds = holdsRecords,
): Promise<Gone | null> {
  const path = placeOf(file);
  if (isThere(path)) return null;
  const catalog = await readCatalog(catalogPath(path)).catch(() => null);
  const listed = catalog?.files.get(basename(path));
  if (listed !== undefined) return { file, fault: unlisted(listed) };
  for (const known of placesOf(file).flatMap((place) => headsOf(memory?.at(place)))) {
    if (!(await isElsewhere(known, memory, holds))) return { file, fault: forgotten(known) };
  }
  return null;
}

/**
 * The files that are known to be in folders, are there, and aren't among those that were found in them: below a link, or
 * with another ending. Also one that was found under another name, if it isn't the log that is known by this one.
 *
 * @param files what was found in the folders, at any depth.
 * @param logIn tells which log is in a file.
 */
export async function unreachedIn(
  folders: readonly string[],
  files: readonly string[],
  memory: HeadMemory | undefined,
  logIn: (file: string) => Promise<string | null>,
): Promise<readonly string[]> {
  const found = new Set(files.map(realOrPlace));
  const names = new Set(files.flatMap(placesOf));
  const unreached = new Map<string, string>();
  for (const { file } of await listedIn(files)) {
    const real = realOrPlace(file);
    if (isThere(file) && !found.has(real)) unreached.set(real, file);
  }
  for (const { file, head } of knownBelow(folders, memory)) {
    const real = realOrPlace(file);
    if (names.has(head.path) || !isThere(file)) continue;
    if (!found.has(real)) unreached.set(real, file);
    else if ((await logIn(real)) !== head.log) unreached.set(head.path, file);
  }
  return [...unreached.values()];
}

/** A log that was found. */
export interface Found {
  readonly file: string;
  /** How many records it has. */
  readonly size: number;
  /** Their root; of an audit log, the last digest. */
  readonly root: string | undefined;
  /** Whether it is told that it isn't what it was. */
  readonly isFaulty: boolean;
}

/**
 * The logs that are missing from folders, each once, also where one folder is in another.
 *
 * @param files the transcripts that are there, at any depth.
 * @param found what checkpoints call the logs in them, and how they stand: one that has another name now isn't missing, if
 * all of it is there, or what isn't is told.
 */
export async function goneFrom(
  folders: readonly string[],
  {
    files,
    found,
  }: {
    readonly files: readonly string[];
    readonly found: ReadonlyMap<string, readonly Found[]>;
  },
  memory: HeadMemory | undefined,
  holds: Holds = holdsRecords,
): Promise<readonly Gone[]> {
  const gone = new Map<string, Gone>();
  const isFound = (log: string, was?: Stood): Promise<boolean> =>
    isAmong(found.get(originOf(log)) ?? [], was, holds);
  for (const { file, listed } of await listedIn(files)) {
    const { log, end } = listed;
    // A file that is there is judged itself: it may be damaged, or another log by now.
    if (isFileItself(file)) continue;
    if (await isFound(log, end && { log, kind: 'transcript', ...end })) continue;
    gone.set(log, { file, fault: unlisted(listed) });
  }
  for (const { file, head } of knownBelow(folders, memory)) {
    const { log, path } = head;
    if (isFileItself(path) || gone.has(log) || (await isFound(log, head))) continue;
    if (!(await isElsewhere(head, memory, holds))) gone.set(log, { file, fault: forgotten(head) });
  }
  return [...gone.values()];
}

/** Whether a log as it was is among those that were found. A part of it is no excuse for the rest. */
async function isAmong(
  found: readonly Found[],
  was: Stood | undefined,
  holds: Holds,
): Promise<boolean> {
  for (const each of found) {
    if (each.isFaulty || was === undefined) return true;
    if (await hasAll(each.file, each, was, holds)) return true;
  }
  return false;
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

/** Whether a log is still where all of it was seen once, and no other since: then it was moved, or copied, and is to be looked for there. */
async function isElsewhere(
  was: KnownHead,
  memory: HeadMemory | undefined,
  holds: Holds,
): Promise<boolean> {
  for (const head of headsOf(memory?.recall(was.log))) {
    if (!isFileItself(head.path) || memory?.isLast(head) !== true) continue;
    // The file itself is read: what it was when it was seen says little of what it is.
    if (head.size >= was.size && (await holds(head.path, was))) return true;
  }
  return false;
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
