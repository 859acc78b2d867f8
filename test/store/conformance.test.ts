/**
 * Both stores keep the contract, and the suite notices a store that doesn't.
 *
 * @module
 */
import { dirname } from 'node:path';
import { rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { storeConformance, type StoreUnderTest } from '../../src/store/conformance.ts';
import {
  createTranscript,
  memoryStore,
  openTranscript,
  type Durability,
  type TranscriptStore,
} from '../../src/store/index.ts';
import { EMPTY_HEAD } from '../../src/transcript/index.ts';
import { lending, replaced, scratch } from './helpers.ts';

const newPath = scratch();

describe('memory', () => {
  for (const { name, run } of storeConformance(async () => ({ store: memoryStore() }))) {
    test(name, run);
  }
});

describe('memory that lends one Buffer to its readers', () => {
  const cases = storeConformance(async () => ({ store: lending(memoryStore(), 50_000) }));
  for (const { name, run } of cases) test(name, run);
});

const DURABILITIES: readonly Durability[] = ['always', 'turn', 'never'];
describe.each(DURABILITIES)('file, durability %s', (durability) => {
  async function make(): Promise<StoreUnderTest> {
    const path = newPath();
    return {
      store: await createTranscript(path, { durability }),
      reopen: () => openTranscript(path, { durability }),
      dispose: () => rm(dirname(path), { recursive: true }),
    };
  }
  for (const { name, run } of storeConformance(make)) test(name, run);
});

/** Stores that each break one clause of the contract. */
const BROKEN: readonly [string, (store: TranscriptStore) => Partial<TranscriptStore>][] = [
  ['sync works after close', () => ({ sync: async () => undefined })],
  ['the head never moves', () => ({ head: EMPTY_HEAD })],
  ['it says nothing about where it is', () => ({ location: '' })],
  [
    'it returns no lines',
    (store) => ({ append: async (d) => (await store.append(d)).slice(0, 0) }),
  ],
  [
    'a batch is written one by one',
    (store) => ({
      append: async (drafts) => {
        const lines = [];
        for (const draft of drafts) lines.push(...(await store.append([draft])));
        return lines;
      },
    }),
  ],
  [
    'what is read lacks the last byte',
    (store) => ({
      async *read() {
        for await (const piece of store.read()) yield piece.subarray(0, -1);
      },
    }),
  ],
  [
    'close throws the second time',
    (store) => {
      let closed = 0;
      return {
        async close() {
          closed += 1;
          if (closed === 2) throw new Error('closed twice');
          await store.close();
        },
      };
    },
  ],
];

test.each(BROKEN)('the suite notices a store of which this is true: %s', async (_, breaking) => {
  const cases = storeConformance(async () => {
    const store = memoryStore();
    return {
      store: replaced(store, breaking(store)),
    };
  });
  const failures: string[] = [];
  for (const { name, run } of cases) {
    await run().catch(() => failures.push(name));
  }
  expect(failures.length).toBeGreaterThan(0);
});
