/**
 * Diff: two runs part at the first record that says otherwise, and nothing else makes a difference.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diff, type Parting, type RunDiff } from '../../src/replay/diff.ts';
import { readArguments } from '../../src/run/arguments.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { run } from '../../src/run/run.ts';
import { usageOf } from '../../src/run/usage.ts';
import { memoryStore, type TranscriptStore } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { canonicalJson, type Draft, type JsonObject } from '../../src/transcript/index.ts';
import { SOME_BUDGET, someScript, TOOLS } from '../run/random-run.ts';
import {
  call,
  calls,
  model,
  recordsOf,
  SEED_TOOLS,
  textOf,
  toolOf,
  type Read,
  type Step,
} from '../run/support.ts';

type Options = Partial<Omit<RunOptions, 'transcript' | 'model'>>;

async function recorded(script: readonly Step[], options: Options = {}): Promise<TranscriptStore> {
  const store = memoryStore();
  await run({
    task: 'do it',
    tools: SEED_TOOLS,
    ...options,
    model: model(script),
    transcript: store,
  });
  return store;
}

async function made(...drafts: readonly Draft[]): Promise<TranscriptStore> {
  const store = memoryStore();
  await store.append(drafts);
  return store;
}

/** The first records of a transcript, followed by others. */
async function begun(
  store: TranscriptStore,
  length: number,
  ...more: readonly Draft[]
): Promise<TranscriptStore> {
  const records = (await recordsOf(store)) as readonly Read[] as readonly Draft[];
  return made(...records.slice(0, length), ...more);
}

/** A store that holds these bytes. */
function holding(text: string): TranscriptStore {
  return {
    ...memoryStore(),
    location: 'damaged',
    async *read() {
      yield new TextEncoder().encode(text);
    },
  };
}

const USED = { usage: usageOf({ input: 5, output: 1 }) };
const DONE = { content: 'done', ...USED };
const ADD = { content: 'I add', ...USED, ...calls(call('add', { a: 2, b: 40 }, 'c1')) };
const adds = (extra: Partial<typeof ADD>): Step => ({ ...ADD, ...extra });
const answering = (value: unknown): Options => ({ tools: [toolOf('add', () => value)] });

interface Expected {
  readonly what: Parting;
  readonly where: string;
  readonly at: readonly [a: number | null, b: number | null];
  readonly said: readonly [a: string, b: string];
  readonly also?: readonly string[];
}

type Side = readonly [script: readonly Step[], options?: Options];

