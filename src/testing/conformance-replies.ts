/**
 * Conformance: what a model makes of good answers.
 *
 * @module
 */
import assert from 'node:assert/strict';
import { type Delta, type ModelReply } from '../run/model.ts';
import { usageOf } from '../run/usage.ts';
import { canonicalJson, parseJson } from '../transcript/index.ts';
import { ask, isOpenAI, isStream, type Case, type Scene } from './conformance-case.ts';
import { argumentsText, type StubCall, type StubQuirk, type StubTurn } from './provider-script.ts';

/** U+2028 ends lines in JavaScript only, U+0085 in Python only; the rest is what cutting breaks. */
const ODD_TEXT = 'a\u2028b\u2029c\u0085d\r\ne 😀 ñ \u0000 "q" \\ud800';

const CALLS: readonly StubCall[] = [
  { id: 'call_a', name: 'add', arguments: '{"a":1,"b":2}' },
  { id: 'call_b', name: 'add', arguments: '{"a":3,"b":4}' },
];

/** Arguments that are kept as they were written, whether or not they are JSON. */
const WRITTEN = [
  '{ "b" : 2, "a" : 1.0 }',
  '{"s":"\u2028 😀 \\ud800 \\u0000"}',
  '{"a":12345678901234567890}',
  '{"a":1,"a":2}',
  '{"a":',
  '',
];

/** The same where an API sends arguments as objects: only their meaning can come through. */
const PARSED = ['{ "b" : 2, "a" : 1.5 }', '{"s":"\u2028 😀","t":"\\u0000"}', '{}'];

/** Calls that only their arguments and their places tell apart. */
const ALIKE: readonly StubCall[] = [
  { name: 'add', arguments: { a: 1, b: 2 } },
  { name: 'add', arguments: { a: 1, b: 3 } },
  { name: 'echo', arguments: {} },
];

/** Usage that says nothing: absent, null, or no counts. */
const NO_USAGE: readonly StubTurn[] = [
  { quirks: ['no-usage'] },
  { rawUsage: null },
  { rawUsage: {} },
  { rawUsage: 'unknown' },
  { rawUsage: { prompt_tokens: '12', input_tokens: '12' } },
  {
    rawUsage: { prompt_tokens: -5, completion_tokens: null, input_tokens: -5, output_tokens: null },
  },
  {
    rawUsage: {
      prompt_tokens: 1e21,
      completion_tokens: 0.5,
      input_tokens: 1e21,
      output_tokens: 0.5,
    },
  },
];

const ALL_COUNTERS = { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 7 };

const STREAM_QUIRKS: readonly StubQuirk[] = [
  'late-id',
  'empty-id',
  'no-index',
  'same-index',
  'no-finish',
  'no-done',
];
const CALL_QUIRKS: readonly StubQuirk[] = ['no-id', 'numeric-id', 'arguments-object'];
const TEXT_QUIRKS: readonly StubQuirk[] = ['null-tool-calls', 'content-parts'];

