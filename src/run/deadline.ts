/**
 * Waiting with an end: a promise raced against time and abort, so that nothing it waits for can hang a run.
 *
 * @module
 */
import { type Clock } from './clock.ts';

/**
 * How waiting ended. `timeout`: its time was over; `idle`: it gave no sign of life for too long. These and
 * `aborted` leave the work running: its effect is unknown.
 */
export type Raced<T> =
  | { readonly ended: 'value'; readonly value: T }
  | { readonly ended: 'error'; readonly error: unknown }
  | { readonly ended: 'timeout' }
  | { readonly ended: 'idle' }
  | { readonly ended: 'aborted' };

/** The signal that a piece of work is given; made only if the work asks for it, as most never do. */
export class Cancellation {
  #controller: AbortController | undefined;
  #reason: unknown;
  #cancelled = false;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  cancel(reason: unknown): void {
    this.#cancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** A limit on silence: each `touch` starts it again, with another length. */
export interface IdleLimit {
  touch(milliseconds: number): void;
}

/** The limit on silence of work that shows signs of life. */
export interface Idle {
  /** Until the first sign. Infinity: no limit. */
  readonly milliseconds: number;
  /** Is given the limit before the work is waited for. */
  readonly onLimit: (limit: IdleLimit) => void;
}

export interface Deadline {
  readonly clock: Clock;
  /** For all of the work, whatever signs of life it shows. Infinity: no limit. */
  readonly milliseconds: number;
  /** The run's own signal. */
  readonly signal: AbortSignal | undefined;
  readonly cancellation: Cancellation;
}

/**
 * Waits for `work` until it settles, its time is over, it was silent too long, or the run is aborted,
 * whatever comes first; unless it settled, the work's own signal is aborted, and what becomes of it is ignored.
 */
export function race<T>(work: PromiseLike<T>, deadline: Deadline, idle?: Idle): Promise<Raced<T>> {
  const { clock, signal, cancellation } = deadline;
  return new Promise((resolve) => {
    let cancelEnd = noTimer;
    let cancelIdle = noTimer;
    let settled = false;
    const settle = (raced: Raced<T>): void => {
      settled = true;
      cancelEnd();
      cancelIdle();
      signal?.removeEventListener('abort', onAbort);
      resolve(raced);
    };
    const giveUp = (ended: 'timeout' | 'idle' | 'aborted', reason: unknown): void => {
      if (settled) return;
      settle({ ended });
      cancellation.cancel(reason);
    };
    const onAbort = (): void => {
      giveUp('aborted', signal?.reason);
    };
    const after = (milliseconds: number, ended: 'timeout' | 'idle'): (() => void) =>
      settled || milliseconds === Infinity
        ? noTimer
        : clock.timer(milliseconds, () => giveUp(ended, timeIsOver()));
    const touch = (milliseconds: number): void => {
      cancelIdle();
      cancelIdle = after(milliseconds, 'idle');
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    // Its own timer: signs of life put off the limit on silence, never the end.
    cancelEnd = after(deadline.milliseconds, 'timeout');
    if (idle !== undefined) {
      touch(idle.milliseconds);
      idle.onLimit({ touch });
    }
    listen(work, settle);
  });
}

/** Work is listened to even when it was given up already: a rejection that nobody handles ends a process. */
function listen<T>(work: PromiseLike<T>, settle: (raced: Raced<T>) => void): void {
  try {
    work.then(
      (value) => settle({ ended: 'value', value }),
      (error: unknown) => settle({ ended: 'error', error }),
    );
  } catch (error) {
    settle({ ended: 'error', error }); // a `then` that throws
  }
}

function timeIsOver(): DOMException {
  return new DOMException('the time for this is over', 'TimeoutError');
}

function noTimer(): void {}

/** Whether a value is to be awaited. A value that throws when it is asked is not. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return (
      (typeof value === 'object' || typeof value === 'function') &&
      value !== null &&
      'then' in value &&
      typeof value.then === 'function'
    );
  } catch {
    return false;
  }
}
