import { Anthropic } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { anthropic, type AnthropicClient } from '../../src/models/anthropic.ts';
import { AnthropicCollector } from '../../src/models/anthropic-reply.ts';
import { wireConversation } from '../../src/models/anthropic-request.ts';
import { anthropicUsage } from '../../src/models/usage.ts';
import { type FailedAttempt, type Message } from '../../src/run/model.ts';
import { ask, askInVain, waitThenAdvance } from '../../src/testing/conformance-case.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { modelConformance } from '../../src/testing/model-conformance.ts';
import { startProvider, type StubProvider } from '../../src/testing/provider.ts';
import { canonicalJson, parseJson, type JsonValue } from '../../src/transcript/index.ts';

const gather = (...events: JsonValue[]): AnthropicCollector => {
  const collector = new AnthropicCollector(() => undefined);
  for (const event of events) collector.event(event);
  return collector;
};

const start = (index: number, block: JsonValue): JsonValue => ({
  type: 'content_block_start',
  index,
  content_block: block,
});

const delta = (index: number, rest: JsonValue): JsonValue => ({
  type: 'content_block_delta',
  index,
  delta: rest,
});

const result = (callId: string, rest: object = {}): Message => ({
  role: 'tool',
  callId,
  name: 'add',
  ok: true,
  content: '3',
  ...rest,
});

const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'add', arguments: {} })),
});

const said = (content: string): Message => ({ role: 'assistant', content, toolCalls: [] });

const system = (content: string): Message => ({ role: 'system', content });

const callWith = (raw: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'a', name: 'add', arguments: { z: 0 }, raw }],
});

const inputOf = (raw: string): unknown => {
  const block = wireConversation([callWith(raw)]).messages[0]?.content[0];
  return typeof block === 'object' ? block['input'] : undefined;
};

/** A client that answers with a body. */
const made = (body: string): AnthropicClient => ({
  messages: { create: () => ({ asResponse: () => Promise.resolve(new Response(body)) }) },
});

describe.each([true, false])('anthropic, stream: %s', (stream) => {
  const tests = modelConformance(
    (provider, settings) => anthropic({ model: 'claude-stub', baseURL: provider.url, ...settings }),
    { api: 'anthropic', stream },
  );
  test.each(tests)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe('anthropicUsage', () => {
  const NONE = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };

  test.each<[string, JsonValue, object | null]>([
    ['absent', null, null],
    ['no counts', { input_tokens: '10', output_tokens: -1 }, null],
    ['totals only', { input_tokens: 10, output_tokens: 5 }, { input: 10, output: 5 }],
    [
      'caches are beside the input, thinking is in the output',
      {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 12,
        output_tokens_details: { thinking_tokens: 7 },
      },
      { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 7 },
    ],
    [
      'more thinking than output',
      { input_tokens: 10, output_tokens: 5, output_tokens_details: { thinking_tokens: 6 } },
      { input: 10 },
    ],
  ])('%s', (_, usage, expected) => {
    expect(anthropicUsage(usage)).toEqual(expected === null ? null : { ...NONE, ...expected });
  });
});

describe('streams', () => {
  test.each<[string, readonly string[], string]>([
    ['no piece', [], '{}'],
    ['an empty piece', [''], '{}'],
    ['pieces', ['{"a"', ': 1.0}'], '{"a": 1.0}'],
  ])('input of %s', (_, pieces, expected) => {
    const { toolCalls } = gather(
      start(0, { type: 'tool_use', id: 'a', name: 'add', input: {} }),
      ...pieces.map((piece) => delta(0, { type: 'input_json_delta', partial_json: piece })),
    ).reply();
    expect(toolCalls).toEqual([{ id: 'a', name: 'add', arguments: expected }]);
  });

  test('an input that is whole at the start', () => {
    const block = { type: 'tool_use', id: 'a', name: 'add', input: { a: 1 } };
    expect(gather(start(0, block)).reply().toolCalls[0]?.arguments).toBe('{"a":1}');
  });

  test('counts are cumulative, and null says nothing', () => {
    const collector = gather(
      {
        type: 'message_start',
        message: { usage: { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 } },
      },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 3, input_tokens: null } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 8 } },
    );
    expect(collector.usage()).toMatchObject({ input: 10, cacheRead: 4, output: 8 });
  });

  test('the first output count is no count', () => {
    const collector = gather({
      type: 'message_start',
      message: { usage: { input_tokens: 10, output_tokens: 1 } },
    });
    expect(collector.usage()).toMatchObject({ input: 10, output: null });
  });

  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['tool_use', 'end'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refused'],
    ['pause_turn', 'pause'],
  ])('stop reason %s is %s', (reason, stop) => {
    const collector = gather({ type: 'message_delta', delta: { stop_reason: reason } });
    expect(collector.reply().stop).toBe(stop);
  });

  test('blocks are kept whole, with citations and what is not known', () => {
    const { blocks, content } = gather(
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      start(1, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
      start(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'found' }),
      delta(2, { type: 'citations_delta', citation: { url: 'u' } }),
      { type: 'something_new' },
    ).reply();
    expect(content).toBe('found');
    expect(blocks).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
      { type: 'text', text: 'found', citations: [{ url: 'u' }] },
    ]);
  });
});

