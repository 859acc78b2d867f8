/**
 * The part of the AI SDK's language model interface that is used here, as it is in its versions 2, 3
 * and 4. Structural on purpose: the interface had three majors in two years, and several copies of it
 * may be installed.
 *
 * @module
 */

/** JSON as the interface has it. It isn't read-only there, so it can't be here. */
export type PlainJson =
  | null
  | boolean
  | number
  | string
  | PlainJson[]
  | { [key: string]: PlainJson };

/** Data for the provider that goes with a call or a part, by provider name. */
export type ProviderOptions = { [provider: string]: { [key: string]: PlainJson } };

/** A part of a prompt message. */
export type PromptPart =
  | { type: 'text'; text: string; providerOptions?: ProviderOptions }
  | { type: 'reasoning'; text: string; providerOptions?: ProviderOptions }
  | {
      type: 'tool-call';
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerOptions?: ProviderOptions;
    };

/** What a tool gave. These forms are the same in all three versions. */
export type ToolOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'error-json'; value: { error: string; note: string } }
  | { type: 'content'; value: { type: 'text'; text: string }[] };

/** A tool's result in a prompt. */
export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: ToolOutput;
}

/** A message of a prompt. */
export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: { type: 'text'; text: string }[] }
  | { role: 'assistant'; content: PromptPart[] }
  | { role: 'tool'; content: ToolResultPart[] };

/** Settings that are handed to the model as they are. */
export interface AiSdkSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: string[];
  readonly seed?: number;
  readonly headers?: Record<string, string | undefined>;
}

/** The options of a call that are used here. */
export interface AiSdkCallOptions extends AiSdkSettings {
  prompt: PromptMessage[];
  tools?: { type: 'function'; name: string; description: string; inputSchema: object }[];
  toolChoice?: { type: 'auto' };
  maxOutputTokens?: number;
  abortSignal?: AbortSignal;
  providerOptions?: ProviderOptions;
}

/** A language model of the AI SDK. What it returns is checked when it comes, so its types say little. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCallOptions): PromiseLike<object>;
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** The members of something that a model returned; none if it isn't an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? // Every object can be read by key.
      (value as Readonly<Record<string, unknown>>)
    : {};
}
