/**
 * `hashtape episode`: a goal on a web page, carried in Chromium, audited, and verified by a look of its own.
 *
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander';
import {
  episode,
  type Episode,
  type EpisodeEvent,
  type EpisodeOptions,
  type ScreenCheck,
} from '../computer/index.ts';
import { playwrightScreen, type PlaywrightScreen } from '../computer/playwright.ts';
import { systemClock, type Model } from '../index.ts';
import { StoreError, type TranscriptStore } from '../store/index.ts';
import { meantPath } from '../store/place.ts';
import { requireRemembered } from './begun-audit.ts';
import { chooseModel } from './choose-model.ts';
import { did, outcomeOf, rows } from './episode-words.ts';
import { unlessInterrupted } from './interaction.ts';
import { CommandError, KILLED, type ExitStatus, type Io } from './io.ts';
import { Keeping } from './keeping.ts';
import {
  addBudgetOptions,
  addKeepingOptions,
  addModelOptions,
  budgetOf,
  type LiveFlags,
} from './live-options.ts';
import { priceOf, watchLive } from './live-run.ts';
import { given, repeated } from './options.ts';
import { closeOut, createOut } from './out.ts';
import { report } from './report.ts';
import { commandCheck } from './tools/shell.ts';
import { harmlessJson, oneLine, problemOf } from './words.ts';

/** The options as commander gives them. */
interface Flags extends Omit<LiveFlags, 'tools' | 'with' | 'root' | 'sentinel' | 'stopOnStall'> {
  readonly url: string;
  readonly allowOrigin: readonly string[];
  readonly secret: readonly string[];
  readonly checkText?: string;
  readonly audit?: string;
  readonly out?: string;
  readonly screenshot?: string;
  readonly headed?: true;
  readonly chromium?: string;
  readonly stopOnAlert?: true;
}

const HELP = `
The page is opened in Chromium (a package of its own: npm install
playwright-core, and a Chromium, as Debian's package chromium or
CHROMIUM_PATH=/path/to/it). The model is shown what is on it and acts by
clicking, typing, selecting, scrolling, waiting and navigating within the
allowed origins. That it says "done" is a claim: --check-text or --check
decides, after a fresh look, whether the goal is reached. With neither,
nothing is verified.

A first look is the first step. The transcript, the audit log and a picture of
the last screen are kept beside each other, and named at the end.

Exit status: 0 verified; 1 anything else came of it; 2 it could not be
started.

Examples:
  hashtape episode "Put milk on the list" --url http://localhost:8080/ \\
    --model openai:gpt-5-mini --check-text "milk"
  hashtape episode "Log in as ada" --url https://example.test/login \\
    --secret PASSWORD --model anthropic:claude-sonnet-5-5 \\
    --check "curl -s localhost:8080/log | grep -q ada"
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  const declared = addModelOptions(
    command
      .argument('<goal>', 'what to reach, in quotes')
      .requiredOption('-u, --url <url>', 'the page to begin with', address),
  )
    .option('--check-text <text>', 'the goal is reached if the page shows this text')
    .option('--check <command>', 'the goal is reached if this exits with status 0')
    .option(
      '--allow-origin <origin>',
      'where it may go beside the first page (repeatable)',
      repeated,
      [],
    )
    .option(
      '--secret <name>',
      'let it type what the environment variable NAME holds, by that name (repeatable)',
      repeated,
      [],
    )
    .option('--ask', 'ask before every action');
  addKeepingOptions(addBudgetOptions(declared, 30))
    .option(
      '--stop-on-alert',
      'end it when the watchdog sees that it gets nowhere (default: a warning)',
    )
    .option('-o, --out <file>', 'the transcript (default: runs/<UTC time>-<goal>.jsonl)')
    .option(
      '--audit <file>',
      'the audit log, new or to go on with (default: beside the transcript)',
    )
    .option(
      '--screenshot <file>',
      'the picture of the last screen (default: beside the transcript)',
    )
    .option('--headed', 'show the browser')
    .option('--chromium <path>', 'the browser (default: CHROMIUM_PATH, or the usual places)')
    .option('--json', 'print the result as one line of JSON on stdout')
    .addHelpText('after', HELP)
    .action(async (goal: string, flags: Flags) => {
      exit(await runEpisode(goal, flags, io));
    });
}

function address(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError('It must begin with http:// or https://.');
}

async function runEpisode(goal: string, flags: Flags, io: Io): Promise<ExitStatus> {
  requireMeant(goal, flags);
  const secrets = secretsOf(flags, io);
  const { audit = flags.out === undefined ? undefined : auditBeside(flags.out) } = flags;
  if (audit !== undefined) await requireRemembered(audit, io);
  const model = await chooseModel(flags.model, {
    env: io.env,
    price: priceOf({ ...flags, ...NO_TOOLS }),
    say: (text) => io.err.line(text),
  });
  const screen = await unlessInterrupted((signal) => openScreen(flags, signal));
  if (screen === undefined) return KILLED;
  try {
    return await onScreen({ goal, flags, io }, { screen, brain: model, secrets });
  } finally {
    await screen.close();
  }
}

/** @throws {CommandError} if an option is there, and says nothing. */
function requireMeant(goal: string, { check, checkText }: Flags): void {
  if (goal.trim() === '') throw new CommandError('the goal is empty; say what is to be reached');
  // An empty text is on every page, and an empty command always succeeds.
  for (const [name, value] of [
    ['--check-text', checkText],
    ['--check', check],
  ])
    if (value?.trim() === '')
      throw new CommandError(`${name} is empty, which anything would fulfil`);
}

/** What an episode is asked for. */
interface Asked {
  readonly goal: string;
  readonly flags: Flags;
  readonly io: Io;
}

async function onScreen(
  asked: Asked,
  actors: Pick<EpisodeOptions, 'screen' | 'secrets'> & { readonly brain: Model },
): Promise<ExitStatus> {
  const { goal, flags, io } = asked;
  const { err, out } = io;
  const keeping = await Keeping.of(io, flags.sign);
  const store = await createOut(flags.out, goal, keeping);
  const places = placesOf(store, flags);
  try {
    requireApart([store.location, places.audit, places.screenshot]);
    await keeping.beginAudit(places.audit);
  } catch (error) {
    await closeOut(store);
    throw error;
  }
  err.line(`model ${oneLine(actors.brain.id ?? 'custom')}, page ${oneLine(flags.url)}`);
  const result = await carried(asked, store, {
    goal,
    ...actors,
    budget: budgetOf({ ...flags, ...NO_TOOLS }),
    clock: systemClock,
    runId: crypto.randomUUID(),
    watchdog: { stop: flags.stopOnAlert === true },
    ...places,
    ...given({
      system: flags.system,
      maxOutputTokens: flags.maxOutputTokens,
      check: checkOf(flags),
    }),
  });
  if (flags.json === true) out.line(harmlessJson(JSON.stringify(result)));
  err.line(report(outcomeOf(result), true, err.style));
  for (const row of rows(result)) err.line(row);
  if (result.audit !== undefined) await keeping.audit(result.audit.location);
  keeping.report();
  return result.success ? 0 : 1;
}

const NO_TOOLS = { tools: [], with: [], root: '.' };

function secretsOf({ secret }: Flags, { env }: Io): Record<string, string> {
  return Object.fromEntries(
    secret.map((name) => {
      const value = env[name];
      if (value !== undefined && value !== '') return [name, value];
      throw new CommandError(
        `--secret ${oneLine(name)}: no environment variable of that name is set`,
      );
    }),
  );
}

async function openScreen(flags: Flags, signal: AbortSignal): Promise<PlaywrightScreen> {
  const { url, allowOrigin, headed, chromium } = flags;
  try {
    return await playwrightScreen({
      url,
      signal,
      headless: headed !== true,
      ...(allowOrigin.length === 0
        ? {}
        : { allowedOrigins: [new URL(url).origin, ...allowOrigin] }),
      ...given({ executablePath: chromium }),
    });
  } catch (error) {
    throw new CommandError(`the page can't be opened: ${problemOf(error)}`, { cause: error });
  }
}

