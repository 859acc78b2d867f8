/**
 * Calls of which nothing is done: refused by schema or policy, no action, or more than a record holds. Each is a step
 * that failed, to the brain, the audit log, the watchdog and a rehearsal alike.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { EMPTY_AUDIT } from '../../src/computer/audit-entry.ts';
import { type Brain, type BrainFunction, type PastStep } from '../../src/computer/brain.ts';
import { episode, rehearse, type EpisodeOptions } from '../../src/computer/index.ts';
import { type ModelReply, type ReplyCall } from '../../src/run/model.ts';
import { type Permit } from '../../src/run/permit.ts';
import { memoryStore } from '../../src/store/index.ts';
import { scratch } from '../store/helpers.ts';
import { doing, DONE, onClick, perform, SAVE, stuck, todo } from './episode-support.ts';

const newPath = scratch();

interface Line {
  readonly kind: string;
  readonly action: string;
}

function entriesOf(audit: string): readonly Line[] {
  const lines = readFileSync(audit, 'utf8').trimEnd().split('\n');
  return lines.map((line): Line => JSON.parse(line));
}

const denying =
  (...names: readonly string[]): Permit =>
  ({ tool: { name } }) =>
    names.includes(name) ? { decision: 'deny', reason: 'not here' } : { decision: 'allow' };

const GO: Action = { kind: 'click', target: { label: 'Go' } };

/** What refuses it, the action, and what is said of it. */
const REFUSED: readonly (readonly [string, Action, RegExp, Partial<EpisodeOptions>])[] = [
  [
    'by schema',
    { kind: 'wait', milliseconds: 1e9 },
    /^invalid arguments: \$\.wait\.milliseconds/,
    {},
  ],
  ['by policy', GO, /^denied: not here$/, { permit: denying('click') }],
  [
    'by a policy that throws',
    GO,
    /^denied: /,
    { permit: onClick(() => Promise.reject(new Error('no'))) },
  ],
  [
    'by a person',
    GO,
    /^denied: /,
    { permit: onClick(() => ({ decision: 'ask' })), ask: () => ({ allow: false }) },
  ],
  ['as too long', { kind: 'done', answer: 'x'.repeat(100_001) }, /^it has 100001 characters/, {}],
  [
    'as too long, declining',
    { kind: 'refuse', reason: 'x'.repeat(100_001) },
    /^it has 100001 characters/,
    {},
  ],
  ['the last word', DONE, /^denied: not here$/, { permit: denying('done') }],
];

describe.each(REFUSED)('an action that is refused %s', (_name, action, why, options) => {
  test('is a step that failed, and the same one again is told', async () => {
    const told: (readonly PastStep[])[] = [];
    const audit = newPath('audit.jsonl');
    const transcript = memoryStore();
    const brain: BrainFunction = (_observation, _goal, history) => {
      told.push(history);
      return action;
    };
    const result = await episode({
      goal: 'x',
      screen: stuck(),
      brain,
      check: () => true,
      audit,
      transcript,
      budget: { steps: 8 },
      watchdog: { stop: ['same_failure'] },
      ...options,
    });
    expect(result).toMatchObject({
      result: 'stalled',
      steps: 3,
      alerts: [{ kind: 'same_failure' }],
    });
    expect(told.map(({ length }) => length)).toEqual([0, 1, 2]);
    const failed = { action, ok: false, outcome: expect.stringMatching(why) };
    expect(told.at(-1)).toMatchObject([failed, failed]);
    expect(entriesOf(audit)).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ ok: false, outcome: expect.stringMatching(why) })),
      { kind: 'episode', ok: false },
    ]);
    const again: (readonly PastStep[])[] = [];
    const { score } = await rehearse(transcript, (_observation, _goal, history) => {
      again.push(history);
      return action;
    });
    expect(score).toBe(1);
    expect(again).toEqual(told);
  });
});

test('other refused actions between are another failure', async () => {
  const brain = doing(
    ...Array.from({ length: 6 }, (_, at) => ({ ...GO, target: { index: at } })),
    DONE,
  );
  const { result } = await perform({
    screen: stuck(),
    brain,
    permit: denying('click'),
    watchdog: { unchangedAfter: 99 },
  });
  expect(result).toMatchObject({ result: 'verified', steps: 7, alerts: [] });
});

test('refused actions leave the screen as it was, which is told', async () => {
  const brain = doing(
    ...Array.from({ length: 6 }, (_, at) => ({ ...GO, target: { index: at } })),
    DONE,
  );
  const { result } = await perform({ screen: stuck(), brain, permit: denying('click') });
  expect(result.alerts).toMatchObject([{ kind: 'unchanged_screen' }]);
});

const typing = (end: string): Action => ({
  kind: 'type',
  target: { label: 'New item' },
  text: `${'x'.repeat(100)}${end}`,
});

