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
import { CommandError, Output, type Io } from './io.ts';
import { harmless, problemOf } from './words.ts';

/** A subcommand's own file: declares arguments, options and what to do; `exit` takes the status. */
interface CommandModule {
  readonly register: (command: Command, io: Io, exit: (status: number) => void) => void;
}

const COMMANDS: Readonly<Record<string, readonly [string, () => Promise<CommandModule>]>> = {
  demo: [
    'the whole of it in a few seconds: no model, no key, no network',
    () => import('./demo.ts'),
  ],
  run: [
    'run a task with a model and tools, under budgets, and record it',
    () => import('./run.ts'),
  ],
  verify: ['check that transcripts are what was written', () => import('./verify.ts')],
  show: ['read a transcript in the terminal', () => import('./show.ts')],
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

const { env, stdin, stdout, stderr } = process;
const io: Io = { out: new Output(stdout, env), err: new Output(stderr, env), stdin, env };
let exitStatus = await main(process.argv.slice(2));
await io.out.flushed();
if (io.out.failure !== undefined) {
  io.err.line(`hashtape: could not write the result: ${problemOf(io.out.failure)}`);
  exitStatus = 2;
}
await io.err.flushed();
// Tools that were given up, idle connections and a terminal that is read must not keep the process.
process.exit(exitStatus);

async function main(args: readonly string[]): Promise<number> {
  let status = 0;
  try {
    const program = createProgram();
    for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
      const command = program.command(name).summary(summary);
      // Only what is named is loaded; `hashtape help verify` names it second.
      if (!args.slice(0, 2).includes(name)) continue;
      const { register } = await load();
      command.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
      register(command, io, (given) => {
        status = given;
      });
    }
    if (args.length === 0) io.out.write(program.helpInformation() + EXAMPLES);
    else await program.parseAsync(args, { from: 'user' });
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
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      outputError: (text, write) => {
        const message = harmless(text).replace(/^error: /, 'hashtape: ');
        write(message.replace(/too many .*'run'.*/, '$& Put the task in quotes.'));
      },
    });
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const data: { version?: unknown } = JSON.parse(text);
  return String(data.version);
}

/** The last resort: a message, never a stack. */
function failed(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message =
    error instanceof CommandError
      ? harmless(error.message)
      : `unexpected: ${problemOf(error)}. This is a fault of hashtape; please report it`;
  io.err.line(`hashtape: ${message}`);
  return 2;
}
