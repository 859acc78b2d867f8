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
  TOOL_NAME,
  type AnswerContext,
  type StubTurn,
  type WireFormat,
} from './provider-script.ts';

/** Anthropic Messages. It accepts no thinking but what was signed here: each provider has its own. */
export function anthropicFormat(): WireFormat {
  const signed: Signed = new Map();
  const format: WireFormat = {
    requestIdHeader: 'request-id',
    heartbeat: event('ping'),
    check({ headers, body }) {
      if (headers['x-api-key'] === undefined && headers['authorization'] === undefined) {
        return { status: 401, message: 'x-api-key header is required' };
      }
      const [message] =
        headers['anthropic-version'] === undefined
          ? ['anthropic-version: header is required']
          : problems(body, signed);
      return message === undefined ? null : { status: 400, message };
    },
    error({ status, message, type }, { number }) {
      const usual = status < 500 ? 'invalid_request_error' : 'api_error';
      const error = { type: type ?? ERROR_TYPES.get(status) ?? usual, message };
      return { type: 'error', error, request_id: `req_${number}` };
    },
    errorEvent: (error, context) => event('error', Object(format.error(error, context))),
    whole: (turn, context) => whole(turn, context, signed),
    events: (turn, context) => events(turn, context, signed),
  };
  return format;
}

/** Signatures that were given, and the thinking that each signs. */
type Signed = Map<string, string>;

