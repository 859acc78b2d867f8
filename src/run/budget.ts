/**
 * Budgets: what a run may spend, what it has spent, and which limit stops it. Pure.
 *
 * @module
 */
import { type Price } from './model.ts';
import { USAGE_COUNTERS, type Usage } from './usage.ts';

/** What a run may spend. A budget that isn't given doesn't limit; 0 means zero. */
export interface Budget {
  /** Model turns. */
  readonly steps?: number | undefined;
  /** Tokens of all kinds, failed attempts included; estimated where nobody counted them. */
  readonly tokens?: number | undefined;
  /** US dollars; needs a price for the model. */
  readonly usd?: number | undefined;
  /** Seconds of wall time. */
  readonly seconds?: number | undefined;
  /** Tool calls that are handled, whether they succeed or fail. */
  readonly toolCalls?: number | undefined;
}

export type BudgetName = keyof Budget;

/** The budget of a run that gives none, so that no run is endless. */
export const DEFAULT_BUDGET: Budget = { steps: 50 };

/** What a run has spent. */
export interface Spent {
  readonly steps: number;
  readonly toolCalls: number;
  readonly tokens: number;
  /** How many of `tokens` are estimates. */
  readonly estimatedTokens: number;
  /** US dollars; null without a price. */
  readonly usd: number | null;
  readonly seconds: number;
}

/** A budget that is used up. */
export interface Exceeded {
  readonly name: BudgetName;
  readonly limit: number;
  readonly used: number;
}

const WHOLE: ReadonlySet<string> = new Set(['steps', 'tokens', 'toolCalls']);
const NAMES: readonly BudgetName[] = ['steps', 'tokens', 'usd', 'seconds', 'toolCalls'];

/**
 * Checks a budget.
 *
 * @throws {TypeError | RangeError} for an unknown name, or a value that is not a number of its kind.
 */
export function checkBudget(budget: unknown): Budget {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) {
    throw new TypeError('budget must be an object, as { steps: 8, tokens: 20_000 }');
  }
  for (const name of Object.keys(budget)) {
    if (!NAMES.some((known) => known === name)) {
      throw new TypeError(`unknown budget '${name}'; the budgets are ${NAMES.join(', ')}`);
    }
  }
  // By name: the limits may be inherited, or getters.
  return Object.fromEntries(
    NAMES.map((name) => [name, readLimit(budget, name)]).filter(([, limit]) => limit !== undefined),
  );
}

function readLimit(budget: Budget, name: BudgetName): number | undefined {
  const value = budget[name];
  if (value !== undefined) checkLimit(name, value);
  return value;
}

function checkLimit(name: string, value: unknown): void {
  const whole = WHOLE.has(name);
  const kind = whole ? 'a whole number' : 'a number';
  if (typeof value !== 'number') {
    throw new TypeError(`budget.${name} must be ${kind}, got ${typeof value}`);
  }
  const holds = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!holds || value < 0)
    throw new RangeError(`budget.${name} must be ${kind} of at least 0, got ${value}`);
}

/** The first budget that forbids another turn, in the order steps, seconds, toolCalls, tokens, usd. */
export function exhausted(budget: Budget, spent: Spent): Exceeded | null {
  return (
    reached('steps', budget.steps, spent.steps) ??
    reached('seconds', budget.seconds, spent.seconds) ??
    reached('toolCalls', budget.toolCalls, spent.toolCalls) ??
    reached('tokens', budget.tokens, spent.tokens) ??
    reached('usd', budget.usd, spent.usd ?? 0)
  );
}

/** The budget that the last turn has overrun, so that its tools must not run: tokens, then usd. */
export function overrun(budget: Budget, spent: Spent): Exceeded | null {
  const { tokens, usd } = budget;
  if (tokens !== undefined && spent.tokens > tokens) {
    return { name: 'tokens', limit: tokens, used: spent.tokens };
  }
  if (usd !== undefined && spent.usd !== null && spent.usd > usd) {
    return { name: 'usd', limit: usd, used: spent.usd };
  }
  return null;
}

function reached(name: BudgetName, limit: number | undefined, used: number): Exceeded | null {
  return limit !== undefined && used >= limit ? { name, limit, used } : null;
}

/** What the next turn may write, or the budget that leaves no room for even one token of output. */
export type Room =
  | { readonly ok: true; readonly maxOutputTokens: number | undefined }
  | ({ readonly ok: false } & Exceeded);

