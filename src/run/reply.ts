/**
 * What a model returned, checked and made fit to record. It may be anything: models are other people's code.
 *
 * @module
 */
import { canonicalJson, CanonicalError, parseJson, type JsonValue } from '../transcript/index.ts';
import { deepFreeze, readArguments } from './arguments.ts';
import { type FailedAttempt, type ModelReply, type ReplyCall } from './model.ts';
import { type Turn, type TurnCall } from './payloads.ts';
import { describeError, publicText } from './result.ts';
import { isMisspelt } from './spelling.ts';
import { tokenCount, usageOf, type Usage } from './usage.ts';

/** What isn't a reply: why, and the usage that it speaks of all the same. */
export interface NoReply {
  readonly problem: string;
  readonly usage: Usage | null;
}

/**
 * The turn that a reply is, its calls with ids that are unique in the run.
 *
 * @param step the turn's number, of which ids are made where a provider gives none.
 * @param taken the ids of the turns before.
 */
export function readReply(
  reply: unknown,
  step: number,
  taken: ReadonlySet<string>,
): Turn | NoReply {
  let usage: Usage | null = null;
  try {
    usage = usageIn(reply);
    const copy = copied(reply);
    const problem = replyProblem(copy);
    if (problem !== null) return { problem, usage };
    return turnOf(copy as ModelReply, step, taken); // it has just been checked
  } catch (error) {
    return { problem: describeError(error), usage }; // a getter, or a proxy
  }
}

/** Its members, each read once: a getter may say another thing the second time. This is on the path of every turn. */
function copied(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null) return reply;
  const { content, toolCalls, usage, stop, provider, failedAttempts }: Unread = reply;
  return {
    content,
    toolCalls: Array.isArray(toolCalls) ? toolCalls.map(copiedCall) : toolCalls,
    usage,
    stop,
    provider,
    failedAttempts,
    misspelt: misspelling(reply),
  };
}

/** A copy of a reply, with what is wrong with its members' names. */
type Copied = Unread & { readonly misspelt?: string | null };

/** A reply that nobody has looked at. */
type Unread = { readonly [K in keyof ModelReply]?: unknown };

function copiedCall(call: unknown): unknown {
  if (typeof call !== 'object' || call === null) return call;
  const { id, name, arguments: args }: { readonly [K in keyof ReplyCall]?: unknown } = call;
  return { id, name, arguments: args };
}

function turnOf(reply: ModelReply, step: number, before: ReadonlySet<string>): Turn {
  const { content, toolCalls = [], usage, stop = 'end', provider, failedAttempts } = reply;
  const taken = new Set<string>();
  return {
    content: content.toWellFormed(),
    calls: Object.freeze(
      toolCalls.map((call, index) => {
        const made = turnCall(call, step, index, (id) => taken.has(id) || before.has(id));
        taken.add(made.id);
        return made;
      }),
    ),
    usage: usage == null ? null : usageOf(usage),
    stop,
    ...(provider === undefined ? {} : { provider: copyOf(provider) }),
    failedAttempts: readAttempts(failedAttempts),
  };
}

/** As a record of it reads back, so that a resumed run gives the adapter the same. */
function copyOf(provider: JsonValue): JsonValue {
  const parsed = parseJson(canonicalJson(provider));
  if (!parsed.ok) throw new Error('the code here has a bug: canonical JSON does not parse');
  return deepFreeze(parsed.value);
}

/** A call with an id that is unique in the run: the provider's own if it is, else one made of its place. */
function turnCall(
  call: ReplyCall,
  step: number,
  index: number,
  isTaken: (id: string) => boolean,
): TurnCall {
  const given =
    typeof call.id === 'string' || typeof call.id === 'number' ? `${call.id}`.toWellFormed() : '';
  let id = given;
  for (let k = 0; id === '' || isTaken(id); k += 1) {
    id = k === 0 ? `call_${step}_${index}` : `call_${step}_${index}_${k}`;
  }
  const read = readArguments(call.arguments);
  return Object.freeze({
    id,
    name: call.name.toWellFormed(),
    arguments: read.value,
    text: read.text,
    problem: read.problem,
    ...(read.raw === undefined ? {} : { raw: read.raw }),
    ...(given === '' || given === id ? {} : { providerId: given }),
  });
}

function replyProblem(reply: unknown): string | null {
  if (typeof reply !== 'object' || reply === null) {
    return `${reply === null ? 'null' : typeof reply}, not an object`;
  }
  const { content, toolCalls, stop, provider, misspelt }: Copied = reply;
  if (typeof content !== 'string') return 'content is not a string';
  if (stop !== undefined && !STOPS.has(stop)) return 'stop is not end, length or refused';
  return misspelt ?? callsProblem(toolCalls) ?? providerProblem(provider);
}

const MEMBERS: { readonly [K in keyof Required<ModelReply>]: true } = {
  content: true,
  toolCalls: true,
  usage: true,
  stop: true,
  provider: true,
  failedAttempts: true,
};

/** `tool_calls` in place of `toolCalls` would be a turn without calls, and the run would end as if all was well. */
function misspelling(reply: object): string | null {
  for (const key of Object.keys(reply)) {
    if (Object.hasOwn(MEMBERS, key)) continue;
    const meant = Object.keys(MEMBERS).find((member) => isMisspelt(key, member));
    if (meant !== undefined) return `its member '${key.slice(0, 40)}' must be '${meant}'`;
  }
  return null;
}

const STOPS: ReadonlySet<unknown> = new Set(['end', 'length', 'refused']);

function callsProblem(toolCalls: unknown): string | null {
  if (toolCalls === undefined) return null;
  if (!Array.isArray(toolCalls)) return 'toolCalls is not an array';
  const wrong = toolCalls.findIndex((call) => !isReplyCall(call));
  return wrong === -1 ? null : `toolCalls[${wrong}] has no name, or no arguments as text or object`;
}

function providerProblem(provider: unknown): string | null {
  try {
    if (provider !== undefined) canonicalJson(provider);
    return null;
  } catch (error) {
    if (error instanceof CanonicalError) return `provider can't be recorded: ${error.message}`;
    throw error;
  }
}

function isReplyCall(call: unknown): call is ReplyCall {
  if (typeof call !== 'object' || call === null) return false;
  const { name, arguments: args }: { name?: unknown; arguments?: unknown } = call;
  return (
    typeof name === 'string' &&
    (typeof args === 'string' || (typeof args === 'object' && args !== null))
  );
}

/** The usage that something says it had, whether or not it is a reply. */
export function usageIn(reply: unknown): Usage | null {
  const { usage }: { usage?: unknown } = Object(reply);
  return usage == null ? null : usageOf(Object(usage));
}

/** What a model did in its attempts, made fit to record, whatever it says of them. */
export function readAttempts(attempts: unknown): FailedAttempt[] {
  if (!Array.isArray(attempts)) return [];
  return attempts.map((attempt: unknown) => {
    const { error, usage, streamed }: { [K in keyof FailedAttempt]?: unknown } = Object(attempt);
    const said = typeof error === 'string' ? publicText(error) : describeError(error);
    return {
      error: said,
      ...(usage === undefined ? {} : { usage: usageOf(Object(usage)) }),
      ...(tokenCount(streamed) === null ? {} : { streamed: Number(streamed) }),
    };
  });
}
