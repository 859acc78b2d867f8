/**
 * A command that can't do what was asked.
 *
 * @module
 */

/** Ends the command with status 2. The message says what is wrong and what to do next. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** What a command's exit status means: 0 all held, 1 a fault was found, 2 it could not be graded. */
export type ExitStatus = 0 | 1 | 2;

/** An error's message on one line, without its stack. */
export function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
