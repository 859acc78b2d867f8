/**
 * What a replay found, in words and as JSON.
 *
 * @module
 */
import { type ChangedAnswer, type Divergence, type Replay } from '../index.ts';
import { firstDifference } from '../replay/first-difference.ts';
import { differenceText } from '../run/differences.ts';
import { canonicalJson, type Draft } from '../transcript/index.ts';
import { type Style } from './io.ts';
import { given } from './options.ts';
import { faultWords, meaning } from './verdict.ts';
import { count, cut, harmlessJson, oneLine } from './words.ts';

/** What was found about a file, or why it couldn't be replayed. */
export type Replayed = Replay | { readonly problem: string };

/** `ok  file  13 records came out the same, sealed`, or what did not, and below it how. */
export function replayWords(file: string, replayed: Replayed, style: Style): string {
  const name = oneLine(file);
  if ('problem' in replayed)
    return `${style('warning', '?')}      ${name}  not replayed: ${oneLine(replayed.problem)}`;
  const { verdict, divergence, live, differences } = replayed;
  const { fault } = verdict;
  const rows = [
    ...(fault === undefined ? [] : [meaning(fault, verdict)]),
    ...(fault === undefined || divergence === undefined ? [] : [otherwise(divergence)]),
    ...(divergence === undefined ? [] : divergenceRows(divergence)),
    ...(isWhole(replayed) ? [] : [sameWords(replayed)]),
    ...(live === undefined ? [] : liveRows(live)),
    ...differences.map((difference) => `the tools differ: ${oneLine(differenceText(difference))}`),
  ];
  const word = fault === undefined ? 'DIFF ' : 'FAULT';
  const lead = isUngraded(replayed)
    ? style('warning', '?    ')
    : replayed.ok
      ? style('good', 'ok   ')
      : style('bad', word);
  const lines = [`${lead}  ${name}  ${headline(replayed)}`, ...rows.map((row) => `       ${row}`)];
  return lines.join('\n');
}

function headline(replayed: Replay): string {
  const { divergence, verdict, withheldFrom } = replayed;
  if (verdict.fault !== undefined) return faultWords(verdict.fault);
  if (divergence !== undefined) return otherwise(divergence);
  return withheldFrom === undefined ? sameWords(replayed) : withheldWords(withheldFrom);
}

/** Whether nothing came out otherwise, and not everything could be compared. */
export function isUngraded({ withheldFrom, divergence, verdict, live }: Replay): boolean {
  const isSame = divergence === undefined && (live?.changed ?? []).length === 0;
  return withheldFrom !== undefined && verdict.ok && isSame;
}

function otherwise({ seq, detail }: Divergence): string {
  return `record ${seq} came out otherwise: ${oneLine(detail)}`;
}

function withheldWords(seq: number): string {
  return `record ${seq} committed to values that are withheld: it and what follows can't be compared`;
}

/** Whether every record came out the same. */
function isWhole({ verdict, divergence, withheldFrom }: Replay): boolean {
  return verdict.ok && divergence === undefined && withheldFrom === undefined;
}

function sameWords(replayed: Replay): string {
  const { count: same, sealed } = replayed;
  const words = `${count(same, 'record')} came out the same`;
  if (!isWhole(replayed)) return same === 0 ? 'nothing was replayed' : `${words} before it`;
  return `${words}${sealed ? ', sealed' : '; the run has not ended'}`;
}

const SHOWN = 100;
const WHOLE_SHOWN = 300;

/** Where the two sides part, or both of them if they are different things. */
function divergenceRows({ recorded, replayed }: Divergence): readonly string[] {
  if (recorded !== null && replayed !== null && recorded.kind === replayed.kind) {
    const found = firstDifference(recorded.payload, replayed.payload);
    if (found !== null) {
      const { path, a, b } = found;
      return [oneLine(`payload${cut(path, SHOWN)}: recorded ${a}, replayed ${b}`)];
    }
  }
  return [`recorded: ${draftWords(recorded)}`, `replayed: ${draftWords(replayed)}`];
}

function draftWords(draft: Draft | null): string {
  if (draft === null) return 'nothing';
  return oneLine(`${draft.kind} ${cut(canonicalJson(draft.payload, Infinity), WHOLE_SHOWN)}`);
}

function liveRows({ ran, skipped, changed }: NonNullable<Replay['live']>): readonly string[] {
  const how =
    changed.length === 0 ? 'no answer changed' : `${count(changed.length, 'answer')} changed`;
  const left =
    skipped === 0 ? '' : `; ${count(skipped, 'call')} that no tool had answered, not run`;
  return [`${count(ran, 'call')} run again: ${how}${left}`, ...changed.flatMap(changedRows)];
}

function changedRows({ seq, call, was, is }: ChangedAnswer): readonly string[] {
  return [
    `record ${seq}  ${oneLine(call.tool)} ${oneLine(cut(call.arguments, SHOWN))}`,
    `  was ${saidWords(was)}`,
    `  is  ${saidWords(is)}`,
  ];
}

function saidWords({ ok, text }: ChangedAnswer['was']): string {
  return `${ok ? 'ok' : 'failed'} ${oneLine(cut(text, SHOWN))}`;
}

/** The same as one line of JSON. */
export function replayJson(file: string, replayed: Replayed): string {
  if ('problem' in replayed) {
    const { problem } = replayed;
    return harmlessJson(JSON.stringify({ file, graded: false, problem }));
  }
  const { divergence, differences, ...found } = replayed;
  const told = differences.map(({ was, is, ...where }) => ({ ...where, ...given({ was, is }) }));
  // Values of the record keep their spelling.
  const values = canonicalJson({ ...given({ divergence }), differences: told }, Infinity);
  const rest = JSON.stringify({ file, ...found });
  return harmlessJson(`${rest.slice(0, -1)},${values.slice(1)}`);
}
