/**
 * The world as the source of a run: models are asked, tools run, time passes.
 *
 * @module
 */
import { abortOf } from './abort.ts';
import { checkSuccess } from './check.ts';
import { type Source } from './context.ts';
import { runStage } from './dispatch.ts';
import { type Settings } from './settings.ts';
import { takeTurn } from './turn.ts';

/** @param secondsBefore what the run took in the processes before this one. */
export function worldSource({ clock, signal, timed }: Settings, secondsBefore = 0): Source {
  // Moved back with the clock.
  let started = clock.now();
  let last = started;
  return {
    takeTurn,
    runStage,
    check: checkSuccess,
    abort: () => abortOf(signal),
    seconds() {
      const now = clock.now();
      // A clock that is set back takes nothing off what was used.
      if (now < last) started -= last - now;
      last = now;
      return secondsBefore + (now - started) / 1000;
    },
    stamp: () => (timed ? { at: new Date(clock.now()).toISOString() } : {}),
  };
}
