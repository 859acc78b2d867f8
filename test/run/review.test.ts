/**
 * What a hostile reading of the loop found, kept as the right behaviour.
 *
 * @module
 */
import { type } from 'arktype';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { replay } from '../../src/replay/replay.ts';
import { Stalled } from '../../src/run/abort.ts';
import { tool } from '../../src/run/define-tool.ts';
import { fold } from '../../src/run/state.ts';
import { run } from '../../src/run/run.ts';
import {
  ModelError,
  type FailedAttempt,
  type ModelReply,
  type ModelRequest,
} from '../../src/run/model.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { memoryStore } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { call, calls, DONE, drive, echo, model, never, toolOf } from './support.ts';

/** Streams 4,000 characters. */
function talking({ onDelta }: ModelRequest): void {
  onDelta({ kind: 'text', text: 'x'.repeat(4000) });
}

const lost: FailedAttempt = { error: 'cut', usage: null, streamed: 4000 };

/** What throws whatever is done with it. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What throws when a member is read. */
function lazy(name: string): object {
  return Object.defineProperty({}, name, {
    get() {
      throw new Error('boo');
    },
  });
}

/** A getter that says another thing each time. */
function changing(values: readonly unknown[]): PropertyDescriptor {
  let at = 0;
  return { enumerable: true, get: () => values[Math.min(at++, values.length - 1)] };
}

describe('what failed attempts used is charged', () => {
  test('output that streamed before a cut is estimated', async () => {
    const reply: ModelReply = {
      content: 'done',
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      failedAttempts: [lost, lost],
    };
    const { outcome } = await drive({ model: () => reply });
    expect(outcome.spent.tokens).toBeGreaterThanOrEqual(2 * 1000 + 15);
    expect(outcome.spent.estimatedTokens).toBe(outcome.spent.tokens - 15);
  });

  test('what a provider reported counts, and only the rest is estimated', async () => {
    const usage = { input: 50_000, output: null, cacheRead: 1000, cacheWrite: 0, reasoning: null };
    const failing = (): never => {
      throw new ModelError('cut', [{ error: 'cut', usage, streamed: 400 }]);
    };
    const { outcome } = await drive({ model: failing });
    expect(outcome.spent.tokens).toBe(51_100);
  });

  test('so does what streamed from a model that threw, or was given up', async () => {
    const threw = await drive({
      model: (request) => {
        talking(request);
        throw new Error('broken');
      },
    });
    expect(threw.outcome.spent.tokens).toBeGreaterThan(1000);
    const controller = new AbortController();
    const aborted = await drive({
      signal: controller.signal,
      model: (request) => {
        talking(request);
        setTimeout(() => controller.abort(), 1);
        return never();
      },
    });
    expect(aborted.outcome.reason).toBe('aborted');
    expect(aborted.outcome.spent.tokens).toBeGreaterThan(1000);
  });

  test('an adapter that is told to stop still says what its attempts came to', async () => {
    const controller = new AbortController();
    const { outcome, records } = await drive({
      signal: controller.signal,
      model: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new ModelError('aborted', [lost, lost])));
          setTimeout(() => controller.abort(), 1);
        }),
    });
    expect(outcome.reason).toBe('aborted');
    expect(records.at(-1)?.payload).toMatchObject({ failed_attempts: [lost, lost] });
  });

  test('usage in what isn’t a reply counts too', async () => {
    const usage = { input: 5000, output: 900 };
    const bad = { content: 'x', stop: 'nonsense', usage } as unknown as ModelReply;
    const { outcome } = await drive({ model: () => bad });
    expect(outcome).toMatchObject({ reason: 'model_error', spent: { tokens: 5900 } });
  });

  test('a model can ask whether another attempt is affordable', async () => {
    const said: boolean[] = [];
    await drive({
      budget: { tokens: 2500 },
      model: ({ affords }) => {
        said.push(affords([]), affords([lost]), affords([lost, lost, lost]));
        return { content: 'done' };
      },
    });
    expect(said).toEqual([true, true, false]);
  });
});

