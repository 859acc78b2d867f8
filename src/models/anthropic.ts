/**
 * Models behind the Anthropic Messages API.
 *
 * @module
 */
import {
  ModelError,
  type FailedAttempt,
  type Model,
  type ModelReply,
  type ModelRequest,
} from '../run/model.ts';
import { USAGE_COUNTERS, usageOf, type Usage } from '../run/usage.ts';
import { type JsonObject } from '../transcript/index.ts';
import {
  checkOptions,
  construct,
  environment,
  exchangeContext,
  NO_TIMEOUT_MS,
  type AdapterOptions,
} from './adapter.ts';
import { AnthropicCollector, type AnthropicReply } from './anthropic-reply.ts';
import { wireConversation } from './anthropic-request.ts';
import { exchange, type ExchangeContext, type RawAnswer } from './exchange.ts';
import { loadPeer } from './peer.ts';
import { retryPolicy, withRetries, type RetryPolicy } from './retry.ts';
import { plain } from './wire.ts';

/** What we use of the `@anthropic-ai/sdk` package's clients: `Anthropic`, `AnthropicBedrock` and so on. */
export interface AnthropicClient {
  /** Only to keep it out of messages. */
  readonly apiKey?: string | null;
  readonly messages: {
    create(
      // The SDK's own type of a body: it can't be named here, as the package is optional.
      body: never,
      options: { signal: AbortSignal; maxRetries: number; timeout: number },
    ): RawAnswer;
  };
}

/** What we use of the `@anthropic-ai/sdk` package. */
export interface AnthropicSdk {
  readonly Anthropic: new (options: { apiKey?: string; baseURL?: string }) => AnthropicClient;
}

/** Options of {@link anthropic}. */
export interface AnthropicOptions extends AdapterOptions {
  /** A client that exists already; `apiKey` and `baseURL` are then its own affair. */
  readonly client?: AnthropicClient;
  /** The most output tokens of a turn, which the API must be told; a budget may leave less. Default 8192. */
  readonly maxTokens?: number;
  /** Loads the SDK; default `() => import('@anthropic-ai/sdk')`. */
  readonly sdk?: () => Promise<AnthropicSdk>;
}

/** How often a turn that the provider paused is sent back to be continued. */
const MAX_PAUSES = 5;

const RESERVED = ['model', 'messages', 'system', 'tools', 'stream', 'max_tokens'];

/**
 * A model behind the Anthropic Messages API. Needs the package `@anthropic-ai/sdk`, loaded at the first call.
 *
 * A turn with signed thinking keeps its blocks in `ModelReply.provider` and gets them back unchanged.
 *
 * @throws {TypeError} if an option isn't usable.
 */
export function anthropic(options: AnthropicOptions): Model {
  checkOptions(options, RESERVED);
  const { maxTokens = 8192 } = options;
  if (!Number.isInteger(maxTokens) || maxTokens < 1) {
    throw new TypeError(`maxTokens: expected an integer of at least 1, got ${maxTokens}`);
  }
  const policy = retryPolicy(options);
  const context = exchangeContext(
    policy,
    options.apiKey,
    options.client?.apiKey,
    environment('ANTHROPIC_API_KEY'),
  );
  let client = options.client;
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    client ??= await createClient(options, context);
    return new Turn(options, client, policy, context, request).run();
  };
  return Object.assign(answer, {
    id: `anthropic:${options.model}`,
    ...(options.price === undefined ? {} : { price: options.price }),
  });
}

/** One turn: a request, and those that continue it where the provider paused. */
class Turn {
  readonly #options: AnthropicOptions;
  readonly #client: AnthropicClient;
  readonly #policy: RetryPolicy;
  readonly #context: ExchangeContext;
  readonly #request: ModelRequest;
  readonly #started: number;
  readonly #parts: AnthropicReply[] = [];
  readonly #failed: FailedAttempt[] = [];

  constructor(
    options: AnthropicOptions,
    client: AnthropicClient,
    policy: RetryPolicy,
    context: ExchangeContext,
    request: ModelRequest,
  ) {
    this.#options = options;
    this.#client = client;
    this.#policy = policy;
    this.#context = context;
    this.#request = request;
    this.#started = policy.clock.now();
  }

