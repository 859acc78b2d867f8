/**
 * What the adapters have in common: options, their checks, and the context of an exchange.
 *
 * @module
 */
import { ModelError, type Price } from '../run/model.ts';
import { type JsonObject } from '../transcript/index.ts';
import { type ExchangeContext } from './exchange.ts';
import { requestError } from './failure.ts';
import { type RetryOptions, type RetryPolicy } from './retry.ts';

/** Options of every adapter. */
export interface AdapterOptions extends RetryOptions {
  /** The provider's name of the model. */
  readonly model: string;
  /** Where the API is. Default: the SDK's, which an environment variable may set. */
  readonly baseURL?: string;
  /** Default: what the SDK finds in its environment variable. */
  readonly apiKey?: string;
  /**
   * Stream answers, so that events and idle limits see them grow. Default true. Without it Node's own
   * `fetch` gives up on an answer that takes more than 5 minutes.
   */
  readonly stream?: boolean;
  /** What tokens cost; a `usd` budget needs it. */
  readonly price?: Price;
  /** Other members of every request's body: temperature, seed, thinking and so on. */
  readonly parameters?: JsonObject;
}

/** The longest time that Node's timers hold: the SDKs' own time-outs are off, as the loop has limits. */
export const NO_TIMEOUT_MS: number = 2 ** 31 - 1;

/**
 * Checks what all adapters take.
 *
 * @throws {TypeError} that names the option and what it should be.
 */
export function checkOptions(options: AdapterOptions, reserved: readonly string[]): void {
  if (typeof options.model !== 'string' || options.model === '') {
    throw new TypeError('model: expected the name of a model');
  }
  for (const name of Object.keys(options.parameters ?? {})) {
    if (reserved.includes(name)) throw new TypeError(`parameters: ${name} is set by the adapter`);
  }
}

/** The context of an adapter's exchanges. Keys that it knows of never get into a message. */
export function exchangeContext(
  policy: RetryPolicy,
  ...keys: (string | null | undefined)[]
): ExchangeContext {
  return {
    clock: policy.clock,
    now: () => policy.clock.now(),
    // A very short placeholder (`none`, `x`) is no secret, and would blot out ordinary words.
    secrets: keys.map((key) => key ?? '').filter((key) => key.length >= 8),
  };
}

/** A variable of the environment; undefined where there is none, or no environment, as in browsers. */
export function environment(name: string): string | undefined {
  const value = globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
}

/**
 * Constructs an SDK's client.
 *
 * @throws {ModelError} with the SDK's words, if it lacks credentials.
 */
export function construct<T>(context: ExchangeContext, create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw new ModelError(requestError(error, context).message, [], { cause: error });
  }
}
