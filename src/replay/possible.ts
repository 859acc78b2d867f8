/**
 * What a recorded answer can't be: the loop would never have given it, whatever the tool said.
 *
 * @module
 */
import { isRepeatable } from '../run/call.ts';
import { toolLimits, toolNamed } from '../run/configuration.ts';
import { type Answer } from '../run/payloads.ts';
import { type RunState } from '../run/state.ts';
import { type JsonObject } from '../transcript/index.ts';

/** Why the loop would not have given this answer, or null. */
export function impossible(state: RunState, answer: Answer): string | null {
  const { ok, failure, permit } = answer;
  if (ok !== (failure === undefined)) return 'an answer is a value, or a failure with its kind';
  if ((failure === 'denied') !== (permit?.decision === 'deny'))
    return 'what policy denies is answered `denied`, and nothing else is';
  if (KEPT.has(failure)) return keptWrongly(state, answer);
  return state.configuration.manifest === null ? null : saidWrongly(state, answer);
}

/** What the tool's own entry in the manifest rules out. */
function saidWrongly(state: RunState, answer: Answer): string | null {
  const { call, failure } = answer;
  const tool = toolNamed(state.configuration, call.name);
  if ((tool === undefined) !== (failure === 'unknown_tool'))
    return `there is ${tool === undefined ? 'no' : 'a'} tool '${call.name}' in the manifest`;
  if (tool === undefined) return null;
  if (call.problem !== null && failure !== 'invalid_arguments')
    return 'its arguments can not be read, so no tool can have answered';
  if (CALLED.has(failure) && state.uncertain.has(call.id) && !mayRerun(state, answer))
    return 'it may have run before the resume, and may not run again';
  return overLimit(tool, answer);
}

function overLimit(tool: JsonObject, { ok, text }: Answer): string | null {
  const { maxResultBytes } = toolLimits(tool);
  const bytes = ok ? new TextEncoder().encode(text).length : 0;
  return bytes > maxResultBytes ? `its value is over the limit of ${maxResultBytes} bytes` : null;
}

/** Failures of calls that were kept from running. */
const KEPT: ReadonlySet<string | undefined> = new Set(['not_run', 'interrupted']);
/** What a call whose tool ran can come to. */
const CALLED: ReadonlySet<string | undefined> = new Set([
  undefined,
  'threw',
  'timed_out',
  'abandoned',
  'unrecordable',
  'too_large',
]);

/** The words of calls that the end kept from running, in the middle of a stage. */
const NOT_RUN =
  /^not run: (?:the run was aborted|the time budget of \S+ is used up|the run ended before it was (?:checked|permitted))$/;

function keptWrongly({ uncertain }: RunState, { call, failure, text }: Answer): string | null {
  if (failure === 'not_run') return NOT_RUN.test(text) ? null : 'nothing kept it from running';
  return uncertain.has(call.id) ? null : 'no crash left it open';
}

function mayRerun({ uncertain, configuration }: RunState, { call }: Answer): boolean {
  const tool = toolNamed(configuration, call.name);
  if (uncertain.get(call.id) !== true || tool === undefined) return false;
  const { read_only: readOnly, idempotent } = tool;
  return isRepeatable({ readOnly: readOnly === true, idempotent: idempotent === true });
}
