/**
 * Replay: the same bytes from the recorded replies and answers, for every run that there can be.
 *
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { recordedTools, type Recording } from '../../src/models/scripted.ts';
import { replay } from '../../src/replay/replay.ts';
import { tool } from '../../src/run/define-tool.ts';
import { type ModelReply, type ModelRequest, type ReplyCall } from '../../src/run/model.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { type Draft, type JsonObject } from '../../src/transcript/index.ts';
import { SOME_BUDGET, someScript, TOOLS } from '../run/random-run.ts';
import { call, calls, DONE, model, never, recordsOf, toolOf } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';

const newPath = scratch();

const PRICE = { input: 2, output: 10, cacheRead: 0.5 };

describe('replay', () => {
  test('of any run that ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        someScript,
        SOME_BUDGET,
        fc.record({ timed: fc.boolean(), repeats: fc.boolean(), checked: fc.boolean() }),
        async (script, budget, { timed, repeats, checked }) => {
          const store = memoryStore();
          await run({
            task: 'do it',
            model: Object.assign(model(script), { price: PRICE }),
            tools: TOOLS,
            budget,
            repeats,
            transcript: store,
            sentinel: 'DONE',
            system: 'be brief',
            ...(timed ? { clock: fakeClock(1_700_000_000_000) } : {}),
            ...(checked ? { check: ({ answer }) => ({ ok: answer !== '' }) } : {}),
          });
          const again = await replay(store);
          expect(again.divergence).toBeUndefined();
          expect(again).toMatchObject({ ok: true, count: store.head.count, sealed: true });
        },
      ),
      { numRuns: 300 },
    );
  });
});

const testdata = new URL('../testdata/', import.meta.url);
const v1 = new URL('v1/', testdata);
const recording: Recording = JSON.parse(
  readFileSync(new URL('samples/tau-bench/public-gpt4o-airline-109.json', testdata), 'utf8'),
);

describe('old transcripts replay', () => {
  test.each(readdirSync(v1).filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const count = readFileSync(new URL(name, v1), 'utf8').trimEnd().split('\n').length;
    // This one holds estimates, and only the hash of the tools that are part of them.
    const tools = name === 'recorded-tau-bench.jsonl' ? recordedTools(recording) : undefined;
    const again = await replay(new URL(name, v1), { tools });
    expect(again.divergence).toBeUndefined();
    expect(again).toMatchObject({ ok: true, count });
    if (tools !== undefined) expect(again).toMatchObject({ differences: [] });
  });

  test('or say what is missing', async () => {
    const file = new URL('recorded-tau-bench.jsonl', v1);
    await expect(replay(file)).rejects.toThrow(/give the replay the tools that the run had$/);
    const others = { tools: [toolOf('t', () => 1)] };
    await expect(replay(file, others)).rejects.toMatchObject({ code: 'unusable' });
  });

  test('also after a resume, which keeps the manifest; and nothing is lost in it', async () => {
    const tools = [toolOf('t', (args) => args, { description: 'x'.repeat(400), readOnly: true })];
    const turns = [1, 2, 3].map((n) => calls(call('t', { n })));
    const talking = ({ messages }: ModelRequest): ModelReply => {
      const at = messages.filter(({ role }) => role === 'assistant').length;
      return { content: '', ...turns[at] };
    };
    const whole = memoryStore();
    const { spent } = await run({ task: 'x', model: talking, tools, transcript: whole });
    const records = await recordsOf(whole);
    for (let count = 1; count < records.length; count += 1) {
      const store = memoryStore();
      for (const { kind, payload } of records.slice(0, count)) {
        // As the first form was: the hash of the manifest alone.
        const { run: bound, ...rest } = payload as { run?: { manifest?: unknown } };
        const { manifest: _manifest, ...old } = bound ?? {};
        const draft = bound === undefined ? rest : { ...rest, run: old };
        await store.append([{ kind, payload: draft }]);
      }
      const outcome = await resume(store, { model: talking, tools });
      expect(outcome.spent.tokens, `after ${count} records`).toBe(spent.tokens);
      expect(await replay(store)).toMatchObject({ ok: true, count: store.head.count });
    }
  });
});

/** A script of one turn with these calls, and the end. */
const asked = (...toolCalls: ReplyCall[]) => [calls(...toolCalls), DONE];

