/**
 * Stall detection: repeats with no new successful result in between. Pure.
 *
 * Counting repeats rather than comparing neighbours catches A-B-A-B as well as A-A-A; resetting on new
 * results leaves alone a run that builds, edits and builds again.
 *
 * @module
 */

/** Counts the repeats since something new came. */
export class StallDetector {
  #repeats = 0;

  /** How many repeats there have been since the last new successful result. */
  get repeats(): number {
    return this.#repeats;
  }

  /** @param occurrences how often this call with this result has landed, this time included. */
  landed(ok: boolean, occurrences: number): void {
    if (occurrences > 1) this.#repeats += 1;
    else if (ok) this.#repeats = 0;
  }
}
