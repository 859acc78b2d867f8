/**
 * The success check: the user's own look at the world after the last turn.
 *
 * @module
 */
import { type RunContext } from './context.ts';
import { Cancellation, isThenable, race } from './deadline.ts';
import { type CheckResult, type StopReason } from './outcome.ts';
import { describeError, publicText } from './result.ts';

/** How long a success check may take, in milliseconds. */
const CHECK_TIMEOUT_MS = 600_000;

/** Looks at the world. Not after an abort: whoever aborted wants the end, not more work. */
export async function checkSuccess(
  context: RunContext,
  reason: StopReason,
): Promise<CheckResult | null> {
  const { check, clock, signal } = context.settings;
  if (check === undefined || isAborted(reason, signal)) return null;
  context.emit?.({ type: 'check-start', reason });
  const cancellation = new Cancellation();
  const answer = context.state.turn?.content ?? '';
  try {
    const given = check({ answer, reason, signal: cancellation.signal });
    const deadline = { clock, signal, milliseconds: CHECK_TIMEOUT_MS, cancellation };
    const raced = isThenable(given)
      ? await race(given, deadline)
      : { ended: 'value' as const, value: given };
    if (raced.ended === 'value') return checkResult(raced.value);
    if (raced.ended === 'error') throw raced.error;
    return {
      ok: false,
      detail: raced.ended === 'timeout' ? 'the check did not end' : 'aborted during the check',
    };
  } catch (error) {
    return { ok: false, detail: `the check raised ${describeError(error)}` };
  }
}

/** A stall may end a run as an abort does, or as a budget does. */
function isAborted(reason: StopReason, signal: AbortSignal | undefined): boolean {
  return reason === 'aborted' || signal?.aborted === true;
}

/** Only `ok: true` is success. */
function checkResult(value: unknown): CheckResult {
  if (typeof value !== 'object' || value === null || !('ok' in value)) {
    return { ok: false, detail: 'the check returned no { ok, detail }' };
  }
  // Each is read once: a getter may say another thing the second time.
  const { ok, detail }: { ok?: unknown; detail?: unknown } = value;
  if (typeof ok !== 'boolean')
    return { ok: false, detail: 'the check returned an ok that is neither true nor false' };
  return { ok, detail: typeof detail === 'string' ? publicText(detail) : '' };
}
