/**
 * Time, as an argument.
 *
 * @module
 */

/** What the loop needs of time. `fakeClock` in `hashtape/testing` is one that tests move. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back after `milliseconds`; returns what cancels it. */
  timer(milliseconds: number, callback: () => void): () => void;
}

/** Timers of Node and browsers hold 31 bits; a longer wait fires at once if it isn't cut. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock, read once and then counted on, so that setting it back lengthens no budget. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  timer(milliseconds, callback) {
    // Timers count whole milliseconds from a start that is rounded down: they may fire one too early, and
    // what waits for the end of a budget would find a bit of it left.
    const whole = Math.ceil(milliseconds) + 1;
    const handle = setTimeout(callback, Math.min(whole, MAX_TIMER_MS));
    return () => {
      clearTimeout(handle);
    };
  },
};