describe('conversations', () => {
  test('all results of a turn in one message, notes below', () => {
    const { messages } = wireConversation([
      calls('a', 'b'),
      result('a', { note: 'Again.' }),
      result('b', { ok: false, content: 'no' }),
      calls('c'),
      result('c', { content: '' }),
    ]);
    expect(messages.map(({ content }) => content)).toEqual([
      [
        { type: 'tool_use', id: 'a', name: 'add', input: {} },
        { type: 'tool_use', id: 'b', name: 'add', input: {} },
      ],
      [
        { type: 'tool_result', tool_use_id: 'a', content: '3' },
        { type: 'tool_result', tool_use_id: 'b', content: 'no', is_error: true },
        { type: 'text', text: 'Again.' },
      ],
      [{ type: 'tool_use', id: 'c', name: 'add', input: {} }],
      [{ type: 'tool_result', tool_use_id: 'c' }],
    ]);
  });

  test('ids get characters that are taken, each its own', () => {
    const ids = ['a.b', 'a:b', 'a_b', 'é', '', 'a.b_2'];
    const { messages } = wireConversation([calls(...ids), ...ids.map((id) => result(id))]);
    const wire = ['a_b', 'a_b_2', 'a_b_3', '_', '__2', 'a_b_2_2'];
    expect(messages).toEqual([
      { role: 'assistant', content: wire.map((id) => expect.objectContaining({ id })) },
      { role: 'user', content: wire.map((id) => expect.objectContaining({ tool_use_id: id })) },
    ]);
  });

  test('blank text is left out, and the end of a last turn trimmed', () => {
    expect(wireConversation([said(' \n'), said('a \n'), said('b \n')]).messages).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'a \n' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
    ]);
  });

  test('names that the API refuses are changed in blocks that are kept, too', () => {
    const blocks = [{ type: 'tool_use', id: 'a', name: 'no.such', input: {} }];
    const kept = { ...calls('a'), provider: { blocks } } as Message;
    const paused = wireConversation([], [blocks]).messages;
    for (const { content } of [...wireConversation([kept]).messages, ...paused]) {
      expect(content).toEqual([{ ...blocks[0], name: 'no_such' }]);
    }
  });

  test('system messages are joined', () => {
    expect(wireConversation([system('a'), system('b')]).system).toBe('a\n\nb');
    expect(wireConversation([]).system).toBeUndefined();
  });

  test('input in the order of its keys, or {} where there was no object', () => {
    expect(JSON.stringify(inputOf('{ "b":1, "a":2 }'))).toBe('{"a":2,"b":1}');
    expect(inputOf('[1]')).toEqual({ z: 0 });
    expect(inputOf('{"a":')).toEqual({ z: 0 });
  });
});

