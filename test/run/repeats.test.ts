/**
 * Repeats and stalls as pure bookkeeping: which landing is noted, and what the note says.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  fingerprints,
  NOTED_OCCURRENCE,
  RepeatLedger,
  repeatNote,
  type Landing,
} from '../../src/run/repeats.ts';
import { StallDetector } from '../../src/run/stall.ts';

const BASE: Landing = {
  tool: 'lookup',
  arguments: '{"n":1,"q":"Q3"}',
  result: '"the same 40 rows"',
  ok: true,
  comparedBy: 'result',
};

function counts(...landings: readonly Partial<Landing>[]): number[] {
  const ledger = new RepeatLedger();
  return landings.map((landing) => ledger.add({ ...BASE, ...landing }));
}

describe('RepeatLedger', () => {
  test.each([
    ['the same', [{}, {}, {}, {}], [1, 2, 3, 4]],
    ['another result', [{}, { result: '"other"' }, {}], [1, 1, 2]],
    ['other arguments', [{}, { arguments: '{"n":2}' }, {}], [1, 1, 2]],
    ['another tool', [{}, { tool: 'find' }, {}], [1, 1, 2]],
    ['an error with the words of a value', [{}, { ok: false }, {}], [1, 1, 2]],
    ['not in a row: A B A B', [{}, { tool: 'b' }, {}, { tool: 'b' }], [1, 1, 2, 2]],
    [
      'by arguments: any result',
      [
        { comparedBy: 'arguments' },
        { comparedBy: 'arguments', result: '"x"' },
        { comparedBy: 'arguments', ok: false },
      ],
      [1, 2, 3],
    ],
    [
      'by arguments: other arguments',
      [{ comparedBy: 'arguments' }, { comparedBy: 'arguments', arguments: '{}' }],
      [1, 1],
    ],
    ['both modes are apart', [{}, { comparedBy: 'arguments' }], [1, 1]],
    // Parts never run into each other.
    [
      'the same characters, cut elsewhere',
      [
        { tool: 'a', arguments: 'b', result: 'c' },
        { tool: 'ab', arguments: '', result: 'c' },
        { tool: 'a', arguments: 'bc', result: '' },
        { tool: 'a","b', arguments: '', result: 'c' },
      ],
      [1, 1, 1, 1],
    ],
  ] as const)('%s', (_, landings, expected) => {
    expect(counts(...landings)).toEqual(expected);
  });

  test('occurrences asks without counting', () => {
    const ledger = new RepeatLedger();
    expect(ledger.occurrences(BASE)).toBe(1);
    expect(ledger.occurrences(BASE)).toBe(1);
    ledger.add(BASE);
    expect(ledger.occurrences(BASE)).toBe(NOTED_OCCURRENCE);
    expect(ledger.add(BASE)).toBe(NOTED_OCCURRENCE);
  });

  test('results that a 32-bit fingerprint takes for equal are not (E1)', () => {
    const { agentfootprint } = JSON.parse(
      readFileSync(new URL('../testdata/seeds/vectors.json', import.meta.url), 'utf8'),
    );
    const [a, b, hash] = agentfootprint.fnv_collision;
    expect(fnv(a).toString(16)).toBe(hash);
    expect(fnv(b).toString(16)).toBe(hash);
    expect(counts({ result: a }, { result: b })).toEqual([1, 1]);
  });

  test('16,000 distinct calls cost one hash each (E2)', () => {
    let read = 0;
    const ledger = new RepeatLedger();
    for (let i = 0; i < 16_000; i += 1) {
      ledger.add({
        ...BASE,
        get arguments() {
          read += 1;
          return String(i);
        },
      });
    }
    expect(read).toBe(16_000);
    expect(ledger.occurrences({ ...BASE, arguments: '15999' })).toBe(2);
    expect(ledger.occurrences({ ...BASE, arguments: '16000' })).toBe(1);
  });
});

/** FNV-1a over UTF-16 units, as the seed hashed. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

describe('fingerprints', () => {
  test('tell equal from different, and hold no value', () => {
    const { argumentsHash, resultHash } = fingerprints(BASE);
    expect(argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(resultHash).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprints({ ...BASE })).toEqual({ argumentsHash, resultHash });
    expect(fingerprints({ ...BASE, ok: false }).resultHash).not.toBe(resultHash);
    expect(fingerprints({ ...BASE, result: '1' }).resultHash).not.toBe(resultHash);
    expect(fingerprints({ ...BASE, arguments: '{}' }).argumentsHash).not.toBe(argumentsHash);
  });
});

describe('repeatNote', () => {
  const note = repeatNote(BASE);
  const failed = repeatNote({ ...BASE, ok: false });
  const byArguments = repeatNote({ ...BASE, comparedBy: 'arguments' });

  test.each([note, failed, byArguments])('names the tool and the way out: %s', (text) => {
    expect(text).toContain('lookup');
    expect(text).toContain('second time in this run');
    expect(text).toContain('exactly these arguments');
    expect(text).toContain('change the arguments');
    expect(text).toContain('waiting for');
  });

  test('says what was compared, and nothing else', () => {
    expect(note).toContain('gave exactly this result');
    expect(failed).toContain('failed with exactly this error');
    expect(byArguments).toContain('only the arguments are compared, not the results');
    expect(byArguments).not.toMatch(/exactly this (?:result|error)/);
  });

  test('is true when other calls came between (E8)', () => {
    for (const text of [note, failed, byArguments]) {
      expect(text).not.toMatch(/in a row|again and again|nothing (?:has )?(?:changed|happened)/i);
      expect(text).not.toContain('will not change');
    }
    expect(note).toContain('Unless something else has changed in between');
  });

  test('holds neither arguments nor result', () => {
    expect(note).not.toContain('Q3');
    expect(note).not.toContain('40 rows');
  });
});

/** Feeds calls by name; an upper-case name succeeds, a lower-case one fails. */
function stalls(sequence: string): number[] {
  const seen = new Map<string, number>();
  const detector = new StallDetector();
  return sequence.split(' ').map((name) => {
    const occurrences = (seen.get(name) ?? 0) + 1;
    seen.set(name, occurrences);
    detector.landed(name.toUpperCase() === name, occurrences);
    return detector.repeats;
  });
}

