#!/usr/bin/env node
/**
 * The command `hashtape`: finds the subcommand, loads it, and turns whatever happens into an exit status.
 *
 * It imports nothing heavy, so that `hashtape --version` and `--help` are quick.
 *
 * @module
 */
import { Console } from 'node:console';
import { readFileSync, writeSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CommandError, isTheWorld, KILLED, Output, type Io } from './io.ts';
import { datesInWords, harmless, oneLine, problemOf } from './words.ts';

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
  resume: ['go on with a run that was cut off', () => import('./resume.ts')],
  replay: ['carry recorded runs again, without a model, and compare', () => import('./replay.ts')],
  diff: ['tell where two recorded runs part', () => import('./diff.ts')],
  episode: [
    'reach a goal on a web page, with an audit log and a check that looks for itself',
    () => import('./episode.ts'),
  ],
  verify: ['check that transcripts are what was written', () => import('./verify.ts')],
  show: ['read a transcript in the terminal', () => import('./show.ts')],
  checkpoint: [
    'sign how a transcript stands, and take that elsewhere',
    () => import('./checkpoint.ts'),
  ],
  key: ['the key that signs checkpoints: show, new, rotate', () => import('./key.ts')],
  heads: ['what was seen of each transcript: list, forget', () => import('./heads.ts')],
  prove: ['put one record into a file that proves it without the rest', () => import('./prove.ts')],
  check: ['check such a proof, without the transcript', () => import('./check.ts')],
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

const ENDED_EARLY =
  'hashtape: something ended the process before the command was done (a tool that calls process.exit, say). The transcript, if there is one, is not sealed; `hashtape resume` goes on with it\n';

const { env, stdin, stdout, stderr } = process;
const io: Io = { out: new Output(stdout, env), err: new Output(stderr, env), stdin, env };
// A tool is other people's code in this process: if it ends the process, that must not look like success.
let ended = false;
process.on('exit', (status) => {
  if (ended || status === KILLED) return;
  process.exitCode = 2;
  writeSync(stderr.fd, ENDED_EARLY);
});
// What tools print is no result of ours: stdout may be read by a program.
globalThis.console = new Console(stderr, stderr);
let exitStatus = await main(process.argv.slice(2));
await io.out.flushed();
if (io.out.failure !== undefined) {
  io.err.line(`hashtape: could not write the result: ${problemOf(io.out.failure)}`);
  exitStatus = 2;
}
await io.err.flushed();
ended = true;
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
        const message = unknownWords(text) ?? harmless(text).replace(/^error: /, 'hashtape: ');
        write(message.replace(/too many .*'run'.*/, '$& Put the task in quotes.'));
      },
    });
}

/** A command that isn't there is taken for an argument of the one that is meant where none is named. */
function unknownWords(text: string): string | undefined {
  const [, used = ''] = /^error: too many arguments for '(\w+)'/.exec(text) ?? [];
  const [name = '', ...more] = process.argv.slice(2);
  const unknown = more.find((argument) => !argument.startsWith('-'));
  if (used === '' || used === name || unknown === undefined || unknown === used) return undefined;
  return `hashtape: ${name}: unknown command '${oneLine(unknown)}'\n`;
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
  const isGone = error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
  if (isGone) {
    io.err.line('hashtape: the working folder is gone; change to one that exists');
    return 2;
  }
  const message =
    error instanceof CommandError
      ? harmless(error.message)
      : isTheWorld(error)
        ? problemOf(error)
        : `unexpected: ${problemOf(error)}. This is a fault of hashtape; please report it`;
  io.err.line(`hashtape: ${datesInWords(message)}`);
  return 2;
}
