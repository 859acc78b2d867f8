/**
 * Shell commands: the built-in tool `run_command` and the check of `--check`. They are not confined to the
 * root: a shell can do whatever the user can.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { tool, type AnyTool, type Check } from '../../index.ts';
import { type JsonObject } from '../../transcript/index.ts';
import { cut } from '../words.ts';
import { type Root } from './root.ts';

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;
/** The loop gives a check up after 10 minutes and aborts it; this only has to be later. */
const CHECK_SECONDS = 700;
const DETAIL_LENGTH = 300;

/** The tool `run_command`. Commands start in the root folder. */
export function shellTool(root: Root): AnyTool {
  return tool({
    name: 'run_command',
    description: `Runs a shell command (sh) in the root folder, without input, for at most timeout_seconds (default ${DEFAULT_SECONDS}). Long output is cut in the middle. Processes left in the background end with the command.`,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        timeout_seconds: { type: 'integer', minimum: 1, maximum: MAX_SECONDS },
      },
      required: ['command'],
      additionalProperties: false,
    },
    parallel: false,
    // The command's own limit comes first.
    timeout: (MAX_SECONDS + 60) * 1000,
    // Two capped outputs, of which JSON may escape every byte.
    maxResultBytes: 1024 * 1024,
    execute: async ({ command, timeout_seconds: limit }, { signal }): Promise<JsonObject> => {
      const seconds = Number(limit ?? DEFAULT_SECONDS);
      const stdout = new CappedText();
      const stderr = new CappedText();
      const outputs = { stdout, stderr };
      const ended = await runCommand(String(command), { cwd: root.path, signal, seconds, outputs });
      return {
        exit_code: ended.exitCode,
        ...(ended.signal === null ? {} : { signal: ended.signal }),
        ...(ended.timedOut ? { timed_out_after_seconds: seconds } : {}),
        stdout: stdout.text(),
        ...(stdout.leftOut === 0 ? {} : { stdout_bytes_left_out: stdout.leftOut }),
        stderr: stderr.text(),
        ...(stderr.leftOut === 0 ? {} : { stderr_bytes_left_out: stderr.leftOut }),
      };
    },
  });
}

/** A check that a command makes: exit status 0 means verified. Its detail is the last line printed. */
export function commandCheck(command: string, cwd: string): Check {
  return async ({ signal }) => {
    const output = new CappedText();
    const outputs = { stdout: output, stderr: output };
    const ended = await runCommand(command, { cwd, signal, seconds: CHECK_SECONDS, outputs });
    const ok = ended.exitCode === 0;
    const how = ended.signal === null ? `exit ${ended.exitCode}` : `ended by ${ended.signal}`;
    const last = cut(output.text().trimEnd().split('\n').at(-1) ?? '', DETAIL_LENGTH);
    if (last === '') return { ok, detail: how };
    return { ok, detail: ok ? last : `${how}: ${last}` };
  };
}

/** Errors tend to stand at the end, so more of it is kept. */
const HEAD_BYTES = 8192;
const TAIL_BYTES = 24_576;

/** Output of any length in bounded memory: its beginning and its end. */
export class CappedText {
  /** How many bytes in the middle were dropped. */
  leftOut = 0;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  add(bytes: Buffer): void {
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    const rest = Buffer.concat([this.#tail, bytes.subarray(room)]);
    const over = Math.max(0, rest.length - TAIL_BYTES);
    this.leftOut += over;
    this.#tail = rest.subarray(over);
  }

  /** What was kept. Where bytes were dropped a line says how many; what isn't UTF-8 becomes U+FFFD. */
  text(): string {
    if (this.leftOut === 0) return Buffer.concat([this.#head, this.#tail]).toString('utf8');
    // The cut may have halved a character on either side.
    const head = this.#head.toString('utf8').replace(/\ufffd+$/, '');
    const tail = this.#tail.toString('utf8').replace(/^\ufffd+/, '');
    return `${head}\n[… ${this.leftOut} bytes left out …]\n${tail}`;
  }
}

/** How a command ended: `exitCode` is null if a signal did it. */
type Ended = { exitCode: number | null; signal: NodeJS.Signals | null; timedOut: boolean };

interface CommandOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly seconds: number;
  readonly outputs: { readonly stdout: CappedText; readonly stderr: CappedText };
}

/** A process group gets this long to end after SIGTERM. */
const GRACE_MS = 2000;
/** A process that left its group may hold the output open for ever; it is waited for only so long. */
const LINGER_MS = 200;

/** The commands that run, and their ends. */
const live = new Map<ChildProcess, Promise<Ended>>();

// The process may be told to go at once: nothing that it started may stay behind.
process.on('exit', () => {
  for (const child of live.keys()) signalGroup(child, 'SIGKILL');
});

/** Resolves when every command that was told to end has ended. */
export async function commandsEnded(): Promise<void> {
  await Promise.allSettled(live.values());
}

/**
 * Runs a command with `sh -c`, without input, until it ends, its time is over, or it is aborted. It has a
 * process group of its own, so that all that it started ends with it, background processes included.
 *
 * @throws {Error} if the shell can't be started.
 */
function runCommand(command: string, options: CommandOptions): Promise<Ended> {
  const { cwd, signal, seconds, outputs } = options;
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (bytes: Buffer) => outputs.stdout.add(bytes));
  child.stderr.on('data', (bytes: Buffer) => outputs.stderr.add(bytes));
  let timedOut = false;
  let grace: NodeJS.Timeout | undefined;
  const kill = (): void => {
    signalGroup(child, 'SIGKILL');
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, LINGER_MS);
  };
  const end = (): void => {
    signalGroup(child, 'SIGTERM');
    grace ??= setTimeout(kill, GRACE_MS);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, seconds * 1000);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  child.on('exit', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    // If it was told to end, what remains of the group has the rest of its grace.
    if (grace === undefined) kill();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, killedBy) => resolve({ exitCode, signal: killedBy, timedOut }));
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(grace);
    live.delete(child);
  });
  live.set(child, ended);
  return ended;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