test('two long actions that begin alike are two', async () => {
  const brain = doing(typing('a'), typing('b'), typing('c'), typing('d'), DONE);
  const { result } = await perform({ brain, permit: denying('type') });
  expect(result).toMatchObject({ steps: 5, alerts: [] });
});

describe('a last word that is refused is none', () => {
  test.each([
    ['done', { answer: 'milk is there' }],
    ['refuse', { reason: 'I may not' }],
  ] as const)('%s', async (name, word) => {
    const replies: ModelReply[] = [
      { content: '', toolCalls: [{ name, arguments: word }] },
      { content: 'That is all.' },
    ];
    const brain = Object.assign((): ModelReply => replies.shift() ?? { content: '' }, { id: 'm' });
    const { result } = await perform({ brain, check: () => true, permit: denying(name) });
    expect(result).toMatchObject({
      result: 'failed',
      claim: 'That is all.',
      check: { ok: false, detail: 'not verified: nobody said that the goal is reached' },
    });
  });
});

const asking = (call: ReplyCall): Brain =>
  Object.assign((): ModelReply => ({ content: '', toolCalls: [call] }), { id: 'm' });

describe('a call that is no action', () => {
  test.each<readonly [string, ReplyCall, string]>([
    ['without a target', { name: 'click', arguments: {} }, 'click {}'],
    [
      'with two',
      { name: 'click', arguments: { index: 0, label: 'a' } },
      'click {"index":0,"label":"a"}',
    ],
    ['of no tool', { name: 'fly', arguments: { to: 'b' } }, 'fly {"to":"b"}'],
    ['that is no JSON', { name: 'click', arguments: '{"label":' }, 'click {}'],
    ['of another type', { name: 'press', arguments: { key: 1 } }, 'press {"key":1}'],
  ])('%s is no step, and told when it comes again and again', async (_name, call, words) => {
    const audit = newPath('audit.jsonl');
    const { result } = await perform({
      brain: asking(call),
      budget: { steps: 9 },
      audit,
      watchdog: { stop: true },
    });
    const evidence = `the same action failed 3 times: ${words}`;
    expect(result).toMatchObject({ result: 'stalled', steps: 0, alerts: [{ evidence }] });
    expect(entriesOf(audit)).toMatchObject([{ kind: 'episode' }]);
  });

  test('says no secret', async () => {
    const { result, payloads } = await perform({
      brain: asking({ name: 'click', arguments: { label: 'hunter2', extra: 'hunter2', index: 1 } }),
      secrets: { pin: 'hunter2' },
      budget: { steps: 9 },
      watchdog: { stop: true },
    });
    expect(result.result).toBe('stalled');
    expect(JSON.stringify([result, payloads])).not.toContain('hunter2');
  });
});

test('a screen that may not be looked at ends the episode, with why', async () => {
  const { result } = await perform({
    brain: doing(DONE),
    permit: denying('look'),
    budget: { steps: 50 },
  });
  expect(result).toMatchObject({ result: 'error', steps: 0 });
  expect(result.outcome.error).toContain('the screen could not be seen 3 times');
});

test('what is refused beside what is done is recorded in order', async () => {
  const audit = newPath('audit.jsonl');
  const calls: readonly ReplyCall[] = [
    { name: 'press', arguments: { key: 'a' } },
    { name: 'type', arguments: { label: 'New item', text: 'milk' } },
    { name: 'press', arguments: { key: 'b' } },
    { name: 'click', arguments: { label: 'Save' } },
    { name: 'press', arguments: { key: 'c' } },
  ];
  const replies: ModelReply[] = [
    { content: '', toolCalls: calls },
    { content: '', toolCalls: [{ name: 'done', arguments: { answer: 'ok' } }] },
  ];
  const brain = Object.assign((): ModelReply => replies.shift() ?? { content: '' }, { id: 'm' });
  const { result, events } = await perform({ brain, audit, permit: denying('press') });
  expect(result).toMatchObject({ result: 'verified', steps: 6 });
  const said = ['press a', 'type "milk" into "New item"', 'press b', 'click "Save"', 'press c'];
  const steps = events.flatMap((event) => (event.type === 'step' ? [event.step.said] : []));
  expect(steps).toEqual([...said, 'done: "ok"']);
  const entries = entriesOf(audit);
  expect(entries.map(({ action }) => action).slice(0, 6)).toEqual(steps);
});

test('an audit log that is lost ends the episode also where only a refusal is to be written', async () => {
  const screen = todo();
  let appended = 0;
  const log = {
    location: 'lost',
    head: EMPTY_AUDIT,
    append: () => {
      appended += 1;
      return Promise.reject(new Error('no room'));
    },
    close: () => Promise.reject(new Error('no room')),
    release: () => Promise.resolve(),
  };
  const { result } = await perform({
    screen,
    brain: doing(SAVE, SAVE, DONE),
    audit: log,
    permit: denying('click'),
  });
  expect(appended).toBe(1);
  expect(result.result).toBe('error');
});
