/**
 * One tool call, in two phases: prepared (found, checked, permitted), then executed. Neither throws:
 * whatever goes wrong is the call's result.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { millisecondsLeft, overWhy, type RunContext } from './context.ts';
import { Cancellation, isThenable, race, type Deadline } from './deadline.ts';
import { type TurnCall } from './payloads.ts';
import { settlePermission, type Decision } from './permit.ts';
import { describeError, raised, toResult, type ToolResult } from './result.ts';
import { type Checked } from './schema.ts';
import { toolNames, type ReadyTool } from './settings.ts';
import {
  DEFAULT_MAX_RESULT_BYTES,
  DEFAULT_TOOL_TIMEOUT_MS,
  type AnyTool,
  type ToolContext,
} from './tool.ts';

/** A call that may run, or the result it has without running. */
export type Prepared =
  | {
      readonly ready: true;
      readonly tool: AnyTool;
      readonly value: unknown;
      readonly permit: Decision | undefined;
    }
  | { readonly ready: false; readonly result: ToolResult; readonly permit: Decision | undefined };

/** Finds the tool, checks the arguments, and settles whether the call may run. */
export async function prepareCall(context: RunContext, call: TurnCall): Promise<Prepared> {
  const { settings, emit } = context;
  const ready = settings.tools.get(call.name);
  if (ready === undefined) {
    const error = `no tool named '${shown(call.name)}' (have: ${toolNames(settings.tools)})`;
    return refusedBefore({ ok: false, failure: 'unknown_tool', error });
  }
  const checked = await checkArguments(context, ready, call);
  if (checked === 'over') return refusedBefore(notRun('the run ended before it was checked'));
  if (!checked.ok) {
    const error = `invalid arguments: ${checked.error}`;
    return refusedBefore({ ok: false, failure: 'invalid_arguments', error });
  }
  const { tool } = ready;
  if (settings.permit === undefined)
    return { ready: true, tool, value: checked.value, permit: undefined };
  const deadline = deadlineFor(context, Infinity, new Cancellation());
  const permit = await settlePermission(settings.permit, settings.ask, { call, tool }, deadline);
  if (permit === 'aborted') return refusedBefore(notRun('the run ended before it was permitted'));
  emit?.({
    type: 'permit',
    call,
    decision: permit.decision,
    reason: permit.reason,
    asked: permit.asked,
  });
  if (permit.decision === 'allow') return { ready: true, tool, value: checked.value, permit };
  const result: ToolResult = {
    ok: false,
    failure: 'denied',
    error: `denied: ${permit.reason ?? 'no reason given'}`,
  };
  return { ready: false, result, permit };
}

/** A name that a model made up may be of any length. */
function shown(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100).toWellFormed()}…` : name;
}

/** The result of a call that never started. */
export function notRun(why: string): ToolResult {
  return { ok: false, failure: 'not_run', error: `not run: ${why}` };
}

function refusedBefore(result: ToolResult): Prepared {
  return { ready: false, result, permit: undefined };
}

async function checkArguments(
  context: RunContext,
  ready: ReadyTool,
  call: TurnCall,
): Promise<Checked | 'over'> {
  const { name, problem } = call;
  if (problem !== null) return { ok: false, error: placed(name, problem) };
  try {
    const checked = ready.check(call.arguments);
    if (!isThenable(checked)) return checked;
    const limit = DEFAULT_TOOL_TIMEOUT_MS;
    const budgetEnds = millisecondsLeft(context) <= limit;
    const raced = await race(checked, deadlineFor(context, limit, new Cancellation()));
    if (raced.ended === 'value') return raced.value;
    if (raced.ended === 'error') return uncheckable(name, raced.error);
    if (raced.ended === 'aborted' || budgetEnds) return 'over';
    return { ok: false, error: `$.${name}: could not be checked: the check did not end` };
  } catch (error) {
    return uncheckable(name, error);
  }
}

/** A problem with the arguments, below the tool's name: `$.a: …` becomes `$.add.a: …`. */
function placed(name: string, problem: string): string {
  return problem.startsWith('$') ? `$.${name}${problem.slice(1)}` : `$.${name}: ${problem}`;
}

/** It is the schema that threw: the tool itself was not called. */
function uncheckable(name: string, error: unknown): Checked {
  return {
    ok: false,
    error: `$.${name}: could not be checked: its schema raised ${describeError(error)}`,
  };
}

/** Runs a prepared call to its result, its deadline, or the run's end. */
export async function executeCall(
  context: RunContext,
  call: TurnCall,
  prepared: Extract<Prepared, { ready: true }>,
  cancellation: Cancellation,
): Promise<ToolResult> {
  const { tool, value } = prepared;
  // A person may have thought long about a call beside this one, or one beside it ended the run.
  const over = overWhy(context);
  if (over !== null) return notRun(over);
  context.emit?.({ type: 'tool-start', call });
  const limit = tool.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES;
  const timeout = tool.timeout ?? DEFAULT_TOOL_TIMEOUT_MS;
  try {
    // The arguments fit the tool's own schema, which is what its type stands for.
    const returned = tool.execute(value as never, toolContext(context, call, cancellation));
    if (!isThenable(returned)) return toResult(call.name, returned, limit);
    const budgetEnds = millisecondsLeft(context) <= timeout;
    const raced = await race(returned, deadlineFor(context, timeout, cancellation));
    if (raced.ended === 'value') return toResult(call.name, raced.value, limit);
    if (raced.ended === 'error') return threw(call.name, raced.error);
    if (raced.ended === 'aborted') return abandoned('the run was aborted');
    return budgetEnds ? abandoned('the time budget ended') : timedOut(call.name, timeout);
  } catch (error) {
    return threw(call.name, error);
  }
}

function threw(name: string, error: unknown): ToolResult {
  return { ok: false, failure: 'threw', error: raised(name, error) };
}

/** It was told to stop and may not have: nothing is known of its effect, and nothing else is said. */
function abandoned(why: string): ToolResult {
  return {
    ok: false,
    failure: 'abandoned',
    error: `still running when ${why}; its effect is unknown`,
  };
}

function timedOut(name: string, milliseconds: number): ToolResult {
  return {
    ok: false,
    failure: 'timed_out',
    error: `tool '${name}' did not end within ${milliseconds} ms; it may still be running, and its effect is unknown`,
  };
}

function toolContext(context: RunContext, call: TurnCall, cancellation: Cancellation): ToolContext {
  return {
    callId: call.id,
    get signal() {
      return cancellation.signal;
    },
    get idempotencyKey() {
      return sha256Hex(`${context.origin}:${call.id}`).slice(0, 32);
    },
  };
}

function deadlineFor(
  context: RunContext,
  milliseconds: number,
  cancellation: Cancellation,
): Deadline {
  const { clock, signal } = context.settings;
  return {
    clock,
    signal,
    cancellation,
    milliseconds: Math.min(milliseconds, millisecondsLeft(context)),
  };
}
