import { ReadableStream as NodeStream } from 'node:stream/web';
import { type LanguageModelV2, type LanguageModelV3 } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { fromAiSdk, type AiSdkCallOptions, type AiSdkModel } from '../../src/models/ai-sdk.ts';
import { ModelError, type Message, type ModelReply } from '../../src/run/model.ts';
import { canonicalJson, parseJson } from '../../src/transcript/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { listening, request } from './request.ts';

type Version = AiSdkModel['specificationVersion'];
type Part = { readonly type: string; readonly [key: string]: unknown };

interface Fake extends AiSdkModel {
  readonly calls: AiSdkCallOptions[];
}

/** A model that answers each call with the next of its answers: parts of a stream, or something to throw. */
function fake(
  version: Version,
  answers: readonly (readonly Part[] | Error | object)[],
  provider = 'fake',
): Fake {
  const calls: AiSdkCallOptions[] = [];
  const next = async (options: AiSdkCallOptions): Promise<readonly Part[]> => {
    calls.push(options);
    const answer = answers[calls.length - 1];
    if (!Array.isArray(answer)) throw answer ?? new Error('asked too often');
    return answer as Part[];
  };
  return {
    specificationVersion: version,
    provider,
    modelId: 'm-1',
    calls,
    doGenerate: async (options) => whole(await next(options)),
    // The DOM's type has no `from` yet; the streams are the same.
    doStream: async (options) => ({
      stream: NodeStream.from(await next(options)) as unknown as ReadableStream,
    }),
  };
}

/** The result of doGenerate that says what the parts of a stream say. */
function whole(parts: readonly Part[]): object {
  const content: Part[] = [];
  for (const part of parts) {
    const match = /^(text|reasoning)-(start|delta|end)$/.exec(part.type);
    if (match?.[2] === 'start') content.push({ type: match[1]!, text: '' });
    if (match !== null) {
      const last = content.at(-1)!;
      const delta = typeof part['delta'] === 'string' ? part['delta'] : '';
      content[content.length - 1] = {
        ...last,
        ...metadataOf(part),
        text: `${String(last['text'])}${delta}`,
      };
    } else if (part.type === 'tool-call' || part.type === 'source') content.push(part);
  }
  return { warnings: [], ...parts.findLast(({ type }) => type === 'finish'), content };
}

function metadataOf({ providerMetadata }: Part): object {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

const text = (id: string, ...deltas: string[]): Part[] => [
  { type: 'text-start', id },
  ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];
const flat = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const parted = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
};
const finishOf = (version: Version, reason = 'stop', raw?: string, usage?: unknown): Part => ({
  type: 'finish',
  finishReason: version === 'v2' ? reason : { unified: reason, raw },
  usage: usage ?? (version === 'v2' ? flat : parted),
});
const known = { input: 10, cacheRead: null, cacheWrite: null, output: 5, reasoning: null };
const ask = async (model: AiSdkModel, options = {}, asked = request()): Promise<ModelReply> =>
  fromAiSdk(model, { maxAttempts: 1, ...options })(asked);
const failure = async (reply: Promise<unknown>): Promise<ModelError> => {
  const error: unknown = await reply.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
};

const modes = (['v2', 'v3', 'v4'] as const).flatMap((version) =>
  [true, false].map((stream) => ({ version, stream })),
);

