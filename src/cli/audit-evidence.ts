/**
 * What this user remembers of an audit log. Its format is fixed and has no room for an id, so it is known by its place.
 *
 * @module
 */
import { createReadStream, statSync } from 'node:fs';
import { type EvidenceFault } from '../attest/compare.ts';
import { rememberedAs, type Covered, type Level } from '../attest/coverage.ts';
import { type Knowledge } from '../attest/examine.ts';
import { type HeadMemory, type KnownHead } from '../attest/head-memory.ts';
import { auditId } from '../attest/log-identity.ts';
import { parseEntry } from '../computer/audit-entry.ts';
import { type AuditVerdict } from '../computer/audit-verdict.ts';
import { realPath } from '../store/place.ts';
import { lines } from '../store/read.ts';
import { problemOf } from './words.ts';

/** A fault that memory shows in an audit log whose chain holds. */
export interface AuditEvidenceFault {
  /** The first entry that it may concern, from 1. */
  readonly entry: number;
  readonly reason: 'rolled_back' | 'diverged' | 'not_covered';
  readonly detail: string;
}

/** A verdict with what is remembered in it. */
export interface ExaminedAudit extends Omit<AuditVerdict, 'fault'> {
  readonly fault?: AuditVerdict['fault'] | AuditEvidenceFault;
  readonly coverage: readonly Covered[];
  readonly remembered: boolean;
  readonly notices: readonly string[];
}

/**
 * Compares an audit log with what was remembered of this place, and remembers it.
 *
 * @param displaced what says that a transcript was here.
 */
export async function examineAudit(
  file: string,
  verdict: AuditVerdict,
  { memory, required = [] }: Knowledge,
  displaced?: EvidenceFault,
): Promise<ExaminedAudit> {
  if (displaced !== undefined) {
    return faulty(verdict, { entry: 1, reason: 'diverged', detail: displaced.detail });
  }
  const path = regularPath(file);
  if (memory === undefined || path === undefined || !holdsToItsEnd(verdict)) {
    return bare(verdict, []);
  }
  const log = auditId(path);
  const recalled = memory.recall(log);
  if (recalled !== null && 'problem' in recalled) return bare(verdict, [recalled.problem]);
  const fault =
    (recalled === null ? undefined : await compared(path, verdict, recalled)) ??
    required.map((level) => uncovered(verdict, recalled, level)).find((one) => one !== undefined);
  if (fault !== undefined) return faulty(verdict, fault);
  const notices = await remember(memory, recalled, { log, path, verdict });
  const examined = { ...bare(verdict, notices), remembered: notices.length === 0 };
  if (recalled === null) return examined;
  return { ...examined, coverage: [rememberedAs(recalled)] };
}

/** A chain that is broken before its end says so itself. */
function holdsToItsEnd({ ok, fault, count }: AuditVerdict): boolean {
  return ok || fault?.reason === 'torn_tail' || count === 0;
}

/** What is required and isn't there; a fault of the chain comes first. */
function uncovered(
  { ok, count }: AuditVerdict,
  known: KnownHead | null,
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
  { size, root, time }: KnownHead,
): Promise<AuditEvidenceFault | undefined> {
  const was = `by this machine's memory of heads it had ${size} entries when it was read here at ${time}`;
  if (size > count) {
    const isTorn = fault?.reason === 'torn_tail' && size === count + 1;
    const torn = isTorn ? ': its last line is cut or has no newline, and was whole before' : '';
    const detail = `${was}, and it has ${count}${torn}`;
    return { entry: count + 1, reason: 'rolled_back', detail };
  }
  // The chain holds, so one digest stands for all entries before it.
  const digest = size === count ? head : await digestOf(path, size);
  if (digest === root) return undefined;
  const detail = `${was}, and its first ${size} are others now`;
  return { entry: 1, reason: 'diverged', detail };
}

/** The digest in the entry with this number, from 1. */
async function digestOf(path: string, number: number): Promise<string | undefined> {
  let at = 0;
  for await (const line of lines(createReadStream(path))) {
    at += 1;
    if (at === number && line !== null) return parseEntry(Buffer.from(line).toString()).digest;
  }
  return undefined;
}

async function remember(
  memory: HeadMemory,
  known: KnownHead | null,
  { log, path, verdict }: { log: string; path: string; verdict: AuditVerdict },
): Promise<readonly string[]> {
  const { count, head, closed } = verdict;
  if (count === 0) return [];
  try {
    const seen = { log, size: count, root: head, sealed: closed, path, by: 'verifier' as const };
    await memory.remember(seen, known);
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
