/**
 * `hashtape run`: a task with a model and tools, under budgets, watched live and recorded.
 *
 * @module
 */
import { realpath, stat } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { run, systemClock, type Outcome, type Price, type RunOptions } from '../index.ts';
import { prepare } from '../run/settings.ts';
import { createTranscript, StoreError, type TranscriptStore } from '../store/index.ts';
import { chooseModel, EXAMPLE } from './choose-model.ts';
import { Display } from './display.ts';
import { asker, permit, takeInterrupts } from './interaction.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { amount, given, wholeNumber } from './options.ts';
import { report } from './report.ts';
import { BUILT_IN, gatherTools, type BuiltIn } from './gather-tools.ts';
import { Root } from './tools/root.ts';
import { commandCheck, commandsEnded } from './tools/shell.ts';
import { harmlessJson, oneLine, problemOf } from './words.ts';

/** The options as commander gives them. */
interface Flags {
  readonly model?: string;
  readonly system?: string;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly tools: readonly string[];
  readonly with: readonly BuiltIn[];
  readonly root: string;
  readonly ask?: true;
  readonly check?: string;
  readonly maxSteps: number;
  readonly maxTokens?: number;
  readonly maxUsd?: number;
  readonly maxSeconds?: number;
  readonly maxToolCalls?: number;
  readonly sentinel?: string;
  readonly stopOnStall?: true;
  readonly out?: string;
  readonly json?: true;
}

const HELP = `
Models: openai:NAME and anthropic:NAME take keys and addresses from OPENAI_API_KEY,
OPENAI_BASE_URL, ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL; ollama:NAME is a local
Ollama (OLLAMA_HOST); scripted:FILE needs no model at all. Without --model,
HASHTAPE_MODEL is taken, else the first model of a local Ollama.

scripted:FILE is JSON: {"turns": [{"content": "text", "tool_calls": [{"name": "add",
"arguments": {"a": 2}}]}, "the answer"]}, a turn for each time that the model is asked.

Built-in tools: fs is list_files, read_file and search_files; fs:write adds write_file
and edit_file; shell is run_command. The file tools stay below the root. The shell
does not: it can do all that you can.

The model's text goes to stdout, everything else to stderr. Ctrl-C ends the run and
seals its transcript.

Exit status: 0 the model ended the run by itself and the check, if there is one,
held; 1 something else stopped it, or the check failed; 2 it could not be started.

Examples:
  hashtape run --model scripted:${EXAMPLE.script} \\
    --tools ${EXAMPLE.tools} "What is 2 + 40?"
  hashtape run --model openai:gpt-5-mini --with fs --max-tokens 50000 \\
    "Which files here have no tests?"
  hashtape run --with fs:write --with shell --ask --check "npm test" \\
    "Mend the failing test."
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  const file = new Option(
    '-t, --tools <file>',
    'a module whose default export is a tool or a list of them (repeatable)',
  );
  const builtIn = new Option(
    '-w, --with <tools>',
    'built-in tools (repeatable): fs reads files below the root, fs:write changes them too, shell runs any command',
  );
  command
    .argument('<task>', 'what to do, in quotes')
    .option('-m, --model <model>', 'openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE')
    .option('--system <text>', 'instructions that come before the task')
    .option('--price-in <usd>', 'what a million input tokens cost; --max-usd needs it', amount)
    .option('--price-out <usd>', 'what a million output tokens cost; --max-usd needs it', amount)
    .addOption(file.default([], 'none').argParser(add))
    .addOption(builtIn.default([], 'none').argParser(addBuiltIn))
    .option('--root <dir>', 'the folder of the built-in tools and of --check', '.')
    .option('--ask', "ask before every tool that isn't read-only; waiting counts as run time")
    .option('--check <command>', 'run this at the end, in the root; exit status 0 means success')
    .option('--max-steps <n>', 'model turns', wholeNumber, 50)
    .option('--max-tokens <n>', 'tokens in all', wholeNumber)
    .option('--max-usd <usd>', 'US dollars', amount)
    .option('--max-seconds <n>', 'seconds', amount)
    .option(
      '--max-tool-calls <n>',
      'tool calls; when they are used up there is no further turn, so allow one more than you expect',
      wholeNumber,
    )
    .option('--sentinel <text>', 'end the run at an answer that holds this text')
    .option('--stop-on-stall', 'end the run when it goes round in circles (default: a warning)')
    .option('-o, --out <file>', 'the transcript (default: runs/<UTC time>-<task>.jsonl)')
    .option('--json', "print the outcome as one line of JSON on stdout instead of the model's text")
    .addHelpText('after', HELP)
    .action(async (task: string, flags: Flags) => {
      exit(await runTask(task, flags, io));
    });
}

function add(value: string, list: readonly string[]): readonly string[] {
  return [...list, value];
}

function addBuiltIn(value: string, list: readonly BuiltIn[]): readonly BuiltIn[] {
  const found = BUILT_IN.find((name) => name === value);
  if (found !== undefined) return [...list, found];
  throw new InvalidArgumentError(`Allowed choices are ${BUILT_IN.join(', ')}.`);
}

async function runTask(task: string, flags: Flags, io: Io): Promise<ExitStatus> {
  const { err, out } = io;
  const price = priceOf(flags);
  // The task first: whoever forgot it shouldn't have to find a model before being told.
  refuseBad({ task, model: () => Promise.reject(new Error('no model yet')) });
  const root = await rootFolder(flags.root);
  const tools = await gatherTools(flags.tools, flags.with, root);
  const say = (text: string): void => err.line(text);
  const model = await chooseModel(flags.model, { env: io.env, price, say });
  const { system, sentinel, check, maxSteps: steps, maxTokens: tokens } = flags;
  const { maxUsd: usd, maxSeconds: seconds, maxToolCalls: toolCalls } = flags;
  const options: RunOptions = {
    task,
    model,
    tools,
    budget: { steps, ...given({ tokens, usd, seconds, toolCalls }) },
    clock: systemClock,
    runId: crypto.randomUUID(),
    watchdog: { onStall: flags.stopOnStall === true ? 'stop' : 'warn' },
    ...given({ system, sentinel }),
    ...(check === undefined ? {} : { check: commandCheck(check, root.path) }),
  };
  refuseBad(options);
  const store = await createOut(flags.out, task);
  root.protect(await realpath(store.location));
  err.line(`model ${oneLine(model.id ?? 'custom')}, transcript ${oneLine(store.location)}`);
  const outcome = await runLive(options, store, flags, io);
  if (flags.json === true) out.line(harmlessJson(JSON.stringify(outcome)));
  err.line(report(outcome, check !== undefined, err.style));
  // 0 only if the model ended the run by itself, and no check says otherwise.
  const ended = outcome.reason === 'no_tool_calls' || outcome.reason === 'sentinel';
  return ended && outcome.verified !== false ? 0 : 1;
}

async function rootFolder(path: string): Promise<Root> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return new Root(await realpath(path));
  throw new CommandError(`--root ${oneLine(path)}: there is no such folder; check the path`);
}

function priceOf({ priceIn, priceOut, maxUsd }: Flags): Price | undefined {
  if (priceIn !== undefined && priceOut !== undefined) return { input: priceIn, output: priceOut };
  if (priceIn === undefined && priceOut === undefined && maxUsd === undefined) return undefined;
  const why =
    maxUsd === undefined
      ? 'a price has two parts: give both'
      : '--max-usd needs to know what the model costs: give';
  throw new CommandError(`${why} --price-in and --price-out, in US dollars per million tokens`);
}

/** What the library would refuse is refused before a transcript is begun. */
function refuseBad(options: RunOptions): void {
  try {
    prepare(options);
  } catch (error) {
    throw new CommandError(`the run can't be started: ${problemOf(error)}`, { cause: error });
  }
}

