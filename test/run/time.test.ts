/**
 * Time: the time budget, deadlines of tools, limits on silence, and the check's own limit. Time stands
 * still unless a test moves it.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/run/clock.ts';
import { Cancellation, isThenable, race, type IdleLimit } from '../../src/run/deadline.ts';
import { type ModelReply } from '../../src/run/model.ts';
import { fakeClock, type FakeClock } from '../../src/testing/clock.ts';
import {
  call,
  calls,
  DONE,
  drive,
  gate,
  model,
  never,
  toolOf,
  unhandledDuring,
  type Ran,
  type Step,
} from './support.ts';

/** Runs while time passes: `seconds` from now, in steps of one. */
async function during(clock: FakeClock, ran: Promise<Ran>, seconds: number): Promise<Ran> {
  for (let i = 0; i < seconds; i += 1) await clock.advance(1000);
  const result = await Promise.race([ran, settledLate()]);
  expect(clock.pending, 'timers that were left').toBe(0);
  return result;
}

async function settledLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  throw new Error('the run did not end');
}

/** A wait on the clock that ignores every signal. */
function wait<T>(clock: FakeClock, seconds: number, value: T): Promise<T> {
  return new Promise((resolve) => clock.timer(seconds * 1000, () => resolve(value)));
}

function after(clock: FakeClock, seconds: number, reply: Partial<ModelReply>): Step {
  return () => wait(clock, seconds, reply);
}

describe('the time budget', () => {
  test('a tool that ignores its signal cannot hold it up', async () => {
    const clock = fakeClock();
    const ran = drive({
      model: model([calls(call('deaf'), call('next'))]),
      tools: [
        toolOf('deaf', () => never(), { parallel: false }),
        toolOf('next', () => 1, { parallel: false }),
      ],
      budget: { seconds: 5 },
      clock,
    });
    const { outcome, results } = await during(clock, ran, 6);
    expect(outcome).toMatchObject({
      reason: 'time_budget',
      budget: { name: 'seconds', limit: 5, used: 5 },
      spent: { seconds: 5 },
    });
    expect(results).toMatchObject([
      {
        failure: 'abandoned',
        error: 'still running when the time budget ended; its effect is unknown',
      },
      { failure: 'not_run', error: 'not run: the time budget of 5 is used up' },
    ]);
  });

  test('nor can a model, a policy, a person, or the check of arguments', async () => {
    const waits = [
      { model: () => never() },
      { model: model([calls(call('t'))]), permit: () => never() },
      {
        model: model([calls(call('t'))]),
        permit: () => ({ decision: 'ask' as const }),
        ask: () => never(),
      },
    ];
    for (const options of waits) {
      const clock = fakeClock();
      const ran = drive({
        tools: [toolOf('t', () => 1)],
        budget: { seconds: 3 },
        clock,
        ...options,
      });
      const { outcome } = await during(clock, ran, 4);
      expect(outcome).toMatchObject({ reason: 'time_budget', budget: { used: 3 } });
    }
  });

  test('is checked before a turn, and after one before its tools', async () => {
    const clock = fakeClock();
    const slow = toolOf('slow', () => wait(clock, 2, 'x'));
    const first = drive({
      model: model([calls(call('slow')), DONE]),
      tools: [slow],
      budget: { seconds: 2 },
      clock,
    });
    // The tool ends when the budget does: it was given up in time, and no other turn is asked for.
    expect((await during(clock, first, 3)).outcome).toMatchObject({
      reason: 'time_budget',
      spent: { steps: 1 },
    });
    let now = 0;
    const { outcome, results } = await drive({
      model: model([
        () => {
          now = 10_000; // it thought for ten seconds without ever waiting
          return calls(call('slow'));
        },
      ]),
      tools: [slow],
      budget: { seconds: 5 },
      clock: { now: () => now, timer: clock.timer },
    });
    expect(outcome).toMatchObject({ reason: 'time_budget', spent: { steps: 1, toolCalls: 0 } });
    expect(results[0]).toMatchObject({ failure: 'not_run' });
  });

  test('a model that never stops talking cannot put it off', async () => {
    const clock = fakeClock();
    const ran = drive({
      model: ({ onDelta }) => {
        const talk = (): void => {
          onDelta({ kind: 'text', text: '.' });
          clock.timer(100, talk);
        };
        talk();
        return never();
      },
      budget: { seconds: 5 },
      clock,
    });
    await clock.advance(6000);
    const { outcome } = await ran;
    expect(outcome).toMatchObject({ reason: 'time_budget', spent: { seconds: 5 } });
  });

  test('the model is told what is left', async () => {
    const clock = fakeClock();
    const scripted = model([after(clock, 2, calls(call('t'))), DONE]);
    await during(
      clock,
      drive({ model: scripted, tools: [toolOf('t', () => 1)], budget: { seconds: 5 }, clock }),
      3,
    );
    expect(scripted.asked.map(({ secondsLeft }) => secondsLeft)).toEqual([5, 3]);
  });

  test('zero seconds are none', async () => {
    const { outcome } = await drive({ model: model([DONE]), budget: { seconds: 0 } });
    expect(outcome).toMatchObject({ reason: 'time_budget', spent: { steps: 0 } });
  });

  test('a clock that is set back does not lengthen the past', async () => {
    const times = [1000, 0, 0, 0, 0, 0, 0];
    const { outcome } = await drive({
      model: model([DONE]),
      budget: { seconds: 1 },
      clock: { now: () => times.shift() ?? 0, timer: () => () => undefined },
    });
    expect(outcome.spent.seconds).toBe(0);
  });
});

