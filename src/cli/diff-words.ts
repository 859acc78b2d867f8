/**
 * What two runs do otherwise, in words: side by side on a terminal, one after the other elsewhere.
 *
 * @module
 */
import { type ComparedRun, type Parted, type RunDiff, type RunStep } from '../index.ts';
import { differenceText } from '../run/differences.ts';
import { cells } from './fit.ts';
import { type Output } from './io.ts';
import { stopWords } from './report.ts';
import { count, cut, number, oneLine } from './words.ts';

/** The lines of what was found. */
export function diffLines(found: RunDiff, out: Output): string[] {
  const { a, b, task, configuration, parted } = found;
  const heads = [`A  ${runWords(a)}`, `B  ${runWords(b)}`, ''];
  if (found.same) return [...heads, out.style('good', sameWords(found))];
  const bad = (text: string): string => out.style('bad', text);
  return [
    ...heads,
    ...(task === null ? [] : [bad('the task differs'), ...sides([task.a], [task.b], out)]),
    ...configurationLines(configuration, bad),
    ...(parted === null
      ? [`what they did is ${sameWords(found)}`]
      : partedLines(parted, found, out)),
  ];
}

/** `runs/a.jsonl  12 records, sealed, 3 turns, 4 calls`. */
function runWords({ location, verdict, turns, calls, resumed, recovered }: ComparedRun): string {
  return [
    `${oneLine(location)}  ${count(verdict.count, 'record')}`,
    verdict.sealed ? 'sealed' : 'open',
    count(turns, 'turn'),
    count(calls, 'call'),
    ...(resumed === 0 ? [] : [`resumed ${count(resumed, 'time')}`]),
    ...(recovered === 0 ? [] : [`repaired ${count(recovered, 'time')}`]),
  ].join(', ');
}

const IGNORED: Readonly<Record<RunDiff['ignored'][number], string>> = {
  runId: 'run ids',
  times: 'times',
  ids: 'call ids',
  spelling: "arguments' spelling",
};

/** `the same but for their times and call ids`. */
function sameWords({ ignored }: RunDiff): string {
  const names = ignored.map((aspect) => IGNORED[aspect]).join(', ');
  return `the same${names === '' ? '' : ` but for their ${names.replace(/, (?=[^,]*$)/, ' and ')}`}`;
}

function configurationLines(
  configuration: RunDiff['configuration'],
  bad: (text: string) => string,
): string[] {
  if (configuration === null)
    return [bad('only one of them holds a configuration, so those were not compared')];
  if (configuration.length === 0) return [];
  const changes = configuration.map((difference) => `  ${oneLine(differenceText(difference))}`);
  return [bad('the configuration differs, from A to B'), ...changes];
}

/** Longer names of a place are cut. */
const PLACE_LENGTH = 200;

function partedLines(parted: Parted, { a, b }: RunDiff, out: Output): string[] {
  const [inA, inB] = [parted.a, parted.b].map(({ seq }) =>
    seq === null ? 'the end' : `record ${seq}`,
  );
  const place = inA === inB ? inA : `${inA} of A and ${inB} of B`;
  const verb = parted.what === 'fault' ? 'they can be compared up to' : 'they part at';
  const where = oneLine(cut(parted.where, PLACE_LENGTH));
  const also = parted.also.length === 0 ? '' : ` (there too: ${parted.also.join(', ')})`;
  return [
    out.style('bad', `${verb} ${place}: ${where}${also}`),
    ...sides([parted.a.said], [parted.b.said], out),
    ...accountLines(a, b, out),
  ];
}

function accountLines({ after: a }: ComparedRun, { after: b }: ComparedRun, out: Output): string[] {
  const [ofA, ofB] = [accountSteps(a), accountSteps(b)];
  if (ofA.length + ofB.length === 0) return [];
  const heading = ['', out.style('strong', 'what each did from there')];
  if (!out.terminal) return [...heading, ...sides(ofA.flat(), ofB.flat(), out)];
  // Steps begin at the same height.
  const length = Math.max(ofA.length, ofB.length);
  const rows = Array.from({ length }, (_, i) => sides(ofA[i] ?? [], ofB[i] ?? [], out, i === 0));
  return [...heading, ...rows.flat()];
}

