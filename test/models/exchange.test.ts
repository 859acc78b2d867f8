import { getEventListeners } from 'node:events';
import { OpenAI } from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { openai, type OpenAIClient } from '../../src/models/openai.ts';
import { ask, askInVain, waitThenAdvance } from '../../src/testing/conformance-case.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { startProvider, type StubProvider } from '../../src/testing/provider.ts';
import { canonicalJson } from '../../src/transcript/index.ts';
import { listening } from './request.ts';

/** A client whose answers are made up, and that keeps the signals it was given. */
function client(
  answer: () => Response | Promise<Response>,
): OpenAIClient & { readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    signals,
    chat: {
      completions: {
        create: (_, { signal }) => {
          signals.push(signal);
          return { asResponse: async () => answer() };
        },
      },
    },
  };
}

const json = (body: unknown): Response => Response.json(body);
const stream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const CHOICE = { message: { content: 'hi' }, finish_reason: 'stop' };

/** The choice of a message and of a stream alike. */
const BOTH = { ...CHOICE, delta: CHOICE.message };
const events = (...datas: unknown[]): string =>
  datas
    .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join('');

let provider: StubProvider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

describe('answers', () => {
  test('a server that never streams is understood', async () => {
    const model = openai({ model: 'm', client: client(() => json({ choices: [CHOICE] })) });
    expect(await ask({ model })).toMatchObject({ content: 'hi', usage: null });
  });

  test.each([
    ['numbers keep their spelling', '{"a":1.0,"b":12345678901234567890}'],
    ['keys that are no keys', '{"__proto__":1}'],
  ])('arguments as an object: %s', async (_, written) => {
    const body = `{"choices":[{"message":{"tool_calls":[{"function":{"name":"t","arguments":${written}}}]}}]}`;
    const answer = () => new Response(body, { headers: { 'content-type': 'application/json' } });
    const { toolCalls } = await ask({ model: openai({ model: 'm', client: client(answer) }) });
    expect(canonicalJson(toolCalls?.[0]?.arguments)).toBe(written);
  });

  test.each([
    ['an event that is not JSON', 'data: {"choices"\n\n', 'the stream broke off inside an event'],
    ['no event at all', '', 'the stream ended before the answer did'],
    ['an end and nothing before', 'data: [DONE]\n\n', 'the answer has no message'],
    [
      'an error for a finish reason',
      'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n',
      'the provider ended its answer with an error',
    ],
  ])('%s is no answer', async (_, text, problem) => {
    const model = openai({ model: 'm', maxAttempts: 1, client: client(() => stream(text)) });
    const error = await askInVain(ask({ model }));
    expect(error.message).toBe(problem);
    expect(error.failedAttempts).toEqual([{ error: problem, usage: null, streamed: 0 }]);
  });

  const NO_MESSAGE = 'the answer has no message';
  const ODD = "the answer's content is neither text nor a list of parts";
  test.each<[unknown, string]>([
    [{}, NO_MESSAGE],
    [null, NO_MESSAGE],
    ['x', NO_MESSAGE],
    [{ finish_reason: 'stop' }, NO_MESSAGE],
    [{ finish_reason: 'stop', message: null, delta: null }, NO_MESSAGE],
    [{ finish_reason: 'stop', message: { content: 5 }, delta: { content: 5 } }, ODD],
    [{ finish_reason: 'stop', message: { content: {} }, delta: { content: {} } }, ODD],
  ])(
    'the choice %j is a broken answer, whole or streamed, and worth another try',
    async (choice, problem) => {
      for (const made of [json, (body: unknown) => stream(events(body, '[DONE]'))]) {
        let sent = 0;
        const answers = client(() => made({ choices: [(sent += 1) === 1 ? choice : BOTH] }));
        const clock = fakeClock();
        const asked = ask({ model: openai({ model: 'm', client: answers, clock }) });
        await waitThenAdvance(clock, 500);
        const { content, failedAttempts } = await asked;
        expect(content).toBe('hi');
        expect(failedAttempts).toEqual([{ error: problem, usage: null, streamed: 0 }]);
      }
    },
  );

  test('a function call of the old form is a tool call', async () => {
    const called = { name: 'add', arguments: '{"a":1}' };
    const whole = { choices: [{ message: { content: null, function_call: called } }] };
    const pieces = [{ name: 'add', arguments: '' }, { arguments: '{"a"' }, { arguments: ':1}' }];
    const deltas = pieces.map((piece) => ({ choices: [{ delta: { function_call: piece } }] }));
    for (const answer of [json(whole), stream(events(...deltas, '[DONE]'))]) {
      const { toolCalls } = await ask({
        model: openai({ model: 'm', client: client(() => answer) }),
      });
      expect(toolCalls).toEqual([called]);
    }
  });

  test.each(['text/plain', 'TEXT/EVENT-STREAM', ''])(
    'a stream labelled %j is one',
    async (label) => {
      for (const before of ['', '\n: hello\n\n', 'event: x\n']) {
        const text = `${before}${events({ choices: [BOTH] }, '[DONE]')}`;
        const made = client(() => new Response(text, { headers: { 'content-type': label } }));
        const [asked, deltas] = listening();
        expect(await openai({ model: 'm', client: made })(asked)).toMatchObject({ content: 'hi' });
        expect(deltas).toEqual([{ kind: 'text', text: 'hi' }]);
      }
    },
  );

  test('its label alone tells a stream that begins with an unknown field', async () => {
    const text = `what: x\n${events({ choices: [BOTH] }, '[DONE]')}`;
    const headers = { 'content-type': 'Text/Event-Stream' };
    const model = openai({ model: 'm', client: client(() => new Response(text, { headers })) });
    expect((await ask({ model })).content).toBe('hi');
  });

  test('an answer that would fill the memory is a failure, and not asked for again', async () => {
    const part = new Uint8Array(2 ** 20).fill(0x20);
    const made = client(() => {
      let left = 65;
      const body = new ReadableStream<Uint8Array>({
        pull: (it) => ((left -= 1) < 0 ? it.close() : it.enqueue(part)),
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    });
    const error = await askInVain(ask({ model: openai({ model: 'm', client: made }) }));
    expect(error.message).toBe('the answer is larger than a record may be');
    expect(error.failedAttempts).toEqual([{ error: error.message, usage: null, streamed: 0 }]);
  });

  test('what was reported before an error event is known', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 3 };
    const text = events(
      { choices: [{ delta: { content: 'h😀' } }], usage },
      { error: { code: 400 } },
    );
    const made = client(() => stream(text));
    const { failedAttempts } = await askInVain(
      ask({ model: openai({ model: 'm', client: made }) }),
    );
    expect(failedAttempts).toMatchObject([{ usage: { input: 10, output: 3 }, streamed: 2 }]);
  });

  test('an error that is nested too deep for the SDK is an error in words', async () => {
    const deep = `{"error":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`;
    const fetch = (): Promise<Response> => Promise.resolve(new Response(deep, { status: 400 }));
    const made = new OpenAI({ apiKey: 'k', fetch });
    const error = await askInVain(ask({ model: openai({ model: 'm', client: made }) }));
    expect(error.message).toBe("the provider's error is nested too deep to be read");
  });

  test.each([302, 304])('status %i is said once, and costs nothing', async (status) => {
    const fetch = (): Promise<Response> => Promise.resolve(new Response(null, { status }));
    const made = new OpenAI({ apiKey: 'k', fetch });
    const error = await askInVain(ask({ model: openai({ model: 'm', client: made }) }));
    expect(error.message).toMatch(/^30[24] instead of an answer/);
    expect(error.failedAttempts).toEqual([{ error: error.message }]);
  });

  test('a client that ignores the signal is not waited for', async () => {
    const controller = new AbortController();
    const model = openai({ model: 'm', client: client(() => new Promise(() => {})) });
    const asked = askInVain(ask({ model }, { signal: controller.signal }));
    controller.abort();
    expect((await asked).failedAttempts).toEqual([{ error: 'aborted', usage: null, streamed: 0 }]);
  });

  test('other choices, odd chunks and a choice without a delta are passed over', async () => {
    const text = [
      '{"choices":[{"index":1,"delta":{"content":"other"}}]}',
      '[]',
      '{"choices":null}',
      '{"choices":[{"index":0}]}',
      '{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{}]}}]}',
      '{"choices":[{"index":0,"delta":{"content":"mine"},"finish_reason":"stop"}]}',
    ];
    const body = text.map((data) => `data: ${data}\n\n`).join('');
    const model = openai({ model: 'm', client: client(() => stream(body)) });
    expect((await ask({ model })).content).toBe('mine');
  });

  test('lone surrogates, which no file can hold, are replaced', async () => {
    const body = `data: {"choices":[{"delta":{"content":"a\\ud800"},"finish_reason":"stop"}]}\n\n`;
    const model = openai({ model: 'm', client: client(() => stream(body)) });
    expect((await ask({ model })).content).toBe('a\uFFFD');
  });

  test('every request has a signal of its own, which ends with it', async () => {
    const made = client(() => json({ choices: [CHOICE] }));
    const { signal } = new AbortController();
    await ask({ model: openai({ model: 'm', client: made }) }, { signal });
    expect(made.signals).toHaveLength(1);
    expect(made.signals[0]).not.toBe(signal);
    expect(made.signals[0]?.aborted).toBe(true);
    expect(signal.aborted).toBe(false);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a connection that stays open after the end is not waited for long', async () => {
    provider = await startProvider({
      turns: [{ content: 'whole', fault: { kind: 'silence', afterEvents: 1000 } }],
    });
    const clock = fakeClock();
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k', clock });
    const asked = ask({ model });
    await waitThenAdvance(clock, 1000);
    expect(await asked).toMatchObject({ content: 'whole', usage: { input: 10, output: 5 } });
  });

  test('nor is one on which nothing comes after the finish reason', async () => {
    provider = await startProvider({
      turns: [{ content: 'whole', fault: { kind: 'silence', afterEvents: 3 } }],
    });
    const clock = fakeClock();
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k', clock });
    const asked = ask({ model });
    await waitThenAdvance(clock, 1000);
    expect(await asked).toEqual({ content: 'whole', toolCalls: [], usage: null, stop: 'end' });
  });

  test('a connection that breaks after the finish reason breaks nothing', async () => {
    provider = await startProvider({
      turns: [{ content: 'whole', fault: { kind: 'cut', afterEvents: 3 } }],
    });
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' });
    expect(await ask({ model })).toMatchObject({ content: 'whole', usage: null });
  });
});
