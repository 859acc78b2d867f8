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
import { type JsonObject } from '../transcript/index.ts';
import { AnthropicCollector, type AnthropicReply } from './anthropic-reply.ts';
import { wireConversation } from './anthropic-request.ts';
import { exchange, type RawAnswer, type SendOptions } from './exchange.ts';
import { COUNT } from './options.ts';
import { loadPeer, sdkModel, type AdapterOptions, type Link, type SdkClient } from './peer.ts';
import { AttemptError, withRetries, type Attempt } from './retry.ts';
import { sumOfUsage } from './usage.ts';
import { plain } from './wire.ts';

/** What we use of the `@anthropic-ai/sdk` package's clients: `Anthropic`, `AnthropicBedrock` and so on. */
export interface AnthropicClient extends SdkClient {
  readonly messages: {
    // The SDK's own type of a body can't be named here, as the package is optional.
    create(body: never, options: SendOptions): RawAnswer;
  };
}

/** Options of {@link anthropic}. */
export interface AnthropicOptions extends AdapterOptions<AnthropicClient> {
  /** The most output tokens of a turn, which the API must be told; a budget may leave less. Default 8192. */
  readonly maxOutputTokens?: number;
}

/** How often a turn that the provider paused is sent back to be continued. */
const MAX_PAUSES = 5;

/**
 * A model behind the Anthropic Messages API. Needs the package `@anthropic-ai/sdk`, loaded at the first call.
 *
 * A turn with signed thinking keeps its blocks in `ModelReply.provider` and gets them back unchanged.
 *
 * A tool's input is the model's own text if the answer streams. If it doesn't, the API has parsed
 * it: the order of keys (but for those that are whole numbers) and the spelling of numbers are kept, white
 * space is not.
 *
 * @throws {TypeError | RangeError} if an option isn't usable.
 */
export function anthropic(options: AnthropicOptions): Model {
  const provider = {
    name: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    options: { maxOutputTokens: COUNT },
    async connect(): Promise<AnthropicClient> {
      const sdk = await loadPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
      const { apiKey, baseURL } = options;
      return new sdk.Anthropic({ apiKey, baseURL: baseURL?.toString() });
    },
  };
  return sdkModel(provider, options, (request, link) => turn(options, request, link));
}

/** One turn: a request, and those that continue it where the provider paused. */
async function turn(
  options: AnthropicOptions,
  request: ModelRequest,
  link: Link<AnthropicClient>,
): Promise<ModelReply> {
  const parts: AnthropicReply[] = [];
  // The parts as attempts: their cost is known, but no reply has come of them yet.
  const paid: FailedAttempt[] = [];
  const { messages } = link.client;
  const affords = (failed: readonly FailedAttempt[]): boolean =>
    request.affords([...paid, ...failed]);
  const toTheEnd = async (attempt: Attempt): Promise<ModelReply> => {
    for (;;) {
      const body = requestBody(options, request, parts);
      const collector = new AnthropicCollector(attempt.onDelta);
      // See AnthropicClient for the type of the body.
      const send = (how: SendOptions): RawAnswer => messages.create(body as never, how);
      await exchange(request.signal, send, collector, link);
      const part = collector.reply();
      const { usage } = part;
      parts.push(part);
      paid.push({ error: 'paused by the provider', usage, streamed: attempt.streamed });
      attempt.streamed = 0;
      if (part.stop !== 'pause') return replyOf(parts, part.stop);
      if (outputLeft(options, request, parts) < 1 || !affords(attempt.failed)) {
        return replyOf(parts, 'length');
      }
      if (parts.length > MAX_PAUSES) {
        const message = `the provider paused the turn ${parts.length} times without an end`;
        throw new AttemptError({ message, retryable: false });
      }
    }
  };
  try {
    const { secondsLeft, signal, onWait, onDelta } = request;
    return await withRetries(
      link.policy,
      { secondsLeft, signal, onWait, onDelta, affords },
      toTheEnd,
    );
  } catch (error) {
    if (!(error instanceof ModelError) || parts.length === 0) throw error;
    // What the parts before a failure used is charged with it.
    throw new ModelError(error.message, [...paid, ...error.failedAttempts], { cause: error });
  }
}

/** What the turn may still write, as far as its parts say what they have. */
function outputLeft(
  { maxOutputTokens: most = 8192 }: AnthropicOptions,
  { maxOutputTokens: left = most }: ModelRequest,
  parts: readonly AnthropicReply[],
): number {
  const used = parts.map(({ usage }) => (usage?.output ?? 0) + (usage?.reasoning ?? 0));
  return used.reduce((rest, tokens) => rest - tokens, Math.min(most, left));
}

/** The messages come before what changes from turn to turn, as prompt caches need. */
function requestBody(
  options: AnthropicOptions,
  request: ModelRequest,
  parts: readonly AnthropicReply[],
): object {
  const { model, stream = true } = options;
  const { tools, messages: said } = request;
  const { system, messages } = wireConversation(
    said,
    parts.map(({ blocks }) => blocks),
  );
  const specs = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: plain(inputSchema),
  }));
  return {
    model,
    ...(stream ? { stream } : {}),
    ...(specs.length === 0 ? {} : { tools: specs }),
    ...(system === undefined ? {} : { system }),
    messages,
    // The API takes no 0.
    max_tokens: Math.max(1, outputLeft(options, request, parts)),
  };
}

function replyOf(
  parts: readonly AnthropicReply[],
  stop: Exclude<AnthropicReply['stop'], 'pause'>,
): ModelReply {
  const blocks = parts.flatMap((part) => part.blocks);
  return {
    content: parts.map(({ content }) => content).join(''),
    toolCalls: parts.flatMap(({ toolCalls }) => toolCalls),
    usage: sumOfUsage(parts.map(({ usage }) => usage)),
    stop,
    ...(blocks.some(isOpaque) ? { provider: { blocks } } : {}),
  };
}

/** Blocks that can't be made again from content and calls: thinking with its signature, server tools. */
function isOpaque(block: JsonObject): boolean {
  return block['type'] !== 'text' && block['type'] !== 'tool_use';
}
