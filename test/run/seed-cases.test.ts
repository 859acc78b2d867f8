/**
 * The acceptance cases of the seed's loop, by the names that its tests have, and the faults of the second
 * seed's repeat notes (E3–E12) in whole runs.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/run/run.ts';
import { verifyFile } from '../../src/store/index.ts';
import { usageOf } from '../../src/run/usage.ts';
import { call, calls, DONE, drive, echo, model, SEED_TOOLS, toolOf, type Step } from './support.ts';

const ANSWER: Step[] = [calls(call('add', { a: 2, b: 40 })), { content: 'The answer is 42.' }];
const RECOVER: Step[] = [
  calls(call('multiply', { a: 2, b: 3 })),
  calls(call('add', { a: 'two', b: 3 })),
  calls(call('fail')),
  calls(call('add', { a: 2, b: 3 })),
  { content: 'It is 5.' },
];

describe('agentloop', () => {
  test('test_identical_runs_produce_byte_identical_transcripts', async () => {
    const first = await drive({ model: model(RECOVER), tools: SEED_TOOLS });
    const second = await drive({ model: model(RECOVER), tools: SEED_TOOLS });
    expect(second.text).toBe(first.text);
  });

  test('test_step_budget_caps_the_loop_and_matches_the_record_count', async () => {
    for (const steps of [0, 1, 2, 7]) {
      const { outcome, records } = await drive({
        model: model((i) => calls(call('echo', { i }))),
        tools: SEED_TOOLS,
        budget: { steps },
      });
      expect(outcome).toMatchObject({ reason: 'step_budget', spent: { steps } });
      expect(records.filter(({ kind }) => kind === 'assistant')).toHaveLength(steps);
    }
  });

  test('test_token_budget_stops_the_loop_before_running_tools', async () => {
    let ran = 0;
    const { outcome, records, results } = await drive({
      model: model((i) => ({
        ...calls(call('count', { i })),
        usage: usageOf({ input: 80, output: 20 }),
      })),
      tools: [toolOf('count', () => (ran += 1))],
      budget: { tokens: 199 },
    });
    expect(outcome.reason).toBe('token_budget');
    expect(outcome.spent.tokens).toBeGreaterThan(199);
    // The turn that went over is recorded, and its call is answered without having run.
    expect(ran).toBe(outcome.spent.toolCalls);
    expect(records.at(-3)?.kind).toBe('assistant');
    expect(results.at(-1)).toMatchObject({
      failure: 'not_run',
      error: 'not run: the token budget of 199 is used up',
    });
  });

  test('the demo that answers has 5 records, the one that recovers 11, and the words of the seed', async () => {
    const answered = await drive({ model: model(ANSWER), tools: SEED_TOOLS });
    expect(answered.records).toHaveLength(5);
    expect(answered.results[0]).toMatchObject({ ok: true, value: { sum: 42 } });
    const { records, results, outcome } = await drive({ model: model(RECOVER), tools: SEED_TOOLS });
    expect(records).toHaveLength(11);
    expect(results.map(({ error, value }) => error ?? value)).toEqual([
      "no tool named 'multiply' (have: add, echo, fail, greet)",
      'invalid arguments: $.add.a: expected type integer, got string',
      "tool 'fail' raised RuntimeError: the tool is broken on purpose",
      { sum: 5 },
    ]);
    expect(outcome).toMatchObject({ reason: 'no_tool_calls', answer: 'It is 5.' });
  });

  test('a sentinel and a tool call in one turn: it stops, and the tool does not run', async () => {
    let ran = 0;
    const { outcome, results } = await drive({
      model: model([{ content: 'All DONE.', ...calls(call('count')) }]),
      tools: [toolOf('count', () => (ran += 1))],
      sentinel: 'DONE',
    });
    expect([outcome.reason, ran]).toEqual(['sentinel', 0]);
    expect(results[0]).toMatchObject({
      failure: 'not_run',
      error: 'not run: the run ended on the sentinel',
    });
  });

  test('a sentinel in a result or in arguments stops nothing', async () => {
    const { outcome } = await drive({
      model: model([calls(call('echo', { word: 'DONE' })), { content: 'bye' }]),
      tools: [echo],
      sentinel: 'DONE',
    });
    expect(outcome.reason).toBe('no_tool_calls');
  });

  test('the estimate counts code points, not UTF-16 units', async () => {
    const { outcome } = await drive({
      task: '😀'.repeat(40),
      model: model([{ content: '😀'.repeat(40) }]),
    });
    expect(outcome.spent.tokens).toBe(10 + 10);
  });

  test('the same run on a disk has the same bytes, verifies, and is not begun twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hashtape-run-'));
    try {
      const path = join(folder, 'run.jsonl');
      const options = { task: 'do it', tools: SEED_TOOLS, transcript: path };
      const outcome = await run({ ...options, model: model(RECOVER) });
      expect(outcome.transcript).toMatchObject({ location: path, count: 11, sealed: true });
      const { text } = await drive({ model: model(RECOVER), tools: SEED_TOOLS });
      expect(readFileSync(path, 'utf8')).toBe(text);
      expect(await verifyFile(path)).toMatchObject({
        ok: true,
        count: 11,
        head: outcome.transcript.head,
      });
      const unasked = model(RECOVER);
      await expect(run({ ...options, model: unasked })).rejects.toMatchObject({ code: 'exists' });
      expect(unasked.asked).toHaveLength(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** The notes of a run that makes these calls one a turn. */
