/**
 * A stream may cut a character in two: the record has it whole, and half a one becomes U+FFFD.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { AnthropicCollector } from '../../src/models/anthropic-reply.ts';
import { OpenAICollector } from '../../src/models/openai-reply.ts';
import { canonicalJson, type JsonObject } from '../../src/transcript/index.ts';

const HALVES = ['a\ud83d', '\ude00b', '\ud83d'];
const WHOLE = 'a\u{1F600}b\ufffd';

test('openai: text and reasoning', () => {
  const collector = new OpenAICollector(() => undefined);
  for (const half of HALVES) {
    const delta = { content: half, reasoning_content: half };
    collector.event({ choices: [{ index: 0, delta }] });
  }
  collector.event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const reply = collector.reply();
  expect(reply.content).toBe(WHOLE);
  expect(reply.provider).toEqual({ reasoning_content: WHOLE });
});

test('anthropic: text and thinking', () => {
  const collector = new AnthropicCollector(() => undefined);
  const block = (index: number, type: string, name: string): void => {
    const empty: JsonObject = { type, [name]: '' };
    collector.event({ type: 'content_block_start', index, content_block: empty });
    for (const half of HALVES) {
      const delta = { type: `${name}_delta`, [name]: half };
      collector.event({ type: 'content_block_delta', index, delta });
    }
  };
  collector.event({ type: 'message_start', message: {} });
  block(0, 'thinking', 'thinking');
  block(1, 'text', 'text');
  collector.event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } });
  const reply = collector.reply();
  expect(reply.content).toBe(WHOLE);
  expect(reply.blocks).toMatchObject([{ thinking: WHOLE }, { text: WHOLE }]);
  expect(() => canonicalJson(reply.blocks)).not.toThrow();
});
