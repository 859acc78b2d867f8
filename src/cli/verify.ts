/**
 * `hashtape verify`: one verdict a file, and an exit status that is the verdict of all.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isCatalog } from '../attest/catalog.ts';
import { LEVELS, type Level } from '../attest/coverage.ts';
import { Examination, type Examined, type Knowledge } from '../attest/examine.ts';
import { goneAt, goneFrom, type Gone } from '../attest/gone.ts';
import { createAuditVerifier } from '../computer/audit-verify.ts';
import { type VerifierKey } from '../evidence/index.ts';
import { createVerifier, GENESIS, unreadable, type VerifyOptions } from '../transcript/index.ts';
import { examineAudit, type ExaminedAudit } from './audit-evidence.ts';
import { auditFault, auditStanding } from './audit-words.ts';
import { caveat, evidenceLines } from './evidence-words.ts';
import {
  CommandError,
  progressOf,
  type ExitStatus,
  type Io,
  type Output,
  type Style,
} from './io.ts';
import { knowledgeOf, trustedKey } from './knowledge.ts';
import { wholeNumber } from './options.ts';
import { targetsOf, type Target } from './targets.ts';
import { faultWords, judge, meaning, plainly, standing } from './verdict.ts';
import { harmlessJson, oneLine } from './words.ts';

/** What was found about a file, or why it couldn't be graded. */
type Result = { readonly file: string } & (
  | { readonly verdict: Examined | ExaminedAudit; readonly problem?: undefined }
  | { readonly verdict?: undefined; readonly problem: string }
);

