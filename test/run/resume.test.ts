/**
 * Resume: a run that was cut off goes on from its records, and from nothing else.
 *
 * Runs are cut by keeping the first lines of their files; `test/journal` cuts them by killing processes.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { replay } from '../../src/replay/replay.ts';
import { JournalError } from '../../src/run/journal.ts';
import { type Model, type ModelReply, type ModelRequest } from '../../src/run/model.ts';
import { type Outcome } from '../../src/run/outcome.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { resume, type ResumeOptions } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { createTranscript, memoryStore, verifyFile } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { recordsOf, scratch, storeError } from '../store/helpers.ts';
import { call, calls, DONE, toolOf, type Payload, type Step } from './support.ts';

const newPath = scratch();
const USAGE = { input: 100, cacheRead: null, cacheWrite: null, output: 10, reasoning: null };

/** A model that knows its place from the conversation, as real ones do. */
function talking(turns: readonly Step[], id = 'talking'): Model & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    asked.push({ ...request, messages: [...request.messages] });
    const step = turns[request.messages.filter(({ role }) => role === 'assistant').length];
    if (step === undefined) throw new Error('the script is over');
    const turn = typeof step === 'function' ? await step(request) : step;
    return { content: '', usage: USAGE, ...turn };
  };
  return Object.assign(answer, { asked, id });
}

/** Runs to the end in a file, then keeps its first `count` records. */
async function cutAfter(count: number, options: Omit<RunOptions, 'task'>): Promise<string> {
  const path = newPath();
  await run({ task: 'do it', ...options, transcript: path });
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, lines.slice(0, count).join('\n') + (count === 0 ? '' : '\n'));
  return path;
}

/** Resumes, and checks what must hold of every resumed run. */
async function resumed(path: string, options: ResumeOptions): Promise<Outcome> {
  const before = readFileSync(path);
  const outcome = await resume(path, options);
  expect(await verifyFile(path)).toMatchObject({ ok: true, head: outcome.transcript.head });
  expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
  expect(await replay(path)).toMatchObject({ ok: true, count: outcome.transcript.count });
  return outcome;
}

async function payloads(path: string, kind: string): Promise<Payload[]> {
  const records = await recordsOf(path);
  return records.filter((record) => record.kind === kind).map(({ payload }) => payload as never);
}

