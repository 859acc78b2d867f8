/**
 * Scripts: what a scripted model answers, turn by turn, and the strict reading of them.
 *
 * @module
 */
import { type ReplyStop } from '../run/model.ts';
import { USAGE_COUNTERS, usageOf, type Usage } from '../run/usage.ts';
import { type JsonObject } from '../transcript/index.ts';
import {
  isObject,
  isString,
  orAbsent,
  shown,
  type Members,
  type Shape,
  type Test,
} from './options.ts';

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
  /** Our counters, `cacheRead` or as a record has it `cache_read`. One that isn't there is unknown. */
  readonly usage?: Partial<Usage> | { readonly [counter: string]: number | null } | null;
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

const isCount: Test = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isStop: Test = (value) => value === 'end' || value === 'length' || value === 'refused';
const isDelay: Test = (value) => Number.isFinite(value) && Number(value) >= 0;

/** A test that undefined and null pass too. */
export function orNothing(test: Test): Test {
  return (value) => value === undefined || value === null || test(value);
}

const TURN: Shape = {
  content: ['a string or null', orNothing(isString)],
  tool_calls: ['an array of calls', orNothing(Array.isArray)],
  usage: ['an object or null', orNothing(isObject)],
  stop: ['"end", "length" or "refused"', orAbsent(isStop)],
  delay: ['milliseconds of at least 0', orAbsent(isDelay)],
  error: ['a string', orAbsent(isString)],
};

const CALL: Shape = {
  id: ['a string or null', orNothing(isString)],
  name: ['a string', isString],
  arguments: ['an object, or a string of JSON', (value) => isString(value) || isObject(value)],
};

const USAGE: Shape = Object.fromEntries(
  USAGE_COUNTERS.map((name) => [name, ['an integer of at least 0, or null', orNothing(isCount)]]),
);

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
  const read = readExactly(value, path, 'a turn (an object or a string)', TURN);
  // TURN says what ScriptTurn does, but for what is inside calls and usage.
  const { usage, ...turn } = read as ScriptTurn;
  const calls = turn.tool_calls ?? [];
  for (const [i, call] of calls.entries()) {
    readExactly(call, `${path}.tool_calls[${i}]`, 'a tool call (an object)', CALL);
  }
  if (turn.error !== undefined && (typeof turn.content === 'string' || calls.length > 0)) {
    throw new ScriptError(`${path}.error: a turn that fails has no content and no tool_calls`);
  }
  if (usage === undefined) return turn;
  return { ...turn, usage: usage === null ? null : readUsage(usage, `${path}.usage`) };
}

function readUsage(usage: object, path: string): Usage | null {
  const counters = Object.entries(usage).map(([key, count]) => [
    USAGE_COUNTERS.find((name) => key === snakeCase(name)) ?? key,
    count,
  ]);
  return usageOf(readExactly(Object.fromEntries(counters), path, 'an object', USAGE));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** {@link readShape} of an object that must have no other members. */
function readExactly(value: unknown, path: string, expected: string, shape: Shape): Members {
  const known = Object.keys(shape);
  const other = isObject(value)
    ? Object.keys(value).find((key) => !known.includes(key))
    : undefined;
  if (other === undefined) return readShape(value, path, expected, shape);
  throw new ScriptError(
    `${path}.${other}: not a key that is known here (known: ${known.join(', ')})`,
  );
}

/**
 * The members of an object that has those that a shape names.
 *
 * @throws {ScriptError} that names the first thing that is wrong, and what it should be.
 */
export function readShape(value: unknown, path: string, expected: string, shape: Shape): Members {
  if (!isObject(value)) throw mismatch(path, expected, value);
  for (const [name, [words, test]] of Object.entries(shape)) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!test(found)) throw mismatch(`${path}.${name}`, words, found);
  }
  return value;
}

/** The error for a value of the wrong type. */
export function mismatch(path: string, expected: string, value: unknown): ScriptError {
  return new ScriptError(`${path}: expected ${expected}, got ${shown(value)}`);
}