const HELP = `
A folder stands for its *.jsonl files, at any depth.

Audit logs of computer episodes are told from transcripts by their first line.

A transcript without a final record (a run in progress, a crash, or a cut end)
counts as a fault; --allow-open accepts it.

What a transcript's chain can't show by itself is looked for around it, where it is
there: signed checkpoints (FILE.checkpoint), what you saw of the log before, and the
catalogue of its folder. --require makes an error of what is missing.

Exit status: 2 if any file could not be graded (missing or unreadable), else 1 if
any has a fault, else 0.

Examples:
  hashtape verify runs/today.jsonl
  hashtape verify runs/ --json
  hashtape verify today.jsonl --head 3f1c…  (all 64 digits of a head kept elsewhere)
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file...>', 'transcripts and audit logs, or folders of them')
    .option('--json', 'print one JSON object a line instead of words')
    .option('--count <n>', 'how many records or entries there must be (one file only)', wholeNumber)
    .option('--head <hex>', 'the hash that the last one must have (one file only)', headHash)
    .option('--allow-open', 'accept a transcript without a final record')
    .option('--key <vkey>', 'a key to trust beside your own (repeatable)', trustedKey, [])
    .addOption(new Option('--require <level>', 'what must cover every record').choices([...LEVELS]))
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: Flags) => {
      exit(await verify(paths, flags, io));
    });
}

/** The options as commander gives them. */
interface Flags extends VerifyOptions {
  readonly json?: true;
  readonly key: readonly VerifierKey[];
  readonly require?: Level;
}

function headHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be the 64 hexadecimal digits of a SHA-256.');
}

async function verify(
  paths: readonly string[],
  { json, key, require, ...wanted }: Flags,
  io: Io,
): Promise<ExitStatus> {
  const knowledge = await knowledgeOf(io, key, require);
  const results: Result[] = [];
  const tell = (result: Result): void => {
    results.push(result);
    io.out.line(json === true ? jsonOf(result) : inWords(result, io.out.style));
  };
  for (const target of await allTargets(paths, wanted)) {
    tell(await grade(target, wanted, knowledge, io.err));
  }
  for (const gone of await allGone(paths, results, knowledge)) tell(gone);
  const worst = Math.max(0, ...results.map(statusOf));
  if (worst === 0 && json !== true) {
    io.out.line(
      io.out.style(
        'quiet',
        caveat(
          results.map(({ verdict }) => verdict),
          wanted.head,
        ),
      ),
    );
  }
  return worst === 0 ? 0 : worst === 1 ? 1 : 2;
}

/** @throws {CommandError} if something is known of one file, and there are others. */
async function allTargets(
  paths: readonly string[],
  { count, head }: VerifyOptions,
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const path of paths) {
    // Not as arguments, of which there may only be some thousands.
    for (const target of await targetsOf(path)) targets.push(target);
  }
  const transcripts = targets.filter(({ file }) => !isCatalog(file)).length;
  if ((count !== undefined || head !== undefined) && transcripts !== 1) {
    throw new CommandError(
      `--count and --head say what one file must hold, and ${transcripts} were given; verify each by itself`,
    );
  }
  return targets;
}

async function grade(
  { file, problem }: Target,
  wanted: VerifyOptions,
  knowledge: Knowledge,
  err: Output,
): Promise<Result> {
  if (problem !== undefined) {
    const gone = await goneAt(file, knowledge.memory);
    return gone === null ? { file, problem } : missing(gone);
  }
  const progress = progressOf(err, `verifying ${oneLine(file)}`);
  // A catalogue never ends, and what one file must hold isn't said of it.
  const expected = isCatalog(file) ? { allowOpen: true } : wanted;
  const examination = await Examination.of(file, knowledge);
  const judged = await judge(
    file,
    (isAudit) =>
      plainly(
        isAudit ? createAuditVerifier(expected) : createVerifier(expected, examination.onRecord),
      ),
    (done, total) => progress.update(done, total),
  );
  progress.done();
  if (judged.problem !== undefined) return { file, problem: judged.problem };
  const { verdict } = judged;
  if ('log' in verdict) return { file, verdict: await examineAudit(file, verdict, knowledge) };
  return { file, verdict: await examination.end(verdict) };
}

/** What is missing from the folders. */
async function allGone(
  paths: readonly string[],
  results: readonly Result[],
  { memory }: Knowledge,
): Promise<readonly Result[]> {
  const files = results.map(({ file }) => file);
  const origins = new Set(
    results.flatMap(({ verdict }) =>
      verdict !== undefined && 'origin' in verdict && verdict.origin ? [verdict.origin] : [],
    ),
  );
  const all: Result[] = [];
  for (const path of paths) {
    if (!isFolder(path)) continue;
    for (const gone of await goneFrom(path, { files, origins }, memory)) all.push(missing(gone));
  }
  return all;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function missing({ file, fault }: Gone): Result {
  const nothing = { ok: false, count: 0, head: GENESIS, sealed: false };
  const verdict = {
    ...nothing,
    fault: { line: 1, ...fault },
    coverage: [],
    remembered: false,
    notices: [],
  };
  return { file, verdict };
}

function statusOf({ verdict }: Result): ExitStatus {
  return verdict === undefined ? 2 : verdict.ok ? 0 : 1;
}

/** A verdict: a transcript's as docs/verify.py prints it, and the evidence; an audit log's says that it is one. */
function jsonOf({ file, verdict, problem }: Result): string {
  return harmlessJson(JSON.stringify({ file, ...(verdict ?? unreadable(problem)) }));
}

/** `ok  file  13 records, sealed` and below it the head, or the fault and below it what it means. */
function inWords({ file, verdict, problem }: Result, style: Style): string {
  const name = oneLine(file);
  if (problem !== undefined) {
    return `${style('warning', '?')}      ${name}  not graded: ${oneLine(problem)}`;
  }
  const ok = `${style('good', 'ok')}     ${name}  `;
  const bad = `${style('bad', 'FAULT')}  ${name}  `;
  const evidence = evidenceLines(verdict, style);
  if ('log' in verdict) {
    const words = verdict.ok ? ok + auditStanding(verdict, style) : bad + auditFault(verdict);
    return [words, ...evidence].join('\n');
  }
  const { fault } = verdict;
  const words =
    fault === undefined
      ? ok + standing(verdict, style)
      : `${bad}${faultWords(fault)}\n       ${meaning(fault, verdict)}`;
  return [words, ...evidence].join('\n');
}
