/**
 * `hashtape verify`: one verdict a file, and an exit status that is the verdict of all.
 *
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander';
import { createAuditVerifier } from '../computer/audit-verify.ts';
import { createVerifier, type VerifyOptions } from '../transcript/index.ts';
import { auditFault, auditStanding } from './audit-words.ts';
import { disclosuresOf, disclosureWords, type Disclosures } from './disclosures.ts';
import {
  CommandError,
  progressOf,
  type ExitStatus,
  type Io,
  type Output,
  type Style,
} from './io.ts';
import { wholeNumber } from './options.ts';
import { targetsOf, type Target } from './targets.ts';
import { faultWords, judge, meaning, notRead, plainly, standing, type Judged } from './verdict.ts';
import { harmlessJson, oneLine } from './words.ts';

const HELP = `
A folder stands for its *.jsonl files, at any depth.

Audit logs of computer episodes are told from transcripts by their first line.

A transcript without a final record (a run in progress, a crash, or a cut end)
counts as a fault; --allow-open accepts it.

Where values were taken out of a transcript, it says how many FILE.open discloses. What is
withheld is no fault; a disclosure that doesn't match is.

Exit status: 2 if any file could not be graded (missing or unreadable), else 1 if
any has a fault, else 0.

Examples:
  hashtape verify runs/today.jsonl
  hashtape verify runs/ --json
  hashtape verify today.jsonl --head 3f1c…  (all 64 digits of a head kept elsewhere)
`;

/** Said once when everything holds: what a chain without signatures can't show. */
const CAVEAT = `Unsigned: this shows that the records fit together, not who wrote them. It does
not catch someone who rewrote a file to its end with new hashes. To catch that,
keep the 64 digits after \`head\` where the writer can't reach them, and verify the
file against them later: --head DIGITS.`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file...>', 'transcripts and audit logs, or folders of them')
    .option('--json', 'print one JSON object a line instead of words')
    .option('--count <n>', 'how many records or entries there must be (one file only)', wholeNumber)
    .option('--head <hex>', 'the hash that the last one must have (one file only)', headHash)
    .option('--allow-open', 'accept a transcript without a final record')
    .addHelpText('after', HELP)
    .action(async (paths: string[], { json, ...wanted }: VerifyOptions & { json?: true }) => {
      exit(await verify(paths, wanted, json === true, io));
    });
}

function headHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be the 64 hexadecimal digits of a SHA-256.');
}

async function verify(
  paths: readonly string[],
  wanted: VerifyOptions,
  json: boolean,
  io: Io,
): Promise<ExitStatus> {
  const { head } = wanted;
  let worst: ExitStatus = 0;
  const unseen = new Set<string>();
  for (const target of await allTargets(paths, wanted)) {
    const judged = await grade(target, wanted, io.err);
    const opened = await disclosuresOf(target.file, judged);
    const status = Math.max(statusOf(judged), opened?.status ?? 0) as ExitStatus; // each is one
    if (status > worst) worst = status;
    const { verdict } = judged;
    if (verdict !== undefined && 'log' in verdict) unseen.add(verdict.unseen ?? '');
    const { file } = target;
    io.out.line(json ? jsonOf(file, judged, opened) : inWords(file, judged, opened, io.out.style));
  }
  if (worst === 0 && !json && head === undefined) {
    const more = [...unseen].map((words) => `\nAudit logs: ${words}.`);
    io.out.line(io.out.style('quiet', CAVEAT + more.join('')));
  }
  return worst;
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
  if ((count !== undefined || head !== undefined) && targets.length !== 1) {
    throw new CommandError(
      `--count and --head say what one file must hold, and ${targets.length} were given; verify each by itself`,
    );
  }
  return targets;
}

async function grade(target: Target, wanted: VerifyOptions, err: Output): Promise<Judged> {
  const { file, problem } = target;
  if (problem !== undefined) return notRead(problem);
  const progress = progressOf(err, `verifying ${oneLine(file)}`);
  const judged = await judge(
    file,
    (isAudit) => plainly(isAudit ? createAuditVerifier(wanted) : createVerifier(wanted)),
    (done, total) => progress.update(done, total),
  );
  progress.done();
  return judged;
}

function statusOf({ verdict, problem }: Judged): ExitStatus {
  return problem !== undefined ? 2 : verdict.ok ? 0 : 1;
}

/** A verdict: a transcript's as docs/verify.py prints it; an audit log's says that it is one. */
function jsonOf(file: string, { verdict, problem }: Judged, opened?: Disclosures): string {
  const found = verdict ?? { graded: false, problem };
  const disclosures =
    opened === undefined ? {} : { disclosures: opened.found ?? { problem: opened.lines[0] } };
  return harmlessJson(JSON.stringify({ file, ...found, ...disclosures }));
}

/** `ok  file  13 records, sealed` and below it the head, or the fault and below it what it means. */
function inWords(
  file: string,
  { verdict, problem }: Judged,
  opened: Disclosures | undefined,
  style: Style,
): string {
  const name = oneLine(file);
  if (problem !== undefined) {
    return `${style('warning', '?')}      ${name}  not graded: ${oneLine(problem)}`;
  }
  const ok = `${style('good', 'ok')}     ${name}  `;
  const bad = `${style('bad', 'FAULT')}  ${name}  `;
  if ('log' in verdict) {
    return verdict.ok ? ok + auditStanding(verdict, style) : bad + auditFault(verdict);
  }
  const { fault } = verdict;
  const words = disclosureWords(opened, style);
  if (fault === undefined)
    return (opened?.status === 1 ? bad : ok) + standing(verdict, style) + words;
  return `${bad}${faultWords(fault)}\n       ${meaning(fault, verdict)}${words}`;
}
