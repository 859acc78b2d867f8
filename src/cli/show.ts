/**
 * `hashtape show`: a transcript, readable in the terminal.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { type Command } from 'commander';
import { createVerifier, parseRecord, type Verifier } from '../transcript/index.ts';
import { CommandError, type ExitStatus, type Io, type Output } from './io.ts';
import { recordLines } from './show-record.ts';
import { faultWords, judge, meaning, standing, type Push } from './verdict.ts';
import { oneLine } from './words.ts';

interface Flags {
  readonly full?: true;
  readonly allowOpen?: true;
}

const HELP = `
The file is verified as it is shown, and the last lines say what was found. A broken
file is shown up to its fault.

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
  const verifier = createVerifier(wanted);
  const print = printer(verifier, full === true, out);
  const { verdict, problem } = await judge(file, verifier, print);
  if (problem !== undefined) throw new CommandError(`${oneLine(file)}: ${oneLine(problem)}`);
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

/** Prints each record once the verifier has accepted its line, from the same bytes. */
function printer(verifier: Verifier, full: boolean, out: Output): Push {
  // Copies of the pieces of a line whose end hasn't come yet.
  let begun: Uint8Array[] = [];
  let turn = 0;
  async function print(line: readonly Uint8Array[]): Promise<void> {
    // Where nobody reads any more, the exit status is still the verdict.
    if (out.broken) return;
    const record = parseRecord(Buffer.concat(line).toString());
    if (record.kind === 'assistant') turn += 1;
    for (const text of recordLines(record, { turn, full, style: out.style })) out.line(text);
    out.line();
    if (record.seq % BETWEEN_TURNS === 0) await setImmediate();
  }
  return async (piece) => {
    let start = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      const rest = piece.subarray(start, end + 1);
      const { count } = verifier.head;
      verifier.push(rest);
      if (verifier.head.count > count) await print([...begun, rest]);
      begun = [];
      start = end + 1;
    }
    verifier.push(piece.subarray(start));
    begun.push(piece.slice(start));
  };
}