describe('StallDetector', () => {
  test.each([
    ['A A A A', [0, 1, 2, 3]],
    ['A B A B A B', [0, 0, 1, 2, 3, 4]],
    ['A B C A B C', [0, 0, 0, 1, 2, 3]],
    ['e e e', [0, 1, 2]],
    // A new failure is no progress; a new success is.
    ['A A e A', [0, 1, 1, 2]],
    ['A A B A', [0, 1, 0, 1]],
    // Build, edit, build: the second build repeats, but edits bring something new each time.
    ['BUILD EDIT1 BUILD EDIT2 BUILD EDIT3 BUILD', [0, 0, 1, 0, 1, 0, 1]],
    ['e f g h', [0, 0, 0, 0]],
  ])('%s', (sequence, repeats) => {
    expect(stalls(sequence)).toEqual(repeats);
  });
});

test('a value and an error of the same text are different results', () => {
  const value: Landing = {
    tool: 't',
    arguments: '{}',
    result: 'x',
    ok: true,
    comparedBy: 'result',
  };
  const error: Landing = { ...value, ok: false };
  const ledger = new RepeatLedger();
  ledger.add(value);
  expect(ledger.occurrences(error)).toBe(1);
  expect(ledger.occurrences(value)).toBe(2);
  expect(fingerprints(error).resultHash).not.toBe(fingerprints(value).resultHash);
  // A text that begins with the other's mark is not the other either.
  expect(ledger.occurrences({ ...error, result: '+x' })).toBe(1);
});
