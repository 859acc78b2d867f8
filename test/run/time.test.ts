/**
 * Time: the time budget, deadlines of tools, limits on silence, and the check's own limit. Time stands
 * still unless a test moves it.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type ModelReply } from '../../src/run/model.ts';
import { fakeClock, type FakeClock } from '../../src/testing/clock.ts';
import { call, calls, DONE, drive, model, never, toolOf, type Ran, type Step } from './support.ts';

/** Runs while time passes: `seconds` from now, in steps of one. */
async function during(clock: FakeClock, ran: Promise<Ran>, seconds: number): Promise<Ran> {
  for (let i = 0; i < seconds; i += 1) await clock.advance(1000);
  const result = await Promise.race([ran, settledLate()]);
  expect(clock.pending, 'timers that were left').toBe(0);
  return result;
}

async function settledLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 500)); // a model has a moment for its last word
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

  test.each([
    [3, { failure: 'not_run', error: 'not run: the run ended before it was checked' }],
    [
      9000,
      {
        failure: 'invalid_arguments',
        error: 'invalid arguments: $.t: could not be checked: the check did not end',
      },
    ],
  ])('a schema that never answers, with %d seconds', async (seconds, result) => {
    const clock = fakeClock();
    const input = { '~standard': { version: 1 as const, vendor: 'test', validate: () => never() } };
    const ran = drive({
      model: model([calls(call('t')), DONE]),
      tools: [toolOf('t', () => 1, { input, inputSchema: { type: 'object' } })],
      budget: { seconds },
      clock,
    });
    await clock.advance(600_000);
    expect((await ran).results[0]).toMatchObject(result);
    expect(clock.pending).toBe(0);
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
      clock: {
        now: () => now,
        timer: (milliseconds, callback) => clock.timer(milliseconds, callback),
      },
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
    await clock.advance(5000);
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
    await clock.advance(10_000);
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
