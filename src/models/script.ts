/**
 * Scripts: what a scripted model answers, turn by turn, and the strict reading of them.
 *
 * @module
 */
import { type ReplyStop } from '../run/model.ts';
import { USAGE_COUNTERS, usageOf, type Usage } from '../run/usage.ts';
import { type JsonObject } from '../transcript/index.ts';

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

/** What the members of an object must be, by name: in words, and as a test. */
export type Shape = Readonly<
  Record<string, readonly [words: string, test: (value: unknown) => boolean]>
>;

/** An object by its members. */
export type Members = Readonly<Record<string, unknown>>;

const isString = (value: unknown): boolean => typeof value === 'string';
const isNothing = (value: unknown): boolean => value === undefined || value === null;
const isStringOrNothing = (value: unknown): boolean => isNothing(value) || isString(value);

const TURN: Shape = {
  content: ['a string or null', isStringOrNothing],
  tool_calls: ['an array of calls', (value) => isNothing(value) || Array.isArray(value)],
  usage: ['an object or null', (value) => isNothing(value) || isObject(value)],
  stop: [
    '"end", "length" or "refused"',
    (value) => [undefined, 'end', 'length', 'refused'].some((stop) => stop === value),
  ],
  delay: [
    'milliseconds of at least 0',
    (value) => value === undefined || (Number.isFinite(value) && Number(value) >= 0),
  ],
  error: ['a string', (value) => value === undefined || isString(value)],
};

const CALL: Shape = {
  id: ['a string or null', isStringOrNothing],
  name: ['a string', isString],
  arguments: ['an object, or a string of JSON', (value) => isString(value) || isObject(value)],
};

const USAGE: Shape = Object.fromEntries(
  USAGE_COUNTERS.map((name) => [
    name,
    [
      'an integer of at least 0, or null',
      (value) => isNothing(value) || (Number.isSafeInteger(value) && Number(value) >= 0),
    ],
  ]),
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
  const object = objectAt(value, path, 'a turn (an object or a string)');
  refuseOthers(object, TURN, path);
  // It was checked that each key holds what ScriptTurn says, but for what is inside calls and usage.
  const { usage, ...turn } = readShape(object, TURN, path) as ScriptTurn;
  const calls = turn.tool_calls ?? [];
  for (const [index, call] of calls.entries()) {
    const at = `${path}.tool_calls[${index}]`;
    const members = objectAt(call, at, 'a tool call (an object)');
    refuseOthers(members, CALL, at);
    readShape(members, CALL, at);
  }
  if (turn.error !== undefined && (typeof turn.content === 'string' || calls.length > 0)) {
    throw new ScriptError(`${path}.error: a turn that fails has no content and no tool_calls`);
  }
  return usage === undefined ? turn : { ...turn, usage: readUsage(usage, `${path}.usage`) };
}

function readUsage(usage: NonNullable<unknown> | null, path: string): Usage | null {
  if (usage === null) return null;
  const counters = Object.entries(usage).map(([key, count]) => [
    USAGE_COUNTERS.find((name) => key === snakeCase(name)) ?? key,
    count,
  ]);
  const named: Members = Object.fromEntries(counters);
  refuseOthers(named, USAGE, path);
  return usageOf(readShape(named, USAGE, path));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Checks the members that a shape names.
 *
 * @throws {ScriptError} that names the first that is wrong, and what it should be.
 */
export function readShape(object: Members, shape: Shape, path: string): Members {
  for (const [name, [words, test]] of Object.entries(shape)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (!test(value)) throw mismatch(`${path}.${name}`, words, value);
  }
  return object;
}

function refuseOthers(object: Members, shape: Shape, path: string): void {
  const known = Object.keys(shape);
  const other = Object.keys(object).find((key) => !known.includes(key));
  if (other === undefined) return;
  throw new ScriptError(
    `${path}.${other}: not a key that is known here (known: ${known.join(', ')})`,
  );
}

/** The members of an object; anything else is an error that names the path. */
export function objectAt(value: unknown, path: string, expected: string): Members {
  if (!isObject(value)) throw mismatch(path, expected, value);
  return value;
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error for a value of the wrong type. */
export function mismatch(path: string, expected: string, value: unknown): ScriptError {
  return new ScriptError(`${path}: expected ${expected}, got ${shown(value)}`);
}

/** A value as an error shows it: short, and never its members. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  const whole = String(value);
  const short = whole.length > 40 ? `${whole.slice(0, 40)}…` : whole;
  return typeof value === 'string' ? JSON.stringify(short) : short;
}
