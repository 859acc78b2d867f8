/**
 * Abort at every place where a run waits: it settles promptly, sealed, with every call answered, and what
 * settles later is ignored.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type RunEvent } from '../../src/run/events.ts';
import { type RunOptions } from '../../src/run/options.ts';
import {
  call,
  calls,
  DONE,
  drive,
  gate,
  model,
  never,
  settle,
  toolOf,
  unhandledDuring,
  type Gate,
  type Ran,
} from './support.ts';

type Options = Omit<RunOptions, 'task'>;

/** Runs with a signal that `options` aborts where it waits; the gate is what it waits for. */
async function abortIn(options: (wait: () => Promise<unknown>) => Options): Promise<Ran> {
  const controller = new AbortController();
  const late: Gate<unknown>[] = [];
  const wait = (): Promise<unknown> => {
    const waiting = gate<unknown>();
    late.push(waiting);
    queueMicrotask(() => controller.abort());
    return waiting.promise;
  };
  let ran: Ran | undefined;
  const unhandled = await unhandledDuring(async () => {
    ran = await drive({ ...options(wait), signal: controller.signal });
    const { text } = ran;
    late.forEach(({ open, fail }, i) => {
      if (i % 2 === 0) fail(new Error('late'));
      else open('late');
    });
    await settle();
    expect(ran.text).toBe(text);
  });
  expect(unhandled).toEqual([]);
  expect(late).not.toHaveLength(0);
  if (ran === undefined) throw new Error('it did not run');
  return ran;
}

const three = model([calls(call('a'), call('b'), call('c'))]);
const fresh = (): ReturnType<typeof model> => model([calls(call('a'), call('b'), call('c')), DONE]);
const quick = (name: string): ReturnType<typeof toolOf> => toolOf(name, () => name);

