import { OpenAI } from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { openai, requestBody, type OpenAIOptions } from '../../src/models/openai.ts';
import { CallGatherer } from '../../src/models/openai-reply.ts';
import { openaiUsage } from '../../src/models/usage.ts';
import { ModelError, type Message } from '../../src/run/model.ts';
import { ADD, ask } from '../../src/testing/conformance-case.ts';
import { modelConformance } from '../../src/testing/model-conformance.ts';
import { startProvider, type StubProvider } from '../../src/testing/provider.ts';
import { type JsonObject, type JsonValue } from '../../src/transcript/index.ts';

const delta = (rest: object, name?: string, written?: unknown): JsonValue =>
  // A delta is plain JSON; its members vary from row to row.
  ({ ...rest, function: { name, arguments: written } }) as unknown as JsonValue;

const tooLarge = (message: string) =>
  ({ fault: { kind: 'status', status: 400, message } }) as const;
/** The limit that each request had. */
const limits = (of: StubProvider | undefined): unknown[] =>
  (of?.requests ?? []).map(({ body }) => (body as JsonObject)['max_completion_tokens']);

describe.each([true, false])('openai, stream: %s', (stream) => {
  const tests = modelConformance(
    (provider, settings) => openai({ model: 'gpt-stub', baseURL: provider.openaiURL, ...settings }),
    { api: 'openai', stream },
  );
  test.each(tests)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe('openaiUsage', () => {
  const NONE = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };

  test.each<[string, JsonValue, object | null]>([
    ['absent', null, null],
    ['no counts', { prompt_tokens: 'x' }, null],
    ['totals only', { prompt_tokens: 10, completion_tokens: 5 }, { input: 10, output: 5 }],
    ['zero is a count', { prompt_tokens: 0, completion_tokens: 0 }, { input: 0, output: 0 }],
    ['one total only', { completion_tokens: 5 }, { output: 5 }],
    [
      'parts are inside their totals',
      {
        prompt_tokens: 130,
        completion_tokens: 12,
        total_tokens: 142,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 7 },
    ],
    [
      'more cached than there was',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 11 } },
      { output: 5 },
    ],
    [
      'more cached and written than there was',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 5 },
      },
      { output: 5 },
    ],
    [
      'more reasoning than output',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      { input: 10 },
    ],
    [
      'reasoning outside the output, as the total shows',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 22,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      { input: 10, output: 5, reasoning: 7 },
    ],
    [
      'reasoning that only the total shows',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 22 },
      { input: 10, output: 5, reasoning: 7 },
    ],
  ])('%s', (_, usage, expected) => {
    expect(openaiUsage(usage)).toEqual(expected === null ? null : { ...NONE, ...expected });
  });
});