describe.each(modes)('a $version model, streamed: $stream', ({ version, stream }) => {
  const finish = finishOf.bind(null, version);

  test('text and calls become a reply, with arguments as they came', async () => {
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r' },
      ...text('0', 'Hel', 'lo'),
      { type: 'source', id: 's', sourceType: 'url', url: 'u' },
      { type: 'tool-input-start', id: 'c1', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"a": 1' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a": 1.0}' },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'add', input: 'not json' },
      { type: 'tool-call', toolCallId: 'c3', toolName: 'web', input: '{}', providerExecuted: true },
      { type: 'tool-call', toolCallId: 'c4', toolName: 'add', input: { b: 2 } },
      finish('tool-calls'),
    ];
    const [asked, deltas] = listening();
    expect(await ask(fake(version, [parts]), { stream }, asked)).toEqual({
      content: 'Hello',
      toolCalls: [
        { id: 'c1', name: 'add', arguments: '{"a": 1.0}' },
        { id: 'c2', name: 'add', arguments: 'not json' },
        { id: 'c4', name: 'add', arguments: { b: 2 } },
      ],
      usage: known,
      stop: 'end',
    });
    expect(deltas).toEqual(
      stream
        ? [
            { kind: 'text', text: 'Hel' },
            { kind: 'text', text: 'lo' },
            { kind: 'arguments', text: '{"a": 1' },
          ]
        : [],
    );
  });

  test.each([
    ['stop', 'end'],
    ['tool-calls', 'end'],
    ['other', 'end'],
    ['unknown', 'end'],
    ['length', 'length'],
    ['content-filter', 'refused'],
  ])('finish reason %s is %s', async (reason, stop) => {
    const reply = await ask(fake(version, [[...text('0', 'x'), finish(reason)]]), { stream });
    expect(reply).toMatchObject({ content: 'x', stop });
  });

  const failures: [string, string | undefined, string][] = [
    ['error', undefined, 'the model ended its answer with an error'],
    ['interrupted', undefined, 'the answer was interrupted'],
    ['error', 'MALFORMED_FUNCTION_CALL', 'with an error (MALFORMED_FUNCTION_CALL)'],
    ['other', 'UNEXPECTED_TOOL_CALL', 'with an error (UNEXPECTED_TOOL_CALL)'],
  ];
  // v2 doesn't hand on the provider's own word.
  test.each(failures.slice(0, version === 'v2' ? 2 : 4))(
    'finish reason %s (%s) is a failure that is charged',
    async (reason, raw, message) => {
      const error = await failure(
        ask(fake(version, [[...text('0', 'x'), finish(reason, raw)]]), { stream }),
      );
      expect(error.message).toContain(message);
      expect(error.failedAttempts).toMatchObject([{ usage: known }]);
    },
  );

  test('reasoning and signatures come back in the next prompt, in their order', async () => {
    const parts = [
      { type: 'reasoning-start', id: 'r', providerMetadata: { fake: { signature: 'early' } } },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      {
        type: 'reasoning-end',
        id: 'r',
        providerMetadata: { fake: { signature: 'S1', n: 1.5, no: undefined } },
      },
      ...text('0', 'First.'),
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'add',
        input: '{"a":1}',
        providerMetadata: { fake: { thoughtSignature: 'S2' } },
      },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":2}' },
      ...text('0', ' Second.'),
      finish('tool-calls'),
    ];
    const model = fake(version, [parts, [finish()], [finish()]]);
    const { content, provider } = await ask(model, { stream });
    expect(content).toBe('First. Second.');
    // As a transcript keeps it: written, and read again.
    const written = parseJson(canonicalJson(provider));
    const assistant: Message = {
      role: 'assistant',
      content,
      // The loop gave the repeated id another one.
      toolCalls: [
        { id: 'c1', name: 'add', arguments: { a: 1 } },
        { id: 'c1-2', name: 'add', arguments: { a: 2 } },
      ],
      provider: written.ok ? written.value : null,
    };
    await ask(model, { stream }, request({ messages: [assistant] }));
    expect(model.calls[1]!.prompt).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { fake: { signature: 'S1', n: 1.5 } } },
          { type: 'text', text: 'First.' },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'add',
            input: { a: 1 },
            providerOptions: { fake: { thoughtSignature: 'S2' } },
          },
          { type: 'tool-call', toolCallId: 'c1-2', toolName: 'add', input: { a: 2 } },
          { type: 'text', text: ' Second.' },
        ],
      },
    ]);
    // Another provider's model gets the plain text and calls.
    const other = fake(version, [[finish()]], 'other');
    await ask(other, { stream }, request({ messages: [assistant] }));
    expect(other.calls[0]!.prompt).toMatchObject([
      { content: [{ type: 'text', text: content }, { toolCallId: 'c1' }, { toolCallId: 'c1-2' }] },
    ]);
    expect(JSON.stringify(other.calls)).not.toContain('S1');
  });

  test('an error status is a refusal that cost nothing; a wait that it asks for is kept', async () => {
    const limited = Object.assign(new Error('slow down'), {
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { 'retry-after': '7' },
    });
    const clock = fakeClock();
    const model = fake(version, [limited, [...text('0', 'ok'), finish()]]);
    const answered = ask(model, { stream, maxAttempts: 2, clock });
    await clock.advance(6999);
    expect(model.calls).toHaveLength(1);
    await clock.advance(1);
    expect(await answered).toMatchObject({
      content: 'ok',
      failedAttempts: [{ error: '429 slow down' }],
    });
    const refused = await failure(
      ask(fake(version, [limited]), { stream }, request({ secondsLeft: 3 })),
    );
    expect(refused.failedAttempts).toEqual([{ error: '429 slow down' }]);
  });

  test('an aborted run ends in an error, and is not tried again', async () => {
    const abort = new AbortController();
    const model = fake(version, []);
    const hanging: AiSdkModel = {
      ...model,
      doGenerate: async ({ abortSignal }: AiSdkCallOptions) => {
        await new Promise((_resolve, reject) => {
          abortSignal!.addEventListener('abort', () => reject(new Error('AbortError')));
        });
        return {};
      },
      // A provider that doesn't watch the signal once it streams.
      doStream: async () => ({ stream: new ReadableStream({ start() {} }) }),
    };
    const answered = ask(hanging, { stream, maxAttempts: 5 }, request({ signal: abort.signal }));
    const refused = failure(answered);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect((await refused).failedAttempts).toEqual([
      { error: 'aborted', usage: null, streamed: 0 },
    ]);
  });
});

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  const resolvers: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => resolvers.push(resolve));
  return { promise, resolve: (value) => resolvers[0]?.(value) };
}

