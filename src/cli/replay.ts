/**
 * `hashtape replay`: recorded runs carried again without a model, and an exit status that is the verdict of all.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { isCatalog } from '../attest/catalog.ts';
import { JournalError, replay, type ReplayOptions } from '../index.ts';
import { StoreError } from '../store/index.ts';
import { gatherTools, type BuiltIn } from './gather-tools.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { addToolOptions } from './live-options.ts';
import { rootFolder } from './live-run.ts';
import { isUngraded, replayJson, replayWords, type Replayed } from './replay-words.ts';
import { targetsOf, type Target } from './targets.ts';
import { commandsEnded } from './tools/shell.ts';
import { AUDIT_LOG, judgeOpen } from './verdict.ts';
import { problemOf } from './words.ts';

/** The options as commander gives them. */
interface Flags {
  readonly model?: string;
  readonly liveTools?: true;
  readonly tools: readonly string[];
  readonly with: readonly BuiltIn[];
  readonly root: string;
  readonly json?: true;
}

const HELP = `
The loop is carried again with the recorded replies and answers: every
decision, budget, note and total is worked out anew, and every record must
come out as the same bytes. No model is asked and no tool is run, unless
--live-tools is given: then the tools of --tools and --with are really run on
the recorded calls, WITH ALL THEIR EFFECTS, and the answers that changed are
listed. Without it, their definitions are compared.

A folder stands for its *.jsonl files, at any depth. A run that has not ended
is replayed as far as it goes.

Exit status: 2 if any file could not be graded (missing, unreadable, not the
record of a run of hashtape, values withheld), else 1 if any has a fault, came
out otherwise or has an answer that changed, else 0.

Examples:
  hashtape replay runs/today.jsonl
  hashtape replay runs/ --json
  hashtape replay golden.jsonl --live-tools --tools tools.mjs
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  addToolOptions(
    command
      .argument('<file...>', 'transcripts, or folders of them')
      .option('--live-tools', 'run the tools on the recorded calls, effects and all, and compare'),
    'the folder of the built-in tools',
  )
    .option('--json', 'print one JSON object a line instead of words')
    // Who looks for it here is told why it isn't there.
    .addOption(new Option('-m, --model <model>').hideHelp())
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: Flags) => {
      exit(await replayAll(paths, flags, io));
    });
}

async function replayAll(paths: readonly string[], flags: Flags, io: Io): Promise<ExitStatus> {
  if (flags.model !== undefined) {
    throw new CommandError(
      'a replay takes no model: the replies come from the record; leave --model out',
    );
  }
  const tools = await givenTools(flags);
  const { out } = io;
  let worst: ExitStatus = 0;
  for (const path of paths) {
    for (const target of await targetsOf(path)) {
      // A folder's catalogue is no run.
      if (target.file !== path && isCatalog(target.file)) continue;
      const replayed = await replayOne(target, tools);
      // An episode's audit log stands beside its transcript.
      if (target.file !== path && 'problem' in replayed && replayed.problem === AUDIT_LOG) continue;
      const status = statusOf(replayed);
      if (status > worst) worst = status;
      const { file } = target;
      out.line(
        flags.json === true ? replayJson(file, replayed) : replayWords(file, replayed, out.style),
      );
    }
  }
  await commandsEnded();
  return worst;
}

/** The tools that are compared, and run if it is asked for. */
async function givenTools(flags: Flags): Promise<Pick<ReplayOptions, 'tools' | 'live'>> {
  const { tools, with: sets, liveTools: live = false } = flags;
  if (tools.length > 0 || sets.length > 0)
    return { tools: await gatherTools(tools, sets, await rootFolder(flags.root)), live };
  if (!live) return {};
  throw new CommandError('--live-tools needs the tools to run: give --tools FILE or --with TOOLS');
}

async function replayOne(
  { file, problem }: Target,
  tools: Pick<ReplayOptions, 'tools' | 'live'>,
): Promise<Replayed> {
  if (problem !== undefined) return { problem };
  try {
    const found = await replay(file, tools);
    const { fault } = found.verdict;
    if (fault === undefined || fault.reason === 'torn_tail') return found;
    const judged = await judgeOpen(file);
    return judged.problem === undefined ? found : { problem: judged.problem };
  } catch (error) {
    if (!(error instanceof JournalError) && !(error instanceof StoreError)) throw error;
    // The file's name is said anyway.
    return { problem: problemOf(error).replace(`${file}: `, '') };
  }
}

function statusOf(replayed: Replayed): ExitStatus {
  if ('problem' in replayed || isUngraded(replayed)) return 2;
  return replayed.ok ? 0 : 1;
}
