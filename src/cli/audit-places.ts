/**
 * Which audit log lies where: its format has no room for an id, so its first entry tells it from others.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { headAt, headsOf, type HeadMemory, type KnownHead } from '../attest/head-memory.ts';
import { seenAt } from '../attest/bearing.ts';
import { forgetting } from '../attest/compare.ts';
import { auditId } from '../attest/log-identity.ts';
import { seenWords } from '../attest/notices.ts';
import { type Holds } from '../attest/whole.ts';
import { parseEntry } from '../computer/audit-entry.ts';
import { lines } from '../store/read.ts';
import { messageOf } from '../store/store-errors.ts';

/** A fault that memory shows in an audit log whose chain holds. */
export interface AuditEvidenceFault {
  /** The first entry that it may concern, from 1. */
  readonly entry: number;
  readonly reason: 'rolled_back' | 'diverged' | 'not_covered';
  readonly detail: string;
  /** What to do if it was done on purpose, as the end of a sentence. */
  readonly undo?: string;
}

/** That other logs were at a place, and whether that is a fault. */
export interface Replaced {
  readonly notices: readonly string[];
  readonly fault?: AuditEvidenceFault;
}

/**
 * Other audit logs that were seen at this place last. A whole new chain looks like a log that was begun anew, so it is a fault,
 * unless the other one is still there, whole, under another name: which is remembered then, as it excuses this one. That
 * this one was seen elsewhere before excuses it only where logs are rotated by number, as the last one is given up then.
 *
 * @param places all paths of the file.
 */
export async function replacedAt(
  places: readonly string[],
  log: string,
  memory: HeadMemory,
): Promise<Replaced> {
  const seen = headsOf(seenAt(memory, places)).filter((head) => head.kind === 'audit');
  const others = new Map(seen.toReversed().map((head) => [`${head.log} ${head.path}`, head]));
  const notices: string[] = [];
  for (const other of others.values()) {
    if (other.log === log) continue;
    const { size, time } = other;
    const was = `another log of ${size} entries was read here at ${time}`;
    const place = await placeNow(other, places, memory);
    if (place !== undefined) {
      const problem = await rememberAt(place, other, memory);
      notices.push(`${was}; it is in ${place} now${problem}`);
    } else if (await wasRotated(other.path, log, memory)) notices.push(was);
    else {
      const detail = `${was}, and every entry is another now`;
      const fault = { entry: 1, reason: 'diverged', detail, undo: forgetting(other.path) } as const;
      return { notices, fault };
    }
  }
  return { notices: notices.length > 0 ? notices : beforeWords(places, log, memory) };
}

/** Where all of a log lies now that was at a place. */
async function placeNow(
  other: KnownHead,
  places: readonly string[],
  memory: HeadMemory,
): Promise<string | undefined> {
  const elsewhere = headsOf(memory.recall(other.log)).map((head) => head.path);
  for (const place of [...(await besides(other.path)), ...elsewhere]) {
    if (!places.includes(place) && (await holdsEntries(place, other))) return place;
  }
  return undefined;
}

/**
 * Whether a log came to a place by rotation: from the name with the number before, as from `a.1.jsonl` to `a.2.jsonl`, or
 * from that without a number to the first. It isn't there any more then, and a log was seen by the name without one.
 */
async function wasRotated(place: string, log: string, memory: HeadMemory): Promise<boolean> {
  const [, start = '', digits, end = ''] = ROTATED.exec(place) ?? [];
  if (digits === undefined) return false;
  const [live, number] = [start + end, Number(digits)];
  if (!memory.everAt(live).some(({ kind }) => kind === 'audit')) return false;
  const before = new Set([...(number <= 1 ? [live] : []), `${start}.${number - 1}${end}`]);
  for (const { path } of headsOf(memory.recall(log))) {
    if (before.has(path) && (await auditIn(path)) !== log) return true;
  }
  return false;
}

/** The path of a log that was rotated: `a.1.jsonl`, `a.jsonl.1`. A date has more digits, or zeros before them. */
const ROTATED = /^(.*)\.(0|[1-9]\d{0,2})((?:\.[^./]*)?)$/s;

/** Remembers where a log is now; tells why it can't. What was asked about is another log: that has its verdict all the same. */
async function rememberAt(place: string, log: KnownHead, memory: HeadMemory): Promise<string> {
  const known = headAt(headsOf(memory.recall(log.log)), place);
  try {
    await memory.remember({ ...log, path: place, by: 'verifier' }, known);
    return '';
  } catch (error) {
    return `, which is not remembered: ${messageOf(error)}`;
  }
}

/** Logs whose place was taken by `hashtape episode` itself, or that were told of before. */
function beforeWords(
  places: readonly string[],
  log: string,
  memory: HeadMemory,
): readonly string[] {
  const others = places.flatMap((place) => memory.everAt(place));
  return seenWords(others.filter((head) => head.kind === 'audit' && head.log !== log));
}

/** So many files beside a log are looked at. */
const MOST_BESIDES = 1000;

/** The files in the same folder: a log that was rotated is most often there. */
async function besides(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(dirname(path), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).slice(0, MOST_BESIDES);
    return files.map(({ name }) => join(dirname(path), name));
  } catch {
    return []; // then it isn't found there
  }
}

/** So much of a file is read for its first entry. */
const FIRST_BYTES = 1024 * 1024;

/** The id of the audit log in a file; null if there is none. */
export async function auditIn(path: string): Promise<string | null> {
  try {
    for await (const line of lines(createReadStream(path, { end: FIRST_BYTES - 1 }))) {
      if (line !== null) return auditId(parseEntry(Buffer.from(line).toString()).digest);
    }
  } catch {
    // It is another file, or can't be read.
  }
  return null;
}

/** Whether the audit log in a file stood so once. */
export const holdsEntries: Holds = async (file, { log, size, root }) => {
  try {
    return (await auditIn(file)) === log && (await digestOf(file, size)) === root;
  } catch {
    return false; // it is damaged there, or gone meanwhile
  }
};

/** The digest in the entry with this number, from 1. */
export async function digestOf(path: string, number: number): Promise<string | undefined> {
  let at = 0;
  for await (const line of lines(createReadStream(path))) {
    at += 1;
    if (at === number && line !== null) return parseEntry(Buffer.from(line).toString()).digest;
  }
  return undefined;
}
