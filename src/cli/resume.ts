/**
 * `hashtape resume`: goes on with a run that was cut off, from its transcript.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { type ConfigurationPart } from '../index.ts';
import { CONFIGURATION_PARTS } from '../run/differences.ts';
import { recordedOptions } from '../run/resume.ts';
import { shellPath } from '../store/shell-path.ts';
import { chooseModel } from './choose-model.ts';
import { refuseEmptied } from './empty-log.ts';
import { gatherTools } from './gather-tools.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { Keeping } from './keeping.ts';
import { addLiveOptions, budgetOf, redactOf, type LiveFlags } from './live-options.ts';
import { oneOf } from './options.ts';
import { optionsOf, priceOf, refuseBad, rootFolder } from './live-run.ts';
import { goOn, unfinished } from './resuming.ts';
import { oneLine } from './words.ts';

/** The options as commander gives them. */
interface Flags extends LiveFlags {
  readonly allow: readonly ConfigurationPart[];
}

const HELP = `
The record holds the task, the model's name and price, the budgets, --system,
--sentinel and --stop-on-stall: what is not given is as it was, and budgets go
on from what was spent. It can't hold tools, a check or a script: give
--tools, --with, --root, --ask, --check and --model scripted:FILE as they were
given to \`hashtape run\`.

What differs from the record is an error that says how; --allow PART lets it
differ, as in \`--max-steps 100 --allow budget\`, and the record says so.

An unfinished last line, as a crash leaves it, is set aside in a file beside
the transcript. A call that may have been under way when the run was cut off
is run again only if its tool is readOnly or idempotent; the report names
every such call.

Exit status: as for \`hashtape run\`; 2 if it could not be gone on with, and
then the file is as it was.

Examples:
  hashtape resume runs/today.jsonl --tools tools.mjs
  hashtape resume runs/today.jsonl --with fs --max-tokens 90000 --allow budget
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  const allow = new Option(
    '--allow <part>',
    `what may differ from how the run began (repeatable): ${CONFIGURATION_PARTS.join(', ')}`,
  );
  addLiveOptions(command.argument('<file>', 'the transcript of a run that has not ended'))
    .addOption(allow.default([], 'nothing').argParser(oneOf(CONFIGURATION_PARTS)))
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      exit(await resumeFile(file, flags, io));
    });
}

async function resumeFile(file: string, flags: Flags, io: Io): Promise<ExitStatus> {
  const begun = await unfinished(file);
  const { state, task } = begun;
  if (state === null) {
    const name = oneLine(file);
    await refuseEmptied(file, io);
    throw new CommandError(
      `${name}: no task was recorded in it, so nothing was done yet; begin it with \`npx hashtape run --resume --out ${shellPath(name)} "task"\``,
    );
  }
  const { configuration } = state;
  if (configuration.manifest?.some(({ name, ends }) => name === 'done' && ends === true) === true) {
    const name = oneLine(file);
    throw new CommandError(
      `${name}: it is the record of an episode on a screen, which can't be gone on with; run it again with another --out. It verifies and replays as far as it goes`,
    );
  }
  const price = priceOf(flags, configuration.price);
  const root = await rootFolder(flags.root);
  const tools = await gatherTools(flags.tools, flags.with, root);
  const say = (text: string): void => io.err.line(text);
  const wanted = flags.model ?? recordedModel(configuration.model);
  const model = await chooseModel(wanted, { env: io.env, price, say });
  // Who stops on a stall already does so at the recorded number of repeats.
  const stops = flags.stopOnStall === true && configuration.stopAfterRepeats === undefined;
  const options = {
    model,
    tools,
    budget: { ...configuration.budget, ...budgetOf(flags) },
    ...optionsOf(flags, root),
    redact: redactOf(flags),
    ...(stops ? { watchdog: { onStall: 'stop' } as const } : {}),
  };
  refuseBad({ ...recordedOptions(configuration), ...options, task });
  const keeping = await Keeping.of(io, flags.sign);
  return goOn(begun, { ...options, allow: flags.allow }, { flags, root, io, keeping });
}

/** The model that a name in a record stands for. */
function recordedModel(id: string): string {
  if (/^(openai|anthropic|ollama):/.test(id)) return id;
  const name = oneLine(id);
  throw new CommandError(
    id.startsWith('scripted:')
      ? `the run's model was ${name}, and the record does not say where that file is; give --model scripted:FILE`
      : `the run's model was '${name}', which the command can't make; give another --model and --allow model, or go on with the library's resume()`,
  );
}
