/**
 * Evidence in plain words: what covers which records, what that shows, and what it doesn't.
 *
 * @module
 */
import { type EvidenceReason } from '../attest/compare.ts';
import { type Covered } from '../attest/coverage.ts';
import { type Examined } from '../attest/examine.ts';
import { type ExaminedAudit } from './audit-evidence.ts';
import { type Style } from './io.ts';
import { number, oneLine } from './words.ts';

/** A line for each evidence, and for what is worth knowing beside it. */
export function evidenceLines(examined: Examined | ExaminedAudit, style: Style): readonly string[] {
  const { coverage, notices, count: records } = examined;
  const noun = 'log' in examined ? 'entries' : 'records';
  return [
    ...coverage.map((covered) => line(covered.by, coverWords(covered, records, noun), style)),
    ...notices.map((notice) => line('note', oneLine(notice), style)),
  ];
}

/** A line of evidence below what it is of. */
export function line(name: string, words: string, style: Style): string {
  return `       ${style('quiet', name.padEnd(10))} ${words}`;
}

function coverWords({ by, records, who, since }: Covered, all: number, noun: string): string {
  const some = `the first ${number(records)} of ${number(all)} ${noun}`;
  const which = records < all ? some : all === 1 ? 'all there is' : `all ${number(all)} ${noun}`;
  const from = by === 'anchored' ? 'in' : 'by';
  const name =
    who === undefined ? '' : `, ${from} ${oneLine(by === 'signed' ? keyName(who) : who)}`;
  const time =
    since === undefined ? '' : `, ${by === 'remembered' ? 'seen' : 'at'} ${timeWords(since)}`;
  return which + name + time;
}

/** A key's name and ID: the rest of it is long, and `hashtape key show` has it. */
export function keyName(vkey: string): string {
  return vkey.split('+', 2).join('+');
}

/** `2026-11-30 16:20:05 UTC`. */
export function timeWords(iso: string): string {
  return oneLine(iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC'));
}

/** What each of these faults means. */
export const EVIDENCE_MEANINGS: Readonly<Record<EvidenceReason, string>> = {
  rolled_back:
    'Records that were there are gone: the end was cut off, an older copy was put back, or a disk lost it.',
  missing:
    'If you removed it yourself, `npx hashtape heads forget FILE` takes it off the list; if you moved it, verify it where it is now first.',
  diverged:
    'It is not what it was: records were rewritten, two writers went on from one state, or another log was put in its place. If you replaced it yourself, `npx hashtape heads forget FILE`.',
  bad_signature:
    'The checkpoint was changed after it was signed, or is damaged. By itself that says nothing about the records.',
  root_mismatch:
    'The records and the checkpoint beside them are not of one history: one of the two was rewritten or exchanged.',
  unknown_key: 'The records hold. Whose key it is, you have to know from elsewhere.',
  not_covered: 'The records hold. What --require asks for is not there.',
};

/** Said once when everything holds: what was shown, and what wasn't. @param head one that was kept elsewhere. */
export function caveat(
  verdicts: readonly (Examined | ExaminedAudit | undefined)[],
  head: string | undefined,
): string {
  const all = verdicts.filter((verdict) => verdict !== undefined);
  const has = (level: string): boolean => all.every((one) => isCovered(one, level));
  const shown = ['the records fit together'];
  if (has('signed')) shown.push('a holder of the key signed them');
  if (has('remembered')) shown.push('they continue what you saw before');
  if (has('anchored')) shown.push('they were there when they were anchored');
  if (has('witnessed')) shown.push('witnesses saw no other history');
  if (head !== undefined) shown.push('they are those whose head you kept');
  const last = shown.pop() ?? '';
  const list = shown.length === 0 ? last : `${shown.join(', ')}, and ${last}`;
  return [`Shown: ${list}.`, limits(has, all, head !== undefined), ...unseen(all)]
    .map(wrapped)
    .join('\n');
}

function isCovered({ coverage, count: records }: Examined | ExaminedAudit, level: string): boolean {
  return coverage.some((covered) => covered.by === level && covered.records >= records);
}

function limits(
  has: (level: string) => boolean,
  all: readonly (Examined | ExaminedAudit)[],
  isKept: boolean,
): string {
  const words = ['Not shown: that what they say is true.'];
  if (isKept) return words.join(' ');
  if (!has('signed')) {
    words.push('Nor who wrote them: no key that is known here signed all of them.');
  }
  if (!has('remembered')) {
    words.push(
      'Nor that there was no other history before: whoever can write a file can make one anew.',
    );
    words.push(
      all.every(({ remembered }) => remembered)
        ? 'Remembered from now on: a later verify tells if they were cut or rewritten.'
        : 'Keep the 64 digits after `head` elsewhere, and give them to a later verify: --head DIGITS.',
    );
  } else if (has('anchored')) {
    words.push('Nor that the places it is anchored in were out of the reach of who wrote it.');
  } else if (!has('witnessed')) {
    const yours = has('signed') ? 'your key and your memory of heads' : 'your memory of heads';
    words.push(`Nor anything against somebody who can also write ${yours}.`);
  }
  return words.join(' ');
}

function unseen(all: readonly (Examined | ExaminedAudit)[]): string[] {
  const bare = all.filter((one) => !isCovered(one, 'remembered'));
  const words = new Set(bare.flatMap((one) => ('log' in one && one.unseen ? [one.unseen] : [])));
  return [...words].map((each) => `Audit logs: ${each}.`);
}

const WIDTH = 80;

/** Text in lines of up to 80 characters. */
export function wrapped(text: string): string {
  let lines = '';
  let room = 0;
  for (const word of text.split(' ')) {
    const fits = word.length < room;
    lines += fits ? ` ${word}` : lines === '' ? word : `\n${word}`;
    room = (fits ? room : WIDTH) - word.length - 1;
  }
  return lines;
}
