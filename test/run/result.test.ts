/**
 * What tools give back or throw, made fit to record and to show.
 *
 * @module
 */
import { createContext, runInContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentOf, describeError, publicText, raised, toResult } from '../../src/run/result.ts';

const LIMIT = 262_144;

const HOLE: unknown[] = [0, 1];
Reflect.deleteProperty(HOLE, 0);
const cycle: unknown[] = [];
cycle.push([cycle]);
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
class Point {
  readonly x = 1;
}

function thrower(): never {
  throw new Error('no');
}

describe('toResult', () => {
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'null'],
    ['null', null, 'null'],
    ['a bigint', 10n, '10'],
    ['a bigint inside', { a: 10n }, '{"a":10}'],
    ['-0', -0, '0'],
    ['a big double', 1e21, '1e+21'],
    ['a fraction', 0.1, '0.1'],
    ['U+2028 and friends', 'a\u2028b\u2029c\u0085\r', '"a\u2028b\u2029c\u0085\\r"'],
    ['NUL', '\0', '"\\u0000"'],
    ['keys out of order', { b: 1, a: 2 }, '{"a":2,"b":1}'],
    ['no prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['a proxy of plain data', new Proxy({ a: 1 }, {}), '{"a":1}'],
    ['an own __proto__', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('records %s', (_, value, text) => {
    expect(toResult('t', value, LIMIT)).toEqual({ ok: true, text });
  });

  test.each<[string, unknown, string]>([
    ['NaN', Number.NaN, '$: NaN'],
    ['Infinity', { a: Infinity }, '$.a: Infinity'],
    ['undefined inside', { a: undefined }, '$.a: undefined'],
    ['undefined in a list (#38)', [{ startedAt: undefined }], '$[0].startedAt: undefined'],
    ['a hole', HOLE, '$[0]: undefined'],
    ['a cycle', cycle, '$[0][0]: a cycle: it holds itself'],
    ['toJSON that throws', { toJSON: thrower }, '$: an object with toJSON'],
    [
      'a getter that throws',
      Object.defineProperty({}, 'a', { enumerable: true, get: thrower }),
      '$.a: a getter that throws',
    ],
    ['a Date', new Date(0), '$: a Date, not plain data'],
    ['an invalid Date', new Date(Number.NaN), '$: a Date, not plain data'],
    ['a Map', new Map([[1, 2]]), '$: a Map, not plain data'],
    ['a Set', { s: new Set() }, '$.s: a Set, not plain data'],
    ['a symbol', Symbol('x'), '$: a symbol'],
    ['a function', () => 1, '$: a function'],
    ['an Error', new Error('x'), '$: a Error, not plain data'],
    ['bytes', new Uint8Array(2), '$: a Uint8Array, not plain data'],
    ['a Buffer', Buffer.from('x'), '$: a Buffer, not plain data'],
    ['a class instance', new Point(), '$: a Point, not plain data'],
    ['a revoked proxy', revoked, '$: an object that throws when it is read'],
    ['a lone high surrogate', 'a\ud800b', '$: a string with a lone surrogate'],
    ['a lone low surrogate', { s: '\udc00' }, '$.s: a string with a lone surrogate'],
    ['half an emoji', '😀'.slice(0, 1), '$: a string with a lone surrogate'],
  ])('refuses %s, and says where', (_, value, problem) => {
    expect(toResult('t', value, LIMIT)).toEqual({
      ok: false,
      failure: 'unrecordable',
      error: `tool 't' returned what can't be recorded: ${problem}`,
    });
  });

  test('nesting of any depth', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(toResult('t', deep, LIMIT)).toMatchObject({ ok: false, failure: 'unrecordable' });
  });

  test.each<[string, unknown, number]>([
    ['10 MB', 'x'.repeat(10_000_000), 10_000_002],
    ['100,000 members', Array.from({ length: 100_000 }, (_, i) => i), 588_891],
    ['three bytes a character', '€'.repeat(100_000), 300_002],
  ])('%s is over the limit, and keeps its whole text for comparing', (_, value, bytes) => {
    expect(toResult('t', value, LIMIT)).toEqual({
      ok: false,
      failure: 'too_large',
      error: `the result of tool 't' is ${bytes} bytes, over its limit of 262144; ask for less at a time`,
      text: JSON.stringify(value),
    });
  });

  test('the limit is in bytes, and inclusive', () => {
    expect(toResult('t', '€€', 8).ok).toBe(true);
    expect(toResult('t', '€€', 7).ok).toBe(false);
    expect(toResult('t', 'abcdef', 8).ok).toBe(true);
    expect(toResult('t', 'abcdefg', 8).ok).toBe(false);
  });

  test('any value is recorded or refused, and never throws', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
        (value) => {
          const result = toResult('t', value, LIMIT);
          if (result.ok) expect(typeof JSON.parse(result.text)).not.toBe('undefined');
          else expect(result.error.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe('contentOf', () => {
  test.each([
    ['"a\\nb"', 'a\nb'],
    ['"\u2028"', '\u2028'],
    ['{"a":1}', '{"a":1}'],
    ['null', 'null'],
    ['10', '10'],
  ])('%s reads %j', (text, content) => {
    expect(contentOf(text)).toBe(content);
  });
});

describe('what is thrown', () => {
  const foreign: unknown = runInContext("new TypeError('from another realm')", createContext());
  const nasty = Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('no');
    },
  });
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a text', 's', 'Error: s'],
    ['a number', 7, '7'],
    ['data', { code: 7 }, 'object {"code":7}'],
    ['an object without a prototype', Object.create(null), 'object {}'],
    ['a symbol', Symbol('q'), 'Symbol(q)'],
    ['a function', () => 1, 'a function'],
    ['a Map', new Map(), 'a Map, not plain data'],
    ['an error', new RangeError('too far'), 'RangeError: too far'],
    ['an error of another realm', foreign, 'TypeError: from another realm'],
    ['an abort', new DOMException('stop', 'AbortError'), 'AbortError: stop'],
    ['a lone surrogate', new Error('a\ud800b'), 'Error: a\ufffdb'],
    ['an error that throws', nasty, 'an object that throws when read'],
    ['a revoked proxy', revoked, 'an object that throws when read'],
  ])('%s', (_, thrown, words) => {
    expect(describeError(thrown)).toBe(words);
  });

  test("the seed's words", () => {
    const error = Object.assign(new Error('the tool is broken on purpose'), {
      name: 'RuntimeError',
    });
    expect(raised('fail', error)).toBe(
      "tool 'fail' raised RuntimeError: the tool is broken on purpose",
    );
  });

  test('a long message is cut', () => {
    const words = describeError(new Error('x'.repeat(1e6)));
    expect(words).toHaveLength(2000 + '… (cut)'.length);
    expect(describeError(new Error(`${'x'.repeat(1992)}😀`)).isWellFormed()).toBe(true);
  });

  test.each(['\n', '\n\t', '/', ' /a', '/a b ', 'file://', '\\', '\n    at '])(
    'a long message of %j is read in no time: only its beginning is looked at',
    (piece) => {
      const words = publicText(piece.repeat(1_000_000));
      expect(words.length).toBeLessThan(2100);
      expect(words).toMatch(/… \(cut\)$/);
    },
  );

  test('anything can be thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(describeError(thrown).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('publicText', () => {
  test.each([
    [
      "ENOENT: no such file or directory, open '/home/bob/secret/notes.txt'",
      "ENOENT: no such file or directory, open '…/notes.txt'",
    ],
    ['ENOENT:/home/bob/x.ts:3:4', 'ENOENT:…/x.ts'],
    ['at /srv/app/index.js:10:5 it broke', 'at …/index.js it broke'],
    ['file:///home/bob/app/x.mjs:7:1', '…/x.mjs'],
    ['see (file:///C:/Users/bob/x.js)', 'see (…/x.js)'],
    ['C:\\Users\\bob\\x.ts', '…/x.ts'],
    ['\\\\server\\share\\f.txt', '…/f.txt'],
    ['/home/jürgen/my dir/s.txt', '…/s.txt'],
    [
      '</home/x/y>, {/home/x/y}, [/home/x/y], =/home/x/y, |/home/x/y',
      '<…/y>, {…/y}, […/y], =…/y, |…/y',
    ],
    ['boom\n    at run (/srv/app/x.js:1:2)\n    at async y\nmore', 'boom\nmore'],
  ])('%j holds no path: %j', (text, clean) => {
    expect(publicText(text)).toBe(clean);
  });

  test.each([
    'see https://host/a/b/c and http://x.y/z?q=/a',
    '1/2 of 3/4 on 1/2/2024',
    'and/or, ./a/b, ../a/b, src/a/b.ts, ~/x/y',
    '/etc',
    '</b></i>',
    'a -> b',
  ])('%j stays', (text) => {
    expect(publicText(text)).toBe(text);
  });
});
