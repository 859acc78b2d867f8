/**
 * Aborts: that a run is to end now, and why.
 *
 * @module
 */
import { publicText } from './result.ts';

/** A reason to abort a run with: it then ends as `stalled`. The message is the evidence, and is recorded. */
export class Stalled extends Error {
  override readonly name = 'Stalled';
}

/** Why a run is to end at once. */
export interface Abort {
  readonly reason: 'aborted' | 'stalled';
  /** What whoever aborted has to say. */
  readonly error?: string;
}

/** The abort that a signal tells of, or null. What `abort()` gives by itself says nothing. */
export function abortOf(signal: AbortSignal | undefined): Abort | null {
  if (signal?.aborted !== true) return null;
  const why: unknown = signal.reason;
  if (why instanceof Stalled) return { reason: 'stalled', error: publicText(why.message) };
  const said = typeof why === 'string' ? why : messageOf(why);
  return said === '' ? { reason: 'aborted' } : { reason: 'aborted', error: publicText(said) };
}

function messageOf(why: unknown): string {
  const isOurs = why instanceof Error && why.name !== 'AbortError' && why.name !== 'TimeoutError';
  return isOurs ? why.message : '';
}
