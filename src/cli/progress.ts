/**
 * Progress of work that takes longer than a second, on a terminal; gone when the work is done.
 *
 * @module
 */
import { type Output } from './io.ts';

/** Shows how far some work got. */
export interface Progress {
  readonly update: (done: number, total: number) => void;
  /** Erases it. */
  readonly done: () => void;
}

/** Short work shows nothing, so that nothing flickers. */
const QUIET_MS = 1000;
const BETWEEN_MS = 100;

/** Progress of work called `title`, as `title 34 %`. */
export function progressOf(output: Output, title: string): Progress {
  if (!output.terminal) return { update: () => undefined, done: () => undefined };
  let next = performance.now() + QUIET_MS;
  let shown = false;
  return {
    update(done, total) {
      const now = performance.now();
      if (now < next) return;
      next = now + BETWEEN_MS;
      shown = true;
      const much = total > 0 ? `${Math.floor((done / total) * 100)} %` : `${done} bytes`;
      const room = output.columns - much.length - 2;
      output.write(`\r\u001b[2K${title.slice(0, Math.max(0, room)).trimEnd()} ${much}`);
    },
    done() {
      if (shown) output.write('\r\u001b[2K');
    },
  };
}
