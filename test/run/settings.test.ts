/**
 * What a run is told, checked before anything happens, in words that say what would be right.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { tool } from '../../src/run/define-tool.ts';
import { run } from '../../src/run/run.ts';
import { prepare } from '../../src/run/settings.ts';
import { call, calls, DONE, drive, echo, model, toolOf } from './support.ts';

const GOOD = { task: 'x', model: model([DONE]) };

/** Callers in JavaScript give anything. */
function prepared(options: unknown): () => unknown {
  return () => prepare(options as never);
}

describe('options', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'run takes one object, as { task, model }'],
    ['null', null, 'run takes one object'],
    ['a text', 'do it', 'run takes one object'],
    ['no model', { task: 'x' }, 'model must be a function from request to reply, or an adapter'],
    ['a model that is a name', { task: 'x', model: 'gpt-5' }, 'model must be a function'],
    ['no task', { model: GOOD.model }, 'task must be a text, and not empty'],
    ['an empty task', { ...GOOD, task: '' }, 'task must be a text, and not empty'],
    [
      'half a character',
      { ...GOOD, task: '\ud800' },
      "task holds a lone surrogate, half a character, which can't be recorded",
    ],
    ['an empty sentinel', { ...GOOD, sentinel: '' }, 'sentinel must be a text, and not empty'],
    ['a system of another kind', { ...GOOD, system: ['x'] }, 'system must be a text'],
    ['a run id of another kind', { ...GOOD, runId: 5 }, 'runId must be a text'],
    [
      'a model id of another kind',
      { ...GOOD, model: Object.assign(() => DONE, { id: 5 }) },
      'model.id must be a text',
    ],
    [
      'an unknown option',
      { ...GOOD, maxSteps: 5 },
      "unknown option 'maxSteps'; the options are task, model, tools, budget",
    ],
    [
      'somebody to ask, and nothing that says when',
      { ...GOOD, ask: () => ({ allow: false }) },
      "ask needs permit, which says when: permit: () => ({ decision: 'ask' })",
    ],
    ['an inherited name', { ...GOOD, toString: 1 }, "unknown option 'toString'"],
    [
      'no output',
      { ...GOOD, maxOutputTokens: 0 },
      'maxOutputTokens must be a whole number of at least 1, got 0',
    ],
    ['half an output', { ...GOOD, maxOutputTokens: 1.5 }, 'maxOutputTokens must be'],
    ['tools in an object', { ...GOOD, tools: { echo } }, 'tools must be an array of tools'],
    ['a tool twice', { ...GOOD, tools: [echo, echo] }, "two tools are named 'echo'"],
    ['a check that is none', { ...GOOD, check: true }, 'check must be a function'],
    [
      'a permit that is none',
      { ...GOOD, permit: { decision: 'allow' } },
      'permit must be a function',
    ],
    ['an ask that is none', { ...GOOD, ask: 'me' }, 'ask must be a function'],
    [
      'an AbortController',
      { ...GOOD, signal: new AbortController() },
      'signal must be an AbortSignal',
    ],
    ['repeats that is a word', { ...GOOD, repeats: 'no' }, 'repeats must be true or false'],
    [
      'a clock that is a function',
      { ...GOOD, clock: Date.now },
      'clock must be a clock: { now, timer }',
    ],
    [
      'a listener that is none',
      { ...GOOD, on: 5 },
      'on must be a function, or an object of functions by event type',
    ],
    [
      'a transcript of another kind',
      { ...GOOD, transcript: 5 },
      'transcript must be a path, a URL or a store',
    ],
    [
      'a price of another kind',
      { ...GOOD, model: Object.assign(() => DONE, { price: { input: 1 } }) },
      'a price needs input and output',
    ],
    [
      'an unknown watchdog',
      { ...GOOD, watchdog: { idle: 5 } },
      "unknown watchdog setting 'idle'; they are firstOutput, betweenOutputs, stallAfter, onStall",
    ],
    [
      'silence of zero',
      { ...GOOD, watchdog: { firstOutput: 0 } },
      'watchdog.firstOutput must be a number above 0',
    ],
    [
      'silence as text',
      { ...GOOD, watchdog: { betweenOutputs: '5' } },
      'watchdog.betweenOutputs must be a number above 0',
    ],
    [
      'silence that is NaN',
      { ...GOOD, watchdog: { firstOutput: Number.NaN } },
      'watchdog.firstOutput must be',
    ],
    [
      'half a repeat',
      { ...GOOD, watchdog: { stallAfter: 2.5 } },
      'watchdog.stallAfter must be a whole number above 0',
    ],
    [
      'endless repeats',
      { ...GOOD, watchdog: { stallAfter: Infinity } },
      'watchdog.stallAfter must be a whole number above 0',
    ],
    [
      'another stall',
      { ...GOOD, watchdog: { onStall: 'kill' } },
      "watchdog.onStall must be 'warn' or 'stop'",
    ],
  ])('%s', async (_, options, message) => {
    expect(prepared(options)).toThrow(message);
    await expect(run(options as never)).rejects.toThrow(message);
  });

  test('silence may be without limit', () => {
    expect(prepared({ ...GOOD, watchdog: { firstOutput: Infinity } })).not.toThrow();
  });

  test('undefined is what was not given', () => {
    const nothing = Object.fromEntries(
      ['budget', 'tools', 'transcript', 'check', 'signal', 'clock', 'on', 'repeats'].map((name) => [
        name,
        undefined,
      ]),
    );
    expect(prepared({ ...GOOD, ...nothing })).not.toThrow();
  });
});

