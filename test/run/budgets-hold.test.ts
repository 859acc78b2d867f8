/**
 * Budgets hold, whatever the model and the tools do: steps and tool calls are never exceeded, tokens and
 * dollars by one turn at most, and what stops a run is named.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { model, call, calls, drive, echo, type Payload, type Read } from './support.ts';
import { SOME_BUDGET, someTurn, TOOLS } from './random-run.ts';
import { ModelError } from '../../src/run/model.ts';
import { usageOf } from '../../src/run/usage.ts';

const PRICE = { input: 2, output: 10, reasoning: 12 };

/** The results of the newest turn. */
function lastResults(records: readonly Read[]): readonly Payload[] {
  const last = records.findLastIndex(({ kind }) => kind === 'assistant');
  return records
    .slice(last + 1)
    .filter(({ kind }) => kind === 'tool')
    .map(({ payload }) => payload);
}

function turnsOf(records: readonly Read[]): readonly Read[] {
  return records.filter(({ kind }) => kind === 'assistant');
}

describe('any budget, any script', () => {
  test('is never exceeded beyond its bound, and the outcome names it', async () => {
    const endless = fc.array(someTurn, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(endless, SOME_BUDGET, async (script, some) => {
        const budget = { steps: 12, ...some };
        const charged: { tokens: number; usd: number }[] = [];
        let ran = 0;
        const tools = TOOLS.map((tool) => ({
          ...tool,
          execute: (...given: Parameters<typeof tool.execute>) => {
            ran += 1;
            return tool.execute(...given);
          },
        }));
        const { outcome, records } = await drive({
          model: model((i) => script[i % script.length] ?? {}, { price: PRICE }),
          tools,
          budget,
          on: {
            'turn-end': ({ spent }) => charged.push({ tokens: spent.tokens, usd: spent.usd ?? 0 }),
          },
        });
        const { spent } = outcome;
        expect(spent.steps).toBeLessThanOrEqual(budget.steps);
        expect(spent.steps).toBe(turnsOf(records).length);
        expect(spent.toolCalls).toBeLessThanOrEqual(budget.toolCalls ?? Infinity);
        expect(ran).toBeLessThanOrEqual(spent.toolCalls);
        const within = (tokens: number, usd: number | null): boolean =>
          tokens <= (budget.tokens ?? Infinity) && (usd ?? 0) <= (budget.usd ?? Infinity);
        // Only the last turn may have gone over, and then none of its tools ran.
        for (const { tokens, usd } of charged.slice(0, -1)) expect(within(tokens, usd)).toBe(true);
        if (!within(spent.tokens, spent.usd))
          for (const payload of lastResults(records)) expect(payload['failure']).toBe('not_run');
        const named =
          outcome.budget === undefined ? [] : [[outcome.budget.name, outcome.budget.limit]];
        expect(Object.entries(budget)).toEqual(expect.arrayContaining(named));
        expect(named).toHaveLength(outcome.reason.endsWith('_budget') ? 1 : 0);
      }),
      { numRuns: 150 },
    );
  });
});

describe('what is charged', () => {
  const KNOWN = usageOf({ input: 100, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 });

  test('the output that a turn may write is what is left', async () => {
    const scripted = model((i) => ({ ...calls(call('echo', { i })), usage: KNOWN }));
    const { outcome } = await drive({
      model: scripted,
      tools: [echo],
      budget: { tokens: 500 },
      maxOutputTokens: 300,
    });
    expect(outcome.reason).toBe('token_budget');
    const [first = 0, ...later] = scripted.asked.map(({ maxOutputTokens }) => maxOutputTokens ?? 0);
    expect(first).toBe(300);
    expect(later.length).toBeGreaterThan(1);
    later.forEach((room, i) => {
      expect(room).toBeGreaterThanOrEqual(1);
      expect(room).toBeLessThan(500 - 110 * (i + 1));
    });
  });

  test('without a token or cost budget there is no limit on output', async () => {
    const scripted = model([{ content: 'x' }]);
    await drive({ model: scripted });
    expect(scripted.asked[0]?.maxOutputTokens).toBeUndefined();
  });

  test('attempts of a model that gave up, by its own account', async () => {
    const attempts = [
      { error: 'HTTP 500 at /srv/app/key.txt', usage: KNOWN },
      { error: 'never sent' },
    ];
    const { outcome, final } = await drive({
      model: model(
        [
          () => {
            throw new ModelError('gave up', attempts);
          },
        ],
        { price: PRICE },
      ),
      budget: { usd: 1 },
    });
    expect(outcome).toMatchObject({
      reason: 'model_error',
      error: 'gave up',
      spent: { steps: 0, tokens: 110, estimatedTokens: 0, usd: 0.0003 },
    });
    expect(final['failed_attempts']).toMatchObject([
      { error: 'HTTP 500 at …/key.txt', usage: { input: 100 } },
      { error: 'never sent' },
    ]);
    expect(final['cost']).toBe(0.0003);
  });

  test.each<[string, unknown, number]>([
    ['no list', 5, 0],
    ['no object', [null, 7], 2],
    ['usage that is none', [{ error: 'x', usage: { input: Number.NaN } }], 1],
    ['usage of another kind', [{ error: 'x', usage: 'lots' }], 1],
    ['an error that is no text', [{ error: new Error('x') }], 1],
  ])('attempts that are no attempts: %s', async (_, failedAttempts, recorded) => {
    // Models in JavaScript return anything.
    const reply = { content: 'x', failedAttempts: failedAttempts as never };
    const { outcome, records } = await drive({ model: model([reply]) });
    expect(outcome.reason).toBe('no_tool_calls');
    expect(records[1]?.payload['failed_attempts'] ?? []).toHaveLength(recorded);
    const thrown = await drive({
      model: model([
        () => {
          throw new ModelError('gave up', failedAttempts as never);
        },
      ]),
    });
    expect(thrown.outcome).toMatchObject({ reason: 'model_error', error: 'gave up' });
  });

  test('a usd budget without a price is an error that says what to do', async () => {
    await expect(drive({ model: model([]), budget: { usd: 1 } })).rejects.toThrow(
      'a usd budget needs the price of the model: give the model { price: { input, output } }',
    );
    await expect(
      drive({ model: model([], { id: 'openai:x' }), budget: { usd: 1 } }),
    ).rejects.toThrow('a usd budget needs the price of openai:x');
  });
});
