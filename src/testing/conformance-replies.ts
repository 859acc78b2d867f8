/**
 * Conformance: what a model makes of good answers.
 *
 * @module
 */
import assert from 'node:assert/strict';
import { type ModelReply } from '../run/model.ts';
import { canonicalJson, parseJson } from '../transcript/index.ts';
import {
  ask,
  askWithDeltas,
  deltaText,
  type Case,
  type ConformanceOptions,
} from './conformance-case.ts';
import { argumentsText, type StubCall, type StubQuirk } from './provider-script.ts';

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

/** Usage that says nothing: absent, null, or no counts. */
const NO_USAGE: readonly unknown[] = [
  null,
  {},
  'unknown',
  { prompt_tokens: '12', input_tokens: '12' },
  { prompt_tokens: -5, completion_tokens: null, input_tokens: -5, output_tokens: null },
  { prompt_tokens: 1e21, completion_tokens: 0.5, input_tokens: 1e21, output_tokens: 0.5 },
];

const isStream = ({ stream }: ConformanceOptions): boolean => stream;
const sendsText = ({ api, stream }: ConformanceOptions): boolean => api === 'openai' || stream;

/** The cases. */
export const REPLY_CASES: readonly Case[] = [
  {
    name: 'a text answer',
    turns: [{ content: ODD_TEXT }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.content, ODD_TEXT);
      assert.deepEqual(reply.toolCalls ?? [], []);
      assert.equal(reply.stop ?? 'end', 'end');
      assert.equal(reply.failedAttempts, undefined);
    },
  },
  {
    name: 'an answer that is empty',
    turns: [{ content: '' }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.content, '');
      assert.deepEqual(reply.toolCalls ?? [], []);
    },
  },
  {
    name: 'one call, beside text',
    turns: [{ content: 'I add.', toolCalls: CALLS.slice(0, 1) }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.content, 'I add.');
      assertCalls(reply, CALLS.slice(0, 1));
      assert.equal(reply.toolCalls?.[0]?.id, 'call_a');
    },
  },
  {
    name: 'two calls in one turn, in order',
    turns: [{ toolCalls: CALLS }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.content, '');
      assertCalls(reply, CALLS);
      assert.deepEqual(
        reply.toolCalls?.map((call) => call.id),
        ['call_a', 'call_b'],
      );
    },
  },
  {
    name: 'arguments text is kept byte for byte',
    when: sendsText,
    turns: WRITTEN.map((written) => ({ toolCalls: [{ name: 'add', arguments: written }] })),
    async run(scene) {
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
    async run(scene) {
      for (const written of PARSED) {
        assertCalls(await ask(scene), [{ name: 'add', arguments: written }]);
      }
    },
  },
  {
    name: 'output is handed on as it comes, and adds up to the reply',
    turns: [{ reasoning: 'Let me think.', content: ODD_TEXT, toolCalls: CALLS }],
    async run(scene) {
      const { reply, deltas } = await askWithDeltas(scene);
      assert.equal(reply.content, ODD_TEXT);
      assert.equal(deltaText(deltas, 'text'), ODD_TEXT);
      assert.equal(deltaText(deltas, 'reasoning'), 'Let me think.');
      assert.ok(deltas.every((delta) => delta.text !== ''));
      if (!scene.stream) return;
      assert.equal(deltaText(deltas, 'arguments'), CALLS.map(argumentsText).join(''));
      assert.ok(deltas.length > 3);
    },
  },
  {
    name: 'reasoning is not content',
    turns: [{ reasoning: 'Secretly.', content: 'Openly.' }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.content, 'Openly.');
    },
  },
  {
    name: 'heartbeats are no output',
    when: isStream,
    turns: [{ content: 'hello', quirks: ['heartbeats'] }],
    async run(scene) {
      const { reply, deltas } = await askWithDeltas(scene);
      assert.equal(reply.content, 'hello');
      assert.equal(deltas.map((delta) => delta.text).join(''), 'hello');
    },
  },
  {
    name: 'usage as five disjoint counters',
    turns: [{ usage: { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 7 } }],
    async run(scene) {
      const { usage } = await ask(scene);
      const expected = { input: 10, cacheRead: 100, cacheWrite: 20, output: 5, reasoning: 7 };
      assert.deepEqual(usage, expected);
    },
  },
  {
    name: 'counters that are not reported are unknown, not 0',
    turns: [{ usage: { input: 10, output: 5 } }],
    async run(scene) {
      const { usage } = await ask(scene);
      const expected = { input: 10, cacheRead: null, cacheWrite: null, output: 5, reasoning: null };
      assert.deepEqual(usage, expected);
    },
  },
  {
    name: 'usage that says nothing is unknown',
    turns: [{ quirks: ['no-usage'] }, ...NO_USAGE.map((rawUsage) => ({ rawUsage }))],
    async run(scene) {
      for (let i = 0; i <= NO_USAGE.length; i += 1) {
        const { usage } = await ask(scene);
        assert.equal(usage ?? null, null);
      }
    },
  },
  {
    name: 'the output limit cut it',
    turns: [{ content: 'Once upon', toolCalls: CALLS.slice(0, 1), stop: 'length' }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.stop, 'length');
      assert.equal(reply.content, 'Once upon');
    },
  },
  {
    name: 'a refusal',
    turns: [{ content: 'I will not.', stop: 'refused' }],
    async run(scene) {
      const reply = await ask(scene);
      assert.equal(reply.stop, 'refused');
      assert.equal(reply.content, 'I will not.');
    },
  },
  {
    name: 'calls count, whatever the stop reason says',
    turns: [{ toolCalls: CALLS, quirks: ['finish-stop'] }],
    async run(scene) {
      const reply = await ask(scene);
      assertCalls(reply, CALLS);
      assert.equal(reply.stop ?? 'end', 'end');
    },
  },
  ...quirkCases(),
];

