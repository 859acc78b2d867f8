/**
 * What `verify` finds about each file: its chain, the evidence around it, its disclosures; and what is missing.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { isCatalog } from '../attest/catalog.ts';
import { Examination, type Examined, type Knowledge } from '../attest/examine.ts';
import { goneAt, goneFrom, unreachedIn, type Found, type Gone } from '../attest/gone.ts';
import { identityIn } from '../attest/identity-in.ts';
import { holdsRecords, type Holds } from '../attest/whole.ts';
import { createAuditVerifier } from '../computer/audit-verify.ts';
import { createVerifier, GENESIS, type VerifyOptions } from '../transcript/index.ts';
import { examineAudit, type ExaminedAudit } from './audit-evidence.ts';
import { auditIn, holdsEntries } from './audit-places.ts';
import { disclosuresOf, type Disclosures } from './disclosures.ts';
import { isTheWorld, progressOf, type Output } from './io.ts';
import { type Target } from './targets.ts';
import { judge, plainly } from './verdict.ts';
import { oneLine, problemOf } from './words.ts';

/** What was found about a file, or why it couldn't be graded. */
export type Result = { readonly file: string; readonly opened?: Disclosures | undefined } & (
  | { readonly verdict: Examined | ExaminedAudit; readonly problem?: undefined }
  | { readonly verdict?: undefined; readonly problem: string }
);

/** Verifies a file, or says that it is missing. */
export async function grade(
  target: Target,
  wanted: VerifyOptions,
  knowledge: Knowledge,
  err: Output,
): Promise<Result> {
  try {
    return await graded(target, wanted, knowledge, err);
  } catch (error) {
    // What lies around one file must not keep others from being verified.
    if (!isTheWorld(error)) throw error;
    return { file: target.file, problem: problemOf(error) };
  }
}

async function graded(
  { file, problem }: Target,
  wanted: VerifyOptions,
  knowledge: Knowledge,
  err: Output,
): Promise<Result> {
  if (problem !== undefined) {
    const gone = await goneAt(file, knowledge.memory, holds);
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
  if ('log' in verdict) {
    const { displaced } = examination;
    return { file, verdict: await examineAudit(file, verdict, knowledge, { displaced }) };
  }
  const opened = await disclosuresOf(file, judged);
  return { file, verdict: await examination.end(verdict), opened };
}

/** What is known to be in the folders among the paths, is there, and wasn't found by going through them. */
export async function unreachedFrom(
  paths: readonly string[],
  targets: readonly Target[],
  { memory }: Knowledge,
): Promise<readonly Target[]> {
  const folders = paths.filter(isFolder);
  if (folders.length === 0) return [];
  const files = targets.map(({ file }) => file);
  return (await unreachedIn(folders, files, memory, logIn)).map((file) => ({ file }));
}

/** What is missing from the folders among the paths. */
export async function missingFrom(
  paths: readonly string[],
  results: readonly Result[],
  { memory }: Knowledge,
): Promise<readonly Result[]> {
  // A folder that is gone may have had many.
  const folders = paths.filter((path) => isFolder(path) || !existsSync(path));
  if (folders.length === 0) return [];
  const files = results.map(({ file }) => file);
  const found = new Map<string, Found[]>();
  for (const { file, verdict } of results) {
    if (verdict?.origin === undefined) continue;
    found.set(verdict.origin, [...(found.get(verdict.origin) ?? []), foundIn(file, verdict)]);
  }
  return (await goneFrom(folders, { files, found }, memory, holds)).map(missing);
}

function foundIn(file: string, verdict: Examined | ExaminedAudit): Found {
  const { count: size, fault } = verdict;
  // Of an audit log, one digest stands for all entries up to it.
  const root = 'log' in verdict ? verdict.head : verdict.root;
  return { file, size, root, isFaulty: fault !== undefined && !LACKS.has(fault.reason) };
}

/** Faults that don't say that a log is other than it was. */
const LACKS: ReadonlySet<string> = new Set([
  'not_sealed',
  'torn_tail',
  'not_covered',
  'unknown_key',
  'count_mismatch',
  'head_mismatch',
]);

const holds: Holds = async (file, stood) =>
  stood.kind === 'audit' ? holdsEntries(file, stood) : holdsRecords(file, stood);

/** Which log is in a file; null if none is. */
async function logIn(file: string): Promise<string | null> {
  return (await identityIn(file))?.id ?? auditIn(file);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // what is wrong with it is said where it is read
  }
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
