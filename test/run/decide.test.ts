/**
 * What a run does next, as a table: every stop reason that is decided, and their order.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type Rules } from '../../src/run/configuration.ts';
import { decide, type Next, type Now } from '../../src/run/decide.ts';
import { readArguments } from '../../src/run/arguments.ts';
import { type Answer, type Turn, type TurnCall } from '../../src/run/payloads.ts';
import { RunState } from '../../src/run/state.ts';
import { usageOf } from '../../src/run/usage.ts';

const RULES: Rules = {
  budget: {},
  price: undefined,
  sentinel: undefined,
  maxOutputTokens: undefined,
  stopAfterRepeats: undefined,
};
const NOW: Now = { abort: null, seconds: 0 };
const PRICE = { input: 1000, output: 1000 };

interface Situation {
  /** The newest turn; none before the first. */
  turn?: Partial<Turn> & { names?: readonly string[] };
  /** How many of its calls have an answer. */
  answered?: number;
  rules?: Partial<Rules>;
  now?: Partial<Now>;
  /** Equal calls that were answered before. */
  repeats?: number;
}

function callNamed(name: string, id: string): TurnCall {
  return { id, name, ...readArguments('{}'), arguments: {} };
}

function answerTo(call: TurnCall): Answer {
  return { call, ok: true, text: '"same"' };
}

function turnOf({ names = [], ...turn }: NonNullable<Situation['turn']>): Turn {
  return {
    content: '',
    calls: names.map((name, i) => callNamed(name, `${name}${i}`)),
    usage: usageOf({ input: 10, output: 5 }),
    stop: 'end',
    failedAttempts: [],
    ...turn,
  };
}

function next({ turn, answered = 0, rules, now, repeats = 0 }: Situation): Next {
  const settled = { ...RULES, ...rules };
  const state = new RunState({
    ...settled,
    model: 'test',
    tools: '',
    manifest: [], // two characters of JSON
    system: undefined,
    runId: undefined,
    checked: false,
    permitted: false,
    redact: undefined,
  });
  state.started('task');
  const landings = repeats > 0 ? repeats + 1 : 0;
  for (let i = 0; i < landings; i += 1) {
    const past = turnOf({ names: ['poll'] });
    state.turnTaken(past);
    for (const call of past.calls) state.callAnswered(answerTo(call));
  }
  if (turn !== undefined) {
    const newest = turnOf(turn);
    state.turnTaken(newest);
    for (const call of newest.calls.slice(0, answered)) state.callAnswered(answerTo(call));
  }
  return decide(state, settled, { ...NOW, ...now });
}

/** A decision in a few words. */
function words(decision: Next): string {
  return decision.do === 'stop' ? decision.reason : decision.do;
}

/** Everything that could stop a run at once. */
const ALL: Situation = {
  turn: {
    content: 'DONE',
    stop: 'refused',
    names: ['a'],
    usage: usageOf({ input: 1e6, output: 1e6 }),
  },
  rules: {
    sentinel: 'DONE',
    price: PRICE,
    budget: { steps: 1, seconds: 1, toolCalls: 0, tokens: 10, usd: 0.001 },
    stopAfterRepeats: 1,
  },
  now: { abort: { reason: 'aborted' }, seconds: 9 },
};

describe('before a turn', () => {
  test.each<[string, Situation, string]>([
    ['nothing stops it', {}, 'ask'],
    ['abort', { now: { abort: { reason: 'aborted' } } }, 'aborted'],
    [
      'abort before budgets',
      { now: { abort: { reason: 'aborted' } }, rules: { budget: { steps: 0 } } },
      'aborted',
    ],
    ['steps', { rules: { budget: { steps: 0 } } }, 'step_budget'],
    ['seconds', { rules: { budget: { seconds: 5 } }, now: { seconds: 5 } }, 'time_budget'],
    ['seconds left', { rules: { budget: { seconds: 5 } }, now: { seconds: 4.999 } }, 'ask'],
    ['tool calls', { rules: { budget: { toolCalls: 0 } } }, 'tool_call_budget'],
    ['tokens', { rules: { budget: { tokens: 0 } } }, 'token_budget'],
    ['no room for output', { rules: { budget: { tokens: 1 } } }, 'token_budget'],
    ['room for one token', { rules: { budget: { tokens: 2 } } }, 'ask'],
    ['cost', { rules: { budget: { usd: 0 }, price: PRICE } }, 'cost_budget'],
    ['no cent for output', { rules: { budget: { usd: 0.001 }, price: PRICE } }, 'cost_budget'],
    ['repeats that only warn', { repeats: 9 }, 'ask'],
    ['one repeat too few', { repeats: 2, rules: { stopAfterRepeats: 3 } }, 'ask'],
    ['a stall', { repeats: 3, rules: { stopAfterRepeats: 3 } }, 'stalled'],
    [
      'a budget before a stall',
      { repeats: 3, rules: { stopAfterRepeats: 3, budget: { steps: 4 } } },
      'step_budget',
    ],
  ])('%s', (_, situation, expected) => {
    expect(words(next(situation))).toBe(expected);
    if (situation.repeats === undefined) {
      // The same after a turn whose calls are all answered, if that turn cost nothing that counts.
      const { budget = {} } = situation.rules ?? {};
      if (Object.values(budget).every((limit) => limit > 4 || limit === 0))
        expect(words(next({ ...situation, turn: { names: ['a', 'b'] }, answered: 2 }))).toBe(
          expected,
        );
    }
  });

  test('the cap and the budget bound the output', () => {
    expect(next({ rules: { maxOutputTokens: 7 } })).toEqual({ do: 'ask', maxOutputTokens: 7 });
    expect(next({})).toEqual({ do: 'ask', maxOutputTokens: undefined });
    expect(next({ rules: { budget: { tokens: 101 } } })).toEqual({
      do: 'ask',
      maxOutputTokens: 100,
    });
  });
});

