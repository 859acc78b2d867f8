/**
 * How runs end: every stop reason, the three facts of an outcome, and the success check.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type RunOptions } from '../../src/run/options.ts';
import { type StopReason } from '../../src/run/outcome.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/index.ts';
import { call, calls, DONE, drive, echo, model, never, type Step } from './support.ts';

type Options = Omit<RunOptions, 'task'>;

const PRICE = { input: 1e6, output: 1e6 };
const endless = (): Options => ({ model: model((i) => calls(call('echo', { i }))), tools: [echo] });
const same = (): Options => ({ model: model(() => calls(call('echo'))), tools: [echo] });

describe('every stop reason', () => {
  const REASONS: { readonly [R in Exclude<StopReason, 'record_error'>]: () => Options } = {
    no_tool_calls: () => ({ model: model([DONE]) }),
    sentinel: () => ({
      ...endless(),
      model: model([{ content: 'ok DONE', ...calls(call('echo')) }]),
      sentinel: 'DONE',
    }),
    step_budget: () => ({ ...endless(), budget: { steps: 1 } }),
    token_budget: () => ({ ...endless(), budget: { tokens: 60 } }),
    cost_budget: () => ({
      ...endless(),
      model: model(() => calls(call('echo')), { price: PRICE }),
      budget: { usd: 60 },
    }),
    time_budget: () => ({ model: () => never(), budget: { seconds: 0.002 } }),
    tool_call_budget: () => ({ ...endless(), budget: { toolCalls: 2 } }),
    model_error: () => ({ model: model([]) }),
    cut_off: () => ({ model: model([{ content: 'half a sen', stop: 'length' }]) }),
    refused: () => ({ model: model([{ content: 'no', stop: 'refused' }]) }),
    stalled: () => ({ ...same(), watchdog: { stallAfter: 2, onStall: 'stop' } }),
    aborted: () => ({ ...endless(), signal: AbortSignal.abort() }),
  };

  test.each(Object.entries(REASONS))('%s is recorded and told', async (reason, options) => {
    const { outcome, final } = await drive({ ...options(), check: () => ({ ok: true }) });
    expect(outcome.reason).toBe(reason);
    expect(final['reason']).toBe(reason);
    // The check looks at the world, whatever the reason; only an abort wants no more work.
    expect(outcome.verified).toBe(reason === 'aborted' ? null : true);
    expect(final['check']).toEqual(reason === 'aborted' ? null : { ok: true, detail: '' });
    expect('error' in outcome).toBe(reason === 'model_error');
    expect('budget' in outcome).toBe(reason.endsWith('_budget'));
  });

  test('by default a run ends after fifty steps', async () => {
    const { outcome } = await drive(endless());
    expect(outcome).toMatchObject({ reason: 'step_budget', budget: { limit: 50 } });
  });
});

describe('the three facts', () => {
  test.each<[unknown, boolean, string]>([
    [{ ok: true, detail: 'exit 0' }, true, 'exit 0'],
    [{ ok: true }, true, ''],
    [{ ok: false, detail: 'missing /home/bob/out/x.txt' }, false, 'missing …/x.txt'],
    [{ ok: 'yes' }, false, 'the check returned an ok that is neither true nor false'],
    [{ ok: 1 }, false, 'the check returned an ok that is neither true nor false'],
    [{ ok: true, detail: 7 }, true, ''],
    [{ ok: true, detail: 'half \ud800' }, true, 'half \ufffd'],
    [true, false, 'the check returned no { ok, detail }'],
    [undefined, false, 'the check returned no { ok, detail }'],
    [null, false, 'the check returned no { ok, detail }'],
    ['ok', false, 'the check returned no { ok, detail }'],
    [{}, false, 'the check returned no { ok, detail }'],
  ])('a check that returns %j', async (given, ok, detail) => {
    // Checks in JavaScript return anything; a promise of it is the same.
    for (const check of [() => given, async () => given] as never[]) {
      const { outcome, final } = await drive({ model: model([DONE]), check });
      expect(outcome).toMatchObject({ answer: 'done', verified: ok, check: { ok, detail } });
      expect(final['check']).toEqual({ ok, detail });
    }
  });

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no /home/bob/x.txt');
      },
      'the check raised Error: no …/x.txt',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      'the check raised undefined',
    ],
    ['rejects', () => Promise.reject(new TypeError('x')), 'the check raised TypeError: x'],
    [
      'returns what throws',
      () =>
        Object.defineProperty({}, 'ok', {
          get: () => {
            throw new Error('got');
          },
        }),
      'the check raised Error: got',
    ],
  ])('a check that %s is no success', async (_, check, detail) => {
    const { outcome } = await drive({ model: model([DONE]), check: check as never });
    expect(outcome).toMatchObject({
      reason: 'no_tool_calls',
      verified: false,
      check: { ok: false, detail },
    });
  });

  test('the check is given what the model claims, and why the run stopped', async () => {
    const seen: unknown[] = [];
    await drive({
      model: model([{ content: '42', stop: 'length' }]),
      check: ({ answer, reason, signal }) => {
        seen.push(answer, reason, signal.aborted);
        return { ok: true };
      },
    });
    expect(seen).toEqual(['42', 'cut_off', false]);
  });

  test('without a check nothing is verified', async () => {
    const { outcome, final } = await drive({ model: model([DONE]) });
    expect(outcome).toMatchObject({ check: null, verified: null });
    expect(final['check']).toBeNull();
  });

  test('an outcome can not be changed', async () => {
    const { outcome } = await drive({
      ...endless(),
      budget: { steps: 1 },
      check: () => ({ ok: true }),
    });
    for (const part of [outcome, outcome.spent, outcome.budget, outcome.check, outcome.transcript])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe('a model that does not reply', () => {
  const revocable = Proxy.revocable({}, {});
  revocable.revoke();
  const getter = Object.defineProperty({}, 'content', {
    get() {
      throw new Error('lazy');
    },
  });
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined, not an object'],
    ['null', null, 'null, not an object'],
    ['a text', 'hello', 'string, not an object'],
    ['nothing', {}, 'content is not a string'],
    ['no text', { content: null }, 'content is not a string'],
    [
      'calls by another name, which would be no calls at all',
      { content: '', tool_calls: [] },
      "its member 'tool_calls' must be 'toolCalls'",
    ],
    ['calls that are no list', { content: '', toolCalls: {} }, 'toolCalls is not an array'],
    [
      'a call without a name',
      { content: '', toolCalls: [{ arguments: '' }] },
      'toolCalls[0] has no name, or no arguments as text or object',
    ],
    [
      'a call without arguments',
      { content: '', toolCalls: [{ name: 'x', arguments: '{}' }, { name: 'x' }] },
      'toolCalls[1] has no name, or no arguments as text or object',
    ],
    ['another stop', { content: '', stop: 'stop' }, 'stop is not end, length or refused'],
    [
      'provider data that no record holds',
      { content: '', provider: { f: () => 1 } },
      "provider can't be recorded: $.f: a function",
    ],
    ['a getter that throws', getter, 'Error: lazy'],
    ['a revoked proxy', revocable.proxy, 'TypeError: Cannot perform'],
  ])('%s', async (_, reply, problem) => {
    const { outcome, final } = await drive({ model: (() => reply) as never });
    expect(outcome.reason).toBe('model_error');
    expect(outcome.error).toContain(`the model returned what isn't a reply: ${problem}`);
    expect(outcome.spent.estimatedTokens).toBeGreaterThan(0);
    expect(final['error']).toBe(outcome.error);
  });

  test.each<[string, Step, string]>([
    [
      'throws',
      () => {
        throw new Error('no key in /etc/app/keys');
      },
      'Error: no key in …/keys',
    ],
    [
      'throws null',
      () => {
        throw null;
      },
      'null',
    ],
  ])('%s, after work that is kept', async (_, step, error) => {
    const { outcome, results } = await drive({
      model: model([calls(call('echo')), step]),
      tools: [echo],
    });
    expect(outcome).toMatchObject({
      reason: 'model_error',
      error,
      spent: { steps: 1, toolCalls: 1 },
    });
    expect(results).toHaveLength(1);
  });

  test('a model may be a plain function that returns at once', async () => {
    const { outcome } = await drive({ model: () => ({ content: 'at once' }) });
    expect(outcome.answer).toBe('at once');
  });
});

describe('the record of an outcome', () => {
  test('the head binds the configuration', async () => {
    const head = async (options: Partial<Options>): Promise<unknown> => {
      const { records } = await drive({
        model: model([DONE], { id: 'm' }),
        tools: [echo],
        ...options,
      });
      return records[0]?.payload['run'];
    };
    const plain = await head({});
    expect(plain).toEqual({
      format: 'hashtape/1',
      model: 'm',
      tools: expect.stringMatching(/^[0-9a-f]{64}$/),
      manifest: [{ name: 'echo', description: 'echo', input_schema: { type: 'object' } }],
      budget: { steps: 50 },
    });
    expect(await head({ repeats: false, on: () => undefined })).toEqual(plain);
    const others: Partial<Options>[] = [
      { tools: [] },
      { tools: [{ ...echo, description: 'other' }] },
      { tools: [{ ...echo, idempotent: true }] },
      { tools: [{ ...echo, timeout: 5 }] },
      { budget: { toolCalls: 1 } },
      { system: 's' },
      { sentinel: 's' },
      { runId: 'r' },
      { maxOutputTokens: 5 },
      { model: model([DONE], { id: 'm2' }) },
      { model: model([DONE], { id: 'm', price: PRICE }) },
      { watchdog: { onStall: 'stop' } },
      { check: () => ({ ok: true }) },
      { permit: () => ({ decision: 'allow' }) },
    ];
    const heads = await Promise.all(others.map(head));
    expect(new Set([plain, ...heads].map((value) => JSON.stringify(value))).size).toBe(
      others.length + 1,
    );
    expect(heads[4]).toMatchObject({ budget: { tool_calls: 1 } });
  });

  test('nothing that was given can not be recorded', async () => {
    const store = memoryStore();
    await run({
      task: 'ünï 😀 \u2028 \0',
      model: model([{ content: 'a\ud800' }]),
      transcript: store,
    });
    expect(store.head.sealed).toBe(true);
  });
});
