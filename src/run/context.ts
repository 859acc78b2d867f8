/**
 * What the parts of the loop share while a run goes on.
 *
 * @module
 */
import { type TranscriptStore } from '../store/store.ts';
import { type JsonObject } from '../transcript/index.ts';
import { type RunEvent } from './events.ts';
import { type Settings } from './settings.ts';
import { type RunState } from './state.ts';

/** A run that goes on. */
export interface RunContext {
  readonly settings: Settings;
  readonly state: RunState;
  readonly store: TranscriptStore;
  /** Writes one record. The state is told of it only when this has resolved. */
  readonly record: (kind: string, payload: JsonObject) => Promise<void>;
  /** Undefined without listeners, so that events nobody hears cost nothing. */
  readonly emit: ((event: RunEvent) => void) | undefined;
  /** Seconds since the run began. */
  readonly elapsed: () => number;
  /** The `at` of a record, if the run is timed. */
  readonly stamp: () => JsonObject;
  /** The hash of the first record; idempotency keys are made of it. */
  readonly origin: string;
}

/** Why nothing more may be started, or null while the run may go on. */
export function overWhy(context: RunContext): string | null {
  if (context.settings.signal?.aborted === true) return 'the run was aborted';
  if (millisecondsLeft(context) > 0) return null;
  return `the time budget of ${context.settings.rules.budget.seconds ?? 0} is used up`;
}

/** Milliseconds that the time budget leaves; Infinity without one. */
export function millisecondsLeft(context: RunContext): number {
  const { seconds } = context.settings.rules.budget;
  return seconds === undefined ? Infinity : Math.max(0, (seconds - context.elapsed()) * 1000);
}
