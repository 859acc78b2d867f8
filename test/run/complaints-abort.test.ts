/**
 * Complaints about other frameworks, by their number in the research on tool loops: abort, pairing, and
 * runs that claim a success. #44 is about a wire format.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type RunEvent } from '../../src/run/events.ts';
import { call, calls, drive, gate, model, toolOf, unhandledDuring } from './support.ts';

describe('abort and pairing', () => {
  test('#41 and #43 abort while the second of three runs', async () => {
    const controller = new AbortController();
    const late = gate<string>();
    const events: RunEvent[] = [];
    const { outcome, results, text } = await drive({
      model: model([calls(call('first'), call('second'), call('third'))]),
      tools: [
        toolOf('first', () => 'ok', { parallel: false }),
        toolOf(
          'second',
          () => {
            queueMicrotask(() => controller.abort());
            return late.promise;
          },
          { parallel: false },
        ),
        toolOf('third', () => 'never', { parallel: false }),
      ],
      signal: controller.signal,
      on: (event) => events.push(event),
    });
    late.open('done after all');
    expect(outcome).toMatchObject({ reason: 'aborted', check: null, verified: null });
    expect(results).toMatchObject([
      { ok: true, value: 'ok' },
      {
        ok: false,
        failure: 'abandoned',
        error: 'still running when the run was aborted; its effect is unknown',
      },
      { ok: false, failure: 'not_run', error: 'not run: the run was aborted' },
    ]);
    // #43: nothing says that what was running was cancelled.
    expect(text).not.toContain('cancel');
  });

  test('#42 an aborted tool that then succeeds is not a result', async () => {
    const controller = new AbortController();
    const { results } = await drive({
      model: model([calls(call('slow'))]),
      tools: [
        toolOf('slow', (_, { signal }) => {
          const stopped = new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve('finished all the same'));
          });
          queueMicrotask(() => controller.abort());
          return stopped;
        }),
      ],
      signal: controller.signal,
    });
    expect(results[0]).toMatchObject({ ok: false, failure: 'abandoned' });
    expect(results[0]).not.toHaveProperty('value');
  });

  test('#45 an abort ends once, without waiting for the tool or leaving a rejection', async () => {
    const controller = new AbortController();
    const ends: string[] = [];
    const late = gate();
    const unhandled = await unhandledDuring(async () => {
      const { outcome } = await drive({
        model: model([calls(call('deaf'))]),
        tools: [
          toolOf('deaf', () => {
            queueMicrotask(() => controller.abort(new Error('stop')));
            return late.promise;
          }),
        ],
        signal: controller.signal,
        on: { 'run-end': ({ outcome: ended }) => ends.push(ended.reason) },
      });
      expect(outcome.reason).toBe('aborted');
      late.fail(new Error('too late'));
    });
    expect(ends).toEqual(['aborted']);
    expect(unhandled).toEqual([]);
  });

  test('#63 why it stopped, what was claimed and what was verified are three facts', async () => {
    const { outcome } = await drive({
      model: model([{ content: 'I fixed it and all tests pass.' }]),
      check: () => ({ ok: false, detail: '3 tests fail' }),
    });
    expect(outcome).toMatchObject({
      reason: 'no_tool_calls',
      answer: 'I fixed it and all tests pass.',
      verified: false,
      check: { ok: false, detail: '3 tests fail' },
    });
  });
});
