/**
 * What the parts of the loop share while a run goes on.
 *
 * @module
 */
import { type TranscriptStore } from '../store/store.ts';
import { type JsonObject } from '../transcript/index.ts';
import { type Abort } from './abort.ts';
import { type RunEvent } from './events.ts';
import { type CheckResult, type StopReason } from './outcome.ts';
import { type TurnCall } from './payloads.ts';
import { type FailedAttempt } from './model.ts';
import { type Exceeded } from './budget.ts';
import { type Settings } from './settings.ts';
import { type RunState } from './state.ts';

/**
 * Where all comes from that no record foretells: the world, or a record of it. The loop is the same for
 * both, which is what makes a replay worth something.
 */
export interface Source {
  /** Asks the model and records its turn. Returns why there is none, or null. */
  takeTurn(context: RunContext, maxOutputTokens: number | undefined): Promise<NoTurn | null>;
  /** Gives each call of a stage its answer, in order, and records it. */
  runStage(context: RunContext, stage: readonly TurnCall[]): Promise<void>;
  /** What a check found; null if there was none, or it wasn't made. */
  check(context: RunContext, reason: StopReason): Promise<CheckResult | null>;
  /** Whether the run is to end at once, and why. */
  abort(): Abort | null;
  /** Seconds since the run began, without the time between a crash and a resume. */
  seconds(): number;
  /** The `at` of the next record, if the run is timed. */
  stamp(): JsonObject;
}

/** A turn that didn't come about, and what its attempts may have cost. */
export interface NoTurn {
  readonly reason: StopReason;
  readonly error?: string;
  readonly failedAttempts: readonly FailedAttempt[];
  readonly budget?: Exceeded;
}

/** What the loop needs of a store. */
export type RecordWriter = Pick<TranscriptStore, 'location' | 'head' | 'append' | 'sync'>;

/** A run that goes on. */
export interface RunContext {
  readonly settings: Settings;
  readonly state: RunState;
  readonly store: RecordWriter;
  readonly source: Source;
  /** Writes one record. The state is told of it only when this has resolved. */
  readonly record: (kind: string, payload: JsonObject) => Promise<void>;
  /** Makes what was recorded durable. */
  readonly sync: () => Promise<void>;
  /** Undefined without listeners, so that events nobody hears cost nothing. */
  readonly emit: ((event: RunEvent) => void) | undefined;
  /** The hash of the record that holds the task; idempotency keys are made of it. */
  origin: string;
}

/** Why nothing more may be started, or null while the run may go on. */
export function overWhy({ source, state }: RunContext): string | null {
  if (source.abort() !== null) return 'the run was aborted';
  const limit = state.configuration.budget.seconds;
  if (limit === undefined || source.seconds() < limit) return null;
  return `the time budget of ${limit} is used up`;
}

/** Seconds since the run began, without the time between a crash and a resume. */
export function elapsed(context: RunContext): number {
  return context.source.seconds();
}

/** Milliseconds that the time budget leaves; Infinity without one. */
export function millisecondsLeft(context: RunContext): number {
  const { seconds } = context.state.configuration.budget;
  return seconds === undefined ? Infinity : Math.max(0, (seconds - elapsed(context)) * 1000);
}
