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

/** That another log was at a place, and whether that is a fault. */
export interface Replaced {
  readonly notice: string;
  readonly fault: AuditEvidenceFault | undefined;
}

/**
 * Another audit log that was seen at this place. A whole new chain looks like a log that was begun anew, so it is a fault,
 * unless this one was moved here from where it was seen before, or the other one is still there, whole, under
 * another name: which is remembered then, as it excuses this one.
 *
 * @param places all paths of the file.
 */
export async function replacedAt(
  places: readonly string[],
  log: string,
  memory: HeadMemory,
): Promise<Replaced | null> {
  const other = headsOf(seenAt(memory, places)).find((head) => head.kind === 'audit');
  if (other === undefined || other.log === log) return replacedBefore(places, log, memory);
  const { size, root, time } = other;
  const was = `another log of ${size} entries was read here at ${time}`;
  const isMoved = headsOf(memory.recall(log)).some((head) => !places.includes(head.path));
  if (isMoved) return { notice: was, fault: undefined };
  const known = headsOf(memory.recall(other.log));
  const elsewhere = known.map((head) => head.path);
  for (const place of [...(await besides(other.path)), ...elsewhere]) {
    if (places.includes(place) || (await auditIn(place)) !== other.log) continue;
    if ((await digestOf(place, size)) === root) {
      const problem = await rememberAt(place, other, memory);
      return { notice: `${was}; it is in ${place} now${problem}`, fault: undefined };
    }
  }
  const detail = `${was}, and every entry is another now`;
  return {
    notice: was,
    fault: { entry: 1, reason: 'diverged', detail, undo: forgetting(other.path) },
  };
}

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
function replacedBefore(
  places: readonly string[],
  log: string,
  memory: HeadMemory,
): Replaced | null {
  const others = places
    .flatMap((place) => memory.everAt(place))
    .filter((head) => head.kind === 'audit' && head.log !== log);
  const [notice] = seenWords(others);
  return notice === undefined ? null : { notice, fault: undefined };
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

/** The digest in the entry with this number, from 1. */
export async function digestOf(path: string, number: number): Promise<string | undefined> {
  let at = 0;
  for await (const line of lines(createReadStream(path))) {
    at += 1;
    if (at === number && line !== null) return parseEntry(Buffer.from(line).toString()).digest;
  }
  return undefined;
}
