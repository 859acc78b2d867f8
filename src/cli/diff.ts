/**
 * `hashtape diff`: where two recorded runs part, and what each did from there.
 *
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander';
import { diff, JournalError, type RunDiff } from '../index.ts';
import { StoreError } from '../store/index.ts';
import { canonicalJson } from '../transcript/index.ts';
import { diffLines } from './diff-words.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { given } from './options.ts';
import { faultWords } from './verdict.ts';
import { harmlessJson, oneLine } from './words.ts';

const HELP = `
Runs are compared by what was done, not by hashes: task, configuration, and
then record by record. Times, ids and the spelling of arguments make no
difference; what was paid is named only where the runs did the same. Resumes
and repairs are about the process, and are not compared.

Exit status: 0 the same, 1 they part, 2 they could not be compared
(unreadable, no run of hashtape's, or damaged before a difference was found).
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<a>', 'a transcript', path)
    .argument('<b>', 'another transcript', path)
    .option('--json', 'print one JSON object instead of words')
    .addHelpText('after', HELP)
    .action(async (a: string, b: string, { json }: { json?: true }) => {
      exit(await compare(a, b, json === true, io));
    });
}

function path(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty; give the path of a transcript.');
}

async function compare(a: string, b: string, json: boolean, io: Io): Promise<ExitStatus> {
  const found = await diff(a, b).catch((error: unknown) => {
    if (error instanceof StoreError || error instanceof JournalError)
      throw new CommandError(oneLine(error.message));
    throw error;
  });
  for (const { location, verdict } of [found.a, found.b]) {
    if (verdict.fault === undefined) continue;
    const fault = `${oneLine(location)}: ${faultWords(verdict.fault)}`;
    io.err.line(`hashtape: ${fault}; only the records before it are compared`);
  }
  if (json) io.out.line(jsonOf(found));
  else for (const line of diffLines(found, io.out)) io.out.line(line);
  if (found.parted?.what === 'fault') return 2;
  return found.same ? 0 : 1;
}

function jsonOf(found: RunDiff): string {
  const configuration = found.configuration?.map(({ was, is, ...where }) => ({
    ...where,
    ...given({ was, is }),
  }));
  // Values of the record keep their spelling.
  return harmlessJson(canonicalJson({ ...found, configuration: configuration ?? null }, Infinity));
}