/** The lines of each step. */
function accountSteps({ steps, left }: ComparedRun['after']): string[][] {
  const told = steps.map(stepLines);
  // Where more was left out, how the run stopped comes after it.
  const end = steps.at(-1)?.kind === 'stop' ? -1 : steps.length;
  return left === 0 ? told : told.toSpliced(end, 0, [`… ${count(left, 'more step')}`]);
}

function stepLines(step: RunStep): string[] {
  if (step.kind === 'record') return [`#${step.seq} ${step.of}`, `  ${step.text}`];
  if (step.kind === 'stop') {
    const { seq, reason, error, check } = step;
    const words = stopWords(reason);
    const checked =
      check === null ? [] : [`  verified: ${check.ok ? 'yes' : 'no'} ${check.detail}`.trimEnd()];
    return [
      `#${seq} stopped: ${words === undefined ? reason : `${words} (${reason})`}`,
      ...(error === null ? [] : [`  ${error}`]),
      ...checked,
    ];
  }
  const { seq, turn, text, calls, left } = step;
  return [
    `#${seq} turn ${number(turn)}`,
    ...(text === '' ? [] : [`  ${text}`]),
    ...calls.flatMap((call) => [`  → ${call.tool} ${call.arguments}`, `    ${answerWords(call)}`]),
    ...(left === 0 ? [] : [`  … and ${count(left, 'more call')}`]),
  ];
}

type CallStep = Extract<RunStep, { kind: 'turn' }>['calls'][number];

function answerWords({ answer }: CallStep): string {
  if (answer === null) return 'no answer in the record';
  const { seq, ok, failure, text } = answer;
  return `#${seq} ${ok ? 'ok' : `failed${failure === null ? '' : ` (${failure})`}`} ${text}`;
}

/** Narrower columns are not read any more. */
const MIN_COLUMNS = 60;
const BETWEEN = ' │ ';

/** Two texts beside each other where there is room, else below each other. */
function sides(
  a: readonly string[],
  b: readonly string[],
  { terminal, columns, style }: Output,
  titled = true,
): string[] {
  const [ofA, ofB] = [a.map(oneLine), b.map(oneLine)];
  if (!terminal || columns < MIN_COLUMNS)
    return [...ofA.map((line) => `  A  ${line}`), ...ofB.map((line) => `  B  ${line}`)];
  // One column less: some terminals wrap when the last one is written.
  const width = Math.floor((columns - 1 - BETWEEN.length) / 2);
  const [left, right] = [ofA, ofB].map((lines) => lines.flatMap((line) => wrapped(line, width)));
  const title = titled ? [['A', 'B'] as const] : [];
  const length = Math.max(left?.length ?? 0, right?.length ?? 0);
  const rows = Array.from({ length }, (_, i) => [left?.[i] ?? '', right?.[i] ?? ''] as const);
  return [...title, ...rows].map(([one, other]) =>
    `${one}${' '.repeat(width - cells(one))}${style('quiet', BETWEEN)}${other}`.trimEnd(),
  );
}

/** A line in lines of at most `width` places; those after the first are indented like it, and a little more. */
function wrapped(line: string, width: number): string[] {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
  const lines: string[] = [];
  let now = '';
  for (const character of line) {
    if (cells(now) + cells(character) > width) {
      // At a space, unless that leaves the line half empty.
      const space = now.lastIndexOf(' ');
      const end = space > width / 2 ? space : now.length;
      lines.push(now.slice(0, end));
      now = indent + now.slice(end).trimStart();
    }
    now += character;
  }
  return [...lines, now];
}
