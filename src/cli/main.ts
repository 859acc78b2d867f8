#!/usr/bin/env node
/**
 * The command `hashtape`: finds the subcommand, loads it, and turns whatever happens into an exit status.
 *
 * It imports nothing heavy, so that `hashtape --version` and `--help` are quick.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CommandError, problemOf } from './command-error.ts';
import { harmless, oneLine } from './harmless.ts';
import { processIo, type Io } from './io.ts';

/** A subcommand's own file. */
interface CommandModule {
  /** Declares arguments, options and what to do; `exit` takes the status. */
  readonly register: (command: Command, io: Io, exit: (status: number) => void) => void;
}

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  demo: {
    summary: 'the whole of it in a few seconds: no model, no key, no network',
    load: () => import('./demo-command.ts'),
  },
  run: {
    summary: 'run a task with a model and tools, under budgets, and record it',
    load: () => import('./run.ts'),
  },
  verify: {
    summary: 'check that transcripts are what was written',
    load: () => import('./verify.ts'),
  },
  show: {
    summary: 'read a transcript in the terminal',
    load: () => import('./show.ts'),
  },
};

const EXAMPLES = `
Examples:
  hashtape demo
  hashtape run --model openai:gpt-5-mini --with fs "What does this folder hold?"
  hashtape verify runs/
  hashtape show runs/today.jsonl

Exit status: 0 all held, 1 a fault was found, 2 it could not be graded (usage,
unreadable, missing).
`;

const io = processIo();
const exitStatus = await main(process.argv.slice(2));
await Promise.all([io.out.flushed(), io.err.flushed()]);
// Tools that were given up and idle connections must not keep the process.
process.exit(exitStatus);

async function main(args: readonly string[]): Promise<number> {
  let status = 0;
  try {
    const program = createProgram();
    for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
      const command = program.command(name).summary(summary);
      // `hashtape help verify` names it second.
      if (!args.slice(0, 2).includes(name)) continue;
      const { register } = await load();
      register(command.description(sentence(summary)), io, (given) => {
        status = given;
      });
    }
    if (args.length === 0) {
      io.out.write(helpText(program));
      return 0;
    }
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    return failed(error);
  }
}

function createProgram(): Command {
  return new Command('hashtape')
    .description(
      "Runs an AI agent's tool loop under budgets that hold, and keeps a record that anyone can check.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .showHelpAfterError('(add --help to see how it is used)')
    .configureOutput({
      writeOut: (text) => {
        io.out.write(text);
      },
      writeErr: (text) => {
        io.err.write(text);
      },
      outputError: (text, write) => {
        write(`hashtape: ${harmless(text).replace(/^error: /, '')}`);
      },
    });
}

function helpText(program: Command): string {
  return program.helpInformation() + EXAMPLES;
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const data: { version?: unknown } = JSON.parse(text);
  return String(data.version);
}

/** The last resort: one line, never a stack. */
function failed(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    io.err.line(`hashtape: ${harmless(error.message)}`);
    return 2;
  }
  const problem = oneLine(problemOf(error));
  io.err.line(`hashtape: unexpected: ${problem}. This is a fault of hashtape; please report it`);
  return 2;
}
