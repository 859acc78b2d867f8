/**
 * The loop: decide, act, record, again. What to do is decided in `decide.ts`, from a state that only records
 * change; whatever no record foretells comes from a source, which is the world or a record of it.
 *
 * @module
 */
import { StoreError } from '../store/store.ts';
import { type JsonObject, type RecordLine } from '../transcript/index.ts';
import {
  elapsed,
  type NoTurn,
  type RecordWriter,
  type RunContext,
  type Source,
} from './context.ts';
import { decide, type Next } from './decide.ts';
import { runCalls, skipCalls } from './dispatch.ts';
import { type CheckResult, type Outcome, type StopReason } from './outcome.ts';
import { attemptsPayload } from './payloads.ts';
import { describeError, publicText } from './result.ts';
import { type Settings } from './settings.ts';
import { type RunState } from './state.ts';

/** What a run is made of. */
export interface Parts {
  readonly settings: Settings;
  readonly state: RunState;
  readonly store: RecordWriter;
  readonly source: Source;
}

/**
 * Carries a run to its outcome. A store that fails on the way is an outcome, as what was done before stays
 * done.
 *
 * @param begin writes the first records, and brings the state to where they are.
 */
export async function carry(
  parts: Parts,
  begin: (context: RunContext) => Promise<void>,
): Promise<Outcome> {
  const context = contextOf(parts);
  let outcome: Outcome;
  try {
    await begin(context);
    outcome = await drive(context);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const stopped: Stop = { reason: 'record_error', error: publicText(error.message) };
    outcome = outcomeOf(context, stopped, null);
  }
  context.emit?.({ type: 'run-end', outcome });
  return outcome;
}

function contextOf(parts: Parts): RunContext {
  const { store } = parts;
  const { emit } = parts.settings;
  const breathe = breather();
  const record = async (kind: string, payload: JsonObject): Promise<void> => {
    let lines: readonly RecordLine[];
    try {
      lines = await store.append([{ kind, payload }]);
    } catch (error) {
      throw asStoreError(error);
    }
    const [line] = lines;
    if (line !== undefined) emit?.({ type: 'record', record: line, payload });
    const breath = breathe();
    if (breath !== undefined) await breath;
  };
  const sync = async (): Promise<void> => {
    try {
      await store.sync();
    } catch (error) {
      throw asStoreError(error);
    }
  };
  return { ...parts, record, sync, emit, origin: '' };
}

/** The longest that timers, signals and other runs of the process wait for a run that does no real waiting. */
const BREATH_MS = 10;

/** Lets the event loop take a turn if it has had none for long: an abort could not be heard otherwise. */
function breather(): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (performance.now() - last < BREATH_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        last = performance.now();
        resolve();
      });
    });
  };
}

/** Whatever a store throws, a record that can't be kept is how the run ends. */
function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('failed', describeError(error), { cause: error });
}

/** The loop itself. A record is made durable before anything depends on it. */
async function drive(context: RunContext): Promise<Outcome> {
  const { state, source } = context;
  for (;;) {
    const { configuration } = state;
    // Reading a clock takes its time, and most runs have no limit to compare with.
    const seconds = configuration.budget.seconds === undefined ? 0 : source.seconds();
    const next = decide(state, configuration, { abort: source.abort(), seconds });
    if (next.do === 'stop') return finish(context, next);
    if (next.do === 'skip') {
      await skipCalls(context, next.why);
      continue;
    }
    await context.sync();
    if (next.do === 'call') {
      await runCalls(context);
      continue;
    }
    const none = await source.takeTurn(context, next.maxOutputTokens);
    if (none !== null) return finish(context, none);
  }
}

/** Why and how a run stops. */
type Stop = NoTurnStop | Extract<Next, { do: 'stop' }>;
type NoTurnStop = Partial<NoTurn> & { readonly reason: StopReason };

/** Answers what has no answer, checks success, and seals the transcript. */
async function finish(context: RunContext, stop: Stop): Promise<Outcome> {
  const { state, source } = context;
  await skipCalls(context, 'why' in stop ? stop.why : 'the run ended');
  if ('failedAttempts' in stop) state.attemptsFailed(stop.failedAttempts ?? []);
  const check = await source.check(context, stop.reason);
  await context.record('final', finalPayload(context, stop, check));
  await context.sync();
  return outcomeOf(context, stop, check);
}

function finalPayload(context: RunContext, stop: Stop, check: CheckResult | null): JsonObject {
  const { state, source } = context;
  const error = 'error' in stop ? stop.error : undefined;
  const attempts = 'failedAttempts' in stop ? (stop.failedAttempts ?? []) : [];
  return {
    reason: stop.reason,
    steps: state.steps,
    tool_calls: state.toolCalls,
    tokens: state.tokens,
    ...(state.estimatedTokens > 0 ? { tokens_estimated: state.estimatedTokens } : {}),
    ...(state.configuration.price === undefined ? {} : { cost: state.nanoUsd / 1e9 }),
    content: state.turn?.content ?? '',
    check: check === null ? null : { ok: check.ok, detail: check.detail ?? '' },
    ...budgetPayload(context, stop),
    ...(error === undefined ? {} : { error }),
    ...attemptsPayload(attempts),
    ...source.stamp(),
  };
}

/** The budget that stopped the run. How much time was used is told only if records hold times. */
function budgetPayload(context: RunContext, stop: Stop): JsonObject {
  const budget = stop.budget;
  if (budget === undefined) return {};
  const timeUnsaid = budget.name === 'seconds' && !context.settings.timed;
  return {
    budget: {
      name: budget.name === 'toolCalls' ? 'tool_calls' : budget.name,
      limit: budget.limit,
      ...(timeUnsaid ? {} : { used: budget.used }),
    },
  };
}

function outcomeOf(context: RunContext, stop: Stop, check: CheckResult | null): Outcome {
  const { state, store } = context;
  const error = 'error' in stop ? stop.error : undefined;
  const budget = stop.budget;
  const { count, hash, sealed } = store.head;
  const { resumptions: times, interrupted, rerun } = state;
  return deepFrozen({
    reason: stop.reason,
    answer: state.turn?.content ?? '',
    check,
    verified: check === null ? null : check.ok,
    spent: state.spent(elapsed(context)),
    ...(budget === undefined ? {} : { budget }),
    ...(error === undefined ? {} : { error }),
    ...(times === 0 ? {} : { resumed: { times, interrupted, rerun } }),
    transcript: { location: store.location, count, head: hash, sealed },
  });
}

/** A listener is given the very object that the caller gets. */
function deepFrozen(outcome: Outcome): Outcome {
  for (const part of Object.values(outcome)) Object.freeze(part);
  return Object.freeze(outcome);
}
