/**
 * The stub provider's Anthropic Messages: what it refuses, and how it answers.
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

/** Anthropic Messages. It accepts no thinking but what was signed here: each provider has its own. */
export function anthropicFormat(): WireFormat {
  const signed = new Map<string, string>();
  const format: WireFormat = {
    requestIdHeader: 'request-id',
    heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
    check: (request) => check(request, signed),
    error: ({ status, message, type }, { number }) => ({
      type: 'error',
      error: { type: type ?? errorType(status), message },
      request_id: `req_${number}`,
    }),
    errorEvent: (error, context) => event('error', format.error(error, context)),
    whole: (turn, context) => whole(turn, context, signed),
    events: (turn, context) => events(turn, context, signed),
  };
  return format;
}

/** Signatures that were given, and the thinking that each signs. */
type Signed = Map<string, string>;

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status === 529) return 'overloaded_error';
  if (status === 401) return 'authentication_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}

function check(request: Omit<StubRequest, 'refused'>, signed: Signed): StubError | null {
  if (
    request.headers['x-api-key'] === undefined &&
    request.headers['authorization'] === undefined
  ) {
    return { status: 401, message: 'x-api-key header is required' };
  }
  if (request.headers['anthropic-version'] === undefined) {
    return { status: 400, message: 'anthropic-version: header is required' };
  }
  const { body } = request;
  const problem =
    bodyProblem(body) ??
    turnsProblem(members(member(body, 'messages'))) ??
    signatureProblem(members(member(body, 'messages')), signed);
  return problem === null ? null : { status: 400, message: problem };
}

function bodyProblem(body: JsonValue | undefined): string | null {
  if (!isJsonObject(body)) return 'The request body is not valid JSON';
  if (text(body['model']) === '') return 'model: Field required';
  const limit = body['max_tokens'];
  if (limit === undefined) return 'max_tokens: Field required';
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    return 'max_tokens: Input should be greater than or equal to 1';
  }
  if (members(body['messages']).length === 0) return 'messages: at least one message is required';
  for (const [i, tool] of members(body['tools']).entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(member(tool, 'name')))) {
      return `tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (member(tool, 'input_schema', 'type') !== 'object') {
      return `tools.${i}.custom.input_schema.type: Input should be 'object'`;
    }
  }
  return null;
}

function turnsProblem(messages: readonly JsonValue[]): string | null {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  for (const [i, message] of messages.entries()) {
    const role = member(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      return `messages.${i}.role: Input should be 'user' or 'assistant'`;
    }
    const isLast = i === messages.length - 1;
    const problem =
      contentProblem(message, i, isLast) ??
      resultsProblem(message, i, open) ??
      idProblem(message, i, seen);
    if (problem !== null) return problem;
    open = blocksOf(message, 'tool_use').map((block) => text(member(block, 'id')));
  }
  return open.length === 0 ? null : unanswered(messages.length - 1, open);
}

function contentProblem(message: JsonValue, i: number, isLast: boolean): string | null {
  const content = member(message, 'content');
  const given = isJsonArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  if (given.length === 0) return `messages.${i}: all messages must have non-empty content`;
  for (const block of given) {
    if (member(block, 'type') === 'text' && text(member(block, 'text')).trim() === '') {
      return `messages.${i}: text content blocks must contain non-whitespace text`;
    }
  }
  const last = text(member(given.at(-1), 'text'));
  return isLast && member(message, 'role') === 'assistant' && last !== last.trimEnd()
    ? `messages.${i}: final assistant content cannot end with trailing whitespace`
    : null;
}

/** The results are the first blocks of the next message, one for each call, in the calls' order. */
function resultsProblem(message: JsonValue, i: number, open: readonly string[]): string | null {
  const content = members(member(message, 'content'));
  const results = blocksOf(message, 'tool_result');
  const ids = results.map((block) => text(member(block, 'tool_use_id')));
  const stray = ids.find((id) => !open.includes(id));
  if (stray !== undefined) {
    return `messages.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`;
  }
  const missing = open.filter((id) => !ids.includes(id));
  if (missing.length > 0) return unanswered(i - 1, missing);
  if (ids.length > open.length) return `messages.${i}: each tool_use must have a single result`;
  const isFirst = results.every((block, n) => content[n] === block && ids[n] === open[n]);
  if (!isFirst) return `messages.${i}: tool_result blocks must come first, in order`;
  const empty = results.some(
    (block) => member(block, 'is_error') === true && text(member(block, 'content')) === '',
  );
  return empty ? `messages.${i}: content cannot be empty if \`is_error\` is true` : null;
}

function unanswered(i: number, ids: readonly string[]): string {
  return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}`;
}

function idProblem(message: JsonValue, i: number, seen: Set<string>): string | null {
  for (const block of blocksOf(message, 'tool_use')) {
    const id = text(member(block, 'id'));
    if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
      return `messages.${i}.content.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    }
    if (seen.has(id)) return `messages.${i}: \`tool_use\` ids must be unique`;
    seen.add(id);
    if (!isJsonObject(member(block, 'input'))) {
      return `messages.${i}.content.tool_use.input: Input should be a valid dictionary`;
    }
  }
  return null;
}

