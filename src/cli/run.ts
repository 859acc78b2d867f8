/**
 * `hashtape run`: what it is told, in options.
 *
 * @module
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { type Io } from './io.ts';
import { amount, positiveNumber, wholeNumber } from './numbers.ts';

/** The options as commander gives them. */
export interface RunFlags {
  readonly model?: string;
  readonly tools: readonly string[];
  readonly with: readonly BuiltIn[];
  readonly root: string;
  readonly system?: string;
  readonly maxSteps: number;
  readonly maxTokens?: number;
  readonly maxUsd?: number;
  readonly maxSeconds?: number;
  readonly maxToolCalls?: number;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly maxOutputTokens?: number;
  readonly sentinel?: string;
  readonly check?: string;
  readonly ask?: true;
  readonly out?: string;
  readonly durability: 'always' | 'turn' | 'never';
  readonly repeats: boolean;
  readonly stopOnStall?: true;
  readonly quiet?: true;
  readonly json?: true;
}

/** The built-in tools that can be asked for. */
export type BuiltIn = (typeof BUILT_IN)[number];

const BUILT_IN = ['fs', 'fs:write', 'shell'] as const;

const HELP = `
Models: openai:NAME and anthropic:NAME take keys and addresses from OPENAI_API_KEY,
OPENAI_BASE_URL, ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL; ollama:NAME is a local
Ollama (OLLAMA_HOST); scripted:FILE needs no model at all. Without --model,
HASHTAPE_MODEL is taken, else the first model of a local Ollama.

The file tools stay below the root. The shell does not: it can do all that you can.

The model's text goes to stdout, everything else to stderr. Ctrl-C ends the run and
seals its transcript.

Exit status: 0 the model ended the run by itself and the check, if there is one,
held; 1 something else stopped it, or the check failed; 2 it could not be started.

Examples:
  hashtape run --model scripted:examples/scripted-add.json \\
    --tools examples/tools-add.mjs "What is 2 + 40?"
  hashtape run --model openai:gpt-5-mini --with fs --max-tokens 50000 \\
    "Which files here have no tests?"
  hashtape run --with fs:write --with shell --ask --check "npm test" \\
    "Mend the failing test."
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command.argument('<task>', 'what to do, in quotes');
  modelOptions(command);
  toolOptions(command);
  budgetOptions(command);
  outputOptions(command);
  command.addHelpText('after', HELP).action(async (task: string, flags: RunFlags) => {
    const { runTask } = await import('./run-task.ts');
    exit(await runTask(task, flags, io));
  });
}

function modelOptions(command: Command): void {
  command
    .option('-m, --model <model>', 'openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE')
    .option('--system <text>', 'instructions that come before the task')
    .option('--max-output-tokens <n>', 'the most tokens of one answer', positiveNumber)
    .option('--price-in <usd>', 'what a million input tokens cost; --max-usd needs it', amount)
    .option('--price-out <usd>', 'what a million output tokens cost; --max-usd needs it', amount);
}

function toolOptions(command: Command): void {
  const file = new Option(
    '-t, --tools <file>',
    'a module whose default export is a tool or a list of them (repeatable)',
  );
  const builtIn = new Option(
    '-w, --with <tools>',
    'built-in tools (repeatable): fs reads files below the root, fs:write changes them too, shell runs any command',
  );
  command
    .addOption(file.default([], 'none').argParser(add))
    .addOption(builtIn.default([], 'none').argParser(addBuiltIn))
    .option('--root <dir>', 'the folder of the built-in tools and of --check', '.')
    .option('--ask', "ask before every tool that isn't read-only")
    .option('--check <command>', 'run this at the end, in the root; exit status 0 means success');
}

function budgetOptions(command: Command): void {
  command
    .option('--max-steps <n>', 'model turns', wholeNumber, 50)
    .option('--max-tokens <n>', 'tokens in all', wholeNumber)
    .option('--max-usd <usd>', 'US dollars', amount)
    .option('--max-seconds <n>', 'seconds', amount)
    .option('--max-tool-calls <n>', 'tool calls', wholeNumber)
    .option('--sentinel <text>', 'end the run at an answer that holds this text')
    .option('--stop-on-stall', 'end the run when it goes round in circles (default: a warning)')
    .option('--no-repeats', "don't tell the model that a call repeats itself");
}

function outputOptions(command: Command): void {
  command
    .option('-o, --out <file>', 'the transcript (default: runs/<UTC time>-<task>.jsonl)')
    .addOption(
      new Option('--durability <when>', 'when records must be on disk')
        .choices(['always', 'turn', 'never'])
        .default('turn'),
    )
    .option('-q, --quiet', 'print the final answer alone')
    .option('--json', 'print the outcome as one line of JSON instead of the text');
}

function add(value: string, list: readonly string[]): readonly string[] {
  return [...list, value];
}

function addBuiltIn(value: string, list: readonly BuiltIn[]): readonly BuiltIn[] {
  const found = BUILT_IN.find((name) => name === value);
  if (found === undefined) {
    throw new InvalidArgumentError(`Allowed choices are ${BUILT_IN.join(', ')}.`);
  }
  return [...list, found];
}
