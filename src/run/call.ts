/**
 * One tool call, in two phases: prepared (found, checked, permitted), then executed. Neither throws:
 * whatever goes wrong is the call's result.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { millisecondsLeft, type RunContext } from './context.ts';
import { Cancellation, isThenable, race, type Deadline } from './deadline.ts';
import { type TurnCall } from './payloads.ts';
import { settlePermission, type Decision } from './permit.ts';
import { raised, toResult, type ToolResult } from './result.ts';
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
    const error = `no tool named '${call.name}' (have: ${toolNames(settings.tools)})`;
    return refusedBefore({ ok: false, failure: 'unknown_tool', error });
  }
  const checked = await checkArguments(context, ready, call);
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
): Promise<Checked> {
  if (call.problem !== null)
    return { ok: false, error: `$.${call.name}: ${call.problem.replace(/^\$:? ?/, '')}` };
  try {
    const checked = ready.check(call.arguments);
    if (!isThenable(checked)) return checked;
    const raced = await race(
      checked,
      deadlineFor(context, DEFAULT_TOOL_TIMEOUT_MS, new Cancellation()),
    );
    if (raced.ended === 'value') return raced.value;
    const why = raced.ended === 'error' ? raised(call.name, raced.error) : 'the check did not end';
    return { ok: false, error: `$.${call.name}: could not be checked: ${why}` };
  } catch (error) {
    return {
      ok: false,
      error: `$.${call.name}: could not be checked: ${raised(call.name, error)}`,
    };
  }
}

/** Runs a prepared call to its result, its deadline, or the run's end. */
export async function executeCall(
  context: RunContext,
  call: TurnCall,
  prepared: Extract<Prepared, { ready: true }>,
): Promise<ToolResult> {
  const { tool, value } = prepared;
  context.emit?.({ type: 'tool-start', call });
  const cancellation = new Cancellation();
  const limit = tool.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES;
  try {
    // The arguments fit the tool's own schema, which is what its type stands for.
    const returned = tool.execute(value as never, toolContext(context, call, cancellation));
    if (!isThenable(returned)) return toResult(call.name, returned, limit);
    const raced = await race(
      returned,
      deadlineFor(context, tool.timeout ?? DEFAULT_TOOL_TIMEOUT_MS, cancellation),
    );
    if (raced.ended === 'value') return toResult(call.name, raced.value, limit);
    if (raced.ended === 'error') return threw(call.name, raced.error);
    return gaveUp(context, call, tool, raced.ended);
  } catch (error) {
    return threw(call.name, error);
  }
}

function threw(name: string, error: unknown): ToolResult {
  return { ok: false, failure: 'threw', error: raised(name, error) };
}

/** It was told to stop and may not have: nothing is known of its effect, and nothing else is said. */
function gaveUp(
  context: RunContext,
  call: TurnCall,
  tool: AnyTool,
  ended: 'timeout' | 'aborted',
): ToolResult {
  if (ended === 'aborted' || millisecondsLeft(context) <= 0) {
    const why = ended === 'aborted' ? 'the run was aborted' : 'the time budget ended';
    return {
      ok: false,
      failure: 'abandoned',
      error: `still running when ${why}; its effect is unknown`,
    };
  }
  const milliseconds = tool.timeout ?? DEFAULT_TOOL_TIMEOUT_MS;
  return {
    ok: false,
    failure: 'timed_out',
    error: `tool '${call.name}' did not end within ${milliseconds} ms; it may still be running, and its effect is unknown`,
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
