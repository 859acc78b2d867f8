/**
 * Ctrl-C and its like: the first aborts the run, which seals its transcript; the second leaves at once.
 *
 * @module
 */
import { problemOf } from './command-error.ts';

/** What ends a run from outside. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Gives the signals back. */
  readonly release: () => void;
}

/** 128 + SIGINT, as shells report it. */
const KILLED = 130;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Takes the process's signals, and errors that a tool's own code let escape: they too must end in a
 * sealed transcript, and not in a stack trace.
 *
 * @param say is told what happened, in words.
 */
export function takeInterrupts(say: (what: string) => void): Interrupt {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(KILLED);
    say(`${name}: ending the run and sealing its transcript; again to leave at once`);
    controller.abort();
  };
  const onError = (error: unknown): void => {
    if (controller.signal.aborted) return;
    say(`an error escaped from a tool's own code: ${problemOf(error)}; ending the run`);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return {
    signal: controller.signal,
    release() {
      for (const name of SIGNALS) process.off(name, onSignal);
      process.off('uncaughtException', onError);
      process.off('unhandledRejection', onError);
    },
  };
}
