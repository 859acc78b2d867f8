import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { checkOptions } from '../../src/models/options.ts';
import {
  askedWaitMs,
  AttemptError,
  decideRetry,
  RETRY_OPTIONS,
  retryPolicy,
  withRetries,
  type AttemptFailure,
} from '../../src/models/retry.ts';
import { ModelError } from '../../src/run/model.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { request } from './request.ts';

const POLICY = retryPolicy({});
const FAILURE: AttemptFailure = { message: '503 busy', retryable: true, label: 'unavailable' };

describe('retryPolicy', () => {
  test('defaults', () => {
    expect(POLICY).toMatchObject({ maxAttempts: 3, maxRetryWaitSeconds: 600 });
  });

  test.each([0, -1, 1.5, NaN, Infinity])('maxAttempts %s is refused', (maxAttempts) => {
    const options = { maxAttempts };
    expect(() => checkOptions('x', options, RETRY_OPTIONS)).toThrow(
      /^maxAttempts: expected an int/,
    );
  });

  test.each([-1, NaN, Infinity])('maxRetryWaitSeconds %s is refused', (maxRetryWaitSeconds) => {
    const options = { maxRetryWaitSeconds };
    expect(() => checkOptions('x', options, RETRY_OPTIONS)).toThrow(/^maxRetryWaitSeconds: expec/);
  });
});

describe('decideRetry', () => {
  test.each([
    [1, 500],
    [2, 1000],
  ])('after attempt %i the wait is %i ms', (attempt, waitMs) => {
    expect(decideRetry(POLICY, attempt, FAILURE, undefined)).toEqual({ retry: true, waitMs });
  });

  test('the last attempt is the last', () => {
    expect(decideRetry(POLICY, 3, FAILURE, undefined)).toEqual({
      retry: false,
      reason: '503 busy; gave up after 3 attempts',
    });
  });

  test('one attempt allowed: its own words, and no count', () => {
    const policy = retryPolicy({ maxAttempts: 1 });
    expect(decideRetry(policy, 1, FAILURE, undefined)).toEqual({
      retry: false,
      reason: '503 busy',
    });
  });

  test('what is not worth it is not repeated', () => {
    const failure = { ...FAILURE, retryable: false, retryAfterMs: 1 };
    expect(decideRetry(POLICY, 1, failure, undefined)).toEqual({
      retry: false,
      reason: '503 busy',
    });
  });

  test.each([
    [599_999, undefined, true],
    [600_000, undefined, true],
    [600_001, undefined, false],
    [1e23, undefined, false],
    [Infinity, undefined, false],
    [30_000, 30_001, true],
    [30_000, 30_000, false],
    [30_000, 29_999, false],
    [30_000, -5, false],
  ])('asked to wait %s ms with %s ms left: %s', (retryAfterMs, leftMs, retry) => {
    const decision = decideRetry(POLICY, 1, { ...FAILURE, retryAfterMs }, leftMs);
    expect(decision).toMatchObject(retry ? { retry, waitMs: retryAfterMs } : { retry });
  });

  test('the reasons say how long, and what there is', () => {
    const failure = { ...FAILURE, label: 'rate limited', retryAfterMs: 120_000 };
    expect(decideRetry(POLICY, 1, failure, 30_000)).toEqual({
      retry: false,
      reason:
        'rate limited: the provider asks to wait 120 s, and the time budget leaves 30 s (503 busy)',
    });
    expect(decideRetry(retryPolicy({ maxRetryWaitSeconds: 60 }), 1, failure, undefined)).toEqual({
      retry: false,
      reason:
        'rate limited: the provider asks to wait 120 s, more than maxRetryWaitSeconds, 60 s (503 busy)',
    });
    expect(decideRetry(POLICY, 1, FAILURE, 400)).toEqual({
      retry: false,
      reason:
        'unavailable: the next attempt would be in 0.5 s, and the time budget leaves 0.4 s (503 busy)',
    });
  });

  test('a wait of 0 would be a busy loop: the usual one is taken', () => {
    expect(decideRetry(POLICY, 1, { ...FAILURE, retryAfterMs: 0 }, undefined)).toEqual({
      retry: true,
      waitMs: 500,
    });
  });
});

describe('askedWaitMs', () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0);

  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 1.5 ' }, 1500],
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after-ms': 'x', 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' }, 120_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, 0],
    [{ 'retry-after': 'Thursday, 01-Jan-26 00:02:00 GMT' }, 120_000],
    [{ 'retry-after': 'Thu, 41 Jan 2026 00:02:00 GMT' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'NaN' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '2s' }, undefined],
    [{ 'retry-after': '9'.repeat(20) }, 1e23],
    [{ 'retry-after': 'soon 2027' }, undefined],
  ])('%j: %s ms', (headers, expected) => {
    expect(askedWaitMs((name) => headers[name], now)).toBe(expected);
  });
});

describe('withRetries', () => {
  test('time that attempts took is no longer left', async () => {
    const clock = fakeClock(1000);
    let sent = 0;
    const promise = withRetries(retryPolicy({ clock }), request({ secondsLeft: 10 }), async () => {
      sent += 1;
      await clock.advance(6000);
      throw new AttemptError({ ...FAILURE, retryAfterMs: 4500 });
    });
    await expect(promise).rejects.toThrow(/asks to wait 4.5 s, and the time budget leaves 4 s/);
    expect(sent).toBe(1);
  });

  test('failed attempts are told of, oldest first, each with what it may have cost', async () => {
    const clock = fakeClock();
    const failures: AttemptFailure[] = [
      { message: 'first', retryable: true },
      { message: 'second', retryable: true, usage: null },
    ];
    const { signal } = new AbortController();
    const promise = withRetries(retryPolicy({ clock }), request({ signal }), async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw new AttemptError(failure);
      return { content: 'ok' };
    });
    await clock.advance(1500);
    expect(await promise).toEqual({
      content: 'ok',
      failedAttempts: [{ error: 'first' }, { error: 'second', usage: null, streamed: 0 }],
    });
    expect(clock.now()).toBe(1500);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('an error that is no attempt of the provider goes through', async () => {
    const bug = new TypeError('a bug');
    const promise = withRetries(POLICY, request(), () => Promise.reject(bug));
    await expect(promise).rejects.toBe(bug);
  });

  test('an abort leaves no timer and no listener behind', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const promise = withRetries(
      retryPolicy({ clock }),
      request({ signal: controller.signal }),
      () => Promise.reject(new AttemptError(FAILURE)),
    );
    await clock.advance(100);
    expect(clock.pending).toBe(1);
    controller.abort();
    await expect(promise).rejects.toBeInstanceOf(ModelError);
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
