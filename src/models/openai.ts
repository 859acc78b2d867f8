/**
 * Models behind the OpenAI Chat Completions API, and behind the many servers that speak it.
 *
 * @module
 */
import { type Message, type Model, type ModelRequest } from '../run/model.ts';
import { canonicalJson } from '../transcript/index.ts';
import { exchange, type RawAnswer, type SendOptions } from './exchange.ts';
import { OpenAICollector } from './openai-reply.ts';
import { FLAG, orAbsent } from './options.ts';
import { environment, loadPeer, sdkModel, type AdapterOptions, type SdkClient } from './peer.ts';
import { AttemptError, withRetries } from './retry.ts';
import { plain, wireName } from './wire.ts';

/** What we use of the `openai` package's clients: `OpenAI`, `AzureOpenAI` and their like. */
export interface OpenAIClient extends SdkClient {
  readonly chat: {
    readonly completions: {
      // The SDK's own type of a body can't be named here, as the package is optional.
      create(body: never, options: SendOptions): RawAnswer;
    };
  };
}

/** Options of {@link openai}. */
export interface OpenAIOptions extends AdapterOptions<OpenAIClient> {
  /** How the limit on output is called: older compatible servers know `max_tokens` only. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /**
   * Notes go beside tool results as text parts. Default true; false for servers that take strings only,
   * which get the note below the result, after an empty line.
   */
  readonly contentParts?: boolean;
}

const OPTIONS = {
  maxTokensField: ['max_completion_tokens or max_tokens', orAbsent(isLimitField)],
  contentParts: FLAG,
} as const;

function isLimitField(value: unknown): boolean {
  return value === 'max_completion_tokens' || value === 'max_tokens';
}

const KEY_VARIABLE = 'OPENAI_API_KEY';

/**
 * A model behind the OpenAI Chat Completions API. Needs the package `openai`, loaded at the first call.
 *
 * Reasoning that a compatible server shows is kept in `ModelReply.provider`, for the record. It isn't sent
 * back: such servers ignore or refuse it.
 *
 * Servers that need no key take any: with a `baseURL`, no `apiKey` and no `OPENAI_API_KEY`, `none` is sent.
 *
 * @throws {TypeError | RangeError} if an option isn't usable.
 */
export function openai(options: OpenAIOptions): Model {
  const provider = {
    name: 'openai',
    keyVariable: KEY_VARIABLE,
    options: OPTIONS,
    async connect(): Promise<OpenAIClient> {
      const { OpenAI } = await loadPeer('openai', () => import('openai'));
      const baseURL = options.baseURL?.toString();
      const isKeyless = baseURL !== undefined && environment(KEY_VARIABLE) === undefined;
      return new OpenAI({ baseURL, apiKey: options.apiKey ?? (isKeyless ? 'none' : undefined) });
    },
  };
  /** The least limit on output that the server has refused as beyond its model. */
  let beyond = Infinity;
  return sdkModel(provider, options, (request, link) =>
    withRetries(link.policy, request, async ({ onDelta }) => {
      const { maxOutputTokens: left = Infinity } = request;
      const limit = left < beyond ? left : Infinity;
      const maxOutputTokens = limit === Infinity ? undefined : limit;
      const body = requestBody(options, { ...request, maxOutputTokens });
      const collector = new OpenAICollector(onDelta);
      const { completions } = link.client.chat;
      // See OpenAIClient for the type of the body.
      const send = (how: SendOptions): RawAnswer => completions.create(body as never, how);
      try {
        await exchange(request.signal, send, collector, link);
      } catch (error) {
        if (limit === Infinity || !isBeyondModel(error)) throw error;
        beyond = limit;
        throw new AttemptError({ ...error.failure, retryable: true }, { cause: error });
      }
      return collector.reply();
    }),
  );
}

/**
 * Whether a server refused a limit on output because its model can't write as much: what a large budget leaves
 * often is more. Without the limit the model can't write as much either, so the budget holds.
 */
function isBeyondModel(error: unknown): error is AttemptError {
  if (!(error instanceof AttemptError)) return false;
  const { message } = error.failure;
  const isRefusal = /\b400\b/.test(message);
  const isLimit = /max_(?:completion_)?tokens|maximum context length.*completion/s.test(message);
  return isRefusal && isLimit && /too large|at most|maximum|exceed|less than/.test(message);
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
  const specs = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: plain(inputSchema) },
  }));
  return {
    model,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(specs.length === 0 ? {} : { tools: specs }),
    messages: request.messages.map((message) => wireMessage(message, options.contentParts ?? true)),
    ...(maxOutputTokens === undefined ? {} : { [maxTokensField]: maxOutputTokens }),
  };
}

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
    function: {
      name: wireName(call.name),
      arguments: (call.raw ?? canonicalJson(call.arguments)) || '{}',
    },
  }));
  return { role, content: content === '' ? null : content, tool_calls: calls };
}

function toolContent(content: string, note: string | undefined, contentParts: boolean): unknown {
  if (note === undefined) return content;
  if (!contentParts) return `${content}\n\n${note}`;
  return [content, note].map((text) => ({ type: 'text', text }));
}
