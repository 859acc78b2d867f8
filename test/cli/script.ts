/**
 * Runs script files against the built command, in the style of Go's testscript: commands and what must
 * be true after each, then the files that they need.
 *
 * A line is one of
 *
 *     # what this part is about
 *     > hashtape verify a.jsonl      runs the command; words are split at spaces, 'quotes' hold them together
 *     exit 1                         the exit status of the last command (0 if no line says so)
 *     stdout PATTERN                 a regular expression, multi-line, that its output must match
 *     ! stderr PATTERN               … or must not
 *     file PATH PATTERN              the same for a file
 *     ! exists PATH
 *     env NAME=VALUE
 *     seed NAME [PATH]               copies a fixture of test/testdata/seeds
 *     link PATH TARGET               makes a symbolic link
 *     mkdir PATH
 *
 * and `-- PATH --` begins a file, up to the next or the end.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The built command. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const SEEDS = fileURLToPath(new URL('../testdata/seeds/', import.meta.url));

/** An environment in which nothing of this machine's is found: no key, no Ollama (port 9 discards). */
export function bareEnv(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    OLLAMA_HOST: '127.0.0.1:9',
    LC_ALL: 'C.UTF-8',
  };
}

/** What a program printed, and its exit status. */
export interface Executed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without input to its end. */
export function execute(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<Executed> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? -1, stdout, stderr }));
  });
}

/** Runs a script in a folder of its own, which is gone afterwards. */
export async function runScript(text: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-script-'));
  try {
    const [commands = '', ...files] = text.split(/^-- (?=.+ --$)/m);
    for (const file of files) writeFile(folder, file);
    const script = new Script(folder);
    for (const [index, line] of commands.split('\n').entries()) {
      await script.line(line, index + 1);
    }
    script.end();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeFile(folder: string, file: string): void {
  const newline = file.indexOf('\n');
  const path = join(folder, file.slice(0, newline).replace(/ --$/, ''));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file.slice(newline + 1));
}

class Script {
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #last: Executed = { status: 0, stdout: '', stderr: '' };
  /** What the last command's status must be, checked when the next begins. */
  #expected = 0;
  #command = '';

  constructor(folder: string) {
    this.#folder = folder;
    this.#env = bareEnv(folder);
  }

  async line(text: string, number: number): Promise<void> {
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    const negated = trimmed.startsWith('! ');
    const [verb = '', ...rest] = (negated ? trimmed.slice(2) : trimmed).split(' ');
    const argument = rest.join(' ').trim();
    const where = `line ${number}: ${trimmed}\nafter: ${this.#command}\n${JSON.stringify(this.#last, null, 1)}`;
    if (verb === '>') await this.#exec(argument);
    else if (verb === 'exit') this.#expected = Number(argument);
    else if (verb === 'stdout' || verb === 'stderr')
      match(this.#last[verb], argument, negated, where);
    else if (verb === 'file') {
      const [path = '', ...pattern] = rest;
      match(readFileSync(join(this.#folder, path), 'utf8'), pattern.join(' '), negated, where);
    } else if (verb === 'exists') {
      expect(existsSync(join(this.#folder, argument)), where).toBe(!negated);
    } else this.#arrange(verb, rest, where);
  }

  end(): void {
    const seen = `after: ${this.#command}\n${JSON.stringify(this.#last, null, 1)}`;
    expect(this.#last.status, seen).toBe(this.#expected);
    // Whatever happens, no stack trace.
    expect(this.#last.stderr, seen).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  }

  async #exec(command: string): Promise<void> {
    this.end();
    const [program = '', ...args] = words(command);
    const isOurs = program === 'hashtape';
    this.#command = command;
    this.#expected = 0;
    this.#last = await execute(
      isOurs ? process.execPath : program,
      isOurs ? [MAIN, ...args] : args,
      {
        cwd: this.#folder,
        env: this.#env,
      },
    );
  }

  #arrange(verb: string, rest: readonly string[], where: string): void {
    const [first = '', second = first] = rest;
    const at = (path: string): string => join(this.#folder, path);
    if (verb === 'env') {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(rest.join(' ')) ?? [];
      this.#env[name] = value;
    } else if (verb === 'seed') {
      mkdirSync(dirname(at(second)), { recursive: true });
      copyFileSync(join(SEEDS, first), at(second));
    } else if (verb === 'link') symlinkSync(second, at(first));
    else if (verb === 'mkdir') mkdirSync(at(first), { recursive: true });
    else throw new Error(`no such verb: ${where}`);
  }
}

function match(text: string, pattern: string, negated: boolean, where: string): void {
  expect(new RegExp(pattern, 'mu').test(text), where).toBe(!negated);
}

function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
