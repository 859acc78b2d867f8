/**
 * What a stub provider is told to answer: turns, and the faults and quirks of real servers.
 *
 * @module
 */
import { type Usage } from '../run/usage.ts';
import { type JsonValue } from '../transcript/index.ts';

/** A tool call that the stub makes. */
export interface StubCall {
  /** Default: made up from the number of the answer and of the call. */
  readonly id?: string;
  readonly name: string;
  /** Arguments as text, sent as it is, or as an object. */
  readonly arguments: string | { readonly [key: string]: unknown };
}

/** Token counts, disjoint as in `Usage`; what is left out isn't reported. */
export type StubUsage = { readonly [counter in keyof Usage]?: number };

/** One answer. */
export interface StubTurn {
  readonly content?: string;
  readonly toolCalls?: readonly StubCall[];
  readonly reasoning?: string;
  /** Default: 10 in, 5 out. */
  readonly usage?: StubUsage;
  /** The `usage` member as it is sent, however wrong. */
  readonly rawUsage?: unknown;
  /** Default `end`. `pause` is Anthropic's `pause_turn`. */
  readonly stop?: 'end' | 'length' | 'refused' | 'pause';
  readonly fault?: StubFault;
  readonly quirks?: readonly StubQuirk[];
}

/** What goes wrong with an answer. Events are counted as they are sent, heartbeats aside. */
export type StubFault =
  /** An error instead of the answer. */
  | ({ readonly kind: 'status'; readonly headers?: Readonly<Record<string, string>> } & ErrorWords)
  /** The connection is closed before anything is answered. */
  | { readonly kind: 'drop' }
  /** The connection is closed in the middle: after so many events, or bytes of the body. */
  | { readonly kind: 'cut'; readonly afterEvents: number }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The stream ends in good order, but too early. */
  | { readonly kind: 'short'; readonly afterEvents: number }
  /** An error event in the middle of a stream. */
  | ({ readonly kind: 'error-event'; readonly afterEvents: number } & Omit<ErrorWords, 'status'>)
  /** Nothing more comes, and the connection stays open. With 0 events only the headers come. */
  | { readonly kind: 'silence'; readonly afterEvents: number }
  /** So many heartbeats come, then silence. */
  | { readonly kind: 'pings'; readonly count: number }
  /** The first byte takes that long. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** Status 200 with an error in the body, as some proxies answer. */
  | { readonly kind: 'error-body'; readonly error: JsonValue }
  /** An answer without choices or content. */
  | { readonly kind: 'empty' }
  /** Status 200 with that text for a body. */
  | { readonly kind: 'text'; readonly body: string };

/** An error that says `stub fault` unless it is told otherwise. */
type ErrorWords = Omit<StubError, 'message'> & { readonly message?: string };

/** A server's own way with a good answer. Most are of OpenAI-compatible servers. */
export type StubQuirk =
  /** Calls have no id (Ollama, GLM). */
  | 'no-id'
  /** The id comes with the second delta of a call. */
  | 'late-id'
  /** Later deltas of a call say `id: ""` and `name: ""`. */
  | 'empty-id'
  | 'numeric-id'
  | 'no-index'
  /** Every call has index 0 and comes in one piece. */
  | 'same-index'
  /** Arguments are an object, not its text. */
  | 'arguments-object'
  | 'no-usage'
  /** `finish_reason` is `stop` although there are calls. */
  | 'finish-stop'
  | 'no-finish'
  | 'no-done'
  /** A filter stopped it. */
  | 'content-filter'
  /** `tool_calls` is null where there are none. */
  | 'null-tool-calls'
  /** Content is a list of parts. */
  | 'content-parts'
  /** Comments and pings between the events. */
  | 'heartbeats';

/** A request as it came in. */
export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body's own text. */
  readonly text: string;
  /** The body, parsed; undefined if it isn't JSON. */
  readonly body: JsonValue | undefined;
  /** Why it was refused, if it was. */
  readonly refused: string | undefined;
}

/** A turn, or what makes one from the request. */
export type StubAnswer = StubTurn | ((request: StubRequest) => StubTurn);

/** What a wire format is given to write an answer. */
export interface AnswerContext {
  /** The number of the request, from 1: ids are made from it. */
  readonly number: number;
  readonly body: JsonValue | undefined;
}

/** An error as a provider says it. */
export interface StubError {
  readonly status: number;
  readonly message: string;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
}

/** One provider's wire format. */
export interface WireFormat {
  /** What a real provider would refuse the request for; null if nothing. */
  check(request: StubRequest): StubError | null;
  error(error: StubError, context: AnswerContext): JsonValue;
  whole(turn: StubTurn, context: AnswerContext): unknown;
  /** The events of a stream, each with its end. */
  events(turn: StubTurn, context: AnswerContext): readonly string[];
  errorEvent(error: StubError, context: AnswerContext): string;
  readonly heartbeat: string;
  readonly requestIdHeader: string;
}

/** What providers take for a tool's name, also in the history of calls. */
export const TOOL_NAME: RegExp = /^[a-zA-Z0-9_-]{1,64}$/;

/** What a turn uses by default. */
export const DEFAULT_USAGE: StubUsage = { input: 10, output: 5 };

/** Whether a turn has a quirk. */
export function hasQuirk(turn: StubTurn, quirk: StubQuirk): boolean {
  return turn.quirks?.includes(quirk) ?? false;
}

/** A text in pieces, as models stream it: a few code points each. */
export function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,6}/gu) ?? [];
}

/** A call's arguments as text. */
export function argumentsText(call: StubCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}
