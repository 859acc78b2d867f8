/**
 * `hashtape show`: a transcript, readable in the terminal.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { type Command } from 'commander';
import { readRecords } from '../store/read.ts';
import { verifyFile } from '../store/verify-file.ts';
import { canonicalJson, type TranscriptRecord, type Verdict } from '../transcript/index.ts';
import { looksLikeAuditLog } from './audit-log.ts';
import { CommandError, type ExitStatus } from './command-error.ts';
import { harmlessJson, oneLine } from './harmless.ts';
import { type Io } from './io.ts';
import { progressOf } from './progress.ts';
import { recordLines } from './show-record.ts';
import { AUDIT_LOG, faultWords, meaning, standing } from './verdict-words.ts';

interface Options {
  readonly full?: true;
  readonly json?: true;
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
    .option('--json', 'print the records as they are, one a line; the verdict goes to stderr')
    .option('--allow-open', 'accept a transcript without a final record')
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options) => {
      exit(await show(file, options, io));
    });
}

async function show(file: string, options: Options, io: Io): Promise<ExitStatus> {
  const verdict = await judge(file, options, io);
  const last = await print(file, verdict.count, options, io);
  if (!io.out.broken && last !== (verdict.count === 0 ? undefined : verdict.head)) {
    throw new CommandError(`${oneLine(file)} was changed while it was read; show it again`);
  }
  const to = options.json === true ? io.err : io.out;
  const { fault } = verdict;
  if (fault === undefined) {
    to.line(`${to.style('good', 'intact')}  ${standing(verdict)}`);
    return 0;
  }
  to.line(`${to.style('bad', 'FAULT')}  ${faultWords(fault)}`);
  to.line(`       ${meaning(fault, verdict)}`);
  return 1;
}

async function judge(file: string, { allowOpen }: Options, io: Io): Promise<Verdict> {
  const progress = progressOf(io.err, `verifying ${oneLine(file)}`);
  const verdict = await verifyFile(file, {
    onProgress: progress.update,
    ...(allowOpen === undefined ? {} : { allowOpen }),
  });
  progress.done();
  const { fault } = verdict;
  if (fault?.reason === 'unreadable') {
    throw new CommandError(
      `${oneLine(file)} can't be read: ${oneLine(fault.detail)}; check the path`,
    );
  }
  if (fault?.line === 1 && (await looksLikeAuditLog(file))) {
    throw new CommandError(`${oneLine(file)}: ${AUDIT_LOG}`);
  }
  return verdict;
}

/** After so many records the event loop gets a turn, in which a closed pipe is noticed. */
const BETWEEN_TURNS = 64;

/** Prints the records that hold; returns the hash of the last. */
async function print(
  file: string,
  count: number,
  options: Options,
  io: Io,
): Promise<string | undefined> {
  if (count === 0) return undefined;
  let last: TranscriptRecord | undefined;
  let turn = 0;
  for await (const record of readRecords(file)) {
    last = record;
    if (record.kind === 'assistant') turn += 1;
    if (options.json === true) io.out.line(recordJson(record, io.out.terminal));
    else {
      const lines = recordLines(record, { turn, full: options.full === true, style: io.out.style });
      for (const line of lines) io.out.line(line);
      io.out.line();
    }
    if (record.seq === count - 1) break;
    if (record.seq % BETWEEN_TURNS === 0) await setImmediate();
    if (io.out.broken) break;
  }
  return last?.hash;
}

/** The record's own bytes; on a terminal, dangerous characters are escaped. */
function recordJson(
  { hash, kind, payload, prev, seq }: TranscriptRecord,
  terminal: boolean,
): string {
  const json = canonicalJson({ hash, kind, payload, prev, seq }, Infinity);
  return terminal ? harmlessJson(json) : json;
}
