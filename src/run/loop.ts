/**
 * The loop: decide, act, record, again. This file performs a run's effects; what to do is decided in
 * `decide.ts`, from a state that only records change.
 *
 * @module
 */
import { setMaxListeners } from 'node:events';
import { createTranscript } from '../store/file.ts';
import { memoryStore } from '../store/memory.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { type JsonObject, type RecordLine } from '../transcript/index.ts';
import { type RunContext } from './context.ts';
import { Cancellation, isThenable, race } from './deadline.ts';
import { decide, type Next } from './decide.ts';
import { runCalls, skipCalls } from './dispatch.ts';
import { type CheckResult, type Outcome, type StopReason } from './outcome.ts';
import { attemptsPayload } from './payloads.ts';
import { describeError, publicText } from './result.ts';
import { type RunOptions } from './options.ts';
import { headPayload, prepare, type Settings } from './settings.ts';
import { RunState } from './state.ts';
import { takeTurn, type NoTurn } from './turn.ts';
import { codePoints } from './usage.ts';

/** How long a success check may take, in milliseconds. */
const CHECK_TIMEOUT_MS = 600_000;

/**
 * Carries one task to one outcome.
 *
 * @throws {TypeError | RangeError} if the options are wrong.
 * @throws {StoreError} if the transcript can't be begun: there is one already, or another writer.
 */
export async function run(options: RunOptions): Promise<Outcome> {
  const settings = withOwnSignal(prepare(options));
  const { store, owned } = await openStore(options.transcript);
  try {
    return await runIn(settings, store);
  } finally {
    inUse.delete(store);
    // The record is durable by now, or the outcome says that it failed: closing can take nothing back.
    if (owned) await store.close().catch(() => undefined);
  }
}

/**
 * The run's own signal, which follows the caller's: each call of a turn listens to it, and Node warns of more
 * than ten listeners on a signal that nobody told it of.
 */
function withOwnSignal(settings: Settings): Settings {
  if (!(settings.signal instanceof AbortSignal)) return settings;
  const signal = AbortSignal.any([settings.signal]);
  setMaxListeners(0, signal);
  return { ...settings, signal };
}

/** Stores that a run is writing to: each holds one run. */
const inUse = new WeakSet<TranscriptStore>();

async function openStore(
  transcript: RunOptions['transcript'],
): Promise<{ store: TranscriptStore; owned: boolean }> {
  if (transcript === undefined) return { store: memoryStore(), owned: true };
  if (typeof transcript === 'string' || transcript instanceof URL) {
    return { store: await createTranscript(transcript), owned: true };
  }
  if (inUse.has(transcript))
    throw new StoreError('locked', `${transcript.location}: another run is writing to this store`);
  if (transcript.head.count > 0) {
    throw new StoreError(
      'exists',
      `${transcript.location} holds a transcript already; give the run an empty one`,
    );
  }
  inUse.add(transcript);
  return { store: transcript, owned: false };
}

/** Runs in a store; a store that fails on the way is an outcome, as what was done before stays done. */
async function runIn(settings: Settings, store: TranscriptStore): Promise<Outcome> {
  const context = begin(settings, store);
  let outcome: Outcome;
  try {
    outcome = await drive(context);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const stopped: Stop = { reason: 'record_error', error: publicText(error.message) };
    outcome = outcomeOf(context, stopped, null);
  }
  context.emit?.({ type: 'run-end', outcome });
  return outcome;
}

