/**
 * Python, where there is one: the second opinion of several tests.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';

export const hasPython: boolean =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']).status === 0;

/** What to add to a test's name so that a skipped one says why. */
export const NEEDS_PYTHON: string = hasPython ? '' : ' (skipped: no python3 of 3.8 or later here)';

/** Runs Python and returns what it printed. */
export function python(args: readonly string[], input = ''): { status: number; stdout: string } {
  const run = spawnSync('python3', args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (run.status === null || run.stderr !== '') throw new Error(`python3: ${run.stderr}`);
  return { status: run.status, stdout: run.stdout };
}
