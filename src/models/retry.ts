/**
 * When a failed request is sent again, and after what wait. Adapters share this policy.
 *
 * A decision is a pure function of what failed and of the time that is left. There is no random jitter:
 * one run has one request in flight, and a run should be a function of its inputs.
 *
 * An attempt may be repeated although it had streamed output already: deltas are not the record, which
 * holds the reply that came in the end alone. What a cut attempt used is charged all the same.
 *
 * @module
 */
import { systemClock, type Clock } from '../run/clock.ts';
import {
  ModelError,
  type FailedAttempt,
  type ModelReply,
  type ModelRequest,
} from '../run/model.ts';
import { codePoints, type Usage } from '../run/usage.ts';
import { COUNT, orAbsent, type Shape } from './options.ts';

/** How often and how long an adapter tries. */
export interface RetryOptions {
  /** Requests sent for one reply, the first included. Default 3. */
  readonly maxAttempts?: number;
  /** The longest wait that a provider may ask for, in seconds. Default 600. */
  readonly maxRetryWaitSeconds?: number;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** The options, checked, with their defaults. */
export type RetryPolicy = Required<RetryOptions>;

/** What is known of an attempt that failed. */
export interface AttemptFailure {
  /** The provider's words, its status and request id. Fit for the record: no key, stack or path. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** In a word or two, as `rate limited`: what a message about the wait begins with. */
  readonly label?: string;
  /** The wait that the provider asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** As in {@link FailedAttempt}: null if it used what nobody counted, undefined if it can't have cost. */
  readonly usage?: Usage | null | undefined;
}

/** An attempt failed. Adapters throw it inside {@link withRetries}, which turns it into a ModelError. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly failure: AttemptFailure;

  constructor(failure: AttemptFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** What to do after an attempt failed. */
export type Decision =
  | { readonly retry: true; readonly waitMs: number }
  | { readonly retry: false; readonly reason: string };

const BACKOFF_MS = 500;

/** However long: a wait of a million years is refused, not taken for none. */
const DECIMAL = /^\s*\d+(\.\d+)?\s*$/;

/** RFC 9110 §5.6.7. Date.parse alone takes almost anything that has a year in it. */
const HTTP_DATE = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .* GMT\s*$/;

/** What {@link RetryOptions} must be, but for the clock. */
export const RETRY_OPTIONS: Shape = {
  maxAttempts: COUNT,
  maxRetryWaitSeconds: [
    'seconds, 0 or more',
    orAbsent((value) => Number.isFinite(value) && Number(value) >= 0),
  ],
};

/** The policy that options ask for, which were checked. */
export function retryPolicy(options: RetryOptions): RetryPolicy {
  const { maxAttempts = 3, maxRetryWaitSeconds = 600, clock = systemClock } = options;
  return { maxAttempts, maxRetryWaitSeconds, clock };
}

/**
 * What to do after the `attempt`-th attempt (from 1) failed. A wait that the provider asks for is
 * kept, however long, or not entered at all: a shorter one would only be refused again.
 *
 * @param leftMs what the time budget leaves; undefined without one.
 */
export function decideRetry(
  policy: RetryPolicy,
  attempt: number,
  failure: AttemptFailure,
  leftMs: number | undefined,
): Decision {
  const { message, label = 'failed', retryAfterMs } = failure;
  if (!failure.retryable) return { retry: false, reason: message };
  if (attempt >= policy.maxAttempts) {
    const times = attempt === 1 ? '' : `; gave up after ${attempt} attempts`;
    return { retry: false, reason: `${message}${times}` };
  }
  const asked = retryAfterMs !== undefined && retryAfterMs > 0;
  const waitMs = asked ? retryAfterMs : BACKOFF_MS * 2 ** (attempt - 1);
  const wish = asked
    ? `the provider asks to wait ${seconds(waitMs)}`
    : `the next attempt would be in ${seconds(waitMs)}`;
  if (leftMs !== undefined && waitMs >= leftMs) {
    const left = `the time budget leaves ${seconds(Math.max(0, leftMs))}`;
    return { retry: false, reason: `${label}: ${wish}, and ${left} (${message})` };
  }
  const mostMs = policy.maxRetryWaitSeconds * 1000;
  if (asked && waitMs > mostMs) {
    const limit = `more than maxRetryWaitSeconds, ${seconds(mostMs)}`;
    return { retry: false, reason: `${label}: ${wish}, ${limit} (${message})` };
  }
  return { retry: true, waitMs };
}

/** One attempt, as the code that sends it sees it. */
export interface Attempt extends Pick<ModelRequest, 'onDelta'> {
  /** The attempts that failed before it. */
  readonly failed: readonly FailedAttempt[];
  /** Code points of output so far. */
  streamed: number;
}

/**
 * Sends attempts until one gives a reply or the policy ends it. The reply tells of the attempts that
 * failed before it.
 *
 * @throws {ModelError} with the reason, and every attempt that failed.
 */
export async function withRetries<T extends ModelReply>(
  policy: RetryPolicy,
  request: Pick<ModelRequest, 'secondsLeft' | 'signal' | 'affords' | 'onWait' | 'onDelta'>,
  send: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const { clock } = policy;
  const { signal, secondsLeft } = request;
  const deadline = secondsLeft === undefined ? undefined : clock.now() + secondsLeft * 1000;
  const failed: FailedAttempt[] = [];
  for (;;) {
    if (signal.aborted) throw new ModelError('aborted', failed);
    const attempt: Attempt = {
      failed,
      streamed: 0,
      onDelta(delta) {
        if (signal.aborted) return; // the attempt was given up, and goes on
        attempt.streamed += codePoints(delta.text);
        request.onDelta(delta);
      },
    };
    try {
      const reply = await send(attempt);
      return failed.length === 0 ? reply : { ...reply, failedAttempts: failed };
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      const { failure } = error;
      failed.push(failedAttempt(failure, attempt.streamed));
      const leftMs = deadline === undefined ? undefined : deadline - clock.now();
      const decision = decideRetry(policy, failed.length, failure, leftMs);
      if (!decision.retry) throw new ModelError(decision.reason, failed, { cause: error });
      if (!request.affords(failed)) {
        const reason = `the budget leaves no room for another attempt (${failure.message})`;
        throw new ModelError(reason, failed, { cause: error });
      }
      request.onWait(decision.waitMs);
      await wait(clock, decision.waitMs, signal);
    }
  }
}

/** Output that streamed in has cost something, whatever the failure says. */
function failedAttempt({ message, usage }: AttemptFailure, streamed: number): FailedAttempt {
  if (usage === undefined && streamed === 0) return { error: message };
  return { error: message, usage: usage ?? null, streamed };
}

/** What a promise gives, or an error as soon as the signal is aborted, whether or not its maker watches. */
export function untilAborted<T>(signal: AbortSignal, promise: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('aborted'));
    const settled = (): void => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject).then(settled, settled);
  });
}

/** Waits, or not even that once the signal is aborted. */
export function wait(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const over = (): void => {
      signal.removeEventListener('abort', aborted);
      resolve();
    };
    const aborted = (): void => {
      cancel();
      over();
    };
    signal.addEventListener('abort', aborted);
    const cancel = clock.timer(milliseconds, over);
  });
}

/**
 * The wait that response headers ask for, in milliseconds; undefined if they ask for none that can be
 * read. `retry-after-ms` is OpenAI's own; `retry-after` has seconds or an HTTP date (RFC 9110 §10.2.3).
 *
 * @param now milliseconds since the Unix epoch.
 */
export function askedWaitMs(
  header: (name: string) => string | null | undefined,
  now: number,
): number | undefined {
  const milliseconds = header('retry-after-ms') ?? '';
  if (DECIMAL.test(milliseconds)) return Number(milliseconds);
  const after = header('retry-after') ?? '';
  if (DECIMAL.test(after)) return Number(after) * 1000;
  const date = HTTP_DATE.test(after) ? Date.parse(after) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Milliseconds as seconds for people, to a tenth. */
function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}
