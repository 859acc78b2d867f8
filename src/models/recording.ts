/**
 * Recorded conversations in OpenAI's chat form, as something to run again: their assistant messages as
 * a script, their tool messages as tools.
 *
 * Reading is tolerant of keys it doesn't know, as every logger adds its own; what it needs must be right.
 *
 * @module
 */
import { readArguments } from '../run/arguments.ts';
import { type Tool } from '../run/tool.ts';
import { canonicalJson } from '../transcript/index.ts';
import { isObject, isString, type Shape } from './options.ts';
import {
  mismatch,
  orNothing,
  readShape,
  ScriptError,
  type ReadTurn,
  type ScriptCall,
} from './script.ts';

/** A recorded conversation: messages, or an object that holds them. Other keys are passed over. */
export type Recording = Messages | { readonly messages: Messages } | { readonly traj: Messages };

type Messages = readonly { readonly role: string }[];

/** One message, as far as it matters here. */
interface RecordedMessage {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly ScriptCall[];
  /** The call that a tool message answers. */
  readonly callId: unknown;
}

/** A recorded call and the text that answered it; null if nothing did. */
interface RecordedCall extends ScriptCall {
  result: string | null;
}

/** Whether a value looks like a recording: an array with messages, or an object that holds one. */
export function isRecording(value: unknown): boolean {
  const { list, path } = messageList(value);
  if (!Array.isArray(list)) return false;
  return path !== '' || list.some((item: unknown) => isObject(item) && 'role' in item);
}

/**
 * The turns of a recorded conversation, to be driven as one run.
 *
 * A run ends at a turn without tool calls, but a recorded conversation goes on there if the user spoke
 * again. So an assistant message without calls that isn't the last one is no turn of its own: its text
 * is put before the next assistant message's, with a blank line between. A recording that ends on tool results
 * ends the script there too, and a run of it fails as the script has no turn left; `closing` adds a
 * last turn that says it.
 *
 * @param recording an array of messages, or an object that holds one as `messages` or `traj`.
 * @throws {ScriptError} where a message isn't one; the error begins with the path to it.
 */
export function recordedTurns(
  recording: unknown,
  options: { readonly closing?: string } = {},
): ReadTurn[] {
  const turns: ReadTurn[] = [];
  let said: string[] = [];
  const text = (): string => said.filter((part) => part !== '').join('\n\n');
  for (const { role, content, calls } of readMessages(recording)) {
    if (role !== 'assistant') continue;
    said.push(content);
    if (calls.length === 0) continue;
    turns.push({ content: text(), tool_calls: calls });
    said = [];
  }
  if (said.length > 0) turns.push({ content: text() });
  else if (options.closing !== undefined) turns.push({ content: options.closing });
  return turns;
}

/**
 * Tools that answer as they did in a recorded conversation: one for each function that was called. The
 * k-th call of the run must be the k-th call of the recording, and gets its result as text. So the tools
 * run one at a time, and work for one run; calls whose arguments no tool would be given (text that isn't
 * a JSON object, say) are passed over, as a loop answers them itself.
 *
 * A tool throws where the run leaves the recording: another tool, other arguments, a call more.
 *
 * @param recording as for {@link recordedTurns}.
 * @throws {ScriptError} where a message isn't one.
 */
export function recordedTools(recording: unknown): Tool[] {
  const calls = recordedCalls(readMessages(recording));
  const queue = calls
    .map((call, index) => ({ call, number: index + 1, read: readArguments(call.arguments) }))
    .filter(({ read }) => read.problem === null);
  const answer = (name: string, args: string): string => {
    const next = queue.shift();
    if (next !== undefined) {
      return resultOf(next.call, next.number, next.read.text, `${name}(${args})`);
    }
    const none = `it has no call ${calls.length + 1}, and ${name} was called`;
    throw new Error(`the run left the recording: ${none}`);
  };
  return [...new Set(calls.map((call) => call.name))].map((name) => ({
    name,
    description: `Gives the recorded results of ${name}.`,
    input: { type: 'object' },
    parallel: false,
    execute: (args) => answer(name, canonicalJson(args)),
  }));
}

function resultOf(call: RecordedCall, number: number, args: string, called: string): string {
  const recorded = `${call.name}(${args})`;
  if (recorded !== called) {
    throw new Error(
      `the run left the recording at call ${number}: recorded ${recorded}, called ${called}`,
    );
  }
  if (call.result !== null) return call.result;
  throw new Error(`the recording has no result for call ${number}, ${call.name}`);
}

/** The calls with their results, which follow the turn that made them: by id, or else the next. */
function recordedCalls(messages: readonly RecordedMessage[]): readonly RecordedCall[] {
  const calls: RecordedCall[] = [];
  let open: RecordedCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      open = message.calls.map((call) => ({ ...call, result: null }));
      calls.push(...open);
    }
    if (message.role !== 'tool') continue;
    const { callId, content } = message;
    const answered = open.find(
      ({ id, result }) => result === null && (typeof callId !== 'string' || id === callId),
    );
    if (answered !== undefined) answered.result = content;
  }
  return calls;
}

/** Where the messages are, and what errors call the place; '' for the recording itself. */
function messageList(recording: unknown): { readonly list: unknown; readonly path: string } {
  if (isObject(recording)) {
    for (const path of ['messages', 'traj']) {
      if (path in recording) return { list: recording[path], path };
    }
  }
  return { list: recording, path: '' };
}

function readMessages(recording: unknown): RecordedMessage[] {
  const { list, path } = messageList(recording);
  const at = path || 'messages';
  if (!Array.isArray(list)) {
    throw mismatch(at, 'an array of messages, or an object with one as messages or traj', list);
  }
  return list.map((message: unknown, index) => readMessage(message, `${at}[${index}]`));
}

const MESSAGE: Shape = {
  role: ['a string', isString],
  tool_calls: ['an array', orNothing(Array.isArray)],
};

const FUNCTION: Shape = {
  name: ['a string', isString],
  arguments: ['a string of JSON, or an object', (value) => isString(value) || isObject(value)],
};

function readMessage(value: unknown, path: string): RecordedMessage {
  const message = readShape(value, path, 'a message (an object)', MESSAGE);
  const { content, tool_calls: calls, tool_call_id: callId } = message;
  // MESSAGE says so.
  const role = message['role'] as string;
  const said = { role, content: readContent(content, `${path}.content`), calls: [], callId };
  if (role !== 'assistant') return said;
  if (isObject(message['function_call'])) {
    throw new ScriptError(`${path}.function_call: this old form isn't read; use tool_calls`);
  }
  const list: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return { ...said, calls: list.map((call, i) => readCall(call, `${path}.tool_calls[${i}]`)) };
}

function readCall(value: unknown, path: string): ScriptCall {
  const call = readShape(value, path, 'a tool call (an object)', {});
  const { id } = call;
  const made = readShape(call['function'], `${path}.function`, 'an object', FUNCTION);
  // FUNCTION says what a ScriptCall does.
  const { name, arguments: args } = made as unknown as ScriptCall;
  return { ...(typeof id === 'string' ? { id } : {}), name, arguments: args };
}

/** A message's text: a string, nothing, or the text parts of an array. */
function readContent(content: unknown, path: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw mismatch(path, 'a string, null or an array of parts', content);
  const texts = content.map((part: unknown, i) => {
    const { type, text } = readShape(part, `${path}[${i}]`, 'a part (an object)', {});
    if (type !== 'text' && type !== 'refusal') return '';
    if (typeof text !== 'string') throw mismatch(`${path}[${i}].text`, 'a string', text);
    return text;
  });
  return texts.join('');
}