/** The error that a promise rejects with. */
async function journalError(promise: Promise<unknown>): Promise<JournalError> {
  const error = await promise.then(
    () => 'it resolved',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(JournalError);
  return error as JournalError;
}

/** Counts what each tool did, by call. */
function counting(): {
  ran: string[];
  keys: Map<string, Set<string>>;
  tool: (name: string, extra?: object) => ReturnType<typeof toolOf>;
} {
  const ran: string[] = [];
  const keys = new Map<string, Set<string>>();
  const tool = (name: string, extra: object = {}): ReturnType<typeof toolOf> =>
    toolOf(
      name,
      (_args, { callId, idempotencyKey }) => {
        ran.push(callId);
        keys.set(callId, (keys.get(callId) ?? new Set()).add(idempotencyKey));
        return callId;
      },
      extra,
    );
  return { ran, keys, tool };
}

const kindsOfTools = (tool: ReturnType<typeof counting>['tool']) => [
  tool('plain'),
  tool('reads', { readOnly: true }),
  tool('keyed', { idempotent: true }),
  tool('alone', { parallel: false }),
];

describe('a call without a result', () => {
  const script: Step[] = [
    calls(
      call('plain', {}, 'a'),
      call('reads', {}, 'b'),
      call('keyed', {}, 'c'),
      call('alone', {}, 'd'),
      call('plain', {}, 'e'),
    ),
    DONE,
  ];

  // Three stages: a, b and c together; d alone; e. What was answered before the crash stays.
  test.each([
    [2, ['b', 'c', 'd', 'e'], ['a'], ['b', 'c']],
    [3, ['b', 'c', 'd', 'e'], [], ['b', 'c']],
    [4, ['c', 'd', 'e'], [], ['c']],
    [5, ['e'], ['d'], []],
    [6, [], ['e'], []],
    [7, [], [], []],
  ])('after %i records: %j run, %j are not run again', async (count, again, interrupted, rerun) => {
    const { ran, keys, tool } = counting();
    const path = await cutAfter(count, { model: talking(script), tools: kindsOfTools(tool) });
    expect(ran).toEqual(['a', 'b', 'c', 'd', 'e']);
    const outcome = await resumed(path, { model: talking(script), tools: kindsOfTools(tool) });
    expect(ran.slice(5)).toEqual(again);
    expect(outcome).toMatchObject({ reason: 'no_tool_calls', answer: 'done' });
    expect(outcome.spent).toMatchObject({ steps: 2, toolCalls: 5, tokens: 220 });
    expect(outcome.resumed?.interrupted.map(({ id }) => id)).toEqual(interrupted);
    expect(outcome.resumed?.rerun.map(({ id }) => id)).toEqual(rerun);
    for (const id of again) expect(keys.get(id)?.size, `the keys of ${id}`).toBe(1);
    const answers = await payloads(path, 'tool');
    expect(answers.map((answer) => answer['call'])).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const answer of answers) {
      if (!interrupted.some((id) => id === answer['call'])) continue;
      expect(answer).toMatchObject({
        ok: false,
        error: 'interrupted: effect unknown',
        failure: 'interrupted',
      });
    }
  });

  test.each<[string, Partial<ModelReply>, string, string]>([
    ['cut off by the output limit', { stop: 'length' }, 'no_tool_calls', 'incomplete'],
    ['with the sentinel', { content: 'STOP' }, 'sentinel', 'the run ended on the sentinel'],
    ['over the token budget', { usage: { ...USAGE, input: 9000 } }, 'token_budget', 'token budget'],
    ['of a refusal', { stop: 'refused' }, 'refused', 'the model refused'],
  ])('%s can not have been started, and is not run', async (_name, turn, reason, why) => {
    const { ran, tool } = counting();
    const turns = [{ ...calls(call('plain', {}, 'a')), ...turn }, DONE];
    const options = { tools: [tool('plain')], sentinel: 'STOP', budget: { tokens: 5000 } };
    const path = await cutAfter(2, { model: talking(turns), ...options });
    const outcome = await resumed(path, { model: talking(turns), tools: options.tools });
    expect(ran).toEqual([]);
    expect(outcome).toMatchObject({ reason, resumed: { interrupted: [], rerun: [] } });
    expect((await payloads(path, 'tool'))[0]).toMatchObject({
      failure: 'not_run',
      error: expect.stringContaining(why),
    });
  });

  test('beyond the tool-call budget was not started either', async () => {
    const { ran, tool } = counting();
    const turns = [calls(call('plain', {}, 'a'), call('plain', {}, 'b')), DONE];
    const options = { tools: [tool('plain')], budget: { toolCalls: 1 } };
    const path = await cutAfter(2, { model: talking(turns), ...options });
    const outcome = await resumed(path, { model: talking(turns), tools: options.tools });
    expect(ran).toEqual(['a']);
    expect(outcome.reason).toBe('tool_call_budget');
    const failures = (await payloads(path, 'tool')).map(({ failure }) => failure);
    expect(failures).toEqual(['interrupted', 'not_run']);
  });

  test('that fails by itself is told so, as before', async () => {
    const turns = [calls(call('nope', {}, 'a'), call('plain', '[1]', 'b')), DONE];
    const { tool } = counting();
    const options = { model: talking(turns), tools: [tool('plain')] };
    const path = await cutAfter(2, options);
    const outcome = await resumed(path, options);
    expect(outcome.resumed).toEqual({ times: 1, interrupted: [], rerun: [] });
    const failures = (await payloads(path, 'tool')).map(({ failure }) => failure);
    expect(failures).toEqual(['unknown_tool', 'invalid_arguments']);
  });

  test('is never run again by another tool of its name', async () => {
    const turns = [calls(call('reads', {}, 'a')), DONE];
    const { ran, tool } = counting();
    const path = await cutAfter(2, {
      model: talking(turns),
      tools: [tool('reads', { readOnly: true })],
    });
    const outcome = await resumed(path, {
      model: talking(turns),
      tools: [tool('reads', { readOnly: true, timeout: 5 })],
      allow: ['tools'],
    });
    expect(ran).toEqual(['a']);
    expect(outcome.resumed?.interrupted).toEqual([{ id: 'a', tool: 'reads' }]);
  });

  test('stays unknown if the resumed run is aborted, or out of time, at once', async () => {
    const turns = [calls(call('reads', {}, 'a'), call('reads', {}, 'b')), DONE];
    const { tool } = counting();
    const tools = [tool('reads', { readOnly: true, parallel: false })];
    const path = await cutAfter(2, { model: talking(turns), tools });
    const outcome = await resumed(path, {
      model: talking(turns),
      tools,
      signal: AbortSignal.abort(),
    });
    expect(outcome).toMatchObject({ reason: 'aborted', verified: null });
    // b is a stage of its own, which had not begun.
    const failures = (await payloads(path, 'tool')).map(({ failure }) => failure);
    expect(failures).toEqual(['interrupted', 'not_run']);
  });

  test('does not run if permission is denied now', async () => {
    const turns = [calls(call('reads', {}, 'a'), call('plain', {}, 'b')), DONE];
    const { ran, tool } = counting();
    const tools = [tool('reads', { readOnly: true }), tool('plain')];
    const path = await cutAfter(2, { model: talking(turns), tools });
    const asked: string[] = [];
    await resumed(path, {
      model: talking(turns),
      tools,
      permit: (request) => {
        asked.push(request.call.id);
        return { decision: 'deny', reason: 'not today' };
      },
    });
    // Nobody is asked about a call that will not run anyway.
    expect(asked).toEqual(['a']);
    expect(ran).toEqual(['a', 'b']);
    const failures = (await payloads(path, 'tool')).map(({ failure }) => failure);
    expect(failures).toEqual(['denied', 'interrupted']);
  });
});