/**
 * Creates the transcript: at `--out`, or at the first free `runs/<UTC time>-<task>.jsonl`.
 *
 * @throws {CommandError} if the name is taken or the file can't be made.
 */
async function createOut(out: string | undefined, task: string): Promise<TranscriptStore> {
  for (let k = 1; ; k += 1) {
    try {
      return await createTranscript(out ?? `runs/${defaultName(task, k)}`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const taken = error.code === 'exists' || error.code === 'locked';
      if (taken && out === undefined) continue;
      // Where a name is taken, the message says itself what to do.
      const advice = error.code === 'exists' ? '' : '; --out FILE names another place';
      throw new CommandError(`the transcript can't be begun: ${oneLine(error.message)}${advice}`, {
        cause: error,
      });
    }
  }
}

/** `2026-11-30T10-40-44Z-what-is-2-40.jsonl`: sorts by time, and is a file name everywhere. */
function defaultName(task: string, k: number): string {
  const time = new Date().toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
  const plain = task.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? ['run'];
  const slug = words.join('-').slice(0, 40).replace(/-$/, '');
  // Runs of one task that begin in one second get numbers.
  return `${time}-${slug}${k === 1 ? '' : `-${k}`}.jsonl`;
}

/** The run, with a display, questions and interrupts around it. */
async function runLive(
  options: RunOptions,
  store: TranscriptStore,
  flags: Flags,
  io: Io,
): Promise<Outcome> {
  // With --json, stdout is for the outcome alone.
  const text = flags.json === true ? io.err : io.out;
  const display = new Display(io.err, text, options.budget ?? {});
  const signal = takeInterrupts((what) => display.say(what));
  const { ask: wanted } = flags;
  const ask = wanted && asker(io, display, signal);
  if (wanted && ask === undefined) {
    io.err.line(
      "--ask: there is no terminal to ask on, so every tool that isn't read-only is denied",
    );
  }
  try {
    return await run({
      ...options,
      ...given({ permit: wanted && permit, ask }),
      transcript: store,
      signal,
      on: (event) => display.on(event),
    });
  } finally {
    display.end();
    await store.close();
    await commandsEnded();
  }
}
