/**
 * The first difference of two values: its path, and readable parts of both sides.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstDifference } from '../../src/replay/first-difference.ts';
import { canonicalJson, Verbatim, type JsonValue } from '../../src/transcript/index.ts';

describe('firstDifference', () => {
  test.each<[JsonValue | undefined, JsonValue | undefined, string, string, string]>([
    [1, 2, '', '1', '2'],
    [1, undefined, '', '1', 'nothing'],
    [1, [1], '', '1', '[1]'],
    [[1], { 0: 1 }, '', '[1]', '{"0":1}'],
    [null, {}, '', 'null', '{}'],
    [{ tokens: 12 }, { tokens: 15 }, '.tokens', '12', '15'],
    [{ a: 1 }, {}, '.a', '1', 'nothing'],
    [{}, { a: null }, '.a', 'nothing', 'null'],
    [[], [1], '[0]', 'nothing', '1'],
    [[1, 2, 3], [1, 4], '[1]', '2', '4'],
    [{ a: { b: [0, { c: 'x' }] } }, { a: { b: [0, { c: 'y' }] } }, '.a.b[1].c', '"x"', '"y"'],
    // what both have comes before what one has
    [{ a: 1, b: 1 }, { b: 2 }, '.b', '1', '2'],
    // names that aren't words
    [{ 'a b': { '': 1 } }, { 'a b': { '': 2 } }, '["a b"][""]', '1', '2'],
    // numbers are what they are spelled
    [{ n: 1 }, { n: new Verbatim('1.0') }, '.n', '1', '1.0'],
    [[10n ** 30n], [10n ** 30n + 1n], '[0]', `1${'0'.repeat(30)}`, `1${'0'.repeat(29)}1`],
    // inherited members are none
    [{}, { toString: 1 }, '.toString', 'nothing', '1'],
  ])('%o and %o: %s', (a, b, path, inA, inB) => {
    expect(firstDifference(a, b)).toEqual({ path, a: inA, b: inB });
    expect(firstDifference(b, a)).toEqual({ path, a: inB, b: inA });
  });

  test('long texts are cut to where they part, and no character is halved', () => {
    const same = '\u{1F600}'.repeat(200);
    const found = firstDifference({ t: `${same}one${same}` }, { t: `${same}two` });
    expect(found?.path).toBe('.t');
    expect(found?.a).toMatch(/^"…(\u{1F600})+one(\u{1F600})+…"$/u);
    expect(found?.b).toMatch(/^"…(\u{1F600})+two"$/u);
    expect(found?.a.length).toBeLessThan(120);
  });

  test('is null exactly where the canonical JSON is the same', () => {
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>; // JSON is recordable
    fc.assert(
      fc.property(value, value, (a, b) => {
        const isSame = canonicalJson(a) === canonicalJson(b);
        expect(firstDifference(a, b) === null).toBe(isSame);
        expect(firstDifference(a, structuredClone(a))).toBeNull();
      }),
    );
  });
});