const check: RunOptions['check'] = ({ answer }) => ({ ok: answer === 'done', detail: answer });

describe('what goes on from where it was', () => {
  const turns: Step[] = [
    calls(call('t', {}, 'a')),
    calls(call('t', {}, 'b')),
    calls(call('t', {}, 'c')),
    calls(call('t', {}, 'd')),
    DONE,
  ];
  const tools = [toolOf('t', () => 'same', { readOnly: true })];

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('all of it, after %i records', async (count) => {
    const whole = newPath();
    const options = { model: talking(turns), tools, budget: { steps: 8, tokens: 4000 } };
    const full = await run({ task: 'do it', ...options, check, transcript: whole });
    const path = await cutAfter(count, options);
    const outcome = await resumed(path, { model: talking(turns), tools, check });
    expect({ ...outcome, transcript: 0, resumed: 0, spent: 0 }).toEqual({
      ...full,
      transcript: 0,
      resumed: 0,
      spent: 0,
    });
    expect({ ...outcome.spent, seconds: 0 }).toEqual({ ...full.spent, seconds: 0 });
    // The note stands at the second landing, whichever process saw it.
    const notes = (await payloads(path, 'tool')).map((answer) => 'note' in answer);
    expect(notes).toEqual([false, true, false, false]);
  });

  test.each<[string, RunOptions['budget'], string]>([
    ['steps', { steps: 3 }, 'step_budget'],
    ['tokens', { tokens: 450 }, 'token_budget'],
    ['tool calls', { toolCalls: 3 }, 'tool_call_budget'],
  ])('the budget of %s', async (_name, budget = {}, reason) => {
    for (let count = 1; count <= 6; count += 1) {
      const path = await cutAfter(count, { model: talking(turns), tools, budget });
      const outcome = await resumed(path, { model: talking(turns), tools });
      expect(outcome, `after ${count} records`).toMatchObject({ reason });
      expect(outcome.spent.steps).toBeLessThanOrEqual(4);
    }
  });

  test('a stall', async () => {
    const options = { tools, watchdog: { onStall: 'stop', stallAfter: 3 } } as const;
    for (let count = 1; count <= 8; count += 1) {
      const path = await cutAfter(count, { model: talking(turns), ...options });
      const outcome = await resumed(path, { model: talking(turns), tools });
      expect(outcome, `after ${count} records`).toMatchObject({ reason: 'stalled' });
    }
  });

  test('the time, where records hold it: between crash and resume none passes', async () => {
    const clock = fakeClock(1_700_000_000_000);
    const slow: Step[] = turns.map((turn) => async () => {
      await clock.advance(10_000);
      return turn as Partial<ModelReply>;
    });
    // Turns end at 10, 20, 30 … seconds; records 4 is the second turn.
    const path = await cutAfter(4, { model: talking(slow), tools, clock, budget: { seconds: 35 } });
    await clock.advance(3_600_000);
    const outcome = await resumed(path, { model: talking(slow), tools, clock });
    expect(outcome).toMatchObject({ reason: 'time_budget', spent: { steps: 3 } });
    expect(outcome.budget).toEqual({ name: 'seconds', limit: 35, used: 35 });
  });

  test('the time begins again, where records hold none', async () => {
    const path = await cutAfter(4, { model: talking(turns), tools, budget: { seconds: 5 } });
    const outcome = await resumed(path, { model: talking(turns), tools });
    expect(outcome.reason).toBe('no_tool_calls');
    expect(readFileSync(path, 'utf8')).not.toContain('"at":');
  });

  test('a clock that is set back gives no time back', async () => {
    let time = 1_700_000_000_000;
    const clock = { now: () => time, timer: () => () => undefined };
    const back: Step[] = turns.map((turn, i) => () => {
      time += i % 2 === 0 ? 10_000 : -500_000;
      return turn as Partial<ModelReply>;
    });
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const path = await cutAfter(count, {
        model: talking(back),
        tools,
        clock,
        budget: { seconds: 15 },
      });
      const outcome = await resumed(path, { model: talking(back), tools, clock });
      expect(outcome).toMatchObject({ reason: 'time_budget' });
    }
  });
});

