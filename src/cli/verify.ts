/**
 * `hashtape verify`: one verdict a file, and an exit status that is the verdict of all.
 *
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander';
import { verifyFile } from '../store/verify-file.ts';
import { type Verdict, type VerifyOptions } from '../transcript/index.ts';
import { looksLikeAuditLog } from './audit-log.ts';
import { CommandError, type ExitStatus } from './command-error.ts';
import { findTargets, type Target } from './find-transcripts.ts';
import { harmlessJson, oneLine } from './harmless.ts';
import { type Io } from './io.ts';
import { wholeNumber } from './numbers.ts';
import { progressOf } from './progress.ts';
import { AUDIT_LOG, CAVEAT, gradedLines, ungradedLine } from './verdict-words.ts';

interface Options {
  readonly json?: true;
  readonly count?: number;
  readonly head?: string;
  readonly allowOpen?: true;
}

/** What was found about one file; without a verdict it couldn't be graded. */
type Finding =
  | { readonly file: string; readonly verdict: Verdict }
  | { readonly file: string; readonly problem: string };

const HELP = `
A folder stands for its *.jsonl files, at any depth.

A transcript without a final record (a run in progress, a crash, or a cut end)
counts as a fault; --allow-open accepts it.

Exit status: 2 if any file could not be graded (missing, unreadable, or of a kind
that this version does not grade), else 1 if any has a fault, else 0.

Examples:
  hashtape verify runs/today.jsonl
  hashtape verify runs/ --json
  hashtape verify today.jsonl --head 3f1c…  (all 64 digits of a head kept elsewhere)
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file...>', 'transcripts, or folders of them')
    .option('--json', 'print one JSON object a line instead of words')
    .option('--count <n>', 'how many records there must be (one file only)', wholeNumber)
    .option('--head <hex>', 'the hash that the last record must have (one file only)', headHash)
    .option('--allow-open', 'accept a transcript without a final record')
    .addHelpText('after', HELP)
    .action(async (files: string[], options: Options) => {
      exit(await verify(files, options, io));
    });
}

function headHash(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new InvalidArgumentError('It must be the 64 hexadecimal digits of a SHA-256.');
  }
  return text.toLowerCase();
}

async function verify(files: readonly string[], options: Options, io: Io): Promise<ExitStatus> {
  const targets = await findTargets(files);
  const { count, head } = options;
  if ((count !== undefined || head !== undefined) && targets.length !== 1) {
    throw new CommandError(
      `--count and --head say what one file must hold, and ${targets.length} were given; verify each by itself`,
    );
  }
  let status: ExitStatus = 0;
  for (const target of targets) {
    const finding = await judge(target, options, io);
    status = worse(status, statusOf(finding));
    if (options.json === true) io.out.line(json(finding));
    else say(finding, io);
  }
  if (status === 0 && options.json !== true && head === undefined) {
    io.out.line(io.out.style('quiet', CAVEAT));
  }
  return status;
}

async function judge(target: Target, options: Options, io: Io): Promise<Finding> {
  const { file } = target;
  if ('problem' in target) return { file, problem: target.problem };
  const progress = progressOf(io.err, `verifying ${oneLine(file)}`);
  const verdict = await verifyFile(file, { ...wanted(options), onProgress: progress.update });
  progress.done();
  const { fault } = verdict;
  if (fault?.reason === 'unreadable') {
    return { file, problem: `it can't be read: ${fault.detail}` };
  }
  if (fault?.line === 1 && (await looksLikeAuditLog(file))) return { file, problem: AUDIT_LOG };
  return { file, verdict };
}

function wanted({ count, head, allowOpen }: Options): VerifyOptions {
  return {
    ...(count === undefined ? {} : { count }),
    ...(head === undefined ? {} : { head }),
    ...(allowOpen === undefined ? {} : { allowOpen }),
  };
}

function statusOf(finding: Finding): ExitStatus {
  if ('problem' in finding) return 2;
  return finding.verdict.ok ? 0 : 1;
}

function worse(a: ExitStatus, b: ExitStatus): ExitStatus {
  return a > b ? a : b;
}

function json(finding: Finding): string {
  const { file } = finding;
  return harmlessJson(
    JSON.stringify(
      'problem' in finding
        ? { file, graded: false, problem: finding.problem }
        : { file, graded: true, ...finding.verdict },
    ),
  );
}

function say(finding: Finding, io: Io): void {
  const lines =
    'problem' in finding
      ? [ungradedLine(finding.file, finding.problem, io.out.style)]
      : gradedLines(finding.file, finding.verdict, io.out.style);
  for (const line of lines) io.out.line(line);
}
