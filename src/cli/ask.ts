/**
 * `--ask`: a person is asked before every tool that isn't read-only.
 *
 * @module
 */
import { createInterface } from 'node:readline';
import { type Ask, type Permit, type PermitRequest } from '../run/permit.ts';
import { canonicalJson } from '../transcript/index.ts';
import { harmless, oneLine } from './harmless.ts';
import { type Io } from './io.ts';
import { cut } from './words.ts';

/** Whoever answers must see what they agree to; only a flood is cut. */
const SHOWN = 4000;

/** Asks on the terminal. */
export interface Asking {
  readonly permit: Permit;
  /** Undefined where nobody can be asked. */
  readonly ask: Ask | undefined;
  readonly close: () => void;
}

/**
 * Prepares to ask.
 *
 * @param shown is called with the question's text when it must appear, so that a display can make room.
 */
export function asking(io: Io, shown: (question: string) => void, signal: AbortSignal): Asking {
  if (!io.stdin.isTTY || !io.err.terminal)
    return { permit, ask: undefined, close: () => undefined };
  const lines = new Lines(io.stdin, signal);
  const always = new Set<string>();
  return {
    permit,
    ask: async (request) => {
      const { name } = request.call;
      if (always.has(name)) return { allow: true };
      shown(questionText(request));
      const answer = (await lines.next())?.trim().toLowerCase();
      if (answer === 'a' || answer === 'always') always.add(name);
      const allow = answer !== undefined && YES.has(answer);
      return allow ? { allow } : { allow, reason: 'the user said no' };
    },
    close: () => lines.close(),
  };
}

/** What only reads needs no leave. */
const permit: Permit = ({ tool }) =>
  tool.readOnly === true ? { decision: 'allow' } : { decision: 'ask' };

const YES: ReadonlySet<string> = new Set(['y', 'yes', 'a', 'always']);

function questionText({ call }: PermitRequest): string {
  const args = harmless(cut(canonicalJson(call.arguments), SHOWN));
  return `May ${oneLine(call.name)} run?\n  ${args}\n  y yes, n no (default), a always for this tool: `;
}

/**
 * Lines from a terminal. It listens all the time and drops what nobody waits for, so that keys pressed
 * before a question appeared don't answer it.
 */
class Lines {
  readonly #reader: ReturnType<typeof createInterface>;
  #waiting: ((line: string | undefined) => void) | undefined;
  #closed = false;

  constructor(input: NodeJS.ReadStream, signal: AbortSignal) {
    // Not as a terminal: the terminal's own line mode keeps Ctrl-C a signal.
    this.#reader = createInterface({ input, terminal: false });
    this.#reader.on('line', (line) => this.#give(line));
    this.#reader.on('close', () => {
      this.#closed = true;
      this.#give(undefined);
    });
    signal.addEventListener('abort', () => this.#give(undefined), { once: true });
  }

  /** The next line; undefined when there is no more. */
  next(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.#reader.close();
  }

  #give(line: string | undefined): void {
    this.#waiting?.(line);
    this.#waiting = undefined;
  }
}
