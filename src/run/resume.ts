/**
 * `resume`: goes on with a run that was cut off, from its transcript alone.
 *
 * @module
 */
import { type Revealer } from '../evidence/revealer.ts';
import { revealerFor } from '../store/disclosure-file.ts';
import { openTranscript, type OpenOptions } from '../store/file.ts';
import { pathText } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { beginRun, using, withOwnSignal } from './begin.ts';
import { systemClock } from './clock.ts';
import { type Configuration, type Manifest } from './configuration.ts';
import { type RunContext } from './context.ts';
import {
  CONFIGURATION_PARTS,
  differences,
  differenceText,
  taskDifference,
  type ConfigurationPart,
  type Difference,
} from './differences.ts';
import { JournalError, readJournal, startedCalls, type Journal } from './journal.ts';
import { carry } from './loop.ts';
import { isPlace, OPTION_NAMES, type RunOptions } from './options.ts';
import { type Outcome } from './outcome.ts';
import { resumptionPayload, type Resumption } from './payloads.ts';
import { redacting, revealedWhole } from './redacting.ts';
import { prepare, type Settings } from './settings.ts';
import { RunState } from './state.ts';
import { worldSource } from './world.ts';

/**
 * What a run is resumed with. What isn't given is as it was: the task, the budgets, the system prompt and the
 * rest of what the first record holds. Functions can't be recorded: the model, the tools and the check have to
 * be given again.
 */
export interface ResumeOptions extends Omit<RunOptions, 'task' | 'transcript' | 'resume'> {
  /** Needed only if the crash came before the task was recorded. */
  readonly task?: string | undefined;
  /** What may differ from how the run began. A difference is recorded; any other is an error. */
  readonly allow?: readonly ConfigurationPart[] | undefined;
}

/**
 * Goes on with a run that isn't sealed. A torn tail is set aside first; the record says that the run was resumed.
 *
 * A call without a result is run if it can't have been started. One that may have been is run again only if its
 * tool is `readOnly` or `idempotent`, with the same idempotency key; else its answer is `interrupted: effect
 * unknown`, and the model decides. Budgets, repeats and usage go on from where they were; without times in the
 * records, the time budget starts again.
 *
 * @throws {TypeError | RangeError} if the options are wrong.
 * @throws {JournalError} `configuration` if it isn't the run's, `unusable` if the records aren't a run's.
 * @throws {StoreError} `missing`, `sealed`, `broken`, `locked` or `failed`. In all cases the file is as it was.
 */
export async function resume(
  transcript: string | URL | TranscriptStore,
  options: ResumeOptions,
): Promise<Outcome> {
  checkResumeOptions(options);
  if (!isPlace(transcript)) throw new TypeError('resume takes a path, a URL or a store');
  if (typeof transcript === 'string' || transcript instanceof URL) {
    const open: Opener = (accept) => openTranscript(transcript, { recover: true, accept });
    return resumeFrom(open, pathText(transcript), options);
  }
  return using(transcript, false, async () => {
    const { location } = transcript;
    if (transcript.head.sealed)
      throw new StoreError('sealed', `${location}: the run in it has ended; start a new one`);
    const revealer = await revealerFor(transcript);
    const records = revealedWhole(readRecords(transcript), revealer, location);
    const journal = await readJournal(records, location, manifestOf(options));
    return goOn(transcript, planFor(journal, options, location, revealer));
  });
}

/** Opens a transcript to go on with it, unless `accept` throws; then it is as it was. */
export type Opener = (accept: NonNullable<OpenOptions['accept']>) => Promise<TranscriptStore>;

/** Goes on with what `open` opens, as {@link resume} does with a file. The transcript is closed at the end. */
export async function resumeFrom(
  open: Opener,
  path: string,
  options: ResumeOptions,
): Promise<Outcome> {
  const manifest = manifestOf(options);
  let plan: Plan | undefined;
  const store = await open(async (records) => {
    const revealer = await revealerFor(path);
    const revealed = revealedWhole(records, revealer, path);
    plan = planFor(await readJournal(revealed, path, manifest), options, path, revealer);
  });
  return using(store, true, () => goOn(store, plan));
}

function manifestOf({ model, tools }: ResumeOptions): Manifest | null {
  return prepare({ task: 'any', model, tools }).configuration.manifest;
}

/** How a run goes on. */
interface Plan {
  readonly settings: Settings;
  readonly journal: Journal;
  /** Undefined if the run has to begin. */
  readonly resumption: Resumption | undefined;
  readonly revealer: Revealer;
}

async function goOn(store: TranscriptStore, plan: Plan | undefined): Promise<Outcome> {
  if (plan === undefined) throw new Error('the code here has a bug: the journal was not read');
  const { settings, journal, resumption, revealer } = plan;
  const state = journal.state ?? new RunState(settings.configuration);
  const source = worldSource(settings, journal.seconds);
  return redacting(store, settings.configuration.redact, revealer, (writer) =>
    carry({ settings, state, store: writer, source }, async (context) => {
      if (resumption === undefined) await beginRun(context);
      else await recordResumption(context, journal, resumption);
    }),
  );
}