describe('what permit decides on is what the tool gets', () => {
  const path = z.object({
    path: z.string().transform((text) => `/etc/${text}`),
    force: z.boolean().default(true),
  });
  const makeTool = (got: unknown[]) =>
    tool({
      name: 't',
      description: 't',
      input: path,
      inputSchema: { type: 'object' },
      execute: (args) => got.push(args),
    });

  test('after defaults and transforms, which are recorded', async () => {
    const got: unknown[] = [];
    const asked: unknown[] = [];
    const given = { path: '/etc/passwd', force: true };
    const { results } = await drive({
      model: model([calls(call('t', { path: 'passwd' })), DONE]),
      tools: [makeTool(got)],
      permit: ({ call: made, arguments: args }) => {
        asked.push(made.arguments, args);
        return { decision: 'allow' };
      },
    });
    expect(asked).toEqual([{ path: 'passwd' }, given]);
    expect(got).toEqual([given]);
    expect(Object.isFrozen(got[0])).toBe(true);
    expect(results[0]).toMatchObject({ given });
  });

  test('nothing is recorded beside what the model wrote where it is the same', async () => {
    const { results } = await drive({
      model: model([calls(call('t', { a: 1 })), DONE]),
      tools: [
        tool({ name: 't', description: 't', input: z.object({ a: z.number() }), execute: () => 1 }),
      ],
    });
    expect(results[0]).not.toHaveProperty('given');
  });

  test('a policy that fails is recorded with why, and the model is not told', async () => {
    const { results } = await drive({
      model: model([calls(call('t')), DONE]),
      tools: [toolOf('t', () => 1)],
      permit: () => {
        throw new Error('no such rule');
      },
    });
    expect(results[0]).toMatchObject({
      error: 'denied: the policy could not decide',
      permit: { problem: 'permit threw Error: no such rule' },
    });
  });

  test('nobody is asked once the run has ended', async () => {
    const controller = new AbortController();
    let asked = 0;
    const { results } = await drive({
      model: model([calls(call('t'), call('t', { n: 2 }), call('t', { n: 3 }))]),
      tools: [toolOf('t', () => 1)],
      signal: controller.signal,
      permit: () => {
        asked += 1;
        controller.abort();
        return { decision: 'allow' };
      },
    });
    expect(asked).toBe(1);
    expect(results.map(({ failure }) => failure)).toEqual(['not_run', 'not_run', 'not_run']);
  });
});

test('arktype morphs, which change what they are given', async () => {
  const got: unknown[] = [];
  const input = type({ a: 'string.numeric.parse', '+': 'delete' });
  const { results } = await drive({
    model: model([calls(call('t', { a: '12', b: 1 })), DONE]),
    tools: [
      tool({
        name: 't',
        description: 't',
        input,
        inputSchema: { type: 'object' },
        execute: (args) => got.push(args),
      }),
    ],
  });
  expect(results[0]).toMatchObject({ ok: true });
  expect(got).toEqual([{ a: 12 }]);
});

test('an abort is heard by a run that never really waits', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 5);
  const { outcome } = await drive({
    model: () => ({ content: '', ...calls(call('t')) }),
    tools: [toolOf('t', () => 1)],
    budget: { steps: 1_000_000 },
    signal: controller.signal,
  });
  expect(outcome.reason).toBe('aborted');
});

test('no stack reaches a model, serialised ones included', async () => {
  const { stack } = new Error('x');
  const { results } = await drive({
    model: model([calls(call('a'), call('b')), DONE]),
    tools: [
      toolOf('a', () => {
        throw { code: 7, stack };
      }),
      toolOf('b', () => {
        throw { code: 7, inner: { stack } };
      }),
    ],
  });
  expect(results[0]?.['error']).toBe(`tool 'a' raised object {"code":7}`);
  expect(results[1]?.['error']).not.toMatch(/ at |\.ts|review/);
});