/** The cases. */
export const REPLY_CASES: readonly Case[] = [
  answer('a text answer', { content: ODD_TEXT }, (reply) => {
    assert.equal(reply.content, ODD_TEXT);
    assertCalls(reply, []);
    assert.equal(reply.stop ?? 'end', 'end');
    assert.equal(reply.failedAttempts, undefined);
  }),
  answer('an answer that is empty', { content: '' }, (reply) => {
    assert.equal(reply.content, '');
    assertCalls(reply, []);
  }),
  answer('a call, beside text', { content: 'I add.', toolCalls: CALLS.slice(0, 1) }, (reply) => {
    assert.equal(reply.content, 'I add.');
    assertCalls(reply, CALLS.slice(0, 1));
    assert.equal(reply.toolCalls?.[0]?.id, 'call_a');
  }),
  answer('two calls in one turn, in order', { toolCalls: CALLS }, (reply) => {
    assert.equal(reply.content, '');
    assertCalls(reply, CALLS);
    assert.deepEqual(
      reply.toolCalls?.map((call) => call.id),
      ['call_a', 'call_b'],
    );
  }),
  {
    name: 'arguments text is kept byte for byte',
    when: (options) => isOpenAI(options) || isStream(options),
    turns: WRITTEN.map((written) => ({ toolCalls: [{ name: 'add', arguments: written }] })),
    async check(scene) {
      for (const written of WRITTEN) {
        const reply = await ask(scene);
        // Anthropic streams no input at all for `{}`.
        const expected = written === '' && scene.api === 'anthropic' ? '{}' : written;
        assert.equal(reply.toolCalls?.[0]?.arguments, expected);
      }
    },
  },
  {
    name: 'arguments that come as objects keep their meaning',
    turns: PARSED.map((written) => ({ toolCalls: [{ name: 'add', arguments: written }] })),
    async check(scene) {
      for (const written of PARSED) {
        assertCalls(await ask(scene), [{ name: 'add', arguments: written }]);
      }
    },
  },
  answer(
    'output is handed on as it comes, and adds up to the reply',
    { reasoning: 'Let me think.', content: ODD_TEXT, toolCalls: CALLS },
    (reply, deltas, { stream }) => {
      assert.equal(reply.content, ODD_TEXT);
      assert.equal(textOf(deltas, 'text'), ODD_TEXT);
      assert.equal(textOf(deltas, 'reasoning'), 'Let me think.');
      assert.ok(deltas.every((delta) => delta.text !== ''));
      if (!stream) return;
      assert.equal(textOf(deltas, 'arguments'), CALLS.map(argumentsText).join(''));
      assert.ok(deltas.length > 3);
    },
  ),
  answer('reasoning is not content', { reasoning: 'Secretly.', content: 'Openly.' }, (reply) => {
    assert.equal(reply.content, 'Openly.');
  }),
  answer(
    'heartbeats are no output',
    { content: 'hello', quirks: ['heartbeats'] },
    (reply, deltas) => {
      assert.equal(reply.content, 'hello');
      assert.equal(deltas.map((delta) => delta.text).join(''), 'hello');
    },
    isStream,
  ),
  answer('usage as five disjoint counters', { usage: ALL_COUNTERS }, ({ usage }) => {
    assert.deepEqual(usage, ALL_COUNTERS);
  }),
  answer(
    'counters that are not reported are unknown, not 0',
    { usage: { input: 10, output: 5 } },
    ({ usage }) => assert.deepEqual(usage, usageOf({ input: 10, output: 5 })),
  ),
  {
    name: 'usage that says nothing is unknown',
    turns: NO_USAGE,
    async check(scene) {
      for (const _ of NO_USAGE) assert.equal((await ask(scene)).usage ?? null, null);
    },
  },
  answer(
    'the output limit cut it',
    { content: 'Once upon', toolCalls: CALLS.slice(0, 1), stop: 'length' },
    (reply) => {
      assert.equal(reply.stop, 'length');
      assert.equal(reply.content, 'Once upon');
    },
  ),
  answer('a refusal', { content: 'I will not.', stop: 'refused' }, (reply) => {
    assert.equal(reply.stop, 'refused');
    assert.equal(reply.content, 'I will not.');
  }),
  answer(
    'calls count, whatever the stop reason says',
    { toolCalls: CALLS, quirks: ['finish-stop'] },
    (reply) => {
      assertCalls(reply, CALLS);
      assert.equal(reply.stop ?? 'end', 'end');
    },
  ),
  // Servers that label calls in their own way: the calls come through all the same.
  ...[...STREAM_QUIRKS, ...CALL_QUIRKS].map((quirk) =>
    answer(
      `calls of a server with the quirk ${quirk}`,
      { toolCalls: ALIKE, quirks: [quirk] },
      (reply) => assertCalls(reply, ALIKE),
      (options) => isOpenAI(options) && (isStream(options) || CALL_QUIRKS.includes(quirk)),
    ),
  ),
  ...TEXT_QUIRKS.map((quirk) =>
    answer(
      `text of a server with the quirk ${quirk}`,
      { content: 'hello there', quirks: [quirk] },
      (reply) => {
        assert.equal(reply.content, 'hello there');
        assertCalls(reply, []);
      },
      isOpenAI,
    ),
  ),
];

/** A case of one turn. */
function answer(
  name: string,
  turn: StubTurn,
  check: (reply: ModelReply, deltas: readonly Delta[], scene: Scene) => void,
  when?: Case['when'],
): Case {
  return {
    name,
    when,
    turns: [turn],
    async check(scene) {
      const deltas: Delta[] = [];
      const reply = await ask(scene, { onDelta: (delta) => deltas.push(delta) });
      check(reply, deltas, scene);
    },
  };
}

function textOf(deltas: readonly Delta[], kind: Delta['kind']): string {
  return deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
}

/** Names and arguments, by their meaning. */
function assertCalls(reply: ModelReply, expected: readonly StubCall[]): void {
  assert.deepEqual(
    (reply.toolCalls ?? []).map((call) => [call.name, meaning(call.arguments)]),
    expected.map((call) => [call.name, meaning(argumentsText(call))]),
  );
}

function meaning(written: unknown): string {
  if (typeof written !== 'string') return canonicalJson(written);
  const parsed = parseJson(written);
  return parsed.ok ? canonicalJson(parsed.value) : written;
}
