/**
 * Scripts: what a scripted model answers, turn by turn, and the strict reading of them.
 *
 * @module
 */
import { type ReplyStop } from '../run/model.ts';
import { USAGE_COUNTERS, usageOf, type Usage } from '../run/usage.ts';
import { type JsonObject } from '../transcript/index.ts';
import { anthropicUsage } from './anthropic-reply.ts';
import { openaiUsage } from './openai-reply.ts';

/** A tool call of a scripted turn. */
export interface ScriptCall {
  readonly id?: string | null;
  readonly name: string;
  /** JSON text, given to the loop as it is, or an object. */
  readonly arguments: string | JsonObject;
}

/** One answer of a scripted model. */
export interface ScriptTurn {
  /** Default: the empty text. */
  readonly content?: string | null;
  readonly tool_calls?: readonly ScriptCall[] | null;
  /**
   * Our counters (`input`, `cacheRead` or `cache_read`, …), or what OpenAI or Anthropic would report.
   * A counter that isn't there is unknown.
   */
  readonly usage?: Partial<Usage> | { readonly [counter: string]: unknown } | null;
  /** Default `end`. */
  readonly stop?: ReplyStop;
  /** Milliseconds that the model takes to answer. */
  readonly delay?: number;
  /** The model fails with this message instead of answering. */
  readonly error?: string;
}

/** A turn that was checked, with its usage in our counters. */
export interface ReadTurn extends Omit<ScriptTurn, 'usage'> {
  readonly usage?: Usage | null;
}

/** A script can't be used. The message begins with the path to what is wrong: `turns[2].delay: …`. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

const TURN_KEYS = ['content', 'tool_calls', 'usage', 'stop', 'delay', 'error'];
const CALL_KEYS = ['id', 'name', 'arguments'];
const STOPS: readonly unknown[] = ['end', 'length', 'refused'] satisfies ReplyStop[];

/**
 * Checks a list of turns, where a string stands for a turn that says it.
 *
 * @param path what the list is called in errors.
 * @throws {ScriptError} at the first thing that isn't a turn; keys it doesn't know are refused, as a
 * misspelt one would silently change what a test means.
 */
export function readTurns(list: unknown, path: string): ReadTurn[] {
  if (!Array.isArray(list)) throw mismatch(path, 'an array of turns', list);
  return list.map((turn: unknown, index) => readTurn(turn, `${path}[${index}]`));
}

/** Checks one turn, as {@link readTurns} does. */
export function readTurn(value: unknown, path: string): ReadTurn {
  if (typeof value === 'string') return { content: value };
  const turn = objectAt(value, path, 'a turn (an object or a string)');
  refuseOthers(turn, TURN_KEYS, path);
  const { error, usage, ...answer } = turn;
  checkAnswer(answer, path);
  const calls = answer['tool_calls'] ?? [];
  if (!Array.isArray(calls)) throw mismatch(`${path}.tool_calls`, 'an array of calls', calls);
  for (const [index, call] of calls.entries()) checkCall(call, `${path}.tool_calls[${index}]`);
  if (error !== undefined) {
    if (typeof error !== 'string') throw mismatch(`${path}.error`, 'a string', error);
    if (typeof answer['content'] === 'string' || calls.length > 0) {
      throw new ScriptError(`${path}.error: a turn that fails has no content and no tool_calls`);
    }
  }
  return {
    // The checks above have shown that each of these keys holds what ScriptTurn says.
    ...(answer as Omit<ScriptTurn, 'usage'>),
    ...(typeof error === 'string' ? { error } : {}),
    ...(usage === undefined ? {} : { usage: readUsage(usage, `${path}.usage`) }),
  };
}

function checkAnswer(turn: Readonly<Record<string, unknown>>, path: string): void {
  const { content, stop, delay } = turn;
  if (content !== undefined && content !== null && typeof content !== 'string') {
    throw mismatch(`${path}.content`, 'a string or null', content);
  }
  if (stop !== undefined && !STOPS.includes(stop)) {
    throw mismatch(`${path}.stop`, '"end", "length" or "refused"', stop);
  }
  if (delay !== undefined && !(typeof delay === 'number' && delay >= 0 && delay < Infinity)) {
    throw mismatch(`${path}.delay`, 'milliseconds of at least 0', delay);
  }
}

function checkCall(value: unknown, path: string): void {
  const call = objectAt(value, path, 'a tool call (an object)');
  refuseOthers(call, CALL_KEYS, path);
  const { id, name } = call;
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw mismatch(`${path}.id`, 'a string or null', id);
  }
  if (typeof name !== 'string') throw mismatch(`${path}.name`, 'a string', name);
  if (typeof call['arguments'] !== 'string') {
    objectAt(call['arguments'], `${path}.arguments`, 'an object, or a string of JSON');
  }
}

/** Tells whose counters they are by their names. */
function readUsage(value: unknown, path: string): Usage | null {
  if (value === null) return null;
  const usage = objectAt(value, path, 'an object or null');
  const foreign = foreignUsage(usage);
  if (foreign !== undefined) return foreign;
  const counters: Partial<Record<keyof Usage, unknown>> = {};
  for (const [key, count] of Object.entries(usage)) {
    const name = USAGE_COUNTERS.find((counter) => key === counter || key === snakeCase(counter));
    if (name === undefined) throw unknownKey(`${path}.${key}`, USAGE_COUNTERS);
    if (count !== null && !(Number.isSafeInteger(count) && Number(count) >= 0)) {
      throw mismatch(`${path}.${key}`, 'an integer of at least 0, or null', count);
    }
    counters[name] = count;
  }
  return usageOf(counters);
}

/** Usage in a provider's own counters; undefined if it isn't. */
function foreignUsage(usage: Readonly<Record<string, unknown>>): Usage | null | undefined {
  // The adapters' readers trust nothing in what they are given.
  const reported = usage as JsonObject;
  if ('prompt_tokens' in usage || 'completion_tokens' in usage) return openaiUsage(reported);
  if (!('input_tokens' in usage || 'output_tokens' in usage)) return undefined;
  if (!('input_tokens_details' in usage)) return anthropicUsage(reported);
  // OpenAI Responses: other names than Chat Completions, the same meaning.
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details } = reported;
  return openaiUsage({
    prompt_tokens: input_tokens ?? null,
    prompt_tokens_details: input_tokens_details ?? null,
    completion_tokens: output_tokens ?? null,
    completion_tokens_details: output_tokens_details ?? null,
  });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function refuseOthers(value: object, known: readonly string[], path: string): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw unknownKey(`${path}.${key}`, known);
  }
}

function unknownKey(path: string, known: readonly string[]): ScriptError {
  return new ScriptError(`${path}: not a key that is known here (known: ${known.join(', ')})`);
}

/** The members of an object; anything else is an error that names the path. */
export function objectAt(
  value: unknown,
  path: string,
  expected: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw mismatch(path, expected, value);
  }
  // Every object that isn't an array can be read by key.
  return value as Readonly<Record<string, unknown>>;
}

/** The error for a value of the wrong type. */
export function mismatch(path: string, expected: string, value: unknown): ScriptError {
  return new ScriptError(`${path}: expected ${expected}, got ${shown(value)}`);
}

/** A value as an error shows it: short, and never its members. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return String(value);
  }
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
