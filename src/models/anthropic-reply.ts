/**
 * Anthropic Messages answers, streamed or whole.
 *
 * @module
 */
import { type Delta, type ReplyCall, type ReplyStop } from '../run/model.ts';
import { tokenCount, usageOf, type Usage } from '../run/usage.ts';
import {
  canonicalJson,
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { deliver, type Collector } from './exchange.ts';
import { identifier, member, members, number, outputParts, text } from './wire.ts';

/**
 * Five disjoint counters from Anthropic's, where `input_tokens` excludes both cache counters and
 * `output_tokens` includes thinking.
 */
export function anthropicUsage(usage: JsonValue | undefined): Usage | null {
  const count = (...path: string[]): number | null => tokenCount(number(member(usage, ...path)));
  return usageOf({
    input: count('input_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
    ...outputParts(count('output_tokens'), count('output_tokens_details', 'thinking_tokens')),
  });
}

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
  /** Every member but what the deltas add to. */
  readonly start: JsonObject;
  readonly added: Map<string, string>;
  readonly citations: JsonValue[];
  json: string;
}

/** The members that deltas add text to, by the delta's type. */
const TEXT_DELTAS: ReadonlyMap<string, { readonly name: string; readonly kind?: Delta['kind'] }> =
  new Map([
    ['text_delta', { name: 'text', kind: 'text' }],
    ['thinking_delta', { name: 'thinking', kind: 'reasoning' }],
    ['signature_delta', { name: 'signature' }],
  ]);

/** Gathers a Messages answer. */
export class AnthropicCollector implements Collector {
  begun = false;
  ended = false;
  readonly #onDelta: (delta: Delta) => void;
  readonly #blocks = new Map<number, Growing>();
  #usage: JsonObject = {};
  #stop = '';
  #hasMessage = false;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  event(value: JsonValue): void {
    const index = Number(number(member(value, 'index')) ?? 0);
    switch (member(value, 'type')) {
      case 'message_start':
        this.begun = true;
        this.#hasMessage = true;
        this.#count(member(value, 'message', 'usage'));
        // Its output count is a placeholder (1): only `message_delta` counts output.
        this.#usage = { ...this.#usage, output_tokens: null };
        break;
      case 'content_block_start':
        this.#open(index, member(value, 'content_block'));
        break;
      case 'content_block_delta':
        this.#grow(index, member(value, 'delta'));
        break;
      case 'message_delta':
        this.#stop = text(member(value, 'delta', 'stop_reason'));
        this.#count(member(value, 'usage'));
        break;
      case 'message_stop':
        this.end();
        break;
      default:
      // Pings, block ends, and event types yet to come.
    }
  }

  body(value: JsonValue): void {
    this.begun = true;
    this.ended = true;
    this.#hasMessage = member(value, 'content') !== undefined;
    members(member(value, 'content')).forEach((block, index) => this.#open(index, block));
    this.#stop = text(member(value, 'stop_reason'));
    this.#count(member(value, 'usage'));
  }

  end(): void {
    this.ended = true;
  }

  problem(): string | null {
    if (!this.ended) return 'the stream ended before the answer did';
    return this.#hasMessage ? null : 'the answer has no message';
  }

  usage(): Usage | null {
    return anthropicUsage(this.#usage);
  }

  /** The reply, once {@link problem} is null. */
  reply(): AnthropicReply {
    const growings = [...this.#blocks.entries()].toSorted(([a], [b]) => a - b);
    const blocks = growings.map(([, block]) => finished(block));
    return {
      content: blocks
        .map((block) => (block['type'] === 'text' ? text(block['text']) : ''))
        .join(''),
      toolCalls: growings
        .filter(([, block]) => block.start['type'] === 'tool_use')
        .map(([, block]) => replyCall(block)),
      usage: this.usage(),
      stop: stopOf(this.#stop),
      blocks,
    };
  }

  #open(index: number, block: JsonValue | undefined): void {
    if (!isJsonObject(block)) return;
    this.#blocks.set(index, growing(block));
    if (block['type'] === 'text') deliver(this.#onDelta, 'text', text(block['text']));
    if (block['type'] === 'thinking') deliver(this.#onDelta, 'reasoning', text(block['thinking']));
  }

  #grow(index: number, delta: JsonValue | undefined): void {
    const block = this.#blocks.get(index);
    const type = text(member(delta, 'type'));
    if (block === undefined) return;
    if (type === 'input_json_delta') {
      const piece = text(member(delta, 'partial_json'));
      block.json += piece;
      deliver(this.#onDelta, 'arguments', piece);
    }
    const citation = member(delta, 'citation');
    if (type === 'citations_delta' && citation !== undefined) block.citations.push(citation);
    const grows = TEXT_DELTAS.get(type);
    if (grows === undefined) return;
    const piece = text(member(delta, grows.name));
    block.added.set(grows.name, (block.added.get(grows.name) ?? '') + piece);
    if (grows.kind !== undefined) deliver(this.#onDelta, grows.kind, piece);
  }

  /** Counts are cumulative, so the last one of each name holds; null says nothing. */
  #count(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    const said = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(said) };
  }
}

function growing(start: JsonObject): Growing {
  return { start, added: new Map(), citations: [], json: '' };
}

/** The block with what its deltas added. */
function finished({ start, added, citations, json }: Growing): JsonObject {
  const block: { [key: string]: JsonValue } = { ...start };
  for (const [name, addition] of added) block[name] = text(start[name]) + addition;
  if (citations.length > 0) block['citations'] = [...members(start['citations']), ...citations];
  if (json !== '') {
    const parsed = parseJson(json);
    if (parsed.ok) block['input'] = parsed.value;
  }
  return block;
}

/** The input is the text that streamed in; where none did, what the block began with, `{}` as a rule. */
function replyCall({ start, json }: Growing): ReplyCall {
  const input = start['input'];
  const id = identifier(start['id']);
  const whole = isJsonObject(input) ? canonicalJson(input) : '{}';
  return { ...(id === '' ? {} : { id }), name: text(start['name']), arguments: json || whole };
}

function stopOf(reason: string): ReplyStop | 'pause' {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refused';
    case 'pause_turn':
      return 'pause';
    default:
      return 'end';
  }
}
