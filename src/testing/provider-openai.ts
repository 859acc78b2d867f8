/**
 * The stub provider's OpenAI Chat Completions: what it refuses, and how it answers.
 *
 * @module
 */
import { member, members, text } from '../models/wire.ts';
import { type JsonValue } from '../transcript/index.ts';
import {
  argumentsText,
  DEFAULT_USAGE,
  hasQuirk,
  pieces,
  TOOL_NAME,
  type AnswerContext,
  type StubCall,
  type StubTurn,
  type WireFormat,
} from './provider-script.ts';

/** OpenAI Chat Completions. */
export const openaiFormat: WireFormat = {
  requestIdHeader: 'x-request-id',
  heartbeat: ': keep-alive\n\n',
  check({ headers, body }) {
    if (!/^Bearer ./.test(String(headers['authorization'] ?? ''))) {
      return { status: 401, message: 'You did not provide an API key.', code: 'invalid_api_key' };
    }
    const [message] = problems(body);
    return message === undefined ? null : { status: 400, message };
  },
  error({ message, type, code, status }) {
    const usual = status < 500 ? 'invalid_request_error' : 'server_error';
    return { error: { message, type: type ?? usual, param: null, code: code ?? null } };
  },
  errorEvent: (error, context) => event(openaiFormat.error(error, context)),
  whole,
  events,
};

/** What is wrong with a body; only the first counts. */
function* problems(body: JsonValue | undefined): Generator<string, void> {
  if (body === undefined) yield 'We could not parse the JSON body of your request.';
  if (text(member(body, 'model')) === '') yield 'you must provide a model parameter';
  const messages = members(member(body, 'messages'));
  if (messages.length === 0) yield "[] is too short - 'messages'";
  if (member(body, 'stream_options') !== undefined && member(body, 'stream') !== true) {
    yield "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  }
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const limit = member(body, name) ?? 1;
    if (!Number.isInteger(limit) || Number(limit) < 1) {
      yield `Invalid '${name}': integer below minimum value.`;
    }
  }
  const tools = member(body, 'tools');
  if (tools !== undefined) yield* toolProblems(members(tools));
  yield* messageProblems(messages);
}

function* toolProblems(tools: readonly JsonValue[]): Generator<string, void> {
  if (tools.length === 0) yield "[] is too short - 'tools'";
  for (const [i, tool] of tools.entries()) {
    if (!TOOL_NAME.test(text(member(tool, 'function', 'name')))) {
      yield `Invalid 'tools[${i}].function.name': string does not match pattern.`;
    }
    if (member(tool, 'function', 'parameters', 'type') !== 'object') {
      yield `Invalid schema for function at 'tools[${i}]': schema must be of type "object".`;
    }
  }
}

/** Every call is answered right after its message, and every answer has its call. */
function* messageProblems(messages: readonly JsonValue[]): Generator<string, void> {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    yield* contentProblems(message, i);
    const id = text(member(message, 'tool_call_id'));
    if (member(message, 'role') === 'tool') {
      if (!open.includes(id)) {
        yield `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'. (messages.[${i}])`;
      }
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) yield unanswered(open);
    open = members(member(message, 'tool_calls')).map((call) => text(member(call, 'id')));
    if (new Set(open).size < open.length) yield `Duplicate 'tool_calls' ids at messages.[${i}]`;
  }
  if (open.length > 0) yield unanswered(open);
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
}

function* contentProblems(message: JsonValue, i: number): Generator<string, void> {
  const role = text(member(message, 'role'));
  if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(role)) {
    yield `Invalid value: '${role}' at messages[${i}].role.`;
  }
  const calls = member(message, 'tool_calls');
  if (calls !== undefined && (role !== 'assistant' || members(calls).length === 0)) {
    yield `Invalid 'messages[${i}].tool_calls': empty array.`;
  }
  for (const call of members(calls)) yield* callProblems(call, i);
  const content = member(message, 'content');
  const isCall = content === null && calls !== undefined;
  if (!isCall && typeof content !== 'string' && !isTextParts(content)) {
    yield `Invalid value for 'content': expected a string or text parts. (messages.[${i}])`;
  }
}

function* callProblems(call: JsonValue, i: number): Generator<string, void> {
  const isLabelled = ['id', 'type'].every((name) => text(member(call, name)) !== '');
  if (!isLabelled || typeof member(call, 'function', 'arguments') !== 'string') {
    yield `Invalid type for 'messages[${i}].tool_calls': expected ids, types and arguments text.`;
  }
  if (!TOOL_NAME.test(text(member(call, 'function', 'name')))) {
    yield `Invalid 'messages[${i}].tool_calls.function.name': string does not match pattern.`;
  }
}

function isTextParts(content: JsonValue | undefined): boolean {
  const parts = members(content);
  const texts = parts.filter((part) => member(part, 'type') === 'text');
  const said = texts.filter((part) => typeof member(part, 'text') === 'string');
  return parts.length > 0 && said.length === parts.length;
}

function whole(turn: StubTurn, context: AnswerContext): object {
  const choice = {
    index: 0,
    message: wholeMessage(turn, context),
    finish_reason: finishReason(turn),
  };
  return {
    ...head(context, 'chat.completion'),
    choices: turn.fault?.kind === 'empty' ? [] : [choice],
    ...(hasQuirk(turn, 'no-usage') ? {} : { usage: usage(turn) }),
  };
}

