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
import {
  member,
  plain,
  wireName,
  withResultsTogether,
  type AssistantMessage,
  type ToolMessage,
} from './wire.ts';

/** A content block. */
type Block = Readonly<Record<string, unknown>>;

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
): { readonly system: string | undefined; readonly messages: readonly WireMessage[] } {
  const ids = new WireIds();
  const system: string[] = [];
  const wire: WireMessage[] = [];
  for (const said of withResultsTogether(messages)) {
    if (said.role === 'system') system.push(said.content);
    else if (said.role === 'user') wire.push({ role: 'user', content: said.content });
    else if (said.role === 'results')
      wire.push({ role: 'user', content: resultBlocks(said.results, ids) });
    else wire.push({ role: 'assistant', content: assistantBlocks(said, ids) });
  }
  for (const blocks of paused) {
    wire.push({ role: 'assistant', content: keptBlocks(blocks, [], ids) });
  }
  // A turn without content can't be said; the user messages around it are joined by the API.
  const spoken = wire.filter(({ role, content }) => role === 'user' || content.length > 0);
  return {
    system: system.length === 0 ? undefined : system.join('\n\n'),
    messages: trimLast(spoken),
  };
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

function resultBlocks(results: readonly ToolMessage[], ids: WireIds): readonly Block[] {
  const blocks = results.map(({ callId, ok, content }) => ({
    type: 'tool_result',
    tool_use_id: ids.of(callId),
    // An empty result has no content, but the API wants to know what an error was.
    ...(content === '' && ok ? {} : { content: content || 'failed' }),
    ...(ok ? {} : { is_error: true }),
  }));
  const notes = results.flatMap(({ note }) => textBlocks(note ?? ''));
  return [...blocks, ...notes];
}

function assistantBlocks(message: AssistantMessage, ids: WireIds): readonly Block[] {
  const kept = member(message.provider, 'blocks');
  if (isJsonArray(kept)) return keptBlocks(kept, message.toolCalls, ids);
  const calls = message.toolCalls.map((call) => ({
    type: 'tool_use',
    id: ids.of(call.id),
    name: wireName(call.name),
    input: plain(inputOf(call)),
  }));
  return [...textBlocks(message.content), ...calls];
}

/** Blocks as the provider sent them, but for odd names, and the ids of calls, which the loop may have changed. */
function keptBlocks(
  kept: readonly JsonValue[],
  calls: readonly ToolCall[],
  ids: WireIds,
): readonly Block[] {
  const given = calls.values();
  return kept
    .filter(isJsonObject)
    .filter((block) => block['type'] !== 'text' || !isBlank(block['text']))
    .map((value) => {
      // Plain JSON of an object is one.
      const block = plain(value) as Block;
      if (block['type'] !== 'tool_use') return block;
      const call = given.next().value;
      const id = call === undefined ? block['id'] : ids.of(call.id);
      return { ...block, id, name: wireName(String(block['name'])) };
    });
}

/** The API takes objects only, so arguments that were no object go back as the loop read them: `{}`. */
function inputOf(call: ToolCall): JsonObject {
  const parsed = call.raw === undefined ? null : parseJson(call.raw);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : call.arguments;
}

/** The API refuses a last message of the assistant's that ends in white space. */
function trimLast(wire: readonly WireMessage[]): readonly WireMessage[] {
  const last = wire.at(-1);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return wire;
  const block = last.content.at(-1);
  if (block?.['type'] !== 'text') return wire;
  const trimmed = { ...block, text: String(block['text']).trimEnd() };
  return [...wire.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), trimmed] }];
}

function textBlocks(text: string): readonly Block[] {
  return isBlank(text) ? [] : [{ type: 'text', text }];
}

function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}