function begin(settings: Settings, store: TranscriptStore): RunContext & { origin: string } {
  const { clock, emit } = settings;
  const breathe = breather();
  const startedAt = clock.now();
  const state = new RunState({
    system: settings.system,
    price: settings.rules.price,
    manifestPoints: codePoints(settings.manifest),
    comparedBy: (tool) => settings.tools.get(tool)?.tool.repeatedWhen ?? 'result',
  });
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
  return {
    settings,
    state,
    store,
    record,
    emit,
    elapsed: () => Math.max(0, (clock.now() - startedAt) / 1000),
    stamp: () => (settings.timed ? { at: new Date(clock.now()).toISOString() } : {}),
    origin: '',
  };
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

async function sync(store: TranscriptStore): Promise<void> {
  try {
    await store.sync();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** The loop itself. A record is made durable before anything depends on it. */
async function drive(context: RunContext & { origin: string }): Promise<Outcome> {
  const { settings, state, store } = context;
  context.emit?.({ type: 'run-start', task: settings.task, location: store.location });
  await context.record('user', headPayload(settings, context.stamp()));
  context.origin = store.head.hash;
  state.started(settings.task);
  for (;;) {
    const next = decide(state, settings.rules, {
      aborted: settings.signal?.aborted === true,
      seconds: context.elapsed(),
    });
    if (next.do === 'stop') return finish(context, next);
    if (next.do === 'skip') {
      await skipCalls(context, next.why);
      continue;
    }
    await sync(store);
    if (next.do === 'call') {
      await runCalls(context);
      continue;
    }
    const none = await takeTurn(context, next.maxOutputTokens);
    if (none !== null) return finish(context, none);
  }
}

/** Why and how a run stops. */
type Stop = NoTurnStop | Extract<Next, { do: 'stop' }>;
type NoTurnStop = Partial<NoTurn> & { readonly reason: StopReason };

/** Answers what has no answer, checks success, and seals the transcript. */
async function finish(context: RunContext, stop: Stop): Promise<Outcome> {
  const { state, store } = context;
  await skipCalls(context, 'why' in stop ? stop.why : 'the run ended');
  if ('failedAttempts' in stop) state.attemptsFailed(stop.failedAttempts ?? []);
  const check = await checkSuccess(context, stop.reason);
  await context.record('final', finalPayload(context, stop, check));
  await sync(store);
  return outcomeOf(context, stop, check);
}

function finalPayload(context: RunContext, stop: Stop, check: CheckResult | null): JsonObject {
  const { state, settings } = context;
  const error = 'error' in stop ? stop.error : undefined;
  const attempts = 'failedAttempts' in stop ? (stop.failedAttempts ?? []) : [];
  return {
    reason: stop.reason,
    steps: state.steps,
    tool_calls: state.toolCalls,
    tokens: state.tokens,
    ...(state.estimatedTokens > 0 ? { tokens_estimated: state.estimatedTokens } : {}),
    ...(settings.rules.price === undefined ? {} : { cost: state.nanoUsd / 1e9 }),
    content: state.turn?.content ?? '',
    check: check === null ? null : { ok: check.ok, detail: check.detail ?? '' },
    ...budgetPayload(context, stop),
    ...(error === undefined ? {} : { error }),
    ...attemptsPayload(attempts),
    ...context.stamp(),
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

/** Looks at the world. Not after an abort: whoever aborted wants the end, not more work. */
async function checkSuccess(context: RunContext, reason: StopReason): Promise<CheckResult | null> {
  const { check, clock, signal } = context.settings;
  if (check === undefined || reason === 'aborted') return null;
  const cancellation = new Cancellation();
  const answer = context.state.turn?.content ?? '';
  try {
    const given = check({ answer, reason, signal: cancellation.signal });
    const deadline = { clock, signal, milliseconds: CHECK_TIMEOUT_MS, cancellation };
    const raced = isThenable(given)
      ? await race(given, deadline)
      : { ended: 'value' as const, value: given };
    if (raced.ended === 'value') return checkResult(raced.value);
    if (raced.ended === 'error') throw raced.error;
    return {
      ok: false,
      detail: raced.ended === 'timeout' ? 'the check did not end' : 'aborted during the check',
    };
  } catch (error) {
    return { ok: false, detail: `the check raised ${describeError(error)}` };
  }
}

/** Only `ok: true` is success. */
function checkResult(value: unknown): CheckResult {
  if (typeof value !== 'object' || value === null || !('ok' in value)) {
    return { ok: false, detail: 'the check returned no { ok, detail }' };
  }
  const detail =
    'detail' in value && typeof value.detail === 'string' ? publicText(value.detail) : '';
  if (typeof value.ok !== 'boolean')
    return { ok: false, detail: 'the check returned an ok that is neither true nor false' };
  return { ok: value.ok, detail };
}

function outcomeOf(context: RunContext, stop: Stop, check: CheckResult | null): Outcome {
  const { state, store } = context;
  const error = 'error' in stop ? stop.error : undefined;
  const budget = stop.budget;
  const { count, hash, sealed } = store.head;
  return deepFrozen({
    reason: stop.reason,
    answer: state.turn?.content ?? '',
    check,
    verified: check === null ? null : check.ok,
    spent: state.spent(context.elapsed()),
    ...(budget === undefined ? {} : { budget }),
    ...(error === undefined ? {} : { error }),
    transcript: { location: store.location, count, head: hash, sealed },
  });
}

/** A listener is given the very object that the caller gets. */
function deepFrozen(outcome: Outcome): Outcome {
  for (const part of Object.values(outcome)) Object.freeze(part);
  return Object.freeze(outcome);
}
