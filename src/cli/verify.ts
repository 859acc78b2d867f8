/**
 * `hashtape verify`: one verdict a file, and an exit status that is the verdict of all.
 *
 * @module
 */
import { sep } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isCatalog } from '../attest/catalog.ts';
import { LEVELS } from '../attest/coverage.ts';
import { placeOf } from '../attest/place-of.ts';
import { meantPath } from '../store/place.ts';
import { unreadable, type VerifyOptions } from '../transcript/index.ts';
import { caveat, notShown, type Graded } from './caveat.ts';
import { openFault, statusWith } from './disclosures.ts';
import { fitted } from './fit.ts';
import { grade, missingFrom, unreachedFrom, type Result } from './grade.ts';
import { CommandError, type ExitStatus, type Io, type Style } from './io.ts';
import { addKnowledgeOptions, copyIn, knowledgeOf, type KnowledgeFlags } from './knowledge.ts';
import { given, oneOf, wholeNumber } from './options.ts';
import { targetsOf, type Target } from './targets.ts';
import { foundWords } from './transcript-words.ts';
import { count as counted, harmlessJson, oneLine } from './words.ts';

const HELP = `
A folder stands for its *.jsonl files, at any depth.

Audit logs of computer episodes are told from transcripts by their first line.

A transcript without a final record (a run in progress, a crash, or a cut end)
counts as a fault; --allow-open accepts it.

What a transcript's chain can't show by itself is looked for around it, where
it is there: signed checkpoints (FILE.checkpoint), what this machine remembers
of the log, and the catalogue of its folder. --require makes an error of what
is missing.

Where values were taken out of a transcript, it says how many FILE.open
discloses. What is withheld is no fault; a disclosure that doesn't match is.

Exit status: 2 if any file could not be graded (missing or unreadable), else 1
if any has a fault, else 0.

Examples:
  hashtape verify runs/today.jsonl
  hashtape verify runs/ --json
  hashtape verify today.jsonl --head 3f1c…  (all 64 digits, kept elsewhere)
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  addKnowledgeOptions(command)
    .argument('<file...>', 'transcripts and audit logs, or folders of them')
    .option('--json', 'print one JSON object a line instead of words')
    .option(
      '--copy <file>',
      'a file of checkpoints that was kept elsewhere (repeatable)',
      copyIn,
      [],
    )
    .option('--count <n>', 'how many records or entries there must be (one file only)', wholeNumber)
    .option('--head <hex>', 'the hash that the last one must have (one file only)', headHash)
    .option('--allow-open', 'accept a transcript without a final record')
    .addOption(
      new Option(
        '--require <level>',
        `what must cover every record (repeatable): ${LEVELS.join(', ')}`,
      )
        .default([], 'nothing')
        .argParser(oneOf(LEVELS)),
    )
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: Flags) => {
      exit(await verify(paths, flags, io));
    });
}

/** The options as commander gives them. */
interface Flags extends VerifyOptions, KnowledgeFlags {
  readonly json?: true;
}

function headHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be the 64 hexadecimal digits of a SHA-256.');
}

async function verify(
  paths: readonly string[],
  { json, key, require, policy, tsaRoots, copy, ...wanted }: Flags,
  io: Io,
): Promise<ExitStatus> {
  const targets = await allTargets(paths, wanted);
  const catalogs = targets.map(({ file }) => file).filter(isCatalog);
  const flags = given({ key, require, policy, tsaRoots, copy });
  const knowledge = await knowledgeOf(io, flags, catalogs.map(placeOf));
  const results: Result[] = [];
  const tell = (result: Result): void => {
    results.push(result);
    io.out.line(
      json === true ? jsonOf(result, wanted.head) : fitted(inWords(result, io.out.style), io.out),
    );
  };
  const ungraded: Result[] = [];
  const unreached = await unreachedFrom(paths, targets, knowledge);
  for (const target of [...targets, ...unreached]) {
    const result = await grade(target, wanted, knowledge, io.err);
    if (result.problem !== undefined && paths.includes(result.file)) ungraded.push(result);
    else tell(result);
  }
  const missing = await missingFrom(paths, results, knowledge);
  // Of a folder that is gone or empty, those that were in it are what is to be said.
  const known = [...missing, ...results];
  for (const result of ungraded) if (!known.some(isBelow(result))) tell(result);
  for (const result of missing) tell(result);
  const worst = Math.max(0, ...results.map(statusOf));
  const graded = gradedIn(results);
  if (graded.held.length + graded.faults > 0 && json !== true) {
    io.out.line(io.out.style('quiet', caveat(graded, wanted.head, io.out)));
  }
  return worst === 0 ? 0 : worst === 1 ? 1 : 2;
}

/** A wrong disclosure is a fault, and the transcript holds all the same. */
function gradedIn(results: readonly Result[]): Graded {
  const held = results.flatMap(({ file, verdict }) =>
    verdict?.ok === true ? [{ file, verdict }] : [],
  );
  const faults = results.filter((result) => statusOf(result) === 1).length;
  return { held, all: results.length, faults };
}

/** Whether another file was in a folder. */
function isBelow({ file: folder }: Result): (other: Result) => boolean {
  const start = meantPath(folder) + sep;
  return ({ file }) => meantPath(file).startsWith(start);
}

/** @throws {CommandError} if something is known of one file, and there are others. */
async function allTargets(
  paths: readonly string[],
  { count, head }: VerifyOptions,
): Promise<readonly Target[]> {
  // By what they are called in full: one that is named twice, or is in a folder that is, is told once.
  const byPath = new Map<string, Target>();
  for (const path of paths) {
    for (const target of await targetsOf(path)) {
      const name = meantPath(target.file);
      if (!byPath.has(name)) byPath.set(name, target);
    }
  }
  const targets = [...byPath.values()];
  const transcripts = targets.filter(({ file }) => !isCatalog(file)).length;
  if ((count !== undefined || head !== undefined) && transcripts !== 1) {
    throw new CommandError(
      `--count and --head say what one file must hold, and there are ${counted(transcripts, 'file')}; verify each by itself`,
    );
  }
  return targets;
}

function statusOf({ verdict, opened }: Result): number {
  if (verdict === undefined) return 2;
  return statusWith(verdict.ok, opened);
}

/** A verdict: a transcript's as docs/verify.py prints it, and the evidence; an audit log's says that it is one. */
function jsonOf(result: Result, head: string | undefined): string {
  const { file, verdict, problem, opened } = result;
  const disclosures =
    opened === undefined ? {} : { disclosures: opened.found ?? { problem: opened.problem } };
  const fault = verdict?.ok === true ? openFault(file, opened) : undefined;
  const beside = fault === undefined ? {} : { ok: false, fault };
  const { held, faults } = gradedIn([result]);
  const not =
    verdict === undefined ? {} : { not_shown: notShown(held, faults, head !== undefined) };
  return harmlessJson(
    JSON.stringify({
      file,
      ...(verdict ?? unreadable(problem)),
      ...not,
      ...beside,
      ...disclosures,
    }),
  );
}

/** `ok  file  13 records, sealed` and below it the head, or the fault and below it what it means. */
function inWords({ file, verdict, problem, opened }: Result, style: Style): string {
  const name = oneLine(file);
  const open = `${style('warning', '?')}      ${name}  `;
  if (problem !== undefined) return `${open}not graded: ${oneLine(problem)}`;
  const good = `${style('good', 'ok')}     ${name}  `;
  const bad = `${style('bad', 'FAULT')}  ${name}  `;
  return foundWords({ file, verdict, opened }, { good, bad, open }, style);
}
