/**
 * Anthropic Messages answers, streamed or whole.
 *
 * @module
 */
import { type Delta, type ReplyCall, type ReplyStop } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import {
  isJsonArray,
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { deliver, type Collector } from './exchange.ts';
import { anthropicUsage } from './usage.ts';
import { identifier, member, members, spelled, text, wellFormed } from './wire.ts';

/** What one answer held. */
export interface AnthropicReply {
  readonly content: string;
  readonly toolCalls: readonly ReplyCall[];
  readonly usage: Usage | null;
  readonly stop: ReplyStop | 'pause';
  /** The blocks as they came, tool input parsed. */
  readonly blocks: readonly JsonObject[];
}

/** A block as it grows. */
interface Growing {
  readonly block: { [name: string]: JsonValue };
  /** A tool's input, as the text that streamed in. */
  json: string;
}

/** The members that a delta's text is added to, by the delta's type, and what they are to a listener. */
const TEXTS = new Map<string, { readonly name: string; readonly kind?: Delta['kind'] }>([
  ['text_delta', { name: 'text', kind: 'text' }],
  ['thinking_delta', { name: 'thinking', kind: 'reasoning' }],
  ['signature_delta', { name: 'signature' }],
]);

const STOPS = new Map<string, AnthropicReply['stop']>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
  ['pause_turn', 'pause'],
]);

/** Gathers a Messages answer. */
export class AnthropicCollector implements Collector {
  readonly #onDelta: (delta: Delta) => void;
  /** By index, in the order in which they began. */
  readonly #blocks = new Map<JsonValue | undefined, Growing>();
  #usage: JsonObject = {};
  #stop = '';
  #hasMessage = false;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  event(value: JsonValue): boolean {
    const type = member(value, 'type');
    const index = member(value, 'index');
    if (type === 'message_start') {
      this.#hasMessage = true;
      this.#count(member(value, 'message', 'usage'));
      // Its output count is a placeholder (1): only `message_delta` counts output.
      this.#usage = { ...this.#usage, output_tokens: null };
    }
    if (type === 'content_block_start') this.#open(index, member(value, 'content_block'));
    if (type === 'content_block_delta') this.#grow(index, member(value, 'delta'));
    if (type === 'message_delta') {
      this.#stop = text(member(value, 'delta', 'stop_reason'));
      this.#count(member(value, 'usage'));
    }
    return type === 'message_stop';
  }

  body(value: JsonValue): void {
    this.#hasMessage = isJsonArray(member(value, 'content'));
    members(member(value, 'content')).forEach((block, index) => this.#open(index, block));
    this.#stop = text(member(value, 'stop_reason'));
    this.#count(member(value, 'usage'));
  }

  usage(): Usage | null {
    return anthropicUsage(this.#usage);
  }

  problem(ended: boolean): string | null {
    if (!ended) return 'the stream ended before the answer did';
    return this.#hasMessage ? null : 'the answer has no message';
  }

  /** The reply, once {@link problem} is null. */
  reply(): AnthropicReply {
    const growing = [...this.#blocks.values()];
    const texts = growing.filter(({ block }) => block['type'] === 'text');
    const calls = growing.filter(({ block }) => block['type'] === 'tool_use');
    return {
      content: texts
        .map(({ block }) => text(block['text']))
        .join('')
        .toWellFormed(),
      toolCalls: calls.map(replyCall),
      usage: this.usage(),
      stop: STOPS.get(this.#stop) ?? 'end',
      blocks: growing.map((each) => wellFormed(withInput(each))),
    };
  }

  #open(index: JsonValue | undefined, block: JsonValue | undefined): void {
    if (!isJsonObject(block)) return;
    this.#blocks.set(index, { block: { ...block }, json: '' });
    if (block['type'] === 'text') deliver(this.#onDelta, 'text', text(block['text']));
    if (block['type'] === 'thinking') deliver(this.#onDelta, 'reasoning', text(block['thinking']));
  }

  #grow(index: JsonValue | undefined, delta: JsonValue | undefined): void {
    const growing = this.#blocks.get(index);
    if (growing === undefined) return;
    const { block } = growing;
    const type = text(member(delta, 'type'));
    const { name, kind } = TEXTS.get(type) ?? {};
    if (name !== undefined) {
      const piece = text(member(delta, name));
      block[name] = text(block[name]) + piece;
      if (kind !== undefined) deliver(this.#onDelta, kind, piece);
    }
    if (type === 'input_json_delta') {
      growing.json += deliver(this.#onDelta, 'arguments', text(member(delta, 'partial_json')));
    }
    if (type === 'citations_delta') {
      block['citations'] = [...members(block['citations']), member(delta, 'citation') ?? null];
    }
  }

  /** Counts are cumulative, so the last one of each name holds; null says nothing. */
  #count(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    const said = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(said) };
  }
}

function withInput({ block, json }: Growing): JsonObject {
  const parsed = parseJson(json);
  return parsed.ok ? { ...block, input: parsed.value } : block;
}

/** The input is the text that streamed in; where none did, what the block began with, `{}` as a rule. */
function replyCall({ block, json }: Growing): ReplyCall {
  const { id, name, input } = block;
  return { id: identifier(id), name: text(name), arguments: json || wholeInput(input ?? {}) };
}

function wholeInput(input: JsonValue): ReplyCall['arguments'] {
  try {
    return spelled(input);
  } catch (error) {
    // Nested deeper than the stack: the loop refuses it too, and says why.
    if (error instanceof RangeError && isJsonObject(input)) return input;
    throw error;
  }
}
