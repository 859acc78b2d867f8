/**
 * A screen: what an episode looks at and acts on.
 *
 * @module
 */
import { type ScreenAction } from './action.ts';
import { type Observation } from './observation.ts';

/** What an action came to. The words are for the model and the record: no path, no stack, no secret. */
export type ActResult =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly error: string };

/**
 * A screen.
 *
 * Contract: calls are serial. `act` gives failures as values: a target that vanished, a covered button, a refused
 * address. Both throw {@link ScreenGoneError} if there is no screen any more, and anything else only for faults of the
 * program. They watch `signal`, but nobody relies on it.
 */
export interface Screen {
  /** What is there now. It waits for nothing but what is about to happen by itself (a page that is loading). */
  observe(options: { readonly signal: AbortSignal }): Promise<Observation>;
  /** Acts. An index is the element's place in the newest observation. */
  act(action: ScreenAction, options: { readonly signal: AbortSignal }): Promise<ActResult>;
  /** A picture of what is there, PNG. */
  screenshot?(): Promise<Uint8Array>;
  close?(): Promise<void>;
}

/** There is no screen any more: the browser crashed or was closed. */
export class ScreenGoneError extends Error {
  override readonly name = 'ScreenGoneError';
}
