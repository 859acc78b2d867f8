/**
 * The files beside a transcript that say something of it.
 *
 * @module
 */
import { renameSync } from 'node:fs';
import { isTaken } from './place.ts';
import { messageOf } from './store-errors.ts';
import { StoreError } from './store.ts';

/** What the names of these files add to the transcript's. */
export const SIDECAR = {
  checkpoints: '.checkpoint',
  anchors: '.anchors',
  disclosures: '.open',
} as const;

/**
 * Keeps what lies beside a path that holds no transcript any more, as `<path>.checkpoint.old-<k>`: it is of one that was
 * removed, and would be wrong of a new one.
 *
 * @throws {StoreError} `failed` if it can't be moved.
 */
export function setSidecarsAside(path: string, location: string): void {
  for (const ending of Object.values(SIDECAR)) setAside(path + ending, location);
}

function setAside(path: string, location: string): void {
  if (!isTaken(path)) return;
  let k = 1;
  while (isTaken(`${path}.old-${k}`)) k += 1;
  try {
    renameSync(path, `${path}.old-${k}`);
  } catch (error) {
    const what = "evidence of another transcript is beside it, and can't be moved away";
    throw new StoreError('failed', `${location}: ${what}: ${messageOf(error)}`, { cause: error });
  }
}
