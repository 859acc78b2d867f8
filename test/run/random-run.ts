/**
 * Random runs: scripts of turns that do everything a model may do, and tools that fail in every way.
 *
 * @module
 */
import * as fc from 'fast-check';
import { type ReplyCall } from '../../src/run/model.ts';
import { type AnyTool } from '../../src/run/tool.ts';
import { usageOf } from '../../src/run/usage.ts';
import { call, toolOf, type Step } from './support.ts';

const counter = fc.option(fc.nat(60), { nil: null });

const usage = fc.option(
  fc
    .record({
      input: counter,
      cacheRead: counter,
      cacheWrite: counter,
      output: counter,
      reasoning: counter,
    })
    .map(usageOf),
  { nil: null },
);

const args = fc.oneof(
  fc.constantFrom('', '{}', '{"a":1}', '{"a": 1.0}', '{"a":1,"a":2}', '{"a":', '[1]', 'null'),
  fc.constantFrom('{"a":12345678901234567890}', '{"__proto__":1}', '{"a":"\\ud800"}'),
  fc
    .dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((value) => JSON.stringify(value)),
);

const someCall: fc.Arbitrary<ReplyCall> = fc
  .record({
    name: fc.constantFrom(
      'same',
      'args',
      'echo',
      'throws',
      'odd',
      'big',
      'later',
      'serial',
      'nope',
      'Ünknown',
    ),
    args,
    id: fc.constantFrom(undefined, null, '', 'x', 'y', 'call_2_0', 7),
  })
  .map((made) => call(made.name, made.args, made.id));

/** One turn. */
export const someTurn: fc.Arbitrary<Step> = fc.record({
  content: fc.oneof(
    fc.constantFrom('', 'thinking', 'DONE 😀', '\u2028'),
    fc.string({ unit: 'binary' }),
  ),
  toolCalls: fc.array(someCall, { minLength: 0, maxLength: 4 }),
  usage,
  stop: fc.oneof(
    { weight: 12, arbitrary: fc.constant('end' as const) },
    { weight: 1, arbitrary: fc.constantFrom('length' as const, 'refused' as const) },
  ),
  failedAttempts: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.oneof(fc.record({ error: fc.string(), usage }), fc.record({ error: fc.string() })),
        { maxLength: 2 },
      ),
    },
  ),
});

/** A script, at whose end the model throws. */
export const someScript: fc.Arbitrary<Step[]> = fc.array(someTurn, { maxLength: 6 });

/** Tools that answer the same to the same, so that a run is a function of its script. */
export const TOOLS: readonly AnyTool[] = [
  toolOf('same', () => ['always', 1.5, null]),
  toolOf('args', () => 'x', { repeatedWhen: 'arguments' }),
  toolOf('echo', (given) => given),
  toolOf('throws', () => {
    throw new TypeError('at /srv/x/y.js:3:1');
  }),
  toolOf('odd', () => ({ when: new Date(0) })),
  toolOf('big', () => 'x'.repeat(300), { maxResultBytes: 100 }),
  toolOf('later', async (given) => {
    await Promise.resolve();
    return given;
  }),
  toolOf('serial', () => undefined, { parallel: false }),
];

export const SOME_BUDGET = fc.record(
  {
    steps: fc.nat(6),
    toolCalls: fc.nat(10),
    tokens: fc.nat(2000),
    usd: fc.nat(2000).map((n) => n / 1e6),
    seconds: fc.constant(60),
  },
  { requiredKeys: [] },
);
