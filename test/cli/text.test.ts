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
import { stopWords } from '../../src/cli/report.ts';
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

  test('every fault has a meaning that ends as a sentence', () => {
    for (const meaning of Object.values(MEANINGS)) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});