const PAIRS: readonly (readonly [name: string, a: Side, b: Side, Expected])[] = [
  [
    'changed arguments',
    [[ADD, DONE]],
    [[adds(calls(call('add', { a: 2, b: 41 }))), DONE]],
    { what: 'arguments', where: 'arguments.b of call 1 (add)', at: [1, 1], said: ['40', '41'] },
  ],
  [
    'arguments that are no JSON',
    [[adds(calls(call('add', '{"a":'))), DONE]],
    [[adds(calls(call('add', '{"a"'))), DONE]],
    {
      what: 'arguments',
      where: 'arguments of call 1 (add)',
      at: [1, 1],
      said: [String.raw`"{\"a\":"`, String.raw`"{\"a\""`],
    },
  ],
  [
    'the second call has other arguments',
    [[calls(call('fail'), call('echo', { a: [1, { x: null }] })), DONE]],
    [[calls(call('fail'), call('echo', { a: [1, { x: 0 }] })), DONE]],
    {
      what: 'arguments',
      where: 'arguments.a[1].x of call 2 (echo)',
      at: [1, 1],
      said: ['null', '0'],
    },
  ],
  [
    'another tool, with other arguments',
    [[ADD, DONE]],
    [[adds(calls(call('greet', { name: 'you' }))), DONE]],
    { what: 'tool', where: 'the tool of call 1', at: [1, 1], said: ['add', 'greet'] },
  ],
  [
    'another number of calls, and another text',
    [[ADD, DONE]],
    [[{ content: 'I add twice', ...calls(call('add', { a: 2, b: 40 }), call('fail')) }, DONE]],
    {
      what: 'calls',
      where: 'the number of calls',
      at: [1, 1],
      said: ['1 (add)', '2 (add, fail)'],
      also: ['text'],
    },
  ],
  [
    'no calls',
    [[ADD, DONE]],
    [[{ content: 'I add' }]],
    { what: 'calls', where: 'the number of calls', at: [1, 1], said: ['1 (add)', 'none'] },
  ],
  [
    'another result',
    [[ADD, DONE], answering({ sum: 42, by: ['x'] })],
    [[ADD, DONE], answering({ sum: 43, by: ['x'] })],
    { what: 'result', where: 'result.value.sum of add', at: [2, 2], said: ['42', '43'] },
  ],
  [
    'a result in another spelling of the same number',
    [[ADD, DONE], answering(1)],
    [[ADD, DONE], answering('1')],
    { what: 'result', where: 'result.value of add', at: [2, 2], said: ['1', '"1"'] },
  ],
  [
    'the other half of a long result',
    [[ADD, DONE], answering(`${'😀'.repeat(3000)}one`)],
    [[ADD, DONE], answering(`${'😀'.repeat(3000)}two`)],
    {
      what: 'result',
      where: 'result.value of add',
      at: [2, 2],
      said: [`"…${'😀'.repeat(10)}one"`, `"…${'😀'.repeat(10)}two"`],
    },
  ],
  [
    'a result that is too large, of another content',
    [[ADD, DONE], { tools: [toolOf('add', () => 'x'.repeat(300), { maxResultBytes: 100 })] }],
    [[ADD, DONE], { tools: [toolOf('add', () => 'y'.repeat(300), { maxResultBytes: 100 })] }],
    {
      what: 'result',
      where: 'result.digest of add',
      at: [2, 2],
      said: [expect.stringMatching(/^"[0-9a-f]{64}"$/), expect.stringMatching(/^"[0-9a-f]{64}"$/)],
    },
  ],
  [
    'a failure',
    [[ADD, DONE], answering(42)],
    [
      [ADD, DONE],
      {
        tools: [
          toolOf('add', () => {
            throw new Error('no');
          }),
        ],
      },
    ],
    {
      what: 'result',
      where: 'result.error of add',
      at: [2, 2],
      said: ['nothing', `"tool 'add' raised Error: no"`],
    },
  ],
  [
    'a permission',
    [[ADD, DONE], { permit: () => ({ decision: 'allow' }) }],
    [[ADD, DONE], { permit: () => ({ decision: 'ask' }), ask: () => ({ allow: true }) }],
    { what: 'permission', where: 'permission.asked of add', at: [2, 2], said: ['false', 'true'] },
  ],
  [
    'a note',
    [[ADD, ADD, DONE], { repeats: true }],
    [[ADD, ADD, DONE], { repeats: false }],
    {
      what: 'note',
      where: 'note of add',
      at: [4, 4],
      said: [expect.stringContaining('second time'), 'nothing'],
    },
  ],
  [
    'another text',
    [[ADD, { content: 'It is 42.' }]],
    [[ADD, { content: 'It is 43.' }]],
    { what: 'text', where: 'text', at: [3, 3], said: ['"It is 42."', '"It is 43."'] },
  ],
  [
    'a turn that was cut off',
    [[{ content: 'It' }]],
    [[{ content: 'It', stop: 'length' }]],
    { what: 'stop', where: 'stop.stop', at: [1, 1], said: ['"end"', '"length"'] },
  ],
  [
    'another stop',
    [[DONE]],
    [[DONE], { sentinel: 'done' }],
    { what: 'stop', where: 'stop.reason', at: [2, 2], said: ['"no_tool_calls"', '"sentinel"'] },
  ],
  [
    'another verdict of the check',
    [[DONE], { check: () => ({ ok: true }) }],
    [[DONE], { check: () => ({ ok: false }) }],
    { what: 'check', where: 'check.ok', at: [2, 2], said: ['true', 'false'] },
  ],
  [
    'one goes on where the other stops',
    [[ADD, ADD, DONE], { budget: { steps: 1 } }],
    [[ADD, ADD, DONE]],
    {
      what: 'end',
      where: 'where one ends',
      at: [3, 3],
      said: ['the run stops (step_budget)', 'the run goes on with a turn'],
    },
  ],
  [
    'nothing but what was paid',
    [[{ ...DONE, usage: usageOf({ input: 1, output: 2 }) }]],
    [[{ ...DONE, usage: usageOf({ input: 1, output: 3 }) }]],
    { what: 'usage', where: 'usage.output', at: [1, 1], said: ['2', '3'] },
  ],
  [
    'nothing but failed attempts',
    [[DONE]],
    [[{ ...DONE, failedAttempts: [{ error: 'overloaded' }] }]],
    {
      what: 'attempts',
      where: 'attempts',
      at: [1, 1],
      said: ['nothing', '[{"error":"overloaded"}]'],
    },
  ],
  [
    'nothing but what the provider keeps',
    [[{ ...DONE, provider: { signature: 'x' } }]],
    [[{ ...DONE, provider: { signature: 'y' } }]],
    { what: 'provider', where: 'provider.signature', at: [1, 1], said: ['"x"', '"y"'] },
  ],
  [
    'usage first, and then what was done',
    [[adds({}), DONE]],
    [[{ ...ADD, usage: usageOf({ input: 9, output: 9 }) }, { content: 'finished' }]],
    { what: 'text', where: 'text', at: [3, 3], said: ['"done"', '"finished"'] },
  ],
];

