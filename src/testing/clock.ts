/**
 * A clock that stands still until a test moves it.
 *
 * @module
 */
import { setImmediate as immediate } from 'node:timers/promises';
import { type Clock } from '../run/clock.ts';

/** A {@link Clock} whose time is what a test says. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `milliseconds` and fires the timers that come due, each at its own time and in
   * order of time, then of creation. Before the first, after each, and at the end the promises and
   * immediates that wait are let run, so a timer that code sets when another one fires counts too. Work on a disk or a
   * network is not waited for.
   *
   * @throws {RangeError} if `milliseconds` isn't a finite number of at least 0. What a timer's callback
   * throws is thrown too; time then stands where that timer was due.
   */
  advance(milliseconds: number): Promise<void>;
  /** How many timers wait. */
  readonly pending: number;
}

/** A timer that waits. */
interface Waiting {
  readonly due: number;
  readonly callback: () => void;
}

/** Rounds of the event loop that waiting code gets: code that hops over a few immediates proceeds too. */
const SETTLE_ROUNDS = 4;

/**
 * A clock that starts at `startMs` (milliseconds since the Unix epoch) and moves only by `advance`.
 *
 * @throws {RangeError} if `startMs` isn't a finite number.
 */
export function fakeClock(startMs: number = 0): FakeClock {
  if (!Number.isFinite(startMs)) throw new RangeError(`startMs: not a finite number: ${startMs}`);
  let time = startMs;
  // A Set keeps the order of creation, which breaks ties.
  const waiting = new Set<Waiting>();
  return {
    now: () => time,
    timer(milliseconds, callback) {
      // Like setTimeout: a wait that is negative or no number at all is over at once.
      const timer = { due: time + Math.max(0, milliseconds || 0), callback };
      waiting.add(timer);
      return () => {
        waiting.delete(timer);
      };
    },
    get pending() {
      return waiting.size;
    },
    async advance(milliseconds) {
      if (!Number.isFinite(milliseconds) || milliseconds < 0) {
        throw new RangeError(`advance: expected milliseconds of at least 0, got ${milliseconds}`);
      }
      const end = time + milliseconds;
      await settle();
      for (let next = earliest(waiting, end); next !== null; next = earliest(waiting, end)) {
        waiting.delete(next);
        time = Math.max(time, next.due);
        next.callback();
        await settle();
      }
      time = Math.max(time, end);
      await settle();
    },
  };
}

/** The timer that is due first, of those due by `end`. */
function earliest(waiting: ReadonlySet<Waiting>, end: number): Waiting | null {
  let first: Waiting | null = null;
  for (const timer of waiting) {
    if (timer.due <= end && (first === null || timer.due < first.due)) first = timer;
  }
  return first;
}

async function settle(): Promise<void> {
  for (let round = 0; round < SETTLE_ROUNDS; round += 1) await immediate();
}
