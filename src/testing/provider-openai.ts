/**
 * The stub provider's OpenAI Chat Completions: what it refuses, and how it answers.
 *
 * @module
 */
import { member, members, text } from '../models/wire.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../transcript/index.ts';
import {
  argumentsText,
  DEFAULT_USAGE,
  hasQuirk,
  pieces,
  type AnswerContext,
  type StubCall,
  type StubError,
  type StubRequest,
  type StubTurn,
  type WireFormat,
} from './provider-script.ts';

/** OpenAI Chat Completions. */
export const openaiFormat: WireFormat = {
  requestIdHeader: 'x-request-id',
  heartbeat: ': keep-alive\n\n',
  check,
  error: ({ message, type, code, status }) => ({
    error: {
      message,
      type: type ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      param: null,
      code: code ?? null,
    },
  }),
  errorEvent: (error, context) => event(openaiFormat.error(error, context)),
  whole,
  events,
};

function check(request: Omit<StubRequest, 'refused'>): StubError | null {
  if (!/^Bearer ./.test(String(request.headers['authorization'] ?? ''))) {
    return { status: 401, message: 'You did not provide an API key.', code: 'invalid_api_key' };
  }
  const { body } = request;
  const problem =
    bodyProblem(body) ?? toolsProblem(body) ?? messagesProblem(members(member(body, 'messages')));
  return problem === null ? null : { status: 400, message: problem };
}

function bodyProblem(body: JsonValue | undefined): string | null {
  if (!isJsonObject(body)) return 'We could not parse the JSON body of your request.';
  if (text(body['model']) === '') return 'you must provide a model parameter';
  if (members(body['messages']).length === 0) return "[] is too short - 'messages'";
  if (body['stream_options'] !== undefined && body['stream'] !== true) {
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  }
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const limit = body[name] ?? 1;
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
      return `Invalid '${name}': integer below minimum value.`;
    }
  }
  return null;
}

function toolsProblem(body: JsonValue | undefined): string | null {
  const tools = member(body, 'tools');
  if (tools === undefined) return null;
  if (members(tools).length === 0) return "[] is too short - 'tools'";
  for (const [i, tool] of members(tools).entries()) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(member(tool, 'function', 'name')))) {
      return `Invalid 'tools[${i}].function.name': string does not match pattern.`;
    }
    if (member(tool, 'function', 'parameters', 'type') !== 'object') {
      return `Invalid schema for function at 'tools[${i}]': schema must be of type "object".`;
    }
  }
  return null;
}

/** Every call is answered right after its message, and every answer has its call. */
function messagesProblem(messages: readonly JsonValue[]): string | null {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    const role = text(member(message, 'role'));
    const problem = contentProblem(message, role, i);
    if (problem !== null) return problem;
    if (role === 'tool') {
      const id = text(member(message, 'tool_call_id'));
      if (!open.includes(id)) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'. (messages.[${i}])`;
      }
      open = open.filter((other) => other !== id);
    } else {
      if (open.length > 0) return unanswered(open);
      open = members(member(message, 'tool_calls')).map((call) => text(member(call, 'id')));
      if (new Set(open).size < open.length) return `Duplicate 'tool_calls' ids at messages.[${i}]`;
    }
  }
  return open.length > 0 ? unanswered(open) : null;
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
}

function contentProblem(message: JsonValue, role: string, i: number): string | null {
  if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(role)) {
    return `Invalid value: '${role}' at messages[${i}].role.`;
  }
  const content = member(message, 'content');
  const calls = member(message, 'tool_calls');
  if (calls !== undefined && (role !== 'assistant' || members(calls).length === 0)) {
    return `Invalid 'messages[${i}].tool_calls': empty array.`;
  }
  for (const call of members(calls)) {
    const isWhole = ['id', 'type'].every((name) => text(member(call, name)) !== '');
    if (!isWhole || typeof member(call, 'function', 'arguments') !== 'string') {
      return `Invalid type for 'messages[${i}].tool_calls': expected ids, types and arguments text.`;
    }
  }
  const isText = typeof content === 'string' || isTextParts(content);
  return isText || (content === null && calls !== undefined)
    ? null
    : `Invalid value for 'content': expected a string or text parts. (messages.[${i}])`;
}

function isTextParts(content: JsonValue | undefined): boolean {
  return (
    isJsonArray(content) &&
    content.length > 0 &&
    content.every((p) => member(p, 'type') === 'text' && typeof member(p, 'text') === 'string')
  );
}

function whole(turn: StubTurn, context: AnswerContext): unknown {
  const isEmpty = turn.fault?.kind === 'empty';
  const choice = {
    index: 0,
    message: wholeMessage(turn, context),
    finish_reason: finishReason(turn),
  };
  return {
    id: `chatcmpl-${context.number}`,
    object: 'chat.completion',
    created: 1,
    model: 'stub',
    choices: isEmpty ? [] : [choice],
    ...(hasQuirk(turn, 'no-usage') ? {} : { usage: usage(turn) }),
  };
}

