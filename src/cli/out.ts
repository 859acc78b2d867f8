/**
 * Where a new transcript goes.
 *
 * @module
 */
import { rm } from 'node:fs/promises';
import { StoreError, type TranscriptStore } from '../store/index.ts';
import { CommandError } from './io.ts';
import { type Keeping } from './keeping.ts';
import { oneLine } from './words.ts';

/**
 * Creates the transcript: at `--out`, or at the first free `runs/<UTC time>-<task>.jsonl`.
 *
 * @throws {CommandError} if the name is taken or the file can't be made.
 */
export async function createOut(
  out: string | undefined,
  task: string,
  keeping: Keeping,
): Promise<TranscriptStore> {
  for (let k = 1; ; k += 1) {
    try {
      return await keeping.create(out ?? `runs/${defaultName(task, k)}`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const taken = error.code === 'exists' || error.code === 'locked';
      if (taken && out === undefined) continue;
      // Where a name is taken, the message says itself what to do.
      const advice = error.code === 'exists' ? '' : '; --out FILE names another place';
      throw new CommandError(`the transcript can't be begun: ${oneLine(error.message)}${advice}`, {
        cause: error,
      });
    }
  }
}

/** Closes a transcript that was created, and leaves no empty file of one that nothing came of. */
export async function closeOut(store: TranscriptStore): Promise<void> {
  await store.close();
  if (store.head.count === 0) await rm(store.location, { force: true });
}

/** `2026-11-30T10-40-44Z-what-is-2-40.jsonl`: sorts by time, and is a file name everywhere. */
function defaultName(task: string, k: number): string {
  const time = new Date().toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
  const plain = task.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? ['run'];
  const slug = words.join('-').slice(0, 40).replace(/-$/, '');
  // Runs of one task that begin in one second get numbers.
  return `${time}-${slug}${k === 1 ? '' : `-${k}`}.jsonl`;
}
