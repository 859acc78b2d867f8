import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  loadScript,
  recordedTools,
  recordedTurns,
  scripted,
  ScriptError,
  type Recording,
} from '../../src/models/scripted.ts';
import { readArguments } from '../../src/run/arguments.ts';
import { type ModelReply } from '../../src/run/model.ts';
import { run } from '../../src/run/run.ts';
import { type Tool } from '../../src/run/tool.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { parseRecord } from '../../src/transcript/index.ts';
import { request } from './request.ts';

const samples = new URL('../testdata/samples/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, samples), 'utf8'));
const TAU = 'tau-bench/public-gpt4o-airline-109.json';
const CHAT = 'openai-chat/generated-messages.json';

const calls = (name: string, ...args: string[]): object => ({
  role: 'assistant',
  content: null,
  tool_calls: args.map((text, i) => ({
    id: `c${i}`,
    type: 'function',
    function: { name, arguments: text },
  })),
});
const result = (id: string | undefined, content: unknown): object => ({
  role: 'tool',
  ...(id === undefined ? {} : { tool_call_id: id }),
  content,
});
const says = (content: string): object => ({ role: 'assistant', content });
const user = { role: 'user', content: 'go on' };

/** Calls as a loop does: with arguments that were read, and not at all where they can't be. */
function call(tools: readonly Tool[], name: string, args: string): unknown {
  const tool = tools.find((one) => one.name === name)!;
  const context = { signal: new AbortController().signal, callId: 'x', idempotencyKey: 'x' };
  const { value, problem } = readArguments(args);
  return problem ?? tool.execute(value, context);
}

describe('recordedTurns', () => {
  test('text of a conversation that goes on is said with the next turn', () => {
    const recording = [
      { role: 'system', content: 's' },
      user,
      says('first'),
      user,
      says(''),
      user,
      says('second'),
      calls('a', '{}'),
      result('c0', 'r'),
      says('third'),
      user,
      says('fourth'),
    ];
    expect(recordedTurns(recording)).toEqual([
      { content: 'first\n\nsecond', tool_calls: [{ id: 'c0', name: 'a', arguments: '{}' }] },
      { content: 'third\n\nfourth' },
    ]);
  });

  test('a recording that ends on results ends there, unless it is given a closing', () => {
    const recording = [calls('a', '{}'), result('c0', 'r')];
    expect(recordedTurns(recording)).toHaveLength(1);
    expect(recordedTurns(recording, { closing: 'done' })[1]).toEqual({ content: 'done' });
    expect(recordedTurns([...recording, says('')], { closing: 'done' })[1]).toEqual({
      content: '',
    });
    expect(recordedTurns([user])).toEqual([]);
  });

  test('reads contents of parts, and calls without ids', () => {
    const recording = [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }],
        tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }],
        extra: 1,
      },
    ];
    expect(recordedTurns(recording)).toEqual([
      { content: 'ab', tool_calls: [{ name: 'f', arguments: { x: 1 } }] },
    ]);
  });

  test.each<[unknown, string]>([
    [
      7,
      'messages: expected an array of messages, or an object with one as messages or traj, got 7',
    ],
    [{ traj: null }, 'traj: expected an array'],
    [{ messages: [5] }, 'messages[0]: expected a message (an object), got 5'],
    [[{ role: 'assistant', function_call: {} }], 'messages[0].function_call: this old form'],
    [
      [{ role: 'assistant', tool_calls: 'x' }],
      'messages[0].tool_calls: expected an array, got "x"',
    ],
    [
      [{ role: 'tool', content: [{ type: 'text' }] }],
      'messages[0].content[0].text: expected a string',
    ],
    [
      [calls('f'), { role: 'assistant', tool_calls: [{ function: { name: 'f' } }] }],
      'messages[1].tool_calls[0].function.arguments: expected a string of JSON, or an object',
    ],
  ])('%j is refused with the path', (recording, message) => {
    expect(() => recordedTurns(recording)).toThrow(ScriptError);
    expect(() => recordedTurns(recording)).toThrow(message);
  });
});