function expectParted(found: RunDiff, { what, where, at, said, also = [] }: Expected): void {
  expect(found.same).toBe(false);
  expect(found.parted).toEqual({
    what,
    where,
    also,
    a: { seq: at[0], said: said[0] },
    b: { seq: at[1], said: said[1] },
  });
}

/** The same difference, looked at from the other side. */
function mirrored({ a, b, task, configuration, parted, ...rest }: RunDiff): RunDiff {
  return {
    ...rest,
    a: b,
    b: a,
    task: task === null ? null : { a: task.b, b: task.a },
    configuration: sorted(
      configuration?.map(({ was, is, ...where }) => ({ ...where, was: is, is: was })) ?? null,
    ),
    parted: parted === null ? null : { ...parted, a: parted.b, b: parted.a },
  };
}

function sorted(configuration: RunDiff['configuration']): RunDiff['configuration'] {
  return configuration?.toSorted((a, b) => (a.name < b.name ? -1 : 1)) ?? null;
}

async function expectMirrored(
  a: TranscriptStore,
  b: TranscriptStore,
  found: RunDiff,
): Promise<void> {
  const back = await diff(b, a);
  expect({ ...back, configuration: sorted(back.configuration) }).toEqual(mirrored(found));
}

describe('the first record where two runs part', () => {
  test.each(PAIRS)('%s', async (_name, a, b, expected) => {
    const [one, other] = [await recorded(...a), await recorded(...b)];
    const found = await diff(one, other);
    expectParted(found, expected);
    await expectMirrored(one, other, found);
  });

  test('is where one was cut off', async () => {
    const whole = await recorded([ADD, DONE]);
    const cut = await begun(whole, 2);
    const found = await diff(cut, whole);
    expectParted(found, {
      what: 'end',
      where: 'where one ends',
      at: [null, 2],
      said: [
        'the record ends, and the run had not ended',
        'the run goes on with the answer of add',
      ],
    });
    // The account begins with the turn that has no answer.
    expect(found.a.after.steps).toMatchObject([
      { kind: 'turn', seq: 1, calls: [{ answer: null }] },
    ]);
    expect(found.b.after.steps).toMatchObject([
      { kind: 'turn', seq: 1, calls: [{ answer: { seq: 2, text: '{"sum":42}' } }] },
      { kind: 'turn', seq: 3 },
      { kind: 'stop', seq: 4 },
    ]);
    await expectMirrored(cut, whole, found);
  });

  test('is where a tool got other arguments than the model gave, or the claim at the end is another', async () => {
    const whole = await recorded([ADD, DONE]);
    const answered = async (given: JsonObject): Promise<TranscriptStore> =>
      begun(whole, 2, {
        kind: 'tool',
        payload: { call: 'c1', name: 'add', ok: true, value: 1, given },
      });
    expect((await diff(await answered({ a: 1 }), await answered({ a: 2 }))).parted).toMatchObject({
      what: 'arguments',
      where: 'arguments.a of add',
    });
    const claiming = async (content: string): Promise<TranscriptStore> =>
      begun(whole, 4, {
        kind: 'final',
        payload: { reason: 'no_tool_calls', content, check: null },
      });
    expect((await diff(await claiming('one'), await claiming('two'))).parted).toMatchObject({
      what: 'text',
      a: { seq: 4, said: '"one"' },
    });
  });

  test('is where a record of another program differs', async () => {
    const whole = await recorded([DONE]);
    const one = await begun(whole, 1, { kind: 'remark', payload: { say: 'x', at: '1' } });
    const other = await begun(whole, 1, { kind: 'remark', payload: { say: 'x', at: '2' } });
    const third = await begun(whole, 1, { kind: 'remark', payload: { say: 'y' } });
    expect(await diff(one, other)).toMatchObject({ same: true, ignored: ['times'] });
    expect((await diff(one, third)).parted).toMatchObject({ what: 'record', where: 'record.say' });
    expect((await diff(one, whole)).parted).toMatchObject({
      what: 'record',
      a: { seq: 1, said: 'a record of kind remark' },
      b: { seq: 1, said: 'the run goes on with a turn' },
    });
  });
});

