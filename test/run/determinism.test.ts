/**
 * A record is a function of the task, the model, the tools and the budgets: nothing else changes a byte.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Listeners, type RunEvent } from '../../src/run/events.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { SOME_BUDGET, someScript, TOOLS } from './random-run.ts';
import {
  call,
  calls,
  DONE,
  drive,
  echo,
  model,
  SEED_TOOLS,
  thenable,
  toolOf,
  unhandledDuring,
  type Payload,
} from './support.ts';

type Options = Omit<RunOptions, 'task'>;

/** A run with everything in it: successes, failures, a repeat, a note, a check. */
function busy(extra: Partial<Options> = {}): Options {
  return {
    model: model([
      { content: 'first', ...calls(call('add', { a: 2, b: 40 }), call('fail'), call('nope')) },
      calls(call('add', '{"b":40, "a":2}'), call('greet', { name: 5 })),
      { content: 'second', ...calls(call('echo', { n: 1 }), call('echo', { n: 1 })) },
      DONE,
    ]),
    tools: SEED_TOOLS,
    check: () => ({ ok: true, detail: 'seen' }),
    permit: () => ({ decision: 'allow' }),
    ...extra,
  };
}

const unrepeated = (repeats: boolean): Options => ({
  model: model((i) => (i < 5 ? calls(call('echo', { i }), call('nope', { i })) : DONE)),
  tools: [echo],
  repeats,
});

function without(payload: Payload, key: string): Payload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== key));
}

describe('the same bytes', () => {
  test('any run, twice', async () => {
    await fc.assert(
      fc.asyncProperty(someScript, SOME_BUDGET, async (script, budget) => {
        const options = { tools: TOOLS, budget };
        const price = { input: 1, output: 2 };
        const first = await drive({ ...options, model: model(script, { price }) });
        const second = await drive({ ...options, model: model(script, { price }) });
        expect(second.text).toBe(first.text);
      }),
      { numRuns: 80 },
    );
  });

  test('two runs at once, of the same option objects, do not meet', async () => {
    const { model: _, ...shared } = busy({ budget: { steps: 9, toolCalls: 9 } });
    const alone = await drive(busy({ budget: { steps: 9, toolCalls: 9 } }));
    const [one, two] = await Promise.all([
      drive({ ...shared, model: busy().model }),
      drive({ ...shared, model: busy().model }),
    ]);
    expect(one.text).toBe(alone.text);
    expect(two.text).toBe(alone.text);
  });

  test('without repeats, whether they are noted or not', async () => {
    expect((await drive(unrepeated(true))).text).toBe((await drive(unrepeated(false))).text);
  });

  test('with repeats, only the notes differ', async () => {
    const on = await drive(busy());
    const events: RunEvent[] = [];
    const off = await drive(busy({ repeats: false, on: (event) => events.push(event) }));
    expect(off.text).not.toContain('"note"');
    expect(events.some(({ type }) => type === 'repeated-call')).toBe(false);
    const bare = on.results.map((result) => without(result, 'note'));
    expect(off.results).toEqual(bare);
    expect(on.results.filter((result) => 'note' in result)).toHaveLength(2);
  });
});

const meddle = (event: RunEvent): void => {
  // A listener in JavaScript may try to change anything that it is given.
  for (const value of Object.values(event)) {
    if (typeof value !== 'object' || value === null) continue;
    for (const key of Object.keys(value)) Reflect.set(value, key, 'changed');
    if (Array.isArray(value)) Reflect.set(value, 'length', 0);
  }
};

describe('listeners', () => {
  test.each<[string, Listeners]>([
    ['a function', () => 1],
    [
      'a function that throws',
      () => {
        throw new Error('listener');
      },
    ],
    ['a function that rejects', () => Promise.reject(new Error('listener'))],
    [
      'a thenable that rejects',
      () => thenable((_: unknown, no: (e: Error) => void) => no(new Error('x'))),
    ],
    ['a map', { 'turn-end': () => 1, record: () => 2 }],
    [
      'a map that throws',
      {
        'run-start': () => {
          throw new Error('x');
        },
        'run-end': () => {
          throw new Error('x');
        },
      },
    ],
    ['an empty map', {}],
    ['a meddler', meddle],
  ])('%s changes no byte and ends no run', async (_, on) => {
    const alone = await drive(busy());
    const unhandled = await unhandledDuring(async () => {
      const watched = await drive(busy({ on }));
      expect(watched.text).toBe(alone.text);
      expect(watched.outcome).toMatchObject({ reason: 'no_tool_calls', verified: true });
    });
    expect(unhandled).toEqual([]);
  });

  test('hear everything, in order', async () => {
    const events: RunEvent[] = [];
    const { records, outcome } = await drive({
      model: model([
        ({ onDelta }) => {
          onDelta({ kind: 'text', text: 'thin' });
          return {
            content: 'thinking',
            ...calls(call('echo', { n: 1 }, 'A'), call('echo', { n: 1 }, 'B')),
          };
        },
        DONE,
      ]),
      tools: [echo],
      permit: () => ({ decision: 'allow' }),
      on: (event) => events.push(event),
    });
    expect(events.filter(({ type }) => type !== 'record').map(({ type }) => type)).toEqual([
      'run-start',
      'turn-start',
      'delta',
      'turn-end',
      'permit',
      'permit',
      'tool-start',
      'tool-start',
      'tool-end',
      'tool-end',
      'repeated-call',
      'turn-start',
      'turn-end',
      'run-end',
    ]);
    const recorded = events.flatMap((event) => (event.type === 'record' ? [event] : []));
    expect(recorded.map(({ record }) => record.kind)).toEqual(records.map(({ kind }) => kind));
    expect(events.at(-1)).toEqual({ type: 'run-end', outcome });
  });

  test('of a repeat are told fingerprints, never values', async () => {
    const events: RunEvent[] = [];
    await drive({
      model: model((i) => (i < 3 ? calls(call('t', { secret: 'hunter2' }, `id${i}`)) : DONE)),
      tools: [toolOf('t', () => 'password', { repeatedWhen: 'arguments' })],
      on: { 'repeated-call': (event) => events.push(event) },
    });
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    const event = {
      type: 'repeated-call',
      tool: 't',
      argumentsHash: hash,
      resultHash: hash,
      comparedBy: 'arguments',
    };
    expect(events).toEqual([
      { ...event, callId: 'id1', occurrences: 2 },
      { ...event, callId: 'id2', occurrences: 3 },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/hunter2|password/);
  });
});

describe('time in the record', () => {
  test('there is none without a clock, even where a time budget stopped the run', async () => {
    const { text, records } = await drive(busy());
    const timed = await drive({ model: model([DONE]), budget: { seconds: 0 } });
    for (const bytes of [text, timed.text])
      expect(bytes).not.toMatch(/"at"|"used"|\d{4}-\d\d-\d\dT/);
    expect(timed.final['budget']).toEqual({ name: 'seconds', limit: 0 });
    expect(records.every(({ payload }) => !('at' in payload))).toBe(true);
  });

  test('with a clock every record has its own, and nothing else differs', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
    const { records } = await drive(busy({ clock }));
    const alone = await drive(busy());
    expect(records.map(({ payload }) => payload['at'])).toEqual(
      records.map(() => '2026-01-02T03:04:05.006Z'),
    );
    expect(records.map(({ payload }) => without(payload, 'at'))).toEqual(
      alone.records.map(({ payload }) => payload),
    );
    const stopped = await drive({ model: model([DONE]), budget: { seconds: 0 }, clock });
    expect(stopped.final['budget']).toEqual({ name: 'seconds', limit: 0, used: 0 });
  });
});
