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

import { DONE, doing, perform, stuck, todo } from './episode-support.ts';

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

const entries = (
  path: string,
): { action: string; outcome: string; ok: boolean; screen: string }[] =>
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

const at = (index: number) => ({ name: 'click', arguments: { index } });
const into = (index: number) => ({ name: 'type', arguments: { index, text: 'x' } });
const field = (label: string) => ({ label, kind: 'textbox' });
const rows = (text: string, ...names: string[]) => ({
  text,
  elements: names.map((name) => button(name)),
});

/** What was done to which element, in scenes that follow one another; why the others were not done; the audit log. */
async function doneTo(
  calls: readonly object[],
  ...scenes: readonly Parameters<typeof scriptedScreen>[0][string][]
) {
  const labels: string[] = [];
  const named = scenes.map((scene, place): [string, typeof scene] => {
    const next = place + 1 < scenes.length ? String(place + 1) : undefined;
    const on: Reaction = (_action, element) => {
      labels.push(element?.label ?? '');
      return next;
    };
    return [String(place), { on, ...scene }];
  });
  const turns = [calls, [{ name: 'done', arguments: { answer: 'x' } }]];
  let turnsDone = 0;
  const answer = () => ({ content: '', toolCalls: turns[turnsDone++] ?? [] }) as ModelReply;
  const brain = Object.assign(answer, { id: 'test' });
  const audit = newPath('audit.jsonl');
  await perform({ brain, audit, screen: scriptedScreen(Object.fromEntries(named), '0') });
  const log = entries(audit);
  return { labels, log, failures: log.slice(0, -1).flatMap((e) => (e.ok ? [] : [e.outcome])) };
}

const filled = (...values: string[]) => ({
  text: '',
  elements: ['Name', '', ''].map((label, place) => ({
    ...field(label),
    value: values[place] ?? '',
  })),
});

describe('the actions of one turn', () => {
  const list = rows('', 'Delete a', 'Delete b', 'Delete c');
  const shorter = rows('', 'Delete b', 'Delete c');

  test('an index means what it meant on the screen that was shown', async () => {
    const { labels, failures } = await doneTo([at(0), at(1), at(2)], list, shorter);
    expect(labels).toEqual(['Delete a']);
    const by = 'on the screen that this was decided on, and is';
    expect(failures).toEqual([
      `element 1 was button "Delete b" ${by} button "Delete c" by now`,
      `element 2 was button "Delete c" ${by} not there by now`,
    ]);
  });

  test('a label means its one element, wherever it is by now', async () => {
    const { labels } = await doneTo([at(0), clickOn('Delete c')], list, shorter);
    expect(labels).toEqual(['Delete a', 'Delete c']);
  });

  test('a label may mean what an action before it has opened', async () => {
    const opened = rows('', 'Open', 'Item');
    const { labels } = await doneTo([clickOn('Open'), clickOn('Item')], rows('', 'Open'), opened);
    expect(labels).toEqual(['Open', 'Item']);
    // An index can't: nobody has seen what it stands for.
    const by = await doneTo([clickOn('Open'), at(1)], rows('', 'Open'), opened);
    expect(by.failures).toEqual(['there is no element 1 on the screen (0 to 0)']);
  });

  test.each([
    ['is of another kind', { elements: [button('Go'), field('b')] }],
    ['is for a password', { elements: [button('Go'), { ...button('b'), states: ['password'] }] }],
  ])('a label whose element %s by now is not touched', async (_name, next) => {
    const { labels, failures } = await doneTo([at(0), clickOn('b')], rows('', 'Go', 'b'), next);
    expect(labels).toEqual(['Go']);
    expect(failures).toEqual([
      expect.stringMatching(/^"b" was button "b" on the screen that this/),
    ]);
  });

  test('a label that was two is not taken for the one that is left', async () => {
    const { labels, failures } = await doneTo(
      [at(0), clickOn('Remove')],
      rows('', 'Remove', 'Remove'),
      rows('', 'Remove'),
    );
    expect(labels).toEqual(['Remove']);
    expect(failures).toEqual([expect.stringMatching(/^2 elements are labelled "Remove"/)]);
  });

  test.each([
    ['one of them is gone', rows('', 'Remove', 'Remove')],
    ['others moved up', rows('bob, cy, dan', 'Remove', 'Remove', 'Remove')],
  ])('of those that are called the same, none is touched after %s', async (_name, next) => {
    const { labels } = await doneTo(
      [at(0), at(1)],
      rows('ann, bob, cy', 'Remove', 'Remove', 'Remove'),
      next,
    );
    expect(labels).toEqual(['Remove']);
  });

  test('the fields of a form are filled, also those without a name', async () => {
    const { labels, failures } = await doneTo(
      [into(0), into(1), into(2)],
      filled(),
      filled('x'),
      filled('x', 'x'),
      filled('x', 'x', 'x'),
    );
    expect(labels).toEqual(['Name', '', '']);
    expect(failures).toEqual([]);
  });

  test('are logged with the screen that they were decided on', async () => {
    const { log } = await doneTo(
      [clickOn('Go'), clickOn('Go'), { name: 'press', arguments: { key: 'Enter' } }],
      ...['1', '2', '3', '4'].map((text) => rows(text, 'Go')),
    );
    expect(new Set(log.slice(0, 3).map(({ screen }) => screen)).size).toBe(1);
    // The next turn was decided on what they left.
    expect(log[3]?.screen).not.toBe(log[0]?.screen);
  });
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

test('what was done and could not be seen was done, to the record too', async () => {
  const screen = stuck();
  let looks = 0;
  const observe: typeof screen.observe = (context) => {
    looks += 1;
    return looks === 2 ? Promise.reject(new Error('not now')) : screen.observe(context);
  };
  const audit = newPath('audit.jsonl');
  const { result, payloads } = await perform({
    screen: { ...screen, observe },
    brain: doing({ kind: 'click', target: { label: 'Go' } }, DONE),
    audit,
  });
  expect(result).toMatchObject({ result: 'verified', steps: 2 });
  const outcome = expect.stringMatching(/; what came of it was not seen: Error: not now$/);
  expect(entries(audit)[0]).toMatchObject({ ok: true, outcome });
  const clicked = payloads.filter(({ kind }) => kind === 'tool')[1];
  expect(clicked?.payload).toMatchObject({ ok: true, value: { did: outcome } });
  expect(clicked?.payload['value']).not.toHaveProperty('screen');
});
