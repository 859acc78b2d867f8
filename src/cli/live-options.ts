/**
 * The options that `run` and `resume` have in common.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { type Budget } from '../index.ts';
import { COMMON_SECRETS } from '../run/redact-rules.ts';
import { BUILT_IN, type BuiltIn } from './gather-tools.ts';
import { amount, given, oneOf, repeated, wholeNumber } from './options.ts';

/** Such options as commander gives them. */
export interface LiveFlags {
  readonly model?: string;
  readonly system?: string;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly tools: readonly string[];
  readonly with: readonly BuiltIn[];
  readonly root: string;
  readonly ask?: true;
  readonly check?: string;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly maxUsd?: number;
  readonly maxSeconds?: number;
  readonly maxToolCalls?: number;
  readonly maxOutputTokens?: number;
  readonly sentinel?: string;
  readonly stopOnStall?: true;
  readonly redact: readonly string[];
  readonly redactSecrets?: true;
  readonly json?: true;
  readonly sign: boolean;
}

/** Declares them. @param steps the default of `--max-steps`. */
export function addLiveOptions(command: Command, steps?: number): Command {
  const asking = addToolOptions(
    addModelOptions(command),
    'the folder of the built-in tools and of --check',
  )
    .option('--ask', "ask before every tool that isn't read-only; waiting counts as run time")
    .option('--check <command>', 'run this at the end, in the root; exit status 0 means success');
  const redact = new Option(
    '--redact <path>',
    'take this out of the transcript and keep it in FILE.open, as tools.login.arguments.password, task or answer (repeatable)',
  );
  return addKeepingOptions(addBudgetOptions(asking, steps))
    .addOption(redact.default([], 'nothing').argParser(repeated))
    .option(
      '--redact-secrets',
      'the same for texts that hold a key, token or password of a common form',
    )
    .option('--sentinel <text>', 'end the run at an answer that holds this text')
    .option('--stop-on-stall', 'end the run when it goes round in circles (default: a warning)')
    .option(
      '--json',
      "print the outcome as one line of JSON on stdout instead of the model's text",
    );
}

/** Declares the options that say who is asked. */
export function addModelOptions(command: Command): Command {
  return command
    .option('-m, --model <model>', 'openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE')
    .option('--system <text>', 'instructions that come before the task')
    .option('--price-in <usd>', 'what a million input tokens cost; --max-usd needs it', amount)
    .option('--price-out <usd>', 'what a million output tokens cost; --max-usd needs it', amount);
}

/** Declares what is kept beside the transcript. */
export function addKeepingOptions(command: Command): Command {
  return command.option('--no-sign', 'sign no checkpoints of the transcript');
}

/** Declares the budgets. @param steps the default of `--max-steps`. */
export function addBudgetOptions(command: Command, steps?: number): Command {
  return command
    .option('--max-steps <n>', 'model turns', wholeNumber, steps)
    .option('--max-tokens <n>', 'tokens in all', wholeNumber)
    .option('--max-usd <usd>', 'US dollars', amount)
    .option('--max-seconds <n>', 'seconds', amount)
    .option(
      '--max-tool-calls <n>',
      'tool calls; when they are used up there is no further turn, so allow one more than you expect',
      wholeNumber,
    )
    .option('--max-output-tokens <n>', 'output tokens of one turn', wholeNumber);
}

/** Declares the options that say what tools there are. @param root what `--root` is for. */
export function addToolOptions(command: Command, root: string): Command {
  const file = new Option(
    '-t, --tools <file>',
    'a module whose default export is a tool or a list of them (repeatable)',
  );
  const builtIn = new Option(
    '-w, --with <tools>',
    'built-in tools (repeatable): fs reads files below the root, fs:write changes them too, shell runs any command',
  );
  return command
    .addOption(file.default([], 'none').argParser(repeated))
    .addOption(builtIn.default([], 'none').argParser(oneOf(BUILT_IN)))
    .option('--root <dir>', root, '.');
}

/** The rules that are given for what is taken out of the transcript; undefined if there are none. */
export function redactOf({ redact, redactSecrets }: LiveFlags): readonly string[] | undefined {
  const rules = redactSecrets === true ? [...redact, COMMON_SECRETS] : redact;
  return rules.length === 0 ? undefined : rules;
}

/** The budgets that are given. */
export function budgetOf(flags: LiveFlags): Budget {
  const { maxSteps: steps, maxTokens: tokens, maxUsd: usd } = flags;
  const { maxSeconds: seconds, maxToolCalls: toolCalls } = flags;
  return given({ steps, tokens, usd, seconds, toolCalls });
}