function wholeMessage(turn: StubTurn, context: AnswerContext): object {
  const { content = '', toolCalls = [] } = turn;
  const calls = toolCalls.map((call, i) => wholeCall(turn, call, i, context));
  const isRefusal = turn.stop === 'refused' && !hasQuirk(turn, 'content-filter');
  const shown = hasQuirk(turn, 'content-parts') ? [{ type: 'text', text: content }] : content;
  return {
    role: 'assistant',
    content: isRefusal || (content === '' && calls.length > 0) ? null : shown,
    refusal: isRefusal ? content : null,
    ...(turn.reasoning === undefined ? {} : { reasoning_content: turn.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : noCalls(turn)),
  };
}

function wholeCall(turn: StubTurn, call: StubCall, i: number, context: AnswerContext): object {
  const isObject = hasQuirk(turn, 'arguments-object');
  const id = callId(turn, call, i, context);
  return {
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name: call.name, arguments: isObject ? call.arguments : argumentsText(call) },
  };
}

function events(turn: StubTurn, context: AnswerContext): readonly string[] {
  const asksUsage = member(context.body, 'stream_options', 'include_usage') === true;
  const chunk = (rest: object): string =>
    event({
      id: `chatcmpl-${context.number}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: 'stub',
      ...(asksUsage ? { usage: null } : {}),
      ...rest,
    });
  const delta = (part: object, finish: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
  const isEmpty = turn.fault?.kind === 'empty';
  const finish = hasQuirk(turn, 'no-finish') ? [] : [delta({}, finishReason(turn))];
  const hasUsage = asksUsage && !hasQuirk(turn, 'no-usage');
  return [
    ...(isEmpty ? [] : [...deltas(turn, context).map((part) => delta(part)), ...finish]),
    ...(hasUsage ? [chunk({ choices: [], usage: usage(turn) })] : []),
    ...(hasQuirk(turn, 'no-done') ? [] : ['data: [DONE]\n\n']),
  ];
}

function deltas(turn: StubTurn, context: AnswerContext): readonly object[] {
  const isRefusal = turn.stop === 'refused' && !hasQuirk(turn, 'content-filter');
  const isParts = hasQuirk(turn, 'content-parts');
  return [
    { role: 'assistant', content: '', ...noCalls(turn) },
    ...pieces(turn.reasoning ?? '').map((piece) => ({ reasoning_content: piece })),
    ...pieces(turn.content ?? '').map((piece) => {
      if (isRefusal) return { refusal: piece };
      return { content: isParts ? [{ type: 'text', text: piece }] : piece, ...noCalls(turn) };
    }),
    ...(turn.toolCalls ?? []).flatMap((call, i) => callDeltas(turn, call, i, context)),
  ];
}

function callDeltas(turn: StubTurn, call: StubCall, i: number, context: AnswerContext): object[] {
  const index = hasQuirk(turn, 'no-index') ? {} : { index: hasQuirk(turn, 'same-index') ? 0 : i };
  const id = callId(turn, call, i, context);
  const label = id === undefined ? {} : { id };
  const entry = (rest: object, written: unknown, name: object = {}): object => ({
    tool_calls: [{ ...index, ...rest, function: { ...name, arguments: written } }],
  });
  const name = { name: call.name };
  if (hasQuirk(turn, 'arguments-object')) {
    return [entry({ ...label, type: 'function' }, call.arguments, name)];
  }
  if (hasQuirk(turn, 'same-index')) {
    return [entry({ ...label, type: 'function' }, argumentsText(call), name)];
  }
  const isLate = hasQuirk(turn, 'late-id');
  const isEmpty = hasQuirk(turn, 'empty-id');
  const first = entry({ ...(isLate ? {} : label), type: 'function' }, '', name);
  const rest = pieces(argumentsText(call)).map((piece, n) => {
    if (isEmpty) return entry({ id: '' }, piece, { name: '' });
    return entry(isLate && n === 0 ? label : {}, piece);
  });
  return [first, ...rest];
}

function callId(
  turn: StubTurn,
  call: StubCall,
  i: number,
  context: AnswerContext,
): string | number | undefined {
  if (hasQuirk(turn, 'no-id')) return undefined;
  if (hasQuirk(turn, 'numeric-id')) return context.number * 100 + i;
  return call.id ?? `call_${context.number}_${i}`;
}

function noCalls(turn: StubTurn): object {
  return hasQuirk(turn, 'null-tool-calls') ? { tool_calls: null } : {};
}

function finishReason(turn: StubTurn): string {
  if (turn.stop === 'length') return 'length';
  if (hasQuirk(turn, 'content-filter')) return 'content_filter';
  const hasCalls = (turn.toolCalls ?? []).length > 0;
  return hasCalls && !hasQuirk(turn, 'finish-stop') ? 'tool_calls' : 'stop';
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
