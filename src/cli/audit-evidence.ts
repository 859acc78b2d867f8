/**
 * What this user remembers of an audit log. Its format is fixed and has no room for an id, so it is known by its first
 * entry and by its place.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { allPlaces, seenAt } from '../attest/bearing.ts';
import { forgetting, type EvidenceFault } from '../attest/compare.ts';
import { rememberedAs, type Covered, type Level } from '../attest/coverage.ts';
import { type Knowledge } from '../attest/examine.ts';
import { headAt, type HeadMemory, type KnownHead, type SeenHead } from '../attest/head-memory.ts';
import { originOf } from '../attest/log-identity.ts';
import { placesOf } from '../attest/place-of.ts';
import { type AuditVerdict } from '../computer/audit-verdict.ts';
import { realPath } from '../store/place.ts';
import {
  auditIn,
  digestOf,
  replacedAt,
  type AuditEvidenceFault,
  type Replaced,
} from './audit-places.ts';
import { problemOf } from './words.ts';

/** A verdict with what is remembered in it. */
export interface ExaminedAudit extends Omit<AuditVerdict, 'fault'> {
  readonly fault?: AuditVerdict['fault'] | AuditEvidenceFault;
  /** What tells it from other audit logs: it is made of its first entry's digest. */
  readonly origin?: string;
  readonly coverage: readonly Covered[];
  readonly remembered: boolean;
  readonly notices: readonly string[];
}

/** Who looks at an audit log, and what is known of its place. */
export interface Look {
  /** What says that a transcript was here. */
  readonly displaced?: EvidenceFault | undefined;
  /** Whether the log's own writer looks at it; `verifier` unless told otherwise. */
  readonly by?: SeenHead['by'];
}

/** Compares an audit log with what was remembered of it and of this place, and remembers it. */
export async function examineAudit(
  file: string,
  verdict: AuditVerdict,
  { memory, required = [] }: Knowledge,
  { displaced, by = 'verifier' }: Look = {},
): Promise<ExaminedAudit> {
  if (displaced !== undefined) {
    return faulty(verdict, { entry: 1, reason: 'diverged', detail: displaced.detail });
  }
  const path = regularPath(file);
  if (memory === undefined || path === undefined || !holdsToItsEnd(verdict)) {
    return bare(verdict, []);
  }
  const log = await auditIn(path);
  const names = placesOf(file);
  const recalled = log === null ? seenAt(memory, names) : memory.recall(log);
  if ('problem' in recalled) return bare(verdict, [recalled.problem]);
  const places = allPlaces(names, recalled);
  // Two episodes that begin in the same second may begin alike: of other places it says nothing.
  const known = recalled.filter((head) => places.includes(head.path));
  const here = { path, log, memory, by, known };
  const replaced = log === null ? NOTHING : await replacedAt(names, log, memory);
  const fault = await faultIn(verdict, here, { replaced, required });
  if (fault === undefined) return remembered(verdict, here, replaced.notices);
  return { ...faulty(verdict, fault), ...originIn(log) };
}

/** An audit log, and what is known of it where it is. */
interface Here {
  readonly path: string;
  /** Null if it has no entry. */
  readonly log: string | null;
  readonly memory: HeadMemory;
  /** At all paths of the file, the largest first. */
  readonly known: readonly KnownHead[];
  /** Who looks at it. */
  readonly by: SeenHead['by'];
}

async function faultIn(
  verdict: AuditVerdict,
  { path, known }: Here,
  { replaced, required }: { replaced: Replaced; required: readonly Level[] },
): Promise<AuditEvidenceFault | undefined> {
  const faults: AuditEvidenceFault[] = [];
  for (const head of known) faults.push(...(await compared(path, verdict, head)));
  const [fault] = faults;
  if (fault !== undefined) {
    // Of all that fail, or the next one would say it after the first was undone.
    const undo = [...new Set(faults.flatMap((each) => each.undo ?? []))].join(', and ');
    return { ...fault, undo };
  }
  const lacking = required.map((level) => uncovered(verdict, known[0], level));
  return replaced.fault ?? lacking.find((one) => one !== undefined);
}

/** A verdict on a log that is remembered as it is now. */
async function remembered(
  verdict: AuditVerdict,
  { path, log, memory, known, by }: Here,
  notices: readonly string[],
): Promise<ExaminedAudit> {
  if (log === null) return bare(verdict, notices);
  const problems = await remember(memory, headAt(known, path), { log, path, by, verdict });
  const examined = {
    ...bare(verdict, [...notices, ...problems]),
    ...originIn(log),
    remembered: problems.length === 0,
  };
  const [largest] = known;
  if (largest === undefined) return examined;
  return { ...examined, coverage: [rememberedAs(largest)] };
}

const NOTHING: Replaced = { notices: [] };

function originIn(log: string | null): Pick<ExaminedAudit, 'origin'> {
  return log === null ? {} : { origin: originOf(log) };
}

/** A chain that is broken before its end says so itself. */
function holdsToItsEnd({ ok, fault, count }: AuditVerdict): boolean {
  return ok || fault?.reason === 'torn_tail' || count === 0;
}

/** What is required and isn't there; a fault of the chain comes first. */
function uncovered(
  { ok, count }: AuditVerdict,
  known: KnownHead | undefined,
  required: Level,
): AuditEvidenceFault | undefined {
  if (!ok) return undefined;
  const most = required === 'remembered' ? (known?.size ?? 0) : 0;
  if (most >= count) return undefined;
  const detail = `entry ${most + 1} and what follows it are not ${required}`;
  return { entry: most + 1, reason: 'not_covered', detail };
}

function bare(verdict: AuditVerdict, notices: readonly string[]): ExaminedAudit {
  return { ...verdict, coverage: [], remembered: false, notices };
}

function faulty(verdict: AuditVerdict, fault: AuditEvidenceFault): ExaminedAudit {
  return { ...bare(verdict, []), ok: false, detail: fault.detail, fault };
}

async function compared(
  path: string,
  { count, head, fault }: AuditVerdict,
  { size, root, time, path: place }: KnownHead,
): Promise<readonly AuditEvidenceFault[]> {
  const was = `by this machine's memory of heads it had ${size} entries when it was read here at ${time}`;
  if (size > count) {
    const isTorn = fault?.reason === 'torn_tail' && size === count + 1;
    const torn = isTorn ? ': its last line is cut or has no newline, and was whole before' : '';
    const detail = `${was}, and it has ${count}${torn}`;
    return [{ entry: count + 1, reason: 'rolled_back', detail, undo: forgetting(place) }];
  }
  // The chain holds, so one digest stands for all entries before it.
  const digest = size === count ? head : await digestOf(path, size);
  if (digest === root) return [];
  const detail = `${was}, and its first ${size} are others now`;
  return [{ entry: 1, reason: 'diverged', detail, undo: forgetting(place) }];
}

async function remember(
  memory: HeadMemory,
  known: KnownHead | undefined,
  { log, path, by, verdict }: Pick<Here, 'path' | 'by'> & { log: string; verdict: AuditVerdict },
): Promise<readonly string[]> {
  const { count, head, closed } = verdict;
  try {
    const seen = { log, kind: 'audit', size: count, root: head, sealed: closed, path } as const;
    await memory.remember({ ...seen, by }, known);
    return [];
  } catch (error) {
    return [`not remembered: ${problemOf(error)}`];
  }
}

function regularPath(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? realPath(file) : undefined;
  } catch {
    return undefined; // it is gone meanwhile
  }
}