const BUDGET = { name: 'seconds', limit: 60 };

describe('what makes no difference', () => {
  test.each<[string, Side, Side, RunDiff['ignored']]>([
    [
      "the run's own id, and the time",
      [[ADD, DONE], { runId: 'x', clock: fakeClock(0) }],
      [[ADD, DONE], { runId: 'y', clock: fakeClock(9) }],
      ['runId', 'times'],
    ],
    [
      'the time',
      [[ADD, DONE], { clock: fakeClock(1_700_000_000_000) }],
      [[ADD, DONE], { clock: fakeClock(1_800_000_000_000) }],
      ['times'],
    ],
    ['whether there was a clock', [[ADD, DONE], { clock: fakeClock(0) }], [[ADD, DONE]], ['times']],
    [
      "calls' ids",
      [[ADD, DONE]],
      [[adds(calls(call('add', { a: 2, b: 40 }, 'c9'))), DONE]],
      ['ids'],
    ],
    [
      'an id that was given twice',
      [[ADD, ADD, DONE]],
      [[ADD, adds(calls(call('add', { a: 2, b: 40 }, 'c2'))), DONE]],
      ['ids'],
    ],
    [
      'white space in arguments',
      [[ADD, DONE]],
      [[adds(calls(call('add', '{"b": 40, "a": 2}', 'c1'))), DONE]],
      ['spelling'],
    ],
  ])('%s', async (_name, a, b, ignored) => {
    const [one, other] = [await recorded(...a), await recorded(...b)];
    expect(one.head.hash).not.toBe(other.head.hash);
    const found = await diff(one, other);
    expect(found).toMatchObject({ same: true, parted: null, ignored });
    expect(found.a.after).toEqual({ steps: [], left: 0 });
    await expectMirrored(one, other, found);
  });

  test('how much time was used, but not which budget, or how much of another', async () => {
    const head = await recorded([DONE]);
    const ended = async (reason: string, budget: JsonObject): Promise<TranscriptStore> =>
      begun(head, 2, { kind: 'final', payload: { reason, content: 'done', check: null, budget } });
    const one = await ended('time_budget', { ...BUDGET, used: 60.5 });
    const other = await ended('time_budget', { ...BUDGET, used: 61 });
    expect(await diff(one, other)).toMatchObject({ same: true, ignored: ['times'] });
    const tokens = { name: 'tokens', limit: 60 };
    const [few, many] = [
      await ended('token_budget', { ...tokens, used: 60 }),
      await ended('token_budget', { ...tokens, used: 70 }),
    ];
    expect((await diff(few, many)).parted).toMatchObject({ what: 'usage', where: 'usage.used' });
    expect((await diff(one, many)).parted).toMatchObject({ what: 'stop' });
  });

  test('records about the process: they are counted', async () => {
    const whole = await recorded([ADD, DONE]);
    const records = (await recordsOf(whole)) as readonly Read[] as readonly Draft[];
    const resumed: Draft = { kind: 'resumed', payload: { calls: [] } };
    const repaired: Draft = { kind: 'recovered', payload: { bytes: 3, kept: 'x', sha256: '' } };
    const again = await made(
      repaired,
      ...records.slice(0, 2),
      repaired,
      resumed,
      ...records.slice(2, 4),
      resumed,
      ...records.slice(4),
    );
    const found = await diff(whole, again);
    expect(found).toMatchObject({
      same: true,
      ignored: [],
      a: { resumed: 0, recovered: 0, turns: 2, calls: 1 },
      b: { resumed: 2, recovered: 2, turns: 2, calls: 1 },
    });
    // Records keep the place that they have in their own file.
    const other = await diff(again, await recorded([ADD, { content: 'finished' }]));
    expect(other.parted).toMatchObject({ what: 'text', a: { seq: 6 }, b: { seq: 3 } });
  });
});

