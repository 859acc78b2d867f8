/**
 * What an AI SDK model answers, whole or streamed, made a reply of ours.
 *
 * @module
 */
import { type Delta, type ModelReply, type ReplyStop } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import { canonicalJson, type JsonObject } from '../transcript/index.ts';
import { streamedError } from './ai-sdk-error.ts';
import { carried, type ReplyPart } from './ai-sdk-prompt.ts';
import { membersOf } from './ai-sdk-types.ts';
import { aiSdkUsage } from './ai-sdk-usage.ts';
import { AttemptError } from './retry.ts';

type Members = Readonly<Record<string, unknown>>;

/** A reply and its failure, if it failed after it had begun. */
export interface Collected {
  readonly parts: readonly ReplyPart[];
  /** The `finish` part of a stream, or the result itself; undefined if the stream ended without. */
  readonly finish: Members | undefined;
  /** The first `error` part. */
  readonly failure?: { readonly error: unknown };
}

/** The reply of `doGenerate`. */
export function fromResult(result: unknown): Collected {
  const finish = membersOf(result);
  if (!Array.isArray(finish['content'])) {
    throw new AttemptError({
      message: 'the model returned something without content',
      retryable: false,
      usage: null,
    });
  }
  const parts = finish['content'].map((item: unknown) => contentPart(membersOf(item)));
  return { parts: parts.filter((part) => part !== null), finish };
}

/** Collects the parts of a stream. */
export class StreamParts {
  readonly #parts: ReplyPart[] = [];
  readonly #open = new Map<string, ReplyPart>();
  readonly #onDelta: (delta: Delta) => void;
  #finish: Members | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  /** Takes one part; returns whether it was the last. Parts it doesn't know are passed over. */
  take(value: unknown): boolean {
    const part = membersOf(value);
    switch (part['type']) {
      case 'tool-input-delta':
        this.#delta('arguments', part['delta']);
        break;
      case 'tool-call': {
        const call = contentPart(part);
        if (call !== null) this.#parts.push(call);
        break;
      }
      case 'error':
        this.#failure ??= { error: part['error'] };
        break;
      case 'finish':
        this.#finish = part;
        return true;
      default:
        if (/^text-(start|delta|end)$/.test(String(part['type']))) this.#piece('text', part);
        if (/^reasoning-(start|delta|end)$/.test(String(part['type'])))
          this.#piece('reasoning', part);
    }
    return false;
  }

  collected(): Collected {
    const failure = this.#failure === undefined ? {} : { failure: this.#failure };
    return { parts: this.#parts, finish: this.#finish, ...failure };
  }

  #piece(type: 'text' | 'reasoning', part: Members): void {
    const key = `${type}:${String(part['id'])}`;
    // Providers use an id again for the next block, so a start always opens a new one.
    const known = part['type'] === `${type}-start` ? undefined : this.#open.get(key);
    const open = known ?? { type, text: '' };
    if (open !== known) {
      this.#parts.push(open);
      this.#open.set(key, open);
    }
    if (open.type === 'tool-call') return;
    open.text += this.#delta(type, part['delta']);
    const data = metadata(part);
    if (data !== undefined) open.metadata = data;
  }

  #delta(kind: Delta['kind'], text: unknown): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#onDelta({ kind, text });
    return text;
  }
}

/**
 * The reply that was collected.
 *
 * @param now milliseconds since the Unix epoch, for `Retry-After` dates.
 * @throws {AttemptError} if it failed, broke off, or ended in an error of the model.
 */
export function replyOf(collected: Collected, provider: string, now: () => number): ModelReply {
  const { finish, failure } = collected;
  const usage = finish === undefined ? null : aiSdkUsage(finish['usage'], provider);
  if (failure !== undefined) throw streamedError(failure.error, usage, now);
  if (finish === undefined) {
    throw new AttemptError({
      message: 'the answer broke off before its end',
      retryable: true,
      label: 'interrupted',
      usage: null,
    });
  }
  const stop = stopOf(finish['finishReason'], usage);
  const parts = collected.parts.map(wellFormed).filter((part) => !isEmpty(part));
  const data = carried(provider, parts);
  return {
    content: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: parts
      .filter((part) => part.type === 'tool-call')
      .map(({ id, name, input }) => ({ id, name, arguments: input })),
    usage,
    stop,
    ...(data === undefined ? {} : { provider: data }),
  };
}

/** v2 gives a word; v3 and v4 give theirs as `unified` and the provider's as `raw`. */
function stopOf(reason: unknown, usage: Usage | null): ReplyStop {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason } : membersOf(reason);
  const detail = typeof raw === 'string' && raw !== '' ? ` (${raw})` : '';
  // Gemini's words for a call that it began and could not make; there is nothing to run.
  const malformed = /^(MALFORMED|UNEXPECTED_TOOL|TOO_MANY_TOOL)/.test(String(raw));
  if (malformed || unified === 'error') {
    const message = `the model ended its answer with an error${detail}`;
    throw new AttemptError({ message, retryable: true, label: 'model error', usage });
  }
  if (unified === 'interrupted') {
    const message = `the answer was interrupted${detail}`;
    throw new AttemptError({ message, retryable: true, label: 'interrupted', usage });
  }
  if (unified === 'length') return 'length';
  return unified === 'content-filter' ? 'refused' : 'end';
}

/** A part of a result; null for what isn't text, reasoning, or a call that is ours to run. */
function contentPart(part: Members): ReplyPart | null {
  const { type, text, toolCallId, toolName, input } = part;
  const data = metadata(part);
  const extra = data === undefined ? {} : { metadata: data };
  if ((type === 'text' || type === 'reasoning') && typeof text === 'string') {
    return { type, text, ...extra };
  }
  if (type !== 'tool-call' || part['providerExecuted'] === true) return null;
  return {
    type,
    id: typeof toolCallId === 'string' ? toolCallId : '',
    name: typeof toolName === 'string' ? toolName : '',
    // The interface says a string of JSON; an object from a lax provider is as good.
    input: typeof input === 'string' ? input : (recordable(input ?? {}, 'arguments') as JsonObject),
    ...extra,
  };
}

function metadata(part: Members): JsonObject | undefined {
  const { providerMetadata } = part;
  if (typeof providerMetadata !== 'object' || providerMetadata === null) return undefined;
  // An object stays one through JSON.
  return recordable(providerMetadata, 'providerMetadata') as JsonObject;
}

/** A value as the JSON that it would be sent as; providers leave `undefined` in what should be JSON. */
function recordable(value: unknown, what: string): unknown {
  try {
    const data: unknown = JSON.parse(JSON.stringify(value));
    canonicalJson(data);
    return data;
  } catch (error) {
    const message = `the model returned ${what} that can't be recorded`;
    throw new AttemptError({ message, retryable: false, usage: null }, { cause: error });
  }
}

/** Without the lone surrogates that a stream cut in the middle of a character leaves. */
function wellFormed(part: ReplyPart): ReplyPart {
  return part.type === 'tool-call'
    ? { ...part, id: part.id.toWellFormed(), name: part.name.toWellFormed() }
    : { ...part, text: part.text.toWellFormed() };
}

/** Providers refuse empty texts; an empty part with metadata may be reasoning that is encrypted. */
function isEmpty(part: ReplyPart): boolean {
  return part.type !== 'tool-call' && part.text === '' && part.metadata === undefined;
}