async function recordResumption(
  context: RunContext,
  journal: Journal,
  resumption: Resumption,
): Promise<void> {
  const { state, store, source } = context;
  const resumedFrom = store.head.count;
  context.emit?.({
    type: 'run-start',
    task: journal.task,
    location: store.location,
    resumedFrom,
    spent: state.spent(journal.seconds),
  });
  await context.record('resumed', { ...resumptionPayload(resumption), ...source.stamp() });
  context.origin = journal.origin;
  state.resumed(resumption);
}

function planFor(
  journal: Journal,
  options: ResumeOptions,
  location: string,
  revealer: Revealer,
): Plan {
  const { allow = [], ...given } = options;
  const { state } = journal;
  if (state === null) {
    const { task } = given;
    if (task === undefined) throw noTask(location);
    const settings = withOwnSignal(prepare({ ...given, task }));
    return { settings, journal, resumption: undefined, revealer };
  }
  const { configuration } = state;
  const { model, clock = systemClock } = given;
  const merged = { ...recordedOptions(configuration), ...defined(given), model, clock };
  // Each limit is as it was, unless another is given; one that is given as undefined is lifted.
  const budget =
    given.budget === undefined
      ? configuration.budget
      : { ...configuration.budget, ...given.budget };
  // Either all records of a run hold times, or none.
  const watchdog = mergedWatchdog(configuration, given);
  const prepared = prepare({ ...merged, budget, watchdog, task: journal.task });
  // Rules that are not given again are not checked again: their tools may be missing, which is told better.
  const redact = given.redact === undefined ? configuration.redact : prepared.configuration.redact;
  const settings = withOwnSignal({
    ...prepared,
    configuration: { ...prepared.configuration, redact },
    timed: journal.timed,
  });
  const found = differences(configuration, settings.configuration);
  refuseDifferent([...taskDifference(journal.task, given.task ?? journal.task), ...found], {
    allow,
    location,
  });
  // An old record holds no manifest, which what comes is to be judged by.
  const isKept = found.length === 0 && journal.manifested;
  const calls = startedCalls(state);
  const resumption = isKept ? { calls } : { calls, configuration: settings.configuration };
  return { settings, journal, resumption, revealer };
}

/** Silence is no part of the configuration, so that a limit on it leaves the rest as it was. */
export function mergedWatchdog(
  configuration: Configuration,
  { watchdog }: Pick<RunOptions, 'watchdog'>,
): RunOptions['watchdog'] {
  return { ...recordedOptions(configuration).watchdog, ...watchdog };
}

/** The options that a configuration stands for. */
export function recordedOptions(
  configuration: Configuration,
): Partial<
  Pick<RunOptions, 'budget' | 'system' | 'sentinel' | 'maxOutputTokens' | 'watchdog' | 'runId'>
> {
  const { budget, system, sentinel, maxOutputTokens, runId, stopAfterRepeats } = configuration;
  const watchdog =
    stopAfterRepeats === undefined
      ? undefined
      : { stallAfter: stopAfterRepeats, onStall: 'stop' as const };
  return { budget, ...defined({ system, sentinel, maxOutputTokens, runId, watchdog }) };
}

function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Only what is undefined is gone, which the type says.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function checkResumeOptions(options: ResumeOptions): void {
  const { allow = [] } = options;
  const parts = CONFIGURATION_PARTS.join(', ');
  if (!Array.isArray(allow)) throw new TypeError(`allow must be a list, of ${parts}`);
  const known: readonly string[] = CONFIGURATION_PARTS;
  const unknown = allow.find((part) => !known.includes(part));
  if (unknown !== undefined)
    throw new TypeError(`allow must be a list of ${parts}; got ${String(unknown)}`);
  const names = ['allow', ...OPTION_NAMES.filter((name) => !NOT_HERE.has(name))];
  const other = Object.keys(options).find((name) => !names.includes(name));
  if (other !== undefined)
    throw new TypeError(`unknown option '${other}'; resume takes ${names.join(', ')}`);
}

/** The transcript comes first, and resuming is what it does. */
const NOT_HERE: ReadonlySet<string> = new Set(['transcript', 'resume']);

function refuseDifferent(
  found: readonly Difference[],
  { allow, location }: { allow: readonly ConfigurationPart[]; location: string },
): void {
  const allowed: readonly string[] = allow;
  const refused = found.filter((one) => !allowed.includes(one.part) && !isGain(one));
  if (refused.length === 0) return;
  const parts = [...new Set(refused.map(({ part }) => part))];
  const advice = parts.includes('task')
    ? 'Leave the task out, or start a new transcript'
    : `Give what it began with, or allow: [${parts.map((part) => `'${part}'`).join(', ')}]`;
  throw new JournalError(
    'configuration',
    `${location}: the run was begun under another configuration: ${refused.map(differenceText).join('; ')}. ${advice}`,
    refused,
  );
}

/** A check or a policy that there was not before takes nothing away. */
function isGain({ part, was }: Difference): boolean {
  return (part === 'check' || part === 'permit') && was === undefined;
}

function noTask(location: string): JournalError {
  return new JournalError(
    'unusable',
    `${location}: no task is recorded in it, so there is nothing to go on with; give the task, or start a new run`,
  );
}