describe('tools', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'a tool must be an object, as tool({ name, … }) makes it'],
    ['a function', () => 1, 'a tool must be an object'],
    [
      'no name',
      { ...echo, name: undefined },
      "a tool's name must be 1 to 64 of A–Z a–z 0–9 _ -, got undefined",
    ],
    ['an empty name', { ...echo, name: '' }, 'got ""'],
    ['a name with a dot', { ...echo, name: 'fs.read' }, 'got "fs.read"'],
    ['a name with a line', { ...echo, name: 'a\n' }, 'got "a\\n"'],
    ['a long name', { ...echo, name: 'x'.repeat(65) }, "a tool's name must be"],
    [
      'no description',
      { ...echo, description: undefined },
      "tool 'echo': description must be a text",
    ],
    [
      'half a character',
      { ...echo, description: '\ud800' },
      "tool 'echo': description must be a text",
    ],
    ['nothing to do', { ...echo, execute: 'x' }, "tool 'echo': execute must be a function"],
    ['no time', { ...echo, timeout: 0 }, "tool 'echo': timeout must be a finite number above 0"],
    [
      'endless time',
      { ...echo, timeout: Infinity },
      "tool 'echo': timeout must be a finite number above 0",
    ],
    [
      'time as text',
      { ...echo, timeout: '5' },
      "tool 'echo': timeout must be a finite number above 0",
    ],
    [
      'results without end',
      { ...echo, maxResultBytes: Infinity },
      "tool 'echo': maxResultBytes must be a finite",
    ],
    [
      'another comparison',
      { ...echo, repeatedWhen: 'result' },
      "tool 'echo': repeatedWhen can only be 'arguments'",
    ],
    [
      'no input',
      { ...echo, input: undefined },
      "tool 'echo': input must be a JSON Schema or a Standard Schema",
    ],
  ])('%s', (_, given, message) => {
    expect(prepared({ ...GOOD, tools: [given] })).toThrow(message);
    expect(() => tool(given as never)).toThrow(message);
  });

  test('a name of 64 characters is one', () => {
    expect(
      prepared({ ...GOOD, tools: [{ ...echo, name: 'aZ0_-'.padEnd(64, 'x') }] }),
    ).not.toThrow();
  });

  test('tool() gives a frozen tool, which a run takes', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      input: { type: 'object', properties: { a: { type: 'number' } } },
      execute: ({ a }) => Number(a) + 1,
    });
    expect(Object.isFrozen(add)).toBe(true);
    const { results } = await drive({
      model: model([calls(call('add', { a: 1 })), DONE]),
      tools: [add],
    });
    expect(results[0]?.['value']).toBe(2);
  });

  test('a model that changes what it is shown changes nothing for others', async () => {
    const input = { type: 'object', properties: { a: { type: 'string' } } };
    const seen: string[] = [];
    for (let i = 0; i < 2; i += 1) {
      await drive({
        model: ({ tools }) => {
          seen.push(JSON.stringify(tools));
          Reflect.deleteProperty(Object(tools[0]?.inputSchema), 'properties');
          Reflect.set(Object(tools[0]?.inputSchema['properties']), 'a', {});
          return DONE as { content: string };
        },
        tools: [toolOf('t', () => 1, { input })],
      });
    }
    expect(seen[1]).toBe(seen[0]);
    expect(input).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
  });
});
