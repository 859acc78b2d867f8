/**
 * Resume after any beginning of a run's bytes: it ends in a transcript that verifies and is sealed, every call
 * has its answer, nothing that was recorded is lost, and a replay gives the same bytes.
 *
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type Clock } from '../../src/run/clock.ts';
import { run } from '../../src/run/run.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { type AnyTool } from '../../src/run/tool.ts';
import { nodeFileSystem } from '../../src/store/filesystem.ts';
import { memoryStore } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { SOME_BUDGET, someScript, TOOLS } from '../run/random-run.ts';
import { call, calls, DONE, recordsOf, textOf, type Step } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';
import { byTurns, expectWhole } from './support.ts';

const newPath = scratch();

// The crash is in the bytes: nothing here depends on when they reach the disk, which takes most of the time.
beforeAll(() => {
  const open = nodeFileSystem.open.bind(nodeFileSystem);
  nodeFileSystem.syncDirectory = noSync;
  nodeFileSystem.open = async (...how) => Object.assign(await open(...how), { datasync: noSync });
});

async function noSync(): Promise<void> {}

const PRICE = { input: 2, output: 10, cacheRead: 0.5 };

/** What a run is made of, but for what every process has of its own. */
interface Made {
  readonly script: readonly Step[];
  readonly tools: readonly AnyTool[];
  readonly budget: RunOptions['budget'];
  readonly timed: boolean;
  readonly repeats: boolean;
  readonly watched: boolean;
  readonly system: string | undefined;
}

/** A process's options. Its model goes by the conversation alone, as that is all it shares with the others. */
function optionsFor({ script, tools, budget, timed, repeats, watched, system }: Made): RunOptions {
  return {
    task: 'do it',
    model: byTurns(script, { price: PRICE }),
    tools,
    budget,
    repeats,
    system,
    sentinel: 'DONE',
    ...(watched ? { watchdog: { stallAfter: 2, onStall: 'stop' } } : {}),
    ...(timed ? { clock: passing() } : {}),
  };
}

/** A clock on which half a second passes whenever somebody looks. */
function passing(): Clock {
  let time = 1_700_000_000_000;
  return { ...fakeClock(), now: () => (time += 500) };
}

/** What a run that nothing cuts off comes to. */
interface Uncut {
  readonly bytes: Buffer;
  readonly final: unknown;
}

async function uncut(made: Made): Promise<Uncut> {
  const store = memoryStore();
  await run({ ...optionsFor(made), transcript: store });
  const final = (await recordsOf(store)).at(-1)?.payload;
  return { bytes: Buffer.from(await textOf(store)), final };
}

/** Goes on after a crash that left so many bytes. */
async function resumeAfter(made: Made, { bytes, final }: Uncut, length: number): Promise<void> {
  const path = newPath();
  const left = bytes.subarray(0, length);
  writeFileSync(path, left);
  const outcome = await run({ ...optionsFor(made), transcript: path, resume: true });
  const whole = await expectWhole(path);
  expect(outcome.transcript).toMatchObject({ count: whole.records.length, sealed: true });
  // Where no answer and no time differs, nothing does.
  if (!made.timed && (outcome.resumed?.interrupted ?? []).length === 0)
    expect(whole.final).toEqual(final);
  const complete = left.subarray(0, left.lastIndexOf(0x0a) + 1);
  expect(readFileSync(path).subarray(0, complete.length).equals(complete)).toBe(true);
  expectSetAside(path, left.subarray(complete.length));
  const isTorn = complete.length < length;
  expect(whole.records.some(({ kind }) => kind === 'recovered')).toBe(isTorn);
}

/** Goes on after each record but the last: a crash between two writes. */
async function resumeAfterRecords(made: Made, whole: Uncut): Promise<void> {
  for (const [at, byte] of whole.bytes.subarray(0, -1).entries())
    if (byte === 0x0a) await resumeAfter(made, whole, at + 1);
}

/** Expects the bytes of an unfinished line beside the transcript, and nothing else there. */
function expectSetAside(path: string, bytes: Buffer): void {
  const beside = readdirSync(dirname(path)).filter((name) => name !== 'run.jsonl');
  expect(beside).toEqual(bytes.length > 0 ? ['run.jsonl.torn-1'] : []);
  if (bytes.length > 0) expect(readFileSync(`${path}.torn-1`).equals(bytes)).toBe(true);
}