function placesOf(
  { location }: TranscriptStore,
  { audit, screenshot }: Flags,
): { audit: string; screenshot: string } {
  return {
    audit: audit ?? auditBeside(location),
    screenshot: screenshot ?? `${baseOf(location)}.png`,
  };
}

function auditBeside(transcript: string): string {
  return `${baseOf(transcript)}.audit.jsonl`;
}

function baseOf(transcript: string): string {
  return transcript.replace(/\.jsonl$/, '');
}

/** @throws {CommandError} if two of the files are one. */
function requireApart(paths: readonly string[]): void {
  const files = paths.map((path) => meantPath(path));
  if (new Set(files).size < files.length)
    throw new CommandError('--out, --audit and --screenshot must name three files');
}

/** Both, if both are given. */
function checkOf({ check, checkText }: Flags): ScreenCheck | undefined {
  if (check === undefined && checkText === undefined) return undefined;
  const command = check === undefined ? undefined : commandCheck(check, '.');
  return async ({ text }, _screen, { signal }) => {
    if (checkText !== undefined && !text.includes(checkText))
      return { ok: false, detail: `the page does not show ${JSON.stringify(checkText)}` };
    const shown = checkText === undefined ? '' : `the page shows ${JSON.stringify(checkText)}`;
    if (command === undefined) return { ok: true, detail: shown };
    return command({ answer: '', reason: 'sentinel', signal });
  };
}

async function carried(
  { flags, io }: Asked,
  store: TranscriptStore,
  options: EpisodeOptions,
): Promise<Episode> {
  let result: Episode | undefined;
  try {
    await watchLive(flags, options.budget ?? {}, io, async ({ on, say, ...watching }) => {
      const listener = (event: EpisodeEvent): void => {
        if (event.type === 'alert')
          say(`  ! ${event.alert.kind}: ${oneLine(event.alert.evidence)}`);
        else if (event.type === 'tool-end') on({ ...event, content: did(event) });
        else if (event.type !== 'step') on(event);
      };
      result = await episode({ ...options, ...watching, transcript: store, on: listener });
      return result.outcome;
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new CommandError(`the audit log can't be used: ${problemOf(error)}`, { cause: error });
  } finally {
    await closeOut(store);
  }
  if (result === undefined) throw new Error('the code here has a bug: the episode has no result');
  return result;
}
