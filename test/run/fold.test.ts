/**
 * The state is what the records say: a finished run, folded again, is the state that the loop had.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/run/run.ts';
import { type Message } from '../../src/run/model.ts';
import { readAnswer } from '../../src/run/payloads.ts';
import { fold } from '../../src/run/state.ts';
import { memoryStore } from '../../src/store/index.ts';
import { type JsonObject } from '../../src/transcript/index.ts';
import { SOME_BUDGET, someScript, TOOLS } from './random-run.ts';
import { call, calls, DONE, drive, model, readRun, toolOf } from './support.ts';

const PRICE = { input: 2, output: 10, cacheRead: 0.5 };

describe('fold', () => {
  test('of any finished run: messages, counters, answers and repeats', async () => {
    await fc.assert(
      fc.asyncProperty(
        someScript,
        SOME_BUDGET,
        fc.boolean(),
        async (script, budget, withSystem) => {
          const system = withSystem ? 'be brief' : undefined;
          let live: readonly Message[] = [];
          const scripted = Object.assign(model(script), { price: PRICE });
          const store = memoryStore();
          const outcome = await run({
            task: 'do it',
            model: Object.assign(
              (request: Parameters<typeof scripted>[0]) => {
                live = request.messages; // the loop's own array: it grows with the state
                return scripted(request);
              },
              { price: PRICE },
            ),
            tools: TOOLS,
            budget,
            transcript: store,
            sentinel: 'DONE',
            ...(system === undefined ? {} : { system }),
          });
          const { records, final } = await readRun(store, outcome);
          const state = fold(records);
          if (live.length > 0) expect(state.messages).toEqual(live);
          const { seconds } = outcome.spent;
          expect(state.spent(seconds)).toEqual(outcome.spent);
          expect(final).toMatchObject({
            steps: state.steps,
            tool_calls: state.toolCalls,
            tokens: state.tokens,
            cost: state.nanoUsd / 1e9,
            content: state.turn?.content ?? '',
          });
          expect(state.answered).toBe(state.turn?.calls.length ?? 0);
          expect(state.unanswered).toEqual([]);
          // Every note stands where the folded ledger counts a second landing.
          records.forEach(({ kind, payload }, i) => {
            if (kind !== 'tool') return;
            const before = fold(records.slice(0, i));
            const waiting = before.unanswered[0];
            if (waiting === undefined) throw new Error('an answer to nothing');
            const landing = before.landing(readAnswer(payload as JsonObject, waiting));
            const second = landing !== null && before.ledger.occurrences(landing) === 2;
            expect('note' in payload).toBe(second);
          });
        },
      ),
      { numRuns: 150 },
    );
  });

  test('of any beginning of a run: the calls that wait, and the ledger', async () => {
    const { records } = await drive({
      model: model([
        calls(call('t', '{"a":1,"a":2}'), call('t'), call('t', '', 'third')),
        calls(call('t'), call('t')),
        DONE,
      ]),
      tools: [toolOf('t', () => 1)],
    });
    const waiting = records.map((_, i) => fold(records.slice(0, i + 1)).unanswered.length);
    expect(waiting).toEqual([0, 3, 2, 1, 0, 2, 1, 0, 0, 0]);
    const middle = fold(records.slice(0, 2));
    expect(middle.unanswered.map(({ id, problem }) => [id, problem])).toEqual([
      ['call_1_0', 'the key "a" comes twice'],
      ['call_1_1', null],
      ['third', null],
    ]);
    expect([...middle.callIds]).toEqual(['call_1_0', 'call_1_1', 'third']);
    // '' and '{}' are the same arguments: the third call is the second landing of the second.
    expect(records.map(({ payload }) => 'note' in payload)).toEqual(records.map((_, i) => i === 4));
  });

  test('knows what a provider wants back, as the live run did', async () => {
    const provider = { signature: 'abc', n: 0.1, list: [1e300, null] };
    const scripted = model([{ ...calls(call('t')), provider }, DONE]);
    const { records } = await drive({ model: scripted, tools: [toolOf('t', () => 1)] });
    const live = scripted.asked[1]?.messages[1];
    expect(live).toMatchObject({ provider });
    expect(fold(records).messages[1]).toEqual(live);
    expect(Object.isFrozen(Object(live).provider)).toBe(true);
  });

  test.each([
    ['a turn without content', { kind: 'assistant', payload: { tool_calls: [] } }],
    ['a turn without calls', { kind: 'assistant', payload: { content: '' } }],
    ['a call that is a list', { kind: 'assistant', payload: { content: '', tool_calls: [[]] } }],
    [
      'a call without a name',
      { kind: 'assistant', payload: { content: '', tool_calls: [{ id: 'x', arguments: {} }] } },
    ],
    ['an answer to nothing', { kind: 'tool', payload: { call: 'x', ok: true, value: 1 } }],
  ])('refuses %s', (_, record) => {
    const user = { kind: 'user', payload: { content: 'x' } };
    expect(() => fold([user, record])).toThrow(/not the payload of a record of kind/);
  });

  test('passes over kinds that it does not know', () => {
    const records = [
      { kind: 'user', payload: { content: 'x' } },
      { kind: 'recovered', payload: { bytes: 3 } },
    ];
    expect(fold(records).messages).toHaveLength(1);
  });
});

describe('messages', () => {
  test('are frozen, calls and arguments too', async () => {
    const scripted = model([calls(call('t', { a: { b: [1] } })), DONE]);
    await drive({ model: scripted, tools: [toolOf('t', () => 1)] });
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    for (const message of scripted.asked[1]?.messages ?? []) expect(frozen(message)).toBe(true);
  });

  test('a model that changes the array ends the run, and is told why', async () => {
    const options = {
      task: 'x',
      model: ({ messages }: { messages: readonly Message[] }) => {
        (messages as Message[]).push({ role: 'user', content: 'injected' });
        return { content: 'x' };
      },
    };
    const store = memoryStore();
    expect(await run({ ...options, transcript: store })).toMatchObject({
      reason: 'model_error',
      error: 'the model changed the messages it was given; it must copy them',
    });
    expect(store.head.sealed).toBe(true);
  });
});