const ERROR_TYPES = new Map([
  [401, 'authentication_error'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

/** What is wrong with a body; only the first counts. */
function* problems(body: JsonValue | undefined, signed: Signed): Generator<string, void> {
  if (body === undefined) yield 'The request body is not valid JSON';
  if (text(member(body, 'model')) === '') yield 'model: Field required';
  const limit = member(body, 'max_tokens');
  if (limit === undefined) yield 'max_tokens: Field required';
  if (!Number.isInteger(limit) || Number(limit) < 1) {
    yield 'max_tokens: Input should be greater than or equal to 1';
  }
  const messages = members(member(body, 'messages'));
  if (messages.length === 0) yield 'messages: at least one message is required';
  for (const [i, tool] of members(member(body, 'tools')).entries()) {
    if (!TOOL_NAME.test(text(member(tool, 'name')))) {
      yield `tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
    }
    if (member(tool, 'input_schema', 'type') !== 'object') {
      yield `tools.${i}.custom.input_schema.type: Input should be 'object'`;
    }
  }
  yield* messageProblems(messages, signed);
}

function* messageProblems(messages: readonly JsonValue[], signed: Signed): Generator<string, void> {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  for (const [i, message] of messages.entries()) {
    const role = member(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      yield `messages.${i}.role: Input should be 'user' or 'assistant'`;
    }
    const answered = idsOf(message, 'tool_result', 'tool_use_id');
    const missing = open.filter((id) => !answered.includes(id));
    if (missing.length > 0) yield unanswered(i - 1, missing);
    const isEnd = role === 'assistant' && i === messages.length - 1;
    const found = [
      contentProblems(message, isEnd),
      resultProblems(message, open),
      callProblems(message, seen),
      signatureProblems(message, signed),
    ];
    for (const problem of found.flatMap((each) => [...each])) yield `messages.${i}: ${problem}`;
    open = idsOf(message, 'tool_use', 'id');
  }
  if (open.length > 0) yield unanswered(messages.length - 1, open);
}

function unanswered(i: number, ids: readonly string[]): string {
  return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}`;
}

function* contentProblems(message: JsonValue, isEnd: boolean): Generator<string, void> {
  const content = member(message, 'content');
  const given = isJsonArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  if (given.length === 0) yield 'all messages must have non-empty content';
  const texts = given.filter((block) => member(block, 'type') === 'text');
  if (texts.some((block) => text(member(block, 'text')).trim() === '')) {
    yield 'text content blocks must contain non-whitespace text';
  }
  const last = text(member(given.at(-1), 'text'));
  if (isEnd && last !== last.trimEnd()) {
    yield 'final assistant content cannot end with trailing whitespace';
  }
}

/** The results are the first blocks of the next message, one for each call, in the calls' order. */
function* resultProblems(message: JsonValue, open: readonly string[]): Generator<string, void> {
  const content = members(member(message, 'content'));
  const results = blocksOf(message, 'tool_result');
  const ids = idsOf(message, 'tool_result', 'tool_use_id');
  const stray = ids.find((id) => !open.includes(id));
  if (stray !== undefined) {
    yield `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`;
  }
  if (ids.length > open.length) yield 'each tool_use must have a single result';
  if (results.some((block, n) => content[n] !== block || ids[n] !== open[n])) {
    yield 'tool_result blocks must come first, in order';
  }
  const errors = results.filter((block) => member(block, 'is_error') === true);
  if (errors.some((block) => text(member(block, 'content')) === '')) {
    yield 'content cannot be empty if `is_error` is true';
  }
}

function* callProblems(message: JsonValue, seen: Set<string>): Generator<string, void> {
  for (const call of blocksOf(message, 'tool_use')) {
    const id = text(member(call, 'id'));
    if (!/^[a-zA-Z0-9_-]+$/.test(id)) yield "id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    if (!TOOL_NAME.test(text(member(call, 'name')))) {
      yield "name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'";
    }
    if (seen.has(id)) yield '`tool_use` ids must be unique';
    seen.add(id);
    if (!isJsonObject(member(call, 'input'))) yield 'input: Input should be a valid dictionary';
  }
}

function* signatureProblems(message: JsonValue, signed: Signed): Generator<string, void> {
  for (const block of blocksOf(message, 'thinking')) {
    const thinking = signed.get(text(member(block, 'signature')));
    if (thinking === undefined || thinking !== member(block, 'thinking')) {
      yield 'Invalid `signature` in `thinking` block';
    }
  }
}

function idsOf(message: JsonValue, type: string, name: string): readonly string[] {
  return blocksOf(message, type).map((block) => text(member(block, name)));
}

function blocksOf(message: JsonValue, type: string): readonly JsonValue[] {
  return members(member(message, 'content')).filter((block) => member(block, 'type') === type);
}

function whole(turn: StubTurn, context: AnswerContext, signed: Signed): unknown {
  if (turn.fault?.kind === 'empty') return { ...head(context), usage: usage(turn) };
  return {
    ...head(context),
    content: blocks(turn, context, signed).map((block) => block.whole()),
    stop_reason: stopReason(turn),
    stop_sequence: null,
    ...(hasQuirk(turn, 'no-usage') ? {} : { usage: usage(turn) }),
  };
}

function events(turn: StubTurn, context: AnswerContext, signed: Signed): readonly string[] {
  const stop = event('message_stop');
  if (turn.fault?.kind === 'empty') return [stop];
  const total: unknown = hasQuirk(turn, 'no-usage') ? undefined : usage(turn);
  const isObject = typeof total === 'object' && total !== null;
  // The input's counts come first, the output's count last; until then it says 1.
  const early: unknown = isObject ? { ...total, output_tokens: 1 } : total;
  const late: unknown = isObject ? { ...total, input_tokens: null } : total;
  const message = { ...head(context), content: [], stop_reason: null, usage: early };
  const delta = { stop_reason: stopReason(turn), stop_sequence: null };
  return [
    event('message_start', { message }),
    ...blocks(turn, context, signed).flatMap(blockEvents),
    event('message_delta', { delta, usage: late }),
    ...(hasQuirk(turn, 'no-done') ? [] : [stop]),
  ];
}

/** A content block: in one piece, or as it begins and what then streams in. */
interface StubBlock {
  readonly whole: () => object;
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocks(turn: StubTurn, context: AnswerContext, signed: Signed): readonly StubBlock[] {
  const { content = '', reasoning, toolCalls = [] } = turn;
  const out: StubBlock[] = toolCalls.map((call, i) => {
    const written = argumentsText(call);
    const id = call.id ?? `toolu_${context.number}_${i}`;
    const start = { type: 'tool_use', id, name: call.name, input: {} };
    return {
      // It holds an object: arguments that aren't JSON can't be said.
      whole: () => ({ ...start, input: JSON.parse(written || '{}') }),
      start,
      // The API begins every input with an empty piece.
      deltas: ['', ...pieces(written)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    };
  });
  if (content !== '') {
    out.unshift({
      whole: () => ({ type: 'text', text: content }),
      start: { type: 'text', text: '' },
      deltas: pieces(content).map((piece) => ({ type: 'text_delta', text: piece })),
    });
  }
  if (reasoning !== undefined) {
    const signature = `signature_${context.number}`;
    signed.set(signature, reasoning);
    const deltas = pieces(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }));
    out.unshift({
      whole: () => ({ type: 'thinking', thinking: reasoning, signature }),
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature }],
    });
  }
  return out;
}

function blockEvents({ start, deltas }: StubBlock, index: number): readonly string[] {
  return [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

function head({ number }: AnswerContext): object {
  return { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'stub' };
}

function stopReason(turn: StubTurn): string {
  if (turn.stop === 'length') return 'max_tokens';
  if (turn.stop === 'refused') return 'refusal';
  if (turn.stop === 'pause') return 'pause_turn';
  const isCalling = (turn.toolCalls ?? []).length > 0 && !hasQuirk(turn, 'finish-stop');
  return isCalling ? 'tool_use' : 'end_turn';
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

function event(type: string, data: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
