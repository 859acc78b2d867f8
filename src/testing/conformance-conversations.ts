/**
 * Conformance: conversations as providers accept them, and as their prompt caches need them.
 *
 * @module
 */
import assert from 'node:assert/strict';
import { type Message } from '../run/model.ts';
import { member } from '../models/wire.ts';
import { ask, type Case, type Scene } from './conformance-case.ts';

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
  { role: 'tool', callId: 'c0', name: 'add', ok: true, content: '3' },
  { role: 'tool', callId: 'c.1:β', name: 'add', ok: false, content: 'invalid arguments: not JSON' },
  {
    role: 'assistant',
    content: 'Once more. ',
    toolCalls: [
      { id: 'c2', name: 'add', arguments: { a: 1, b: 2 }, raw: '{ "b":2, "a":1 }' },
      { id: 'c3', name: 'add', arguments: {}, raw: '' },
    ],
  },
  {
    role: 'tool',
    callId: 'c2',
    name: 'add',
    ok: true,
    content: '3',
    note: 'NOTE: the same as before.',
  },
  { role: 'tool', callId: 'c3', name: 'add', ok: false, content: '' },
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
    async run(scene) {
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
    async run(scene) {
      let before = '';
      for (const [turn, count] of ASKED_AT.entries()) {
        await ask(scene, { messages: CONVERSATION.slice(0, count), maxOutputTokens: 100 - turn });
        const { text } = lastRequest(scene);
        assert.ok(text.startsWith(before), `${text}\ndoes not begin with\n${before}`);
        before = untilLastMessage(text);
        assert.ok(before.includes('Add, please.'));
      }
    },
  },
  {
    name: 'the same request is the same bytes',
    turns: [{ content: 'ok' }, { content: 'ok' }],
    async run(scene) {
      await ask(scene, { messages: CONVERSATION });
      await ask(scene, { messages: CONVERSATION });
      const [first, second] = scene.provider.requests;
      assert.equal(first?.text, second?.text);
    },
  },
  {
    name: 'a call and its results, as the model made it and the loop answered it',
    turns: [{ toolCalls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] }, { content: 'done' }],
    async run(scene) {
      const reply = await ask(scene);
      const call = reply.toolCalls?.[0];
      assert.ok(typeof call?.id === 'string');
      await ask(scene, {
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            content: reply.content,
            toolCalls: [{ id: call.id, name: call.name, arguments: { a: 1, b: 2 } }],
            ...(reply.provider === undefined ? {} : { provider: reply.provider }),
          },
          { role: 'tool', callId: call.id, name: 'add', ok: true, content: '3' },
        ],
      });
      assert.ok(lastRequest(scene).text.includes(call.id));
    },
  },
  {
    name: 'a model without tools is offered none',
    turns: [{ content: 'ok' }],
    async run(scene) {
      await ask(scene, { tools: [] });
      assert.equal(member(lastRequest(scene).body, 'tools'), undefined);
    },
  },
  {
    name: 'the output limit is passed on',
    turns: [{ content: 'ok' }],
    async run(scene) {
      await ask(scene, { maxOutputTokens: 77 });
      assert.match(lastRequest(scene).text, /"max_(?:completion_)?tokens":77\b/);
    },
  },
];

function lastRequest(scene: Scene): Scene['provider']['requests'][number] {
  const request = scene.provider.requests.at(-1);
  assert.ok(request !== undefined, 'no request came');
  return request;
}

/** A request's text up to the end of its last message. */
function untilLastMessage(text: string): string {
  return text.slice(0, text.lastIndexOf(']'));
}