describe('aborts', () => {
  test('a model that ignores the signal is not waited for; its stream is cancelled when it comes', async () => {
    const abort = new AbortController();
    const { promise, resolve: give } = deferred<{ stream: ReadableStream<unknown> }>();
    const late: AiSdkModel = { ...fake('v3', []), doStream: () => promise };
    const refused = failure(ask(late, {}, request({ signal: abort.signal })));
    abort.abort();
    expect((await refused).message).toBe('aborted');
    await new Promise<void>((resolve) => {
      give({ stream: new ReadableStream({ cancel: () => resolve() }) });
    });
  });

  test('attempts before it are told of, and what had streamed in', async () => {
    const abort = new AbortController();
    const clock = fakeClock();
    const model = fake('v3', [new TypeError('terminated'), text('0', 'h😀', 'more')]);
    const asked = request({ signal: abort.signal, onDelta: () => abort.abort() });
    const refused = failure(ask(model, { maxAttempts: 3, clock }, asked));
    await clock.advance(500);
    expect((await refused).failedAttempts).toEqual([
      { error: 'connection failed: no answer', usage: null, streamed: 0 },
      { error: 'aborted', usage: null, streamed: 2 },
    ]);
  });

  test('an error after the stream began has an unknown cost, whatever its status', async () => {
    const stream = new ReadableStream({
      pull: (it) => it.error(Object.assign(new Error('no'), { statusCode: 500 })),
    });
    const model: AiSdkModel = { ...fake('v3', []), doStream: async () => ({ stream }) };
    expect((await failure(ask(model))).failedAttempts).toEqual([
      { error: '500 no', usage: null, streamed: 0 },
    ]);
  });
});

describe('usage', () => {
  const cases: [string, Version, unknown, object | null][] = [
    ['nothing', 'v3', {}, null],
    ['null', 'v2', null, null],
    ['flat nonsense', 'v2', { inputTokens: Number.NaN, outputTokens: -5, totalTokens: '12' }, null],
    [
      'every leaf unknown',
      'v3',
      {
        inputTokens: {
          total: undefined,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
      null,
    ],
    [
      'all parts',
      'v4',
      {
        inputTokens: { total: 130, noCache: 10, cacheRead: 100, cacheWrite: 20 },
        outputTokens: { total: 9, text: 5, reasoning: 4 },
      },
      { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 4 },
    ],
    [
      'totals and some parts',
      'v3',
      {
        inputTokens: { total: 130, cacheRead: 100 },
        outputTokens: { total: 9, reasoning: 4 },
      },
      { input: 30, cacheRead: 100, cacheWrite: null, output: 5, reasoning: 4 },
    ],
    [
      'reasoning is what text leaves of the total',
      'v3',
      {
        inputTokens: { total: 1 },
        outputTokens: { total: 9, text: 5 },
      },
      { input: 1, cacheRead: null, cacheWrite: null, output: 5, reasoning: 4 },
    ],
    [
      'v2, cached input included',
      'v2',
      {
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 15,
        cachedInputTokens: 4,
        reasoningTokens: 3,
      },
      { input: 6, cacheRead: 4, cacheWrite: null, output: 2, reasoning: 3 },
    ],
    [
      'v2, Google: reasoning apart',
      'v2',
      {
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 18,
        reasoningTokens: 3,
      },
      { input: 10, cacheRead: null, cacheWrite: null, output: 5, reasoning: 3 },
    ],
  ];
  test.each(cases)('%s', async (_name, version, usage, expected) => {
    const finish = { ...finishOf(version), usage };
    expect((await ask(fake(version, [[finish]]))).usage).toEqual(expected);
  });
});

const tool = (
  callId: string,
  ok: boolean,
  content: string,
  note?: string,
  name = 'add',
): Message => ({
  role: 'tool',
  callId,
  name,
  ok,
  content,
  ...(note === undefined ? {} : { note }),
});

const part = (toolCallId: string, output: object): object => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'add',
  output,
});