describe('calls from deltas', () => {
  test.each<[string, readonly JsonValue[], readonly object[]]>([
    [
      'as OpenAI sends them, interleaved',
      [
        delta({ index: 0, id: 'a' }, 'add', ''),
        delta({ index: 1, id: 'b' }, 'echo', ''),
        delta({ index: 0 }, undefined, '{"a"'),
        delta({ index: 1 }, undefined, '{}'),
        delta({ index: 0 }, undefined, ':1}'),
      ],
      [
        { id: 'a', name: 'add', arguments: '{"a":1}' },
        { id: 'b', name: 'echo', arguments: '{}' },
      ],
    ],
    [
      'an index and never an id',
      [delta({ index: 0 }, 'add', '{"a"'), delta({ index: 0 }, undefined, ':1}')],
      [{ name: 'add', arguments: '{"a":1}' }],
    ],
    [
      'id null, then ""',
      [delta({ index: 0, id: null }, 'add', '{'), delta({ index: 0, id: '' }, '', '}')],
      [{ name: 'add', arguments: '{}' }],
    ],
    [
      'the name comes late',
      [delta({ index: 0, id: 'a' }, undefined, '{'), delta({ index: 0 }, 'add', '}')],
      [{ id: 'a', name: 'add', arguments: '{}' }],
    ],
    [
      'no index: by id',
      [
        delta({ id: 'a' }, 'add', '{'),
        delta({ id: 'b' }, 'add', '{'),
        delta({ id: 'a' }, undefined, '"a":1}'),
        delta({ id: 'b' }, undefined, '"a":2}'),
      ],
      [
        { id: 'a', name: 'add', arguments: '{"a":1}' },
        { id: 'b', name: 'add', arguments: '{"a":2}' },
      ],
    ],
    [
      'no index and no id: whole calls',
      [delta({}, 'add', '{"a":1}'), delta({}, 'add', '{"a":2}'), delta({}, 'echo', '{}')],
      [
        { name: 'add', arguments: '{"a":1}' },
        { name: 'add', arguments: '{"a":2}' },
        { name: 'echo', arguments: '{}' },
      ],
    ],
    [
      'every call at index 0',
      [
        delta({ index: 0, id: 'a' }, 'add', '{"a":1}'),
        delta({ index: 0, id: 'b' }, 'add', '{"a":2}'),
        delta({ index: 0, id: 'c' }, 'add', ''),
        delta({ index: 0, id: 'd' }, 'add', '{}'),
      ],
      [
        { id: 'a', name: 'add', arguments: '{"a":1}' },
        { id: 'b', name: 'add', arguments: '{"a":2}' },
        { id: 'c', name: 'add', arguments: '' },
        { id: 'd', name: 'add', arguments: '{}' },
      ],
    ],
    [
      'the name is said with every delta',
      [
        delta({ index: 0, id: 'a' }, 'add', '{"a"'),
        delta({ index: 0, id: 'a' }, 'add', ':{'),
        delta({ index: 0 }, 'add', '}}'),
      ],
      [{ id: 'a', name: 'add', arguments: '{"a":{}}' }],
    ],
    [
      'the id and the name are said again before any arguments',
      [delta({ index: 0, id: 'a' }, 'add', ''), delta({ index: 0, id: 'a' }, 'add', '{}')],
      [{ id: 'a', name: 'add', arguments: '{}' }],
    ],
    [
      'other names at one index, with no arguments to tell them apart',
      [delta({ index: 0 }, 'add', ''), delta({ index: 0 }, 'echo', '')],
      [
        { name: 'add', arguments: '' },
        { name: 'echo', arguments: '' },
      ],
    ],
    [
      'the name is said with every delta, there is no id, and a piece begins like an object',
      [
        delta({ index: 0 }, 'add', '{"a":'),
        delta({ index: 0 }, 'add', '{"b":{}'),
        delta({ index: 0 }, 'add', '}}'),
        delta({ index: 0 }, 'add', '{"a":1}'),
      ],
      [
        { name: 'add', arguments: '{"a":{"b":{}}}' },
        { name: 'add', arguments: '{"a":1}' },
      ],
    ],
    [
      'another id with every delta',
      [delta({ index: 0, id: 'a' }, 'add', '{"a"'), delta({ index: 0, id: 'b' }, undefined, ':1}')],
      [{ id: 'a', name: 'add', arguments: '{"a":1}' }],
    ],
    [
      'objects and numbers',
      [delta({ index: 0, id: 7 }, 'add', { a: 1 }), delta({ index: 1, id: 8 }, 'add', { a: 2 })],
      [
        { id: '7', name: 'add', arguments: { a: 1 } },
        { id: '8', name: 'add', arguments: { a: 2 } },
      ],
    ],
  ])('%s', (_, deltas, expected) => {
    const gatherer = new CallGatherer();
    for (const value of deltas) gatherer.add(value);
    expect(gatherer.calls()).toEqual(expected);
  });
});

