/**
 * What the calls that a decision leaves unrun are answered with.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { type RunOptions } from '../../src/run/options.ts';
import { call, calls, drive, model, toolOf } from './support.ts';

const controller = new AbortController();

test.each<[string, Partial<RunOptions>, object, string]>([
  ['sentinel', { sentinel: 'DONE' }, { content: 'DONE' }, 'the run ended on the sentinel'],
  ['refused', {}, { stop: 'refused' }, 'the model refused'],
  [
    'token_budget',
    { budget: { tokens: 100 } },
    { usage: { input: 90, output: 20 } },
    'the token budget of 100 is used up',
  ],
  [
    'aborted',
    { signal: controller.signal, on: { 'turn-end': () => controller.abort() } },
    {},
    'the run was aborted',
  ],
  [
    'model_error', // the script ends after the turn that was cut
    {},
    { stop: 'length' },
    'the turn was cut off by the output limit, so its calls may be incomplete',
  ],
])('%s', async (reason, options, reply, why) => {
  const { outcome, results } = await drive({
    model: model([{ ...calls(call('t')), ...reply }]),
    tools: [toolOf('t', () => 1)],
    ...options,
  });
  expect(outcome.reason).toBe(reason);
  expect(results[0]).toMatchObject({ failure: 'not_run', error: `not run: ${why}` });
});
