/**
 * The verdict on an audit log: as data, and in words.
 *
 * @module
 */
import { EMPTY_AUDIT, type AuditHead } from './audit-entry.ts';
import { type AuditFault, type AuditReason } from './audit-judge.ts';

/** What verification found: the log holds, or its first fault. It is plain data. */
export interface AuditVerdict {
  /** Tells it from a transcript's verdict. */
  readonly log: 'audit';
  readonly ok: boolean;
  /** How many entries hold, from the first. */
  readonly count: number;
  /** How many of them are steps, steps that failed, and ends of episodes. */
  readonly steps: number;
  readonly failed: number;
  readonly episodes: number;
  /** The digest of the last entry that holds; empty if none does. */
  readonly head: string;
  /** Whether the last entry that holds ends an episode. A log that is open is no fault. */
  readonly closed: boolean;
  /** `4 entries, chain intact`, or what the fault is. */
  readonly detail: string;
  /** What an intact log doesn't show. */
  readonly unseen?: string;
  readonly fault?: AuditFault;
}

/** The verdict on a log whose bytes could not be had. */
export function unreadableAudit(detail: string): AuditVerdict {
  return verdictOf(EMPTY_AUDIT, { entry: 1, reason: 'unreadable', detail });
}

/**
 * One line in the words of tiny_computer_agent: `audit: 3 entries (2 steps, 1 failed, 1 ok) | chain intact: 3 entries,
 * chain intact`. Of a broken log it counts the entries before the fault.
 */
export function renderAudit({ ok, count, steps, failed, detail }: AuditVerdict): string {
  const tally = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(steps > failed ? [`${steps - failed} ok`] : []),
  ];
  const words = steps === 0 ? 'no steps' : tally.join(', ');
  return `audit: ${count} entries (${steps} steps, ${words}) | chain ${ok ? 'intact' : 'BROKEN'}: ${detail}`;
}

const UNSEEN =
  'entries removed from the end, and a log that was written anew as a whole, look intact; a count and a head kept elsewhere show them';
const UNSEEN_OPEN = `the last entry is a step, so its episode is under way, crashed, or its end was removed; ${UNSEEN}`;

/** The verdict on what stands, and the first fault after it. */
export function verdictOf(head: AuditHead, fault: AuditFault | undefined): AuditVerdict {
  const { digest, ...counts } = head;
  const standing = { log: 'audit', ok: fault === undefined, ...counts, head: digest } as const;
  if (fault !== undefined) return { ...standing, detail: sentence(fault), fault };
  const detail = `${head.count} entries, chain intact`;
  return { ...standing, detail, unseen: head.closed ? UNSEEN : UNSEEN_OPEN };
}

/** Faults whose detail says all by itself: it names the entry, or is about the whole log. */
const WHOLE: ReadonlySet<AuditReason> = new Set([
  'index_gap',
  'prev_mismatch',
  'digest_mismatch',
  'empty',
  'unreadable',
  'count_mismatch',
  'head_mismatch',
]);

function sentence({ entry, reason, detail }: AuditFault): string {
  return WHOLE.has(reason) ? detail : `entry ${entry}: ${reason}: ${detail}`;
}
