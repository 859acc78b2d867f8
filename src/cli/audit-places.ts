/**
 * Which audit log lies where: its format has no room for an id, so its first entry tells it from others.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { headsOf, type HeadMemory } from '../attest/head-memory.ts';
import { auditId } from '../attest/log-identity.ts';
import { parseEntry } from '../computer/audit-entry.ts';
import { lines } from '../store/read.ts';

/** A fault that memory shows in an audit log whose chain holds. */
export interface AuditEvidenceFault {
  /** The first entry that it may concern, from 1. */
  readonly entry: number;
  readonly reason: 'rolled_back' | 'diverged' | 'not_covered';
  readonly detail: string;
}

/** That another log was at a place, and whether that is a fault. */
export interface Replaced {
  readonly notice: string;
  readonly fault: AuditEvidenceFault | undefined;
}

/**
 * Another audit log that was seen at this place. A whole new chain looks like a log that was begun anew, so it is a fault,
 * unless the other one is still there, whole, under another name.
 */
export async function replacedAt(
  path: string,
  log: string,
  memory: HeadMemory,
): Promise<Replaced | null> {
  const other = headsOf(memory.at(path)).find((head) => head.kind === 'audit');
  if (other === undefined || other.log === log) return null;
  const { size, root, time } = other;
  const was = `another log of ${size} entries was read here at ${time}`;
  const places = headsOf(memory.recall(other.log)).map((head) => head.path);
  for (const place of [...(await besides(path)), ...places]) {
    if (place === path || (await auditIn(place)) !== other.log) continue;
    if ((await digestOf(place, size)) === root) {
      return { notice: `${was}; it is in ${place} now`, fault: undefined };
    }
  }
  const detail = `${was}, and every entry is another now`;
  return { notice: was, fault: { entry: 1, reason: 'diverged', detail } };
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
