/**
 * What is said at the end of a run: why it stopped, what the model claims, and what was verified, as
 * three separate facts, and how to check the record.
 *
 * @module
 */
import { type Outcome } from '../run/outcome.ts';
import { oneLine } from './harmless.ts';
import { reasonWords, spentWords, verifiedWords } from './outcome-words.ts';
import { type Style } from './style.ts';
import { count, cut } from './words.ts';

const CLAIM_LENGTH = 100;

/** The lines. @param hadCheck whether there was a check to run. */
export function reportLines(outcome: Outcome, hadCheck: boolean, style: Style): readonly string[] {
  const { answer, verified, spent, transcript } = outcome;
  const { location, count: records, sealed, head } = transcript;
  const claim = answer === '' ? 'nothing' : oneLine(cut(answer.trim(), CLAIM_LENGTH));
  const look = verified === null ? 'strong' : verified ? 'good' : 'bad';
  return [
    '',
    row('stopped', oneLine(reasonWords(outcome))),
    row('claimed', claim),
    row('verified', style(look, oneLine(verifiedWords(outcome, hadCheck)))),
    row('spent', spentWords(spent)),
    row(
      'record',
      `${oneLine(location)}, ${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}`,
    ),
    row('head', head),
    row('check it', `hashtape verify ${quoted(location)}`),
  ];

  function row(name: string, text: string): string {
    return `${style('quiet', name.padEnd(9))} ${text}`;
  }
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  const text = oneLine(path);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
