/**
 * Conformance: conversations as providers accept them, and as their prompt caches need them.
 *
 * @module
 */
import assert from 'node:assert/strict';
import { member } from '../models/wire.ts';
import { type Message } from '../run/model.ts';
import { ask, type Case, type Scene } from './conformance-case.ts';

const ADDED = { role: 'tool', name: 'add', ok: true, content: '3' } as const;

/** A conversation with all that may come up. Each prefix that ends where a model is asked is asked. */
const CONVERSATION: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Add, please. \u2028 😀' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [
      { id: 'c0', name: 'add', arguments: { a: 1, b: 2 } },
      // An id that only some providers take, and arguments that aren't JSON.
      { id: 'c.1:β', name: 'add', arguments: {}, raw: '{"a":' },
    ],
  },
  { ...ADDED, callId: 'c0' },
  { ...ADDED, callId: 'c.1:β', ok: false, content: 'invalid arguments: not JSON' },
  {
    role: 'assistant',
    content: 'Once more. ',
    toolCalls: [
      { id: 'c2', name: 'add', arguments: { a: 1, b: 2 }, raw: '{ "b":2, "a":1 }' },
      { id: 'c3', name: 'add', arguments: {}, raw: '' },
    ],
  },
  { ...ADDED, callId: 'c2', note: 'NOTE: the same as before.' },
  { ...ADDED, callId: 'c3', ok: false, content: '' },
  { role: 'assistant', content: 'It is 3.\n', toolCalls: [] },
  { role: 'user', content: 'Thanks.' },
];

/** How many messages there are when the model is asked. */
const ASKED_AT = [2, 5, 8, 10];

/** The cases. */
export const CONVERSATION_CASES: readonly Case[] = [
  {
    name: 'a conversation with results, a failed one and a note is accepted',
    turns: [{ content: 'ok' }],
    async check(scene) {
      await ask(scene, { messages: CONVERSATION });
      const { text } = lastRequest(scene);
      assert.equal(text.split('NOTE: the same as before.').length, 2);
      // Beside the value, not in it.
      assert.ok(text.includes('"3"'));
      assert.ok(text.includes('invalid arguments: not JSON'));
    },
  },
  {
    name: 'a later request begins with the messages of an earlier one, byte for byte',
    turns: ASKED_AT.map(() => ({ content: 'ok' })),
    async check(scene) {
      let before = '';
      for (const [turn, count] of ASKED_AT.entries()) {
        await ask(scene, { messages: CONVERSATION.slice(0, count), maxOutputTokens: 100 - turn });
        const { text } = lastRequest(scene);
        assert.ok(text.startsWith(before), `${text}\ndoes not begin with\n${before}`);
        // Up to the end of its last message.
        before = text.slice(0, text.lastIndexOf(']'));
        assert.ok(before.includes('Add, please.'));
      }
    },
  },
  {
    name: 'the same request is the same bytes',
    turns: [{ content: 'ok' }, { content: 'ok' }],
    async check(scene) {
      await ask(scene, { messages: CONVERSATION });
      await ask(scene, { messages: CONVERSATION });
      const [first, second] = scene.provider.requests;
      assert.equal(first?.text, second?.text);
    },
  },
  {
    name: 'a call and its results, as the model made it and the loop answered it',
    turns: [{ toolCalls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] }, { content: 'done' }],
    async check(scene) {
      const { content, toolCalls, provider } = await ask(scene);
      const id = toolCalls?.[0]?.id;
      assert.ok(typeof id === 'string');
      const call = { id, name: 'add', arguments: { a: 1, b: 2 } };
      const kept = provider === undefined ? {} : { provider };
      await ask(scene, {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content, toolCalls: [call], ...kept },
          { ...ADDED, callId: id },
        ],
      });
      assert.ok(lastRequest(scene).text.includes(id));
    },
  },
  {
    name: 'a call of a tool that the model made up goes back under a name that is taken',
    turns: [{ content: 'ok' }],
    async check(scene) {
      const names = ['web.search: β', '', 'x'.repeat(200)];
      const toolCalls = names.map((name, i) => ({ id: `c${i}`, name, arguments: {} }));
      const results = toolCalls.map(({ id, name }): Message => ({
        ...ADDED,
        callId: id,
        name,
        ok: false,
        content: 'unknown',
      }));
      const asked = { role: 'user', content: 'hi' } as const;
      await ask(scene, {
        messages: [asked, { role: 'assistant', content: '', toolCalls }, ...results],
      });
      const { text } = lastRequest(scene);
      for (const name of ['web_search___', 'unknown_tool', 'x'.repeat(64)]) {
        assert.ok(text.includes(`"name":"${name}"`), `${text}\ndoes not call ${name}`);
      }
    },
  },
  {
    name: 'a model without tools is offered none',
    turns: [{ content: 'ok' }],
    async check(scene) {
      await ask(scene, { tools: [] });
      assert.equal(member(lastRequest(scene).body, 'tools'), undefined);
    },
  },
  {
    name: 'the output limit is passed on',
    turns: [{ content: 'ok' }],
    async check(scene) {
      await ask(scene, { maxOutputTokens: 77 });
      assert.match(lastRequest(scene).text, /"max_(?:completion_)?tokens":77\b/);
    },
  },
];

function lastRequest({ provider }: Scene): Scene['provider']['requests'][number] {
  const request = provider.requests.at(-1);
  assert.ok(request !== undefined, 'no request came');
  return request;
}
