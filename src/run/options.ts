/**
 * The options of a run: what they are, and the checks that they pass before anything happens.
 *
 * @module
 */
import { type TranscriptStore } from '../store/store.ts';
import { type Budget } from './budget.ts';
import { type Clock } from './clock.ts';
import { EVENT_TYPES, type Listeners } from './events.ts';
import { type Model } from './model.ts';
import { type CheckResult, type StopReason } from './outcome.ts';
import { type Ask, type Permit } from './permit.ts';
import { type AnyTool } from './tool.ts';

/** What a success check is given. It looks at the world; the answer is only what the model claims. */
export interface CheckRequest {
  readonly answer: string;
  readonly reason: StopReason;
  readonly signal: AbortSignal;
}

export type Check = (request: CheckRequest) => CheckResult | Promise<CheckResult>;

/** Limits on silence and on going round in circles. */
export interface Watchdog {
  /** Seconds until a model's first output. Default 600: long thinking is legitimate. */
  readonly firstOutput?: number | undefined;
  /** Seconds between two outputs of a model that streams. Default 300. */
  readonly betweenOutputs?: number | undefined;
  /** Repeats without a new successful result that count as a stall. Default 5. */
  readonly stallAfter?: number | undefined;
  /** What a stall does. Default `warn`: an event. */
  readonly onStall?: 'warn' | 'stop' | undefined;
}

/** What a run is given. */
export interface RunOptions {
  readonly task: string;
  readonly model: Model;
  readonly tools?: readonly AnyTool[] | undefined;
  /** Default {@link DEFAULT_BUDGET}. */
  readonly budget?: Budget | undefined;
  /** A path for a new file, or a store; default memory, which is gone with the run. */
  readonly transcript?: string | URL | TranscriptStore | undefined;
  readonly check?: Check | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Given a clock, records hold times. Without, only deadlines use the machine's. */
  readonly clock?: Clock | undefined;
  readonly on?: Listeners | undefined;
  /** Instructions that come before the task. */
  readonly system?: string | undefined;
  /** The run ends at a turn whose text contains this. */
  readonly sentinel?: string | undefined;
  /** Whether the second landing of an equal call carries a note. Default true. */
  readonly repeats?: boolean | undefined;
  readonly permit?: Permit | undefined;
  readonly ask?: Ask | undefined;
  readonly watchdog?: Watchdog | undefined;
  /** The most output tokens of one turn, beside what the budget leaves. */
  readonly maxOutputTokens?: number | undefined;
  /**
   * The run's identity, recorded in its head. Idempotency keys are made of it: give one where tools hand
   * them to other systems, as two runs of the same task are otherwise the same run.
   */
  readonly runId?: string | undefined;
  /**
   * Go on with the transcript if there is one that isn't sealed, as `resume` does; else begin it. So a job that
   * is started again after a crash needs to know nothing of the crash. Default false: it has to be new.
   */
  readonly resume?: boolean | undefined;
  /**
   * What is taken out of the record: paths, as `tools.login.arguments.password`, and `common-secrets`, a list of
   * patterns. The record holds salted digests instead, and the values are kept in `<transcript>.open`: whoever is
   * not to see them is given the transcript without that file. The model sees them. Default none.
   */
  readonly redact?: readonly string[] | undefined;
}

/** The watchdog's settings with nothing left out. */
export type WatchdogSettings = { readonly [K in keyof Watchdog]-?: NonNullable<Watchdog[K]> };

const OPTIONS: { readonly [K in keyof Required<RunOptions>]: true } = {
  task: true,
  model: true,
  tools: true,
  budget: true,
  transcript: true,
  check: true,
  signal: true,
  clock: true,
  on: true,
  system: true,
  sentinel: true,
  repeats: true,
  permit: true,
  ask: true,
  watchdog: true,
  maxOutputTokens: true,
  runId: true,
  resume: true,
  redact: true,
};

/** The names of all options. */
export const OPTION_NAMES: readonly string[] = Object.keys(OPTIONS);

const WATCHDOG: WatchdogSettings = {
  firstOutput: 600,
  betweenOutputs: 300,
  stallAfter: 5,
  onStall: 'warn',
};

/**
 * Checks the options, but for the budget, the price and the tools.
 *
 * @throws {TypeError | RangeError} with what is wrong and what would be right.
 */
