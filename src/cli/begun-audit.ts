/**
 * An audit log that an episode is to go on with: whether it is what this user remembers of it.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { HeadMemory } from '../attest/head-memory.ts';
import { placesIn } from '../attest/places.ts';
import { createAuditVerifier } from '../computer/audit-verify.ts';
import { examineAudit, type ExaminedAudit } from './audit-evidence.ts';
import { type AuditEvidenceFault } from './audit-places.ts';
import { CommandError, type Io } from './io.ts';
import { judge, plainly } from './verdict.ts';
import { datesInWords, oneLine } from './words.ts';

/**
 * Sees that a log which was cut, or exchanged, isn't made longer than it was: later it would be told from the other no more.
 *
 * @throws {CommandError} if this machine's memory says that it is not what it was.
 */
export async function requireRemembered(file: string, { env, err }: Io): Promise<void> {
  if (!existsSync(file)) return;
  const examined = await rememberAudit(file, new HeadMemory(placesIn(env).state));
  if (examined === undefined) return;
  const fault = faultOf(examined);
  if (fault !== undefined) {
    const undo = fault.undo === undefined ? '' : `, or, if that was done on purpose, ${fault.undo}`;
    throw new CommandError(
      `${oneLine(file)}: this audit log isn't gone on with: ${faultWords(fault)}; name another with --audit${undo}`,
    );
  }
  if (!examined.remembered) for (const notice of examined.notices) err.line(oneLine(notice));
}

/**
 * Compares an audit log with what is remembered, and remembers it as its writer; what it finds is the log's own verdict where its
 * chain is broken, and undefined where it can't be read.
 */
export async function rememberAudit(
  file: string,
  memory: HeadMemory | undefined,
): Promise<ExaminedAudit | undefined> {
  const { verdict } = await judge(file, () => plainly(createAuditVerifier()));
  if (verdict === undefined || !('log' in verdict)) return undefined;
  const { fault } = verdict;
  // Whoever opens it says what is wrong with another kind of file.
  const isLog = fault === undefined || fault.reason === 'torn_tail' || fault.reason === 'empty';
  if (!isLog) return { ...verdict, coverage: [], remembered: false, notices: [] };
  return examineAudit(file, verdict, { keys: [], memory }, { by: 'writer' });
}

/** What memory has against a log. */
export function faultOf({ fault }: ExaminedAudit): AuditEvidenceFault | undefined {
  return fault !== undefined && isEvidence(fault) ? fault : undefined;
}

/** `rolled_back: by this machine's memory …`. */
export function faultWords({ reason, detail }: AuditEvidenceFault): string {
  return `${reason}: ${datesInWords(oneLine(detail))}`;
}

function isEvidence(fault: NonNullable<ExaminedAudit['fault']>): fault is AuditEvidenceFault {
  return fault.reason === 'rolled_back' || fault.reason === 'diverged';
}