describe('task and configuration are compared apart', () => {
  test('and what was done is compared nevertheless', async () => {
    const one = await recorded([ADD, DONE], { task: 'one', budget: { steps: 8 } });
    const other = await recorded([ADD, DONE], {
      task: 'two',
      budget: { steps: 9 },
      system: 'brief',
    });
    const found = await diff(one, other);
    expect(found).toMatchObject({
      same: false,
      task: { a: 'one', b: 'two' },
      configuration: [
        { part: 'budget', name: 'budget.steps', was: 8, is: 9 },
        { part: 'system', name: 'system', was: undefined, is: 'brief' },
      ],
      parted: null,
    });
    await expectMirrored(one, other, found);
    const bare = await recorded([ADD, DONE]);
    expect(await diff(bare, await recorded([ADD, DONE], { task: 'two' }))).toMatchObject({
      same: false,
      configuration: [],
      parted: null,
    });
    expect(await diff(bare, await recorded([ADD, DONE], { budget: { steps: 9 } }))).toMatchObject({
      same: false,
      task: null,
      parted: null,
    });
    const third = await recorded([ADD, { content: 'finished' }], { budget: { steps: 9 } });
    expect((await diff(one, third)).parted).toMatchObject({ what: 'text', a: { seq: 3 } });
  });

  test('where only one has a configuration, that is said', async () => {
    const ours = await recorded([DONE]);
    const records = (await recordsOf(ours)) as readonly Read[] as readonly Draft[];
    const foreign = await made(
      { kind: 'user', payload: { content: 'do it' } },
      ...records.slice(1),
    );
    expect(await diff(ours, foreign)).toMatchObject({
      same: false,
      configuration: null,
      parted: null,
    });
    expect(await diff(foreign, foreign)).toMatchObject({ same: true, configuration: [] });
  });
});

describe('the account of each run', () => {
  test('has what followed, cut short', async () => {
    const one = await recorded(
      [
        { content: 'x'.repeat(500), ...calls(...Array.from({ length: 11 }, () => call('fail'))) },
        ...Array.from({ length: 7 }, () => calls(call('echo', { i: 'y'.repeat(500) }))),
        DONE,
      ],
      { check: () => ({ ok: false, detail: 'not there' }) },
    );
    const { a, b } = await diff(one, await recorded([]));
    expect(a.after.left).toBe(5);
    const [first, second, , , stop] = a.after.steps;
    expect(first).toMatchObject({
      kind: 'turn',
      seq: 1,
      turn: 1,
      text: `${'x'.repeat(200)}…`,
      left: 3,
    });
    expect(first).toHaveProperty('calls.length', 8);
    expect(first).toHaveProperty('calls.7.answer', {
      seq: 9,
      ok: false,
      failure: 'threw',
      text: "tool 'fail' raised RuntimeError: the tool is broken on purpose",
    });
    expect(second).toMatchObject({ kind: 'turn', seq: 13, turn: 2, text: '', left: 0 });
    expect(second).toHaveProperty('calls.0.arguments.length', 201);
    expect(stop).toEqual({
      kind: 'stop',
      seq: 28,
      reason: 'no_tool_calls',
      error: null,
      check: { ok: false, detail: 'not there' },
    });
    expect(b.after).toMatchObject({
      left: 0,
      steps: [
        { kind: 'stop', reason: 'model_error', error: 'Error: the script is over', check: null },
      ],
    });
  });
});

describe('transcripts with a fault', () => {
  test('are compared up to it', async () => {
    const whole = await recorded([ADD, DONE]);
    const text = await textOf(whole);
    const edited = holding(text.replace('"content":"done"', '"content":"dome"'));
    const found = await diff(whole, edited);
    expect(found).toMatchObject({
      same: false,
      a: { verdict: { ok: true } },
      b: { verdict: { ok: false, count: 3, fault: { seq: 3, reason: 'hash_mismatch' } } },
    });
    expectParted(found, {
      what: 'fault',
      where: 'a record that does not verify',
      at: [3, null],
      said: ['the run goes on with a turn', 'record 3 does not verify (hash_mismatch)'],
    });
    await expectMirrored(whole, edited, found);
    expect((await diff(edited, edited)).parted).toMatchObject({
      what: 'fault',
      a: { seq: null },
      b: { seq: null },
    });
    const other = await recorded([adds({ content: 'I sum' }), DONE]);
    expect((await diff(other, edited)).parted).toMatchObject({ what: 'text', a: { seq: 1 } });
  });

  test('a fault after the end is one', async () => {
    const whole = await recorded([DONE]);
    const more = holding(`${await textOf(whole)}{}\n`);
    expect((await diff(whole, more)).parted).toMatchObject({
      what: 'fault',
      a: { seq: null, said: 'the record ends' },
    });
  });

  test('a torn tail is how a crash ends a run', async () => {
    const whole = await recorded([ADD, DONE]);
    const text = await textOf(whole);
    const torn = holding(text.slice(0, -20));
    expect((await diff(torn, torn)).same).toBe(true);
    expect((await diff(whole, torn)).parted).toMatchObject({
      what: 'end',
      a: { seq: 4, said: 'the run stops (no_tool_calls)' },
      b: { seq: null },
    });
  });
});

