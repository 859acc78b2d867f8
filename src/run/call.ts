/**
 * One tool call, in two phases: prepared (found, checked, permitted), then executed. Neither throws:
 * whatever goes wrong is the call's result.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson } from '../transcript/index.ts';
import { millisecondsLeft, overWhy, type RunContext } from './context.ts';
import { Cancellation, isThenable, race, type Deadline } from './deadline.ts';
import { frozenCopy } from './frozen.ts';
import { type TurnCall } from './payloads.ts';
import { settlePermission, type Decision, type Permit } from './permit.ts';
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
      readonly given: string | undefined;
    }
  | {
      readonly ready: false;
      readonly result: ToolResult;
      readonly permit: Decision | undefined;
      readonly given: string | undefined;
    };

/** Finds the tool, checks the arguments, and settles whether the call may run. */
export async function prepareCall(context: RunContext, call: TurnCall): Promise<Prepared> {
  const { settings } = context;
  const mayRerun = context.state.uncertain.get(call.id);
  if (mayRerun === false) return refusedBefore(interrupted());
  const over = overWhy(context);
  if (over !== null) return refusedBefore(unrun(context, call, over));
  const ready = settings.tools.get(call.name);
  if (ready === undefined) {
    const error = `no tool named '${shown(call.name)}' (have: ${toolNames(settings.tools)})`;
    return refusedBefore({ ok: false, failure: 'unknown_tool', error });
  }
  const checked = await checkArguments(context, ready, call);
  if (checked === 'over')
    return refusedBefore(unrun(context, call, 'the run ended before it was checked'));
  if (!checked.ok) {
    const error = `invalid arguments: ${checked.error}`;
    return refusedBefore({ ok: false, failure: 'invalid_arguments', error });
  }
  // Asking for permission would suggest that it runs.
  if (mayRerun === true && !isRepeatable(ready.tool)) return refusedBefore(interrupted());
  const { value, given } = checked;
  const called = { tool: ready.tool, value, given };
  return settings.permit === undefined
    ? { ready: true, ...called, permit: undefined }
    : permitted(context, call, called, settings.permit);
}

/** A call that is found and fits: its tool, what the tool gets, and that as text where it isn't what the model wrote. */
interface Called {
  readonly tool: AnyTool;
  readonly value: unknown;
  readonly given: string | undefined;
}

async function permitted(
  context: RunContext,
  call: TurnCall,
  called: Called,
  permit: Permit,
): Promise<Prepared> {
  // A policy is code and has its limit; a person may take as long as the run has.
  const deadlines = {
    permit: deadlineFor(context, DEFAULT_TOOL_TIMEOUT_MS, new Cancellation()),
    ask: deadlineFor(context, Infinity, new Cancellation()),
  };
  const request = { call, tool: called.tool, arguments: called.value };
  const decision = await settlePermission(permit, context.settings.ask, request, deadlines);
  if (decision === 'aborted')
    return refusedBefore(unrun(context, call, 'the run ended before it was permitted'));
  const { reason, asked, problem } = decision;
  context.emit?.({
    type: 'permit',
    call,
    arguments: copyFor(called.value),
    decision: decision.decision,
    reason,
    asked,
    problem,
  });
  if (decision.decision === 'allow') return { ready: true, ...called, permit: decision };
  const error = `denied: ${reason ?? 'no reason given'}`;
  const result: ToolResult = { ok: false, failure: 'denied', error };
  return { ready: false, result, permit: decision, given: called.given };
}

/** For a listener, which must not get hold of what the tool gets; undefined if it can't be copied. */
function copyFor(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return undefined; // a function, say
  }
}

/** What a schema made of the arguments, if it is something else and can be recorded. */
function givenText(call: TurnCall, value: unknown): string | undefined {
  try {
    const text = canonicalJson(value);
    return text === call.text ? undefined : text;
  } catch {
    return undefined; // a Date, say: the schema says what it is made of
  }
}

/** A name that a model made up may be of any length. */
function shown(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100).toWellFormed()}…` : name;
}

/** The result of a call that isn't run: it never was, unless a process before this one may have started it. */
export function unrun(context: RunContext, call: TurnCall, why: string): ToolResult {
  if (context.state.uncertain.has(call.id)) return interrupted();
  return { ok: false, failure: 'not_run', error: `not run: ${why}` };
}

function interrupted(): ToolResult {
  return { ok: false, failure: 'interrupted', error: 'interrupted: effect unknown' };
}

/** Whether a call that may have run already does no harm by running again, with the same idempotency key. */
export function isRepeatable({
  readOnly,
  idempotent,
}: Pick<AnyTool, 'readOnly' | 'idempotent'>): boolean {
  return readOnly === true || idempotent === true;
}

function refusedBefore(result: ToolResult): Prepared {
  return { ready: false, result, permit: undefined, given: undefined };
}

/** Arguments that fit: what the tool gets, and that as text where it isn't what the model wrote. */
type Fitting = { readonly ok: true; readonly value: unknown; readonly given: string | undefined };
type Misfit = Extract<Checked, { ok: false }>;

async function checkArguments(
  context: RunContext,
  ready: ReadyTool,
  call: TurnCall,
): Promise<Fitting | Misfit | 'over'> {
  const { name, problem } = call;
  if (problem !== null) return { ok: false, error: placed(name, problem) };
  try {
    const started = ready.check(call.arguments);
    const checked = isThenable(started) ? await awaitCheck(context, name, started) : started;
    if (checked === 'over' || !checked.ok) return checked;
    // A schema may have made anything of them, with getters that throw.
    const { value } = checked;
    if (value === call.arguments) return { ok: true, value, given: undefined };
    return { ok: true, value: frozenCopy(value), given: givenText(call, value) };
  } catch (error) {
    return uncheckable(name, error);
  }
}

async function awaitCheck(
  context: RunContext,
  name: string,
  checked: PromiseLike<Checked>,
): Promise<Checked | 'over'> {
  const limit = DEFAULT_TOOL_TIMEOUT_MS;
  const budgetEnds = millisecondsLeft(context) <= limit;
  const raced = await race(checked, deadlineFor(context, limit, new Cancellation()));
  if (raced.ended === 'value') return raced.value;
  if (raced.ended === 'error') throw raced.error;
  if (raced.ended === 'aborted' || budgetEnds) return 'over';
  return { ok: false, error: `$.${name}: could not be checked: the check did not end` };
}

/** A problem with the arguments, below the tool's name: `$.a: …` becomes `$.add.a: …`. */
function placed(name: string, problem: string): string {
  return problem.startsWith('$') ? `$.${name}${problem.slice(1)}` : `$.${name}: ${problem}`;
}

/** It is the schema that threw: the tool itself was not called. */
function uncheckable(name: string, error: unknown): Misfit {
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
  if (over !== null) return unrun(context, call, over);
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
