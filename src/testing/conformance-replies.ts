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

/** Answers whose reply is what they say, no more and no less. */
const PLAIN: readonly (readonly [name: string, turn: StubTurn, when?: Case['when']])[] = [
  ['a text answer', { content: ODD_TEXT }],
  ['an answer that is empty', { content: '' }],
  ['a call, beside text', { content: 'I add.', toolCalls: CALLS.slice(0, 1) }],
  ['two calls in one turn, in order', { toolCalls: CALLS }],
  ['reasoning is not content', { reasoning: 'Secretly.', content: 'Openly.' }],
  ['the output limit cut it', { content: 'Once', toolCalls: CALLS.slice(0, 1), stop: 'length' }],
  ['a refusal', { content: 'I will not.', stop: 'refused' }],
  ['calls count, whatever the stop reason says', { toolCalls: CALLS, quirks: ['finish-stop'] }],
  // Servers that label calls in their own way: the calls come through all the same.
  ...quirky(['late-id', 'empty-id', 'no-index', 'same-index'], { toolCalls: ALIKE }, isStream),
  ...quirky(['no-finish', 'no-done'], { toolCalls: ALIKE }, isStream),
  ...quirky(['no-id', 'numeric-id', 'arguments-object'], { toolCalls: ALIKE }),
  ...quirky(['null-tool-calls', 'content-parts'], { content: 'hello there' }),
];

/** The cases. */
export const REPLY_CASES: readonly Case[] = [
  ...PLAIN.map(([name, turn, when]) =>
    answer(name, turn, (reply) => assertSays(reply, turn), when),
  ),
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
  ...PARSED.map((written) => {
    const turn = { toolCalls: [{ name: 'add', arguments: written }] };
    const name = `arguments that come as an object keep their meaning: ${written}`;
    return answer(name, turn, (reply) => assertSays(reply, turn));
  }),
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

/** An answer in the ways of OpenAI-compatible servers. */
function quirky(
  quirks: readonly StubQuirk[],
  turn: StubTurn,
  when: Case['when'] = () => true,
): typeof PLAIN {
  return quirks.map((quirk) => [
    `an answer of a server with the quirk ${quirk}`,
    { ...turn, quirks: [quirk] },
    (options) => isOpenAI(options) && when(options),
  ]);
}

function textOf(deltas: readonly Delta[], kind: Delta['kind']): string {
  return deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
}

/** Asserts that a reply says what was answered; arguments by their meaning. */
function assertSays(reply: ModelReply, turn: StubTurn): void {
  const calls = turn.toolCalls ?? [];
  assert.equal(reply.content, turn.content ?? '');
  assert.deepEqual(
    (reply.toolCalls ?? []).map((call) => [call.name, meaning(call.arguments)]),
    calls.map((call) => [call.name, meaning(argumentsText(call))]),
  );
  for (const [i, { id }] of calls.entries()) {
    if (id !== undefined) assert.equal(reply.toolCalls?.[i]?.id, id);
  }
  assert.equal(reply.stop ?? 'end', turn.stop ?? 'end');
  assert.equal(reply.failedAttempts, undefined);
}

function meaning(written: unknown): string {
  if (typeof written !== 'string') return canonicalJson(written);
  const parsed = parseJson(written);
  return parsed.ok ? canonicalJson(parsed.value) : written;
}