describe('what is no run of ours', () => {
  const seeds = new URL('../testdata/seeds/', import.meta.url);
  test.each([
    ['transcript_valid.jsonl', /record 1 \(assistant\) isn't one that hashtape's loop writes/],
    ['transcript_empty.jsonl', /no task can be read from it/],
    ['transcript_astral_keys.jsonl', /no task can be read from it/],
    ['transcript_bom.jsonl', /no task can be read from it.*record 0: not_canonical/],
    ['ghost.jsonl', /there is no such file/],
    ['.', /it is a folder; name one of the files in it/],
  ])('%s', async (name, message) => {
    const ours = await recorded([DONE]);
    await expect(diff(ours, new URL(name, seeds))).rejects.toThrow(message);
    await expect(diff(new URL(name, seeds), ours)).rejects.toThrow(message);
  });
});

/** What a record says of the run, worked out otherwise than diff does: as JSON, without what is ignored. */
function toldBy({ kind, payload }: Read): string {
  const { at, usage, failed_attempts: attempts, provider, call: id, budget, ...more } = payload;
  const { tokens, tokens_estimated: estimated, cost, steps, tool_calls: list, ...rest } = more;
  void [at, usage, attempts, provider, id, tokens, estimated, cost, steps];
  // The loop writes an object.
  const { name, limit } = (budget ?? {}) as { name?: string; limit?: number };
  const callsMade = kind === 'assistant' ? callsOf(list) : null;
  return canonicalJson([kind, rest, callsMade, name ?? null, limit ?? null]);
}

function callsOf(given: unknown): unknown[] {
  // The loop writes a list of objects.
  const list = given as { name: string; arguments: JsonObject; raw?: string }[];
  return list.map(({ name, arguments: args, raw }) => {
    const isRefused = raw !== undefined && readArguments(raw).problem !== null;
    return [name, isRefused ? raw : args];
  });
}

const options = (budget: object): Options => ({ budget, tools: TOOLS, sentinel: 'DONE' });

describe('of any runs', () => {
  const someRun = fc.tuple(someScript, SOME_BUDGET);

  test('a run is the same as itself, whatever the time', async () => {
    await fc.assert(
      fc.asyncProperty(someRun, async ([script, budget]) => {
        const priced = { tools: TOOLS, budget: { ...budget, usd: undefined } };
        const one = await recorded(script, { ...priced, clock: fakeClock(1_700_000_000_000) });
        const other = await recorded(script, { ...priced, clock: fakeClock(1_800_000_000_000) });
        expect(await diff(one, one)).toMatchObject({ same: true, ignored: [], parted: null });
        expect(await diff(one, other)).toMatchObject({ same: true, ignored: ['times'] });
      }),
      { numRuns: 100 },
    );
  });

  test('the record that is named is the first that says otherwise', async () => {
    await fc.assert(
      fc.asyncProperty(
        someScript,
        someScript,
        fc.nat(3),
        SOME_BUDGET,
        async (script, other, shared, { usd: _usd, ...budget }) => {
          const a = await recorded(script, options(budget));
          const b = await recorded([...script.slice(0, shared), ...other], options(budget));
          const found = await diff(a, b);
          const [ones, others] = [await recordsOf(a), await recordsOf(b)];
          const first = ones.findIndex((one, i) => {
            const there = others[i];
            return there === undefined || toldBy(one) !== toldBy(there);
          });
          const isExpense = ['usage', 'attempts', 'provider', undefined];
          const named = found.parted?.what;
          if (first === -1) expect(isExpense).toContain(named);
          else expect(found.parted).toMatchObject({ a: { seq: first }, b: { seq: first } });
          await expectMirrored(a, b, found);
        },
      ),
      { numRuns: 200 },
    );
  });
});
