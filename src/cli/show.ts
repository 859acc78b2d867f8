/**
 * `hashtape show`: a transcript, readable in the terminal.
 *
 * @module
 */
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type Command } from 'commander';
import { readRecords } from '../store/index.ts';
import { type Verdict } from '../transcript/index.ts';
import { CommandError, type ExitStatus, type Io, type Output } from './io.ts';
import { recordLines } from './show-record.ts';
import { accessProblem, faultWords, judge, meaning, standing } from './verdict.ts';
import { oneLine } from './words.ts';

interface Flags {
  readonly full?: true;
  readonly allowOpen?: true;
}

const HELP = `
The file is verified first, and the last line says what was found. A broken file is
shown up to its fault.

Exit status: 0 it holds, 1 it has a fault (shown up to there), 2 it can't be read.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file>', 'a transcript')
    .option('--full', 'cut nothing, however long')
    .option('--allow-open', 'accept a transcript without a final record')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      exit(await show(file, flags, io));
    });
}

async function show(file: string, { full, ...wanted }: Flags, io: Io): Promise<ExitStatus> {
  const { out } = io;
  const judged = await stat(file).then(
    (found) =>
      found.isDirectory()
        ? { problem: 'it is a folder; name one of the files in it' }
        : judge(file, wanted, io.err),
    (error: unknown) => ({ problem: accessProblem(error) }),
  );
  if ('problem' in judged) throw new CommandError(`${oneLine(file)}: ${oneLine(judged.problem)}`);
  const { verdict } = judged;
  if (!(await print(file, verdict, full === true, out))) {
    throw new CommandError(`${oneLine(file)} was changed while it was read; show it again`);
  }
  const { fault } = verdict;
  if (fault === undefined) {
    out.line(`${out.style('good', 'intact')} ${standing(verdict, out.style)}`);
    return 0;
  }
  out.line(`${out.style('bad', 'FAULT')}  ${faultWords(fault)}\n       ${meaning(fault, verdict)}`);
  return 1;
}

/** After so many records the event loop gets a turn, in which a closed pipe is noticed. */
const BETWEEN_TURNS = 64;

/** Prints the records that hold; false if they are no longer those that were verified. */
async function print(
  file: string,
  { count, head }: Verdict,
  full: boolean,
  out: Output,
): Promise<boolean> {
  if (count === 0) return true;
  let turn = 0;
  for await (const record of readRecords(file)) {
    if (record.kind === 'assistant') turn += 1;
    for (const line of recordLines(record, { turn, full, style: out.style })) out.line(line);
    out.line();
    if (record.seq === count - 1) return record.hash === head;
    if (record.seq % BETWEEN_TURNS === 0) await setImmediate();
    if (out.broken) return true;
  }
  return false;
}
