/**
 * Permission: who says what, what is recorded of it, and that everything unclear is a no.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type RunEvent } from '../../src/run/events.ts';
import { type Ask, type Permit } from '../../src/run/permit.ts';
import { call, calls, DONE, drive, model, toolOf } from './support.ts';

interface Asked {
  readonly ran: number;
  readonly result: { readonly [key: string]: unknown } | undefined;
  readonly events: readonly RunEvent[];
}

/** One call under a policy. Callers in JavaScript give and return anything. */
async function under(permit: unknown, ask?: unknown): Promise<Asked> {
  let ran = 0;
  const events: RunEvent[] = [];
  const { outcome, results } = await drive({
    model: model([calls(call('rm', { path: 'x' }, 'id1')), DONE]),
    tools: [toolOf('rm', () => (ran += 1))],
    permit: permit as Permit,
    ...(ask === undefined ? {} : { ask: ask as Ask }),
    on: (event) => events.push(event),
  });
  expect(outcome.reason).toBe('no_tool_calls');
  return { ran, result: results[0], events };
}

function throwing(): never {
  throw new Error('/home/bob/policy.json is broken');
}

describe('permit', () => {
  test.each<[string, unknown, unknown, object]>([
    ['allow', () => ({ decision: 'allow' }), undefined, { decision: 'allow', asked: false }],
    [
      'allow, later',
      async () => ({ decision: 'allow' }),
      undefined,
      { decision: 'allow', asked: false },
    ],
    [
      'ask, yes',
      () => ({ decision: 'ask' }),
      () => ({ allow: true }),
      { decision: 'allow', asked: true },
    ],
    [
      'ask, yes, later',
      () => ({ decision: 'ask' }),
      async () => ({ allow: true }),
      { decision: 'allow', asked: true },
    ],
  ])('%s: it runs', async (_, permit, ask, recorded) => {
    const { ran, result } = await under(permit, ask);
    expect(ran).toBe(1);
    expect(result).toMatchObject({ ok: true, value: 1, permit: recorded });
  });

  test.each<[string, unknown, unknown, string, boolean]>([
    [
      'deny',
      () => ({ decision: 'deny', reason: 'not in /home/bob/work' }),
      undefined,
      'not in …/work',
      false,
    ],
    ['a throw', throwing, undefined, 'the policy could not decide', false],
    ['a rejection', async () => throwing(), undefined, 'the policy could not decide', false],
    ['nothing', () => undefined, undefined, 'the policy could not decide', false],
    ['true', () => true, undefined, 'the policy could not decide', false],
    ['a word', () => 'allow', undefined, 'the policy could not decide', false],
    [
      'another decision',
      () => ({ decision: 'yes' }),
      undefined,
      'the policy could not decide',
      false,
    ],
    ['deny without a reason', () => ({ decision: 'deny' }), undefined, 'no reason given', false],
    [
      'a lone surrogate',
      () => ({ decision: 'deny', reason: 'a\ud800' }),
      undefined,
      'a\ufffd',
      false,
    ],
    ['nobody to ask', () => ({ decision: 'ask' }), undefined, 'there is nobody to ask', false],
    ['no', () => ({ decision: 'ask' }), () => ({ allow: false }), 'a person said no', true],
    [
      'no, because',
      () => ({ decision: 'ask' }),
      () => ({ allow: false, reason: 'too risky' }),
      'too risky',
      true,
    ],
    ['asking fails', () => ({ decision: 'ask' }), throwing, 'nobody could be asked', true],
    [
      'asking fails later',
      () => ({ decision: 'ask' }),
      async () => throwing(),
      'nobody could be asked',
      true,
    ],
    [
      'a person who says nothing',
      () => ({ decision: 'ask' }),
      () => undefined,
      'a person said no',
      true,
    ],
    [
      'a person who says "yes"',
      () => ({ decision: 'ask' }),
      () => ({ allow: 'yes' }),
      'a person said no',
      true,
    ],
    [
      'a person who says 1',
      () => ({ decision: 'ask' }),
      () => ({ allow: 1 }),
      'a person said no',
      true,
    ],
  ])('%s: it does not run', async (_, permit, ask, reason, asked) => {
    const { ran, result, events } = await under(permit, ask);
    expect(ran).toBe(0);
    expect(result).toMatchObject({
      ok: false,
      failure: 'denied',
      error: `denied: ${reason}`,
      permit: { decision: 'deny', reason, asked },
    });
    expect(events.find(({ type }) => type === 'permit')).toMatchObject({
      decision: 'deny',
      reason,
      asked,
    });
    expect(events.some(({ type }) => type === 'tool-start')).toBe(false);
  });

  test('policy sees the call and the tool; the person also the question', async () => {
    const seen: unknown[] = [];
    await under(
      (request: unknown) => {
        seen.push(request);
        return { decision: 'ask', question: 'Delete x?' };
      },
      (request: unknown) => {
        seen.push(request);
        return { allow: true };
      },
    );
    const expected = {
      call: { id: 'id1', name: 'rm', arguments: { path: 'x' } },
      tool: { name: 'rm', description: 'rm' },
    };
    expect(seen).toMatchObject([expected, { ...expected, question: 'Delete x?' }]);
  });

  test('a question is made where policy has none', async () => {
    let asked = '';
    await under(
      () => ({ decision: 'ask' }),
      ({ question }: { question: string }) => {
        asked = question;
        return { allow: true };
      },
    );
    expect(asked).toBe('May rm run?');
  });

  test('is not asked about calls that can not run anyway', async () => {
    let asked = 0;
    const { results } = await drive({
      model: model([calls(call('unknown'), call('rm', '{"a":')), DONE]),
      tools: [toolOf('rm', () => 1)],
      permit: () => {
        asked += 1;
        return { decision: 'allow' };
      },
    });
    expect(asked).toBe(0);
    expect(results.every((result) => !('permit' in result))).toBe(true);
  });

  test('questions come one at a time, in order', async () => {
    const log: string[] = [];
    await drive({
      model: model([calls(call('rm', { n: 1 }), call('rm', { n: 2 })), DONE]),
      tools: [toolOf('rm', (args) => log.push(`run ${JSON.stringify(args)}`))],
      permit: async ({ call: { arguments: args } }) => {
        log.push(`ask ${JSON.stringify(args)}`);
        await Promise.resolve();
        log.push(`said ${JSON.stringify(args)}`);
        return { decision: 'allow' };
      },
    });
    expect(log).toEqual([
      'ask {"n":1}',
      'said {"n":1}',
      'ask {"n":2}',
      'said {"n":2}',
      'run {"n":1}',
      'run {"n":2}',
    ]);
  });

  test('a refusal by policy is never noted as a repeat', async () => {
    const { results } = await drive({
      model: model((i) => (i < 4 ? calls(call('rm')) : DONE)),
      tools: [toolOf('rm', () => 1)],
      permit: () => ({ decision: 'deny', reason: 'no' }),
      watchdog: { stallAfter: 2, onStall: 'stop' },
    });
    expect(results).toHaveLength(4);
    expect(results.every((result) => !('note' in result))).toBe(true);
  });
});
