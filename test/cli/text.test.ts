/**
 * Text for people: harmless, short, and in words.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { harmless, harmlessJson, oneLine } from '../../src/cli/words.ts';
import { type Output } from '../../src/cli/io.ts';
import { MEANINGS } from '../../src/cli/verdict.ts';
import { report, stopWords } from '../../src/cli/report.ts';
import { type Outcome } from '../../src/run/outcome.ts';
import { TextStream } from '../../src/cli/display.ts';
import { beginning, count, cut, dollars, duration, number } from '../../src/cli/words.ts';

describe('harmless text', () => {
  test.each([
    ['plain é 漢 😀 👩\u200d👧', 'plain é 漢 😀 👩\u200d👧'],
    ['a\u001b[31mb', String.raw`a\u001b[31mb`],
    ['a\rb\u0000\u007f\u009b', String.raw`a\rb\u0000\u007f\u009b`],
    [
      '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
      String.raw`\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069`,
    ],
    ['\u200e\u200f\u061c\ufeff\u00ad', String.raw`\u200e\u200f\u061c\ufeff\u00ad`],
    ['\u2028\u2029', String.raw`\u2028\u2029`],
    ['\u{e0041}', String.raw`\u{e0041}`],
    ['\ud800', String.raw`\ud800`],
  ])('%j', (text, shown) => {
    expect(harmless(text)).toBe(shown);
    expect(oneLine(text)).toBe(shown);
  });

  test('lines and tabs stay, unless there is one line', () => {
    expect(harmless('a\n\tb')).toBe('a\n\tb');
    expect(oneLine('a\n\tb')).toBe(String.raw`a\n\tb`);
  });

  test('JSON says the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = harmlessJson(JSON.stringify({ [text]: text }));
        expect(JSON.parse(json)).toEqual({ [text]: text });
        expect(json).not.toMatch(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});

const screen = (terminal: boolean): { stream: TextStream; written: () => string } => {
  let written = '';
  // What TextStream uses of an output.
  const output = { terminal, write: (text: string) => (written += text) } as unknown as Output;
  return { stream: new TextStream(output), written: () => written };
};

describe('streamed text', () => {
  test('is the same whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.nat(), (parts, seed) => {
        const whole = parts.join('');
        const { stream, written } = screen(true);
        for (let at = 0; at < whole.length;) {
          const size = 1 + ((seed + at) % 3);
          stream.add(whole.slice(at, at + size));
          at += size;
        }
        stream.end(whole);
        const shown = harmless(whole);
        expect(written()).toBe(shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`);
      }),
    );
  });

  test.each([
    [['Hel'], 'Hello', 'Hel\nHello\n'],
    [[], 'Hello', 'Hello\n'],
    [['Hello\n'], 'Hello\n', 'Hello\n'],
    [['Hel'], undefined, 'Hel\n'],
    [[], '', ''],
  ])('%j, and in the end %j', (pieces, content, text) => {
    const { stream, written } = screen(false);
    for (const piece of pieces) stream.add(piece);
    stream.end(content);
    expect(written()).toBe(text);
  });

  test('a file gets it as it is', () => {
    const { stream, written } = screen(false);
    stream.add('\u001b[1m');
    stream.end('\u001b[1m');
    expect(written()).toBe('\u001b[1m\n');
  });
});

describe('words', () => {
  test.each([
    [number(0), '0'],
    [number(999), '999'],
    [number(1234567), '1,234,567'],
    [number(1234.5678), '1,234.5678'],
    [count(1, 'record'), '1 record'],
    [count(0, 'record'), '0 records'],
    [dollars(0), '$0'],
    [dollars(0.05), '$0.05'],
    [dollars(12), '$12'],
    [dollars(10), '$10'],
    [dollars(0.000_012), '$0.000012'],
    [duration(0.04), '0.0 s'],
    [duration(9.96), '10.0 s'],
    [duration(59.9), '59 s'],
    [duration(60), '1 min'],
    [duration(3725), '62 min 5 s'],
    [cut('abc', 3), 'abc'],
    [cut('abcd', 3), 'abc… (1 more character)'],
    [beginning('a😀b', 2), 'a'],
    [beginning('a😀b', 3), 'a😀'],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected);
  });

  test('a reason that is not ours has no words', () => {
    expect(stopWords('aborted')).toBe('it was aborted');
    expect(stopWords('toString')).toBeUndefined();
  });

  test('a record that failed: what holds, and what may have happened all the same', () => {
    const spent = { steps: 1, toolCalls: 1, tokens: 9, estimatedTokens: 0, usd: null, seconds: 1 };
    const outcome: Outcome = {
      reason: 'record_error',
      answer: '',
      check: null,
      verified: null,
      spent,
      error: 'the disk is full',
      transcript: { location: 'a.jsonl', count: 2, head: 'ff', sealed: false },
    };
    const lines = report(outcome, false, (_look, text) => text).split('\n');
    expect(lines[1]).toBe(
      'stopped   the transcript could not be written (record_error): the disk is full',
    );
    const at = lines.indexOf('record    a.jsonl, 2 records, open');
    expect(lines[at + 1]).toBe(
      '          what was written holds, but is not sealed; a tool whose result could not be written has run',
    );
  });

  test.each([
    ['usd', 0, 0.000_001, 'leaves no room for another turn: $0 of $0.000001 spent'],
    ['usd', 2, 1, 'is used up: $2 of $1'],
    ['tokens', 120, 150, 'leaves no room for another turn: 120 of 150 tokens spent'],
    ['tokens', 180, 150, 'is used up: 180 of 150 tokens'],
    ['toolCalls', 1, 1, 'is used up: 1 of 1 tool calls'],
    ['steps', 0, 0, 'is used up: 0 of 0 steps'],
    ['seconds', 1, 2, 'is used up: 1.0 s of 2.0 s'],
  ] as const)('the %s budget, %d of %d', (name, used, limit, words) => {
    const reasons = {
      usd: 'cost_budget',
      tokens: 'token_budget',
      toolCalls: 'tool_call_budget',
      steps: 'step_budget',
      seconds: 'time_budget',
    } as const;
    const spent = { steps: 0, toolCalls: 0, tokens: 0, estimatedTokens: 0, usd: null, seconds: 0 };
    const outcome: Outcome = {
      reason: reasons[name],
      answer: '',
      check: null,
      verified: null,
      spent,
      budget: { name, used, limit },
      transcript: { location: 'a.jsonl', count: 2, head: 'ff', sealed: true },
    };
    expect(report(outcome, false, (_look, text) => text)).toContain(
      `budget ${words} (${reasons[name]})\n`,
    );
  });

  test('every fault has a meaning that ends as a sentence', () => {
    for (const meaning of Object.values(MEANINGS)) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});