function signatureProblem(messages: readonly JsonValue[], signed: Signed): string | null {
  for (const [i, message] of messages.entries()) {
    for (const block of blocksOf(message, 'thinking')) {
      const thinking = signed.get(text(member(block, 'signature')));
      if (thinking === undefined || thinking !== member(block, 'thinking')) {
        return `messages.${i}: Invalid \`signature\` in \`thinking\` block`;
      }
    }
  }
  return null;
}

function blocksOf(message: JsonValue, type: string): readonly JsonValue[] {
  return members(member(message, 'content')).filter((block) => member(block, 'type') === type);
}

function whole(turn: StubTurn, context: AnswerContext, signed: Signed): unknown {
  const message = {
    ...head(context),
    content: blocks(turn, context, signed),
    stop_reason: stopReason(turn),
    stop_sequence: null,
  };
  if (turn.fault?.kind === 'empty') return { ...head(context), usage: usage(turn) };
  return hasQuirk(turn, 'no-usage') ? message : { ...message, usage: usage(turn) };
}

function events(turn: StubTurn, context: AnswerContext, signed: Signed): readonly string[] {
  const total: unknown = hasQuirk(turn, 'no-usage') ? undefined : usage(turn);
  const isObject = typeof total === 'object' && total !== null;
  // The input's counts come first, the output's count last; until then it says 1.
  const early: unknown = isObject ? { ...total, output_tokens: 1 } : total;
  const late: unknown = isObject ? { ...total, input_tokens: null } : total;
  if (turn.fault?.kind === 'empty') return [event('message_stop', { type: 'message_stop' })];
  return [
    event('message_start', {
      type: 'message_start',
      message: { ...head(context), content: [], stop_reason: null, usage: early },
    }),
    ...blocks(turn, context, signed).flatMap((block, index) => blockEvents(block, index)),
    event('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: stopReason(turn), stop_sequence: null },
      usage: late,
    }),
    ...(hasQuirk(turn, 'no-done') ? [] : [event('message_stop', { type: 'message_stop' })]),
  ];
}

/** A content block, with a call's input as its text. */
type StubBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    };

function blocks(turn: StubTurn, context: AnswerContext, signed: Signed): readonly StubBlock[] {
  const out: StubBlock[] = [];
  if (turn.reasoning !== undefined) {
    const signature = `signature_${context.number}`;
    signed.set(signature, turn.reasoning);
    out.push({ type: 'thinking', thinking: turn.reasoning, signature });
  }
  if ((turn.content ?? '') !== '') out.push({ type: 'text', text: turn.content ?? '' });
  const isStream = member(context.body, 'stream') === true;
  for (const [i, call] of (turn.toolCalls ?? []).entries()) {
    const id = call.id ?? `toolu_${context.number}_${i}`;
    const input = isStream ? argumentsText(call) : parsedInput(call);
    out.push({ type: 'tool_use', id, name: call.name, input });
  }
  return out;
}

/** @throws {SyntaxError} a whole answer holds objects, so it can't say arguments that aren't JSON. */
function parsedInput(call: StubCall): unknown {
  const written = argumentsText(call);
  return written === '' ? {} : JSON.parse(written);
}

function blockEvents(block: StubBlock, index: number): readonly string[] {
  const delta = (rest: object): string =>
    event('content_block_delta', { type: 'content_block_delta', index, delta: rest });
  return [
    event('content_block_start', {
      type: 'content_block_start',
      index,
      content_block: startOf(block),
    }),
    ...blockDeltas(block).map((part) => delta(part)),
    event('content_block_stop', { type: 'content_block_stop', index }),
  ];
}

function startOf(block: StubBlock): object {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return { ...block, input: {} };
}

function blockDeltas(block: StubBlock): readonly object[] {
  if (block.type === 'text') {
    return pieces(block.text).map((piece) => ({ type: 'text_delta', text: piece }));
  }
  if (block.type === 'thinking') {
    const thinking = pieces(block.thinking).map((piece) => ({
      type: 'thinking_delta',
      thinking: piece,
    }));
    return [...thinking, { type: 'signature_delta', signature: block.signature }];
  }
  // The API begins every input with an empty piece.
  return ['', ...pieces(String(block.input))].map((piece) => ({
    type: 'input_json_delta',
    partial_json: piece,
  }));
}

function head({ number }: AnswerContext): object {
  return { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'stub' };
}

function stopReason(turn: StubTurn): string {
  if (turn.stop === 'length') return 'max_tokens';
  if (turn.stop === 'refused') return 'refusal';
  if (turn.stop === 'pause') return 'pause_turn';
  return (turn.toolCalls ?? []).length > 0 && !hasQuirk(turn, 'finish-stop')
    ? 'tool_use'
    : 'end_turn';
}

function usage(turn: StubTurn): unknown {
  if (turn.rawUsage !== undefined) return turn.rawUsage;
  const { input, cacheRead, cacheWrite, output, reasoning } = turn.usage ?? DEFAULT_USAGE;
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output === undefined ? undefined : output + (reasoning ?? 0),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
