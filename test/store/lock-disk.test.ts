/**
 * What is left of a lock whose text could not be written.
 *
 * @module
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createTranscript, openTranscript } from '../../src/store/index.ts';
import { systemError } from './faulty.ts';
import { scratch, storeError, USER } from './helpers.ts';

const disk = vi.hoisted(() => ({ full: false }));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    writeFileSync(...args: Parameters<typeof real.writeFileSync>) {
      if (disk.full) throw systemError('ENOSPC');
      real.writeFileSync(...args);
    },
  };
});

const newPath = scratch();

test('a full disk leaves no lock behind, and no file that was not there', async () => {
  const path = newPath();
  disk.full = true;
  await storeError(createTranscript(path), 'failed');
  expect(fs.readdirSync(dirname(path))).toEqual([]);
  disk.full = false;
  const store = await createTranscript(path);
  await store.append([USER]);
  await store.close();
  disk.full = true;
  await storeError(openTranscript(path), 'failed');
  expect(fs.readdirSync(dirname(path))).toEqual(['run.jsonl']);
  disk.full = false;
  await (await openTranscript(path)).close();
});
