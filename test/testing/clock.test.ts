import { setImmediate as immediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../src/testing/clock.ts';

describe('fakeClock', () => {
  test('stands still until it is moved', async () => {
    const clock = fakeClock(1000);
    await immediate();
    expect(clock.now()).toBe(1000);
    await clock.advance(250);
    expect(clock.now()).toBe(1250);
    await clock.advance(0);
    expect(clock.now()).toBe(1250);
  });

  test('fires what is due, at its own time, in order of time and then of creation', async () => {
    const clock = fakeClock();
    const fired: [string, number][] = [];
    const timer = (name: string, ms: number): void => {
      clock.timer(ms, () => fired.push([name, clock.now()]));
    };
    timer('late', 101);
    timer('b', 50);
    timer('a', 10);
    timer('b2', 50);
    timer('edge', 100);
    expect(clock.pending).toBe(5);
    await clock.advance(100);
    expect(fired).toEqual([
      ['a', 10],
      ['b', 50],
      ['b2', 50],
      ['edge', 100],
    ]);
    expect(clock.pending).toBe(1);
  });

  test('a cancelled timer does not fire, and cancelling twice or late is harmless', async () => {
    const clock = fakeClock();
    let fired = 0;
    const cancel = clock.timer(5, () => (fired += 1));
    const cancelOther = clock.timer(5, () => (fired += 10));
    cancel();
    cancel();
    expect(clock.pending).toBe(1);
    await clock.advance(10);
    cancelOther();
    expect(fired).toBe(10);
  });

  test('code that awaits one timer and sets the next proceeds within one advance', async () => {
    const clock = fakeClock();
    const seen: number[] = [];
    const work = (async () => {
      for (let i = 0; i < 4; i += 1) {
        await new Promise<void>((resolve) => {
          clock.timer(30, resolve);
        });
        await immediate(); // a hop that is not a promise job
        seen.push(clock.now());
      }
    })();
    await clock.advance(100);
    expect(seen).toEqual([30, 60, 90]);
    await clock.advance(20);
    await work;
    expect(seen).toEqual([30, 60, 90, 120]);
  });

  test.each([0, -1, Number.NaN])('a wait of %d is over at the next advance', async (ms) => {
    const clock = fakeClock(7);
    let at = -1;
    clock.timer(ms, () => {
      at = clock.now();
    });
    expect(at).toBe(-1);
    await clock.advance(0);
    expect(at).toBe(7);
  });

  test('a callback that throws is not swallowed, and time stands where it was due', async () => {
    const clock = fakeClock();
    clock.timer(3, () => {
      throw new Error('boom');
    });
    await expect(clock.advance(10)).rejects.toThrow('boom');
    expect(clock.now()).toBe(3);
  });

  test.each([-1, Number.NaN, Infinity])('refuses to advance by %d', async (ms) => {
    await expect(fakeClock().advance(ms)).rejects.toThrow(RangeError);
    if (ms !== -1) expect(() => fakeClock(ms)).toThrow(RangeError);
  });

  test('how an interval is cut into advances changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(60), { maxLength: 8 }),
        fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }),
        async (waits, steps) => {
          const runs: string[] = [];
          const total = steps.reduce((sum, step) => sum + step, 0);
          for (const plan of [steps, [total]]) {
            const clock = fakeClock();
            const fired: string[] = [];
            for (const [i, ms] of waits.entries()) {
              clock.timer(ms, () => fired.push(`${i}@${clock.now()}`));
            }
            for (const step of plan) await clock.advance(step);
            runs.push(JSON.stringify([fired, clock.now(), clock.pending]));
          }
          expect(runs[0]).toBe(runs[1]);
        },
      ),
      { numRuns: 30 },
    );
  });
});