describe('the configuration', () => {
  const turns: Step[] = [calls(call('t', {}, 'a')), DONE];
  const tools = [toolOf('t', () => 1, { readOnly: true })];
  const begun = {
    model: talking(turns),
    tools,
    system: 'be brief',
    sentinel: 'STOP',
    budget: { steps: 4, tokens: 9000 },
    maxOutputTokens: 500,
    runId: 'r1',
    watchdog: { onStall: 'stop', stallAfter: 7 },
  } as const;

  test.each<[string, Partial<ResumeOptions>, string[], string]>([
    ['model', { model: talking(turns, 'other') }, ['model'], 'model was "talking" and is "other"'],
    ['tools', { tools: [] }, ['tools.t'], "Give what it began with, or allow: ['tools']"],
    [
      'tools',
      { tools: [toolOf('t', () => 1)] },
      ['tools.t.read_only'],
      'tools.t.read_only was true and is not there',
    ],
    [
      'budget',
      {
        budget: { steps: 5, usd: 1 },
        model: Object.assign(talking(turns), { price: { input: 1, output: 1 } }),
      },
      ['budget.steps', 'budget.usd', 'price'],
      'budget.steps was 4 and is 5; budget.usd was not there and is 1',
    ],
    [
      'budget',
      { budget: { tokens: undefined } },
      ['budget.tokens'],
      'budget.tokens was 9000 and is not there',
    ],
    ['system', { system: 'be long' }, ['system'], 'system was "be brief" and is "be long"'],
    ['sentinel', { sentinel: 'END' }, ['sentinel'], 'sentinel was'],
    ['maxOutputTokens', { maxOutputTokens: 5 }, ['max_output_tokens'], 'was 500 and is 5'],
    [
      'watchdog',
      { watchdog: { onStall: 'warn' } },
      ['stop_after_repeats'],
      'was 7 and is not there',
    ],
    ['runId', { runId: 'r2' }, ['id'], 'id was "r1" and is "r2"'],
  ])('another %s is an error that names it, unless allowed', async (part, other, names, words) => {
    const path = await cutAfter(3, begun);
    const before = readFileSync(path, 'utf8');
    const options = { model: talking(turns), tools, ...other };
    const error = await journalError(resume(path, options));
    expect(error).toMatchObject({ code: 'configuration' });
    expect(error.differences.map(({ name }) => name)).toEqual(names);
    expect(error.message).toContain(words);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(existsSync(`${path}.lock`)).toBe(false);
    const allow = [...new Set(error.differences.map((difference) => difference.part))] as never;
    const outcome = await resumed(path, { ...options, allow });
    expect(outcome.reason).toBe('no_tool_calls');
    const [resumption] = await payloads(path, 'resumed');
    expect(resumption?.['run'], part).toBeDefined();
  });

  test.each<[string, Partial<RunOptions>]>([
    ['check', { check: () => ({ ok: true }) }],
    ['permit', { permit: () => ({ decision: 'allow' }) }],
  ])('a %s that is forgotten is a difference, and one that is new is none', async (part, extra) => {
    const bound = await cutAfter(3, { ...begun, ...extra });
    const options = { model: talking(turns), tools };
    const error = await journalError(resume(bound, options));
    expect(error.message).toContain(`${part} was true and is not there`);
    expect(await resumed(bound, { ...options, ...extra })).toMatchObject({
      reason: 'no_tool_calls',
    });
    const without = await cutAfter(3, begun);
    const more = { ...options, ...extra } as ResumeOptions;
    expect(await resumed(without, more)).toMatchObject({ reason: 'no_tool_calls' });
  });

  test('a tool that is the same runs again although another changed', async () => {
    const script: Step[] = [calls(call('t', {}, 'a'), call('u', {}, 'b')), DONE];
    const ran: string[] = [];
    const counted = (name: string, extra: object) =>
      toolOf(name, (_args, { callId }) => ran.push(callId), { readOnly: true, ...extra });
    const path = await cutAfter(2, {
      model: talking(script),
      tools: [counted('t', {}), counted('u', {})],
    });
    const outcome = await resumed(path, {
      model: talking(script),
      tools: [counted('t', {}), counted('u', { timeout: 5 })],
      allow: ['tools'],
    });
    expect(ran).toEqual(['a', 'b', 'a']);
    expect(outcome.resumed).toMatchObject({ interrupted: [{ id: 'b' }], rerun: [{ id: 'a' }] });
  });

  test('what is not given is as it was, and what is given the same is no difference', async () => {
    const path = await cutAfter(3, begun);
    const model = talking(turns);
    await resumed(path, { ...begun, model, task: 'do it', repeats: true });
    expect((await payloads(path, 'resumed'))[0]).toEqual({ calls: [] });
    expect(model.asked[0]?.messages[0]).toEqual({ role: 'system', content: 'be brief' });
    expect(model.asked[0]?.maxOutputTokens).toBe(500);
  });

  test('another system prompt is what the model is told from there on', async () => {
    for (const system of ['be long', 'x']) {
      const path = await cutAfter(3, begun);
      const model = talking(turns);
      await resumed(path, { model, tools, system, allow: ['system'] });
      expect(model.asked[0]?.messages.map(({ role }) => role)).toEqual([
        'system',
        'user',
        'assistant',
        'tool',
      ]);
      expect(model.asked[0]?.messages[0]?.content).toBe(system);
    }
    const path = await cutAfter(3, { ...begun, system: undefined });
    const model = talking(turns);
    await resumed(path, { model, tools, system: 'new', allow: ['system'] });
    expect(model.asked[0]?.messages[0]).toEqual({ role: 'system', content: 'new' });
  });

  test('a larger budget carries a run on, and the record says so', async () => {
    const path = await cutAfter(3, { ...begun, budget: { steps: 1 } });
    const outcome = await resumed(path, {
      model: talking(turns),
      tools,
      budget: { steps: 2 },
      allow: ['budget'],
    });
    expect(outcome).toMatchObject({ reason: 'no_tool_calls', spent: { steps: 2 } });
  });

  test('another task is always an error', async () => {
    const path = await cutAfter(3, begun);
    const error = await journalError(resume(path, { model: talking(turns), tools, task: 'other' }));
    expect(error.message).toContain('task was "do it" and is "other". Leave the task out');
  });

  test('allow takes the parts that there are', async () => {
    const allow = ['budgets'] as never;
    const path = await cutAfter(3, begun);
    await expect(resume(path, { model: talking(turns), tools, allow })).rejects.toThrow(
      'allow must be a list of model, tools, budget',
    );
    for (const [wrong, message] of [
      [{ allow: 'budget' }, 'allow must be a list, of model'],
      [{ alow: [] }, "unknown option 'alow'; resume takes allow, task, model"],
      [{ transcript: path }, "unknown option 'transcript'"],
      [{ resume: true }, "unknown option 'resume'"],
    ] as const) {
      const options = { model: talking(turns), tools, ...wrong } as never;
      await expect(resume(path, options)).rejects.toThrow(message);
    }
  });
});

