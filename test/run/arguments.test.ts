/**
 * Arguments as models write them: what is taken, what is refused and in which words.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/run/arguments.ts';
import { canonicalJson, type JsonObject } from '../../src/transcript/index.ts';

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every((member) => isDeeplyFrozen(member));
}

describe('text that says an object', () => {
  test.each([
    ['{}', '{}'],
    ['{"a":1}', '{"a":1}'],
    ['{"a":{"b":[1,null,true,"x"]}}', '{"a":{"b":[1,null,true,"x"]}}'],
    ['{"a":"\u2028\u0085é😀"}', '{"a":"\u2028\u0085é😀"}'],
    ['{"constructor":1,"toString":2}', '{"constructor":1,"toString":2}'],
  ])('%s is taken as it is', (source, text) => {
    const read = readArguments(source);
    expect(read).toEqual({ value: JSON.parse(source), text, problem: null });
    expect('raw' in read).toBe(false);
  });

  test.each([
    ['', '{}'],
    [' \n', '{}'],
    [' {} ', '{}'],
    ['{ "a" : 1 }', '{"a":1}'],
    ['{"b":2, "a":1.0}', '{"a":1,"b":2}'],
    ['{"a":1e2}', '{"a":100}'],
    ['{"a":-0}', '{"a":0}'],
    ['{"a":1.50}', '{"a":1.5}'],
    ['{"a":"\\u0061"}', '{"a":"a"}'],
    ['{"a":"\\ud83d\\ude00"}', '{"a":"😀"}'],
    ['{"a":0.1000000000000000055}', '{"a":0.1}'],
  ])('%j is read, and kept byte for byte', (source, text) => {
    const read = readArguments(source);
    expect(read).toEqual({ value: JSON.parse(text), text, raw: source, problem: null });
  });
});

const deep = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('text that is refused', () => {
  test.each([
    // loop-anchors #27
    ['{"a":', 'not valid JSON (column 6: expected a value)'],
    ['{"a":1}{"a":2}', 'not valid JSON (column 8: data after the end)'],
    ['{"a":1,}', 'not valid JSON (column 8: expected a key in double quotes)'],
    ['```json\n{"a":1}\n```', 'not valid JSON (column 1: expected a value)'],
    ['{"a":NaN}', 'not valid JSON (column 6: expected a value)'],
    ['null', 'expected a JSON object'],
    ['[1]', 'expected a JSON object'],
    ['"{\\"a\\":1}"', 'expected a JSON object'],
    ['5', 'expected a JSON object'],
    // #31
    [
      '{"a":12345678901234567890}',
      "the integer 12345678901234567890 can't be represented exactly; send it as a string",
    ],
    [
      '{"b":[{"a":9007199254740993}]}',
      "the integer 9007199254740993 can't be represented exactly; send it as a string",
    ],
    ['{"a":1,"a":2}', 'the key "a" comes twice'],
    ['{"o":{"k":1,"\\u006b":1}}', 'the key "k" comes twice'],
    ['{"__proto__":{"x":1}}', 'the key "__proto__" is not accepted'],
    ['{"a":[{"__proto__":1}]}', 'the key "__proto__" is not accepted'],
    ['{"\\u005f_proto__":1}', 'the key "__proto__" is not accepted'],
    // and what JSON itself allows
    ['{"a":1e999}', 'the number 1e999 is out of range'],
    ['{"a":"\\ud800"}', '$.a: a string with a lone surrogate'],
    ['{"\\udc00":1}', '$["\\udc00"]: a string with a lone surrogate'],
    [deep(501), `$${'.a'.repeat(500)}: nested deeper than 500 levels`],
    [deep(5000), `$${'.a'.repeat(500)}: nested deeper than 500 levels`],
    ['['.repeat(5000), 'not valid JSON (column 5001: expected a value)'],
  ])('%.60s', (source, problem) => {
    const read = readArguments(source);
    expect(read.problem).toBe(problem);
    expect(read.raw).toBe(source);
    expect(isDeeplyFrozen(read.value)).toBe(true);
    expect(canonicalJson(read.value)).toBe(read.text);
    expect(Object.hasOwn(read.value, '__proto__')).toBe(false);
  });

  test('500 levels are taken', () => {
    expect(readArguments(deep(500)).problem).toBeNull();
  });

  test('a lone surrogate in the text itself leaves a mark, as it cannot be recorded', () => {
    expect(readArguments('{"a":"\ud800"')).toMatchObject({ raw: '{"a":"\ufffd"', text: '{}' });
  });

  test('long numbers and keys are cut in the message', () => {
    expect(readArguments(`{"a":${'9'.repeat(300)}}`).problem).toBe(
      `the integer ${'9'.repeat(40)}… can't be represented exactly; send it as a string`,
    );
    expect(readArguments(`{"${'k'.repeat(99)}":1,"${'k'.repeat(99)}":1}`).problem).toBe(
      `the key "${'k'.repeat(40)}…" comes twice`,
    );
  });
});

function thrower(): never {
  throw new Error('no');
}

describe('objects that a provider had parsed', () => {
  test('are read as their text would be', () => {
    const given = { b: 2, a: [1] };
    const read = readArguments(given);
    expect(read).toEqual({ value: { a: [1], b: 2 }, text: '{"a":[1],"b":2}', problem: null });
    given.a.push(9);
    expect(read.value).toEqual({ a: [1], b: 2 });
    expect(isDeeplyFrozen(read.value)).toBe(true);
  });

  const cycle: { [key: string]: unknown } = {};
  cycle['self'] = cycle;
  test.each<[string, unknown]>([
    ['an array', [1]],
    ['__proto__', JSON.parse('{"__proto__":1}')],
    ['NaN', { a: Number.NaN }],
    ['Infinity, as JSON.parse makes of 1e999', JSON.parse('{"a":1e999}')],
    ['a lone surrogate', { a: '\ud800' }],
    ['undefined', { a: undefined }],
    ['a Date', { a: new Date(0) }],
    ['toJSON', { toJSON: () => ({ a: 1 }) }],
    ['a cycle', cycle],
    ['a bigint', { a: 12345678901234567890n }],
    ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: thrower })],
  ])('%s is refused, and its record reads back as refused', (_, given) => {
    // What providers parse is not always what the type says.
    const read = readArguments(given as JsonObject);
    expect(read.problem).not.toBeNull();
    expect(canonicalJson(read.value)).toBe(read.text);
    if (read.raw === undefined) throw new Error('nothing was kept');
    expect(read.raw.isWellFormed()).toBe(true);
    expect(readArguments(read.raw)).toEqual(read);
  });
});

test.each(['{"a":-0}', '{"a":-0.0}', '{"a":[-1e-400]}', '{"a":-6.44e-392}'])(
  '%s has no negative zero, which no record has',
  (source) => {
    const read = readArguments(source);
    expect(read.problem).toBeNull();
    expect(readArguments(read.text).value).toEqual(read.value);
    expect(Object.is(Number(read.value['a']), 0)).toBe(true);
  },
);

describe('any text', () => {
  const nearJson = fc
    .json()
    .chain((text) => fc.tuple(fc.constant(text), fc.nat(text.length), fc.string({ maxLength: 3 })))
    .map(([text, at, extra]) => `{"a":${text.slice(0, at)}${extra}${text.slice(at)}}`);

  test('never throws; the value is frozen, canonical, and stable when read again', () => {
    const sources = fc.oneof(
      nearJson,
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(sources, (source) => {
        const read = readArguments(source);
        expect(isDeeplyFrozen(read.value)).toBe(true);
        expect(canonicalJson(read.value)).toBe(read.text);
        if (read.raw === undefined) expect(read.text).toBe(source);
        else expect(read.raw).toBe(source.toWellFormed());
        expect(readArguments(read.raw ?? read.text)).toEqual(read);
        if (read.problem === null && source.trim() !== '')
          expect(read.value).toEqual(JSON.parse(source, (_, v: unknown) => (v === 0 ? 0 : v)));
      }),
      { numRuns: 500 },
    );
  });
});
