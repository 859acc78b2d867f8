import { afterEach, describe, expect, test } from 'vitest';
import { startProvider, type StubProvider } from '../../src/testing/provider.ts';
import { type StubAnswer } from '../../src/testing/provider-script.ts';

let provider: StubProvider;
afterEach(async () => {
  await provider.close();
});

const OPENAI = { authorization: 'Bearer k' };
const ANTHROPIC = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };

async function post(path: string, body: unknown, headers: Record<string, string>) {
  const response = await fetch(provider.url + path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const chat = (body: object, headers: Record<string, string> = OPENAI) =>
  post('/v1/chat/completions', { model: 'm', ...body }, headers);
const messages = (body: object, headers: Record<string, string> = ANTHROPIC) =>
  post('/v1/messages', { model: 'm', max_tokens: 9, ...body }, headers);

const start = async (...turns: StubAnswer[]) => {
  provider = await startProvider({ turns });
};

const HI = { role: 'user', content: 'hi' };

describe('the script', () => {
  test('one turn for each request, in order, or made from it', async () => {
    await start({ content: 'one' }, (request) => ({ content: `to ${request.path}` }));
    expect((await chat({ messages: [HI] })).text).toContain('"content":"one"');
    expect((await chat({ messages: [HI] })).text).toContain('"content":"to /v1/chat/completions"');
    provider.finish();
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k' },
      body: { model: 'm', messages: [HI] },
      refused: undefined,
    });
  });

  test('turns that are left are named', async () => {
    await start({}, {});
    await chat({ messages: [HI] });
    expect(() => provider.finish()).toThrow('has 1 unused turns after 1 requests');
  });

  test('a request after the last turn is refused, and named', async () => {
    await start();
    const answer = await chat({ messages: [HI] });
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('the script has no turn left for request 1');
    expect(() => provider.finish()).toThrow('no turn left for request 1');
  });

  test('another path is refused, and named', async () => {
    await start();
    expect((await post('/v1/embeddings', {}, OPENAI)).status).toBe(404);
    expect(() => provider.finish()).toThrow('unexpected request: POST /v1/embeddings');
  });

  test('a turn that throws is the fault of the script', async () => {
    await start(() => {
      throw new Error('oops');
    });
    const answer = await chat({ messages: [HI] });
    expect(answer).toMatchObject({ status: 500 });
    expect(answer.text).toContain('the script has a bad turn: oops');
    expect(() => provider.finish()).toThrow('bad turn: oops');
  });

  test('turns can be added, and requests waited for', async () => {
    await start();
    provider.add({ content: 'late' });
    const arrived = provider.arrived(1);
    await chat({ messages: [HI] });
    await arrived;
    provider.finish();
  });
});

test.each<[object, RegExp]>([
  [{ pieceBytes: 0 }, /^RangeError: pieceBytes: expected an integer of at least 1, got 0$/],
  [{ pieceBytes: 1.5 }, /^RangeError: pieceBytes/],
  [{ pieceBytes: '7' }, /^TypeError: pieceBytes/],
  [{ turns: {} }, /^TypeError: turns: expected an array of turns, got an object$/],
  [{ turn: [] }, /^TypeError: startProvider: unknown option 'turn'; the options are turns, piece/],
])('the options %j are refused', async (options, message) => {
  await start();
  const error: unknown = await startProvider(options).catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(message);
});

const CALL = { id: 'a', type: 'function', function: { name: 't', arguments: '{}' } };
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };
const RESULT = { role: 'tool', tool_call_id: 'a', content: 'x' };
const TOOL = { type: 'function', function: { name: 't', parameters: { type: 'object' } } };

