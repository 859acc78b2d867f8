/**
 * Reading what a provider sent, and writing what it is sent: JSON of any shape, none of it trusted.
 *
 * @module
 */
import { type Message } from '../run/model.ts';
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  Verbatim,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';

/** A member of an object, at any depth; undefined where there is none. */
export function member(value: JsonValue | undefined, ...path: string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** A list's members; none where it is null, absent or something else. */
export function members(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

/** The members of anything that an SDK threw or returned; none if it isn't an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  // Every object can be read by key.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A string as it is, '' for anything else. A piece of a stream may end in half a character. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** An object whose texts hold no lone surrogate, which no UTF-8 file could: each becomes U+FFFD. */
export function wellFormed(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  );
}

/** An id, which some servers send as a number. */
export function identifier(value: JsonValue | undefined): string {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : text(value);
}

/** Text that some servers send as a list of parts. */
export function textOfParts(value: JsonValue | undefined): string {
  if (!isJsonArray(value)) return text(value);
  return value.map((part) => text(part) || text(member(part, 'text'))).join('');
}

/**
 * A JSON value as plain data for a request body, with its keys sorted: so a live run and a resumed one,
 * which reads its values back from canonical JSON, send the same bytes. Numbers outside the range of a
 * double are rounded, as the SDKs write bodies with JSON.stringify.
 */
export function plain(value: JsonValue): unknown {
  return JSON.parse(canonicalJson(value));
}

/** A JSON value as text, its keys in the order in which they came and its numbers as they were spelled. */
export function spelled(value: JsonValue): string {
  if (value instanceof Verbatim) return value.text;
  if (isJsonArray(value)) return `[${value.map(spelled).join(',')}]`;
  // Lone surrogates have an escape, but no canonical form.
  if (typeof value === 'string') return JSON.stringify(value);
  if (!isJsonObject(value)) return canonicalJson(value);
  const pairs = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}:${spelled(item)}`,
  );
  return `{${pairs.join(',')}}`;
}

/**
 * A called tool's name in the characters that providers take (`^[a-zA-Z0-9_-]{1,64}$`). One that a model
 * made up may have others, and the conversation that holds it would be refused for good.
 */
export function wireName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, 64) || 'unknown_tool';
}

/** A tool's result in a conversation. */
export type ToolMessage = Extract<Message, { role: 'tool' }>;

/** The model's turn in a conversation. */
export type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** What is said at one time: a message, or all the results that answer one turn's calls. */
export type Said =
  | Exclude<Message, ToolMessage>
  | { readonly role: 'results'; readonly results: readonly ToolMessage[] };

/** The conversation with each turn's results together, as the providers want them in one message. */
export function withResultsTogether(messages: readonly Message[]): readonly Said[] {
  const said: Said[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      results = [];
      said.push(message);
      continue;
    }
    if (results.length === 0) said.push({ role: 'results', results });
    results.push(message);
  }
  return said;
}