  async run(): Promise<ModelReply> {
    for (;;) {
      const part = await this.#part();
      this.#parts.push(part);
      if (part.stop !== 'pause') return this.#reply(part.stop);
      if (this.#parts.length > MAX_PAUSES) {
        throw this.#error(
          `the provider paused the turn ${MAX_PAUSES + 1} times without an end`,
          [],
        );
      }
    }
  }

  async #part(): Promise<AnthropicReply> {
    const { secondsLeft, signal } = this.#request;
    const elapsed = (this.#policy.clock.now() - this.#started) / 1000;
    const limits = {
      signal,
      secondsLeft: secondsLeft === undefined ? undefined : secondsLeft - elapsed,
    };
    const body = this.#body();
    try {
      const part = await withRetries(this.#policy, limits, () => this.#attempt(body));
      this.#failed.push(...(part.failedAttempts ?? []));
      return part.reply;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      throw this.#error(error.message, error.failedAttempts, error);
    }
  }

  async #attempt(body: object): Promise<ModelReply & { readonly reply: AnthropicReply }> {
    const collector = new AnthropicCollector(this.#request.onDelta);
    await exchange(
      this.#request.signal,
      (signal) =>
        this.#client.messages
          // See AnthropicClient: the SDK's type of a body can't be named.
          .create(body as never, { signal, maxRetries: 0, timeout: NO_TIMEOUT_MS })
          .asResponse(),
      collector,
      this.#context,
    );
    const reply = collector.reply();
    return { content: reply.content, reply };
  }

  /** The messages come before what changes from turn to turn, as prompt caches need. */
  #body(): object {
    const { model, stream = true, maxTokens = 8192, parameters } = this.#options;
    const { tools, maxOutputTokens = maxTokens } = this.#request;
    const paused = this.#parts.map((part) => part.blocks);
    const { system, messages } = wireConversation(this.#request.messages, paused);
    const used = this.#parts.reduce((tokens, part) => tokens + outputOf(part.usage), 0);
    return {
      model,
      ...(stream ? { stream } : {}),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map(({ name, description, inputSchema }) => ({
              name,
              description,
              input_schema: plain(inputSchema),
            })),
          }),
      ...(system === undefined ? {} : { system }),
      messages,
      ...(parameters === undefined ? {} : Object(plain(parameters))),
      max_tokens: Math.max(1, Math.min(maxTokens, maxOutputTokens) - used),
    };
  }

  #reply(stop: 'end' | 'length' | 'refused'): ModelReply {
    const blocks = this.#parts.flatMap((part) => part.blocks);
    return {
      content: this.#parts.map((part) => part.content).join(''),
      toolCalls: this.#parts.flatMap((part) => part.toolCalls),
      usage: sum(this.#parts.map((part) => part.usage)),
      stop,
      ...(blocks.some(isOpaque) ? { provider: { blocks } } : {}),
      ...(this.#failed.length === 0 ? {} : { failedAttempts: this.#failed }),
    };
  }

  /** What the parts before a failure used is charged with it. */
  #error(message: string, failed: readonly FailedAttempt[], cause?: Error): ModelError {
    const paused =
      this.#parts.length === 0
        ? []
        : [{ error: 'paused by the provider', usage: sum(this.#parts.map((part) => part.usage)) }];
    return new ModelError(message, [...this.#failed, ...paused, ...failed], { cause });
  }
}

/** Blocks that can't be made again from content and calls: thinking with its signature, server tools. */
function isOpaque(block: JsonObject): boolean {
  return block['type'] !== 'text' && block['type'] !== 'tool_use';
}

function outputOf(usage: Usage | null): number {
  return (usage?.output ?? 0) + (usage?.reasoning ?? 0);
}

/** Sums of counters; one that any part leaves unknown is unknown. */
function sum(usages: readonly (Usage | null)[]): Usage | null {
  if (usages.includes(null)) return null;
  const totals = USAGE_COUNTERS.map((name): [string, number | null] => [
    name,
    usages.reduce<number | null>((total, usage) => {
      const count = usage?.[name] ?? null;
      return total === null || count === null ? null : total + count;
    }, 0),
  ]);
  return usageOf(Object.fromEntries(totals));
}

async function createClient(
  { apiKey, baseURL, sdk }: AnthropicOptions,
  context: ExchangeContext,
): Promise<AnthropicClient> {
  const { Anthropic } = await loadPeer(
    '@anthropic-ai/sdk',
    sdk ?? (() => import('@anthropic-ai/sdk')),
  );
  return construct(context, () => {
    return new Anthropic({
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(baseURL === undefined ? {} : { baseURL }),
    });
  });
}
