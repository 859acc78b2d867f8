/**
 * The strict JSON reader.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, parseJson, Verbatim } from '../../src/transcript/index.ts';

describe('parseJson', () => {
  test.each<[string, number, string]>([
    ['', 0, 'expected a value'],
    ['nul', 0, 'expected a value'],
    ['nullx', 4, 'data after the end'],
    ['NaN', 0, 'expected a value'],
    ['-Infinity', 0, 'expected a number'],
    ['[1,]', 3, 'expected a value'],
    ['[1 2]', 3, 'expected , or ]'],
    ['{"a":1,}', 7, 'expected a key in double quotes'],
    ['{a:1}', 1, 'expected a key in double quotes'],
    ['{"a" 1}', 5, 'expected :'],
    ['{"a":1]', 6, 'expected , or }'],
    ['[1}', 2, 'expected , or ]'],
    ['01', 1, 'data after the end'],
    ['+1', 0, 'expected a value'],
    ['.5', 0, 'expected a value'],
    ['1.', 1, 'data after the end'],
    ['1e', 1, 'data after the end'],
    ['-', 0, 'expected a number'],
    ['"a', 2, 'a string that does not end well'],
    ['"\t"', 1, 'a string that does not end well'],
    [String.raw`"\x"`, 1, 'a string that does not end well'],
    [String.raw`"\u00g0"`, 1, 'a string that does not end well'],
    ['1 1', 2, 'data after the end'],
    ['\u00a01', 0, 'expected a value'],
    ['\ufeff1', 0, 'expected a value'],
    ['[', 1, 'expected a value'],
    ['['.repeat(100_000), 100_000, 'expected a value'],
  ])('%.20s is refused', (text, at, problem) => {
    expect(parseJson(text)).toEqual({ ok: false, at, problem });
  });

  test.each<[string, string]>([
    ['1.0', '1.0'],
    ['1.00e0', '1.0'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1E5', '100000.0'],
    ['1e16', '1e+16'],
    ['10000000000000000', '10000000000000000'],
    ['9007199254740993', '9007199254740993'],
    ['9007199254740992', '9007199254740992'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['0.1e-6', '1e-07'],
    ['5e-400', '0.0'],
    [' { "b" : [ ] , "a" : { } } ', '{"a":{},"b":[]}'],
    [String.raw`"\ud83d\ude00\/\u0041"`, '"😀/A"'],
  ])('%s is the value that is written %s', (text, canonical) => {
    const parsed = parseJson(text);
    expect(parsed).toMatchObject({ ok: true, duplicate: null, overflow: null });
    if (parsed.ok) expect(canonicalJson(parsed.value)).toBe(canonical);
  });

  test('a number is a JavaScript number exactly where that says it all', () => {
    const parsed = parseJson('[1, 1.0, 1.5, 1e21, 9007199254740993]');
    expect(parsed.ok && parsed.value).toEqual([
      1,
      new Verbatim('1.0'),
      1.5,
      1e21,
      new Verbatim('9007199254740993'),
    ]);
  });

  test('tells of the first key that comes twice, and keeps its last value', () => {
    expect(parseJson(String.raw`{"a":{"b":1,"\u0062":2},"a":3}`)).toEqual({
      ok: true,
      value: { a: 3 },
      duplicate: 'b',
      overflow: null,
    });
    expect(parseJson('{"__proto__":1,"__proto__":2}')).toMatchObject({ duplicate: '__proto__' });
    expect(parseJson('{"constructor":1,"toString":2}')).toMatchObject({ duplicate: null });
  });

  test('tells of the first number that no double holds', () => {
    expect(parseJson('[1e308,1e309,-1e400]')).toMatchObject({ ok: true, overflow: '1e309' });
    expect(parseJson('9'.repeat(400))).toMatchObject({ ok: true, overflow: null });
  });

  test('takes what JSON.parse takes, and nothing else, and sees the same value', () => {
    const piece = fc.constantFrom(
      ...'{}[],:" \n-+.019eEu\\tfalsn'.split(''),
      'null',
      'true',
      '"a"',
      '"a":',
      '1',
      '[]',
      '{"a":1}',
      '\\u0041',
      '\ufeff',
      '\u2028',
    );
    const text = fc.oneof(
      fc.json(),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (source) => {
        const expected = reference(source);
        const parsed = parseJson(source);
        expect(parsed.ok).toBe(expected.ok);
        if (!parsed.ok || parsed.overflow !== null) return;
        const back: unknown = JSON.parse(canonicalJson(parsed.value));
        expect(back).toEqual(JSON.parse(JSON.stringify(expected.value)));
      }),
      { numRuns: 3000 },
    );
  });
});

function reference(text: string): { ok: boolean; value?: unknown } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