describe('a run that has begun never throws', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const broken = Object.defineProperty(new ModelError('x'), 'failedAttempts', {
    get: () => {
      throw new Error('no');
    },
  });
  test.each<[string, unknown]>([
    ['a revoked proxy', proxy],
    ['an error with a getter that throws', broken],
    ['an error whose message is no text', Object.assign(new ModelError('x'), { message: 5 })],
  ])('at a model that throws %s', async (_, thrown) => {
    const { outcome } = await drive({
      model: () => {
        throw thrown;
      },
    });
    expect(outcome).toMatchObject({ reason: 'model_error', transcript: { sealed: true } });
  });

  test('at a store that throws at once', async () => {
    const store = Object.assign(memoryStore(), {
      append: () => {
        throw new Error('no');
      },
    });
    const outcome = await run({ task: 'x', model: model([DONE]), transcript: store });
    expect(outcome).toMatchObject({ reason: 'record_error', error: 'Error: no' });
  });
});

describe('what would be silently wrong is refused', () => {
  const plain = { name: 't', description: 't', input: { type: 'object' }, execute: () => 1 };
  test.each([
    [{ ...plain, timeoutMs: 5 }, "unknown member 'timeoutMs'; is it 'timeout'?"],
    [{ ...plain, parralel: false }, "unknown member 'parralel'; is it 'parallel'?"],
    [{ ...plain, readonly: true }, "unknown member 'readonly'; is it 'readOnly'?"],
    [{ ...plain, parallel: 'no' }, 'parallel must be true or false'],
  ])('a tool %j', async (wrong, message) => {
    const ran = run({ task: 'x', model: model([DONE]), tools: [wrong as typeof plain] });
    await expect(ran).rejects.toThrow(message);
  });

  test('a tool of its own kind may have members of its own', () => {
    expect(tool({ ...plain, n: 1, label: 'x' } as typeof plain).name).toBe('t');
    class Counter {
      name = 't';
      description = 't';
      input = { type: 'object' };
      execute(): number {
        return 1;
      }
    }
    expect(tool(new Counter()).execute({}, {} as never)).toBe(1);
  });

  test('an event that does not exist', async () => {
    const on = { 'turn-stat': () => undefined } as object;
    await expect(run({ task: 'x', model: model([DONE]), on })).rejects.toThrow(
      "unknown event 'turn-stat'; the events are run-start,",
    );
  });

  test('a second run on a store that one is writing to', async () => {
    const store = memoryStore();
    const first = run({ task: 'x', model: model([DONE]), transcript: store });
    await expect(run({ task: 'y', model: model([DONE]), transcript: store })).rejects.toMatchObject(
      {
        code: 'locked',
      },
    );
    expect((await first).reason).toBe('no_tool_calls');
  });
});

