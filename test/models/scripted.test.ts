import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  loadScript,
  parseScript,
  scripted,
  ScriptError,
  type ScriptTurn,
} from '../../src/models/scripted.ts';
import { ModelError, type Message } from '../../src/run/model.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { canonicalJson } from '../../src/transcript/index.ts';
import { listening, request } from './request.ts';

const folder = await mkdtemp(join(tmpdir(), 'hashtape-script-'));
afterAll(() => rm(folder, { recursive: true }));

describe('scripted', () => {
  test('gives its turns in order, and fails when there is none left', async () => {
    const model = scripted([
      'hello',
      { tool_calls: [{ id: 'c1', name: 'add', arguments: '{"a": 1}' }], stop: 'length' },
      { content: null, tool_calls: null, usage: null },
    ]);
    expect(await model(request())).toEqual({ content: 'hello', toolCalls: [] });
    expect(await model(request())).toEqual({
      content: '',
      toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a": 1}' }],
      stop: 'length',
    });
    expect(await model(request())).toEqual({ content: '', toolCalls: [], usage: null });
    const fourth = Promise.resolve(model(request()));
    await expect(fourth).rejects.toThrow(ModelError);
    await expect(fourth).rejects.toThrow('the script has no turn left for request 4');
    expect(model.requests).toHaveLength(4);
  });

  test('finish tells of turns that nobody asked for', async () => {
    const model = scripted({ turns: ['one', 'two', 'three'] });
    await model(request());
    expect(() => model.finish()).toThrow(
      '2 of 3 scripted turns were not asked for; the next is turn 2, "two"',
    );
    await model(request());
    await model(request());
    expect(() => model.finish()).not.toThrow();
    expect(() => scripted([]).finish()).not.toThrow();
  });

  test('is named and priced as it is told', () => {
    expect(scripted([]).id).toBe('scripted:scripted');
    const price = { input: 1, output: 2 };
    const { id, price: told } = scripted([], { name: 'x', price });
    expect([id, told]).toEqual(['scripted:x', price]);
  });

  test('a function makes each turn from the request', async () => {
    const model = scripted(async ({ messages }, index) => {
      await Promise.resolve();
      return index < 2 ? `${index}: ${messages.length}` : undefined;
    });
    expect(await model(request())).toMatchObject({ content: '0: 0' });
    expect(await model(request({ messages: [{ role: 'user', content: 'x' }] }))).toMatchObject({
      content: '1: 1',
    });
    await expect(Promise.resolve(model(request()))).rejects.toThrow('no turn left for request 3');
    expect(() => model.finish()).not.toThrow();
    // A caller without types may return anything.
    const wrong = scripted((() => 5) as unknown as () => string);
    await expect(Promise.resolve(wrong(request()))).rejects.toThrow(
      'turns[0]: expected a turn (an object or a string), got 5',
    );
  });

  test('a turn that fails throws, and charges what it used', async () => {
    const model = scripted([
      { error: 'overloaded' },
      { error: 'cut', usage: { input: 3 } },
      'after the failures',
    ]);
    await expect(Promise.resolve(model(request()))).rejects.toMatchObject({
      name: 'ModelError',
      message: 'overloaded',
      failedAttempts: [],
    });
    const usage = { input: 3, cacheRead: null, cacheWrite: null, output: null, reasoning: null };
    await expect(Promise.resolve(model(request()))).rejects.toMatchObject({
      failedAttempts: [{ error: 'cut', usage }],
    });
    expect(await model(request())).toMatchObject({ content: 'after the failures' });
  });

  test('streams its text', async () => {
    const [asked, deltas] = listening();
    await scripted(['hi'])(asked);
    await scripted([{ tool_calls: [] }])(asked);
    expect(deltas).toEqual([{ kind: 'text', text: 'hi' }]);
  });

  test('a delay takes the time of its clock', async () => {
    const clock = fakeClock();
    let reply: unknown = null;
    const answered = Promise.resolve(
      scripted([{ content: 'slow', delay: 1000 }], { clock })(request()),
    ).then((value) => (reply = value));
    await clock.advance(999);
    expect(reply).toBeNull();
    await clock.advance(1);
    await answered;
    expect(reply).toMatchObject({ content: 'slow' });
  });

  test('a delay ends when the request is aborted, also before it began', async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    const model = scripted([{ delay: 1000 }, { delay: 1000 }], { clock });
    const first = Promise.resolve(model(request({ signal: abort.signal })));
    const refused = expect(first).rejects.toThrow('the request was aborted');
    await clock.advance(1);
    abort.abort();
    await refused;
    await expect(Promise.resolve(model(request({ signal: abort.signal })))).rejects.toThrow(
      ModelError,
    );
    expect(clock.pending).toBe(0);
  });
});

test('unknown options are refused, and an abort counts', async () => {
  const options: object = { names: 'x' };
  expect(() => scripted([], options)).toThrow(
    "scripted: unknown option 'names'; the options are name, price, clock",
  );
  const aborted = Promise.resolve(
    scripted([{ delay: 1 }])(request({ signal: AbortSignal.abort() })),
  );
  await expect(aborted).rejects.toMatchObject({
    failedAttempts: [{ error: 'aborted', usage: null, streamed: 0 }],
  });
});