/** A run with no more tools than it calls: its first record is short. */
function small(names: readonly string[], script: readonly Step[], more: Partial<Made> = {}): Made {
  const tools = TOOLS.filter(({ name }) => names.includes(name));
  const plain = { budget: {}, timed: false, repeats: true, watched: false, system: undefined };
  return { ...plain, script, tools, ...more };
}

const SMALL: readonly [string, Made, number][] = [
  ['one call, by every byte', small(['same'], [calls(call('same')), DONE]), 1],
  [
    'calls that stand together and alone, repeats and failures',
    small(
      ['throws', 'serial'],
      [calls(call('throws', '{"ä":1}'), call('serial')), calls(call('serial'), call('x')), DONE],
    ),
    13,
  ],
  [
    'times, and a system prompt',
    small(['same'], [calls(call('same'), call('same')), DONE], { timed: true, system: 'be brief' }),
    13,
  ],
  [
    'a budget of calls that ends within a turn',
    small(['args', 'serial'], [calls(call('args'), call('args'), call('serial'))], {
      budget: { toolCalls: 2 },
    }),
    13,
  ],
  [
    'a budget of tokens that is overrun, and an attempt that failed',
    small(
      ['same'],
      [
        {
          ...calls(call('same')),
          usage: { input: 30, cacheRead: null, cacheWrite: null, output: 90, reasoning: null },
          failedAttempts: [{ error: 'x', usage: null }],
        },
      ],
      { budget: { tokens: 200 } },
    ),
    13,
  ],
  [
    'the sentinel beside calls, which end the run together',
    small(['same', 'args'], [{ ...calls(call('same'), call('args')), content: 'DONE' }]),
    13,
  ],
  [
    'a refusal beside calls',
    small(['same', 'args'], [{ ...calls(call('same'), call('args')), stop: 'refused' }]),
    13,
  ],
  ['a model that fails', small([], []), 13],
];

test.each(SMALL)('after a beginning of %s', async (_, made, every) => {
  const whole = await uncut(made);
  const { bytes } = whole;
  for (let length = 0; length < bytes.length; length += every)
    await resumeAfter(made, whole, length);
  await resumeAfterRecords(made, whole);
});

test('after any record of a run whose time ends at any moment, with its other budgets or without', async () => {
  const turn = calls(call('same'), call('serial'), call('serial'));
  for (const more of [{}, { steps: 2, toolCalls: 5 }]) {
    for (let seconds = 1; seconds <= 16; seconds += 1) {
      const budget = { seconds, ...more };
      const made = small(['same', 'serial'], [turn, turn, DONE], { timed: true, budget });
      const whole = await uncut(made);
      await resumeAfterRecords(made, whole);
    }
  }
});

const someRun: fc.Arbitrary<Made> = fc.record({
  script: someScript,
  // Tools that may run again leave no answer to differ.
  tools: fc.boolean().map((idempotent) => TOOLS.map((tool) => ({ ...tool, idempotent }))),
  budget: fc
    .tuple(SOME_BUDGET, fc.integer({ min: 1, max: 30 }))
    .map(([{ seconds, ...some }, end]) =>
      seconds === undefined ? some : { ...some, seconds: end },
    ),
  timed: fc.boolean(),
  repeats: fc.boolean(),
  watched: fc.boolean(),
  system: fc.constantFrom(undefined, 'be brief'),
});

const PLACE = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

test('of any run, after any number of bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRun,
      fc.array(PLACE, { minLength: 3, maxLength: 3 }),
      async (made, places) => {
        const whole = await uncut(made);
        const { length } = whole.bytes;
        for (const place of places) await resumeAfter(made, whole, Math.floor(place * length));
        // Between two writes.
        const [first = 0] = places;
        const end = whole.bytes.lastIndexOf(0x0a, Math.floor(first * (length - 1))) + 1;
        await resumeAfter(made, whole, end);
      },
    ),
    { numRuns: 150 },
  );
});
