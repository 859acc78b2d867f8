/**
 * Waiting with an end: what comes first, and that nothing is left behind.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/run/clock.ts';
import { Cancellation, isThenable, race, type IdleLimit } from '../../src/run/deadline.ts';
import { fakeClock, type FakeClock } from '../../src/testing/clock.ts';
import { gate, never, thenable, unhandledDuring } from './support.ts';

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

function refuse(): never {
  throw new Error('not to be asked');
}

describe('race', () => {
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
    [thenable(() => undefined), true],
    [thenable(5), false],
    [null, false],
    ['x', false],
    [new Proxy({}, { has: refuse }), false],
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
