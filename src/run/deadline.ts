/**
 * Waiting with an end: a promise raced against time and abort, so that nothing it waits for can hang a run.
 *
 * @module
 */
import { type Clock } from './clock.ts';

/** How waiting ended. `timeout` and `aborted` leave the work running: its effect is unknown. */
export type Raced<T> =
  | { readonly ended: 'value'; readonly value: T }
  | { readonly ended: 'error'; readonly error: unknown }
  | { readonly ended: 'timeout' }
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

/** A limit on waiting that can be put off: each `touch` starts it again, with another length if given. */
export interface IdleLimit {
  touch(milliseconds: number): void;
}

export interface Deadline {
  readonly clock: Clock;
  /** Infinity: none. */
  readonly milliseconds: number;
  /** The run's own signal. */
  readonly signal: AbortSignal | undefined;
  readonly cancellation: Cancellation;
}

/**
 * Waits for `work` until it settles, `milliseconds` have passed, or the run is aborted, whatever comes
 * first; in the last two cases the work's own signal is aborted, and what becomes of it is ignored.
 *
 * @param onIdle is given the limit, for work that shows signs of life.
 */
export function race<T>(
  work: PromiseLike<T>,
  deadline: Deadline,
  onIdle?: (limit: IdleLimit) => void,
): Promise<Raced<T>> {
  const { clock, signal, cancellation } = deadline;
  return new Promise((resolve) => {
    let cancelTimer = noTimer;
    let settled = false;
    const settle = (raced: Raced<T>): void => {
      settled = true;
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      resolve(raced);
    };
    const giveUp = (ended: 'timeout' | 'aborted', reason: unknown): void => {
      settle({ ended });
      cancellation.cancel(reason);
    };
    const onAbort = (): void => {
      giveUp('aborted', signal?.reason);
    };
    const touch = (milliseconds: number): void => {
      cancelTimer();
      if (settled || milliseconds === Infinity) return;
      cancelTimer = clock.timer(milliseconds, () => {
        giveUp('timeout', new DOMException('the time for this is over', 'TimeoutError'));
      });
    };
    if (signal?.aborted === true) {
      giveUp('aborted', signal.reason);
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    touch(deadline.milliseconds);
    onIdle?.({ touch });
    work.then(
      (value) => settle({ ended: 'value', value }),
      (error: unknown) => settle({ ended: 'error', error }),
    );
  });
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
