/**
 * The transcript as a journal: what a run that was cut off had come to, read from its records alone.
 *
 * @module
 */
import { isJsonObject, type TranscriptRecord } from '../transcript/index.ts';
import { type Manifest } from './configuration.ts';
import { type Difference } from './differences.ts';
import { decide } from './decide.ts';
import { stages } from './dispatch.ts';
import { describeError, publicText } from './result.ts';
import { foldRecord, type RunState } from './state.ts';

/** What a transcript says of a run. */
export interface Journal {
  /** Null if there is no task in it yet. */
  readonly state: RunState | null;
  readonly task: string;
  /** The hash of the record that holds the task. */
  readonly origin: string;
  /** Whether records hold times. */
  readonly timed: boolean;
  /** How long the run took, between crash and resume not counted; 0 if records hold no times. */
  readonly seconds: number;
  readonly count: number;
  /** Whether the record holds the tools' manifest, and not only its hash. */
  readonly manifested: boolean;
}

/** A transcript can't be gone on with, or replayed, as it was asked. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  /**
   * - `configuration`: it was made under another one; `differences` has what differs.
   * - `unusable`: it isn't the record of a run of this loop, or has no task in it.
   */
  readonly code: 'configuration' | 'unusable';
  readonly differences: readonly Difference[];

  constructor(
    code: JournalError['code'],
    message: string,
    differences: readonly Difference[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.differences = differences;
  }
}

/**
 * Reads a journal.
 *
 * @param location for messages.
 * @param known the tools' manifest, for transcripts that hold only its hash.
 * @throws {JournalError} `unusable` at the first record that isn't one of this loop's.
 */
export async function readJournal(
  records: AsyncIterable<TranscriptRecord>,
  location: string,
  known: Manifest | null = null,
): Promise<Journal> {
  let state: RunState | null = null;
  let task = '';
  let origin = '';
  let timed = false;
  let manifested = true;
  let count = 0;
  const watch = stopwatch();
  for await (const record of records) {
    const { kind, payload, hash } = record;
    const isFirst = state === null && kind === 'user';
    state = folded(state, record, { location, known });
    const { content, run, at } = isJsonObject(payload) ? payload : {};
    if (isFirst) {
      if (run === undefined) throw foreign(location);
      task = typeof content === 'string' ? content : '';
      origin = hash;
      timed = typeof at === 'string';
      manifested = isJsonObject(run) && run['manifest'] !== undefined;
    }
    if (kind === 'resumed' && run !== undefined) manifested = true;
    watch.see(kind, at);
    count += 1;
  }
  return { state, task, origin, timed, seconds: watch.seconds(), count, manifested };
}

function folded(
  state: RunState | null,
  record: TranscriptRecord,
  { location, known }: { location: string; known: Manifest | null },
): RunState | null {
  try {
    return foldRecord(state, record, known);
  } catch (error) {
    const { seq, kind } = record;
    const why = error instanceof Error ? publicText(error.message) : describeError(error);
    const problem = `${location}: record ${seq} (${kind}) isn't one that hashtape's loop writes: ${why}`;
    throw new JournalError('unusable', problem, [], { cause: error });
  }
}

function foreign(location: string): JournalError {
  return new JournalError(
    'unusable',
    `${location}: its first record holds no configuration (\`run\`), so no decision can be taken again. It was written by another program: it can be verified and shown`,
  );
}

/** Adds up the time between records of one process. */
function stopwatch(): { see: (kind: string, at: unknown) => void; seconds: () => number } {
  let total = 0;
  let last = Number.NaN;
  return {
    see(kind, at) {
      const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
      // The time before a resume is nobody's; a clock that was set back counts as no time.
      if (kind !== 'resumed' && time > last) total += time - last;
      if (!Number.isNaN(time)) last = time;
    },
    seconds: () => total / 1000,
  };
}

/**
 * The calls without an answer that may have been started: those of which a process before the last was not
 * sure, and the first stage of those that wait, as a stage begins when those before it are recorded.
 */
export function startedCalls(state: RunState): string[] {
  const { unanswered, uncertain } = state;
  const first = new Set(firstStage(state));
  return unanswered.map(({ id }) => id).filter((id) => first.has(id) || uncertain.has(id));
}

/** None if the loop would have run none. */
function firstStage(state: RunState): string[] {
  const { configuration, unanswered } = state;
  if (unanswered.length === 0) return [];
  // Times and aborts are not recorded, and can only have kept a call from starting.
  const next = decide(state, configuration, { abort: null, seconds: 0 });
  if (next.do !== 'call') return [];
  const { toolCalls: limit = Infinity } = configuration.budget;
  const allowed = unanswered.slice(0, Math.max(0, limit - state.toolCalls));
  return (stages({ state }, allowed)[0] ?? []).map(({ id }) => id);
}
