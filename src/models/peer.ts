/**
 * Models behind a provider's own SDK: an optional peer, loaded when the model is first asked.
 *
 * @module
 */
import {
  ModelError,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Price,
} from '../run/model.ts';
import { requestError, type FailureContext } from './failure.ts';
import {
  checkOptions,
  FLAG,
  isObject,
  isString,
  MODEL_OPTIONS,
  orAbsent,
  type Shape,
} from './options.ts';
import { RETRY_OPTIONS, retryPolicy, type RetryOptions, type RetryPolicy } from './retry.ts';

/** Options of every adapter that talks to a provider through its SDK. */
export interface AdapterOptions<Client> extends RetryOptions {
  /** The provider's name of the model. */
  readonly model: string;
  /** Where the API is. Default: the SDK's, which an environment variable may set. */
  readonly baseURL?: string | URL;
  /** Default: what the SDK finds in its environment variable. */
  readonly apiKey?: string;
  /** A client that exists already; `apiKey` and `baseURL` are then its own affair. */
  readonly client?: Client;
  /**
   * Stream answers, so that events and idle limits see them grow. Default true. Without it Node's own
   * `fetch` gives up on an answer that takes more than 5 minutes.
   */
  readonly stream?: boolean;
  /** What tokens cost; a `usd` budget needs it. */
  readonly price?: Price;
}

/** A client of an SDK, as far as all of them are alike. */
export interface SdkClient {
  /** Only to keep it out of messages. */
  readonly apiKey?: string | null;
}

/** A model's link to its provider. */
export interface Link<Client> extends FailureContext {
  readonly client: Client;
  readonly policy: RetryPolicy;
}

/** What is a provider's own. */
export interface Provider<Client> {
  readonly name: string;
  /** The environment variable with the key. */
  readonly keyVariable: string;
  /** The options that no other provider has. */
  readonly options: Shape;
  /** Makes the SDK's client. */
  connect(): Promise<Client>;
}

const OPTIONS: Shape = {
  model: ['the name of a model', (value) => isString(value) && value !== ''],
  baseURL: ['a URL that begins with http:// or https://', orAbsent(isHttp)],
  apiKey: ['a string', orAbsent(isString)],
  client: ["a client of the provider's SDK", orAbsent(isObject)],
  stream: FLAG,
  ...RETRY_OPTIONS,
  ...MODEL_OPTIONS,
};

/**
 * The model of a provider. Its client is made at the first call.
 *
 * @throws {TypeError | RangeError} that names the option that isn't usable, and what it should be.
 */
export function sdkModel<Client extends SdkClient>(
  provider: Provider<Client>,
  options: AdapterOptions<Client>,
  answer: (request: ModelRequest, link: Link<Client>) => Promise<ModelReply>,
): Model {
  checkOptions(provider.name, options, { ...OPTIONS, ...provider.options });
  const { model, apiKey, price } = options;
  const policy = retryPolicy(options);
  const keys = [apiKey, options.client?.apiKey, environment(provider.keyVariable)];
  const context = {
    clock: policy.clock,
    // A very short placeholder (`none`, `x`) is no secret, and would blot out ordinary words.
    secrets: keys.map((key) => key ?? '').filter((key) => key.length >= 8),
  };
  let client = options.client;
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    client ??= await connected(provider, context);
    return answer(request, { ...context, policy, client });
  };
  const id = `${provider.name}:${model}`;
  return Object.assign(ask, { id }, price === undefined ? {} : { price });
}

/**
 * Imports a package that may be missing.
 *
 * @throws {ModelError} that says what to install, if the package isn't there.
 */
export async function loadPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new ModelError(`the package ${name} is not installed: run \`npm install ${name}\``, [], {
      cause: error,
    });
  }
}

/** A variable of the environment; undefined where there is none, or no environment, as in browsers. */
export function environment(name: string): string | undefined {
  return globalThis.process?.env[name]?.trim() || undefined;
}

/** What an SDK says when it lacks credentials is fit for the record too. */
async function connected<Client>(
  provider: Provider<Client>,
  context: FailureContext,
): Promise<Client> {
  try {
    return await provider.connect();
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError(requestError(error, context).message, [], { cause: error });
  }
}

function isHttp(value: unknown): boolean {
  return (isString(value) || value instanceof URL) && /^https?:\/\//i.test(String(value));
}

/** Whether the package itself is missing, rather than something that it needs. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const missing = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return missing && error.message.includes(`'${name}'`);
}