describe('prompts', () => {
  test('say the conversation, with the results of a turn together and notes beside values', async () => {
    const model = fake('v3', [[finishOf('v3')]]);
    const messages: Message[] = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'add' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'a', name: 'no:such', arguments: {}, raw: 'x' }],
      },
      tool('a', true, '3', undefined, 'no:such'),
      tool('b', false, 'boom'),
      tool('c', true, '3', 'the same again'),
      tool('d', false, 'boom', 'the same again'),
      tool('e', true, '', 'the same again'),
      { role: 'assistant', content: 'hm', toolCalls: [] },
      tool('f', true, '4'),
    ];
    await ask(model, {}, request({ messages }));
    const note = { type: 'text', text: 'the same again' };
    expect(model.calls[0]!.prompt).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'add' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'no_such', input: {} }],
      },
      {
        role: 'tool',
        content: [
          { ...part('a', { type: 'text', value: '3' }), toolName: 'no_such' },
          part('b', { type: 'error-text', value: 'boom' }),
          part('c', { type: 'content', value: [{ type: 'text', text: '3' }, note] }),
          part('d', { type: 'error-json', value: { error: 'boom', note: 'the same again' } }),
          part('e', { type: 'content', value: [note] }),
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'hm' }] },
      { role: 'tool', content: [part('f', { type: 'text', value: '4' })] },
    ]);
  });

  test('tools, the output limit and the signal are handed on', async () => {
    const model = fake(
      'v3',
      [0, 1].map(() => [finishOf('v3')]),
    );
    const { signal } = new AbortController();
    const tools = [{ name: 'add', description: 'adds', inputSchema: { type: 'object' } }];
    await ask(model, {}, request({ maxOutputTokens: 40, signal, tools }));
    await ask(model);
    expect(model.calls[0]).toEqual({
      prompt: [],
      tools: [
        { type: 'function', name: 'add', description: 'adds', inputSchema: { type: 'object' } },
      ],
      toolChoice: { type: 'auto' },
      maxOutputTokens: 40,
      abortSignal: signal,
    });
    expect(Object.keys(model.calls[1]!).toSorted()).toEqual(['abortSignal', 'prompt']);
  });
});

describe('streams that fail', () => {
  test('a stream without finish is a failure of unknown cost, and is tried again', async () => {
    const model = fake('v3', [text('0', 'half'), [...text('0', 'whole'), finishOf('v3')]]);
    const clock = fakeClock();
    const answered = ask(model, { maxAttempts: 2, clock });
    await clock.advance(10_000);
    expect(await answered).toMatchObject({
      content: 'whole',
      failedAttempts: [{ error: 'the answer broke off before its end', usage: null, streamed: 4 }],
    });
  });

  test.each<[unknown, string, boolean]>([
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'Overloaded', true],
    [{ type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }, 'bad', true],
    [new Error('broken'), 'broken', true],
    ['just words', 'just words', true],
    [{ isRetryable: false, message: 'never', statusCode: 500 }, '500 never', false],
    [
      { message: 'paid out', isRetryable: true, responseBody: '{"code":"insufficient_quota"}' },
      'paid out',
      false,
    ],
    [{}, 'no message', true],
  ])('an error part %j is a failure, though a finish follows', async (error, message, retried) => {
    const later = { type: 'error', error: new Error('a later one') };
    const parts = [...text('0', 'x'), { type: 'error', error }, later, finishOf('v3')];
    const model = fake('v3', [parts, [finishOf('v3')]]);
    const clock = fakeClock();
    const answered = ask(model, { maxAttempts: 2, clock }).catch((reason: unknown) => reason);
    await clock.advance(10_000);
    await answered;
    expect(model.calls).toHaveLength(retried ? 2 : 1);
    const once = await failure(ask(fake('v3', [parts])));
    expect(once.message).toContain(message);
    expect(once.failedAttempts).toMatchObject([{ usage: known }]);
  });

  test('parts it does not know are passed over; an id that comes again opens a new text', async () => {
    const parts = [
      { type: 'ping' },
      { type: 'custom', kind: 'x' },
      { type: 'text-delta', id: '0', delta: 'no start, ' },
      ...text('0', 'one, ', ''),
      ...text('0', 'two \ud83d'),
      { type: 'raw', rawValue: 1 },
      finishOf('v4'),
    ];
    expect(await ask(fake('v4', [parts]))).toMatchObject({ content: 'no start, one, two \ufffd' });
  });

  test('encrypted reasoning without text is carried, empty parts are not', async () => {
    const start = { type: 'reasoning-start', id: '0' };
    const signed = { ...start, providerMetadata: { fake: { redactedData: 'D' } } };
    const carriedParts = (await ask(fake('v3', [[signed, ...text('1'), finishOf('v3')]]))).provider;
    expect(carriedParts).toEqual({
      provider: 'fake',
      parts: [{ type: 'reasoning', text: '', providerOptions: { fake: { redactedData: 'D' } } }],
    });
    expect((await ask(fake('v3', [[start, finishOf('v3')]]))).provider).toBeUndefined();
  });

  test('metadata that cannot be recorded is a failure', async () => {
    const start = { type: 'text-start', id: '0', providerMetadata: { fake: { big: 1n } } };
    const error = await failure(ask(fake('v3', [[start, finishOf('v3')]])));
    expect(error.message).toBe("the model returned providerMetadata that can't be recorded");
  });
});