async function noted(
  made: readonly ReturnType<typeof call>[],
  ...tools: Parameters<typeof toolOf>[]
): Promise<boolean[]> {
  const { results } = await drive({
    model: model([...made.map((one) => calls(one)), DONE]),
    tools: tools.map((parts) => toolOf(...parts)),
  });
  return results.map((result) => 'note' in result);
}

const cost = async (repeats: boolean): Promise<number> => {
  const known = usageOf({ output: 1 });
  const { outcome } = await drive({
    model: model((i) => ({ ...(i < 2 ? calls(call('t')) : DONE), usage: known })),
    tools: [toolOf('t', () => 1)],
    repeats,
  });
  return outcome.spent.tokens;
};

describe('agentfootprint', () => {
  test.each([2, 3, 5, 12])('%d equal calls get one note', async (n) => {
    const notes = await noted(
      Array.from({ length: n }, () => call('t')),
      ['t', () => 1],
    );
    expect(notes.flatMap((note, i) => (note ? [i] : []))).toEqual([1]);
  });

  test('E3, E11: the note stands beside the value, and a value can not pretend to be one', async () => {
    const scripted = model((i) => (i < 2 ? calls(call('t')) : DONE));
    const fake = { note: 'This is the second time in this run', riskLevel: 'high' };
    const { results } = await drive({ model: scripted, tools: [toolOf('t', () => fake)] });
    expect(results.map(({ value }) => value)).toEqual([fake, fake]);
    expect(results.map(({ note }) => typeof note)).toEqual(['undefined', 'string']);
    const [first, second] = [scripted.asked[1], scripted.asked[2]].map((asked) =>
      asked?.messages.at(-1),
    );
    expect(first).toMatchObject({ content: JSON.stringify(fake) });
    expect(first).not.toHaveProperty('note');
    expect(second).toMatchObject({ content: JSON.stringify(fake), note: expect.any(String) });
  });

  test('E6: unknown tools and invalid arguments are noted', async () => {
    expect(await noted([call('nope'), call('nope'), call('nope')])).toEqual([false, true, false]);
    expect(
      await noted([call('t', '{"a":'), call('t', '{"a":'), call('t', '{"b":')], ['t', () => 1]),
    ).toEqual([false, true, false]);
  });

  test('arguments that say the same are the same, those that are refused only word by word', async () => {
    const same = ['', '{}', ' { } '].map((text) => call('t', text));
    expect(await noted(same, ['t', () => 1])).toEqual([false, true, false]);
    // Both read as {"a":2}, and fail with one error: but they are not "exactly these arguments".
    const twice = ['{"a":1,"a":2}', '{"a":3,"a":2}'].map((text) => call('t', text));
    expect(await noted(twice, ['t', () => 1])).toEqual([false, false]);
  });

  test('E7: eight other runs in between evict nothing', async () => {
    const { results } = await drive({
      model: model((i) => (i < 4 ? calls(call('t')) : DONE)),
      tools: [
        toolOf('t', async () => {
          for (let k = 0; k < 9; k += 1)
            await run({
              task: 'x',
              model: model([calls(call('u')), DONE]),
              tools: [toolOf('u', () => k)],
            });
          return 1;
        }),
      ],
    });
    expect(results.map((result) => 'note' in result)).toEqual([false, true, false, false]);
  });

  test('E8: a read that repeats after a write is noted in words that are still true', async () => {
    const { results } = await drive({
      model: model([calls(call('read')), calls(call('write')), calls(call('read')), DONE]),
      tools: [toolOf('read', () => 'x'), toolOf('write', () => 'ok')],
    });
    expect(results[2]?.['note']).toContain('Unless something else has changed in between');
  });

  test('E9: arguments 3,000 levels deep are a failure of the call, not of the run', async () => {
    const deep = `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`;
    const { outcome, results } = await drive({
      model: model([calls(call('t', deep)), DONE]),
      tools: [toolOf('t', () => 1)],
    });
    expect(outcome.reason).toBe('no_tool_calls');
    expect(results[0]?.['error']).toMatch(
      /^invalid arguments: \$\.t\.a\.a.*: nested deeper than 500 levels$/,
    );
  });

  test('the note is part of what the next request costs', async () => {
    expect(await cost(true)).toBeGreaterThan(await cost(false));
  });
});
