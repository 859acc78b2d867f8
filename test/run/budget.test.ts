/**
 * Budgets as pure arithmetic: what is accepted, what is left, what a call costs, which limit stops.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chargeFor,
  checkBudget,
  checkPrice,
  DEFAULT_BUDGET,
  exhausted,
  nanoUsd,
  overrun,
  roomForOutput,
  type Spent,
} from '../../src/run/budget.ts';
import { estimateTokens, codePoints, tokenCount, usageOf } from '../../src/run/usage.ts';

const NOTHING: Spent = {
  steps: 0,
  toolCalls: 0,
  tokens: 0,
  estimatedTokens: 0,
  usd: 0,
  seconds: 0,
};
const PRICE = { input: 3, output: 15 };

describe('checkBudget', () => {
  test.each([
    [{ steps: 0 }],
    [{ steps: 8, tokens: 20_000, usd: 0.05, seconds: 60, toolCalls: 20 }],
    [{ usd: 0.000_001, seconds: 0.5 }],
    [{ steps: undefined }],
    [{}],
    [{ tokens: Number.MAX_SAFE_INTEGER }],
  ])('accepts %j', (budget) => {
    expect(checkBudget(budget)).toEqual(budget);
  });

  test.each(['steps', 'tokens', 'toolCalls', 'usd', 'seconds'])('%s must be a number', (name) => {
    for (const value of ['5', null, true, 5n, [5], {}, () => 5]) {
      expect(() => checkBudget({ [name]: value })).toThrow(TypeError);
      expect(() => checkBudget({ [name]: value })).toThrow(`budget.${name} must be`);
    }
    for (const value of [-1, -0.5, Number.NaN, Infinity, -Infinity]) {
      expect(() => checkBudget({ [name]: value })).toThrow(RangeError);
      expect(() => checkBudget({ [name]: value })).toThrow(`got ${value}`);
    }
  });

  test.each(['steps', 'tokens', 'toolCalls'])('%s must be whole', (name) => {
    expect(() => checkBudget({ [name]: 2.5 })).toThrow(
      `budget.${name} must be a whole number of at least 0, got 2.5`,
    );
    expect(() => checkBudget({ [name]: 2 ** 53 })).toThrow(RangeError);
  });

  test.each(['usd', 'seconds'])('%s may be a fraction', (name) => {
    expect(checkBudget({ [name]: 2.5 })).toEqual({ [name]: 2.5 });
  });

  test.each([['maxSteps'], ['step'], ['Tokens'], ['dollars'], ['constructor'], ['wallMs']])(
    'refuses the unknown name %s, and lists the names',
    (name) => {
      expect(() => checkBudget({ [name]: 5 })).toThrow(
        `unknown budget '${name}'; the budgets are steps, tokens, usd, seconds, toolCalls`,
      );
      expect(() => checkBudget({ [name]: undefined })).toThrow(TypeError);
    },
  );

  test.each([[null], [undefined], [5], ['steps'], [[1]], [true]])('refuses %j whole', (budget) => {
    expect(() => checkBudget(budget)).toThrow(
      'budget must be an object, as { steps: 8, tokens: 20_000 }',
    );
  });

  test('gives a copy', () => {
    const budget = { steps: 3 };
    const checked = checkBudget(budget);
    budget.steps = 5;
    expect(checked.steps).toBe(3);
  });

  test('the default ends', () => {
    expect(DEFAULT_BUDGET.steps).toBeGreaterThan(0);
  });
});

describe('exhausted', () => {
  const ALL = { steps: 1, seconds: 1, toolCalls: 1, tokens: 1, usd: 1 };
  const SPENT: Spent = { ...NOTHING, steps: 1, toolCalls: 1, tokens: 1, usd: 1, seconds: 1 };

  test('names the first in the order steps, seconds, toolCalls, tokens, usd', () => {
    const left: { [name: string]: number } = { ...ALL };
    const order: string[] = [];
    for (let found = exhausted(left, SPENT); found !== null; found = exhausted(left, SPENT)) {
      order.push(found.name);
      expect(found).toEqual({ name: found.name, limit: 1, used: 1 });
      delete left[found.name];
    }
    expect(order).toEqual(['steps', 'seconds', 'toolCalls', 'tokens', 'usd']);
  });

  test.each(['steps', 'seconds', 'toolCalls', 'tokens', 'usd'] as const)(
    '%s is used up at its limit, not one before, and zero is zero',
    (name) => {
      expect(exhausted({ [name]: 2 }, { ...NOTHING, [name]: 1 })).toBeNull();
      expect(exhausted({ [name]: 2 }, { ...NOTHING, [name]: 2 })).toEqual({
        name,
        limit: 2,
        used: 2,
      });
      expect(exhausted({ [name]: 2 }, { ...NOTHING, [name]: 3 })?.used).toBe(3);
      expect(exhausted({ [name]: 0 }, NOTHING)).toEqual({ name, limit: 0, used: 0 });
    },
  );

  test('unknown dollars are none', () => {
    expect(exhausted({ usd: 0.5 }, { ...NOTHING, usd: null })).toBeNull();
  });

  test('what is not limited never is', () => {
    expect(exhausted({}, { ...SPENT, tokens: 1e15 })).toBeNull();
    expect(exhausted({ steps: undefined }, SPENT)).toBeNull();
  });
});

describe('overrun', () => {
  test.each([
    [{ tokens: 10 }, { tokens: 10 }, null],
    [{ tokens: 10 }, { tokens: 11 }, { name: 'tokens', limit: 10, used: 11 }],
    [{ usd: 1 }, { usd: 1 }, null],
    [{ usd: 1 }, { usd: 1.000_000_001 }, { name: 'usd', limit: 1, used: 1.000_000_001 }],
    [{ usd: 1 }, { usd: null }, null],
    [
      { tokens: 1, usd: 1 },
      { tokens: 2, usd: 2 },
      { name: 'tokens', limit: 1, used: 2 },
    ],
    [{ steps: 1, toolCalls: 1, seconds: 1 }, { steps: 9, toolCalls: 9, seconds: 9 }, null],
  ])('%j with %j spent: %j', (budget, spent, found) => {
    expect(overrun(budget, { ...NOTHING, ...spent })).toEqual(found);
  });
});

describe('roomForOutput', () => {
  test.each([
    ['nothing limits', {}, {}, undefined, undefined, undefined],
    ['the cap', {}, {}, undefined, 500, 500],
    ['tokens after the input', { tokens: 1000 }, { tokens: 300 }, undefined, undefined, 600],
    ['a cap below that', { tokens: 1000 }, { tokens: 300 }, undefined, 50, 50],
    ['a cap above that', { tokens: 1000 }, { tokens: 300 }, undefined, 5000, 600],
    ['one token', { tokens: 401 }, { tokens: 300 }, undefined, undefined, 1],
    // 100 input tokens cost $0.0003; $0.0007 is left for output at $0.000015.
    ['dollars', { usd: 0.001 }, {}, PRICE, undefined, 46],
    ['dollars after what was spent', { usd: 0.002 }, { usd: 0.001 }, PRICE, undefined, 46],
    [
      'dollars where nothing is known to be spent',
      { usd: 0.001 },
      { usd: null },
      PRICE,
      undefined,
      46,
    ],
    ['dollars for one token', { usd: 0.000_315 }, {}, PRICE, undefined, 1],
    ['a price, but no cost budget', {}, {}, PRICE, undefined, undefined],
    ['dollars and tokens', { usd: 0.001, tokens: 130 }, {}, PRICE, undefined, 30],
    ['dearer reasoning', { usd: 0.001 }, {}, { ...PRICE, reasoning: 70 }, undefined, 10],
    ['free output', { usd: 0.001 }, {}, { input: 3, output: 0 }, undefined, undefined],
  ] as const)('%s', (_, budget, spent, price, cap, room) => {
    expect(roomForOutput(budget, { ...NOTHING, ...spent }, 100, price, cap)).toEqual({
      ok: true,
      maxOutputTokens: room,
    });
  });

  test.each([
    [
      'no token',
      { tokens: 400 },
      { tokens: 300 },
      undefined,
      { name: 'tokens', limit: 400, used: 300 },
    ],
    [
      'no cent, of what is not known',
      { usd: 0.0003 },
      { usd: null },
      PRICE,
      { name: 'usd', limit: 0.0003, used: 0 },
    ],
    ['no cent', { usd: 0.0003 }, {}, PRICE, { name: 'usd', limit: 0.0003, used: 0 }],
    [
      'free output, dear input',
      { usd: 0.0002 },
      {},
      { input: 3, output: 0 },
      { name: 'usd', limit: 0.0002, used: 0 },
    ],
  ] as const)('no room: %s', (_, budget, spent, price, exceeded) => {
    expect(roomForOutput(budget, { ...NOTHING, ...spent }, 100, price, undefined)).toEqual({
      ok: false,
      ...exceeded,
    });
  });

  test('what it leaves never overruns, if the estimate of the input holds', () => {
    const price = fc.record({
      input: fc.double({ min: 0, max: 100, noNaN: true }),
      output: fc.double({ min: 0, max: 100, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(5000),
        price,
        (tokens, usd, input, rates) => {
          const budget = { tokens, usd };
          const room = roomForOutput(budget, NOTHING, input, rates, undefined);
          if (!room.ok) return;
          const usage = usageOf({ input, output: room.maxOutputTokens });
          const charge = chargeFor(usage, { input, output: 0 }, rates);
          expect(charge.tokens).toBeLessThanOrEqual(tokens);
          // Each of the two is rounded to a billionth.
          expect(charge.nanoUsd).toBeLessThanOrEqual(nanoUsd(usd) + 1);
        },
      ),
    );
  });
});

describe('chargeFor', () => {
  const ESTIMATE = { input: 1000, output: 500 };
  const COUNTERS = { input: 1, cacheRead: 2, cacheWrite: 4, output: 8, reasoning: 16 };

  test('every pattern of unknown counters', () => {
    const names = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;
    for (let mask = 0; mask < 32; mask += 1) {
      const known = names.filter((_, bit) => ((mask >> bit) & 1) === 1);
      const usage = usageOf(Object.fromEntries(known.map((name) => [name, COUNTERS[name]])));
      const said = known.reduce((sum, name) => sum + COUNTERS[name], 0);
      const guessed =
        (known.includes('input') ? 0 : ESTIMATE.input) +
        (known.includes('output') ? 0 : ESTIMATE.output);
      const charge = chargeFor(usage, ESTIMATE, undefined);
      expect(Object.values(charge.counts).reduce((sum, n) => sum + n)).toBe(charge.tokens);
      expect(charge, known.join(' ')).toMatchObject({
        tokens: said + guessed,
        estimated: guessed,
        nanoUsd: 0,
      });
    }
  });

  test.each([
    // Dollars per million tokens are thousands of billionths per token.
    [PRICE, 1000 * 3 * (1 + 2 + 4) + 1000 * 15 * (8 + 16)],
    [{ ...PRICE, cacheRead: 0.3, cacheWrite: 3.75 }, 3000 + 600 + 15_000 + 1000 * 15 * (8 + 16)],
    [{ ...PRICE, reasoning: 1 }, 21_000 + 120_000 + 16_000],
    [{ ...PRICE, cacheRead: 0 }, 15_000 + 360_000],
  ])('costs at %j', (price, nano) => {
    expect(chargeFor(COUNTERS, ESTIMATE, price).nanoUsd).toBe(nano);
  });

  test('estimates cost too', () => {
    expect(chargeFor(null, ESTIMATE, PRICE)).toMatchObject({
      tokens: 1500,
      estimated: 1500,
      nanoUsd: 3_000_000 + 7_500_000,
    });
  });

  test('the cost of ten thousand calls has not drifted', () => {
    let nano = 0;
    for (let i = 0; i < 10_000; i += 1)
      nano += chargeFor(usageOf({ input: 1, output: 0 }), ESTIMATE, {
        input: 0.1,
        output: 1,
      }).nanoUsd;
    expect(nano / 1e9).toBe(0.001);
  });
});

describe('checkPrice', () => {
  test.each([[PRICE], [{ input: 0, output: 0 }], [{ ...PRICE, cacheRead: 0.1, reasoning: 2 }]])(
    'accepts %j',
    (price) => {
      expect(() => {
        checkPrice(price);
      }).not.toThrow();
    },
  );

  test.each([
    [{ input: 3 }, 'a price needs input and output'],
    [{ output: 3 }, 'a price needs input and output'],
    [
      { ...PRICE, input: -1 },
      'price.input must be a number of at least 0, US dollars per million tokens; got -1',
    ],
    [{ ...PRICE, output: Number.NaN }, 'price.output must be'],
    [{ ...PRICE, cacheRead: Infinity }, 'price.cacheRead must be'],
    [
      { ...PRICE, input: '3' },
      'price.input must be a number of at least 0, US dollars per million tokens; got string',
    ],
    [{ ...PRICE, cached: 1 }, "unknown price 'cached'; the prices are input, output, cacheRead"],
  ])('refuses %j', (price, message) => {
    // Callers in JavaScript have no types.
    expect(() => {
      checkPrice(price as never);
    }).toThrow(message);
  });
});

describe('usage', () => {
  test.each([
    [Number.NaN],
    [-5],
    ['12'],
    [1e21],
    [1.5],
    [null],
    [undefined],
    [Infinity],
    [5n],
    [{}],
  ])('no count: %s', (value) => {
    expect(tokenCount(value)).toBeNull();
    expect(usageOf({ input: value })).toBeNull();
  });

  test('zero is a count, and unknown counters stay unknown', () => {
    expect(usageOf({ input: 0 })).toEqual({
      input: 0,
      cacheRead: null,
      cacheWrite: null,
      output: null,
      reasoning: null,
    });
    expect(usageOf({})).toBeNull();
  });

  test.each([
    ['', 1],
    ['abc', 1],
    ['abcdefg', 1],
    ['abcdefgh', 2],
    ['😀'.repeat(8), 2],
    ['\ud800'.repeat(8), 2],
    ['\udc00\ud800'.repeat(4), 1], // four units pair up in the middle
  ])('the estimate for %j is %i', (text, tokens) => {
    expect(estimateTokens(codePoints(text))).toBe(tokens);
  });

  test('code points are counted as the iterator of strings does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(codePoints(text)).toBe(Array.from(text).length);
      }),
    );
    expect(codePoints('a\ud800\ud83d\ude00\udc00')).toBe(4);
  });
});

test('limits that are not given are not there, and prices may be left out', () => {
  expect(Object.keys(checkBudget({ steps: 1, usd: undefined }))).toEqual(['steps']);
  expect(() => checkPrice({ input: 1, output: 1, cacheRead: undefined })).not.toThrow();
  const free = roomForOutput({ usd: 1 }, NOTHING, 10, { input: 0, output: 0 }, undefined);
  expect(free).toEqual({ ok: true, maxOutputTokens: undefined });
  expect(overrun({ usd: 1 }, { ...NOTHING, usd: null })).toBeNull();
  expect(overrun({ tokens: 1 }, { ...NOTHING, tokens: 1, usd: 9 })).toBeNull();
});
