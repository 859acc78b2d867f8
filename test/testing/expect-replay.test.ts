/**
 * Golden transcripts: what changes in an agent is named, and nothing else is.
 *
 * @module
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/run/run.ts';
import { type AnyTool } from '../../src/run/tool.ts';
import { expectReplay, type GoldenJob } from '../../src/testing/expect-replay.ts';
import { DONE, model } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';

const examples = new URL('../../examples/', import.meta.url);
const golden = new URL('golden.jsonl', examples);
const { job }: { job: GoldenJob & { tools: readonly [AnyTool] } } = await import(
  new URL('golden-job.mjs', examples).href
);
const [priceOf] = job.tools;
const newPath = scratch();

/** What a golden test says; empty if it passes. */
async function problems(
  given: GoldenJob | undefined,
  transcript: string | URL = golden,
): Promise<string[]> {
  try {
    await expectReplay(transcript, given);
    return [];
  } catch (error) {
    const { message, name } = error as Error;
    expect(name).toBe('AssertionError');
    const [first, ...rest] = message.split('\n');
    expect(first).toBe(`${String(transcript)} does not replay:`);
    return rest;
  }
}

describe('expectReplay', () => {
  test('passes with the job that was recorded, and with no job', async () => {
    expect(await problems(job)).toEqual([]);
    expect(await problems(undefined)).toEqual([]);
    // The task may be another test's affair; functions are in no record.
    const { task: _task, ...rest } = job;
    const functions = { model: () => ({ content: '' }), check: () => ({ ok: true }) };
    expect(await problems({ ...rest, ...functions })).toEqual([]);
  });

  test.each([
    ['system', '- system was "You sell drinks. Look prices up; never guess one." and is not there'],
    ['tools', '- tools.price_of was there and is not there now'],
    ['budget', '- budget.steps was 5 and is 50'],
  ])('names %s where it is left out', async (name, expected) => {
    expect((await problems({ ...job, [name]: undefined }))[0]).toBe(expected);
  });

  test.each<[string, GoldenJob, string[]]>([
    [
      'the prompt',
      { ...job, system: 'You sell tea.' },
      ['- system was "You sell drinks. Look prices up; never guess one." and is "You sell tea."'],
    ],
    [
      'the task',
      { ...job, task: 'What does tea cost?' },
      ['- task was "What do tea and gold cost?" and is "What does tea cost?"'],
    ],
    ['a budget', { ...job, budget: { steps: 6 } }, ['- budget.steps was 5 and is 6']],
    [
      'a description',
      { ...job, tools: [{ ...priceOf, description: 'Price.' }] },
      ['- tools.price_of.description was "The price of an item, in euros." and is "Price."'],
    ],
    [
      'a schema, which recorded arguments no longer fit',
      { ...job, tools: [{ ...priceOf, input: { type: 'object', required: ['id'] } }] },
      [
        '- tools.price_of.input_schema.properties was {"item":{"type":"string"}} and is not there',
        '- tools.price_of.input_schema.required was ["item"] and is ["id"]',
        '- record 2: price_of({"item":"tea"}) answered {"euros":3}, and now invalid arguments: $.price_of.id: required, but missing',
        '- record 4: price_of({"item":"gold"}) answered tool \'price_of\' raised Error: gold is not for sale, and now invalid arguments: $.price_of.id: required, but missing',
      ],
    ],
    [
      'an answer',
      { ...job, tools: [{ ...priceOf, execute: () => ({ euros: 4 }) }] },
      [
        '- record 2: price_of({"item":"tea"}) answered {"euros":3}, and now {"euros":4}',
        '- record 4: price_of({"item":"gold"}) answered tool \'price_of\' raised Error: gold is not for sale, and now {"euros":4}',
      ],
    ],
    [
      'a tool that is gone',
      { ...job, tools: [] },
      [
        '- tools.price_of was there and is not there now',
        expect.stringContaining("and now no tool named 'price_of' (have: none)"),
        expect.stringContaining("and now no tool named 'price_of' (have: none)"),
      ],
    ],
  ])('names %s', async (_name, given, expected) => {
    expect(await problems(given)).toEqual(expected);
  });

  test('says that a transcript was edited, or has no end', async () => {
    const path = newPath();
    const text = readFileSync(golden, 'utf8');
    writeFileSync(path, text.replace('"euros":3', '"euros":5'));
    expect(await problems(undefined, path)).toEqual([
      expect.stringMatching(/^- record 2: hash_mismatch: hash is /),
    ]);
    copyFileSync(golden, path);
    writeFileSync(path, text.split('\n').slice(0, -2).join('\n') + '\n');
    expect(await problems(undefined, path)).toEqual(['- the run in it has not ended']);
  });

  test('says that values are withheld', async () => {
    const path = newPath();
    await run({ task: 'go', model: model([DONE]), transcript: path, redact: ['answer'] });
    expect(await problems(undefined, path)).toEqual([]);
    rmSync(`${path}.open`);
    expect(await problems(undefined, path)).toEqual([
      '- record 1: values are withheld, so it and what follows were not compared',
    ]);
  });

  test('a file that is not there', async () => {
    expect(await problems(job, '/nowhere/golden.jsonl')).toEqual([
      expect.stringMatching(/^- it can't be read: ENOENT/),
    ]);
  });
});
