/**
 * One model turn: the request, the wait for it, and the reply made fit to record.
 *
 * @module
 */
import { canonicalJson, CanonicalError, parseJson, type JsonValue } from '../transcript/index.ts';
import { deepFreeze, readArguments } from './arguments.ts';
import { exhausted, type Exceeded } from './budget.ts';
import { systemClock } from './clock.ts';
import { millisecondsLeft, type RunContext } from './context.ts';
import { Cancellation, isThenable, race, type IdleLimit, type Raced } from './deadline.ts';
import {
  ModelError,
  type Delta,
  type FailedAttempt,
  type ModelReply,
  type ModelRequest,
  type ReplyCall,
} from './model.ts';
import { turnPayload, type Turn, type TurnCall } from './payloads.ts';
import { describeError, publicText } from './result.ts';
import { type StopReason } from './outcome.ts';
import { codePoints, tokenCount, usageOf, type Usage } from './usage.ts';

/** A turn that didn't come about, and what its attempts may have cost. */
export interface NoTurn {
  readonly reason: StopReason;
  readonly error?: string;
  readonly failedAttempts: readonly FailedAttempt[];
  readonly budget?: Exceeded;
}

/** Asks the model, and records its turn. Returns why the run must stop, or null if there is a turn. */
export async function takeTurn(
  context: RunContext,
  maxOutputTokens: number | undefined,
): Promise<NoTurn | null> {
  const { state, emit } = context;
  const step = state.steps + 1;
  emit?.({ type: 'turn-start', step, spent: state.spent(context.elapsed()) });
  const asked = await askModel(context, step, maxOutputTokens);
  const turn =
    asked.ended === 'value'
      ? readTurn(context, asked.value, asked.streamed)
      : noTurn(context, asked);
  if ('reason' in turn) return turn;
  const payload = turnPayload(turn, state.estimatedFor(turn));
  await context.record('assistant', { ...payload, ...context.stamp() });
  state.turnTaken(turn);
  emit?.({
    type: 'turn-end',
    step,
    content: turn.content,
    toolCalls: turn.calls,
    spent: state.spent(context.elapsed()),
  });
  return null;
}

/** Calls the model under the time budget and the limits on silence. */
async function askModel(
  context: RunContext,
  step: number,
  maxOutputTokens: number | undefined,
): Promise<Asked & { readonly streamed: number }> {
  const { settings, state, emit } = context;
  const { watchdog } = settings;
  const cancellation = new Cancellation();
  let idle: IdleLimit | undefined;
  let waiting = true;
  let streamed = 0;
  const request: ModelRequest = {
    messages: state.messages,
    tools: settings.specs,
    maxOutputTokens,
    secondsLeft:
      settings.rules.budget.seconds === undefined ? undefined : millisecondsLeft(context) / 1000,
    get signal() {
      return cancellation.signal;
    },
    affords: (attempts) => affords(context, attempts),
    onDelta(delta: Delta) {
      if (!waiting) return; // a model that was given up, and goes on
      streamed += codePoints(delta.text);
      idle?.touch(watchdog.betweenOutputs * 1000);
      emit?.({ type: 'delta', step, delta });
    },
  };
  const known = [state.messages.length, state.messages[0], state.messages.at(-1)];
  let raced: Asked;
  try {
    const reply = settings.model(request);
    raced = isThenable(reply)
      ? await waitFor(context, reply, cancellation, (limit) => {
          idle = limit;
        })
      : { ended: 'value', value: reply };
  } catch (error) {
    raced = { ended: 'error', error };
  }
  waiting = false;
  const { length, [0]: first } = state.messages;
  if (length !== known[0] || first !== known[1] || state.messages.at(-1) !== known[2])
    throw new TypeError('the model changed the messages it was given; it must copy them');
  return { ...raced, streamed };
}

/** Whether the budgets leave anything after attempts that failed, or parts of a turn. */
function affords({ state, settings, elapsed }: RunContext, attempts: unknown): boolean {
  let { tokens, nanoUsd } = state;
  for (const attempt of readAttempts(attempts)) {
    const charge = state.chargeForAttempt(attempt);
    tokens += charge.tokens;
    nanoUsd += charge.nanoUsd;
  }
  const spent = { ...state.spent(elapsed()), tokens, usd: nanoUsd / 1e9 };
  const { steps: _steps, toolCalls: _calls, ...limits } = settings.rules.budget;
  return exhausted(limits, spent) === null;
}