/**
 * The output that tokens and dollars leave after the input, which has to be estimated before it is sent.
 *
 * @param cap the caller's own limit for one turn.
 */
export function roomForOutput(
  budget: Budget,
  spent: Spent,
  inputTokens: number,
  price: Price | undefined,
  cap: number | undefined,
): Room {
  const left = [cap ?? Infinity, tokensLeft(budget, spent) - inputTokens];
  if ((left[1] ?? 0) < 1) return noRoom('tokens', budget.tokens, spent.tokens);
  if (budget.usd !== undefined && price !== undefined) {
    const nano = nanoUsd(budget.usd) - nanoUsd(spent.usd ?? 0) - inputTokens * price.input * 1000;
    const perToken = Math.max(price.output, price.reasoning ?? 0) * 1000;
    if (nano < perToken) return noRoom('usd', budget.usd, spent.usd ?? 0);
    if (perToken > 0) left.push(Math.floor(nano / perToken));
  }
  const room = Math.min(...left);
  return { ok: true, maxOutputTokens: room === Infinity ? undefined : room };
}

function tokensLeft(budget: Budget, spent: Spent): number {
  return budget.tokens === undefined ? Infinity : budget.tokens - spent.tokens;
}

function noRoom(name: BudgetName, limit: number | undefined, used: number): Room {
  return { ok: false, name, limit: limit ?? 0, used };
}

/** What one call cost: its tokens, how many of them are estimates, and billionths of a dollar. */
export interface Charge {
  readonly tokens: number;
  readonly estimated: number;
  readonly nanoUsd: number;
  /** The tokens by counter, estimates among them. */
  readonly counts: Counts;
}

export type Counts = { readonly [K in keyof Usage]: number };

/** No tokens. */
export const NO_COUNTS: Counts = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/**
 * The charge for a call. Input and output that nobody counted are estimated; unknown cache and reasoning
 * counters are part of them.
 *
 * @param estimate tokens, used for the counters that are unknown.
 */
export function chargeFor(
  usage: Usage | null,
  estimate: { readonly input: number; readonly output: number },
  price: Price | undefined,
): Charge {
  const reported = usage ?? NOTHING_REPORTED;
  const counts = {
    input: reported.input ?? estimate.input,
    cacheRead: reported.cacheRead ?? 0,
    cacheWrite: reported.cacheWrite ?? 0,
    output: reported.output ?? estimate.output,
    reasoning: reported.reasoning ?? 0,
  };
  const estimated =
    (reported.input === null ? estimate.input : 0) +
    (reported.output === null ? estimate.output : 0);
  let tokens = 0;
  for (const name of USAGE_COUNTERS) tokens += counts[name];
  return { tokens, estimated, nanoUsd: costOf(counts, price), counts };
}

/** What tokens cost, in billionths of a dollar; 0 without a price. */
export function costOf(counts: Counts, price: Price | undefined): number {
  if (price === undefined) return 0;
  let dollars = 0;
  for (const name of USAGE_COUNTERS) dollars += counts[name] * rate(price, name);
  // Dollars for a million tokens are thousands of nanodollars for one.
  return Math.round(dollars * 1000);
}

const NOTHING_REPORTED: Usage = {
  input: null,
  cacheRead: null,
  cacheWrite: null,
  output: null,
  reasoning: null,
};

function rate(price: Price, counter: keyof Usage): number {
  return price[counter] ?? (counter === 'reasoning' ? price.output : price.input);
}

/** Dollars as whole billionths: sums of them don't drift. */
export function nanoUsd(usd: number): number {
  return Math.round(usd * 1e9);
}

function isRate(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MAX_PRICE;
}

/** Far beyond any price, and so low that no sum of costs overflows. */
const MAX_PRICE = 1e12;

/**
 * Checks a price.
 *
 * @throws {TypeError | RangeError} if a rate is unknown or not a number of at least 0.
 */
export function checkPrice(price: Price): void {
  const rates = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'];
  for (const [name, value] of Object.entries(price)) {
    if (!rates.includes(name))
      throw new TypeError(`unknown price '${name}'; the prices are ${rates.join(', ')}`);
    if (value !== undefined && !isRate(value)) {
      throw new RangeError(
        `price.${name} must be a number of at least 0, US dollars per million tokens; got ${typeof value === 'number' ? value : typeof value}`,
      );
    }
  }
  if (price.input === undefined || price.output === undefined) {
    throw new TypeError('a price needs input and output, in US dollars per million tokens');
  }
}
