/**
 * Rehearsals: a recorded episode re-drives a brain, with no screen.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type Brain, type BrainFunction } from '../../src/computer/brain.ts';
import { episode, rehearse } from '../../src/computer/index.ts';
import { type ModelReply, type ModelRequest } from '../../src/run/model.ts';
import { type Permit } from '../../src/run/permit.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore, type TranscriptStore } from '../../src/store/index.ts';
import { scriptedScreen, type ScriptedScreen } from '../../src/testing/scripted-screen.ts';
import { DONE as SAID, model, never } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';
import { doing, login } from './episode-support.ts';

const newPath = scratch();

/** Three pages, and a button that leads from each to the next. */
function pages(): ScriptedScreen {
  const next = { label: 'Next', kind: 'button' };
  return scriptedScreen({
    one: { elements: [next], text: 'page 1', on: () => 'two' },
    two: { elements: [next], text: 'page 2', on: () => 'three' },
    three: { elements: [next], text: 'page 3' },
  });
}

const NEXT: Action = { kind: 'click', target: { label: 'Next' } };

/** Goes on to page 3; a function of what it sees, and of nothing else. */
const walker: BrainFunction = ({ text }) =>
  text === 'page 3' ? { kind: 'done', answer: text } : NEXT;

const typing = (at: string | number, text: string): Action => ({
  kind: 'type',
  target: typeof at === 'string' ? { label: at } : { index: at },
  text,
});

const hasty: BrainFunction = ({ text }) =>
  text === 'page 1' ? NEXT : { kind: 'done', answer: 'there' };

const broken: BrainFunction = ({ text }) => {
  if (text === 'page 2') throw new Error('no idea');
  return walker({ text, elements: [] }, '', [], { signal: new AbortController().signal });
};

const direct: BrainFunction = ({ text }) =>
  text === 'page 2' ? { kind: 'done', answer: 'near enough' } : NEXT;

const claims = (answer: string): BrainFunction => {
  return () => ({ kind: 'done', answer: `${'x'.repeat(100)} ${answer}` });
};

const insistent: BrainFunction = (_observation, _goal, history) =>
  history.some(({ ok }) => ok)
    ? { kind: 'done', answer: `after ${history.length}` }
    : { kind: 'wait', milliseconds: 0 };

const check = ({ text }: { text: string }): boolean => text === 'page 3';

async function recorded(brain: BrainFunction = walker): Promise<TranscriptStore> {
  const transcript = memoryStore();
  await episode({ goal: 'Go to page 3', screen: pages(), brain, check, transcript });
  return transcript;
}

const keys = (): BrainFunction =>
  doing({ kind: 'press', key: 'h' }, { kind: 'press', key: 'Enter' }, { kind: 'done', answer: '' });