const spoken = (content: string, ...names: string[]): Message => ({
  role: 'assistant',
  content,
  toolCalls: names.map((name, at) => ({ id: `${at}`, name, arguments: {} })),
});
const call = (name: string) => ({ name, arguments: {} });

describe('requests', () => {
  const user: Message = { role: 'user', content: 'task' };
  const said: Message = { role: 'assistant', content: 'a', toolCalls: [] };

  test('are kept as they were, although the conversation grows in place', async () => {
    const model = scripted(['1', '2', '3']);
    const messages: Message[] = [user];
    await model(request({ messages, maxOutputTokens: 9, secondsLeft: 2 }));
    messages.push(said);
    await model(request({ messages }));
    messages.length = 0;
    expect(model.requests[0]).toEqual({
      messages: [user],
      tools: [],
      maxOutputTokens: 9,
      secondsLeft: 2,
    });
    expect(model.requests[1]?.messages).toEqual([user, said]);
  });

  test('of another conversation are kept apart, a shorter one too', async () => {
    const model = scripted(['1', '2', '3', '4']);
    const other: Message = { role: 'user', content: 'other' };
    const conversations = [[user], [other, said], [other], [user, said, other]];
    for (const messages of conversations) await model(request({ messages }));
    expect(model.requests.map(({ messages }) => messages)).toEqual(conversations);
  });

  test('of a conversation that has turns already: the script goes on behind them', async () => {
    const script = ['1', { content: '2', tool_calls: [call('a')] }, '3'];
    // A turn that isn't the script's is passed over.
    const past = [user, spoken('', 'look'), spoken('1'), user, spoken('2', 'a')];
    const model = scripted(script);
    expect((await model(request({ messages: past }))).content).toBe('3');
    expect(() => model.finish()).not.toThrow();
    const other = scripted(script);
    const unlike = [spoken('2', 'a'), spoken('1', 'a'), spoken('1'), spoken('2', 'b')];
    expect((await other(request({ messages: unlike }))).content).toBe('2');
    const made = scripted((_request, index) => `${index}`);
    expect((await made(request({ messages: past }))).content).toBe('3');
  });
});

describe('usage', () => {
  const none = { input: null, cacheRead: null, cacheWrite: null, output: null, reasoning: null };

  test.each<[string, ScriptTurn['usage'], object | null]>([
    [
      'ours',
      { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 },
      { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 },
    ],
    [
      'ours, in snake case',
      { cache_read: 2, cache_write: 3 },
      { ...none, cacheRead: 2, cacheWrite: 3 },
    ],
    ['ours, unknown', { input: null }, null],
    ['nothing', {}, null],
  ])('%s becomes five disjoint counters', async (_name, usage, expected) => {
    const turn = usage === undefined ? {} : { usage };
    const reply = await scripted([turn])(request());
    expect(reply.usage).toEqual(expected);
  });
});

