/**
 * `replay`: carries a recorded run again, without a model, and tells whether it comes out the same.
 *
 * @module
 */
import { beginRun } from '../run/begin.ts';
import { type Configuration } from '../run/configuration.ts';
import { type Difference } from '../run/differences.ts';
import { JournalError, readJournal, type Journal } from '../run/journal.ts';
import { carry } from '../run/loop.ts';
import { readHead } from '../run/payloads.ts';
import { prepare, type Settings } from '../run/settings.ts';
import { RunState } from '../run/state.ts';
import { type TranscriptStore } from '../store/store.ts';
import { type Verdict } from '../transcript/index.ts';
import {
  checkReplayOptions,
  givenDifferences,
  NO_MODEL,
  prepareGiven,
  type ReplayOptions,
} from './given.ts';
import { liveAnswers, type LiveAnswers } from './live-tools.ts';
import { readVerified } from './read-verified.ts';
import { handOver, recordedSource } from './recorded.ts';
import { membersOf, Tape, type Divergence } from './tape.ts';

/** What a replay found. */
export interface Replay {
  /** Whether the transcript verifies, every record came out the same, and no real tool answered otherwise. */
  readonly ok: boolean;
  /** The records that came out the same. */
  readonly count: number;
  /** Whether the run ended; a replay of one that didn't ends where its record does. */
  readonly sealed: boolean;
  /** What verification found. What doesn't verify isn't replayed. */
  readonly verdict: Verdict;
  /** The first record that came out otherwise. */
  readonly divergence?: Divergence;
  /** With real tools: what they answered. */
  readonly live?: LiveAnswers;
  /** How what was given differs from what is recorded. It doesn't make `ok` false. */
  readonly differences: readonly Difference[];
}

/**
 * Carries the run of a transcript again: each decision, budget, note and total is worked out anew from the
 * recorded replies and answers, and each record must come out as the same bytes.
 *
 * @throws {TypeError} if an option is wrong, or a model is given.
 * @throws {JournalError} `unusable` if it isn't the record of a run of this loop.
 * @throws {StoreError} `failed` if the file changes while it is read. One that can't be read at all has the verdict
 * `unreadable`.
 */
export async function replay(
  transcript: string | URL | TranscriptStore,
  options: ReplayOptions = {},
): Promise<Replay> {
  checkReplayOptions(options);
  const { location, verdict, records } = await readVerified(transcript);
  const isTorn = verdict.fault?.reason === 'torn_tail';
  if (!verdict.ok && !isTorn)
    return { ok: false, count: 0, sealed: verdict.sealed, verdict, differences: [] };
  const journal = await readJournal(each(records), location);
  if (journal.state === null)
    throw new JournalError('unusable', `${location}: there is no task in it, so nothing to replay`);
  const played = await play(new Tape(location, records), journal, options);
  const { sealed } = verdict;
  const isSame = played.divergence === undefined && (played.live?.changed ?? []).length === 0;
  return { ok: verdict.ok && isSame, sealed, verdict, ...played };
}

type Played = Pick<Replay, 'count' | 'divergence' | 'live' | 'differences'>;

async function play(
  tape: Tape,
  { task, timed, origin }: Pick<Journal, 'task' | 'timed' | 'origin'>,
  options: ReplayOptions,
): Promise<Played> {
  const configuration = begunWith(tape);
  const given = prepareGiven(task, configuration, options);
  const live = options.tools === undefined ? undefined : liveAnswers(given);
  const settings: Settings = {
    ...prepare({ task, model: NO_MODEL }),
    configuration,
    timed,
    repeats: tape.records.some((record) => membersOf(record)['note'] !== undefined),
  };
  const state = new RunState(withManifest(configuration, given));
  const source = recordedSource(tape, state, live?.onAnswer);
  const parts = { settings, state, store: tape, source };
  handOver(tape, state); // a repair of a torn first record comes before the task
  await carry(parts, beginRun);
  // As it was lived: each process went on from the state that the records before it had come to.
  while (tape.divergence === undefined && handOver(tape, state)) {
    await carry(parts, async (context) => {
      context.origin = origin;
    });
  }
  const divergence = tape.divergence ?? leftOver(tape);
  return {
    count: tape.head.count,
    ...(divergence === undefined ? {} : { divergence: explained(divergence, state) }),
    ...(live === undefined ? {} : { live: live.result() }),
    differences: givenDifferences({ task, configuration }, given, options),
  };
}

function begunWith({ records }: Tape): Configuration {
  const { configuration } = readHead(membersOf(records.find(({ kind }) => kind === 'user')));
  if (configuration === null) throw new Error('the code here has a bug: the journal was read');
  return configuration;
}

/** Records from before manifests were kept hold a hash, which the right tools fulfil. */
function withManifest(configuration: Configuration, given: Settings): Configuration {
  const { tools, manifest } = given.configuration;
  return configuration.manifest === null && tools === configuration.tools
    ? { ...configuration, manifest }
    : configuration;
}

/** Records that the loop, having ended, would not have written. */
function leftOver({ next, head }: Tape): Divergence | undefined {
  if (next === undefined) return undefined;
  const { kind, payload } = next;
  const detail = `the run has ended, and a record of kind ${kind} follows`;
  return { seq: head.count, recorded: { kind, payload }, replayed: null, detail };
}

function explained(divergence: Divergence, { configuration }: RunState): Divergence {
  if (configuration.manifest !== null) return divergence;
  const detail = `${divergence.detail}. It was recorded before tools were kept in the record: estimates of tokens need the tools, given to the replay`;
  return { ...divergence, detail };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
