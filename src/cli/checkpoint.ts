/**
 * `hashtape checkpoint`: signs how a transcript stands, and takes that to other places.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Command } from 'commander';
import { noteAnchor } from '../attest/anchors-file.ts';
import { alone, syncFile } from '../attest/atomic-file.ts';
import { CheckpointWriter, readCheckpoints } from '../attest/checkpoint-file.ts';
import { addToCopy, checkCopy, fileId } from '../attest/copy-file.ts';
import { Examination } from '../attest/examine.ts';
import { addGitNote, GitError } from '../attest/git.ts';
import { openKeyring } from '../attest/key-file.ts';
import { placesIn } from '../attest/places.ts';
import { createAuditVerifier } from '../computer/audit-verify.ts';
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import {
  encodeNote,
  encodeVerifierKey,
  signNote,
  type Note,
  type SignerKey,
} from '../evidence/index.ts';
import { meantPath, realPath } from '../store/place.ts';
import { shellPath } from '../store/shell-path.ts';
import { codeOf } from '../store/store-errors.ts';
import { createVerifier } from '../transcript/index.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { askOthers, type Elsewhere } from './checkpoint-others.ts';
import { keyName } from './evidence-words.ts';
import { certificatesIn, knowledgeOf, policyIn } from './knowledge.ts';
import { ownFiles } from './keeping.ts';
import { AUDIT_LOG, faultWords, judge, plainly } from './verdict.ts';
import { repeated } from './options.ts';
import { oneLine, problemOf } from './words.ts';

interface Flags extends Elsewhere {
  readonly git?: true;
  readonly copy: readonly string[];
}

const HELP = `
A checkpoint is a signed statement: this log had this size and this Merkle
root. Runs make their own; this is for transcripts that have none, and for
taking one elsewhere:

  --git         a git note on the current commit (refs/notes/hashtape); pushed,
                it is out of reach: git push origin refs/notes/hashtape
  --copy FILE   add it to a file in another place
  --tsa URL     a timestamp by an authority (RFC 3161), checked by
                --tsa-roots FILE
  --policy FILE cosignatures by the witnesses in a policy (C2SP tlog-policy)

What is anchored is checked by every later \`hashtape verify\`. That of a
folder's catalogue (hashtape-catalog.jsonl) anchors the runs that are listed
there as closed, so one can be asked for the word on all of them.

Exit status: 0 all was done, 1 somebody who was asked refused or was not
reached, 2 the transcript can't be stated.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file>', 'a transcript')
    .option('--git', 'put it on the current commit as a git note')
    .option('--copy <file>', 'add it to this file (repeatable)', repeated, [])
    .option('--tsa <url>', 'have it stamped by this authority')
    .option('--tsa-roots <file>', "the authority's certificates (PEM)", certificatesIn)
    .option('--policy <file>', 'have it cosigned by the witnesses in this policy', policyIn)
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      exit(await checkpoint(file, flags, io));
    });
}

async function checkpoint(file: string, flags: Flags, io: Io): Promise<ExitStatus> {
  if (flags.tsa !== undefined && flags.tsaRoots === undefined) {
    throw new CommandError(
      '--tsa needs --tsa-roots FILE: without certificates nobody could tell whose timestamp it is',
    );
  }
  for (const copy of flags.copy) checkPlace(file, copy);
  const { signer } = await openKeyring(placesIn(io.env).config).catch((error: unknown) => {
    throw new CommandError(problemOf(error), { cause: error });
  });
  const { path, note } = await stated(file, signer, io);
  const [, size = ''] = note.text.split('\n');
  io.out.line(
    `${oneLine(file)}  checkpoint of ${size} records, by ${oneLine(keyName(encodeVerifierKey(signer.verifier)))}`,
  );
  if (flags.git === true) await toGit(path, note, io);
  for (const copy of flags.copy) await toFile(path, copy, note, io);
  return (await askOthers(path, note, flags, io)) ? 0 : 1;
}

/** Signs what the log holds when nobody else writes to it. */
async function stated(
  file: string,
  signer: SignerKey,
  io: Io,
): Promise<{ readonly path: string; readonly note: Note }> {
  const before = stampOf(file);
  let text = await statementOf(file, io);
  const path = realPath(file);
  const note = await alone(path, async () => {
    // A run may have gone on meanwhile, and have stated more.
    if (stampOf(file) !== before) text = await statementOf(file, io);
    return signed(path, text, signer);
  });
  return { path, note };
}

