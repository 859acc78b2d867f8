/**
 * Secrets of an episode: they stand in no record, event or message, whatever a brain or a page does with them.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type EpisodeOptions } from '../../src/computer/index.ts';
import { ScreenGoneError } from '../../src/computer/screen.ts';
import { scripted } from '../../src/models/scripted.ts';
import { type Model, type ModelReply, type ModelRequest } from '../../src/run/model.ts';
import { scriptedScreen } from '../../src/testing/scripted-screen.ts';

import { scratch } from '../store/helpers.ts';

import { DONE, doing, login, onClick, perform, stuck } from './episode-support.ts';

const newPath = scratch();

const SPELLED = 'hunter2 & co';

const type = (args: object) => ({ name: 'type', arguments: JSON.stringify(args) });

const turns = (...list: { content?: string; toolCalls?: object[] }[]): Model => {
  let at = 0;
  const answer = ({ onDelta }: ModelRequest): ModelReply => {
    const turn = list[at++] ?? { toolCalls: [{ name: 'done', arguments: { answer: 'in' } }] };
    onDelta({ kind: 'arguments', text: JSON.stringify(turn.toolCalls) });
    onDelta({ kind: 'text', text: turn.content ?? '' });
    return { content: '', ...turn } as ModelReply;
  };
  return Object.assign(answer, { id: 'test' });
};

const into = (label: string): Action => ({ kind: 'type', target: { label }, text: SPELLED });

describe('secrets', () => {
  test('given by name are nowhere in the record', async () => {
    const audit = newPath('audit.jsonl');
    const { result, payloads } = await perform({
      screen: login(),
      audit,
      secrets: { pin: 'hunter2' },
      brain: doing({ kind: 'type', target: { label: 'Password' }, secret: 'pin' }, DONE),
    });
    expect(result.result).toBe('verified');
    expect(JSON.stringify(payloads) + readFileSync(audit, 'utf8')).not.toContain('hunter2');
  });

  test('that a model spells out into a password field are not recorded either', async () => {
    const audit = newPath('audit.jsonl');
    const model = scripted([
      {
        content: 'I type hunter2.',
        tool_calls: [{ name: 'type', arguments: '{"label":"Password","text":"hunter2"}' }],
      },
      { tool_calls: [{ name: 'done', arguments: '{"answer":"in"}' }] },
    ]);
    const { result, payloads } = await perform({ screen: login(), audit, brain: model });
    expect(result.result).toBe('verified');
    const all = JSON.stringify(payloads) + readFileSync(audit, 'utf8');
    expect(all).not.toContain('hunter2');
    expect(all).toContain('type the secret \\"typed-1\\" into \\"Password\\"');
  });
});

const echo = ({ label }: { label?: string } = {}): string | undefined =>
  label === 'Show' ? 'shown' : label === 'Open' ? 'opened' : undefined;
const told = ({ text }: { text: string }) => ({ ok: false, detail: text });

describe('secrets that a brain spells out', () => {
  test.each<[string, EpisodeOptions['brain']]>([
    ['a function', doing(into('Password'), DONE)],
    [
      'a model, by label and index together',
      turns({ toolCalls: [type({ label: 'Password', index: 1, text: SPELLED })] }),
    ],
    [
      'a model, into a field that is not there',
      turns({ toolCalls: [type({ label: 'Pasword', text: SPELLED })] }),
    ],
    [
      'a model, in what is no JSON',
      turns({
        toolCalls: [{ name: 'type', arguments: `{"label":"Password","text":"${SPELLED}"` }],
      }),
    ],
    [
      'a model, that says it again',
      turns(
        { content: `I type ${SPELLED}.`, toolCalls: [type({ label: 'Password', text: SPELLED })] },
        {
          content: SPELLED,
          toolCalls: [
            type({ label: 'Name', text: SPELLED }),
            { name: 'navigate', arguments: { url: `http://x/?p=${encodeURIComponent(SPELLED)}` } },
          ],
        },
        { toolCalls: [{ name: 'done', arguments: { answer: `logged in with ${SPELLED}` } }] },
      ),
    ],
    [
      'a model, into a field that a click of the same turn makes',
      turns({
        toolCalls: [
          { name: 'click', arguments: { label: 'Open' } },
          type({ label: 'Later', text: SPELLED }),
        ],
      }),
    ],
    [
      'a model, into a field that was for a password before',
      turns(
        { toolCalls: [{ name: 'click', arguments: { label: 'Show' } }] },
        { toolCalls: [type({ label: 'Password', text: SPELLED })] },
      ),
    ],
  ])('by %s, are nowhere', async (name, brain) => {
    const fields = [
      { label: 'Name', kind: 'textbox' },
      { label: 'Password', kind: 'textbox', states: ['password'] },
    ];
    const buttons = ['Show', 'Open'].map((label) => ({ label, kind: 'button' }));
    const screen = scriptedScreen({
      form: {
        elements: [...fields, ...buttons],
        text: '',
        on: (action, element) => (action.kind === 'type' ? 'echoed' : echo(element)),
      },
      shown: {
        elements: [fields[0]!, { label: 'Password', kind: 'textbox', value: SPELLED }],
        on: () => 'echoed',
      },
      opened: {
        elements: [{ label: 'Later', kind: 'textbox', states: ['password'] }],
        on: () => 'echoed',
      },
      // A page that shows what it was given, as text, as a value, in an address, in a message.
      echoed: {
        elements: [
          { label: `Hello ${SPELLED}`, kind: 'heading' },
          { ...fields[0]!, value: SPELLED },
        ],
        text: `You typed ${SPELLED}`,
        url: `http://x/?q=${new URLSearchParams({ q: SPELLED }).toString().slice(2)}`,
        on: () => ({ error: `refused: ${SPELLED}` }),
      },
    });
    const audit = newPath('audit.jsonl');
    const { result, events, payloads } = await perform({ screen, audit, brain, check: told });
    const spoken = events.flatMap((event) => (event.type === 'delta' ? [event.delta.text] : []));
    if (name === 'a model, that says it again') expect(spoken[0]).toBe('I type [secret].');
    const all = JSON.stringify([
      payloads,
      events.filter(({ type: kind }) => kind !== 'step'),
      result.claim,
      result.check,
      result.alerts,
    ]);
    for (const text of [all, readFileSync(audit, 'utf8')]) {
      expect(text).not.toContain('hunter2');
      expect(text.length).toBeGreaterThan(100);
    }
  });

  test('key by key, are not recorded either', async () => {
    const screen = scriptedScreen({
      form: { elements: [{ label: 'PIN', kind: 'textbox', states: ['focused', 'password'] }] },
    });
    const keys = ['h', 'u', 'n', 't'].map((key): Action => ({ kind: 'press', key }));
    const { payloads } = await perform({
      screen,
      brain: doing(...keys, { kind: 'press', key: 'Enter' }, DONE),
    });
    const pressed = JSON.stringify(payloads).match(/"key":"[^"]+"/g);
    expect(pressed).toEqual([...keys.map(() => '"key":"•"'), '"key":"Enter"']);
  });
});

describe('no secret is in what is thrown or said beside the brain', () => {
  const words = `wrong: ${SPELLED}`;
  const fails = (): never => {
    throw new Error(words);
  };
  const gone = (): never => {
    throw new ScreenGoneError(words);
  };
  test.each<[string, Partial<EpisodeOptions>]>([
    ['a policy', { permit: onClick(() => ({ decision: 'deny', reason: words })) }],
    ['a policy that throws', { permit: onClick(fails) }],
    [
      'a person',
      {
        permit: onClick(() => ({ decision: 'ask' })),
        ask: () => Promise.resolve({ allow: false, reason: words }),
      },
    ],
    ['a person who throws', { permit: onClick(() => ({ decision: 'ask' })), ask: fails }],
    ['a brain that throws', { brain: fails }],
    ['a screen that throws', { screen: { ...stuck(), act: fails } }],
    ['a screen that is gone', { screen: { ...stuck(), act: gone } }],
    ['a look that throws', { screen: { ...stuck(), observe: fails } }],
    ['a look at what is gone', { screen: { ...stuck(), observe: gone } }],
    ['a picture', { screen: { ...stuck(), screenshot: fails }, screenshot: newPath('last.png') }],
  ])('%s', async (_name, options) => {
    const audit = newPath('audit.jsonl');
    const { result, events, payloads } = await perform({
      screen: stuck(),
      secrets: { pin: SPELLED },
      brain: doing({ kind: 'click', target: { label: 'Go' } }, DONE),
      audit,
      watchdog: { stop: true },
      ...options,
    });
    const all = JSON.stringify([result, events, payloads, readFileSync(audit, 'utf8')]);
    expect(all).not.toContain('hunter2');
    expect(all).toContain('wrong: [secret]');
  });
});
