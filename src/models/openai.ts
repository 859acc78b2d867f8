/**
 * Models behind the OpenAI Chat Completions API, and behind the many servers that speak it.
 *
 * @module
 */
import { type Message, type Model, type ModelReply, type ModelRequest } from '../run/model.ts';
import { canonicalJson } from '../transcript/index.ts';
import {
  checkOptions,
  construct,
  environment,
  exchangeContext,
  NO_TIMEOUT_MS,
  type AdapterOptions,
} from './adapter.ts';
import { exchange, type ExchangeContext, type RawAnswer } from './exchange.ts';
import { OpenAICollector } from './openai-reply.ts';
import { loadPeer } from './peer.ts';
import { retryPolicy, withRetries } from './retry.ts';
import { plain } from './wire.ts';

/** What we use of the `openai` package's clients: `OpenAI`, `AzureOpenAI` and their like. */
export interface OpenAIClient {
  /** Only to keep it out of messages. */
  readonly apiKey?: string | null;
  readonly chat: {
    readonly completions: {
      create(
        // The SDK's own type of a body: it can't be named here, as the package is optional.
        body: never,
        options: { signal: AbortSignal; maxRetries: number; timeout: number },
      ): RawAnswer;
    };
  };
}

/** What we use of the `openai` package. */
export interface OpenAISdk {
  readonly OpenAI: new (options: { apiKey?: string; baseURL?: string }) => OpenAIClient;
}

/** Options of {@link openai}. */
export interface OpenAIOptions extends AdapterOptions {
  /** A client that exists already; `apiKey` and `baseURL` are then its own affair. */
  readonly client?: OpenAIClient;
  /** How the limit on output is called: older compatible servers know `max_tokens` only. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /**
   * Notes go beside tool results as text parts. Default true; false for servers that take strings only,
   * which get the note below the result, after an empty line.
   */
  readonly contentParts?: boolean;
  /** Loads the SDK; default `() => import('openai')`. */
  readonly sdk?: () => Promise<OpenAISdk>;
}

/**
 * A model behind the OpenAI Chat Completions API. Needs the package `openai`, loaded at the first call.
 *
 * Servers that need no key take any: with a `baseURL`, no `apiKey` and no `OPENAI_API_KEY`, `none` is sent.
 *
 * @throws {TypeError} if an option isn't usable.
 */
export function openai(options: OpenAIOptions): Model {
  checkOptions(options, RESERVED);
  const policy = retryPolicy(options);
  const context = exchangeContext(
    policy,
    options.apiKey,
    options.client?.apiKey,
    environment(KEY_VARIABLE),
  );
  let client = options.client;
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    client ??= await createClient(options, context);
    const { completions } = client.chat;
    const body = requestBody(options, request);
    return withRetries(policy, request, () => attempt(completions, body, request, context));
  };
  return Object.assign(answer, {
    id: `openai:${options.model}`,
    ...(options.price === undefined ? {} : { price: options.price }),
  });
}

/**
 * The body of a request. A later request of the same run begins with the same messages, byte for byte, as
 * providers' prompt caches need.
 */
export function requestBody(
  options: OpenAIOptions,
  request: Pick<ModelRequest, 'messages' | 'tools' | 'maxOutputTokens'>,
): Record<string, unknown> {
  const { model, stream = true, maxTokensField = 'max_completion_tokens' } = options;
  const { tools, maxOutputTokens } = request;
  return {
    model,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: plain(inputSchema) },
          })),
        }),
    messages: request.messages.map((message) => wireMessage(message, options.contentParts ?? true)),
    ...(options.parameters === undefined ? {} : Object(plain(options.parameters))),
    ...(maxOutputTokens === undefined ? {} : { [maxTokensField]: maxOutputTokens }),
  };
}

const KEY_VARIABLE = 'OPENAI_API_KEY';

const RESERVED = ['model', 'messages', 'tools', 'stream', 'stream_options', 'n'];

function wireMessage(message: Message, contentParts: boolean): object {
  if (message.role === 'tool') {
    const content = toolContent(message.content, message.note, contentParts);
    return { role: 'tool', tool_call_id: message.callId, content };
  }
  const { role, content } = message;
  if (role !== 'assistant' || message.toolCalls.length === 0) return { role, content };
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    // No arguments at all mean none; many servers parse what they are sent back.
    function: { name: call.name, arguments: (call.raw ?? canonicalJson(call.arguments)) || '{}' },
  }));
  return { role, content: content === '' ? null : content, tool_calls: calls };
}

function toolContent(content: string, note: string | undefined, contentParts: boolean): unknown {
  if (note === undefined) return content;
  if (!contentParts) return `${content}\n\n${note}`;
  return [
    { type: 'text', text: content },
    { type: 'text', text: note },
  ];
}

async function attempt(
  completions: OpenAIClient['chat']['completions'],
  body: object,
  request: ModelRequest,
  context: ExchangeContext,
): Promise<ModelReply> {
  const collector = new OpenAICollector(request.onDelta);
  await exchange(
    request.signal,
    (signal) =>
      completions
        // See OpenAIClient: the SDK's type of a body can't be named.
        .create(body as never, { signal, maxRetries: 0, timeout: NO_TIMEOUT_MS })
        .asResponse(),
    collector,
    context,
  );
  return collector.reply();
}

async function createClient(
  options: OpenAIOptions,
  context: ExchangeContext,
): Promise<OpenAIClient> {
  const { apiKey, baseURL } = options;
  const { OpenAI } = await loadPeer('openai', options.sdk ?? (() => import('openai')));
  const isKeyless = baseURL !== undefined && environment(KEY_VARIABLE) === undefined;
  const key = apiKey ?? (isKeyless ? 'none' : undefined);
  return construct(context, () => {
    return new OpenAI({
      ...(key === undefined ? {} : { apiKey: key }),
      ...(baseURL === undefined ? {} : { baseURL }),
    });
  });
}
