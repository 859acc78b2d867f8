/**
 * `replay`: carries a recorded run again, without a model, and tells whether it comes out the same.
 *
 * @module
 */
import { beginRun } from '../run/begin.ts';
import { withManifest, type Configuration } from '../run/configuration.ts';
import { type Difference } from '../run/differences.ts';
import { JournalError, readJournal, type Journal } from '../run/journal.ts';
import { type RunContext } from '../run/context.ts';
import { carry, type Parts } from '../run/loop.ts';
import { withheld } from '../run/redacting.ts';
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
import { readVerified, type ReadTranscript } from './read-verified.ts';
import { handOver, recordedSource } from './recorded.ts';
import { isForeign, membersOf, Tape, type Divergence } from './tape.ts';

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
  /** The first record of which a value is withheld: it and what follows can't be compared, and `ok` is false. */
  readonly withheldFrom?: number;
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
  const read = await readVerified(transcript);
  const { location, verdict, withheldFrom, asWritten } = read;
  const isTorn = verdict.fault?.reason === 'torn_tail';
  if (!verdict.ok && !isTorn)
    return { ok: false, count: 0, sealed: verdict.sealed, verdict, differences: [] };
  // What comes before is replayed like the record of a run that was cut off there.
  const records = read.records.slice(0, withheldFrom);
  const journal = await readJournal(each(records), location);
  if (journal.state === null) throw noTask(read);
  const tape = new Tape(location, records, asWritten);
  const played = await play(tape, journal, journal.state, options);
  const { sealed } = verdict;
  const isSame = played.divergence === undefined && (played.live?.changed ?? []).length === 0;
  const isWhole = verdict.ok && withheldFrom === undefined;
  const told = withheldFrom === undefined ? {} : { withheldFrom };
  return { ok: isWhole && isSame, sealed, verdict, ...told, ...played };
}

function noTask({ location, withheldFrom }: ReadTranscript): JournalError {
  if (withheldFrom !== undefined) return withheld(location, withheldFrom);
  return new JournalError('unusable', `${location}: there is no task in it, so nothing to replay`);
}

type Played = Pick<Replay, 'count' | 'divergence' | 'live' | 'differences'>;

async function play(
  tape: Tape,
  { task, timed, origin }: Pick<Journal, 'task' | 'timed' | 'origin'>,
  ended: RunState,
  options: ReplayOptions,
): Promise<Played> {
  const configuration = begunWith(tape);
  const { configuration: last } = ended;
  const given = prepareGiven(task, last, options);
  const live = options.live === true ? liveAnswers(given) : undefined;
  const settings: Settings = { ...prepare({ task, model: NO_MODEL }), configuration, timed };
  const known =
    last.manifest ?? (options.tools === undefined ? null : given.configuration.manifest);
  const state = new RunState(withManifest(configuration, known));
  const source = recordedSource(tape, state, live?.onAnswer);
  await relive(tape, { settings, state, store: tape, source }, origin);
  const divergence = tape.divergence ?? leftOver(tape);
  if (divergence !== undefined && state.configuration.manifest === null) throw unknownTools(tape);
  return {
    count: tape.head.count,
    ...(divergence === undefined ? {} : { divergence }),
    ...(live === undefined ? {} : { live: live.result() }),
    differences: givenDifferences({ task, configuration: last }, given, options),
  };
}

/** As it was lived: each process went on from the state that the records before it had come to. */
async function relive(tape: Tape, parts: Parts, origin: string): Promise<void> {
  const process = (begin: (context: RunContext) => Promise<void>): Promise<unknown> =>
    carry({ ...parts, settings: { ...parts.settings, repeats: hasNotes(tape) } }, begin);
  try {
    handOver(tape, parts.state); // a repair of a torn first record comes before the task
    await process(beginRun);
    while (tape.divergence === undefined && handOver(tape, parts.state)) {
      await process(async (context) => {
        context.origin = origin;
      });
    }
  } catch (error) {
    if (tape.divergence === undefined) throw error;
  }
}

/** Whether repeats were noted by the process whose records come next: nothing else says it. */
function hasNotes({ records, head }: Tape): boolean {
  const end = records.findIndex((record, at) => at >= head.count && isForeign(record));
  return records
    .slice(head.count, end === -1 ? undefined : end)
    .some((record) => membersOf(record)['note'] !== undefined);
}

function unknownTools({ location }: Tape): JournalError {
  return new JournalError(
    'unusable',
    `${location}: it was recorded before tools were kept in the record, and the estimates of tokens in it need them: give the replay the tools that the run had`,
  );
}

function begunWith({ records }: Tape): Configuration {
  const { configuration } = readHead(membersOf(records.find(({ kind }) => kind === 'user')));
  if (configuration === null) throw new Error('the code here has a bug: the journal was read');
  return configuration;
}

/** Records that the loop, having ended, would not have written. */
function leftOver({ next, head }: Tape): Divergence | undefined {
  if (next === undefined) return undefined;
  const { kind, payload } = next;
  const detail = `the run has ended, and a record of kind ${kind} follows`;
  return { seq: head.count, recorded: { kind, payload }, replayed: null, detail };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
