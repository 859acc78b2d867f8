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
 * Adds a text to the note on the current commit, unless it stands there; returns that commit.
 *
 * @throws {GitError} if the folder is in no repository, or in one without a commit.
 */
export async function addGitNote(
  folder: string,
  text: string,
): Promise<{ readonly commit: string; readonly isNew: boolean }> {
  const head = await git(folder, ['rev-parse', '--verify', 'HEAD']).catch((error: unknown) => {
    throw new GitError(
      `there is no commit to put a note on (${messageOf(error)}): the transcript must be in a git repository with a commit`,
    );
  });
  const commit = head.toString().trim();
  const notes = await readNotes(folder);
  const isThere = notes.some((note) => note.commit === commit && note.text.includes(text));
  if (!isThere) await git(folder, ['notes', '--ref', REF, 'append', '-F', '-', commit], text);
  return { commit, isNew: !isThere };
}

/** What was found in a repository, or why it could not be looked at. */
export interface GitNotes {
  readonly notes: readonly GitNote[];
  readonly problem?: string;
}

/** Finds the notes in the repositories that a folder is in; none if it is in none. */
export type FindGitNotes = (folder: string) => Promise<GitNotes>;

/** A finder that asks git once for each folder. */
export function gitNotes(): FindGitNotes {
  const repositories = new Map<string, Promise<GitNotes>>();
  const notesIn = (repository: string): Promise<GitNotes> => {
    const notes = repositories.get(repository) ?? findNotes(repository);
    repositories.set(repository, notes);
    return notes;
  };
  return async (folder) => {
    const all = repositoriesAround(folder);
    const found = await Promise.all(all.slice(0, MAX_REPOSITORIES).map(notesIn));
    const problems = found.flatMap(({ problem }) => problem ?? []);
    if (all.length > MAX_REPOSITORIES)
      problems.push(`git notes of only ${MAX_REPOSITORIES} repositories around it were looked at`);
    const notes = found.flatMap((each) => each.notes);
    return problems.length === 0 ? { notes } : { notes, problem: problems.join('; ') };
  };
}

/** More within each other are somebody's play. */
const MAX_REPOSITORIES = 16;

async function findNotes(folder: string): Promise<GitNotes> {
  try {
    return { notes: await readNotes(folder) };
  } catch (error) {
    return { notes: [], problem: `git notes could not be looked at: ${messageOf(error)}` };
  }
}

/**
 * The outermost first. Not the nearest alone: whoever can write a folder can make it one, and what is noted in those
 * around it would be seen no more. Most folders are in none, and starting git takes longer than verifying a run.
 */
function repositoriesAround(folder: string): readonly string[] {
  const all: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) all.unshift(at);
    if (at === dirname(at)) return all;
  }
}

/** By git's plumbing alone: how its other commands print depends on the repository's own settings. */
async function readNotes(folder: string): Promise<GitNote[]> {
  const refs = (await git(folder, ['for-each-ref', '--format=%(objectname)', REF])).toString();
  const tip = refs.trim();
  if (tip === '') return [];
  const tree = (await git(folder, ['ls-tree', '-r', '-z', '--full-tree', tip])).toString();
  const entries = tree.split('\0').flatMap((line) => {
    const found = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line);
    return found === null ? [] : [found];
  });
  const names = entries.map(([, blob = '']) => blob);
  const blobs = await git(folder, ['cat-file', '--batch'], `${names.join('\n')}\n`);
  const notes: GitNote[] = [];
  let at = 0;
  for (const [, blob = '', path = ''] of entries) {
    const end = blobs.indexOf(NEWLINE, at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(blobs.toString('latin1', at, end)) ?? [];
    if (size === undefined) throw new GitError(`the note ${blob.slice(0, 12)} is not there`);
    at = end + 1 + Number(size);
    // The note on a commit is a file of its name, which may be split into folders.
    notes.push({ commit: path.replaceAll('/', ''), text: blobs.toString('utf8', end + 1, at) });
    at += 1;
  }
  return notes;
}

const NEWLINE = 0x0a;

/** Long enough for a slow disk, and not for ever: a hook or a prompt could wait for somebody. */
const TIMEOUT_MS = 30_000;

/**
 * The repository may be anybody's: its settings must make git neither fetch what is missing nor run a program. No
 * transport is allowed, and what would be run at other times is nothing.
 */
const HARMLESS = [
  'protocol.allow=never',
  'core.sshCommand=false',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
].flatMap((setting) => ['-c', setting]);

/**
 * What names another repository than that of the folder, shows another content of it, or is of a command that goes on in
 * another one: git sets some of these for hooks. They are those of `git rev-parse --local-env-vars`, but for settings
 * (`GIT_CONFIG_COUNT` and such): a job tells git by them who it is, and which folders are safe, and none of them leads to
 * another repository; and `GIT_NO_REPLACE_OBJECTS`, by which less is exchanged for something else, not more.
 */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_COMMON_DIR',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_REPLACE_REF_BASE',
  // No command that is used here runs with it.
  'GIT_INTERNAL_SUPER_PREFIX',
  // While a push is received: git then changes no ref, of no repository.
  'GIT_QUARANTINE_PATH',
]);

function surroundings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ELSEWHERE.has(name)));
}

/** Runs git; gives what it prints. */
function git(folder: string, args: readonly string[], input = ''): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      cwd: folder,
      timeout: TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
      encoding: 'buffer' as const,
      env: { ...surroundings(), GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0' },
    };
    const child = execFile('git', [...HARMLESS, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new GitError(firstLine(stderr.toString()) || error.message));
    });
    // Git may end without reading all of it.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** What git says first, and what to do where it says that later. */
function firstLine(stderr: string): string {
  const [line = ''] = stderr.trim().split('\n', 1);
  const isNobody = /identity unknown|tell me who you are/i.test(stderr);
  return isNobody ? `${line}: set user.name and user.email with git config` : line;
}