type Forge = (drafts: Draft[]) => void;

/** Sets members of a record's payload; undefined takes one out. */
const set =
  (seq: number, members: object): Forge =>
  (drafts) => {
    const { kind = '', payload = {} } = drafts[seq] ?? {};
    drafts[seq] = {
      kind,
      payload: JSON.parse(JSON.stringify(Object.assign({}, payload, members))),
    };
  };

describe('a record that the loop can not have written', () => {
  const tools = [
    toolOf('t', () => 1),
    toolOf('reads', () => 'x', { readOnly: true }),
    toolOf('small', () => 'x', { maxResultBytes: 50 }),
  ];

  /** Runs, changes what is recorded, writes it anew with hashes that are right, and replays that. */
  async function forged(options: Partial<RunOptions>, forge: Forge): Promise<string> {
    const store = memoryStore();
    await run({ task: 'x', model: model(asked(call('t'))), tools, ...options, transcript: store });
    const drafts = (await recordsOf(store)).map(({ kind, payload }) => ({
      kind,
      payload: structuredClone(payload) as JsonObject,
    }));
    forge(drafts);
    const copy = memoryStore();
    await copy.append(drafts);
    const { ok, divergence } = await replay(copy);
    expect(ok).toBe(false);
    return `${divergence?.seq}: ${divergence?.detail}`;
  }
  test.each<[string, Partial<RunOptions>, Forge, RegExp]>([
    [
      'a denied call that ran',
      { permit: () => ({ decision: 'allow' }) },
      set(2, { permit: { decision: 'deny', reason: 'no', asked: false } }),
      /^2: .*what policy denies is answered `denied`/,
    ],
    [
      'a tool that is not there',
      { model: model(asked(call('nope'))) },
      set(2, { error: undefined, ok: true, value: 1, failure: undefined }),
      /^2: .*no tool 'nope'/,
    ],
    [
      'a tool that is there, called unknown',
      {},
      set(2, { value: undefined, ok: false, error: 'x', failure: 'unknown_tool' }),
      /^2: .*a tool 't' in the manifest/,
    ],
    [
      'arguments that nobody can read',
      { model: model(asked(call('t', '{bad'))) },
      set(2, { error: undefined, ok: true, value: 1, failure: undefined }),
      /^2: .*can not be read/,
    ],
    [
      'a value beyond its limit',
      { model: model(asked(call('small'))) },
      set(2, { value: 'x'.repeat(60) }),
      /^2: .*over the limit of 50 bytes/,
    ],
    ['a value that failed', {}, set(2, { failure: 'threw' }), /^2: .*a value, or a failure/],
    [
      'an abort after which it goes on',
      {},
      set(2, {
        value: undefined,
        ok: false,
        error: 'not run: the run was aborted',
        failure: 'not_run',
      }),
      /^2: .*goes on after its end/,
    ],
    [
      'a call that nothing kept from running',
      {},
      set(2, { value: undefined, ok: false, error: 'not run: I felt like it', failure: 'not_run' }),
      /^2: .*nothing kept it/,
    ],
    [
      'a crash that was not',
      {},
      set(2, {
        value: undefined,
        ok: false,
        error: 'interrupted: effect unknown',
        failure: 'interrupted',
      }),
      /^2: .*no crash left it open/,
    ],
    [
      'the end of a time that had none',
      {},
      set(4, { reason: 'time_budget', budget: { name: 'seconds', limit: 5 } }),
      /^4: /,
    ],
    [
      'an id that comes twice',
      { model: model([calls(call('t', {}, 'a')), calls(call('t', {}, 'b')), DONE]) },
      (drafts) => {
        set(3, { tool_calls: [{ id: 'a', name: 't', arguments: {} }] })(drafts);
        set(4, { call: 'a' })(drafts);
      },
      /^3: the id of a call comes twice/,
    ],
  ])('%s', async (_name, options, forge, expected) => {
    expect(await forged(options, forge)).toMatch(expected);
  });

  test.each<[string, string[], object | null, RegExp]>([
    [
      'hides a call that may have run',
      [],
      null,
      /^2: the calls that may have been started are: call_1_0$/,
    ],
    ['names a call that is none', ['call_1_0', 'bogus'], null, /^2: the calls/],
    [
      'runs what may not run again',
      ['call_1_0'],
      { ok: true, value: 1 },
      /^3: .*may not run again/,
    ],
  ])('a resume that %s', async (_name, open, answer, expected) => {
    const seen = await forged({}, (drafts) => {
      const payload = {
        call: 'call_1_0',
        name: 't',
        ...(answer ?? { ok: false, error: 'interrupted: effect unknown', failure: 'interrupted' }),
      };
      drafts.splice(2, 1, { kind: 'resumed', payload: { calls: open } }, { kind: 'tool', payload });
    });
    expect(seen).toMatch(expected);
  });
});