test('many parallel calls under one signal are no leak of listeners', async () => {
  const warnings: unknown[] = [];
  const note = (warning: unknown): void => void warnings.push(warning);
  process.on('warning', note);
  const many = Array.from({ length: 30 }, (_, n) => call('t', { n }));
  await drive({
    model: model([calls(...many), DONE]),
    tools: [toolOf('t', async () => 1)],
    signal: new AbortController().signal,
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

describe('what a schema makes of the arguments', () => {
  const parsed = z.object({ json: z.string().transform((text): unknown => JSON.parse(text)) });

  test('may be nested without end: the call is answered, and the run goes on', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const { outcome, results } = await drive({
      model: model([calls(call('deep', { json: deep })), DONE]),
      tools: [tool({ name: 'deep', description: 'd', input: parsed, execute: () => 'ran' })],
    });
    expect(outcome.reason).toBe('no_tool_calls');
    expect(results).toMatchObject([{ ok: true, value: 'ran' }]);
  });

  test('may throw when it is read', async () => {
    const hostile = z.object({}).transform(() => ({
      get boo() {
        throw new Error('lazy');
      },
    }));
    const { results } = await drive({
      model: model([calls(call('t', {})), DONE]),
      tools: [tool({ name: 't', description: 'd', input: hostile, execute: () => 1 })],
    });
    expect(results).toMatchObject([
      { failure: 'invalid_arguments', error: expect.stringContaining('Error: lazy') },
    ]);
  });

  test('is copied before it is frozen: the schema’s own objects stay as they are', async () => {
    const config = { a: [1], self: {} as unknown };
    config.self = config;
    let got: unknown;
    await drive({
      model: model([calls(call('t', {})), DONE]),
      tools: [
        tool({
          name: 't',
          description: 'd',
          input: z.object({}).transform(() => ({ config, when: new Date(0) })),
          execute: (given) => {
            got = given;
            return 1;
          },
        }),
      ],
    });
    const { config: copy } = got as { config: typeof config };
    expect(copy).not.toBe(config);
    expect(copy.self).toBe(copy);
    expect(Object.isFrozen(copy.a)).toBe(true);
    expect(Object.isFrozen(config)).toBe(false);
    config.a.push(2);
    expect(copy.a).toEqual([1]);
  });

  test('is not what a listener gets', async () => {
    const input = z.object({}).transform(() => ({ map: new Map([['k', 'v']]), when: new Date(0) }));
    const { results } = await drive({
      model: model([calls(call('t', {})), DONE]),
      permit: () => ({ decision: 'allow' }),
      tools: [
        tool({
          name: 't',
          description: 'd',
          input,
          execute: ({ map, when }) => [...map.keys(), when.getTime()],
        }),
      ],
      on: {
        permit: (event) => {
          const given = event.arguments as { map: Map<string, string>; when: Date };
          given.map.set('/etc/passwd', '');
          given.when.setTime(5);
        },
      },
    });
    expect(results).toMatchObject([{ value: ['k', 0] }]);
  });

  test('must be an answer at all', async () => {
    const broken = { '~standard': { version: 1, vendor: 'x', validate: () => 5 } };
    const { results } = await drive({
      model: model([calls(call('t', {})), DONE]),
      tools: [toolOf('t', () => 1, { input: broken, inputSchema: { type: 'object' } })],
    });
    expect(results).toMatchObject([{ failure: 'invalid_arguments' }]);
  });
});

describe('a policy', () => {
  test.each<[string, RunOptions['permit'], RunOptions['ask']]>([
    ['permit gives what throws', () => lazy('decision') as never, undefined],
    ['permit gives a revoked proxy', () => revoked() as never, undefined],
    ['ask gives what throws', () => ({ decision: 'ask' }), () => lazy('allow') as never],
  ])('denies where %s', async (_name, permit, ask) => {
    const { outcome, results } = await drive({
      model: model([calls(call('t', {})), DONE]),
      tools: [toolOf('t', () => 1)],
      permit,
      ...(ask === undefined ? {} : { ask }),
    });
    expect(outcome.reason).toBe('no_tool_calls');
    expect(results).toMatchObject([{ failure: 'denied' }]);
  });

  test('that never decides denies after ten minutes; a person may take longer', async () => {
    const clock = fakeClock(0);
    const running = drive({
      model: model([calls(call('t', {})), calls(call('t', {})), DONE]),
      tools: [toolOf('t', () => 1)],
      clock,
      permit: ({ call: { id } }) => (id === 'call_1_0' ? never() : { decision: 'ask' }),
      ask: async () => {
        await new Promise<void>((resolve) => clock.timer(7_200_000, resolve));
        return { allow: true };
      },
    });
    await clock.advance(600_000);
    await clock.advance(7_200_000);
    const { results } = await running;
    expect(results).toMatchObject([
      { failure: 'denied', permit: { problem: 'permit did not decide in time' } },
      { ok: true },
    ]);
  });
});

test('what is read of a reply is read once', async () => {
  const reply = Object.defineProperties(
    { content: 'a' },
    { stop: changing(['end', 'weird']), toolCalls: changing([[], [{ name: Symbol('x') }]]) },
  );
  const { records } = await drive({ model: () => reply });
  expect(records[1]?.payload).toMatchObject({ stop: 'end', tool_calls: [] });
  const check = Object.defineProperties({}, { ok: changing([true, undefined]) }) as never;
  const { outcome } = await drive({ model: model([DONE]), check: () => check });
  expect(outcome.verified).toBe(true);
});

test('a wait on purpose is no silence', async () => {
  const clock = fakeClock(0);
  const running = drive({
    clock,
    watchdog: { firstOutput: 2, betweenOutputs: 1 },
    model: async ({ onWait, onDelta }) => {
      await Promise.resolve(); // a request was sent
      onDelta({ kind: 'text', text: 'cut' });
      onWait(60_000);
      await new Promise<void>((resolve) => clock.timer(61_500, resolve));
      return { content: 'after the wait' };
    },
  });
  await clock.advance(62_000);
  expect((await running).outcome).toMatchObject({ answer: 'after the wait' });
});

test.each([
  ['无法打开/home/me/secret.txt', '无法打开…/secret.txt'],
  ['是/否/也许', '是/否/也许'],
])('a path after letters without a space before it: %s', async (message, expected) => {
  const { results } = await drive({
    model: model([calls(call('t', {})), DONE]),
    tools: [
      toolOf('t', () => {
        throw new Error(message);
      }),
    ],
  });
  expect(results[0]?.['error']).toBe(`tool 't' raised Error: ${expected}`);
});

test('no path reaches a model in the texts of a thrown object', async () => {
  const { results } = await drive({
    model: model([calls(call('t', {})), DONE]),
    tools: [
      toolOf('t', () => {
        throw { code: 7, stderr: 'cannot open\n/home/me/secret.txt', more: ['a\t/srv/x/y.js'] };
      }),
    ],
  });
  expect(results[0]?.['error']).toBe(
    String.raw`tool 't' raised object {"code":7,"more":["a\t…/y.js"],"stderr":"cannot open\n…/secret.txt"}`.replaceAll(
      '\\\\',
      '\\',
    ),
  );
});

const abortedWith = async (...reason: unknown[]) => {
  const controller = new AbortController();
  const store = memoryStore();
  const outcome = await run({
    task: 'x',
    transcript: store,
    signal: controller.signal,
    tools: [toolOf('t', () => controller.abort(...reason), { parallel: false }), echo],
    // The second call is a stage of its own, which the abort keeps from running.
    model: model([calls(call('t'), call('echo')), DONE]),
  });
  expect(await replay(store)).toMatchObject({ ok: true, sealed: true });
  return outcome;
};

describe('an abort', () => {
  test.each<[string, unknown[], object]>([
    ['nothing', [], { reason: 'aborted' }],
    [
      'an error',
      [new Error('the user closed /home/me/window')],
      { reason: 'aborted', error: 'the user closed …/window' },
    ],
    ['a text', ['shutdown'], { reason: 'aborted', error: 'shutdown' }],
    ['a number', [5], { reason: 'aborted' }],
    [
      'Stalled',
      [new Stalled('the screen stays as it is')],
      { reason: 'stalled', error: 'the screen stays as it is' },
    ],
  ])('with %s', async (_name, reason, expected) => {
    const outcome = await abortedWith(...reason);
    expect(outcome).toMatchObject(expected);
    expect('error' in outcome).toBe('error' in expected);
  });
});

describe('a tool that ends the run', () => {
  const submit = toolOf('submit', (args) => args, { ends: true });

  test('ends it once the calls of its turn are answered', async () => {
    const { outcome, results, records } = await drive({
      model: model([calls(call('submit', { a: 1 }), call('t')), DONE]),
      tools: [submit, toolOf('t', () => 1)],
    });
    expect(outcome).toMatchObject({ reason: 'sentinel', spent: { steps: 1, toolCalls: 2 } });
    expect(results).toMatchObject([{ ok: true }, { ok: true }]);
    expect(fold(records).ended).toBe(true);
  });

  test('and not where it fails', async () => {
    const { outcome } = await drive({
      model: model([calls(call('submit', '[1]')), DONE]),
      tools: [submit],
    });
    expect(outcome).toMatchObject({ reason: 'no_tool_calls', spent: { steps: 2 } });
  });
});