describe("a tool's own time", () => {
  test('ends the call, not the run; what comes later is ignored', async () => {
    const clock = fakeClock();
    const signals: AbortSignal[] = [];
    const ran = drive({
      model: model([calls(call('slow'), call('quick')), DONE]),
      tools: [
        toolOf(
          'slow',
          (_, { signal }) => {
            signals.push(signal);
            return wait(clock, 9, 'late');
          },
          { timeout: 2000 },
        ),
        toolOf('quick', () => 'x'),
      ],
      budget: { seconds: 60 },
      clock,
    });
    await clock.advance(2000);
    const { outcome, results } = await ran;
    await clock.advance(9000);
    expect(results).toMatchObject([
      {
        failure: 'timed_out',
        error:
          "tool 'slow' did not end within 2000 ms; it may still be running, and its effect is unknown",
      },
      { ok: true },
    ]);
    expect(outcome.reason).toBe('no_tool_calls');
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('is 600 seconds if nothing is said', async () => {
    const clock = fakeClock();
    const ran = drive({
      model: model([calls(call('t')), DONE]),
      tools: [toolOf('t', () => never())],
      clock,
    });
    await clock.advance(599_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect((await ran).results[0]).toMatchObject({ failure: 'timed_out' });
  });
});

describe('limits on silence', () => {
  const watchdog = { firstOutput: 10, betweenOutputs: 3 };

  test('a model that says nothing at first', async () => {
    const clock = fakeClock();
    const ran = drive({ model: model([after(clock, 11, DONE)]), watchdog, clock });
    await clock.advance(11_000);
    expect((await ran).outcome).toMatchObject({
      reason: 'model_error',
      error: 'the model was silent for longer than the watchdog allows',
      spent: { seconds: 10, steps: 0 },
    });
  });

  test.each([
    [[9], 9.5, 'no_tool_calls'],
    [[9, 11, 13, 15, 17], 19, 'no_tool_calls'],
    [[9, 13], 14, 'model_error'],
    [[1], 5, 'model_error'],
  ])('outputs after %j seconds, and a reply after %d: %s', async (outputs, replies, reason) => {
    const clock = fakeClock();
    const ran = drive({
      model: ({ onDelta }) => {
        for (const at of outputs)
          clock.timer(at * 1000, () => onDelta({ kind: 'text', text: '.' }));
        return wait(clock, replies, { content: 'done' });
      },
      watchdog,
      clock,
    });
    await clock.advance(20_000);
    expect((await ran).outcome.reason).toBe(reason);
  });

  test('thinking for nine minutes is legitimate', async () => {
    const clock = fakeClock();
    const ran = drive({ model: model([after(clock, 540, DONE)]), clock });
    await clock.advance(540_000);
    expect((await ran).outcome.reason).toBe('no_tool_calls');
  });
});

describe('the check', () => {
  test('that does not end is no success', async () => {
    const clock = fakeClock();
    const ran = drive({ model: model([DONE]), check: () => never(), clock });
    await clock.advance(600_000);
    expect((await ran).outcome).toMatchObject({
      reason: 'no_tool_calls',
      verified: false,
      check: { ok: false, detail: 'the check did not end' },
    });
    expect(clock.pending).toBe(0);
  });
});

describe('race', () => {
  const deadline = (
    clock: FakeClock,
    milliseconds: number,
    signal?: AbortSignal,
  ): Parameters<typeof race>[1] => ({
    clock,
    milliseconds,
    signal,
    cancellation: new Cancellation(),
  });

  test('values, errors, time, silence and abort', async () => {
    const clock = fakeClock();
    expect(await race(Promise.resolve(1), deadline(clock, 5))).toEqual({
      ended: 'value',
      value: 1,
    });
    expect(await race(Promise.reject(new Error('x')), deadline(clock, 5))).toMatchObject({
      ended: 'error',
    });
    const late = race(never(), deadline(clock, 5));
    await clock.advance(5);
    expect(await late).toEqual({ ended: 'timeout' });
    let limit: IdleLimit | undefined;
    const silent = race(never(), deadline(clock, 100), {
      milliseconds: 5,
      onLimit: (given) => {
        limit = given;
      },
    });
    await clock.advance(4);
    limit?.touch(3);
    await clock.advance(3);
    expect(await silent).toEqual({ ended: 'idle' });
    limit?.touch(3); // after the end it starts nothing
    expect(clock.pending).toBe(0);
    const controller = new AbortController();
    const aborted = race(never(), deadline(clock, Infinity, controller.signal));
    controller.abort();
    expect(await aborted).toEqual({ ended: 'aborted' });
    expect(clock.pending).toBe(0);
  });

  test('an end and a silence at one moment are the end', async () => {
    const clock = fakeClock();
    const raced = race(never(), deadline(clock, 5), { milliseconds: 5, onLimit: () => undefined });
    await clock.advance(5);
    expect(await raced).toEqual({ ended: 'timeout' });
  });

  test('work that rejects after it was given up is listened to', async () => {
    const clock = fakeClock();
    const unhandled = await unhandledDuring(async () => {
      const work = gate();
      const raced = race(work.promise, deadline(clock, 1));
      await clock.advance(1);
      expect(await raced).toEqual({ ended: 'timeout' });
      work.fail(new Error('late'));
      const aborted = deadline(clock, 1, AbortSignal.abort());
      expect(await race(Promise.reject(new Error('at once')), aborted)).toEqual({
        ended: 'aborted',
      });
    });
    expect(unhandled).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('a signal that is asked for after the end is aborted already', async () => {
    const clock = fakeClock();
    const cancellation = new Cancellation();
    const raced = race(never(), { clock, milliseconds: 1, signal: undefined, cancellation });
    await clock.advance(1);
    await raced;
    expect(cancellation.signal.aborted).toBe(true);
    expect(cancellation.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test.each([
    [Promise.resolve(), true],
    [{ then: () => undefined }, true],
    [Object.assign(() => 1, { then: () => undefined }), true],
    [{ then: 5 }, false],
    [null, false],
    ['x', false],
    [
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('x');
        },
      }),
      false,
    ],
  ])('what is awaited: case %#', (value, expected) => {
    expect(isThenable(value)).toBe(expected);
  });
});

describe('the machine’s clock', () => {
  test('timers never fire before their time', async () => {
    for (let i = 0; i < 5; i += 1) {
      const from = systemClock.now();
      await new Promise<void>((resolve) => {
        systemClock.timer(1.5, resolve);
      });
      expect(systemClock.now() - from).toBeGreaterThanOrEqual(1.5);
    }
  });

  test('a timer of many years does not fire at once, and can be cancelled', async () => {
    let fired = false;
    const cancel = systemClock.timer(1e12, () => {
      fired = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 3));
    cancel();
    expect(fired).toBe(false);
  });
});
