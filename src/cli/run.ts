/**
 * `hashtape run`: a task with a model and tools, under budgets, watched live and recorded.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { type Command } from 'commander';
import { run, type RunOptions } from '../index.ts';
import { chooseModel, EXAMPLE } from './choose-model.ts';
import { gatherTools } from './gather-tools.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { Keeping, ownFiles } from './keeping.ts';
import { createOut } from './out.ts';
import { addLiveOptions, budgetOf, redactOf, type LiveFlags } from './live-options.ts';
import { carryLive, optionsOf, priceOf, refuseBad, rootFolder } from './live-run.ts';
import { goOn, unfinished, type Unfinished } from './resuming.ts';
import { StoreError } from '../store/index.ts';
import { oneLine, problemOf } from './words.ts';

/** The options as commander gives them. */
interface Flags extends LiveFlags {
  readonly out?: string;
  readonly resume?: true;
}

const HELP = `
Models: openai:NAME and anthropic:NAME take keys and addresses from
OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL;
ollama:NAME is a local Ollama (OLLAMA_HOST); scripted:FILE needs no model at
all. Without --model, HASHTAPE_MODEL is taken, else the first model of a local
Ollama.

scripted:FILE is JSON: {"turns": [{"content": "text", "tool_calls": [{"name":
"add", "arguments": {"a": 2}}]}, "the answer"]}, a turn for each time that the
model is asked.

Built-in tools: fs is list_files, read_file and search_files; fs:write adds
write_file and edit_file; shell is run_command. The file tools stay below the
root. The shell does not: it can do all that you can.

The model's text goes to stdout, everything else to stderr. Ctrl-C ends the
run and seals its transcript. A run that was killed is gone on with by
\`hashtape resume FILE\`, or by the same command with --resume and --out: it
begins or goes on, whichever is due.

Exit status: 0 the model ended the run by itself and the check, if there is
one, held; 1 something else stopped it, or the check failed; 2 it could not be
started.

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
  addLiveOptions(command.argument('<task>', 'what to do, in quotes'), 50)
    .option('-o, --out <file>', 'the transcript (default: runs/<UTC time>-<task>.jsonl)')
    .option(
      '--resume',
      'go on with the run in --out if it was cut off; begin it if it is not there',
    )
    .addHelpText('after', HELP)
    .action(async (task: string, flags: Flags) => {
      exit(await runTask(task, flags, io));
    });
}

async function runTask(task: string, flags: Flags, io: Io): Promise<ExitStatus> {
  const { err } = io;
  const price = priceOf(flags);
  // The task first: whoever forgot it shouldn't have to find a model before being told.
  refuseBad({ task, model: () => Promise.reject(new Error('no model yet')) });
  const begun = flags.resume === true ? await begunIn(flags.out) : null;
  const root = await rootFolder(flags.root);
  const tools = await gatherTools(flags.tools, flags.with, root);
  const say = (text: string): void => err.line(text);
  const model = await chooseModel(flags.model, { env: io.env, price, say });
  const options: RunOptions = {
    task,
    model,
    tools,
    budget: budgetOf(flags),
    watchdog: { onStall: flags.stopOnStall === true ? 'stop' : 'warn' },
    ...optionsOf(flags, root),
    redact: redactOf(flags),
    // A run that goes on keeps its own.
    ...(begun?.state ? {} : { runId: crypto.randomUUID() }),
  };
  refuseBad(options);
  const keeping = await Keeping.of(io, flags.sign);
  if (begun !== null) return goOn(begun, options, { flags, root, io, keeping });
  // A file's name is no place for what is not to be in the file.
  const store = await createOut(flags.out, options.redact === undefined ? task : 'run', keeping);
  root.protect(...ownFiles(await realpath(store.location)));
  err.line(`model ${oneLine(model.id ?? 'custom')}, transcript ${oneLine(store.location)}`);
  return carryLive(
    flags,
    options.budget ?? {},
    { io, keeping },
    async ({ say: _say, ...watching }) => {
      try {
        return await run({ ...options, ...watching, transcript: store });
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        throw new CommandError(`the run can't be started: ${problemOf(error)}`, { cause: error });
      } finally {
        await store.close();
      }
    },
  );
}

/** The run to go on with; null if there is no file yet. */
async function begunIn(out: string | undefined): Promise<Unfinished | null> {
  if (out === undefined) {
    throw new CommandError(
      '--resume needs --out FILE: without it every run begins a new transcript, and there is none to go on with',
    );
  }
  return existsSync(out) ? unfinished(out) : null;
}