/** Changes when a file does. */
function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? '' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}

/** What is to be signed. A log that doesn't hold is not stated. */
async function statementOf(file: string, io: Io): Promise<string> {
  const knowledge = await knowledgeOf(io);
  const examination = await Examination.of(file, knowledge);
  const { verdict, problem } = await judge(file, (isAudit) =>
    plainly(
      isAudit ? createAuditVerifier() : createVerifier({ allowOpen: true }, examination.onRecord),
    ),
  );
  const name = oneLine(file);
  if (problem !== undefined) throw new CommandError(`${name}: ${problem}`);
  if ('log' in verdict) throw new CommandError(`${name}: ${AUDIT_LOG}`);
  const { fault } = await examination.end(verdict);
  if (fault !== undefined) {
    const next = `\`hashtape verify ${shellPath(name)}\` says what that means`;
    throw new CommandError(
      `${name}: it doesn't hold, so it isn't signed: ${faultWords(fault)}. ${next}`,
    );
  }
  const { statement: text } = examination;
  if (text === undefined) throw new CommandError(`${name}: there is no record in it`);
  return text;
}

/** The note that states this: one that is there already, or a new one. */
async function signed(path: string, text: string, key: SignerKey): Promise<Note> {
  const { verifier } = key;
  const there = readCheckpoints(path)?.checkpoints.find(
    ({ note }) =>
      note.text === text &&
      note.signatures.some(({ name, keyId }) => name === verifier.name && keyId === verifier.keyId),
  );
  if (there !== undefined) return there.note;
  const note = signNote({ text, signatures: [] }, key, nodeEd25519);
  // Whoever wrote it may not have: after a loss of power it would be shorter than what is stated of it.
  await syncFile(path);
  await new CheckpointWriter(path).append(note);
  return note;
}

async function toGit(path: string, note: Note, io: Io): Promise<void> {
  try {
    const { commit, isNew } = await addGitNote(dirname(path), encodeNote(note));
    const where = isNew ? `on commit ${commit} as a git note` : `on commit ${commit} already`;
    io.out.line(`  ${where}; git push origin refs/notes/hashtape`);
  } catch (error) {
    if (error instanceof GitError) throw new CommandError(`--git: ${error.message}`);
    throw error;
  }
}

/** Before anything is signed or sent: what can't be a copy must not stop half of what was asked. */
function checkPlace(file: string, copy: string): void {
  const place = meantPath(copy);
  try {
    // What is wrong with the log itself is said where it is read.
    if (existsSync(file) && ownFiles(realPath(file)).some((own) => sameFile(own, place))) {
      throw new CommandError('this is a file of the log itself; name one in another place');
    }
    checkCopy(place);
    statSync(dirname(place));
  } catch (error) {
    throw copyError(copy, error);
  }
}

async function toFile(path: string, copy: string, note: Note, io: Io): Promise<void> {
  const place = meantPath(copy);
  const isNew = await addToCopy(place, note).catch((error: unknown) => {
    throw copyError(copy, error);
  });
  await noteAnchor(path, { kind: 'file', path: place });
  const [where, kept] = [oneLine(copy), oneLine(basename(path))];
  io.out.line(
    `  in ${where}${isNew ? '' : ' already'}; keep that where ${kept} can't be changed from`,
  );
}

function sameFile(one: string, other: string): boolean {
  return one === other || (fileId(one) !== null && fileId(one) === fileId(other));
}

function copyError(copy: string, error: unknown): CommandError {
  const folder = oneLine(dirname(meantPath(copy)));
  const problem =
    codeOf(error) === 'ENOENT'
      ? `there is no folder ${folder}; make it, or name another place`
      : problemOf(error);
  return new CommandError(`--copy ${oneLine(copy)}: ${problem}`, { cause: error });
}