describe('OpenAI refuses', () => {
  test.each<[string, object, RegExp]>([
    ['no messages', { messages: [] }, /too short - 'messages'/],
    ['no model', { model: '', messages: [HI] }, /must provide a model/],
    ['another role', { messages: [{ role: 'robot', content: '' }] }, /Invalid value: 'robot'/],
    [
      'content null',
      { messages: [{ role: 'user', content: null }] },
      /Invalid value for 'content'/,
    ],
    ['no parts', { messages: [{ role: 'user', content: [] }] }, /Invalid value for 'content'/],
    ['no calls in calls', { messages: [HI, { ...CALLING, tool_calls: [] }] }, /empty array/],
    [
      'arguments that are an object',
      {
        messages: [
          HI,
          { ...CALLING, tool_calls: [{ ...CALL, function: { name: 't', arguments: {} } }] },
          RESULT,
        ],
      },
      /arguments text/,
    ],
    [
      'a call of a name with a dot',
      {
        messages: [
          HI,
          { ...CALLING, tool_calls: [{ ...CALL, function: { name: 'a.b', arguments: '{}' } }] },
          RESULT,
        ],
      },
      /tool_calls.function.name/,
    ],
    ['a call without an answer', { messages: [HI, CALLING] }, /did not have response messages: a$/],
    ['a call answered late', { messages: [CALLING, HI, RESULT] }, /did not have response messages/],
    ['an answer without a call', { messages: [HI, RESULT] }, /must be a response to a preceding/],
    ['two answers', { messages: [HI, CALLING, RESULT, RESULT] }, /must be a response/],
    [
      'an id twice',
      { messages: [HI, { ...CALLING, tool_calls: [CALL, CALL] }, RESULT] },
      /Duplicate/,
    ],
    ['no tools in tools', { messages: [HI], tools: [] }, /too short - 'tools'/],
    [
      'a name with a dot',
      { messages: [HI], tools: [{ function: { name: 'a.b', parameters: { type: 'object' } } }] },
      /tools\[0\].function.name/,
    ],
    [
      'a schema of no object',
      { messages: [HI], tools: [{ function: { name: 'a', parameters: { type: 'string' } } }] },
      /Invalid schema/,
    ],
    ['a limit of 0', { messages: [HI], max_completion_tokens: 0 }, /max_completion_tokens/],
    ['stream options alone', { messages: [HI], stream_options: {} }, /only allowed when 'stream'/],
  ])('%s', async (_, body, problem) => {
    await start({});
    const answer = await chat(body);
    expect(answer.status).toBe(400);
    const { error } = JSON.parse(answer.text) as { error: { message: string; type: string } };
    expect(error.message).toMatch(problem);
    expect(error.type).toBe('invalid_request_error');
    expect(() => provider.finish()).toThrow('the stub provider refused a request');
  });

  test('no key, and no JSON', async () => {
    await start({});
    expect((await chat({ messages: [HI] }, {})).status).toBe(401);
    expect((await post('/v1/chat/completions', '{', OPENAI)).status).toBe(400);
  });

  test('but not what is right', async () => {
    await start({});
    const parts = [{ type: 'text', text: 'x' }];
    const answer = await chat({
      messages: [{ role: 'system', content: 's' }, HI, CALLING, { ...RESULT, content: parts }, HI],
      tools: [TOOL],
      max_completion_tokens: 1,
    });
    expect(answer.status).toBe(200);
  });
});

const USE = { type: 'tool_use', id: 'a', name: 't', input: {} };
const USING = { role: 'assistant', content: [USE] };
const ANSWER = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
const said = (...content: object[]) => ({ role: 'user', content });

