/**
 * A store that fails at any point: the run says so, what was recorded holds, and nothing had an effect
 * that no record announced.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { run } from '../../src/run/run.ts';
import { type Outcome } from '../../src/run/outcome.ts';
import { memoryStore, StoreError, type TranscriptStore } from '../../src/store/index.ts';
import { call, calls, DONE, gate, model, readRun, settle, toolOf, type Read } from './support.ts';

type Operation = 'append' | 'sync';

/** A store in memory whose n-th operation of one kind fails. */
function failing(
  operation: Operation,
  n: number,
): { store: TranscriptStore; inner: TranscriptStore } {
  const inner = memoryStore();
  let done = 0;
  const act = <T>(name: Operation, real: () => Promise<T>): Promise<T> => {
    if (name === operation) done += 1;
    return name === operation && done === n
      ? Promise.reject(new StoreError('failed', `disk full at /var/lib/app/run.jsonl`))
      : real();
  };
  const store: TranscriptStore = {
    location: 'memory',
    get head() {
      return inner.head;
    },
    append: (drafts) => act('append', () => inner.append(drafts)),
    sync: () => act('sync', () => inner.sync()),
    read: () => inner.read(),
    close: () => inner.close(),
  };
  return { store, inner };
}

interface Failed {
  readonly outcome: Outcome;
  readonly records: readonly Read[];
  /** Kinds of the records that were there when each tool started. */
  readonly effects: readonly (readonly string[])[];
}

/** Two turns with two serial tools each, then the end: 8 appends, and some syncs. */
async function runWith(operation: Operation, n: number): Promise<Failed> {
  const { store } = failing(operation, n);
  const effects: string[][] = [];
  const kinds: string[] = [];
  const tool = toolOf(
    't',
    () => {
      effects.push([...kinds]);
      return effects.length;
    },
    { parallel: false },
  );
  const outcome = await run({
    task: 'x',
    model: model([calls(call('t'), call('t')), calls(call('t'), call('t')), DONE]),
    tools: [tool],
    transcript: store,
    on: { record: ({ record }) => kinds.push(record.kind) },
  });
  const { records } = await readRun(store, outcome, { allowOpen: true });
  expect(records.map(({ kind }) => kind)).toEqual(kinds);
  return { outcome, records, effects };
}

const KINDS = [
  'user',
  'assistant',
  'tool',
  'tool',
  'assistant',
  'tool',
  'tool',
  'assistant',
  'final',
];

describe('an append that fails', () => {
  test.each(KINDS.map((kind, i) => [i + 1, kind] as const))('the %d., of %s', async (n) => {
    const { outcome, records, effects } = await runWith('append', n);
    expect(outcome).toMatchObject({
      reason: 'record_error',
      error: 'disk full at …/run.jsonl',
      check: null,
      transcript: { count: n - 1, sealed: false },
    });
    expect(records.map(({ kind }) => kind)).toEqual(KINDS.slice(0, n - 1));
    // What the outcome counts is what the record says.
    const counted = (kind: string): number =>
      records.filter((record) => record.kind === kind).length;
    expect(outcome.spent).toMatchObject({
      steps: counted('assistant'),
      toolCalls: counted('tool'),
    });
    // Intent before effect: a tool starts only when the record that names its call is there.
    for (const before of effects) expect(before).toContain('assistant');
    expect(effects.length).toBeLessThanOrEqual(counted('assistant') * 2);
    expect(effects.length - counted('tool')).toBeLessThanOrEqual(1);
  });
});

describe('a sync that fails', () => {
  test('at every point', async () => {
    let n = 1;
    for (; ; n += 1) {
      const { outcome, effects, records } = await runWith('sync', n);
      if (outcome.reason !== 'record_error') break;
      expect(outcome.error).toBe('disk full at …/run.jsonl');
      const turns = records.filter(({ kind }) => kind === 'assistant').length;
      // The first sync stands before the model, the second and third before a tool each, and so on.
      expect(turns).toBe(Math.floor((n + 1) / 3));
      expect(effects).toHaveLength(n - 1 - Math.ceil((n - 1) / 3));
    }
    expect(n).toBeGreaterThan(8);
  });
});

test('a store that fails beside running tools tells them, and leaves no rejection', async () => {
  const { store } = failing('append', 3);
  const late = gate<string>();
  const signals: AbortSignal[] = [];
  const outcome = await run({
    task: 'x',
    model: model([calls(call('quick'), call('slow'))]),
    tools: [
      toolOf('quick', () => 'x'),
      toolOf('slow', (_, { signal }) => {
        signals.push(signal);
        return late.promise;
      }),
    ],
    transcript: store,
  });
  expect(outcome.reason).toBe('record_error');
  expect(signals[0]?.aborted).toBe(true);
  late.fail(new Error('late'));
  await settle();
});

describe('a store that can not begin', () => {
  test('one that holds records already', async () => {
    const store = memoryStore();
    await run({ task: 'x', model: model([DONE]), transcript: store });
    const again = run({ task: 'x', model: model([DONE]), transcript: store });
    await expect(again).rejects.toMatchObject({ code: 'exists' });
    await expect(again).rejects.toThrow(
      'memory holds a transcript already; give the run an empty one',
    );
  });

  test('one that was closed is an outcome', async () => {
    const store = memoryStore();
    await store.close();
    const outcome = await run({ task: 'x', model: model([DONE]), transcript: store });
    expect(outcome).toMatchObject({
      reason: 'record_error',
      transcript: { count: 0, sealed: false },
    });
  });

  test.each(['append', 'sync'] as const)('one whose %s throws what it likes', async (method) => {
    const broken = Object.assign(memoryStore(), {
      [method]: () => Promise.reject(new TypeError('no connection')),
    });
    const outcome = await run({ task: 'x', model: model([DONE]), transcript: broken });
    expect(outcome).toMatchObject({ reason: 'record_error', error: 'TypeError: no connection' });
  });

  test('the run leaves a store that it was given open', async () => {
    const store = memoryStore();
    await run({ task: 'x', model: model([DONE]), transcript: store });
    await expect(store.sync()).resolves.toBeUndefined();
  });
});