describe('request bodies', () => {
  const request = { messages: [], tools: [ADD], maxOutputTokens: 50 };
  const body = (messages: readonly Message[], options: Partial<OpenAIOptions> = {}) =>
    requestBody({ model: 'm', ...options }, { ...request, messages });

  test('options show', () => {
    const made = body([], {
      stream: false,
      maxTokensField: 'max_tokens',
    });
    expect(made).toEqual({
      model: 'm',
      tools: [
        {
          type: 'function',
          function: { name: 'add', description: ADD.description, parameters: ADD.inputSchema },
        },
      ],
      messages: [],
      max_tokens: 50,
    });
  });

  test('calls go back as the model wrote them', () => {
    const calls = [
      { id: 'a', name: 'add', arguments: { b: 2, a: 1 } },
      { id: 'b', name: 'add', arguments: {}, raw: '{"a":' },
      { id: 'c', name: 'add', arguments: {}, raw: '' },
    ];
    const made = body([{ role: 'assistant', content: '', toolCalls: calls }]);
    expect(made['messages']).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: ['{"a":1,"b":2}', '{"a":', '{}'].map((written, i) => ({
          id: calls[i]?.id,
          type: 'function',
          function: { name: 'add', arguments: written },
        })),
      },
    ]);
  });

  test('a note is beside the value', () => {
    const result = { role: 'tool', callId: 'a', name: 'add', ok: true, content: '3' } as const;
    const noted = { ...result, note: 'Again.' };
    expect(body([result])['messages']).toEqual([{ role: 'tool', tool_call_id: 'a', content: '3' }]);
    expect(body([noted])['messages']).toEqual([
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [
          { type: 'text', text: '3' },
          { type: 'text', text: 'Again.' },
        ],
      },
    ]);
    expect(body([noted], { contentParts: false })['messages']).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '3\n\nAgain.' },
    ]);
  });
});

