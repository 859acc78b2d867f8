/**
 * Audit logs in plain words: their verdicts, and their entries one a line.
 *
 * @module
 */
import { type AuditEntry } from '../computer/audit-entry.ts';
import { type AuditReason } from '../computer/audit-judge.ts';
import { type AuditVerdict } from '../computer/audit-verdict.ts';
import { type EvidenceReason } from '../attest/compare.ts';
import { type AuditEvidenceFault } from './audit-places.ts';
import { EVIDENCE_MEANINGS } from './evidence-words.ts';
import { type Style } from './io.ts';
import { count, cut, datesInWords, momentWords, number, oneLine } from './words.ts';

/** `audit log, 4 entries (3 steps, 1 failed; 1 episode), closed`, and below it all digits of the head. */
export function auditStanding(verdict: Omit<AuditVerdict, 'fault'>, style: Style): string {
  const { count: entries, steps, failed, episodes, closed, head } = verdict;
  const failures = failed === 0 ? '' : `, ${number(failed)} failed`;
  const parts = `${count(steps, 'step')}${failures}; ${count(episodes, 'episode')}`;
  const state = closed ? 'closed' : 'open: its last entry ends no episode';
  const words = `audit log, ${entryCount(entries)} (${parts}), ${state}`;
  return `${words}\n${style('quiet', `       head ${head}`)}`;
}

/** A verdict with any fault, the evidence's too. */
type AnyAudit = Pick<AuditVerdict, 'count' | 'detail'> & {
  readonly fault?: AuditVerdict['fault'] | AuditEvidenceFault;
};

/** What is wrong, and below it what that means. */
export function auditFault({ count: entries, detail, fault }: AnyAudit): string {
  if (fault === undefined) return '';
  const { reason } = fault;
  const expected = 'expected' in fault ? fault.expected : undefined;
  // Where the two differ, the verdict's has the entry and the reason in it.
  const said = detail === fault.detail ? `${reason}: ${detail}` : detail;
  const wanted =
    reason.endsWith('_mismatch') && AT_THE_END.has(reason) ? ` (expected ${expected})` : '';
  const before =
    entries === 1 ? 'The entry before it holds' : `The ${entryCount(entries)} before it hold`;
  const place =
    AT_THE_END.has(reason) || entries === 0
      ? ''
      : ` ${before}${reason === 'torn_tail' ? '' : '; what comes after it was not looked at'}.`;
  const undo = 'undo' in fault ? ` If that was done on purpose, ${fault.undo}.` : '';
  return `audit log, ${datesInWords(oneLine(said))}${wanted}\n       ${MEANINGS[reason]}${place}${undo}`;
}

/** Unless all is asked for, so much of a text is shown. */
const CUT_AT = 160;

/** How entries are shown: the goal is told where it is another than before. */
export interface EntryView {
  readonly goal: string | undefined;
  readonly full: boolean;
  readonly style: Style;
}

/** An entry on one line. */
export function entryLine(entry: AuditEntry, { goal, full, style }: EntryView): string {
  const { index, kind, at, screen, action, outcome, ok } = entry;
  const short = (text: string): string => oneLine(full ? text : cut(text, CUT_AT));
  const state = style(ok ? 'good' : 'bad', ok ? 'ok    ' : 'FAILED');
  const what =
    kind === 'step'
      ? `${short(action)}: ${short(outcome)}${style('quiet', `  [screen ${screen}]`)}`
      : style('strong', `episode ended, ${short(outcome)}`);
  const aim = entry.goal === goal ? '' : style('quiet', `  (goal: ${short(entry.goal)})`);
  return `#${number(index + 1)}  ${style('quiet', momentWords(at))}  ${state}  ${what}${aim}`;
}

export function entryCount(n: number): string {
  return n === 1 ? '1 entry' : `${number(n)} entries`;
}

/** Faults of a log whose entries all hold. */
const AT_THE_END: ReadonlySet<AuditReason | EvidenceReason> = new Set<AuditReason | EvidenceReason>(
  [
    'rolled_back',
    'diverged',
    'not_covered',
    'empty',
    'unreadable',
    'count_mismatch',
    'head_mismatch',
  ],
);

const DAMAGED =
  'This line is not an entry as an audit log has them: the file was damaged or edited.';

const MEANINGS: Readonly<Record<AuditReason | EvidenceReason, string>> = {
  ...EVIDENCE_MEANINGS,
  unreadable: "The file can't be read, so nothing is said about it.",
  empty: 'There is no entry in it.',
  torn_tail:
    'The last line is unfinished, as a crash during a write leaves it, or the writer is at work on it just now. By itself that is no sign of an edit.',
  bad_utf8: DAMAGED,
  bad_json: DAMAGED,
  not_an_object: DAMAGED,
  missing_fields: DAMAGED,
  extra_fields:
    'Something was added to this entry outside of what its digest covers; nothing vouches for the addition.',
  malformed_entry: DAMAGED,
  index_gap: 'Entries were removed, repeated or put in another order here.',
  prev_mismatch: 'One of the two entries was changed and digested anew, or entries were exchanged.',
  digest_mismatch: "This entry's content, or the digest in it, was changed after it was written.",
  not_canonical:
    'The content may be the same, but the bytes are not those that were written: another program saved the file again.',
  count_mismatch:
    'The log holds by itself, but is shorter or longer than the one that you expected.',
  head_mismatch: 'The log holds by itself, but is not the one that you expected.',
};
