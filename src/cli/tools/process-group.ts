/**
 * Shell commands in process groups of their own, so that all they start ends with them.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';

/** How a command ended. */
export interface Ended {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
}

/** What a command is given. */
export interface CommandOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly milliseconds: number;
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => void;
}

/** A group gets this long to end after SIGTERM. */
const GRACE_MS = 2000;
/** What still holds the output open when the command itself has ended was left in the background. */
const LINGER_MS = 200;

const live = new Set<Group>();

// The process may be told to go at once: nothing that it started may stay behind.
process.on('exit', () => {
  for (const group of live) group.signal('SIGKILL');
});

/**
 * Runs a command with `sh -c`, without input, until it ends, its time is over, or it is aborted. Its
 * whole process group ends with it, background processes included.
 *
 * @throws {Error} if the shell can't be started.
 */
export function runCommand(command: string, options: CommandOptions): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: options.cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const group = new Group(child);
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (bytes: Buffer) => options.onOutput(stream, bytes));
  }
  const end = (): void => group.end();
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, options.milliseconds);
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    const settle = (): void => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', end);
    };
    child.on('error', (error) => {
      settle();
      reject(error);
    });
    child.on('exit', () => {
      settle();
      group.sweep();
    });
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, timedOut }));
  });
}

/** Resolves when every command that was told to end has ended. */
export async function commandsEnded(): Promise<void> {
  await Promise.all([...live].map((group) => group.ended));
}

/** A command and everything it started that stayed in its group. */
class Group {
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #kill: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    live.add(this);
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(this.#kill);
        live.delete(this);
        resolve();
      };
      child.on('close', over);
      child.on('error', over);
    });
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left in the group.
    }
  }

  /** Asks the group to end, then makes it. */
  end(): void {
    this.signal('SIGTERM');
    this.#kill ??= setTimeout(() => {
      this.signal('SIGKILL');
      this.#letGo();
    }, GRACE_MS);
  }

  /** The command has ended: so must what it left in the background. */
  sweep(): void {
    // If it was told to end, what remains of it has the rest of its grace.
    this.#kill ??= setTimeout(() => {
      this.signal('SIGKILL');
      this.#letGo();
    }, LINGER_MS);
  }

  /** A process that left the group may hold the output open for ever; it is no longer waited for. */
  #letGo(): void {
    setTimeout(() => {
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    }, LINGER_MS);
  }
}
