/**
 * Checkpoints as git notes: kept in the repository of the transcript's folder, under `refs/notes/hashtape`.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../store/store-errors.ts';

const REF = 'refs/notes/hashtape';

/** What a git note holds, and the commit that it is on. */
export interface GitNote {
  readonly commit: string;
  readonly text: string;
}

/** Git can't do what was asked. The message says what to do. */
export class GitError extends Error {
  override readonly name = 'GitError';
}

/**
 * Adds a text to the note on the current commit; returns that commit.
 *
 * @throws {GitError} if the folder is in no repository, or in one without a commit.
 */
export async function addGitNote(folder: string, text: string): Promise<string> {
  const commit = await git(folder, ['rev-parse', '--verify', 'HEAD']).catch((error: unknown) => {
    throw new GitError(
      `there is no commit to put a note on (${messageOf(error)}): the transcript must be in a git repository with a commit`,
    );
  });
  await git(folder, ['notes', '--ref', REF, 'append', '-F', '-', commit], text);
  return commit;
}

/** Finds the notes in the repository that a folder is in; none if it is in none, or git isn't there. */
export type FindGitNotes = (folder: string) => Promise<readonly GitNote[]>;

/** A finder that asks git once for each folder. */
export function gitNotes(): FindGitNotes {
  const folders = new Map<string, Promise<readonly GitNote[]>>();
  return (folder) => {
    const notes = folders.get(folder) ?? readNotes(folder);
    folders.set(folder, notes);
    return notes;
  };
}

async function readNotes(folder: string): Promise<readonly GitNote[]> {
  // Most folders are in no repository, and starting git takes longer than verifying a run.
  if (!isInRepository(folder)) return [];
  // Every line of every note, each after the place that it is in; `:/` as the folder isn't one of theirs.
  const args = ['grep', '--no-color', '--full-name', '-e', '', REF, '--', ':/'];
  const found = await git(folder, args).catch(() => '');
  const texts = new Map<string, string>();
  for (const line of found.split('\n')) {
    const [, place, text = ''] = LINE.exec(line) ?? [];
    // The note on a commit is a file of its name, which may be split into folders.
    const commit = place?.replaceAll('/', '');
    if (commit !== undefined) texts.set(commit, `${texts.get(commit) ?? ''}${text}\n`);
  }
  return [...texts].map(([commit, text]) => ({ commit, text }));
}

const LINE = new RegExp(`^${REF}:([0-9a-f/]+):(.*)$`);

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (at === dirname(at)) return false;
  }
}

/** Long enough for a slow disk, and not for ever: a hook or a prompt could wait for somebody. */
const TIMEOUT_MS = 30_000;

/** Runs git; gives what it prints, without the last newline. */
function git(folder: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile('git', [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.replace(/\n$/, ''));
      else reject(new GitError(stderr.trim().split('\n', 1)[0] || error.message));
    });
    // Git may end without reading all of it.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