describe('the model', () => {
  let provider: StubProvider | undefined;
  afterEach(async () => {
    await provider?.close();
    provider = undefined;
  });

  test('has an id, and a price if there is one', () => {
    expect(openai({ model: 'gpt-5' }).id).toBe('openai:gpt-5');
    const price = { input: 1, output: 2 };
    expect(openai({ model: 'gpt-5', price }).price).toEqual(price);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /^TypeError: openai: expected options \(model, baseURL, .*, got nothing$/],
    [{ model: '' }, /^TypeError: model: expected the name of a model, got ""$/],
    [{}, /^TypeError: model: expected the name of a model, got nothing$/],
    // It would have sent the key to another server.
    [
      { model: 'm', baseUrl: 'http://localhost' },
      /^TypeError: openai: unknown option 'baseUrl'; the options are model, baseURL, /,
    ],
    [{ model: 'm', baseURL: '' }, /^TypeError: baseURL: expected a URL that begins with http/],
    [{ model: 'm', baseURL: 'localhost:1/v1' }, /^TypeError: baseURL: expected/],
    [{ model: 'm', baseURL: 7 }, /^RangeError: baseURL: expected/],
    [{ model: 'm', stream: 'no' }, /^TypeError: stream: expected true or false, got "no"$/],
    [{ model: 'm', maxAttempts: 0 }, /^RangeError: maxAttempts: expected/],
    [{ model: 'm', maxTokensField: 'x' }, /^TypeError: maxTokensField: expected/],
    [{ model: 'm', clock: {} }, /^TypeError: clock: expected/],
    [{ model: 'm', price: true }, /^TypeError: price: expected rates/],
    [{ model: 'm', price: { input: -1, output: 1 } }, /^RangeError: price\.input/],
  ])('wrong options are refused at once: %j', (options, message) => {
    // Callers without types may pass anything.
    const error = (() => {
      try {
        return Reflect.apply(openai, null, [options]) as unknown;
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(String(error)).toMatch(message);
  });

  test('the URL may be a URL', async () => {
    provider = await startProvider({ turns: [{ content: 'ok' }] });
    const baseURL = new URL(provider.openaiURL);
    expect((await ask({ model: openai({ model: 'm', baseURL, apiKey: 'k' }) })).content).toBe('ok');
  });

  test('reasoning that is shown is kept for the record', async () => {
    provider = await startProvider({ turns: [{ reasoning: 'Hm, so.', content: 'ok' }, {}] });
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' });
    const { provider: kept = null } = await ask({ model });
    expect(kept).toEqual({ reasoning_content: 'Hm, so.' });
    const said = { role: 'assistant', content: 'ok', toolCalls: [], provider: kept } as const;
    await ask({ model }, { messages: [said] });
    expect(provider.requests[1]?.text).not.toContain('Hm');
  });

  describe('a limit on output beyond what the model can write', () => {
    test.each([
      'max_tokens is too large: 199999. This model supports at most 16384 completion tokens.',
      "'max_completion_tokens' must be less than or equal to 32768",
      "This model's maximum context length is 8192 tokens. However, you requested 200100 tokens (101 in the messages, 199999 in the completion).",
    ])('is left out once it is refused: %s', async (message) => {
      const turns = [tooLarge(message), { content: '1' }, { content: '2' }, { content: '3' }];
      provider = await startProvider({ turns });
      const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' });
      const reply = await ask({ model }, { maxOutputTokens: 199_999 });
      expect(reply).toMatchObject({
        content: '1',
        failedAttempts: [{ error: expect.any(String) }],
      });
      expect(reply.failedAttempts?.[0]).not.toHaveProperty('usage');
      await ask({ model }, { maxOutputTokens: 250_000 });
      await ask({ model }, { maxOutputTokens: 500 });
      // Where the budget leaves less than the model could write, the limit holds.
      expect(limits(provider)).toEqual([199_999, undefined, undefined, 500]);
    });

    test('another bad request is not sent again', async () => {
      const turns = [tooLarge("Invalid 'tools[0].function.name': at most 64 characters")];
      provider = await startProvider({ turns });
      const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' });
      await expect(ask({ model }, { maxOutputTokens: 500 })).rejects.toThrow(/at most 64/);
      expect(limits(provider)).toEqual([500]);
    });
  });

  test('takes a client of the SDK', async () => {
    provider = await startProvider({ turns: [{ content: 'ok' }] });
    const client = new OpenAI({ baseURL: provider.openaiURL, apiKey: 'mine', maxRetries: 9 });
    const reply = await ask({ model: openai({ model: 'm', client }) });
    expect(reply.content).toBe('ok');
    expect(provider.requests[0]?.headers['authorization']).toBe('Bearer mine');
  });

  test('the filter stopped it', async () => {
    provider = await startProvider({ turns: [{ content: 'Half a', quirks: ['content-filter'] }] });
    const reply = await ask({
      model: openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' }),
    });
    expect(reply).toMatchObject({ content: 'Half a', stop: 'refused' });
  });

  test('an answer without choices is no answer, but what it used is known', async () => {
    const turn = { fault: { kind: 'empty' } } as const;
    provider = await startProvider({ turns: [turn] });
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k', maxAttempts: 1 });
    const error = await ask({ model }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({
      message: 'the answer has no message (request req_1)',
      failedAttempts: [{ usage: { input: 10, output: 5 } }],
    });
  });

  test('nothing listens there: the reason, and no cost', async () => {
    const gone = await startProvider();
    await gone.close();
    const model = openai({ model: 'm', baseURL: gone.openaiURL, apiKey: 'k', maxAttempts: 1 });
    const error = await ask({ model }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: 'connection failed: ECONNREFUSED',
      failedAttempts: [{ error: 'connection failed: ECONNREFUSED' }],
    });
    expect(error).toHaveProperty('failedAttempts.0', { error: 'connection failed: ECONNREFUSED' });
  });

  test('without a key: the SDK says so', async () => {
    const before = process.env['OPENAI_API_KEY'];
    delete process.env['OPENAI_API_KEY'];
    try {
      const error = await ask({ model: openai({ model: 'm' }) }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ModelError);
      expect(String(error)).toMatch(/OPENAI_API_KEY/);
      // A local server needs none.
      provider = await startProvider({ turns: [{ content: 'ok' }] });
      await ask({ model: openai({ model: 'm', baseURL: provider.openaiURL }) });
      expect(provider.requests[0]?.headers['authorization']).toBe('Bearer none');
    } finally {
      if (before !== undefined) process.env['OPENAI_API_KEY'] = before;
    }
  });
});