function wholeMessage(turn: StubTurn, context: AnswerContext): object {
  const { content = '', toolCalls = [], reasoning } = turn;
  const calls = toolCalls.map((call, i) => ({
    id: callId(turn, call, i, context),
    type: 'function',
    function: { name: call.name, arguments: written(turn, call) },
  }));
  const isSilent = isRefusal(turn) || (content === '' && calls.length > 0);
  return {
    role: 'assistant',
    content: isSilent ? null : shown(turn, content),
    refusal: isRefusal(turn) ? content : null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : noCalls(turn)),
  };
}

function events(turn: StubTurn, context: AnswerContext): readonly string[] {
  const asksUsage = member(context.body, 'stream_options', 'include_usage') === true;
  const chunk = (choices: readonly object[], used: unknown = null): string =>
    event({
      ...head(context, 'chat.completion.chunk'),
      ...(asksUsage ? { usage: used } : {}),
      choices,
    });
  const choice = (delta: object, finish: string | null = null): string =>
    chunk([{ index: 0, delta, finish_reason: finish }]);
  const choices = [
    ...deltas(turn, context).map((delta) => choice(delta)),
    ...(hasQuirk(turn, 'no-finish') ? [] : [choice({}, finishReason(turn))]),
  ];
  return [
    ...(turn.fault?.kind === 'empty' ? [] : choices),
    ...(asksUsage && !hasQuirk(turn, 'no-usage') ? [chunk([], usage(turn))] : []),
    ...(hasQuirk(turn, 'no-done') ? [] : ['data: [DONE]\n\n']),
  ];
}

function deltas(turn: StubTurn, context: AnswerContext): readonly object[] {
  const { content = '', reasoning = '', toolCalls = [] } = turn;
  return [
    { role: 'assistant', content: '', ...noCalls(turn) },
    ...pieces(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...pieces(content).map((piece) =>
      isRefusal(turn) ? { refusal: piece } : { content: shown(turn, piece), ...noCalls(turn) },
    ),
    ...toolCalls.flatMap((call, i) => callDeltas(turn, call, i, context)),
  ];
}

/** A call's label, then its arguments in pieces, unless a quirk has it otherwise. */
function callDeltas(turn: StubTurn, call: StubCall, i: number, context: AnswerContext): object[] {
  const index = hasQuirk(turn, 'same-index') ? 0 : i;
  const place = hasQuirk(turn, 'no-index') ? {} : { index };
  const delta = (rest: object, args: unknown, name: object = {}): object => ({
    tool_calls: [{ ...place, ...rest, function: { ...name, arguments: args } }],
  });
  const id = { id: callId(turn, call, i, context) };
  const { name } = call;
  if (hasQuirk(turn, 'same-index') || hasQuirk(turn, 'arguments-object')) {
    return [delta({ ...id, type: 'function' }, written(turn, call), { name })];
  }
  const isLate = hasQuirk(turn, 'late-id');
  const rest = pieces(argumentsText(call)).map((piece, n) => {
    if (hasQuirk(turn, 'empty-id')) return delta({ id: '' }, piece, { name: '' });
    return delta(isLate && n === 0 ? id : {}, piece);
  });
  return [delta({ ...(isLate ? {} : id), type: 'function' }, '', { name }), ...rest];
}

function head({ number }: AnswerContext, object: string): object {
  return { id: `chatcmpl-${number}`, object, created: 1, model: 'stub' };
}

/** Undefined, which JSON leaves out, if the server gives none. */
function callId(
  turn: StubTurn,
  call: StubCall,
  i: number,
  { number }: AnswerContext,
): string | number | undefined {
  if (hasQuirk(turn, 'no-id')) return undefined;
  return hasQuirk(turn, 'numeric-id') ? number * 100 + i : (call.id ?? `call_${number}_${i}`);
}

function written(turn: StubTurn, call: StubCall): unknown {
  return hasQuirk(turn, 'arguments-object') ? call.arguments : argumentsText(call);
}

function shown(turn: StubTurn, content: string): unknown {
  return hasQuirk(turn, 'content-parts') ? [{ type: 'text', text: content }] : content;
}

function noCalls(turn: StubTurn): object {
  return hasQuirk(turn, 'null-tool-calls') ? { tool_calls: null } : {};
}

function isRefusal(turn: StubTurn): boolean {
  return turn.stop === 'refused' && !hasQuirk(turn, 'content-filter');
}

function finishReason(turn: StubTurn): string {
  if (turn.stop === 'length') return 'length';
  if (hasQuirk(turn, 'content-filter')) return 'content_filter';
  const isCalling = (turn.toolCalls ?? []).length > 0 && !hasQuirk(turn, 'finish-stop');
  return isCalling ? 'tool_calls' : 'stop';
}

function usage(turn: StubTurn): unknown {
  if (turn.rawUsage !== undefined) return turn.rawUsage;
  const { input = 0, cacheRead, cacheWrite, output = 0, reasoning } = turn.usage ?? DEFAULT_USAGE;
  const prompt = input + (cacheRead ?? 0) + (cacheWrite ?? 0);
  const completion = output + (reasoning ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
