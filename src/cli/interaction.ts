/**
 * What a person does while a run goes on: answers the questions of `--ask`, and presses Ctrl-C.
 *
 * @module
 */
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { type Ask, type Permit, type PermitRequest } from '../index.ts';
import { canonicalJson } from '../transcript/index.ts';
import { KILLED, type Io } from './io.ts';
import { cut, harmless, oneLine, problemOf } from './words.ts';

/** Whoever answers must see what they agree to; only a flood is cut. */
const SHOWN = 4000;

/** What only reads needs no leave. */
export const permit: Permit = ({ tool }) => ({
  decision: tool.readOnly === true ? 'allow' : 'ask',
});

/**
 * Asks on the terminal; undefined where there is none.
 *
 * @param display makes room for a question, and is told of every line that is typed.
 */
export function asker(
  { stdin, err }: Io,
  display: { ask: (question: string) => void; typed: () => void },
  signal: AbortSignal,
): Ask | undefined {
  if (!stdin.isTTY || !err.terminal) return undefined;
  const nextLine = lineReader(stdin, signal, () => display.typed());
  const always = new Set<string>();
  return async (request) => {
    const { name } = request.call;
    if (always.has(name)) return { allow: true };
    display.ask(`${questionText(request)}\n${CHOICES}`);
    for (;;) {
      const answer = (await nextLine()).trim().toLowerCase();
      // The empty line is a no, and so is the end of the input.
      if (/^(n|no)?$/.test(answer)) return { allow: false, reason: 'the user said no' };
      if (/^(a|always)$/.test(answer)) always.add(name);
      if (always.has(name) || /^(y|yes)$/.test(answer)) return { allow: true };
      display.ask(`  That is none of the answers.\n${CHOICES}`);
    }
  };
}

const CHOICES = '  y yes, n no (default), a always for this tool: ';

/** What the tool will get; a schema may have changed what the model wrote. */
function questionText({ call, arguments: given }: PermitRequest): string {
  const wrote = canonicalJson(call.arguments);
  const gets = jsonOf(given);
  // Compared before they are cut: what isn't shown may be what differs.
  const model = wrote === gets ? '' : `\n  (the model wrote ${shown(wrote)})`;
  return `May ${oneLine(call.name)} run?\n  ${shown(gets)}${model}`;
}

function shown(text: string): string {
  return harmless(cut(text, SHOWN));
}

function jsonOf(value: unknown): string {
  try {
    return canonicalJson(value);
  } catch {
    // A schema may make anything of its input, as dates or maps.
    return inspect(value, { depth: 9 });
  }
}

/**
 * Lines from a terminal; empty when there are no more. It listens all the time and drops what nobody waits
 * for, so that keys pressed before a question appeared don't answer it.
 */
function lineReader(
  input: NodeJS.ReadStream,
  signal: AbortSignal,
  onLine: () => void,
): () => Promise<string> {
  let give: ((line: string) => void) | undefined;
  let over = false;
  const end = (): void => {
    over = true;
    give?.('');
  };
  // Not as a terminal: the terminal's own line mode keeps Ctrl-C a signal.
  createInterface({ input, terminal: false })
    .on('line', (line) => {
      onLine();
      give?.(line);
    })
    .on('close', end);
  signal.addEventListener('abort', end, { once: true });
  return () =>
    new Promise((resolve) => {
      // Whoever waited before has an answer already, so a later one changes nothing.
      give = resolve;
      if (over) resolve('');
    });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets one of the process's signals end what comes before a run. Afterwards they are whoever's they were.
 *
 * @returns undefined if one did.
 */
export async function unlessInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const onSignal = (): void => {
    if (signal.aborted) process.exit(KILLED);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}

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
    if (signal.aborted) {
      say(`${name}: left at once; what was recorded holds, and is not sealed`);
      process.exit(KILLED);
    }
    say(`${name}: ending the run and sealing its transcript; again to leave at once`);
    controller.abort();
  };
  const onError = (error: unknown): void => {
    if (signal.aborted) return;
    const escaped = `an error escaped from a tool's own code: ${problemOf(error)}`;
    say(`${escaped}; ending the run`);
    controller.abort(new Error(escaped));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return signal;
}
