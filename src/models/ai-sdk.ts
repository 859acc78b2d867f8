/**
 * Any language model of the AI SDK, as a model of ours: Gemini, Bedrock, Azure and the rest without
 * code of our own for each.
 *
 * The interface re-writes arguments and hides the provider's bytes, so what a transcript records of such
 * a model is what the SDK made of the answer. It had three majors in two years and several copies may be
 * installed, so only what is used of it is named here, and what it returns is checked.
 *
 * @module
 */
import { type Model, type ModelReply, type ModelRequest, type Price } from '../run/model.ts';
import { prompt } from './ai-sdk-prompt.ts';
import { replyOf, resultParts, StreamParts, type Collected } from './ai-sdk-reply.ts';
import { abortedRequest, requestError } from './failure.ts';
import {
  checkMembers,
  checkOptions,
  FLAG,
  isObject,
  isString,
  MODEL_OPTIONS,
  type Shape,
} from './options.ts';
import {
  AttemptError,
  RETRY_OPTIONS,
  retryPolicy,
  untilAborted,
  withRetries,
  type RetryOptions,
} from './retry.ts';
import { plain } from './wire.ts';

/** What a model of the AI SDK is asked: the options of a call that are the same in v2, v3 and v4. */
export interface AiSdkCallOptions {
  prompt: object[];
  tools?: object[];
  toolChoice?: { type: 'auto' };
  maxOutputTokens?: number;
  abortSignal?: AbortSignal;
}

/** A language model of the AI SDK, as its packages make it: `google('gemini-2.5-flash')`. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  // They take AiSdkCallOptions, which each version types in its own way.
  doGenerate(options: never): PromiseLike<object>;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** Settings of {@link fromAiSdk}. The model's own (temperature and the like) are set in the AI SDK. */
export interface AiSdkOptions extends RetryOptions {
  /** What a run with a cost budget charges. */
  readonly price?: Price;
  /** Whether answers are streamed, which the idle limits need. Default true. */
  readonly stream?: boolean;
}

const OPTIONS: Shape = { stream: FLAG, ...RETRY_OPTIONS, ...MODEL_OPTIONS };

const LANGUAGE_MODEL: Shape = {
  specificationVersion: ['v2, v3 or v4', (value) => ['v2', 'v3', 'v4'].includes(String(value))],
  provider: ['a string', isString],
  modelId: ['a string', isString],
  doGenerate: ['a method', isFunction],
  doStream: ['a method', isFunction],
};

/**
 * A model of the AI SDK (specification v2, v3 or v4), as in `fromAiSdk(google('gemini-2.5-flash'))`.
 *
 * Files, sources and tools that the provider runs itself are passed over: a record holds text and the
 * calls that the run answers.
 *
 * @throws {TypeError | RangeError} if it isn't one, or an option can't be used.
 */
export function fromAiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkModel(model);
  checkOptions('fromAiSdk', options, OPTIONS);
  const policy = retryPolicy(options);
  const { price, stream = true } = options;
  // The SDK holds the keys, so none can be named here; those of known form are masked all the same.
  const context = { secrets: [], clock: policy.clock };

  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    // See AiSdkModel: each version has its own type of the same options.
    const call = callOptions(request, model.provider) as never;
    return withRetries(policy, request, async (attempt) => {
      const { signal } = request;
      const parts = new StreamParts(attempt.onDelta);
      try {
        const answered = stream
          ? streamed(model, call, signal, parts)
          : Promise.resolve(model.doGenerate(call)).then(resultParts);
        return replyOf(await untilAborted(signal, answered), model.provider, context);
      } catch (error) {
        if (signal.aborted) throw abortedRequest(error, null);
        const { failure } = requestError(error, context);
        const usage = parts.begun ? (failure.usage ?? null) : failure.usage;
        throw new AttemptError({ ...failure, usage }, { cause: error });
      }
    });
  };
  const id = `ai-sdk:${model.provider}:${model.modelId}`;
  return Object.assign(answer, { id }, price === undefined ? {} : { price });
}

function callOptions(request: ModelRequest, provider: string): AiSdkCallOptions {
  const { messages, maxOutputTokens, signal } = request;
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema: plain(inputSchema),
  }));
  return {
    prompt: prompt(messages, provider),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    abortSignal: signal,
  };
}

async function streamed(
  model: AiSdkModel,
  call: never,
  signal: AbortSignal,
  parts: StreamParts,
): Promise<Collected> {
  const { stream } = await model.doStream(call);
  parts.begun = true;
  const reader = stream.getReader();
  // Also ends a read that waits, so that an aborted run leaves no connection behind.
  const cancel = (): void => {
    reader.cancel().catch(() => {});
  };
  signal.addEventListener('abort', cancel);
  // It may have been aborted while the stream was awaited.
  if (signal.aborted) cancel();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || parts.take(value)) return parts;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function checkModel(model: unknown): void {
  if (isObject(model)) return checkMembers(model, LANGUAGE_MODEL);
  const got = isString(model)
    ? `the name ${JSON.stringify(model)}; make the model with its provider's package`
    : String(model);
  throw new TypeError(`fromAiSdk: expected a language model of the AI SDK, got ${got}`);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
