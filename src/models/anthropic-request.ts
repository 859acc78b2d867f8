/**
 * A conversation as the Anthropic Messages API wants it.
 *
 * @module
 */
import { type Message, type ToolCall } from '../run/model.ts';
import {
  isJsonArray,
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { member, plain } from './wire.ts';

/** A content block. */
export type Block = Readonly<Record<string, unknown>>;

/** A message on the wire. */
export interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Block[];
}

/**
 * The conversation on the wire. All results of a turn are in one user message, first and in order, with
 * the notes below them; blank text blocks, which the API refuses, are left out.
 *
 * @param paused the parts of the last turn so far, where the provider paused it: they go back as they came.
 */
export function wireConversation(
  messages: readonly Message[],
  paused: readonly (readonly JsonObject[])[] = [],
): {
  readonly system: string | undefined;
  readonly messages: readonly WireMessage[];
} {
  const ids = new WireIds();
  const system: string[] = [];
  const wire: WireMessage[] = [];
  let turn: ToolTurn | null = null;
  for (const message of messages) {
    if (message.role === 'tool') {
      turn ??= new ToolTurn(wire);
      turn.add(message, ids);
      continue;
    }
    turn = null;
    if (message.role === 'system') system.push(message.content);
    else if (message.role === 'user') wire.push({ role: 'user', content: message.content });
    else pushAssistant(wire, assistantBlocks(message, ids));
  }
  for (const blocks of paused) pushAssistant(wire, keptBlocks(blocks, [], ids));
  trimLast(wire);
  return { system: system.length === 0 ? undefined : system.join('\n\n'), messages: wire };
}

/**
 * Call ids in the characters that the API takes (`^[a-zA-Z0-9_-]+$`). The same conversation always gets
 * the same ids, and a longer one keeps those of its beginning.
 */
class WireIds {
  readonly #wire = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(id: string): string {
    const known = this.#wire.get(id);
    if (known !== undefined) return known;
    const base = id.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';
    let wire = base;
    for (let n = 2; this.#taken.has(wire); n += 1) wire = `${base}_${n}`;
    this.#wire.set(id, wire);
    this.#taken.add(wire);
    return wire;
  }
}

type ToolMessage = Extract<Message, { role: 'tool' }>;
type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** The one user message that answers all calls of a turn. */
class ToolTurn {
  readonly #wire: WireMessage[];
  readonly #at: number;
  readonly #results: Block[] = [];
  readonly #notes: Block[] = [];

  constructor(wire: WireMessage[]) {
    this.#wire = wire;
    this.#at = wire.length;
  }

  add(message: ToolMessage, ids: WireIds): void {
    // An empty result has no content, but the API wants to know what an error was.
    const content = message.content === '' && !message.ok ? 'failed' : message.content;
    this.#results.push({
      type: 'tool_result',
      tool_use_id: ids.of(message.callId),
      ...(content === '' ? {} : { content }),
      ...(message.ok ? {} : { is_error: true }),
    });
    if (message.note !== undefined && !isBlank(message.note)) {
      this.#notes.push({ type: 'text', text: message.note });
    }
    this.#wire[this.#at] = { role: 'user', content: [...this.#results, ...this.#notes] };
  }
}

function assistantBlocks(message: AssistantMessage, ids: WireIds): readonly Block[] {
  const kept = member(message.provider, 'blocks');
  if (isJsonArray(kept)) return keptBlocks(kept, message.toolCalls, ids);
  const text = isBlank(message.content) ? [] : [{ type: 'text', text: message.content }];
  const calls = message.toolCalls.map((call) => ({
    type: 'tool_use',
    id: ids.of(call.id),
    name: call.name,
    input: plain(inputOf(call)),
  }));
  return [...text, ...calls];
}

/** Blocks as the provider sent them, but for the ids of calls, which the loop may have changed. */
function keptBlocks(
  kept: readonly JsonValue[],
  calls: readonly ToolCall[],
  ids: WireIds,
): readonly Block[] {
  let next = 0;
  const blocks: Block[] = [];
  for (const value of kept) {
    if (!isJsonObject(value)) continue;
    const type = value['type'];
    if (type === 'text' && isBlank(value['text'])) continue;
    const id = type === 'tool_use' ? calls[next]?.id : undefined;
    if (type === 'tool_use') next += 1;
    // Plain JSON of an object is one.
    const block = plain(value) as Block;
    blocks.push(id === undefined ? block : { ...block, id: ids.of(id) });
  }
  return blocks;
}

/** The API takes objects only, so arguments that were no object go back as the loop read them: `{}`. */
function inputOf(call: ToolCall): JsonObject {
  const parsed = call.raw === undefined ? null : parseJson(call.raw);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : call.arguments;
}

function pushAssistant(wire: WireMessage[], content: readonly Block[]): void {
  // A turn without content can't be said; the user messages around it are joined by the API.
  if (content.length > 0) wire.push({ role: 'assistant', content });
}

/** The API refuses a last message of the assistant's that ends in white space. */
function trimLast(wire: WireMessage[]): void {
  const last = wire.at(-1);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return;
  const block = last.content.at(-1);
  if (block?.['type'] !== 'text' || typeof block['text'] !== 'string') return;
  const trimmed = { ...block, text: block['text'].trimEnd() };
  wire[wire.length - 1] = { role: 'assistant', content: [...last.content.slice(0, -1), trimmed] };
}

function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}
