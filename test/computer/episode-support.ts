/**
 * Screens, brains and actions for tests of episodes.
 *
 * @module
 */

import { expect } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type BrainFunction } from '../../src/computer/brain.ts';
import {
  episode,
  type Episode,
  type EpisodeEvent,
  type EpisodeOptions,
} from '../../src/computer/index.ts';

import { type Permit } from '../../src/run/permit.ts';
import { replay } from '../../src/replay/replay.ts';
import { memoryStore } from '../../src/store/index.ts';
import { scriptedScreen, type ScriptedScreen } from '../../src/testing/scripted-screen.ts';
import { recordsOf } from '../run/support.ts';

/** A to-do list: an item is typed, saved, and is there; or isn't, although the page says so. */
export function todo(lies = false): ScriptedScreen {
  const field = { label: 'New item', kind: 'textbox' };
  const save = { label: 'Save', kind: 'button' };
  return scriptedScreen({
    empty: {
      elements: [field, save],
      text: 'No items',
      on: ({ kind }) =>
        kind === 'type' ? 'typed' : kind === 'click' ? { error: 'Save is disabled' } : undefined,
    },
    typed: {
      elements: [{ ...field, value: 'milk' }, save],
      text: 'No items',
      on: ({ kind }) => (kind === 'click' ? (lies ? 'lied' : 'saved') : undefined),
    },
    saved: { elements: [field, save], text: 'milk' },
    lied: { elements: [field, save], text: 'Saved!' },
  });
}

export const login = (): ScriptedScreen =>
  scriptedScreen({
    form: {
      elements: [
        { label: 'Name', kind: 'textbox' },
        { label: 'Password', kind: 'textbox', states: ['password'] },
      ],
      on: (action, element) =>
        action.kind === 'type' && element?.label === 'Password'
          ? action.text === 'hunter2'
            ? 'in'
            : { error: 'wrong password' }
          : undefined,
    },
    in: { text: 'milk' },
  });

export const stuck = (): ScriptedScreen =>
  scriptedScreen({ page: { elements: [{ label: 'Go', kind: 'button' }], text: 'milk' } });

export const flip = (): ScriptedScreen =>
  scriptedScreen({
    a: { elements: [{ label: 'Go', kind: 'button' }], text: 'a', on: () => 'b' },
    b: { elements: [{ label: 'Go', kind: 'button' }], text: 'b', on: () => 'a' },
  });

export const TYPE: Action = { kind: 'type', target: { label: 'New item' }, text: 'milk' };
export const SAVE: Action = { kind: 'click', target: { label: 'Save' } };
export const DONE: Action = { kind: 'done', answer: 'milk is on the list' };

/** A policy for clicks; all else may be done. */
export const onClick =
  (decide: Permit): Permit =>
  (request) =>
    request.tool.name === 'click' ? decide(request) : { decision: 'allow' };

/** A brain that does one thing after another. */
export function doing(...actions: readonly unknown[]): BrainFunction {
  let at = 0;
  return () => actions[at++] as Action;
}

export const check: EpisodeOptions['check'] = ({ text }) => text.includes('milk');

export async function perform(
  options: Partial<EpisodeOptions> & Pick<EpisodeOptions, 'brain'>,
): Promise<{
  result: Episode;
  events: EpisodeEvent[];
  payloads: { kind: string; payload: { readonly [name: string]: unknown } }[];
}> {
  const transcript = memoryStore();
  const events: EpisodeEvent[] = [];
  const result = await episode({
    goal: 'Put milk on the list',
    screen: todo(),
    check,
    transcript,
    on: (event) => events.push(event),
    ...options,
  });
  // Every episode is a run: its record replays, without a screen and without a brain.
  expect(await replay(transcript)).toMatchObject({ ok: true, count: transcript.head.count });
  return { result, events, payloads: await recordsOf(transcript) };
}
