/**
 * What an episode does on its screen, and what it does no more: after a failure, after its end, when it is given up.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type Episode } from '../../src/computer/index.ts';
import { type Model, type ModelReply } from '../../src/run/model.ts';

import { fakeClock } from '../../src/testing/clock.ts';
import {
  scriptedScreen,
  type Reaction,
  type ScriptedScreen,
} from '../../src/testing/scripted-screen.ts';
import { never } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';

import { DONE, doing, perform, todo } from './episode-support.ts';

const newPath = scratch();

const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });

const turn = (...toolCalls: object[]): Model =>
  Object.assign(() => ({ content: 'I cannot do this.', toolCalls }) as ModelReply, {
    id: 'test',
  });
const save = call('click', { index: 1 });

const done = call('done', { answer: 'x' });

const refuse = call('refuse', { reason: 'no' });

const page = (on: Reaction): ScriptedScreen =>
  scriptedScreen({ page: { elements: [{ label: 'Go', kind: 'button' }], text: 'milk', on } });

const entries = (path: string): { action: string; outcome: string; ok: boolean }[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const button = (label: string) => ({ label, kind: 'button' });
const clickOn = (label: string) => ({ name: 'click', arguments: { label } });

test('after a failed action nothing is touched on a screen that has changed', async () => {
  const screen = scriptedScreen({
    before: {
      elements: [button('Try'), button('Save'), button('Delete')],
      on: () => {
        screen.show('after');
        return { error: 'Try is disabled' };
      },
    },
    after: { elements: [button('Delete'), button('Save')], text: 'milk' },
  });
  const turns = [
    [clickOn('Try'), clickOn('Save')],
    [clickOn('Save')],
    [{ name: 'done', arguments: { answer: 'x' } }],
  ];
  let at = 0;
  const brain = Object.assign(() => ({ content: '', toolCalls: turns[at++] ?? [] }), {
    id: 'test',
  });
  const { payloads } = await perform({ screen, brain });
  expect(screen.acted).toEqual([{ kind: 'click', index: 0, byLabel: true }]);
  const errors = payloads.flatMap(({ payload }) =>
    typeof payload['error'] === 'string' ? [payload['error']] : [],
  );
  expect(errors).toEqual([
    expect.stringMatching(/Try is disabled\. The screen has changed meanwhile: look at it$/),
    expect.stringMatching(/look at it first$/),
    expect.stringMatching(/look at it first$/),
  ]);
});

describe('what ends an episode', () => {
  test.each<[string, Model, Episode['result'], number]>([
    ['words alone', turn(), 'failed', 0],
    ['refuse, whatever comes behind it', turn(refuse, save, done), 'refused', 0],
    ['done, whatever comes behind it', turn(done, save), 'verified', 0],
  ])('%s', async (_name, brain, expected, acted) => {
    const screen = todo();
    const { result } = await perform({ screen, brain, check: () => true });
    expect(result.result).toBe(expected);
    expect(screen.acted).toHaveLength(acted);
  });
});

describe('every effect has an entry', () => {
  const go: Action = { kind: 'click', target: { label: 'Go' } };

  test('also one that throws, or leaves what can not be recorded', async () => {
    const audit = newPath('audit.jsonl');
    const screen = page(() => {
      throw new Error('wires crossed');
    });
    await perform({ screen, audit, brain: doing(go, DONE) });
    expect(entries(audit)[0]).toMatchObject({
      ok: false,
      outcome: 'Error: wires crossed; its effect is unknown',
    });
    const half = scriptedScreen({
      a: { elements: [{ label: 'Go', kind: 'button' }], on: () => 'b' },
      b: { elements: [{ label: 'half \ud800', kind: 'button' }], text: 'milk \udfff' },
    });
    const { result } = await perform({ screen: half, brain: doing(go, DONE) });
    expect(result).toMatchObject({ result: 'verified', steps: 2 });
  });

  test('also one that is given up, before the log says how it ended; and no timer is left', async () => {
    const clock = fakeClock(1_700_000_000_000);
    const audit = newPath('audit.jsonl');
    const controller = new AbortController();
    const begun = vi.fn<() => void>();
    const playing = perform({
      clock,
      audit,
      screen: page(() => {
        begun();
        return never();
      }),
      signal: controller.signal,
      brain: doing(go),
    });
    await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(1));
    controller.abort();
    await clock.advance(1000);
    const { result } = await playing;
    expect(result).toMatchObject({ result: 'aborted', alerts: [], steps: 1 });
    expect(entries(audit).map(({ outcome }) => outcome)).toEqual([
      'given up; its effect is unknown',
      'failure: aborted',
    ]);
    await clock.advance(100_000);
    expect(result.alerts).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