describe('errors', () => {
  test.each<[string, object, string, object]>([
    [
      'a key in a message',
      { statusCode: 401, message: 'Incorrect API key: sk-abc123' },
      '401 Incorrect API key: <key>',
      {},
    ],
    [
      'an answer that was not JSON',
      { statusCode: 200, message: 'Invalid JSON response' },
      'Invalid JSON',
      { usage: null, streamed: 0 },
    ],
    [
      'no connection',
      {
        isRetryable: true,
        message: 'Cannot connect',
        cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      },
      'connection failed: ECONNREFUSED',
      {},
    ],
    [
      'no key',
      { name: 'AI_LoadAPIKeyError', message: 'API key is missing' },
      'API key is missing',
      {},
    ],
  ])('%s', async (_name, members, message, attempt) => {
    const error = await failure(ask(fake('v3', [Object.assign(new Error('unset'), members)])));
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('sk-abc');
    expect(error.failedAttempts).toEqual([{ error: expect.any(String) as unknown, ...attempt }]);
  });

  test("Google's wait is read from the body", async () => {
    const clock = fakeClock();
    const busy = Object.assign(new Error('busy'), {
      statusCode: 429,
      isRetryable: true,
      responseBody: '{"error":{"details":[{"retryDelay": "34s"}]}}',
    });
    const model = fake('v2', [busy, [finishOf('v2')]]);
    const answered = ask(model, { maxAttempts: 2, clock });
    await clock.advance(33_999);
    expect(model.calls).toHaveLength(1);
    await clock.advance(1);
    await answered;
    expect(model.calls).toHaveLength(2);
  });

  test('a result that is none is a failure', async () => {
    const model: AiSdkModel = { ...fake('v3', []), doGenerate: async () => ({}) };
    const error = await failure(ask(model, { stream: false }));
    expect(error.message).toBe('the model returned something without content');
  });
});

/** Checked by the compiler: models of the SDK's own types are taken. */
const take = (v2: LanguageModelV2, v3: LanguageModelV3) => [fromAiSdk(v2), fromAiSdk(v3)];

describe('fromAiSdk', () => {
  test('is named after the model, and priced', () => {
    const { id, price } = fromAiSdk(fake('v3', []), { price: { input: 1, output: 2 } });
    expect([id, price]).toEqual(['ai-sdk:fake:m-1', { input: 1, output: 2 }]);
  });

  test.each<[object, RegExp]>([
    [
      { streams: true },
      /^fromAiSdk: unknown option 'streams'; the options are stream, maxAttempts/,
    ],
    [{ stream: 1 }, /^stream: expected true or false, got 1/],
  ])('refuses the options %j', (options, message) => {
    expect(() => fromAiSdk(fake('v3', []), options)).toThrow(message);
  });

  test.each<[unknown, RegExp]>([
    ['openai/gpt-5', /got the name "openai\/gpt-5"; make the model with its provider's package/],
    [null, /expected a language model of the AI SDK, got null/],
    [
      { ...fake('v3', []), specificationVersion: 'v1' },
      /^specificationVersion: expected v2, v3 or v4, got "v1"/,
    ],
    [{ ...fake('v3', []), modelId: undefined }, /^modelId: expected a string, got nothing/],
    [{ ...fake('v3', []), doStream: undefined }, /^doStream: expected a method, got nothing/],
  ])('refuses %j', (model, message) => {
    expect(() => fromAiSdk(model as AiSdkModel)).toThrow(TypeError);
    expect(() => fromAiSdk(model as AiSdkModel)).toThrow(message);
  });

  test("takes the SDK's own types", () => {
    expect(take).toBeTypeOf('function');
  });
});
