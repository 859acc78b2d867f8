/**
 * One model turn: the request, and the wait for it.
 *
 * @module
 */
import { exhausted, type Exceeded } from './budget.ts';
import { systemClock } from './clock.ts';
import { elapsed, millisecondsLeft, type NoTurn, type RunContext } from './context.ts';
import { Cancellation, isThenable, race, type IdleLimit, type Raced } from './deadline.ts';
import { ModelError, type Delta, type FailedAttempt, type ModelRequest } from './model.ts';
import { turnPayload, type Turn } from './payloads.ts';
import { readAttempts, readReply, usageIn } from './reply.ts';
import { describeError, publicText } from './result.ts';
import { codePoints } from './usage.ts';

/** Asks the model, and records its turn. Returns why the run must stop, or null if there is a turn. */
export async function takeTurn(
  context: RunContext,
  maxOutputTokens: number | undefined,
): Promise<NoTurn | null> {
  const { state, emit } = context;
  const step = state.steps + 1;
  emit?.({ type: 'turn-start', step, spent: state.spent(elapsed(context)) });
  const asked = await askModel(context, step, maxOutputTokens);
  const turn =
    asked.ended === 'value'
      ? readTurn(context, asked.value, asked.streamed)
      : noTurn(context, asked);
  if ('reason' in turn) return turn;
  const payload = turnPayload(turn, state.estimatedFor(turn));
  await context.record('assistant', { ...payload, ...context.source.stamp() });
  state.turnTaken(turn);
  emit?.({
    type: 'turn-end',
    step,
    content: turn.content,
    toolCalls: turn.calls,
    spent: state.spent(elapsed(context)),
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
      state.configuration.budget.seconds === undefined
        ? undefined
        : millisecondsLeft(context) / 1000,
    get signal() {
      return cancellation.signal;
    },
    affords: (attempts) => affords(context, attempts),
    onWait(milliseconds) {
      // What comes after the wait is a request anew.
      if (waiting) idle?.touch(milliseconds + watchdog.firstOutput * 1000);
    },
    onDelta(delta: Delta) {
      if (!waiting) return; // a model that was given up, and goes on
      streamed += codePoints(delta.text);
      idle?.touch(watchdog.betweenOutputs * 1000);
      emit?.({ type: 'delta', step, delta });
    },
  };
  const isUnchanged = lent(state.messages);
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
  if (isUnchanged()) return { ...raced, streamed };
  // Going on would record one conversation and send another.
  const error = new ModelError('the model changed the messages it was given; it must copy them');
  return { ended: 'error', error, streamed };
}

/** Tells later whether a list that a model has borrowed is what it was, as far as that costs nothing. */
function lent(messages: readonly unknown[]): () => boolean {
  const { length, [0]: first } = messages;
  const last = messages.at(-1);
  return () => messages.length === length && messages[0] === first && messages.at(-1) === last;
}

/** Whether the budgets leave anything after attempts that failed, or parts of a turn. */
function affords(context: RunContext, attempts: unknown): boolean {
  const { state } = context;
  let { tokens, nanoUsd } = state;
  for (const attempt of readAttempts(attempts)) {
    const charge = state.chargeForAttempt(attempt);
    tokens += charge.tokens;
    nanoUsd += charge.nanoUsd;
  }
  const spent = { ...state.spent(elapsed(context)), tokens, usd: nanoUsd / 1e9 };
  const { steps: _steps, toolCalls: _calls, ...limits } = state.configuration.budget;
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
  const endedAt = elapsed(context);
  // Real time, whatever the run's clock: it is only a courtesy, and decides nothing but the charge.
  const courtesy = {
    clock: systemClock,
    signal: undefined,
    milliseconds: LAST_WORD_MS,
    cancellation,
  };
  return { ...raced, endedAt, lastWord: await race(reply, courtesy) };
}

type Unanswered = Exclude<Asked, { ended: 'value' }> & { readonly streamed: number };

/** Why there is no turn, and what its attempts may have cost. */
function noTurn(context: RunContext, asked: Unanswered): NoTurn {
  const abort = context.source.abort();
  if (abort !== null || asked.ended === 'aborted') {
    const failedAttempts = attemptsOf(asked, 'aborted while the model was answering');
    return { ...(abort ?? { reason: 'aborted' }), failedAttempts };
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

function timeUsed(context: RunContext, used = elapsed(context)): Exceeded {
  return { name: 'seconds', limit: context.state.configuration.budget.seconds ?? 0, used };
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
function attemptsOf({ ended, streamed, ...asked }: Unanswered, error: string): FailedAttempt[] {
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

/** The turn that a reply is; what isn't a reply is a model error. */
function readTurn(context: RunContext, reply: unknown, streamed: number): Turn | NoTurn {
  const { steps, callIds } = context.state;
  const turn = readReply(reply, steps + 1, callIds);
  if (!('problem' in turn)) return turn;
  const error = `the model returned what isn't a reply: ${turn.problem}`;
  const failedAttempts = [{ error, usage: turn.usage, streamed }];
  return { reason: 'model_error', error, failedAttempts };
}