describe('abort', () => {
  test('before the first turn: nobody is asked, and no check runs', async () => {
    let checked = false;
    const { outcome, records } = await drive({
      model: three,
      signal: AbortSignal.abort(),
      check: () => {
        checked = true;
        return { ok: true };
      },
    });
    expect(outcome).toMatchObject({ reason: 'aborted', check: null, verified: null, answer: '' });
    expect(records.map(({ kind }) => kind)).toEqual(['user', 'final']);
    expect(three.asked).toHaveLength(0);
    expect(checked).toBe(false);
  });

  test('while the model answers', async () => {
    const { outcome, final, records } = await abortIn((wait) => ({
      model: async () => {
        await wait();
        return { content: 'late' };
      },
    }));
    expect(outcome.reason).toBe('aborted');
    expect(final['failed_attempts']).toEqual([
      { error: 'aborted while the model was answering', usage: null },
    ]);
    expect(records).toHaveLength(2);
  });

  test('by the model itself, which then rejects at once', async () => {
    const controller = new AbortController();
    const unhandled = await unhandledDuring(async () => {
      const { outcome } = await drive({
        model: () => {
          controller.abort();
          return Promise.reject(new Error('at once'));
        },
        signal: controller.signal,
      });
      expect(outcome.reason).toBe('aborted');
    });
    expect(unhandled).toEqual([]);
  });

  test('while the model answers, which says so by throwing', async () => {
    const controller = new AbortController();
    const { outcome } = await drive({
      model: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new DOMException('x', 'AbortError')));
          queueMicrotask(() => controller.abort());
        }),
      signal: controller.signal,
    });
    expect(outcome).toMatchObject({ reason: 'aborted' });
    expect(outcome.error).toBeUndefined();
  });

  test('after a turn, before its tools', async () => {
    const controller = new AbortController();
    const { outcome, results } = await drive({
      model: fresh(),
      tools: [quick('a'), quick('b'), quick('c')],
      signal: controller.signal,
      on: { 'turn-end': () => controller.abort() },
    });
    expect(outcome).toMatchObject({ reason: 'aborted', spent: { steps: 1, toolCalls: 0 } });
    expect(results.map(({ failure }) => failure)).toEqual(['not_run', 'not_run', 'not_run']);
  });

  test.each([
    ['serial', false, [undefined, 'abandoned', 'not_run']],
    // Those beside it ran: they are sync, and were over before.
    ['parallel', true, [undefined, 'abandoned', undefined]],
  ])('in the second of three %s tools', async (_, parallel, failures) => {
    const { outcome, results } = await abortIn((wait) => ({
      model: fresh(),
      tools: ['a', 'b', 'c'].map((name) =>
        toolOf(name, () => (name === 'b' ? wait() : name), { parallel }),
      ),
    }));
    expect(outcome.reason).toBe('aborted');
    expect(results.map(({ failure }) => failure)).toEqual(failures);
  });

  test('by a tool, at once: what stands beside it does not start', async () => {
    const controller = new AbortController();
    const started: string[] = [];
    const { results } = await drive({
      model: fresh(),
      tools: ['a', 'b', 'c'].map((name) =>
        toolOf(name, () => {
          started.push(name);
          if (name === 'a') controller.abort();
          return name;
        }),
      ),
      signal: controller.signal,
    });
    expect(started).toEqual(['a']);
    // It ended before anybody could know: what it returned is what happened.
    expect(results).toMatchObject([
      { ok: true, value: 'a' },
      { failure: 'not_run', error: 'not run: the run was aborted' },
      { failure: 'not_run' },
    ]);
  });

  test('while permission for the second is asked: the first, permitted, does not start', async () => {
    const started: string[] = [];
    const { outcome, results } = await abortIn((wait) => ({
      model: fresh(),
      tools: ['a', 'b', 'c'].map((name) => toolOf(name, () => started.push(name))),
      permit: ({ call: { name } }) =>
        name === 'a' ? { decision: 'allow' } : { decision: 'ask', question: 'b?' },
      ask: async () => {
        await wait();
        return { allow: true };
      },
    }));
    expect(outcome.reason).toBe('aborted');
    expect(started).toEqual([]);
    expect(results).toMatchObject([
      { failure: 'not_run', permit: { decision: 'allow', asked: false } },
      { failure: 'not_run', error: 'not run: the run ended before it was permitted' },
      { failure: 'not_run' },
    ]);
    expect(outcome.spent.toolCalls).toBe(0);
  });

  test('while arguments are checked', async () => {
    const { outcome, results } = await abortIn((wait) => ({
      model: model([calls(call('slow'))]),
      tools: [
        {
          name: 'slow',
          description: '',
          input: { '~standard': { version: 1, vendor: 'test', validate: () => wait() as never } },
          inputSchema: { type: 'object' },
          execute: () => 'ran',
        },
      ],
    }));
    expect(outcome).toMatchObject({ reason: 'aborted', spent: { toolCalls: 0 } });
    expect(results[0]).toMatchObject({
      failure: 'not_run',
      error: 'not run: the run ended before it was checked',
    });
  });

  test('during the success check: the run had ended before', async () => {
    const { outcome } = await abortIn((wait) => ({
      model: model([DONE]),
      check: async () => {
        await wait();
        return { ok: true };
      },
    }));
    expect(outcome).toMatchObject({
      reason: 'no_tool_calls',
      verified: false,
      check: { ok: false, detail: 'aborted during the check' },
    });
  });

  test.each(['user', 'assistant', 'tool'])(
    'by a listener, at a record of kind %s',
    async (kind) => {
      const controller = new AbortController();
      const { outcome } = await drive({
        model: fresh(),
        tools: [quick('a'), quick('b'), quick('c')],
        signal: controller.signal,
        on: { record: ({ record }) => record.kind === kind && controller.abort() },
      });
      expect(outcome.reason).toBe('aborted');
    },
  );

  test('reaches the signals of the model and of the tool, with its reason', async () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    const reason = new Error('enough');
    await drive({
      model: model([calls(call('t'))]),
      tools: [
        toolOf('t', (_, { signal }) => {
          signal.addEventListener('abort', () => reasons.push(signal.reason));
          queueMicrotask(() => controller.abort(reason));
          return never();
        }),
      ],
      signal: controller.signal,
    });
    expect(reasons).toEqual([reason]);
  });

  test('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      listeners -= 1;
      remove(...args);
    };
    await drive({
      model: fresh(),
      tools: ['a', 'b', 'c'].map((name) => toolOf(name, async () => name)),
      permit: async () => ({ decision: 'allow' }),
      check: async () => ({ ok: true }),
      signal,
    });
    expect(listeners).toBe(0);
  });

  test('a model that goes on after it was given up is not heard', async () => {
    const controller = new AbortController();
    const events: RunEvent[] = [];
    let speak: (() => void) | undefined;
    await drive({
      model: ({ onDelta }) => {
        speak = () => {
          onDelta({ kind: 'text', text: 'late' });
        };
        onDelta({ kind: 'text', text: 'in time' });
        queueMicrotask(() => controller.abort());
        return never();
      },
      signal: controller.signal,
      on: (event) => events.push(event),
    });
    speak?.();
    expect(events.filter(({ type }) => type === 'delta')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('run-end');
  });
});