/** Servers that label calls in their own way: the calls come through all the same. */
function quirkCases(): readonly Case[] {
  const streamed: readonly StubQuirk[] = [
    'late-id',
    'empty-id',
    'no-index',
    'same-index',
    'no-finish',
    'no-done',
  ];
  const always: readonly StubQuirk[] = ['no-id', 'numeric-id', 'arguments-object'];
  const objects: readonly StubCall[] = [
    { name: 'add', arguments: { a: 1, b: 2 } },
    { name: 'add', arguments: { a: 1, b: 3 } },
    { name: 'echo', arguments: {} },
  ];
  const calls = [...streamed, ...always].map((quirk) => ({
    name: `calls of a server with the quirk ${quirk}`,
    when: ({ api, stream }: ConformanceOptions) =>
      api === 'openai' && (stream || always.includes(quirk)),
    turns: [{ toolCalls: objects, quirks: [quirk] }],
    run: async (scene: Parameters<Case['run']>[0]) => {
      assertCalls(await ask(scene), objects);
    },
  }));
  const texts = (['null-tool-calls', 'content-parts'] as const).map((quirk) => ({
    name: `text of a server with the quirk ${quirk}`,
    when: ({ api }: ConformanceOptions) => api === 'openai',
    turns: [{ content: 'hello there', quirks: [quirk] }],
    run: async (scene: Parameters<Case['run']>[0]) => {
      const reply = await ask(scene);
      assert.equal(reply.content, 'hello there');
      assert.deepEqual(reply.toolCalls ?? [], []);
    },
  }));
  return [...calls, ...texts];
}

/** Names and arguments, by their meaning. */
function assertCalls(reply: ModelReply, expected: readonly StubCall[]): void {
  const got = (reply.toolCalls ?? []).map((call) => [call.name, meaning(call.arguments)]);
  assert.deepEqual(
    got,
    expected.map((call) => [call.name, meaning(argumentsText(call))]),
  );
}

function meaning(written: unknown): string {
  if (typeof written !== 'string') return canonicalJson(written);
  const parsed = parseJson(written);
  return parsed.ok ? canonicalJson(parsed.value) : written;
}
