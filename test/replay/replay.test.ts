/**
 * Replay: the same bytes from the recorded replies and answers, for every run that there can be.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordedTools, type Recording } from '../../src/models/scripted.ts';
import { replay } from '../../src/replay/replay.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { SOME_BUDGET, someScript, TOOLS } from '../run/random-run.ts';
import { model } from '../run/support.ts';

const PRICE = { input: 2, output: 10, cacheRead: 0.5 };

describe('replay', () => {
  test('of any run that ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        someScript,
        SOME_BUDGET,
        fc.record({ timed: fc.boolean(), repeats: fc.boolean(), checked: fc.boolean() }),
        async (script, budget, { timed, repeats, checked }) => {
          const store = memoryStore();
          await run({
            task: 'do it',
            model: Object.assign(model(script), { price: PRICE }),
            tools: TOOLS,
            budget,
            repeats,
            transcript: store,
            sentinel: 'DONE',
            system: 'be brief',
            ...(timed ? { clock: fakeClock(1_700_000_000_000) } : {}),
            ...(checked ? { check: ({ answer }) => ({ ok: answer !== '' }) } : {}),
          });
          const again = await replay(store);
          expect(again.divergence).toBeUndefined();
          expect(again).toMatchObject({ ok: true, count: store.head.count, sealed: true });
        },
      ),
      { numRuns: 300 },
    );
  });
});

const testdata = new URL('../testdata/', import.meta.url);
const old = new URL('v1/', testdata);
const recording: Recording = JSON.parse(
  readFileSync(new URL('samples/tau-bench/public-gpt4o-airline-109.json', testdata), 'utf8'),
);

describe('old transcripts replay', () => {
  test.each(readdirSync(old).filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const count = readFileSync(new URL(name, old), 'utf8').trimEnd().split('\n').length;
    // This one holds estimates, and only the hash of the tools that are part of them.
    const tools = name === 'recorded-tau-bench.jsonl' ? recordedTools(recording) : undefined;
    const again = await replay(new URL(name, old), { tools });
    expect(again.divergence).toBeUndefined();
    expect(again).toMatchObject({ ok: true, count });
    if (tools !== undefined)
      expect(again).toMatchObject({ differences: [], live: { changed: [] } });
  });

  test('or say what is missing', async () => {
    const { ok, divergence } = await replay(new URL('recorded-tau-bench.jsonl', old));
    expect(ok).toBe(false);
    expect(divergence?.detail).toMatch(/estimates of tokens need the tools/);
  });
});