describe('rehearse', () => {
  test('the same brain decides the same, on what was recorded', async () => {
    const seen: string[] = [];
    const watching: BrainFunction = (observation, goal, history, context) => {
      seen.push(
        `${goal}: ${observation.text} after ${history.map(({ said, ok }) => `${said} ${ok}`).join(', ')}`,
      );
      return walker(observation, goal, history, context);
    };
    expect(await rehearse(await recorded(), watching)).toEqual({
      decisions: [
        { seq: 3, recorded: 'click "Next"', given: 'click "Next"', same: true },
        { seq: 5, recorded: 'click "Next"', given: 'click "Next"', same: true },
        { seq: 7, recorded: 'done: "page 3"', given: 'done: "page 3"', same: true },
      ],
      parted: null,
      score: 1,
    });
    expect(seen).toEqual([
      'Go to page 3: page 1 after ',
      'Go to page 3: page 2 after click "Next" true',
      'Go to page 3: page 3 after click "Next" true, click "Next" true',
    ]);
  });

  test('another brain: where it parts, and the share that is alike', async () => {
    expect(await rehearse(await recorded(), hasty)).toMatchObject({
      parted: 1,
      score: 1 / 3,
      decisions: [{ same: true }, { given: 'done: "there"' }, { same: false }],
    });
  });

  test('decisions are compared whole, not as they are shown', async () => {
    const transcript = await recorded(claims('pay 10 to ann'));
    expect(await rehearse(transcript, claims('pay 10 to ann'))).toMatchObject({ score: 1 });
    const reference = await recorded(claims('pay 9999 to mallory'));
    expect(await rehearse(transcript, claims('pay 9999 to mallory'), { reference })).toMatchObject({
      score: 0,
      decisions: [{ same: false }],
      reference: { score: 0, parted: 0 },
    });
  });

  test('looks, and calls that are none, shift nothing', async () => {
    const screen = login();
    const secret = { label: 'Password', text: 'hunter2' };
    const turns = (): ModelReply[] => [
      {
        content: '',
        toolCalls: [
          { name: 'look', arguments: {} },
          { name: 'click', arguments: { index: -1 } },
          { name: 'type', arguments: secret },
        ],
      },
      { content: '', toolCalls: [{ name: 'done', arguments: { answer: 'in' } }] },
    ];
    const brain = (): Brain => {
      const left = turns();
      return Object.assign((): ModelReply => left.shift() ?? { content: '' }, { id: 'mine' });
    };
    const transcript = memoryStore();
    await episode({ goal: 'log in', screen, brain: brain(), check: () => true, transcript });
    const { score, decisions } = await rehearse(transcript, brain());
    expect(score).toBe(1);
    expect(JSON.stringify(decisions)).not.toContain('hunter2');
  });

  test('what was denied is a step that failed', async () => {
    const transcript = memoryStore();
    let asked = 0;
    const permit: Permit = ({ tool: { name } }) => {
      if (name !== 'wait') return { decision: 'allow' };
      asked += 1;
      return asked > 3 ? { decision: 'allow' } : { decision: 'deny', reason: 'not yet' };
    };
    const { claim } = await episode({
      goal: 'x',
      screen: pages(),
      brain: insistent,
      transcript,
      permit,
    });
    expect({ asked, claim }).toEqual({ asked: 4, claim: 'after 4' });
    expect(await rehearse(transcript, insistent)).toMatchObject({ score: 1 });
  });

  test('a model decides by its first call', async () => {
    const turns = [
      { content: '', toolCalls: [{ name: 'click', arguments: '{"label":"Next"}' }] },
      { content: 'Hm.' },
      { content: '', toolCalls: [{ name: 'done', arguments: { answer: 'page 3' } }] },
    ];
    const asked: number[] = [];
    const answer = ({ messages }: ModelRequest): ModelReply => {
      asked.push(messages.length);
      return turns[asked.length - 1] ?? { content: '' };
    };
    const { decisions } = await rehearse(await recorded(), Object.assign(answer, { id: 'mine' }));
    expect(decisions.map(({ given }) => given)).toEqual([
      'click "Next"',
      'it says: Hm.',
      'done: "page 3"',
    ]);
    // It was asked with the conversation as it was then.
    expect(asked).toEqual([3, 5, 7]);
  });

  test('a model is offered the tools that it had, and decides the same', async () => {
    const asked: unknown[] = [];
    const careful = (request: ModelRequest): ModelReply => {
      asked.push([request.tools, request.maxOutputTokens]);
      const isThere = request.messages.at(-1)?.content.includes('page 3') === true;
      const name = isThere ? 'done' : 'click';
      // As a provider does, it can call only what it is offered.
      if (!request.tools.some((tool) => tool.name === name)) return { content: 'No such tool.' };
      const args = isThere ? { answer: 'page 3' } : { label: 'Next' };
      return { content: '', toolCalls: [{ name, arguments: args }] };
    };
    const brain = Object.assign(careful, { id: 'mine' });
    const transcript = memoryStore();
    const goal = 'Go to page 3';
    await episode({ goal, screen: pages(), brain, check, transcript, maxOutputTokens: 500 });
    const before = asked.splice(0);
    expect(await rehearse(transcript, brain)).toMatchObject({ score: 1 });
    expect(before).toHaveLength(3);
    expect(asked).toEqual(before);
  });

  test('a brain that never answers decides nothing in its time, or until an abort', async () => {
    const transcript = await recorded();
    const { decisions } = await rehearse(transcript, () => never(), { modelSeconds: 0.01 });
    expect(decisions.map(({ given }) => given)).toEqual(
      decisions.map(() => 'it decides nothing within 0.01 s'),
    );
    const controller = new AbortController();
    const brain = (): Promise<never> => {
      controller.abort(new Error('enough'));
      return never();
    };
    await expect(rehearse(transcript, brain, { signal: controller.signal })).rejects.toThrow(
      'enough',
    );
  });

  test('a brain that fails decides nothing, and the rest goes on', async () => {
    const { decisions, parted } = await rehearse(await recorded(), broken);
    expect(decisions[1]).toMatchObject({ given: 'no idea', same: false });
    expect(parted).toBe(1);
  });

  test('a failed action leaves the brain what it saw', async () => {
    let tries = 0;
    const clumsy: BrainFunction = (observation, goal, history, context) =>
      (tries += 1) === 1
        ? { kind: 'click', target: { label: 'Nxet' } }
        : walker(observation, goal, history, context);
    const transcript = await recorded(clumsy);
    const { decisions } = await rehearse(transcript, walker);
    expect(decisions.map(({ same }) => same)).toEqual([false, true, true, true]);
  });

  test.each<readonly [string, readonly Action[], string]>([
    ['the same', [typing('Password', 'hunter2')], 'type the secret "typed-1" into "Password"'],
    ['elsewhere', [typing('Pasword', 'hunter2')], 'type the secret "…" into "Pasword"'],
    ['by its place', [typing(1, 'hunter2')], 'type the secret "…" into #1'],
    ['at no place', [typing(7, 'hunter2')], 'type the secret "…" into #7'],
    ['what is plain', [typing('Name', 'ann')], 'type "ann" into "Name"'],
    [
      'and said again',
      [typing(1, 'hunter2'), { kind: 'done', answer: 'with hunter2' }],
      'type the secret "…" into #1; done: "with [secret]"',
    ],
  ])('what may be a password is not spelled out: %s', async (_name, actions, words) => {
    const transcript = memoryStore();
    const brain = doing(typing('Password', 'hunter2'), { kind: 'done', answer: 'in' });
    await episode({ goal: 'log in', screen: login(), brain, check: () => true, transcript });
    const toolCalls = actions.map(({ kind, ...rest }) => {
      const { target, ...members } = { target: {}, ...rest };
      return { name: kind, arguments: { ...target, ...members } };
    });
    const types = Object.assign((): ModelReply => ({ content: '', toolCalls }), { id: 'mine' });
    const { decisions } = await rehearse(transcript, types);
    expect(decisions[0]?.given).toBe(words);
    const says = Object.assign((): ModelReply => ({ content: 'It is hunter2.' }), { id: 'mine' });
    let turn = 0;
    const both = Object.assign((): ModelReply => ((turn += 1) === 1 ? types() : says()), {
      id: 'mine',
    });
    const { decisions: after } = await rehearse(transcript, both);
    const isTold = !actions.some((action) => 'text' in action && action.text === 'hunter2');
    expect(after[1]?.given).toBe(`it says: It is ${isTold ? 'hunter2' : '[secret]'}.`);
  });

  test('a password that is pressed key by key is compared and told by no letter', async () => {
    const screen = scriptedScreen({
      form: { elements: [{ label: 'Pass', kind: 'textbox', states: ['password', 'focused'] }] },
    });
    const transcript = memoryStore();
    await episode({ goal: 'log in', screen, brain: keys(), transcript });
    expect(await rehearse(transcript, keys())).toMatchObject({ score: 1 });
    const { decisions } = await rehearse(
      transcript,
      doing(
        { kind: 'press', key: 'Tab' },
        { kind: 'press', key: 'u' },
        { kind: 'done', answer: '' },
      ),
    );
    expect(decisions.map(({ given, same }) => [given, same])).toEqual([
      ['press Tab', false],
      ['press •', false],
      ['done: ""', true],
    ]);
  });

  test('an episode that ended before its first look decided nothing', async () => {
    const transcript = memoryStore();
    const signal = AbortSignal.abort();
    const result = await episode({ goal: 'x', screen: pages(), brain: walker, transcript, signal });
    expect(result.result).toBe('aborted');
    expect(await rehearse(transcript, walker)).toEqual({ decisions: [], parted: null, score: 1 });
  });

  test('a reference episode: place by place', async () => {
    const { reference } = await rehearse(await recorded(), walker, {
      reference: await recorded(direct),
    });
    expect(reference).toEqual({
      decisions: [
        { recorded: 'click "Next"', reference: 'click "Next"' },
        { recorded: 'click "Next"', reference: 'done: "near enough"' },
        { recorded: 'done: "page 3"', reference: null },
      ],
      parted: 1,
      score: 1 / 3,
    });
  });

  test('what is no episode, or does not verify, is said to be so', async () => {
    const store = memoryStore();
    await run({ task: 'x', model: model([SAID]), transcript: store });
    await expect(rehearse(store, walker)).rejects.toThrow(
      'it is not the record of an episode on a screen',
    );
    const path = newPath();
    writeFileSync(path, '{}\n{}\n');
    await expect(rehearse(path, walker)).rejects.toThrow(
      "it doesn't verify, so it isn't rehearsed",
    );
  });
});
