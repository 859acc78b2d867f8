/**
 * Abort, as Ctrl-C gives it: every call has its answer, the transcript is sealed, and a replay comes to the
 * same end without anybody to abort it.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AttemptError, retryPolicy, withRetries } from '../../src/models/retry.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { type ModelRequest } from '../../src/run/model.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { call, calls, never, toolOf, type Payload } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';
import { byTurns, expectWhole } from './support.ts';

const newPath = scratch();

interface Aborted {
  readonly final: Payload;
  readonly failures: readonly unknown[];
}

/** A run that aborts itself where `options` say so. */
async function abortedIn(
  optionsWith: (abort: () => void) => Omit<RunOptions, 'task'>,
): Promise<Aborted> {
  const path = newPath();
  const controller = new AbortController();
  const options = optionsWith(() => controller.abort());
  const { signal } = controller;
  const outcome = await run({ task: 'x', ...options, signal, transcript: path });
  expect(outcome).toMatchObject({ reason: 'aborted', transcript: { sealed: true } });
  const { records, final } = await expectWhole(path);
  await resumeAnyBeginning(path, options);
  const answers = records.filter(({ kind }) => kind === 'tool');
  return { final, failures: answers.map(({ payload }) => payload['failure']) };
}

/** As after a crash on the way to the end: goes on, or is aborted again at once. */
async function resumeAnyBeginning(
  from: string,
  { tools = [], clock }: Partial<RunOptions>,
): Promise<void> {
  const lines = readFileSync(from, 'utf8').split('\n').slice(0, -2);
  const quick = tools.map((tool) => ({ ...tool, execute: () => tool.name }));
  for (const signal of [undefined, AbortSignal.abort()]) {
    for (let count = 1; count <= lines.length; count += 1) {
      const path = newPath();
      writeFileSync(
        path,
        lines
          .slice(0, count)
          .map((line) => `${line}\n`)
          .join(''),
      );
      const model = byTurns([...THREE, { content: 'done' }]);
      const { reason } = await resume(path, { model, tools: quick, clock, signal });
      expect(reason === 'aborted').toBe(signal !== undefined);
      await expectWhole(path);
    }
  }
}

const THREE = [calls(call('a'), call('b'), call('c'))];

describe('abort', () => {
  test.each([true, false])('during a model call, with times: %s', async (isTimed) => {
    const { final, failures } = await abortedIn((abort) => ({
      model: async () => {
        queueMicrotask(abort);
        return never();
      },
      ...(isTimed ? { clock: fakeClock(1e12) } : {}),
    }));
    expect(final).toMatchObject({
      steps: 0,
      failed_attempts: [{ error: 'aborted while the model was answering', usage: null }],
    });
    expect(failures).toEqual([]);
  });

  test.each([
    ['alone', false, {}, [undefined, 'abandoned', 'not_run']],
    ['together', true, {}, [undefined, 'abandoned', undefined]],
    // The calls that the budget leaves are not all.
    [
      'alone, with a budget of two calls',
      false,
      { toolCalls: 2 },
      [undefined, 'abandoned', 'not_run'],
    ],
  ])('during the second of three tools, %s', async (_, parallel, budget, expected) => {
    const { final, failures } = await abortedIn((abort) => ({
      model: byTurns(THREE),
      tools: ['a', 'b', 'c'].map((name) =>
        toolOf(
          name,
          () => {
            if (name !== 'b') return name;
            queueMicrotask(abort);
            return never();
          },
          { parallel },
        ),
      ),
      budget,
    }));
    expect(failures).toEqual(expected);
    expect(final).toMatchObject({ steps: 1, reason: 'aborted' });
  });

  test('between a turn and its tools', async () => {
    const { failures } = await abortedIn((abort) => ({
      model: byTurns(THREE),
      on: { 'turn-end': abort },
      budget: { toolCalls: 2 },
    }));
    expect(failures).toEqual(['not_run', 'not_run', 'not_run']);
  });

  test('during backoff: what was tried is charged, and nothing is tried again', async () => {
    let sent = 0;
    const { final } = await abortedIn((abort) => {
      const policy = retryPolicy({ clock: fakeClock() });
      return {
        model: (request: ModelRequest) =>
          withRetries(policy, request, async () => {
            sent += 1;
            abort();
            throw new AttemptError({ message: 'busy', retryable: true, usage: null });
          }),
      };
    });
    expect(sent).toBe(1);
    expect(final).toMatchObject({ steps: 0, failed_attempts: [{ error: 'busy', usage: null }] });
    expect(Number(final['tokens'])).toBeGreaterThan(0);
  });
});
