/**
 * Any language model of the AI SDK, as a model of ours: Gemini, Bedrock, Azure and the rest without
 * code of our own for each.
 *
 * The interface re-writes arguments and hides the provider's bytes, so what a transcript records of such
 * a model is what the SDK made of the answer.
 *
 * @module
 */
import { type Model, type ModelReply, type ModelRequest, type Price } from '../run/model.ts';
import { thrownError } from './ai-sdk-error.ts';
import { prompt } from './ai-sdk-prompt.ts';
import { fromResult, replyOf, StreamParts, type Collected } from './ai-sdk-reply.ts';
import {
  membersOf,
  type AiSdkCallOptions,
  type AiSdkModel,
  type AiSdkSettings,
  type ProviderOptions,
} from './ai-sdk-types.ts';
import { AttemptError, retryPolicy, withRetries, type RetryOptions } from './retry.ts';
import { plain } from './wire.ts';

export { type AiSdkModel, type AiSdkSettings } from './ai-sdk-types.ts';

/** Settings of {@link fromAiSdk}. */
export interface AiSdkOptions extends RetryOptions {
  /** What a run with a cost budget charges. */
  readonly price?: Price;
  /** Whether answers are streamed, which the idle limits need. Default true. */
  readonly stream?: boolean;
  /** The most output tokens of one answer. Some providers take the model's maximum if none is given. */
  readonly maxOutputTokens?: number;
  /** Temperature and the like, handed on as they are. */
  readonly settings?: AiSdkSettings;
  /** Options for the provider, by its name. */
  readonly providerOptions?: ProviderOptions;
}

const VERSIONS: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

/**
 * A model of the AI SDK (specification v2, v3 or v4), as in `fromAiSdk(google('gemini-2.5-flash'))`.
 *
 * Files, sources and tools that the provider runs itself are passed over: a record holds text and the
 * calls that the run answers.
 *
 * @throws {TypeError} if it isn't one, or an option can't be used.
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkModel(model);
  checkLimit(options.maxOutputTokens);
  const policy = retryPolicy(options);
  const { price, stream = true } = options;
  const now = (): number => policy.clock.now();

  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    const call = callOptions(request, options, model.provider);
    return withRetries(policy, request, async () => {
      try {
        const collected = stream
          ? await streamed(model, call, request)
          : fromResult(await model.doGenerate(call));
        return replyOf(collected, model.provider, now);
      } catch (error) {
        if (request.signal.aborted) throw aborted(error);
        throw thrownError(error, now);
      }
    });
  };
  const id = `ai-sdk:${model.provider}:${model.modelId}`;
  return Object.assign(answer, { id }, price === undefined ? {} : { price });
}

function callOptions(
  request: ModelRequest,
  options: AiSdkOptions,
  provider: string,
): AiSdkCallOptions {
  const limits = [request.maxOutputTokens, options.maxOutputTokens].filter((n) => n !== undefined);
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: membersOf(plain(inputSchema)),
  }));
  return {
    ...options.settings,
    prompt: prompt(request.messages, provider),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } }),
    ...(limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }),
    ...(options.providerOptions === undefined ? {} : { providerOptions: options.providerOptions }),
    abortSignal: request.signal,
  };
}

async function streamed(
  model: AiSdkModel,
  call: AiSdkCallOptions,
  { signal, onDelta }: ModelRequest,
): Promise<Collected> {
  const { stream } = await model.doStream(call);
  const parts = new StreamParts(onDelta);
  const reader = stream.getReader();
  // Also ends a read that waits, so that an aborted run leaves no connection behind.
  const cancel = (): void => {
    reader.cancel().catch(() => {});
  };
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || parts.take(value)) return parts.collected();
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function aborted(cause: unknown): AttemptError {
  return new AttemptError({ message: 'aborted', retryable: false, usage: null }, { cause });
}

function checkModel(model: unknown): void {
  const { specificationVersion, provider, modelId, doGenerate, doStream } = membersOf(model);
  if (!VERSIONS.has(specificationVersion)) {
    const got =
      typeof model === 'string'
        ? `the name ${JSON.stringify(model)}; make the model with its provider's package`
        : `specificationVersion ${String(specificationVersion)}`;
    throw new TypeError(
      `fromAiSdk: expected a language model of the AI SDK (v2, v3 or v4), got ${got}`,
    );
  }
  if (typeof provider !== 'string' || typeof modelId !== 'string') {
    throw new TypeError('fromAiSdk: the model has no provider or no modelId');
  }
  if (typeof doGenerate !== 'function' || typeof doStream !== 'function') {
    throw new TypeError('fromAiSdk: not a language model: it has no doGenerate or no doStream');
  }
}

function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new TypeError(`maxOutputTokens: expected an integer of at least 1, got ${limit}`);
  }
}
