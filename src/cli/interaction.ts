/**
 * What a person does while a run goes on: answers the questions of `--ask`, and presses Ctrl-C.
 *
 * @module
 */
import { createInterface } from 'node:readline';
import { type Ask, type Permit, type PermitRequest } from '../index.ts';
import { canonicalJson } from '../transcript/index.ts';
import { type Io } from './io.ts';
import { cut, harmless, oneLine, problemOf } from './words.ts';

/** Whoever answers must see what they agree to; only a flood is cut. */
const SHOWN = 4000;
const YES: ReadonlySet<string> = new Set(['y', 'yes', 'a', 'always']);

/** What only reads needs no leave. */
export const permit: Permit = ({ tool }) => ({
  decision: tool.readOnly === true ? 'allow' : 'ask',
});

/**
 * Asks on the terminal; undefined where there is none.
 *
 * @param show is called with the question's text when it must appear, so that a display can make room.
 */
export function asker(
  { stdin, err }: Io,
  show: (question: string) => void,
  signal: AbortSignal,
): Ask | undefined {
  if (!stdin.isTTY || !err.terminal) return undefined;
  const nextLine = lineReader(stdin, signal);
  const always = new Set<string>();
  return async (request) => {
    const { name } = request.call;
    if (always.has(name)) return { allow: true };
    show(questionText(request));
    const answer = (await nextLine()).trim().toLowerCase();
    if (answer === 'a' || answer === 'always') always.add(name);
    return YES.has(answer) ? { allow: true } : { allow: false, reason: 'the user said no' };
  };
}

function questionText({ call }: PermitRequest): string {
  const args = harmless(cut(canonicalJson(call.arguments), SHOWN));
  return `May ${oneLine(call.name)} run?\n  ${args}\n  y yes, n no (default), a always for this tool: `;
}

/**
 * Lines from a terminal; empty when there are no more. It listens all the time and drops what nobody waits
 * for, so that keys pressed before a question appeared don't answer it.
 */
function lineReader(input: NodeJS.ReadStream, signal: AbortSignal): () => Promise<string> {
  let give: ((line: string) => void) | undefined;
  let over = false;
  const end = (): void => {
    over = true;
    give?.('');
  };
  // Not as a terminal: the terminal's own line mode keeps Ctrl-C a signal.
  createInterface({ input, terminal: false })
    .on('line', (line) => give?.(line))
    .on('close', end);
  signal.addEventListener('abort', end, { once: true });
  return () =>
    new Promise((resolve) => {
      // Whoever waited before has an answer already, so a later one changes nothing.
      give = resolve;
      if (over) resolve('');
    });
}

/** 128 + SIGINT, as shells report it. */
const KILLED = 130;

/**
 * Takes the process's signals for the rest of its life: the first aborts, so that the run seals its
 * transcript; the second leaves at once. So do errors that a tool's own code let escape: they too must end
 * in a sealed transcript, and not in a stack trace.
 *
 * @param say is told what happened, in words.
 */
export function takeInterrupts(say: (what: string) => void): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const onSignal = (name: NodeJS.Signals): void => {
    if (signal.aborted) process.exit(KILLED);
    say(`${name}: ending the run and sealing its transcript; again to leave at once`);
    controller.abort();
  };
  const onError = (error: unknown): void => {
    if (signal.aborted) return;
    say(`an error escaped from a tool's own code: ${problemOf(error)}; ending the run`);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return signal;
}