describe('an end within a stage', () => {
  const clockless = { tools: [toolOf('a', () => 1), toolOf('b', () => 1)] };

  test.each<[string, (controller: AbortController) => Partial<RunOptions>]>([
    [
      'in a policy',
      (controller) => ({
        permit: () => {
          controller.abort();
          return { decision: 'allow' };
        },
      }),
    ],
    [
      'while somebody is asked about the second',
      (controller) => ({
        permit: ({ call: { name } }) =>
          name === 'a' ? { decision: 'allow' } : { decision: 'ask' },
        ask: () => {
          controller.abort();
          return never();
        },
      }),
    ],
    [
      'while a schema looks at the second',
      (controller) => ({
        tools: [
          tool({
            name: 'a',
            description: 'a',
            input: z.object({ d: z.number().default(1) }),
            execute: () => 1,
          }),
          tool({
            name: 'b',
            description: 'b',
            input: z.object({}).transform(async () => {
              controller.abort();
              return never();
            }),
            execute: () => 1,
          }),
        ],
      }),
    ],
  ])('%s replays', async (_name, options) => {
    const controller = new AbortController();
    const store = memoryStore();
    const outcome = await run({
      task: 'x',
      model: model([calls(call('a'), call('b')), DONE]),
      ...clockless,
      ...options(controller),
      signal: controller.signal,
      transcript: store,
    });
    expect(outcome.reason).toBe('aborted');
    const again = await replay(store);
    expect(again.divergence).toBeUndefined();
    expect(again.ok).toBe(true);
  });
});

test.each([
  [true, false],
  [false, true],
])('repeats %s, and %s after a resume', async (first, second) => {
  const path = newPath();
  const turns = ['a', 'a', 'b', 'b'].map((n) => calls(call('t', { n })));
  const talking = ({ messages }: ModelRequest): ModelReply => {
    const at = messages.filter(({ role }) => role === 'assistant').length;
    return { content: '', ...turns[at] };
  };
  const tools = [toolOf('t', () => 1)];
  await run({ task: 'x', model: talking, tools, repeats: first, transcript: path });
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, `${lines.slice(0, 5).join('\n')}\n`);
  await resume(path, { model: talking, tools, repeats: second });
  expect(await replay(path)).toMatchObject({ ok: true });
});

test('a turn of thousands of calls is replayed in one go', async () => {
  const store = memoryStore();
  const many = Array.from({ length: 20_000 }, (_, n) => call('t', { n }));
  await run({
    task: 'x',
    model: model([calls(...many), DONE]),
    tools: [toolOf('t', () => 1)],
    transcript: store,
  });
  expect(await replay(store)).toMatchObject({ ok: true, count: 20_004 });
});
