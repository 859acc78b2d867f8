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
import { mismatch, objectAt, ScriptError, type ReadTurn, type ScriptCall } from './script.ts';

/** A recorded conversation: messages, or an object that holds them. Other keys are passed over. */
export type Recording =
  | readonly { readonly role: string }[]
  | { readonly messages: readonly { readonly role: string }[] }
  | { readonly traj: readonly { readonly role: string }[] };

/** One message, as far as it matters here. */
interface RecordedMessage {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly ScriptCall[];
  /** The call that a tool message answers. */
  readonly callId: unknown;
}

/** A recorded call and the text that answered it; null if nothing did. */
interface RecordedCall {
  readonly name: string;
  readonly arguments: ScriptCall['arguments'];
  readonly result: string | null;
}

/** The calls of one assistant message, and the results that follow it. */
interface Exchange {
  readonly calls: readonly ScriptCall[];
  readonly results: { readonly callId: unknown; readonly content: string }[];
}

/** Whether a value looks like a recording: an array with messages, or an object that holds one. */
export function isRecording(value: unknown): boolean {
  const list = messageList(value);
  if (!Array.isArray(list)) return false;
  if (list !== value) return true;
  return list.some((item: unknown) => typeof item === 'object' && item !== null && 'role' in item);
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
 * @param options `skip` is how many recorded calls were answered before, when a run is resumed.
 * @throws {ScriptError} where a message isn't one.
 */
export function recordedTools(
  recording: unknown,
  options: { readonly skip?: number } = {},
): Tool[] {
  const calls = recordedCalls(readMessages(recording));
  let position = options.skip ?? 0;
  const answer = (name: string, args: unknown): string => {
    while (isRefused(calls[position])) position += 1;
    const call = calls[position];
    position += 1;
    return answerOf(call, position, name, canonicalJson(args));
  };
  return [...new Set(calls.map((call) => call.name))].map((name) => ({
    name,
    description: `Gives the recorded results of ${name}.`,
    input: { type: 'object' },
    parallel: false,
    execute: (args) => answer(name, args),
  }));
}

function isRefused(call: RecordedCall | undefined): boolean {
  return call !== undefined && readArguments(call.arguments).problem !== null;
}

function answerOf(
  call: RecordedCall | undefined,
  number: number,
  name: string,
  args: string,
): string {
  if (call === undefined) {
    throw new Error(`the run left the recording: it has no call ${number}, and ${name} was called`);
  }
  const expected = readArguments(call.arguments).text;
  if (call.name !== name || expected !== args) {
    const recorded = `${call.name}(${expected})`;
    throw new Error(
      `the run left the recording at call ${number}: recorded ${recorded}, called ${name}(${args})`,
    );
  }
  if (call.result === null) {
    throw new Error(`the recording has no result for call ${number}, ${name}`);
  }
  return call.result;
}

function recordedCalls(messages: readonly RecordedMessage[]): RecordedCall[] {
  const exchanges: Exchange[] = [];
  for (const { role, content, calls, callId } of messages) {
    if (role === 'assistant') exchanges.push({ calls, results: [] });
    if (role === 'tool') exchanges.at(-1)?.results.push({ callId, content });
  }
  return exchanges.flatMap((exchange) => exchange.calls.map((call) => answered(call, exchange)));
}

/** Takes the call's result from its exchange: by id, as results may be out of order, or else the next. */
function answered(call: ScriptCall, { results }: Exchange): RecordedCall {
  const byId = results.findIndex(({ callId }) => typeof callId === 'string' && callId === call.id);
  const index = byId >= 0 ? byId : results.findIndex(({ callId }) => typeof callId !== 'string');
  const [result] = index >= 0 ? results.splice(index, 1) : [];
  return { name: call.name, arguments: call.arguments, result: result?.content ?? null };
}

function messageList(recording: unknown): unknown {
  if (typeof recording !== 'object' || recording === null || Array.isArray(recording)) {
    return recording;
  }
  if ('messages' in recording) return recording.messages;
  return 'traj' in recording ? recording.traj : recording;
}

function readMessages(recording: unknown): RecordedMessage[] {
  const list = messageList(recording);
  const path = list === recording ? 'messages' : pathOf(recording);
  if (!Array.isArray(list)) {
    throw mismatch(path, 'an array of messages, or an object with one as messages or traj', list);
  }
  return list.map((message: unknown, index) => readMessage(message, `${path}[${index}]`));
}

function pathOf(recording: unknown): string {
  return typeof recording === 'object' && recording !== null && 'messages' in recording
    ? 'messages'
    : 'traj';
}

function readMessage(value: unknown, path: string): RecordedMessage {
  const message = objectAt(value, path, 'a message (an object)');
  const { role, content, tool_calls: calls, tool_call_id: callId } = message;
  if (typeof role !== 'string') throw mismatch(`${path}.role`, 'a string', role);
  const text = readContent(content, `${path}.content`);
  if (role !== 'assistant') return { role, content: text, calls: [], callId };
  if (message['function_call'] !== undefined && message['function_call'] !== null) {
    throw new ScriptError(`${path}.function_call: this old form isn't read; use tool_calls`);
  }
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) {
    throw mismatch(`${path}.tool_calls`, 'an array', calls);
  }
  const read = (calls ?? []).map((call: unknown, index: number) =>
    readCall(call, `${path}.tool_calls[${index}]`),
  );
  return { role, content: text, calls: read, callId };
}

function readCall(value: unknown, path: string): ScriptCall {
  const call = objectAt(value, path, 'a tool call (an object)');
  const made = objectAt(call['function'], `${path}.function`, 'an object');
  const { name, arguments: args } = made;
  if (typeof name !== 'string') throw mismatch(`${path}.function.name`, 'a string', name);
  if (typeof args !== 'string') {
    objectAt(args, `${path}.function.arguments`, 'a string of JSON, or an object');
  }
  const { id } = call;
  return {
    ...(typeof id === 'string' ? { id } : {}),
    name,
    // A string or an object: the check above threw otherwise.
    arguments: args as ScriptCall['arguments'],
  };
}

/** A message's text: a string, nothing, or the text parts of an array. */
function readContent(content: unknown, path: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw mismatch(path, 'a string, null or an array of parts', content);
  const texts = content.map((part: unknown, index) => {
    const { type, text } = objectAt(part, `${path}[${index}]`, 'a part (an object)');
    if (type !== 'text' && type !== 'refusal') return '';
    if (typeof text !== 'string') throw mismatch(`${path}[${index}].text`, 'a string', text);
    return text;
  });
  return texts.join('');
}
