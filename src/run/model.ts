/**
 * The model's side of the loop: what it is asked, and what it answers.
 *
 * @module
 */
import { type JsonObject, type JsonValue } from '../transcript/index.ts';
import { type Usage } from './usage.ts';

/** A tool call as the model made it. */
export interface ToolCall {
  /** Unique in the run. */
  readonly id: string;
  readonly name: string;
  /** The parsed arguments; `{}` where the model's text was not a JSON object. */
  readonly arguments: JsonObject;
  /** The model's own text, present whenever `arguments` in canonical spelling isn't that very text. */
  readonly raw?: string;
}

/** One entry of the conversation that a model is given. All of it is frozen. */
export type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls: readonly ToolCall[];
      /** What the adapter asked to have back unchanged (signed reasoning and the like). */
      readonly provider?: JsonValue;
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly ok: boolean;
      /** The value, as text: a string as it is, anything else as canonical JSON; or the error. */
      readonly content: string;
      /** The framework's sentence about this result. It is shown beside the content, not in it. */
      readonly note?: string;
    };

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments, an object. */
  readonly inputSchema: JsonObject;
}

/** What a model is asked. */
export interface ModelRequest {
  /**
   * The conversation so far. The array is the loop's own and grows after the call: a model must not
   * change it, and copies it to keep it.
   */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** The most output tokens that the budget leaves; undefined without a token or cost budget. */
  readonly maxOutputTokens: number | undefined;
  /** Seconds that the time budget leaves; undefined without one. Waits for retries must fit in it. */
  readonly secondsLeft: number | undefined;
  /** Aborted when the run is, when the time budget ends, and when the model was silent too long. */
  readonly signal: AbortSignal;
  /**
   * Whether the budgets leave room for a further request after these attempts (or paid parts of a turn).
   * An adapter asks before it retries or continues.
   */
  readonly affords: (attempts: readonly FailedAttempt[]) => boolean;
  /** Is told of a wait on purpose, as before a retry: so much silence, in milliseconds, is no stall. */
  readonly onWait: (milliseconds: number) => void;
  /** Takes output as it streams. It feeds events and the idle limit, and is not the record. */
  readonly onDelta: (delta: Delta) => void;
}

/** A piece of output that streamed in. */
export interface Delta {
  readonly kind: 'text' | 'reasoning' | 'arguments';
  readonly text: string;
}

/** A tool call in a reply, before the loop has looked at it. */
export interface ReplyCall {
  /** The provider's id; a missing, empty or repeated one is replaced by a deterministic one. */
  readonly id?: string | number | null | undefined;
  readonly name: string;
  /** JSON text as the model wrote it, or an object where the provider parsed it already. */
  readonly arguments: string | JsonObject;
}

/**
 * Why the model stopped. `length`: the output limit cut it. `refused`: it, or a filter, declined.
 * Whether it asks for tools is decided by its calls alone, as providers' own words for that are unreliable.
 */
export type ReplyStop = 'end' | 'length' | 'refused';

/** An attempt that failed before the reply came; its cost is charged too. */
export interface FailedAttempt {
  readonly error: string;
  /**
   * What it used, as far as the provider said so; null if it may have cost something and nobody counted,
   * undefined if it can't have cost.
   */
  readonly usage?: Usage | null;
  /** Code points of output that had streamed in: what is unknown of the output is estimated from them. */
  readonly streamed?: number;
}

/** What a model answers. */
export interface ModelReply {
  readonly content: string;
  readonly toolCalls?: readonly ReplyCall[];
  readonly usage?: Usage | null;
  /** Default `end`. */
  readonly stop?: ReplyStop;
  /** Opaque data that the adapter wants back in the next request. It is recorded. */
  readonly provider?: JsonValue;
  /** Attempts before this one, oldest first. */
  readonly failedAttempts?: readonly FailedAttempt[];
}

/** US dollars for a million tokens of each kind; `reasoning` defaults to `output`, caches to `input`. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

/**
 * A model: any function from request to reply.
 *
 * Contract: it may be called again only after it settled. It throws when there is no reply; the run then
 * ends with `model_error` and the error's message. It watches `signal`, but the loop doesn't rely on it.
 */
export interface Model {
  (request: ModelRequest): Promise<ModelReply> | ModelReply;
  /** What the record calls it, as `openai:gpt-5`. Default `custom`. */
  readonly id?: string;
  readonly price?: Price;
}

/**
 * A model has no reply to give. `failedAttempts` tells what was tried, so that it is charged.
 * An adapter throws it so that the message is fit for the record: no stack, no key, no path.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failedAttempts: readonly FailedAttempt[];

  constructor(
    message: string,
    failedAttempts: readonly FailedAttempt[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.failedAttempts = failedAttempts;
  }
}