/** How long a model that was told to stop may take to say what its attempts came to. */
const LAST_WORD_MS = 50;

/** How asking a model ended; when it was given up, with what it still said. */
type Asked = Raced<unknown> & { readonly lastWord?: Raced<unknown>; readonly endedAt?: number };

async function waitFor(
  context: RunContext,
  reply: PromiseLike<unknown>,
  cancellation: Cancellation,
  onLimit: (limit: IdleLimit) => void,
): Promise<Asked> {
  const { settings } = context;
  const milliseconds = millisecondsLeft(context);
  const raced = await race(
    reply,
    { clock: settings.clock, signal: settings.signal, milliseconds, cancellation },
    { milliseconds: settings.watchdog.firstOutput * 1000, onLimit },
  );
  if (raced.ended === 'value' || raced.ended === 'error') return raced;
  const endedAt = context.elapsed();
  // Real time, whatever the run's clock: it is only a courtesy, and decides nothing but the charge.
  const courtesy = {
    clock: systemClock,
    signal: undefined,
    milliseconds: LAST_WORD_MS,
    cancellation,
  };
  return { ...raced, endedAt, lastWord: await race(reply, courtesy) };
}

type NoReply = Exclude<Asked, { ended: 'value' }> & { readonly streamed: number };

/** Why there is no turn, and what its attempts may have cost. */
function noTurn(context: RunContext, asked: NoReply): NoTurn {
  const isAborted = asked.ended === 'aborted' || context.settings.signal?.aborted === true;
  if (isAborted) {
    const failedAttempts = attemptsOf(asked, 'aborted while the model was answering');
    return { reason: 'aborted', failedAttempts };
  }
  if (asked.ended === 'timeout') {
    return {
      reason: 'time_budget',
      budget: timeUsed(context, asked.endedAt),
      failedAttempts: attemptsOf(asked, 'gave no reply in the time it had'),
    };
  }
  if (asked.ended === 'idle') {
    const error = 'was silent for longer than the watchdog allows';
    return {
      reason: 'model_error',
      error: `the model ${error}`,
      failedAttempts: attemptsOf(asked, error),
    };
  }
  const error = modelErrorText(asked.error);
  return { reason: 'model_error', error, failedAttempts: attemptsOf(asked, 'the model threw') };
}

function timeUsed(context: RunContext, used = context.elapsed()): Exceeded {
  return { name: 'seconds', limit: context.settings.rules.budget.seconds ?? 0, used };
}

function modelErrorText(error: unknown): string {
  try {
    if (error instanceof ModelError && typeof error.message === 'string')
      return publicText(error.message);
  } catch {
    // A proxy, or a getter that throws.
  }
  return describeError(error);
}

/**
 * The attempts that a model tells of in its error, which may come after it was given up. Without them there was
 * one, which may have cost its input and what streamed in, and nobody counted.
 */
function attemptsOf({ ended, streamed, ...asked }: NoReply, error: string): FailedAttempt[] {
  const last =
    'error' in asked && ended === 'error' ? { ended, error: asked.error } : asked.lastWord;
  try {
    if (last?.ended === 'error' && last.error instanceof ModelError)
      return readAttempts(last.error.failedAttempts);
    if (last?.ended === 'value') {
      const { failedAttempts }: { failedAttempts?: unknown } = Object(last.value);
      return [...readAttempts(failedAttempts), { error, usage: usageIn(last.value), streamed }];
    }
  } catch {
    // A proxy, or a getter that throws: it tells nothing.
  }
  return [{ error, usage: null, streamed }];
}

/** The usage that something says it had, whether or not it is a reply. */
function usageIn(reply: unknown): Usage | null {
  const { usage }: { usage?: unknown } = Object(reply);
  return usage == null ? null : usageOf(Object(usage));
}

/** What a model did in its attempts, made fit to record, whatever it says of them. */
function readAttempts(attempts: unknown): FailedAttempt[] {
  if (!Array.isArray(attempts)) return [];
  return attempts.map((attempt: unknown) => {
    const { error, usage, streamed }: { [K in keyof FailedAttempt]?: unknown } = Object(attempt);
    const said = typeof error === 'string' ? publicText(error) : describeError(error);
    return {
      error: said,
      ...(usage === undefined ? {} : { usage: usageOf(Object(usage)) }),
      ...(tokenCount(streamed) === null ? {} : { streamed: Number(streamed) }),
    };
  });
}