export function checkOptions(options: RunOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('run takes one object, as { task, model }');
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw new TypeError(
        `unknown option '${name}'; the options are ${Object.keys(OPTIONS).join(', ')}`,
      );
    }
  }
  if (typeof options.model !== 'function') {
    throw new TypeError('model must be a function from request to reply, or an adapter');
  }
  if (options.model.id !== undefined) checkText('model.id', options.model.id);
  checkKinds(options);
  checkListeners(options.on);
  checkText('task', options.task);
  for (const name of ['system', 'sentinel', 'runId'] as const) {
    const text = options[name];
    if (text !== undefined) checkText(name, text);
  }
  const { maxOutputTokens: cap } = options;
  if (cap !== undefined && (!Number.isSafeInteger(cap) || cap < 1)) {
    throw new RangeError(`maxOutputTokens must be a whole number of at least 1, got ${cap}`);
  }
}

/** What an option has to be, where its type alone can be checked. */
const KINDS: readonly (readonly [
  name: keyof RunOptions,
  wanted: string,
  is: (value: unknown) => boolean,
])[] = [
  ['check', 'a function', isFunction],
  ['permit', 'a function', isFunction],
  ['ask', 'a function', isFunction],
  ['on', 'a function, or an object of functions by event type', isObjectOrFunction],
  ['repeats', 'true or false', isBoolean],
  ['resume', 'true or false', isBoolean],
  // An AbortController in its place would be accepted, and would never abort.
  [
    'signal',
    'an AbortSignal',
    (value) => has(value, 'aborted', 'addEventListener', 'removeEventListener'),
  ],
  ['clock', 'a clock: { now, timer }', (value) => has(value, 'now', 'timer')],
  ['transcript', 'a path, a URL or a store', isPlace],
];

function checkKinds(options: RunOptions): void {
  for (const [name, wanted, is] of KINDS) {
    const value = options[name];
    if (value !== undefined && !is(value)) throw new TypeError(`${name} must be ${wanted}`);
  }
  // Nobody would ever be asked, and every tool would run.
  if (options.ask !== undefined && options.permit === undefined)
    throw new TypeError("ask needs permit, which says when: permit: () => ({ decision: 'ask' })");
}

function checkListeners(on: RunOptions['on']): void {
  if (on === undefined || typeof on === 'function') return;
  const unknown = Object.keys(on).find((type) => !EVENT_TYPES.has(type));
  if (unknown !== undefined) {
    const known = [...EVENT_TYPES].join(', ');
    throw new TypeError(`unknown event '${unknown}'; the events are ${known}`);
  }
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function isObjectOrFunction(value: unknown): boolean {
  return isFunction(value) || (typeof value === 'object' && value !== null);
}

/** Whether something can be a transcript's place: a path, a URL or a store. */
export function isPlace(value: unknown): boolean {
  return typeof value === 'string' || value instanceof URL || has(value, 'append', 'sync', 'head');
}

function has(value: unknown, ...members: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && members.every((name) => name in value);
}

function checkText(name: string, text: unknown): void {
  if (typeof text !== 'string' || text === '')
    throw new TypeError(`${name} must be a text, and not empty`);
  if (!text.isWellFormed()) {
    throw new TypeError(
      `${name} holds a lone surrogate, half a character, which can't be recorded`,
    );
  }
}

/**
 * The watchdog's settings, with the defaults.
 *
 * @throws {TypeError | RangeError} if one is unknown or not of its kind.
 */
export function checkedWatchdog(given: Watchdog = {}): WatchdogSettings {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('watchdog must be an object, as { stallAfter: 5 }');
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of set) {
    if (!Object.hasOwn(WATCHDOG, name)) {
      throw new TypeError(
        `unknown watchdog setting '${name}'; they are ${Object.keys(WATCHDOG).join(', ')}`,
      );
    }
    const [wanted, holds] = watchdogKind(name, value);
    if (!holds) throw new RangeError(`watchdog.${name} must be ${wanted}`);
  }
  return { ...WATCHDOG, ...Object.fromEntries(set) };
}

function watchdogKind(name: string, value: unknown): readonly [wanted: string, holds: boolean] {
  if (name === 'onStall') return ["'warn' or 'stop'", value === 'warn' || value === 'stop'];
  if (name === 'stallAfter')
    return ['a whole number above 0', Number.isSafeInteger(value) && Number(value) > 0];
  return ['a number above 0', typeof value === 'number' && value > 0];
}
