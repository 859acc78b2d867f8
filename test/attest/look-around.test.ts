/**
 * What a library user sees with `lookAround`: the catalogue of the folder and git notes, as the command does.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { noteRun } from '../../src/attest/catalog-notes.ts';
import { checkpointPath, readCheckpoints } from '../../src/attest/checkpoint-file.ts';
import { addGitNote } from '../../src/attest/git.ts';
import { examineFile, HeadMemory, lookAround, type Knowledge } from '../../src/attest/index.ts';
import { encodeNote } from '../../src/evidence/index.ts';
import { scratch } from '../store/helpers.ts';
import { signer, userIn, within, writeLog } from './support.ts';

const newPath = scratch();

/** Takes the last record and the checkpoints away; what is known to somebody without memory. */
function cut(path: string): Knowledge {
  writeFileSync(path, readFileSync(path, 'utf8').replace(/[^\n]*\n$/, ''));
  rmSync(checkpointPath(path));
  return { keys: [signer().verifier], memory: new HeadMemory(newPath('empty')) };
}

test('a run that was cut is told by the catalogue of its folder', async () => {
  const path = within(newPath('folder'), 'a.jsonl');
  const { attesting } = userIn(newPath('state'));
  await writeLog(path, { ...attesting, onState: (state) => noteRun(state, attesting) });
  const knowledge = cut(path);
  expect(await examineFile(path, knowledge, { allowOpen: true })).toMatchObject({ ok: true });
  const { fault } = await examineFile(path, lookAround(knowledge), { allowOpen: true });
  expect(fault).toMatchObject({
    reason: 'rolled_back',
    detail: 'the catalogue of its folder states 5 records, and it has 4',
  });
});

test('and by a git note', async () => {
  const path = within(newPath('folder'), 'a.jsonl');
  await writeLog(path, userIn(newPath('state')).attesting);
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', args, { cwd: dirname(path), stdio: 'pipe' });
  git('init', '-q');
  for (const [name, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@example.com'],
  ] as const)
    git('config', name, value);
  git('commit', '-q', '--allow-empty', '-m', 'begin');
  const note = readCheckpoints(path)?.checkpoints.at(-1)?.note;
  if (note === undefined) throw new Error('no checkpoint');
  await addGitNote(dirname(path), encodeNote(note));
  const knowledge = cut(path);
  const { fault } = await examineFile(path, lookAround(knowledge), { allowOpen: true });
  expect(fault?.reason).toBe('rolled_back');
  expect(fault?.detail).toMatch(/^the git note on commit [0-9a-f]{12} states 5 records/);
});
