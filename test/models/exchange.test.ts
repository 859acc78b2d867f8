import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { openai, type OpenAIClient } from '../../src/models/openai.ts';
import { ask, askInVain, waitThenAdvance } from '../../src/testing/conformance-case.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { startProvider, type StubProvider } from '../../src/testing/provider.ts';
import { canonicalJson } from '../../src/transcript/index.ts';

/** A client whose answers are made up, and that keeps the signals it was given. */
function client(answer: () => Response): OpenAIClient & { readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    signals,
    chat: {
      completions: {
        create: (_, { signal }) => {
          signals.push(signal);
          return { asResponse: () => Promise.resolve(answer()) };
        },
      },
    },
  };
}

const json = (body: unknown): Response => Response.json(body);
const stream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const CHOICE = { message: { content: 'hi' }, finish_reason: 'stop' };

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
    ['an end and nothing before', 'data: [DONE]\n\n', 'the answer has no choices'],
    [
      'an error for a finish reason',
      'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n',
      'the provider ended its answer with an error',
    ],
  ])('%s is no answer', async (_, text, problem) => {
    const model = openai({ model: 'm', maxAttempts: 1, client: client(() => stream(text)) });
    const error = await askInVain(ask({ model }));
    expect(error.message).toBe(problem);
    expect(error.failedAttempts).toEqual([{ error: problem, usage: null }]);
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

  test('a connection that breaks after the finish reason breaks nothing', async () => {
    provider = await startProvider({
      turns: [{ content: 'whole', fault: { kind: 'cut', afterEvents: 3 } }],
    });
    const model = openai({ model: 'm', baseURL: provider.openaiURL, apiKey: 'k' });
    expect(await ask({ model })).toMatchObject({ content: 'whole', usage: null });
  });
});