describe('Anthropic refuses', () => {
  test.each<[string, object, RegExp]>([
    ['no limit', { messages: [HI], max_tokens: undefined }, /max_tokens: Field required/],
    ['a limit of 0', { messages: [HI], max_tokens: 0 }, /max_tokens/],
    ['no model', { messages: [HI], model: undefined }, /model: Field required/],
    ['no messages', { messages: [] }, /at least one message/],
    ['a system message', { messages: [{ role: 'system', content: 's' }] }, /messages.0.role/],
    ['no content', { messages: [said()] }, /non-empty content/],
    ['empty text', { messages: [said({ type: 'text', text: '' })] }, /non-whitespace/],
    ['blank text', { messages: [{ role: 'user', content: ' \n' }] }, /non-whitespace/],
    ['an open call', { messages: [HI, USING] }, /without `tool_result` blocks .*: a$/],
    ['a call that is passed over', { messages: [HI, USING, HI] }, /messages.1: `tool_use` ids/],
    ['a result of nothing', { messages: [HI, said(ANSWER)] }, /unexpected `tool_use_id`/],
    [
      'text before a result',
      { messages: [HI, USING, said({ type: 'text', text: 'x' }, ANSWER)] },
      /come first/,
    ],
    ['two results', { messages: [HI, USING, said(ANSWER, ANSWER)] }, /single result/],
    [
      'another order',
      {
        messages: [
          { role: 'assistant', content: [USE, { ...USE, id: 'b' }] },
          said({ ...ANSWER, tool_use_id: 'b' }, ANSWER),
        ],
      },
      /in order/,
    ],
    [
      'an error of nothing',
      { messages: [USING, said({ ...ANSWER, content: '', is_error: true })] },
      /is_error/,
    ],
    ['an id twice', { messages: [USING, said(ANSWER), USING, said(ANSWER)] }, /must be unique/],
    [
      'an id with a dot',
      { messages: [{ role: 'assistant', content: [{ ...USE, id: 'a.b' }] }] },
      /pattern/,
    ],
    [
      'a call of a name with a dot',
      { messages: [{ role: 'assistant', content: [{ ...USE, name: 'a.b' }] }] },
      /messages.0: name: .* pattern/,
    ],
    [
      'an input of no object',
      { messages: [{ role: 'assistant', content: [{ ...USE, input: '{}' }] }] },
      /dictionary/,
    ],
    [
      'an open end',
      { messages: [HI, { role: 'assistant', content: 'so ' }] },
      /trailing whitespace/,
    ],
    [
      'thinking of somebody else',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'thinking', thinking: 't', signature: 's' }] },
        ],
      },
      /Invalid `signature`/,
    ],
    [
      'a schema of no object',
      { messages: [HI], tools: [{ name: 't', input_schema: {} }] },
      /input_schema/,
    ],
    ['a name with a dot', { messages: [HI], tools: [{ name: 'a.b', input_schema: {} }] }, /name/],
  ])('%s', async (_, body, problem) => {
    await start({});
    const answer = await messages(body);
    expect(answer.status).toBe(400);
    const { error, request_id: id } = JSON.parse(answer.text) as {
      error: { message: string; type: string };
      request_id: string;
    };
    expect(error.message).toMatch(problem);
    expect(error.type).toBe('invalid_request_error');
    expect(id).toBe('req_1');
  });

  test('no key, no version, and no JSON', async () => {
    await start({});
    expect((await messages({ messages: [HI] }, {})).status).toBe(401);
    expect((await messages({ messages: [HI] }, { 'x-api-key': 'k' })).status).toBe(400);
    expect((await post('/v1/messages', '{', ANTHROPIC)).status).toBe(400);
  });

  test('but not what is right, its own thinking included', async () => {
    await start({ reasoning: 'hm' }, {});
    await messages({ messages: [HI] });
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'signature_1' };
    const answer = await messages({
      messages: [
        HI,
        { role: 'assistant', content: [thinking, USE] },
        said(ANSWER, { type: 'text', text: 'note' }),
      ],
      tools: [{ name: 't', input_schema: { type: 'object' } }],
    });
    expect(answer.status).toBe(200);
    provider.finish();
  });

  test('nor thinking that was changed', async () => {
    await start({ reasoning: 'hm' }, {});
    await messages({ messages: [HI] });
    const thinking = { type: 'thinking', thinking: 'hm!', signature: 'signature_1' };
    const changed = await messages({ messages: [{ role: 'assistant', content: [thinking] }] });
    expect(changed.status).toBe(400);
  });
});

describe('answers', () => {
  test('OpenAI reports usage in a stream only if it is asked to', async () => {
    await start({ content: 'hello' }, { content: 'hello' });
    const without = await chat({ messages: [HI], stream: true });
    expect(without.headers.get('content-type')).toContain('text/event-stream');
    expect(without.text).not.toContain('usage');
    expect(without.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const asked = { messages: [HI], stream: true, stream_options: { include_usage: true } };
    expect((await chat(asked)).text).toContain('"prompt_tokens":10');
  });

  test('Anthropic names its events', async () => {
    await start({ content: 'hello', toolCalls: [{ name: 't', arguments: { a: 1 } }] });
    const { text } = await messages({ messages: [HI], stream: true });
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(new Set(names)).toEqual(
      new Set([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]),
    );
    expect(text).toContain('"id":"toolu_1_0"');
  });

  test('a fault has the status, the headers and the words that it is given', async () => {
    const headers = { 'retry-after': '7' };
    await start({ fault: { kind: 'status', status: 429, message: 'slowly', headers } });
    const answer = await chat({ messages: [HI] });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('x-request-id')).toBe('req_1');
    expect(answer.text).toContain('slowly');
  });

  test('a slow answer comes', async () => {
    await start({ content: 'late', fault: { kind: 'slow', milliseconds: 1 } });
    expect((await chat({ messages: [HI] })).text).toContain('late');
  });

  test('a cut is a broken body', async () => {
    await start({ content: 'hello', fault: { kind: 'cut', afterEvents: 2 } });
    await expect(chat({ messages: [HI], stream: true })).rejects.toThrow();
  });
});
