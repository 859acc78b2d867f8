/**
 * Evidence in plain words: what covers which records, and what its faults mean.
 *
 * @module
 */
import { type EvidenceReason } from '../attest/compare.ts';
import { type Covered } from '../attest/coverage.ts';
import { type Examined } from '../attest/examine.ts';
import { type ExaminedAudit } from './audit-evidence.ts';
import { type Style } from './io.ts';
import { datesInWords, number, oneLine, timeWords } from './words.ts';

/**
 * A line for each evidence, and for what is worth knowing beside it.
 *
 * @param isWhole whether all records are there and hold: else there may be more of them.
 */
export function evidenceLines(
  examined: Examined | ExaminedAudit,
  isWhole: boolean,
  style: Style,
): readonly string[] {
  const { coverage, notices, count: records } = examined;
  const noun = 'log' in examined ? 'entries' : 'records';
  const many = `${number(records)} ${noun}`;
  const [of, all] = isWhole
    ? [many, `all ${many}`]
    : [`the ${many} that hold`, `all ${many} that hold`];
  const every = records > 1 ? all : isWhole ? 'all there is' : 'the only one that holds';
  return [
    ...coverage.map((covered) => {
      const part = `the first ${number(covered.records)} of ${of}`;
      const which = covered.records < records ? part : every;
      return line(covered.by, which + whenceWords(covered), style);
    }),
    ...notices.map((notice) => line('note', datesInWords(oneLine(notice)), style)),
  ];
}

/** A line of evidence below what it is of. */
export function line(name: string, words: string, style: Style): string {
  return `       ${style('quiet', name.padEnd(10))} ${words}`;
}

/** Where an evidence comes from: a key, this machine's memory, another place. */
function whenceWords({ by, who, whose, since, as: how = 'verified' }: Covered): string {
  const time = since === undefined ? '' : timeWords(since);
  if (by === 'remembered') return `, as ${how} here ${time}`;
  const from = by === 'anchored' ? 'in' : 'by';
  const name = oneLine(by === 'signed' ? keyName(who ?? '') : (who ?? ''));
  const key = whose === undefined ? '' : `, ${WHOSE[whose]}`;
  return `, ${from} ${name}${key}${time === '' ? '' : `, at ${time}`}`;
}

/** Whose a key is, in words. */
export const WHOSE = { own: 'your key', given: 'a key you gave' } as const;

/** A key's name and ID: the rest of it is long, and `hashtape key show` has it. */
export function keyName(vkey: string): string {
  return vkey.split('+', 2).join('+');
}

/** What each of these faults means. */
export const EVIDENCE_MEANINGS: Readonly<Record<EvidenceReason, string>> = {
  rolled_back:
    'Records that were there are gone: the end was cut off, an older copy was put back, or a disk lost it.',
  missing:
    'If you removed or moved it yourself, `npx hashtape heads forget FILE` takes it off the list; what you moved, verify where it is now first.',
  diverged:
    'It is not what it was: records were rewritten, two writers went on from one state, or another log was put in its place.',
  bad_signature:
    'The checkpoint was changed after it was signed, or is damaged. By itself that says nothing about the records.',
  root_mismatch:
    'The records and the checkpoint beside them are not of one history: one of the two was rewritten or exchanged.',
  unknown_key: 'The records hold. Whose key it is, you have to know from elsewhere.',
  not_covered: 'The records hold. What --require asks for is not there.',
};
