/**
 * Verdicts in plain words: what a fault means, and what it doesn't.
 *
 * @module
 */
import { type Fault, type Reason, type Verdict } from '../transcript/index.ts';
import { oneLine } from './harmless.ts';
import { type Style } from './style.ts';
import { count } from './words.ts';

/** Said once when everything holds: what a chain without signatures can't show. */
export const CAVEAT: string =
  'Unsigned: this shows that the records fit together, not who wrote them. It does\n' +
  'not catch someone who rewrote a file to its end with new hashes; comparing the\n' +
  'head with one that was kept elsewhere (--head) does.';

/** Why an audit log isn't graded. */
export const AUDIT_LOG =
  'it is an audit log of tiny_computer_agent, which this version does not grade; nothing is said about it';

/** `ok  file  13 records, sealed, head 9f3c…`, or the fault and below it what it means. */
export function gradedLines(file: string, verdict: Verdict, style: Style): readonly string[] {
  const { fault } = verdict;
  if (fault === undefined) {
    return [`${style('good', 'ok')}     ${oneLine(file)}  ${standing(verdict)}`];
  }
  return [
    `${style('bad', 'FAULT')}  ${oneLine(file)}  ${faultWords(fault)}`,
    `       ${meaning(fault, verdict)}`,
  ];
}

/** The line of a file that couldn't be graded. */
export function ungradedLine(file: string, problem: string, style: Style): string {
  return `${style('warning', '?')}      ${oneLine(file)}  not graded: ${oneLine(problem)}`;
}

/** `record 3 (line 4): hash_mismatch: …`. */
export function faultWords(fault: Fault): string {
  const { seq, line, reason, detail, expected } = fault;
  const wanted = expected === undefined ? '' : ` (expected ${oneLine(expected)})`;
  return `record ${seq} (line ${line}): ${reason}: ${oneLine(detail)}${wanted}`;
}

/** `13 records, sealed, head 9f3c0a…`. */
export function standing({ count: records, sealed, head }: Verdict): string {
  return `${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}, head ${head.slice(0, 16)}…`;
}

/** What a fault means, and what it doesn't, in a sentence or two. */
export function meaning(fault: Fault, verdict: Verdict): string {
  return `${MEANINGS[fault.reason]} ${rest(fault, verdict)}`.trim();
}

const DAMAGED =
  'This line is not a record as hashtape writes it: the file was damaged or edited, or is no transcript.';

/** What each fault means. */
export const MEANINGS: Readonly<Record<Reason, string>> = {
  unreadable: "The file can't be read, so nothing is said about it.",
  torn_tail:
    'The last line is unfinished, as a crash during a write leaves it. By itself that is no sign of an edit.',
  bad_utf8: DAMAGED,
  bad_json: DAMAGED,
  not_an_object: DAMAGED,
  missing_fields: DAMAGED,
  extra_fields:
    'Something was added to this record outside of what its hash covers; nothing vouches for the addition.',
  malformed_record: DAMAGED,
  seq_gap: 'Records were removed, repeated or put in another order here.',
  prev_mismatch:
    'This record does not continue the one before it: one of them was changed and hashed anew, or records were exchanged.',
  hash_mismatch: "This record's content was changed after it was written.",
  not_canonical:
    'The content may be the same, but the bytes are not those that were written: another program saved the file again.',
  not_sealed:
    'Everything that is there holds, but the end is missing: the run goes on, crashed, or its end was cut off. --allow-open accepts this.',
  count_mismatch:
    'The file holds by itself, but is shorter or longer than the transcript that you expected.',
  head_mismatch: 'The file holds by itself, but is not the transcript that you expected.',
};

function rest(fault: Fault, { count: records }: Verdict): string {
  if (WHOLE_FILE.has(fault.reason)) return '';
  if (fault.reason === 'torn_tail') return `${before(records)}.`;
  return `${before(records)}; what comes after it was not looked at.`;
}

const WHOLE_FILE: ReadonlySet<Reason> = new Set([
  'unreadable',
  'not_sealed',
  'count_mismatch',
  'head_mismatch',
]);

function before(records: number): string {
  if (records === 0) return 'No record comes before it';
  return records === 1
    ? 'The 1 record before it holds'
    : `The ${count(records, 'record')} before it hold`;
}