describe('the model', () => {
  let provider: StubProvider | undefined;
  afterEach(async () => {
    await provider?.close();
    provider = undefined;
  });

  test.each([true, false])('thinking goes back unchanged, stream: %s', async (stream) => {
    provider = await startProvider({
      turns: [
        {
          reasoning: 'Hm, add. \u2028',
          content: 'I add.',
          toolCalls: [{ name: 'add', arguments: '{"b":2,"a":1}' }],
        },
        { content: '3' },
        { content: '3' },
      ],
    });
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k', stream });
    const reply = await ask({ model });
    const call = reply.toolCalls?.[0];
    // The record keeps it as canonical JSON; a resumed run has it from there.
    const live = reply.provider ?? null;
    const parsed = parseJson(canonicalJson(live));
    const recorded = parsed.ok ? parsed.value : null;
    const bodies: string[] = [];
    for (const kept of [live, recorded]) {
      await ask(
        { model },
        {
          messages: [
            { role: 'user', content: 'hi' },
            {
              role: 'assistant',
              content: 'I add.',
              // The loop may have given the call another id.
              toolCalls: [{ id: 'other.id', name: 'add', arguments: { a: 1, b: 2 } }],
              provider: kept,
            },
            { role: 'tool', callId: 'other.id', name: 'add', ok: true, content: '3' },
          ],
        },
      );
      bodies.push(provider.requests.at(-1)?.text ?? '');
    }
    expect(call?.name).toBe('add');
    // The stub refuses thinking whose signature isn't its own, so it came back whole.
    provider.finish();
    expect(bodies[0]).toContain('"signature":"signature_1"');
    expect(bodies[0]).toContain('"id":"other_id"');
    expect(bodies[1]).toBe(bodies[0]);
  });

  test('a turn without thinking keeps nothing back', async () => {
    provider = await startProvider({ turns: [{ content: 'hi' }] });
    const reply = await ask({
      model: anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k' }),
    });
    expect(reply).not.toHaveProperty('provider');
  });

  test('a paused turn is continued: one reply, all of its usage', async () => {
    provider = await startProvider({
      turns: [
        { content: 'Part one, ', stop: 'pause', usage: { input: 10, output: 30 } },
        { fault: { kind: 'status', status: 500 } },
        { content: 'part two.', usage: { input: 20, output: 5 } },
      ],
    });
    const clock = fakeClock();
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k', clock });
    const counted: (readonly FailedAttempt[])[] = [];
    const affords = (attempts: readonly FailedAttempt[]): boolean => counted.push(attempts) > 0;
    const asked = ask({ model }, { maxOutputTokens: 100, affords });
    await waitThenAdvance(clock, 500);
    const reply = await asked;
    expect(reply).toMatchObject({
      content: 'Part one, part two.',
      stop: 'end',
      usage: { input: 30, output: 35, cacheRead: null },
      failedAttempts: [{ error: '500 stub fault (request req_2)' }],
    });
    // What the part cost counts before the retry too.
    const paid = { error: 'paused by the provider', usage: { output: 30 }, streamed: 10 };
    expect(counted).toMatchObject([[paid], [paid, { error: '500 stub fault (request req_2)' }]]);
    const [, , last] = provider.requests;
    expect(last?.body).toMatchObject({
      max_tokens: 70,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'text', text: 'Part one,' }] },
      ],
    });
  });

  test('the time that a paused turn took is no longer left', async () => {
    let time = 0;
    const clock = { now: () => time, timer: () => () => undefined };
    provider = await startProvider({
      turns: [
        () => {
          time = 6000;
          return { content: 'x', stop: 'pause' };
        },
        { fault: { kind: 'status', status: 529, headers: { 'retry-after': '5' } } },
      ],
    });
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k', clock });
    const error = await askInVain(ask({ model }, { secondsLeft: 10 }));
    expect(error.message).toMatch(
      /^overloaded: the provider asks to wait 5 s, and the time budget leaves 4 s/,
    );
    expect(error.failedAttempts).toMatchObject([
      { error: 'paused by the provider', usage: { input: 10, output: 5 } },
      { error: '529 stub fault (request req_2)' },
    ]);
  });

  test('a turn that is paused for ever ends, and is charged', async () => {
    const turn = { content: 'x', stop: 'pause', usage: { input: 1, output: 2 } } as const;
    provider = await startProvider({ turns: Array.from({ length: 6 }, () => turn) });
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k' });
    const error = await askInVain(ask({ model }));
    expect(error.message).toBe('the provider paused the turn 6 times without an end');
    expect(error.failedAttempts).toHaveLength(7);
    expect(error.failedAttempts[5]).toMatchObject({
      error: 'paused by the provider',
      usage: { input: 1, output: 2 },
      streamed: 1,
    });
    expect(error.failedAttempts[6]).toEqual({ error: error.message });
    provider.finish();
  });

  test.each([
    ['the budget leaves no room', 100, false],
    ['the output is used up', 7, true],
  ])('a paused turn is not continued where %s', async (_, maxOutputTokens, affordable) => {
    const part = { content: 'So far', stop: 'pause', usage: { input: 10, output: 7 } } as const;
    provider = await startProvider({ turns: [{ fault: { kind: 'drop' } }, part] });
    const asked: (readonly FailedAttempt[])[] = [];
    const affords = (attempts: readonly FailedAttempt[]): boolean =>
      asked.push(attempts) === 1 || affordable;
    const clock = fakeClock();
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k', clock });
    const answered = ask({ model }, { maxOutputTokens, affords });
    await waitThenAdvance(clock, 500);
    expect(await answered).toMatchObject({
      content: 'So far',
      stop: 'length',
      usage: { input: 10, output: 7 },
      failedAttempts: [{ usage: null }],
    });
    provider.finish();
    if (affordable) return;
    expect(asked.at(-1)).toMatchObject([
      { error: 'paused by the provider', usage: { input: 10, output: 7 }, streamed: 6 },
      { usage: null },
    ]);
  });

  test('a part that fails after others has streamed its own output only', async () => {
    provider = await startProvider({
      turns: [
        { content: 'part one', stop: 'pause' },
        { content: 'two', fault: { kind: 'cut', afterEvents: 3 } },
      ],
    });
    const model = anthropic({ model: 'm', baseURL: provider.url, apiKey: 'k', maxAttempts: 1 });
    const { failedAttempts } = await askInVain(ask({ model }));
    expect(failedAttempts.map(({ streamed }) => streamed)).toEqual([8, 3]);
    expect(failedAttempts[1]?.usage).toMatchObject({ input: 10, output: null });
  });

  test('input that is not streamed keeps the order of its keys and its numbers', async () => {
    const input = '{"z":1.0,"a":{"y":12345678901234567890,"b":[true,null,"\\ud800"]}}';
    const deep = `{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`;
    const blocks = [input, '[1]', 'null', deep].map(
      (json, i) => `{"type":"tool_use","id":"c${i}","name":"t","input":${json}}`,
    );
    const client = made(`{"content":[${blocks.join(',')}]}`);
    const { toolCalls = [] } = await ask({ model: anthropic({ model: 'm', client }) });
    expect(toolCalls.slice(0, 3).map((call) => call.arguments)).toEqual([input, '[1]', '{}']);
    // Too deep to be written: the loop refuses it.
    expect(toolCalls[3]?.arguments).toBeTypeOf('object');
  });

  test('an answer whose content is no list is none', async () => {
    const model = anthropic({ model: 'm', client: made('{"content":"hi"}'), maxAttempts: 1 });
    expect((await askInVain(ask({ model }))).message).toBe('the answer has no message');
  });

  test('max_tokens is the smaller of the option and the budget', async () => {
    provider = await startProvider({ turns: [{}, {}, {}, {}] });
    const base = { model: 'm', baseURL: provider.url, apiKey: 'k' };
    await ask({ model: anthropic(base) });
    await ask({ model: anthropic(base) }, { maxOutputTokens: 9000 });
    await ask(
      { model: anthropic({ ...base, maxOutputTokens: 64_000 }) },
      { maxOutputTokens: 9000 },
    );
    await ask({ model: anthropic(base) }, { maxOutputTokens: 0 });
    const limits = provider.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens);
    expect(limits).toEqual([8192, 8192, 9000, 1]);
  });

  test('wrong options are refused at once', () => {
    expect(() => anthropic({ model: 'm', maxOutputTokens: 0 })).toThrow(
      /^maxOutputTokens: expected/,
    );
    expect(anthropic({ model: 'claude-5' }).id).toBe('anthropic:claude-5');
  });

  test('takes a client of the SDK', async () => {
    provider = await startProvider({ turns: [{ content: 'ok' }] });
    const client = new Anthropic({ baseURL: provider.url, apiKey: 'mine', maxRetries: 9 });
    expect((await ask({ model: anthropic({ model: 'm', client }) })).content).toBe('ok');
    expect(provider.requests[0]?.headers['authorization']).toBe('Bearer mine');
  });
});
