/**
 * What an AI SDK model answers, whole or streamed, made a reply of ours.
 *
 * @module
 */
import { type Delta, type ModelReply, type ReplyStop } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import { canonicalJson, type JsonObject } from '../transcript/index.ts';
import { carried, type ReplyPart } from './ai-sdk-prompt.ts';
import { deliver } from './exchange.ts';
import { bodyError, brokenReply, type FailureContext } from './failure.ts';
import { AttemptError } from './retry.ts';
import { aiSdkUsage } from './usage.ts';
import { membersOf, text } from './wire.ts';

type Members = Readonly<Record<string, unknown>>;

/** What came of an answer. */
export interface Collected {
  readonly parts: readonly ReplyPart[];
  /** The `finish` part of a stream, or the result itself; undefined if the stream ended without. */
  readonly finish: Members | undefined;
  /** The first `error` part, after which a `finish` may follow all the same. */
  readonly failed: Members | undefined;
}

/** The answer of `doGenerate`. */
export function resultParts(result: unknown): Collected {
  const finish = membersOf(result);
  const { content } = finish;
  if (!Array.isArray(content)) throw unusable('something without content');
  const parts = content.map((item: unknown) => contentPart(membersOf(item)));
  return { parts: parts.filter((part) => part !== null), finish, failed: undefined };
}

/** The answer of `doStream`, as it comes. */
export class StreamParts implements Collected {
  readonly parts: ReplyPart[] = [];
  finish: Members | undefined;
  failed: Members | undefined;
  /** Whether the provider had begun to answer: what it used is then unknown, not nothing. */
  begun = false;
  readonly #onDelta: (delta: Delta) => void;
  readonly #open = new Map<string, ReplyPart>();

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  /** Takes one part; returns whether it was the last. Parts it doesn't know are passed over. */
  take(value: unknown): boolean {
    const part = membersOf(value);
    const [, type, step] = /^(text|reasoning)-(start|delta|end)$/.exec(String(part['type'])) ?? [];
    if (type === 'text' || type === 'reasoning') this.#grow(type, step === 'start', part);
    if (part['type'] === 'tool-input-delta') this.#deliver('arguments', part);
    if (part['type'] === 'tool-call') {
      const call = contentPart(part);
      if (call !== null) this.parts.push(call);
    }
    if (part['type'] === 'error') this.failed ??= part;
    if (part['type'] !== 'finish') return false;
    this.finish = part;
    return true;
  }

  /** Providers use an id again for the next block, so a start always opens a new one. */
  #grow(type: 'text' | 'reasoning', isStart: boolean, part: Members): void {
    const key = `${type}:${String(part['id'])}`;
    let open = isStart ? undefined : this.#open.get(key);
    if (open === undefined) {
      open = { type, text: '' };
      this.parts.push(open);
      this.#open.set(key, open);
    }
    open.text += this.#deliver(type, part);
    open.metadata = metadata(part) ?? open.metadata;
  }

  #deliver(kind: Delta['kind'], { delta }: Members): string {
    return deliver(this.#onDelta, kind, typeof delta === 'string' ? delta : '');
  }
}

/**
 * The reply that was collected.
 *
 * @throws {AttemptError} if it failed, broke off, or ended in an error of the model.
 */
export function replyOf(
  { parts, finish, failed }: Collected,
  provider: string,
  context: FailureContext,
): ModelReply {
  const usage = finish === undefined ? null : aiSdkUsage(finish['usage']);
  if (failed !== undefined) throw bodyError(failed['error'], null, usage, context);
  if (finish === undefined) throw brokenReply('the answer broke off before its end', null);
  const stop = stopOf(finish['finishReason'], usage);
  const whole = parts
    // Without the lone surrogates that a stream cut in the middle of a character leaves.
    .map((part) => ({ ...part, text: part.text.toWellFormed() }))
    .filter((part) => !isEmpty(part));
  const data = carried(provider, whole);
  return {
    content: whole.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: whole.flatMap(({ call }) => call ?? []),
    usage,
    stop,
    ...(data === undefined ? {} : { provider: data }),
  };
}

/** v2 gives a word; v3 and v4 give theirs as `unified` and the provider's as `raw`. */
function stopOf(reason: unknown, usage: Usage | null): ReplyStop {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason } : membersOf(reason);
  // Gemini's words for a call that it began and could not make; there is nothing to run.
  const malformed = /^(MALFORMED|UNEXPECTED_TOOL|TOO_MANY_TOOL)/.test(String(raw));
  let problem = '';
  if (malformed || unified === 'error') problem = 'the model ended its answer with an error';
  if (unified === 'interrupted') problem = 'the answer was interrupted';
  const detail = text(raw) === '' ? '' : ` (${text(raw)})`;
  if (problem !== '') throw brokenReply(`${problem}${detail}`, null, usage);
  if (unified === 'length') return 'length';
  return unified === 'content-filter' ? 'refused' : 'end';
}

/** A part of a result; null for what isn't text, reasoning, or a call that is ours to run. */
function contentPart(part: Members): ReplyPart | null {
  const { type, text: said, toolCallId, toolName, input } = part;
  if ((type === 'text' || type === 'reasoning') && typeof said === 'string') {
    return { type, text: said, metadata: metadata(part) };
  }
  if (type !== 'tool-call' || part['providerExecuted'] === true) return null;
  // The interface says a string of JSON; an object from a lax provider is as good.
  const args = typeof input === 'string' ? input : recordable(input ?? {}, 'arguments');
  const call = { id: text(toolCallId), name: text(toolName), arguments: args };
  return { type, text: '', call, metadata: metadata(part) };
}

function metadata({ providerMetadata }: Members): JsonObject | undefined {
  if (typeof providerMetadata !== 'object' || providerMetadata === null) return undefined;
  return recordable(providerMetadata, 'providerMetadata');
}

/** A value as the JSON that it would be sent as; providers leave `undefined` in what should be JSON. */
function recordable(value: unknown, what: string): JsonObject {
  try {
    // An object stays one through JSON; the loop looks at arguments itself.
    const data = JSON.parse(JSON.stringify(value)) as JsonObject;
    canonicalJson(data);
    return data;
  } catch (error) {
    throw unusable(`${what} that can't be recorded`, error);
  }
}

function unusable(what: string, cause?: unknown): AttemptError {
  const message = `the model returned ${what}`;
  return new AttemptError({ message, retryable: false, usage: null }, { cause });
}

/** Providers refuse empty texts; an empty part with metadata may be reasoning that is encrypted. */
function isEmpty({ text: said, call, metadata: data }: ReplyPart): boolean {
  return said === '' && call === undefined && data === undefined;
}
