/**
 * The calls of one turn: run together or one after another, answered in the order in which they were made.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { executeCall, prepareCall, unrun, type Prepared } from './call.ts';
import { isSerial } from './configuration.ts';
import { overWhy, type RunContext } from './context.ts';
import { Cancellation } from './deadline.ts';
import { answerPayload, type Answer, type TurnCall } from './payloads.ts';
import { type Decision } from './permit.ts';
import { fingerprints, NOTED_OCCURRENCE, repeatNote, type Landing } from './repeats.ts';
import { contentOf, type ToolResult } from './result.ts';

/**
 * Runs the calls of the newest turn. Parallel tools that stand next to each other form a stage and run
 * together; a serial tool is a stage of its own, and so a barrier. (After inspect_ai.)
 */
export async function runCalls(context: RunContext): Promise<void> {
  const calls = context.state.unanswered;
  const { toolCalls: limit } = context.state.configuration.budget;
  const left = limit === undefined ? calls.length : Math.max(0, limit - context.state.toolCalls);
  for (const [i, stage] of stages(context, calls.slice(0, left)).entries()) {
    if (overWhy(context) !== null || context.state.ended) break;
    // That a call may have been started is told by the answers before it: they must not be lost once it is.
    if (i > 0) await context.sync();
    await context.source.runStage(context, stage);
  }
  await skipCalls(context, overWhy(context) ?? whyLeft(context.state.ended, limit));
}

function whyLeft(ended: boolean, limit = 0): string {
  return ended ? 'a call before it ended the run' : `the tool-call budget of ${limit} is used up`;
}

/** Answers every call that has no answer yet, without running it. */
export async function skipCalls(context: RunContext, why: string): Promise<void> {
  for (const call of context.state.unanswered)
    await answer(context, answerOf(call, unrun(context, call, why), {}));
}

/** The calls in groups that run together. */
export function stages(
  { state }: Pick<RunContext, 'state'>,
  calls: readonly TurnCall[],
): TurnCall[][] {
  // Most turns make one call.
  if (calls.length === 1) return [[...calls]];
  const made: TurnCall[][] = [];
  let open = false;
  for (const call of calls) {
    const parallel = !isSerial(state.configuration, call.name);
    if (parallel && open) made.at(-1)?.push(call);
    else made.push([call]);
    open = parallel;
  }
  return made;
}

/** Prepares one after another, as a person may be asked; then runs together; then records in order. */
export async function runStage(context: RunContext, stage: readonly TurnCall[]): Promise<void> {
  const prepared: { readonly call: TurnCall; readonly ready: Prepared }[] = [];
  for (const call of stage) prepared.push({ call, ready: await prepareCall(context, call) });
  const started = prepared.map(({ call, ready }) => {
    const cancellation = new Cancellation();
    const result = ready.ready ? executeCall(context, call, ready, cancellation) : ready.result;
    const { permit, given } = ready;
    return { call, permitted: { permit, given }, cancellation, result };
  });
  try {
    for (const { call, permitted, result } of started)
      await answer(context, answerOf(call, await result, permitted));
  } catch (error) {
    // The record failed, which ends the run: what still runs is told so.
    for (const { cancellation } of started) cancellation.cancel(error);
    throw error;
  }
}

/** Records the answer to a call, with a note if it is a repeat. */
export async function answer(context: RunContext, bare: Answer): Promise<void> {
  const { state, settings } = context;
  const { call } = bare;
  const landing = state.landing(bare);
  const occurrences = landing === null ? 1 : state.ledger.occurrences(landing);
  const noted = settings.repeats && landing !== null && occurrences === NOTED_OCCURRENCE;
  const given: Answer = noted ? { ...bare, note: repeatNote(landing) } : bare;
  const repeatsBefore = state.stall.repeats;
  await context.record('tool', { ...answerPayload(given), ...context.source.stamp() });
  state.callAnswered(given, landing);
  if (context.emit === undefined) return;
  announceEnd(context, given);
  if (settings.repeats && landing !== null && occurrences > 1)
    announceRepeat(context, call, landing, occurrences);
  if (state.stall.repeats > repeatsBefore) announceStall(context);
}

/** What was settled before a call ran. */
type Permitted = { readonly permit?: Decision | undefined; readonly given?: string | undefined };

function answerOf(call: TurnCall, result: ToolResult, { permit, given }: Permitted): Answer {
  const permitted = {
    ...(permit === undefined ? {} : { permit }),
    ...(given === undefined ? {} : { given }),
  };
  if (result.ok) return { call, ok: true, text: result.text, ...permitted };
  const digest = result.text === undefined ? {} : { digest: sha256Hex(result.text) };
  return { call, ok: false, text: result.error, failure: result.failure, ...digest, ...permitted };
}

function announceEnd(context: RunContext, given: Answer): void {
  const content = given.ok ? contentOf(given.text) : given.text;
  const { call, ok, failure, note } = given;
  context.emit?.({ type: 'tool-end', call, ok, content, failure, note });
}

function announceStall(context: RunContext): void {
  const { repeats } = context.state.stall;
  if (repeats === context.settings.watchdog.stallAfter)
    context.emit?.({ type: 'stall-warning', repeats });
}

function announceRepeat(
  context: RunContext,
  call: TurnCall,
  landing: Landing,
  occurrences: number,
): void {
  context.emit?.({
    type: 'repeated-call',
    tool: call.name,
    callId: call.id,
    occurrences,
    ...fingerprints(landing),
    comparedBy: landing.comparedBy,
  });
}