describe('what can not be resumed', () => {
  const model = talking([DONE]);

  test('a sealed run, a missing file, a broken one', async () => {
    const sealed = newPath();
    await run({ task: 'x', model, transcript: sealed });
    await storeError(resume(sealed, { model }), 'sealed');
    await storeError(resume(newPath(), { model }), 'missing');
    const broken = await cutAfter(2, { model });
    const edited = readFileSync(broken, 'utf8').replace('do it', 'do id');
    writeFileSync(broken, edited);
    await storeError(resume(broken, { model }), 'broken');
    expect(readFileSync(broken, 'utf8')).toBe(edited);
    const store = memoryStore();
    await run({ task: 'x', model, transcript: store });
    await storeError(resume(store, { model }), 'sealed');
  });

  test('a run that goes on', async () => {
    const path = newPath();
    const store = await createTranscript(path);
    await store.append([{ kind: 'user', payload: { content: 'x' } }]);
    await storeError(resume(path, { model }), 'locked');
    await store.close();
  });

  test('what another program wrote', async () => {
    const path = newPath();
    const store = await createTranscript(path);
    await store.append([{ kind: 'user', payload: { content: 'x' } }]);
    await store.close();
    const error = await journalError(resume(path, { model }));
    expect(error.message).toContain('holds no configuration (`run`)');
    expect(error.message).toContain('it can be verified and shown');
  });

  test.each<[string, string, object]>([
    ['a turn without content', 'assistant', { tool_calls: [] }],
    ['an answer to nothing', 'tool', { call: 'x', ok: true, value: 1 }],
    ['a second task', 'user', { content: 'x' }],
    ['a resume that names no calls', 'resumed', {}],
  ])('%s: the record is named', async (_name, kind, payload) => {
    const path = await cutAfter(1, { model });
    const { openTranscript } = await import('../../src/store/index.ts');
    const store = await openTranscript(path);
    await store.append([{ kind, payload: payload as never }]);
    await store.close();
    const before = readFileSync(path, 'utf8');
    const error = await journalError(resume(path, { model }));
    expect(error).toMatchObject({ code: 'unusable' });
    expect(error.message).toContain(`record 1 (${kind}) isn't one that hashtape's loop writes`);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

describe('run with resume', () => {
  const turns: Step[] = [calls(call('t', {}, 'a')), DONE];
  const tools = [toolOf('t', () => 1, { readOnly: true })];

  test('begins, goes on, and refuses what has ended', async () => {
    const path = newPath();
    const options = { task: 'do it', model: talking(turns), tools, transcript: path, resume: true };
    expect(await run(options)).toMatchObject({ reason: 'no_tool_calls' });
    expect(await run({ ...options, transcript: newPath() })).not.toHaveProperty('resumed');
    await storeError(run(options), 'sealed');
    const cut = await cutAfter(3, { model: talking(turns), tools });
    expect(await run({ ...options, transcript: cut })).toMatchObject({
      reason: 'no_tool_calls',
      resumed: { times: 1 },
    });
  });

  test('of another task is an error', async () => {
    const cut = await cutAfter(3, { model: talking(turns), tools });
    const options = { task: 'other', model: talking(turns), tools, transcript: cut, resume: true };
    await journalError(run(options));
  });

  test('in a store: empty or open', async () => {
    const store = memoryStore();
    const options = { task: 'do it', tools, transcript: store, resume: true };
    const broken = new Error('the process dies here');
    const dying = talking([
      calls(call('t', {}, 'a')),
      () => {
        throw broken;
      },
    ]);
    expect(await run({ ...options, model: dying })).toMatchObject({ reason: 'model_error' });
    await storeError(run({ ...options, model: dying }), 'sealed');
    expect(
      await run({ ...options, transcript: memoryStore(), model: talking(turns) }),
    ).not.toHaveProperty('resumed');
  });

  test('a file without a whole record, or without any, is begun', async () => {
    for (const text of ['', '{"hash":"12']) {
      const path = newPath();
      writeFileSync(path, text);
      const outcome = await resume(path, { task: 'do it', model: talking(turns), tools });
      expect(outcome.reason).toBe('no_tool_calls');
      expect(await verifyFile(path)).toMatchObject({ ok: true, sealed: true });
      expect(await replay(path)).toMatchObject({ ok: true });
      const error = await journalError(
        (async () => {
          writeFileSync(path, text);
          return resume(path, { model: talking(turns), tools });
        })(),
      );
      expect(error.message).toContain('no task is recorded in it');
    }
  });
});

test('a price that comes with the resume is that of all turns', async () => {
  const turns: Step[] = [1, 2, 3, 4].map((n) => calls(call('t', { n }))).concat([DONE]);
  const tools = [toolOf('t', () => 1, { readOnly: true })];
  const path = await cutAfter(5, { model: talking(turns), tools });
  const price = { input: 100, output: 100 };
  const outcome = await resumed(path, {
    model: Object.assign(talking(turns), { price }),
    tools,
    budget: { usd: 0.04 },
    allow: ['price', 'budget'],
  });
  // 110 tokens a turn, at 0.0001 each: the fourth turn overruns.
  expect(outcome).toMatchObject({ reason: 'cost_budget', spent: { usd: 0.044, steps: 4 } });
});

test.each([[5], [null], [{}]])('resume(%j) is told what it takes', async (place) => {
  await expect(resume(place as never, { model: talking([DONE]) })).rejects.toThrow(
    'resume takes a path, a URL or a store',
  );
});
