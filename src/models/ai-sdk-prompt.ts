/**
 * A conversation as the AI SDK's prompt, and what of a reply must come back in it.
 *
 * @module
 */
import { type Message, type ReplyCall, type ToolCall } from '../run/model.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../transcript/index.ts';
import {
  member,
  members,
  plain,
  wireName,
  withResultsTogether,
  type AssistantMessage,
  type ToolMessage,
} from './wire.ts';

/** A piece of a reply, in the order in which the model made it. */
export interface ReplyPart {
  readonly type: 'text' | 'reasoning' | 'tool-call';
  text: string;
  readonly call?: ReplyCall;
  /** What the provider wants back with the part: a signature, as a rule. */
  metadata?: JsonObject | undefined;
}

/**
 * What {@link prompt} needs to rebuild a reply whose parts are more than its text and its calls:
 * reasoning, and the signatures without which providers refuse the next request. Undefined if there are none.
 */
export function carried(provider: string, parts: readonly ReplyPart[]): JsonValue | undefined {
  const isPlain = parts.every(({ type, metadata }) => type !== 'reasoning' && !metadata);
  if (isPlain) return undefined;
  return {
    provider,
    parts: parts.map(({ type, text: said, metadata }) => ({
      type,
      ...(type === 'tool-call' ? {} : { text: said }),
      ...(metadata === undefined ? {} : { providerOptions: metadata }),
    })),
  };
}

/**
 * The prompt that says a conversation. Results of one turn go into one message, as Gemini requires.
 *
 * @param provider whose model it is for: what another provider asked to have back is left out.
 */
export function prompt(messages: readonly Message[], provider: string): object[] {
  return withResultsTogether(messages).map((said) => {
    if (said.role === 'results') return { role: 'tool', content: said.results.map(resultPart) };
    if (said.role === 'user') return { role: 'user', content: [textPart(said.content)] };
    if (said.role === 'system') return { role: 'system', content: said.content };
    return { role: 'assistant', content: assistantParts(said, provider) };
  });
}

/** The parts as the model made them, if they were carried for this provider. */
function assistantParts(
  { content, toolCalls, provider: data }: AssistantMessage,
  provider: string,
): object[] {
  const calls = toolCalls.map(callPart);
  if (member(data, 'provider') !== provider) {
    return content === '' ? calls : [textPart(content), ...calls];
  }
  return members(member(data, 'parts'))
    .filter(isJsonObject)
    .map((part) => {
      const kept = Object(plain(part));
      return part['type'] === 'tool-call' ? { ...calls.shift(), ...kept } : kept;
    });
}

function callPart({ id, name, arguments: args }: ToolCall): object {
  return { type: 'tool-call', toolCallId: id, toolName: wireName(name), input: plain(args) };
}

function resultPart(message: ToolMessage): object {
  const toolName = wireName(message.name);
  return { type: 'tool-result', toolCallId: message.callId, toolName, output: output(message) };
}

/** A note stands beside the value, and an error stays marked as one. All versions have these forms. */
function output({ ok, content, note }: ToolMessage): object {
  if (note === undefined) return { type: ok ? 'text' : 'error-text', value: content };
  if (!ok) return { type: 'error-json', value: { error: content, note } };
  const texts = content === '' ? [note] : [content, note];
  return { type: 'content', value: texts.map(textPart) };
}

function textPart(said: string): object {
  return { type: 'text', text: said };
}
