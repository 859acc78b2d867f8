/**
 * What a command has of the world: two outputs, an input, the environment; and how it ends.
 *
 * @module
 */
import { styleText } from 'node:util';

/** What a command is given. */
export interface Io {
  /** Results. */
  readonly out: Output;
  /** Diagnostics and progress. */
  readonly err: Output;
  readonly stdin: NodeJS.ReadStream;
  readonly env: NodeJS.ProcessEnv;
}

/** What a command's exit status means: 0 all held, 1 a fault was found, 2 it could not be graded; a signal ended it. */
export type ExitStatus = 0 | 1 | 2 | typeof KILLED;

/** The status of a command that a second Ctrl-C ended: 128 + SIGINT, as shells report it. */
export const KILLED = 130;

/** Ends the command with status 2. The message says what is wrong and what to do next. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * Whether the file system, or a file that isn't what it should be, is to blame for an error. By name: the classes are in
 * parts that are loaded only when they are used.
 */
export function isTheWorld(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'syscall' in error || ['StoreError', 'EvidenceError'].includes(error.name);
}

/** Styles a text by what it is; leaves it as it is where no style is wanted. */
export type Style = (look: keyof typeof FORMATS, text: string) => string;

const FORMATS = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
  strong: 'bold',
} as const;

/** How a pipe and a socket say it. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET']);

/** Back to the beginning of the terminal's line, and erase it. */
export const ERASE_LINE = '\r\u001b[2K';
export const LINE_UP = '\u001b[1A';

/** A stream to write to. A reader that has gone away (`| head`) is no error: what follows is dropped. */
export class Output {
  /** A terminal that understands control sequences. */
  readonly terminal: boolean;
  readonly style: Style;
  readonly #stream: NodeJS.WriteStream;
  #broken = false;
  #failure: Error | undefined;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.terminal = stream.isTTY && env['TERM'] !== 'dumb';
    // https://no-color.org: set to anything but the empty text.
    const styled = this.terminal && (env['NO_COLOR'] ?? '') === '';
    this.style = (look, text) =>
      styled ? styleText(FORMATS[look], text, { validateStream: false }) : text;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#broken = true;
      if (!READER_GONE.has(error.code)) this.#failure ??= error;
    });
  }

  /** Why what was written is lost, as on a full disk; a reader that has gone away wants no more of it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether nobody reads any more. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The terminal's width; 80 where there is none. */
  get columns(): number {
    // The type says a number, but a stream that is no terminal has none, and some terminals say 0.
    return this.#stream.columns || 80;
  }

  write(text: string): void {
    if (!this.#broken && text !== '') this.#stream.write(text);
  }

  line(text = ''): void {
    this.write(`${text}\n`);
  }

  /** Resolves when what was written has been handed over, or can't be. */
  flushed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#broken) resolve();
      else this.#stream.write('', () => resolve());
    });
  }
}

/** Short work shows nothing, so that nothing flickers. */
const QUIET_MS = 1000;
const BETWEEN_MS = 100;

/** Progress of work called `title`, as `title 34 %`, on a terminal; `done` erases it. */
export function progressOf(
  output: Output,
  title: string,
): { update: (done: number, total: number) => void; done: () => void } {
  let next = output.terminal ? performance.now() + QUIET_MS : Infinity;
  let shown = false;
  return {
    update(done, total) {
      const now = performance.now();
      if (now < next) return;
      next = now + BETWEEN_MS;
      shown = true;
      const much = total > 0 ? `${Math.floor((done / total) * 100)} %` : `${done} bytes`;
      const room = Math.max(0, output.columns - much.length - 2);
      output.write(`${ERASE_LINE}${title.slice(0, room).trimEnd()} ${much}`);
    },
    done() {
      if (shown) output.write(ERASE_LINE);
    },
  };
}