describe('after a turn', () => {
  test.each<[string, Situation, string]>([
    ['no calls', { turn: { content: 'x' } }, 'no_tool_calls'],
    ['an empty turn', { turn: {} }, 'no_tool_calls'],
    ['no calls, cut', { turn: { stop: 'length' } }, 'cut_off'],
    ['no calls, over budget', { turn: {}, rules: { budget: { tokens: 1 } } }, 'no_tool_calls'],
    ['no calls, aborted', { turn: {}, now: { abort: { reason: 'aborted' } } }, 'no_tool_calls'],
    ['refused', { turn: { stop: 'refused' } }, 'refused'],
    ['refused with calls', { turn: { stop: 'refused', names: ['a'] } }, 'refused'],
    ['the sentinel', { turn: { content: '.. DONE ..' }, rules: { sentinel: 'DONE' } }, 'sentinel'],
    [
      'the sentinel and a call',
      { turn: { content: 'DONE', names: ['a'] }, rules: { sentinel: 'DONE' } },
      'sentinel',
    ],
    ['another word', { turn: { content: 'done' }, rules: { sentinel: 'DONE' } }, 'no_tool_calls'],
    ['calls', { turn: { names: ['a'] } }, 'call'],
    ['calls, one answered', { turn: { names: ['a', 'b'] }, answered: 1 }, 'call'],
    ['calls, cut', { turn: { names: ['a'], stop: 'length' } }, 'skip'],
    [
      'calls, cut and over budget',
      { turn: { names: ['a'], stop: 'length' }, rules: { budget: { tokens: 14 } } },
      'token_budget',
    ],
    [
      'calls at the token budget',
      { turn: { names: ['a'] }, rules: { budget: { tokens: 15 } } },
      'call',
    ],
    [
      'calls over it',
      { turn: { names: ['a'] }, rules: { budget: { tokens: 14 } } },
      'token_budget',
    ],
    [
      'calls over the cost budget',
      { turn: { names: ['a'] }, rules: { budget: { usd: 0.014 }, price: PRICE } },
      'cost_budget',
    ],
    [
      'calls, aborted',
      { turn: { names: ['a'] }, now: { abort: { reason: 'aborted' } } },
      'aborted',
    ],
    [
      'calls, no time',
      { turn: { names: ['a'] }, rules: { budget: { seconds: 5 } }, now: { seconds: 5 } },
      'time_budget',
    ],
    // The last step's calls still run: steps are checked before a turn.
    ['calls of the last step', { turn: { names: ['a'] }, rules: { budget: { steps: 1 } } }, 'call'],
  ])('%s', (_, situation, expected) => {
    expect(words(next(situation))).toBe(expected);
  });

  test('the order, from everything at once', () => {
    const order: string[] = [];
    const { turn, rules, now } = ALL;
    const step = (situation: Situation): void => {
      order.push(words(next(situation)));
    };
    step(ALL);
    const mute = { ...turn, content: '' };
    step({ ...ALL, turn: mute });
    const cut = { ...mute, stop: 'length' as const };
    step({ ...ALL, turn: cut });
    const noTokens = { ...rules, budget: { ...rules?.budget, tokens: 1e9 } };
    step({ ...ALL, turn: cut, rules: noTokens });
    const noUsd = { ...noTokens, budget: { ...noTokens.budget, usd: 1e9 } };
    step({ ...ALL, turn: cut, rules: noUsd });
    const whole = { ...cut, stop: 'end' as const };
    step({ ...ALL, turn: whole, rules: noUsd });
    step({ ...ALL, turn: whole, rules: noUsd, now: { ...now, abort: null } });
    step({ ...ALL, turn: whole, rules: noUsd, now: NOW });
    expect(order).toEqual([
      'sentinel',
      'refused',
      'token_budget',
      'cost_budget',
      'skip',
      'aborted',
      'time_budget',
      'call',
    ]);
  });

  test('a budget that stops is named, with its limit and use', () => {
    expect(next({ turn: { names: ['a'] }, rules: { budget: { tokens: 14 } } })).toMatchObject({
      budget: { name: 'tokens', limit: 14, used: 15 },
      why: 'the token budget of 14 is used up',
    });
    expect(next({ rules: { budget: { steps: 0 } } })).toMatchObject({
      budget: { name: 'steps', limit: 0, used: 0 },
    });
  });
});
