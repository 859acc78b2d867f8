/**
 * Where a run's transcript goes.
 *
 * @module
 */
import { type Durability } from '../store/file-store.ts';
import { createTranscript } from '../store/file.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { CommandError } from './command-error.ts';
import { oneLine } from './harmless.ts';

const SLUG_LENGTH = 40;
/** Runs of one task that begin in one second get numbers; so many are surely something else. */
const MAX_NUMBERED = 1000;

/** What decides the path. */
export interface OutRequest {
  /** `--out`. */
  readonly out: string | undefined;
  readonly task: string;
  readonly durability: Durability;
  readonly now: Date;
}

/**
 * Creates the transcript: at `--out`, or at the first free `runs/<UTC time>-<task>.jsonl`.
 *
 * @throws {CommandError} if the name is taken or the file can't be made.
 */
export async function createOut(request: OutRequest): Promise<TranscriptStore> {
  const { out, task, durability, now } = request;
  const base = out ?? `runs/${timeName(now)}-${slug(task)}`;
  for (let k = 1; ; k += 1) {
    const path = out ?? `${base}${k === 1 ? '' : `-${k}`}.jsonl`;
    try {
      return await createTranscript(path, { durability });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const taken = error.code === 'exists' || error.code === 'locked';
      if (out !== undefined || !taken || k === MAX_NUMBERED) {
        throw new CommandError(
          `the transcript can't be begun: ${oneLine(error.message)}; --out FILE names another place`,
          { cause: error },
        );
      }
    }
  }
}

/** `2026-11-30T10-40-44Z`: sorts by time, and is a file name everywhere. */
function timeName(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
}

/** The task's first words in the letters that every file system takes. */
function slug(task: string): string {
  const words = task
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const short = words.replace(/^-+/, '').slice(0, SLUG_LENGTH).replace(/-+$/, '');
  return short === '' ? 'run' : short;
}
