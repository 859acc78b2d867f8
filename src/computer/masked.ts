/**
 * A brain's reply without the secrets that it spells out, before anything of it is recorded.
 *
 * @module
 */
import { type ModelReply, type ReplyCall } from '../run/model.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../transcript/index.ts';
import { type Target } from './action.ts';
import { type Observation } from './observation.ts';
import { readAction } from './read-action.ts';
import { type Secrets } from './secrets.ts';
import { type Stage } from './stage.ts';
import { findTarget } from './target.ts';

/** What stands for a key that was pressed in a password field. */
export const HIDDEN_KEY = '•';

/** A key that types what it says, as a password's letters do. */
export function isLetter(key: string): boolean {
  return Array.from(key).length === 1;
}

/** The reply, whose calls type secrets by name. Where nothing is hidden it is the very reply. */
export function masked(reply: ModelReply, stage: Stage): ModelReply {
  if (!Array.isArray(reply?.toolCalls)) return hidden(reply, stage); // the loop says what is wrong with it
  const calls = reply.toolCalls.map((call) => maskedCall(call, stage));
  const hides = calls.some((call, at) => call !== reply.toolCalls?.[at]);
  const shown = hidden(hides ? { ...reply, toolCalls: calls } : reply, stage);
  if (shown === reply) return reply;
  // What a provider wants back holds the reply as it was written.
  const { provider: _provider, ...rest } = shown;
  return rest;
}

function hidden(reply: ModelReply, { secrets }: Stage): ModelReply {
  if (typeof reply?.content !== 'string') return reply;
  const content = secrets.hide(reply.content);
  return content === reply.content ? reply : { ...reply, content };
}

function maskedCall(call: ReplyCall, stage: Stage): ReplyCall {
  const args = argumentsOf(call);
  // What can't be read may hold anything; the loop refuses it as it would have.
  if (args === null)
    return call?.name === 'type' ? { ...call, arguments: 'not JSON, and not kept' } : call;
  const { secrets } = stage;
  const safe =
    call.name === 'type' ? typed(args, stage) : call.name === 'press' ? pressed(args, stage) : args;
  const clean = secrets.hideIn(safe);
  const isSame = safe === args && JSON.stringify(clean) === JSON.stringify(args);
  return isSame || !isJsonObject(clean) ? call : { ...call, arguments: clean };
}

/** A text is kept only where it surely goes into a field that isn't for passwords. */
function typed(args: JsonObject, { look, secrets }: Stage): JsonObject {
  const { text, ...rest } = args;
  if (typeof text !== 'string') return args;
  const action = readAction({ ...args, kind: 'type' });
  const target = typeof action !== 'string' && action.kind === 'type' ? action.target : null;
  const isPlain = target !== null && look !== null && isPlainField(look.all, target, secrets);
  return isPlain && secrets.hide(text) === text ? args : { ...rest, secret: secrets.nameOf(text) };
}

/** Whether a target surely is a field that isn't for passwords. */
export function isPlainField(shown: Observation, target: Target, secrets: Secrets): boolean {
  const found = findTarget(shown, target);
  const element = found.ok ? shown.elements[found.index] : undefined;
  return element !== undefined && !secrets.isField(element);
}

/** Passwords can be typed key by key. */
function pressed(args: JsonObject, { look, secrets }: Stage): JsonObject {
  const { key } = args;
  const isHidden = typeof key === 'string' && look !== null && isSecretKey(key, look.all, secrets);
  return isHidden ? { ...args, key: HIDDEN_KEY } : args;
}

/** Whether a key types a letter into a password field. */
export function isSecretKey(key: string, { elements }: Observation, secrets: Secrets): boolean {
  const focused = elements.find(({ states }) => states?.includes('focused') === true);
  return isLetter(key) && focused !== undefined && secrets.isField(focused);
}

function argumentsOf(call: ReplyCall): JsonObject | null {
  const given: JsonValue | undefined = call?.arguments;
  const value = typeof given === 'string' ? parsed(given) : given;
  return isJsonObject(value) ? value : null;
}

function parsed(text: string): JsonValue | undefined {
  if (text.trim() === '') return {};
  const read = parseJson(text);
  return read.ok ? read.value : undefined;
}