/** The turn that a reply is; what isn't a reply is a model error. */
function readTurn(context: RunContext, reply: unknown, streamed: number): Turn | NoTurn {
  let problem: string | null;
  let usage: Usage | null = null;
  try {
    usage = usageIn(reply);
    problem = replyProblem(reply);
    if (problem === null) return readReply(context, reply as ModelReply); // it has just been checked
  } catch (error) {
    problem = describeError(error); // a getter, or a proxy
  }
  const error = `the model returned what isn't a reply: ${problem}`;
  return { reason: 'model_error', error, failedAttempts: [{ error, usage, streamed }] };
}

/** Gives a reply's calls their ids, and makes all of it fit to record. */
function readReply(context: RunContext, reply: ModelReply): Turn {
  const { content, toolCalls = [], usage, stop = 'end', provider, failedAttempts } = reply;
  const taken = new Set<string>();
  const step = context.state.steps + 1;
  return {
    content: content.toWellFormed(),
    calls: Object.freeze(
      toolCalls.map((call, index) => {
        const made = turnCall(
          call,
          step,
          index,
          (id) => taken.has(id) || context.state.callIds.has(id),
        );
        taken.add(made.id);
        return made;
      }),
    ),
    usage: usage == null ? null : usageOf(usage),
    stop,
    ...(provider === undefined ? {} : { provider: copyOf(provider) }),
    failedAttempts: readAttempts(failedAttempts),
  };
}

/** As a record of it reads back, so that a resumed run gives the adapter the same. */
function copyOf(provider: JsonValue): JsonValue {
  const parsed = parseJson(canonicalJson(provider));
  if (!parsed.ok) throw new Error('the code here has a bug: canonical JSON does not parse');
  return deepFreeze(parsed.value);
}

/** A call with an id that is unique in the run: the provider's own if it is, else one made of its place. */
function turnCall(
  call: ReplyCall,
  step: number,
  index: number,
  isTaken: (id: string) => boolean,
): TurnCall {
  const given =
    typeof call.id === 'string' || typeof call.id === 'number' ? `${call.id}`.toWellFormed() : '';
  let id = given;
  for (let k = 0; id === '' || isTaken(id); k += 1) {
    id = k === 0 ? `call_${step}_${index}` : `call_${step}_${index}_${k}`;
  }
  const read = readArguments(call.arguments);
  return Object.freeze({
    id,
    name: call.name.toWellFormed(),
    arguments: read.value,
    text: read.text,
    problem: read.problem,
    ...(read.raw === undefined ? {} : { raw: read.raw }),
    ...(given === '' || given === id ? {} : { providerId: given }),
  });
}

function replyProblem(reply: unknown): string | null {
  if (typeof reply !== 'object' || reply === null) {
    return `${reply === null ? 'null' : typeof reply}, not an object`;
  }
  const { content, toolCalls, stop, provider }: { [K in keyof ModelReply]?: unknown } = reply;
  if (typeof content !== 'string') return 'content is not a string';
  if (stop !== undefined && !STOPS.has(stop)) return 'stop is not end, length or refused';
  return callsProblem(toolCalls) ?? providerProblem(provider);
}

const STOPS: ReadonlySet<unknown> = new Set(['end', 'length', 'refused']);

function callsProblem(toolCalls: unknown): string | null {
  if (toolCalls === undefined) return null;
  if (!Array.isArray(toolCalls)) return 'toolCalls is not an array';
  const wrong = toolCalls.findIndex((call) => !isReplyCall(call));
  return wrong === -1 ? null : `toolCalls[${wrong}] has no name, or no arguments as text or object`;
}

function providerProblem(provider: unknown): string | null {
  try {
    if (provider !== undefined) canonicalJson(provider);
    return null;
  } catch (error) {
    if (error instanceof CanonicalError) return `provider can't be recorded: ${error.message}`;
    throw error;
  }
}

function isReplyCall(call: unknown): call is ReplyCall {
  if (typeof call !== 'object' || call === null) return false;
  const { name, arguments: args }: { name?: unknown; arguments?: unknown } = call;
  return (
    typeof name === 'string' &&
    (typeof args === 'string' || (typeof args === 'object' && args !== null))
  );
}
