/**
 * Complaints about other frameworks, by their number in the research on tool loops: arguments and
 * results. The values of #34–#38 are a table in `result.test.ts`, the texts of #27 and #31 in
 * `arguments.test.ts`; here they go through whole runs.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type ReplyCall } from '../../src/run/model.ts';
import { call, calls, DONE, drive, model, never, SEED_TOOLS, thenable, toolOf } from './support.ts';

/** One turn with these calls, then the end. */
function once(...made: readonly ReplyCall[]): ReturnType<typeof model> {
  return model([calls(...made), DONE]);
}

describe('arguments', () => {
  test.each([
    '{"a":',
    '{"a":1}{"a":2}',
    '{"a":1,}',
    '```json\n{"a":1}\n```',
    '{"a":NaN}',
    '',
    'null',
    '[1]',
    '"{\\"a\\":1}"',
  ])('#27 %j is answered with an error, recorded as it was, and the run goes on', async (text) => {
    let ran = 0;
    const scripted = once(call('write', text));
    const { outcome, results, records } = await drive({
      model: scripted,
      tools: [toolOf('write', () => (ran += 1), { input: { type: 'object', required: ['a'] } })],
    });
    expect(ran).toBe(0);
    expect(outcome.reason).toBe('no_tool_calls');
    expect(results[0]).toMatchObject({ ok: false, failure: 'invalid_arguments' });
    expect(results[0]?.['error']).toMatch(/^invalid arguments: \$\.write/);
    expect(records[1]?.payload['tool_calls']).toEqual([
      { id: 'call_1_0', name: 'write', arguments: {}, raw: text },
    ]);
    expect(scripted.asked[1]?.messages.at(-2)).toMatchObject({ toolCalls: [{ raw: text }] });
  });

  test('#27 no text at all is a call without arguments', async () => {
    const { results } = await drive({
      model: once(call('now', '')),
      tools: [toolOf('now', () => 1)],
    });
    expect(results[0]).toMatchObject({ ok: true, value: 1 });
  });

  test('#28 a malformed turn without calls ends with what the adapter says', async () => {
    const scripted = model([
      () => {
        throw new Error('MALFORMED_FUNCTION_CALL');
      },
    ]);
    const { outcome } = await drive({ model: scripted });
    expect(outcome).toMatchObject({
      reason: 'model_error',
      error: 'Error: MALFORMED_FUNCTION_CALL',
    });
  });

  test.each([
    [
      '{"queries":"[\\"test\\"]"}',
      { queries: { type: 'array' } },
      '$.search.queries: expected type array, got string holding JSON; send the value itself',
    ],
    [
      '{"edits":"[{\\"oldText\\":\\"a\\"}]"}',
      { edits: { type: 'array' } },
      '$.search.edits: expected type array, got string holding JSON; send the value itself',
    ],
    [
      '{"maxBytes":"200000"}',
      { maxBytes: { type: 'integer' } },
      '$.search.maxBytes: expected type integer, got string',
    ],
  ])('#29 %s is not coerced', async (text, properties, error) => {
    const { results } = await drive({
      model: once(call('search', text)),
      tools: [toolOf('search', () => 1, { input: { type: 'object', properties } })],
    });
    expect(results[0]?.['error']).toBe(`invalid arguments: ${error}`);
  });

  test.each(['{"path":"x', '{"path":"x"}'])(
    '#30 a call cut by the output limit never runs: %s',
    async (text) => {
      let ran = 0;
      const scripted = model([{ ...calls(call('write', text)), stop: 'length' }, DONE]);
      const { outcome, results } = await drive({
        model: scripted,
        tools: [toolOf('write', () => (ran += 1))],
      });
      expect(ran).toBe(0);
      expect(results[0]).toMatchObject({
        ok: false,
        failure: 'not_run',
        error: 'not run: the turn was cut off by the output limit, so its calls may be incomplete',
      });
      expect(outcome).toMatchObject({ reason: 'no_tool_calls', spent: { toolCalls: 0, steps: 2 } });
      expect(scripted.asked[1]?.messages.at(-1)).toMatchObject({ ok: false });
    },
  );

  test('#30 and a turn that is always cut ends on the steps', async () => {
    const { outcome } = await drive({
      model: model(() => ({ ...calls(call('write')), stop: 'length' as const })),
      tools: [toolOf('write', () => 1)],
      budget: { steps: 3 },
    });
    expect(outcome.reason).toBe('step_budget');
  });

  test.each([
    [
      '{"a":12345678901234567890}',
      "$.any: the integer 12345678901234567890 can't be represented exactly; send it as a string",
    ],
    ['{"a":1,"a":2}', '$.any: the key "a" comes twice'],
    ['{"__proto__":{"x":1}}', '$.any: the key "__proto__" is not accepted'],
    ['{"a":{"b":"\\ud800"}}', '$.any.a.b: a string with a lone surrogate'],
  ])('#31 %s', async (text, error) => {
    const { results, records } = await drive({
      model: once(call('any', text)),
      tools: [toolOf('any', () => 1)],
    });
    expect(results[0]?.['error']).toBe(`invalid arguments: ${error}`);
    expect(records[1]?.payload['tool_calls']).toMatchObject([{ raw: text }]);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    '#31 a tool may be named %s, and is unknown if it is not there',
    async (name) => {
      const there = await drive({ model: once(call(name)), tools: [toolOf(name, () => 'ran')] });
      expect(there.results[0]).toMatchObject({ ok: true, value: 'ran' });
      const absent = await drive({ model: once(call(name)) });
      expect(absent.results[0]?.['error']).toBe(`no tool named '${name}' (have: none)`);
    },
  );

  test('#31 a tool that changes its arguments changes no record', async () => {
    const { results, records } = await drive({
      model: once(call('any', { a: 1, list: [1] })),
      tools: [
        toolOf('any', (args) => {
          Object.assign(Object(args), { a: 999 });
        }),
      ],
    });
    expect(results[0]?.['error']).toMatch(
      /^tool 'any' raised TypeError: Cannot assign to read only/,
    );
    expect(records[1]?.payload['tool_calls']).toMatchObject([{ arguments: { a: 1, list: [1] } }]);
  });

  test.each(['nope', 'Add', 'functions.add', ''])(
    '#32 an unknown tool lists those there are: %j',
    async (name) => {
      const { outcome, results } = await drive({ model: once(call(name)), tools: SEED_TOOLS });
      expect(results[0]).toMatchObject({
        ok: false,
        failure: 'unknown_tool',
        error: `no tool named '${name}' (have: add, echo, fail, greet)`,
      });
      expect(outcome).toMatchObject({ reason: 'no_tool_calls', spent: { toolCalls: 1 } });
    },
  );

  test('#32 a name of any length is not thrown back at the model', async () => {
    const { results } = await drive({ model: once(call('x'.repeat(1e6))) });
    expect(results[0]?.['error']).toBe(`no tool named '${'x'.repeat(100)}…' (have: none)`);
  });

  test('#33 ids that come twice, in one turn or later, are replaced, and each call runs once', async () => {
    let ran = 0;
    const { records, results } = await drive({
      model: model([
        calls(call('t', { n: 1 }, 'dup'), call('t', { n: 2 }, 'dup'), call('t', { n: 3 }, '')),
        calls(
          call('t', { n: 4 }, 'dup'),
          call('t', { n: 5 }, 'call_2_0'),
          call('t', { n: 6 }, null),
        ),
        calls(call('t', { n: 7 }, 301), call('t', { n: 8 }, 'half \ud800')),
        DONE,
      ]),
      tools: [toolOf('t', () => (ran += 1))],
    });
    expect(ran).toBe(8);
    expect(results.map((result) => result['call'])).toEqual([
      'dup',
      'call_1_1',
      'call_1_2',
      'call_2_0',
      'call_2_1',
      'call_2_2',
      '301',
      'half \ufffd',
    ]);
    const providerIds = records
      .flatMap(({ payload }) => (Array.isArray(payload['tool_calls']) ? payload['tool_calls'] : []))
      .map(({ provider_id: id }: { provider_id?: string }) => id);
    expect(providerIds).toEqual([
      undefined,
      'dup',
      undefined,
      'dup',
      'call_2_0',
      undefined,
      undefined,
      undefined,
    ]);
  });
});

function failWithPaths(): never {
  const error = new Error(`cannot read /home/bob/app/secret.txt:3:1`);
  error.message += `\n${error.stack}`;
  throw error;
}

describe('results', () => {
  test.each([
    ['#34 half a character', 'a\ud800b'],
    ['#37 a bigint in a Map', new Map([['a', 10n]])],
    ['#38 undefined in a list', [{ startedAt: undefined }]],
  ])('%s is refused as data', async (_, value) => {
    const { outcome, results } = await drive({
      model: once(call('t')),
      tools: [toolOf('t', () => value)],
    });
    expect(results[0]).toMatchObject({ ok: false, failure: 'unrecordable' });
    expect(outcome.reason).toBe('no_tool_calls');
  });

  test('#35 line separators and control characters come through, on one line', async () => {
    const value = 'a\u2028b\u2029c\u0000\r\n\u0085\v';
    const scripted = once(call('t'));
    const { text, results } = await drive({ model: scripted, tools: [toolOf('t', () => value)] });
    expect(results[0]?.['value']).toBe(value);
    expect(text.split('\n')).toHaveLength(6);
    expect(scripted.asked[1]?.messages.at(-1)?.content).toBe(value);
  });

  test('#36 ten megabytes are not recorded, and equal ones are known again (E5)', async () => {
    const big = 'x'.repeat(10_000_000);
    const values = [`${big}1`, `${big}2`, `${big}1`];
    const { text, results } = await drive({
      model: model((i) => (i < 3 ? calls(call('grep')) : DONE)),
      tools: [toolOf('grep', () => values.shift())],
    });
    expect(text.length).toBeLessThan(4000);
    expect(results[0]).toMatchObject({
      failure: 'too_large',
      error:
        "the result of tool 'grep' is 10000003 bytes, over its limit of 262144; ask for less at a time",
      result_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    // The errors are equal, the results were not.
    expect(results[1]?.['error']).toBe(results[0]?.['error']);
    expect(results.map((result) => 'note' in result)).toEqual([false, false, true]);
  });

  test('#37 a tool that never settles is given up', async () => {
    const { results } = await drive({
      model: once(call('t')),
      tools: [toolOf('t', () => never(), { timeout: 2 })],
    });
    expect(results[0]).toMatchObject({
      failure: 'timed_out',
      error: "tool 't' did not end within 2 ms; it may still be running, and its effect is unknown",
    });
  });

  test('#37 a thenable that is no promise is awaited, and may throw', async () => {
    const { results } = await drive({
      model: once(call('good'), call('bad')),
      tools: [
        toolOf('good', () => thenable((resolve: (value: string) => void) => resolve('late'))),
        toolOf('bad', () =>
          thenable(() => {
            throw new Error('no then');
          }),
        ),
      ],
    });
    expect(results[0]).toMatchObject({ ok: true, value: 'late' });
    expect(results[1]?.['error']).toBe("tool 'bad' raised Error: no then");
  });

  test('#39 no path, no line and no stack reach the model', async () => {
    const scripted = once(call('a'), call('b'));
    const { text } = await drive({
      model: scripted,
      tools: [toolOf('a', failWithPaths), toolOf('b', async () => failWithPaths())],
    });
    const shown = JSON.stringify(scripted.asked[1]?.messages);
    for (const words of [shown, text]) {
      expect(words).not.toMatch(/\/home|node_modules|\bat .*\(|\.ts:\d|:\d+:\d+/);
      expect(words).toContain('cannot read …/secret.txt');
    }
  });

  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a text', 's', 'Error: s'],
    ['data', { code: 7 }, 'object {"code":7}'],
    ['an empty object', Object.create(null), 'object {}'],
  ])('#40 a tool may throw %s', async (_, thrown, words) => {
    const fail = (): never => {
      throw thrown;
    };
    const { results } = await drive({
      model: once(call('now'), call('later')),
      // A rejection is the same as a throw.
      tools: [toolOf('now', fail), toolOf('later', () => Promise.reject(thrown))],
    });
    expect(results.map(({ error }) => error)).toEqual([
      `tool 'now' raised ${words}`,
      `tool 'later' raised ${words}`,
    ]);
  });
});
