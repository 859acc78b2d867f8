/**
 * A conversation as the AI SDK's prompt, and what of a reply must come back in it.
 *
 * @module
 */
import { type Message, type ToolCall } from '../run/model.ts';
import { type JsonObject, type JsonValue } from '../transcript/index.ts';
import {
  membersOf,
  type PromptMessage,
  type PromptPart,
  type ProviderOptions,
  type ToolOutput,
} from './ai-sdk-types.ts';
import { plain } from './wire.ts';

type AssistantMessage = Extract<Message, { role: 'assistant' }>;
type ToolMessage = Extract<Message, { role: 'tool' }>;

/** A piece of a reply, in the order in which the model made it. */
export type ReplyPart =
  | { readonly type: 'text' | 'reasoning'; text: string; metadata?: JsonObject }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly input: string | JsonObject;
      readonly metadata?: JsonObject;
    };

/**
 * What {@link prompt} needs to rebuild a reply whose parts are more than its text and its calls:
 * reasoning, and the signatures without which providers refuse the next request. Undefined if there are none.
 *
 * Text is kept as a length, as the record has the text itself.
 */
export function carried(provider: string, parts: readonly ReplyPart[]): JsonValue | undefined {
  if (parts.every((part) => part.type !== 'reasoning' && part.metadata === undefined))
    return undefined;
  return {
    provider,
    parts: parts.map((part) => ({
      type: part.type,
      ...(part.type === 'reasoning' ? { text: part.text } : {}),
      ...(part.type === 'text' ? { length: part.text.length } : {}),
      ...(part.metadata === undefined ? {} : { providerOptions: part.metadata }),
    })),
  };
}

/**
 * The prompt that says a conversation. Results of one turn go into one message, as Gemini requires.
 *
 * @param provider whose model it is for: what another provider asked to have back is left out.
 */
export function prompt(messages: readonly Message[], provider: string): PromptMessage[] {
  const out: PromptMessage[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        out.push({ role: 'system', content: message.content });
        break;
      case 'user':
        out.push({ role: 'user', content: [{ type: 'text', text: message.content }] });
        break;
      case 'assistant':
        out.push({ role: 'assistant', content: assistantParts(message, provider) });
        break;
      case 'tool':
        pushResult(out, message);
    }
  }
  return out;
}

function assistantParts(message: AssistantMessage, provider: string): PromptPart[] {
  const rebuilt = rebuild(message, provider);
  if (rebuilt !== null) return rebuilt;
  const text: PromptPart[] =
    message.content === '' ? [] : [{ type: 'text', text: message.content }];
  return [...text, ...message.toolCalls.map((call) => callPart(call))];
}

/** The parts as the model made them; null if what was carried isn't this provider's or doesn't fit. */
function rebuild(message: AssistantMessage, provider: string): PromptPart[] | null {
  if (message.provider === undefined) return null;
  const { provider: owner, parts } = membersOf(plain(message.provider));
  if (owner !== provider || !Array.isArray(parts)) return null;
  const out: PromptPart[] = [];
  const calls = message.toolCalls.values();
  let at = 0;
  for (const item of parts) {
    const part = carriedPart(membersOf(item), message.content.slice(at), calls);
    if (part === null) return null;
    if (part.type === 'text') at += part.text.length;
    out.push(part);
  }
  const complete = at === message.content.length && calls.next().done === true;
  return complete ? out : null;
}

function carriedPart(
  { type, text, length, providerOptions }: Readonly<Record<string, unknown>>,
  content: string,
  calls: Iterator<ToolCall>,
): PromptPart | null {
  // Written by `carried`, where it was an object of JSON.
  const options =
    providerOptions === undefined ? {} : { providerOptions: providerOptions as ProviderOptions };
  if (type === 'reasoning' && typeof text === 'string') return { type, text, ...options };
  if (type === 'text' && typeof length === 'number') {
    return { type, text: content.slice(0, length), ...options };
  }
  const call = type === 'tool-call' ? calls.next() : undefined;
  return call === undefined || call.done === true ? null : { ...callPart(call.value), ...options };
}

function callPart(call: ToolCall): PromptPart {
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input: plain(call.arguments),
  };
}

function pushResult(out: PromptMessage[], message: ToolMessage): void {
  const part = {
    type: 'tool-result' as const,
    toolCallId: message.callId,
    toolName: message.name,
    output: output(message),
  };
  const last = out.at(-1);
  if (last?.role === 'tool') last.content.push(part);
  else out.push({ role: 'tool', content: [part] });
}

/** A note stands beside the value, and an error stays marked as one. */
function output({ ok, content, note }: ToolMessage): ToolOutput {
  if (note === undefined) return { type: ok ? 'text' : 'error-text', value: content };
  if (!ok) return { type: 'error-json', value: { error: content, note } };
  const texts = content === '' ? [note] : [content, note];
  return { type: 'content', value: texts.map((text) => ({ type: 'text', text })) };
}