describe('recordedTools', () => {
  test('answer with the recorded results, in the order of the calls', () => {
    const tools = recordedTools([
      calls('a', '{"n":1}', '{"n":2}'),
      result('c1', 'second'),
      result('c0', 'first'),
      calls('b', '{}'),
      result(undefined, [{ type: 'text', text: 'third' }]),
      calls('a', '{"n": 1, "m": 2}'),
      result('c0', null),
    ]);
    expect(tools.map(({ name, parallel }) => [name, parallel])).toEqual([
      ['a', false],
      ['b', false],
    ]);
    expect(call(tools, 'a', '{"n":1}')).toBe('first');
    expect(call(tools, 'a', '{"n":2}')).toBe('second');
    expect(call(tools, 'b', '{}')).toBe('third');
    expect(call(tools, 'a', '{"m":2,"n":1}')).toBe('');
    expect(() => call(tools, 'b', '{}')).toThrow('it has no call 5, and b was called');
  });

  test('say where the run leaves the recording', () => {
    const recording = [calls('a', '{"n":1}'), result('c0', 'r'), calls('b', '{}')];
    expect(() => call(recordedTools(recording), 'a', '{"n":2}')).toThrow(
      'the run left the recording at call 1: recorded a({"n":1}), called a({"n":2})',
    );
    expect(() => call(recordedTools(recording), 'b', '{"n":1}')).toThrow('called b({"n":1})');
    const tools = recordedTools(recording);
    call(tools, 'a', '{"n":1}');
    expect(() => call(tools, 'b', '{}')).toThrow('the recording has no result for call 2, b');
  });

  test('pass over calls that a loop answers itself', () => {
    const tools = recordedTools([
      calls('a', 'not json', '{"n":1}', '[]'),
      result('c0', 'invalid'),
      result('c1', 'one'),
      result('c2', 'invalid'),
      calls('a', '{"n":12345678901234567890}', ''),
      result('c0', 'inexact'),
      result('c1', 'empty'),
    ]);
    expect(call(tools, 'a', 'not json')).toMatch('not valid JSON');
    expect(call(tools, 'a', '{"n":1}')).toBe('one');
    expect(call(tools, 'a', '')).toBe('empty');
  });
});

describe.each([
  [TAU, 23, true],
  [CHAT, 7, false],
])('the recorded conversation %s', (name, callCount, endsOnResult) => {
  test('is driven to its end as one run', async () => {
    const recording = read(name) as Recording;
    const closing = recordedTurns(recording, { closing: 'closed' });
    expect(closing.at(-1)?.content === 'closed').toBe(endsOnResult);
    const model = scripted(closing);
    const tools = recordedTools(recording);
    const results: unknown[] = [];
    for (let answered = false; !answered;) {
      const reply: ModelReply = await model(request());
      answered = (reply.toolCalls ?? []).length === 0;
      for (const { name: tool, arguments: args } of reply.toolCalls ?? []) {
        results.push(call(tools, tool, typeof args === 'string' ? args : 'not text'));
      }
    }
    model.finish();
    expect(results).toHaveLength(callCount);
    const list = Object.entries(recording).find(
      ([key]) => key === 'traj' || key === 'messages',
    )![1];
    const recorded = (list as { role: string; content: string }[]).filter(
      ({ role }) => role === 'tool',
    );
    expect(results).toEqual(recorded.map(({ content }) => content));
  });
});

test('a real run of a recorded conversation gives the recorded results', async () => {
  const recording = read(TAU) as Recording;
  const store = memoryStore();
  const model = scripted(recordedTurns(recording, { closing: 'closed' }));
  const outcome = await run({
    task: 'the recorded one',
    model,
    tools: recordedTools(recording),
    budget: { steps: 50, toolCalls: 50 },
    transcript: store,
  });
  expect(outcome).toMatchObject({ reason: 'no_tool_calls', answer: 'closed' });
  model.finish();
  let text = '';
  for await (const bytes of store.read()) text += new TextDecoder().decode(bytes);
  const payloads = text
    .trimEnd()
    .split('\n')
    .map((line) => parseRecord(line))
    .filter(({ kind }) => kind === 'tool')
    .map(({ payload }) => payload);
  const { traj } = recording as { traj: { role: string; content?: unknown }[] };
  const recorded = traj.filter(({ role }) => role === 'tool');
  expect(payloads).toMatchObject(recorded.map(({ content }) => ({ ok: true, value: content })));
  expect(payloads).toHaveLength(23);
});

test('a run that leaves the recording is told so by the tool', async () => {
  const store = memoryStore();
  const model = scripted([
    { tool_calls: [{ name: 'bash', arguments: { command: 'rm -r x' } }] },
    'over',
  ]);
  await run({ task: 't', model, tools: recordedTools(read(CHAT)), transcript: store });
  const told = model.requests[1]?.messages.at(-1);
  expect(told).toMatchObject({ role: 'tool', ok: false });
  expect(told?.content).toContain('the run left the recording at call 1: recorded bash(');
});

test('a recorded conversation is a script as it is', async () => {
  const model = await loadScript(fileURLToPath(new URL(CHAT, samples)));
  expect(await model(request())).toMatchObject({
    content: 'Let me look around.',
    toolCalls: [{ id: 'call_stub0_0', name: 'bash' }],
  });
});
