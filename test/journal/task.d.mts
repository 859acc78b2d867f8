/**
 * The types of `task.mjs`, which a child process runs as it is.
 *
 * @module
 */
import { type RunOptions } from '../../src/run/options.ts';

export const STEPS: number;
export function taskWith(
  effects: string,
  operation?: (name: string) => void,
): Omit<RunOptions, 'transcript' | 'resume'>;
