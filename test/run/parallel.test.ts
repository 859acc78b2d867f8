/**
 * The calls of one turn: together or one after another, recorded in the order in which they were made.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnyTool } from '../../src/run/tool.ts';
import { call, calls, DONE, drive, gate, model, settle, toolOf } from './support.ts';

/** A tool that lives for some rounds of the event loop, and notes when it starts and ends. */
function lively(name: string, parallel: boolean, log: string[]): AnyTool {
  return toolOf(
    name,
    async (args) => {
      const { n, rounds }: { n?: unknown; rounds?: unknown } = Object(args);
      log.push(`+${String(n)}`);
      await settle(Number(rounds));
      log.push(`-${String(n)}`);
      return n;
    },
    { parallel },
  );
}

describe('parallel and serial tools', () => {
  test('parallel ones run together and end in any order; a serial one is a barrier', async () => {
    const log: string[] = [];
    const made = [
      call('p', { n: 0, rounds: 6 }),
      call('p', { n: 1, rounds: 2 }),
      call('s', { n: 2, rounds: 2 }),
      call('s', { n: 3, rounds: 1 }),
      call('p', { n: 4, rounds: 4 }),
      call('p', { n: 5, rounds: 1 }),
    ];
    const { results } = await drive({
      model: model([calls(...made), DONE]),
      tools: [lively('p', true, log), lively('s', false, log)],
    });
    expect(log.join(' ')).toBe('+0 +1 -1 -0 +2 -2 +3 -3 +4 +5 -5 -4');
    expect(results.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('any turn: barriers hold, and records are in call order', async () => {
    const turn = fc.array(fc.record({ parallel: fc.boolean(), rounds: fc.nat(3) }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(turn, async (kinds) => {
        const log: string[] = [];
        const made = kinds.map(({ parallel, rounds }, n) =>
          call(parallel ? 'p' : 's', { n, rounds }),
        );
        const { results } = await drive({
          model: model([calls(...made), DONE]),
          tools: [lively('p', true, log), lively('s', false, log)],
        });
        expect(results.map(({ value }) => value)).toEqual(kinds.map((_, n) => n));
        kinds.forEach(({ parallel }, n) => {
          if (parallel) return;
          // All before it have ended when it starts, and none after it starts before it ends.
          const [start, end] = [log.indexOf(`+${n}`), log.indexOf(`-${n}`)];
          expect(end).toBe(start + 1);
          for (let m = 0; m < kinds.length; m += 1) {
            if (m < n) expect(log.indexOf(`-${m}`)).toBeLessThan(start);
            if (m > n) expect(log.indexOf(`+${m}`)).toBeGreaterThan(end);
          }
        });
      }),
      { numRuns: 40 },
    );
  });

  test('one that fails does not end those beside it', async () => {
    const { results } = await drive({
      model: model([
        calls(call('slow'), call('fails'), call('unknown'), call('slow', { n: 1 })),
        DONE,
      ]),
      tools: [
        toolOf('slow', async (_, { signal }) => {
          await settle(3);
          return signal.aborted;
        }),
        toolOf('fails', () => Promise.reject(new Error('mine'))),
      ],
    });
    expect(results.map(({ ok }) => ok)).toEqual([true, false, false, true]);
    expect(results[0]?.['value']).toBe(false);
    expect(results[3]?.['value']).toBe(false);
  });

  test('an answer that came early waits for its turn, and events tell the same order', async () => {
    const first = gate<string>();
    const ends: string[] = [];
    const ran = drive({
      model: model([calls(call('first', {}, 'A'), call('second', {}, 'B')), DONE]),
      tools: [toolOf('first', () => first.promise), toolOf('second', () => 'early')],
      on: { 'tool-end': ({ call: { id } }) => ends.push(id) },
    });
    await settle();
    expect(ends).toEqual([]);
    first.open('late');
    await ran;
    expect(ends).toEqual(['A', 'B']);
  });

  test('two equal calls of one turn: the second is noted', async () => {
    const { results } = await drive({
      model: model([calls(call('t'), call('t')), DONE]),
      tools: [toolOf('t', () => 1)],
    });
    expect(results.map((result) => 'note' in result)).toEqual([false, true]);
  });

  test('the budget of calls counts those that failed, were denied or unknown', async () => {
    const { outcome, results } = await drive({
      model: model([calls(call('no'), call('t', [1] as never), call('denied'), call('t'))]),
      tools: [toolOf('t', () => 1), toolOf('denied', () => 1)],
      permit: ({ tool }) =>
        tool.name === 'denied' ? { decision: 'deny', reason: 'not today' } : { decision: 'allow' },
      budget: { toolCalls: 3 },
    });
    expect(results.map(({ failure }) => failure)).toEqual([
      'unknown_tool',
      'invalid_arguments',
      'denied',
      'not_run',
    ]);
    expect(outcome).toMatchObject({ reason: 'tool_call_budget', spent: { toolCalls: 3 } });
  });
});

describe('what a tool is given', () => {
  test('its call id and a key that differs by call and by run, and is the same again', async () => {
    const keys: string[] = [];
    const options = (): Parameters<typeof drive>[0] => ({
      model: model([calls(call('t', {}, 'a'), call('t', {}, 'b')), DONE]),
      tools: [
        toolOf('t', (_, { callId, idempotencyKey }) => {
          keys.push(`${callId} ${idempotencyKey}`);
        }),
      ],
    });
    await drive(options());
    await drive(options());
    await drive({ ...options(), runId: 'another' });
    expect(keys[0]).toMatch(/^a [0-9a-f]{32}$/);
    expect(keys[1]).toMatch(/^b /);
    expect(keys.slice(2, 4)).toEqual(keys.slice(0, 2));
    expect(new Set(keys.map((key) => key.slice(2))).size).toBe(4);
  });

  test('itself as `this`', async () => {
    const counter = {
      ...toolOf('t', () => 0),
      n: 41,
      execute(): number {
        this.n += 1;
        return this.n;
      },
    };
    const { results } = await drive({ model: model([calls(call('t')), DONE]), tools: [counter] });
    expect(results[0]?.['value']).toBe(42);
  });
});
