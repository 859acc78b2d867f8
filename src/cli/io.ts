/**
 * What a command has of the world: two outputs, an input, the environment.
 *
 * @module
 */
import { styleFor, type Style } from './style.ts';

/** What a command is given. */
export interface Io {
  /** Results. */
  readonly out: Output;
  /** Diagnostics and progress. */
  readonly err: Output;
  readonly stdin: NodeJS.ReadStream;
  readonly env: NodeJS.ProcessEnv;
}

/** A stream to write to. A reader that has gone away (`| head`) is no error: what follows is dropped. */
export class Output {
  /** A terminal that understands control sequences. */
  readonly terminal: boolean;
  readonly style: Style;
  readonly #stream: NodeJS.WriteStream;
  #broken = false;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.terminal = stream.isTTY && env['TERM'] !== 'dumb';
    this.style = styleFor(this.terminal, env);
    stream.on('error', () => {
      this.#broken = true;
    });
  }

  /** Whether nobody reads any more. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The terminal's width; 80 where there is none. */
  get columns(): number {
    // The type says a number, but a stream that is no terminal has none.
    const columns: number | undefined = this.#stream.columns;
    return columns === undefined || columns < 1 ? 80 : columns;
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

/** The process's own. */
export function processIo(): Io {
  const { env, stdin } = process;
  return {
    out: new Output(process.stdout, env),
    err: new Output(process.stderr, env),
    stdin,
    env,
  };
}