describe('parseScript', () => {
  test.each<[unknown, string]>([
    [null, 'a script is {"turns": […]}'],
    [5, 'a script is {"turns": […]}'],
    [{}, 'a script is {"turns": […]}'],
    [{ turns: 1 }, 'turns: expected an array of turns, got 1'],
    [{ turns: [], turn: [] }, 'turn: not a key of a script (known: turns)'],
    [[1], 'turns[0]: expected a turn (an object or a string), got 1'],
    [[[]], 'turns[0]: expected a turn (an object or a string), got an array'],
    [[{ contents: '' }], 'turns[0].contents: not a key that is known here (known: content, '],
    [[{ content: 1 }], 'turns[0].content: expected a string or null, got 1'],
    [
      ['', '', { tool_calls: [{ name: 5, arguments: {} }] }],
      'turns[2].tool_calls[0].name: expected a string, got 5',
    ],
    [[{ tool_calls: {} }], 'turns[0].tool_calls: expected an array of calls, got an object'],
    [
      [{ tool_calls: [null] }],
      'turns[0].tool_calls[0]: expected a tool call (an object), got null',
    ],
    [
      [{ tool_calls: [{ name: 'a' }] }],
      'turns[0].tool_calls[0].arguments: expected an object, or a string of JSON, got nothing',
    ],
    [
      [{ tool_calls: [{ name: 'a', arguments: [] }] }],
      'turns[0].tool_calls[0].arguments: expected an object, or a string of JSON, got an array',
    ],
    [
      [{ tool_calls: [{ name: 'a', arguments: '', id: 7 }] }],
      'turns[0].tool_calls[0].id: expected a string or null, got 7',
    ],
    [[{ tool_calls: [{ type: 'function' }] }], 'turns[0].tool_calls[0].type: not a key'],
    [[{ stop: 'stop' }], 'turns[0].stop: expected "end", "length" or "refused", got "stop"'],
    [[{ delay: -1 }], 'turns[0].delay: expected milliseconds of at least 0, got -1'],
    [[{ delay: Infinity }], 'turns[0].delay: expected milliseconds of at least 0, got Infinity'],
    [[{ error: true }], 'turns[0].error: expected a string, got true'],
    [[{ error: 'x', content: 'y' }], 'turns[0].error: a turn that fails has no content'],
    [[{ usage: 5 }], 'turns[0].usage: expected an object or null, got 5'],
    [
      [{ usage: { input: -1 } }],
      'turns[0].usage.input: expected an integer of at least 0, or null, got -1',
    ],
    [[{ usage: { total: 1 } }], 'turns[0].usage.total: not a key that is known here'],
    [[{ usage: { prompt_tokens: 1 } }], 'turns[0].usage.prompt_tokens: not a key that is known'],
    [{ messages: 1 }, 'a script is {"turns": […]}'],
    [{ messages: [{ role: 1 }] }, 'messages[0].role: expected a string, got 1'],
    [
      { traj: [{ role: 'assistant', tool_calls: [{}] }] },
      'traj[0].tool_calls[0].function: expected an object, got nothing',
    ],
    [
      [{ role: 'assistant', content: 5 }],
      'messages[0].content: expected a string, null or an array',
    ],
  ])('%j is refused with the path to what is wrong', (data, message) => {
    expect(() => parseScript(data)).toThrow(ScriptError);
    expect(() => parseScript(data)).toThrow(message);
  });

  test('whatever it is given, it gives turns or a clear error', async () => {
    const key = fc.constantFrom(
      'turns',
      'messages',
      'traj',
      'role',
      'content',
      'tool_calls',
      'function',
      'name',
      'arguments',
      'id',
      'usage',
      'stop',
      'delay',
      'error',
      'input',
      'prompt_tokens',
      'input_tokens',
      'input_tokens_details',
      'type',
      'text',
      '__proto__',
      'toString',
    );
    const leaf = fc.oneof(
      fc.constantFrom(null, 'assistant', 'tool', 'text', 'end', '{}', '', 0, 1.5, -1, true),
      fc.string({ maxLength: 5 }),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
          // As JSON.parse does, `__proto__` becomes a key like any other.
          return JSON.parse(
            `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`,
          ) as unknown;
        }),
      ),
    }));
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(value, async (data) => {
        let turns: ScriptTurn[];
        try {
          turns = parseScript(data);
        } catch (error) {
          expect(error).toBeInstanceOf(ScriptError);
          return;
        }
        accepted += 1;
        for (const turn of turns) {
          const model = scripted([{ ...turn, delay: 0 }], {
            clock: { now: () => 0, timer: (_, f) => (f(), () => {}) },
          });
          await Promise.resolve(model(request())).catch((error: unknown) => {
            expect(error).toBeInstanceOf(ModelError);
          });
        }
      }),
      { numRuns: 3000, seed: 7 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

/** Writes a file for a test, and gives its path. */
const file = async (name: string, text: string | Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

describe('loadScript', () => {
  test('reads a file and is named after it', async () => {
    const model = await loadScript(await file('hello.json', '\uFEFF{"turns":[{"content":"hi"}]}'));
    expect(model.id).toBe('scripted:hello.json');
    expect(await model(request())).toMatchObject({ content: 'hi' });
    expect((await loadScript(await file('other.json', '[]'), { name: 'n' })).id).toBe('scripted:n');
  });

  test('numbers in arguments keep their spelling; elsewhere they are numbers', async () => {
    const written = '{"a":12345678901234567890,"b":[1.0]}';
    const turn = `{"delay":0.0,"usage":{"input":1.0},"tool_calls":[{"name":"t","arguments":${written}}]}`;
    const model = await loadScript(await file('numbers.json', `[${turn}]`));
    const { toolCalls, usage } = await model(request());
    expect(canonicalJson(toolCalls?.[0]?.arguments)).toBe(written);
    expect(usage).toMatchObject({ input: 1 });
  });

  test.each<[string, string | null, RegExp]>([
    [
      'twice.json',
      '[{"tool_calls":[{"name":"t","arguments":{"a":1,"a":2}}]}]',
      /the key "a" comes twi/,
    ],
    ['missing.json', null, /missing\.json: there is no such file$/],
    ['broken.json', '{"turns":', /broken\.json: not JSON: /],
    [
      'shape.json',
      '{"turns":[{"delay":"1"}]}',
      /shape\.json: turns\[0\]\.delay: expected milliseconds/,
    ],
    ['empty.json', '', /empty\.json: not JSON: /],
  ])('%s is refused with its path and the reason', async (name, text, message) => {
    const path = text === null ? join(folder, name) : await file(name, text);
    await expect(loadScript(path)).rejects.toThrow(ScriptError);
    await expect(loadScript(path)).rejects.toThrow(message);
  });

  test('options are refused as such', async () => {
    const options: object = { nam: 'x' };
    const path = await file('options.json', '[]');
    await expect(loadScript(path, options)).rejects.toThrow(/^scripted: unknown option 'nam'/);
  });

  test('a folder is refused too', async () => {
    await expect(loadScript(folder)).rejects.toThrow(/can't be read \(EISDIR\)/);
  });
});
