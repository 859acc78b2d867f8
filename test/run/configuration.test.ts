/**
 * The first record read back: what the loop writes, and nothing that it would have refused to begin with.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { configurationPayload, manifestHash } from '../../src/run/configuration.ts';
import { headPayload, readHead } from '../../src/run/payloads.ts';
import { type JsonObject, type JsonValue } from '../../src/transcript/index.ts';

const MANIFEST = [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' } }];
const RUN: JsonObject = {
  format: 'hashtape/1',
  model: 'openai:gpt-5-mini',
  tools: manifestHash(MANIFEST),
  manifest: MANIFEST,
  budget: { steps: 3, tokens: 100, usd: 1, seconds: 0.5, tool_calls: 2 },
  id: 'r1',
  system: 'Brief.',
  sentinel: 'DONE',
  max_output_tokens: 10,
  price: { input: 1, output: 2, cache_read: 0.5 },
  stop_after_repeats: 5,
};

test('what is read back is written the same', () => {
  const { task, configuration } = readHead({ content: 'do it', run: RUN });
  expect(task).toBe('do it');
  if (configuration === null) throw new Error('there is one');
  expect(configurationPayload(configuration)).toEqual(RUN);
  expect(headPayload(task, configuration)).toEqual({ content: 'do it', run: RUN });
});

test("another program's head has no configuration, whatever its task", () => {
  expect(readHead({ task: 'do it' })).toEqual({ task: '', configuration: null });
});

describe('refuses', () => {
  test.each<[string, JsonValue]>([
    ['format', 'hashtape/2'],
    ['model', ''],
    ['model', 7],
    ['tools', null],
    ['tools', '0'.repeat(64)],
    ['manifest', {}],
    ['manifest', [1]],
    ['budget', { steps: -1 }],
    ['budget', { nonsense: 1 }],
    ['budget', []],
    ['id', ''],
    ['system', ''],
    ['system', 7],
    ['sentinel', ''],
    ['max_output_tokens', 0],
    ['stop_after_repeats', 1.5],
    ['price', { input: 1 }],
    ['price', { input: 1, output: 'x' }],
  ])('run.%s: %j', (name, value) => {
    const run = { ...RUN, [name]: value };
    expect(() => readHead({ content: 'do it', run })).toThrow(/./);
  });

  test('a usd budget without a price', () => {
    const { price: _price, ...run } = RUN;
    expect(() => readHead({ content: 'do it', run })).toThrow('usd budget, and no price');
  });

  test.each([[''], [7], [undefined]])('the task %j', (content) => {
    const payload = content === undefined ? { run: RUN } : { content, run: RUN };
    expect(() => readHead(payload)).toThrow("kind 'user'");
  });

  test('a configuration that is none', () => {
    for (const run of [null, [], 'x']) expect(() => readHead({ content: 'do it', run })).toThrow();
  });
});
