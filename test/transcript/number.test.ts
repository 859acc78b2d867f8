/**
 * Numbers are spelled as Python spells them.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { floatText, numberText } from '../../src/transcript/index.ts';
import { hasPython, NEEDS_PYTHON, python } from './python.ts';

const table = readFileSync(new URL('../testdata/python/floats.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [word = '', text = ''] = line.split(' ');
    return { value: doubleOf(word), text };
  });

function doubleOf(word: string): number {
  return Buffer.from(word, 'hex').readDoubleBE(0);
}

function wordOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

describe('floatText', () => {
  test(`agrees with Python's repr on a table of ${table.length} doubles`, () => {
    expect(table.length).toBeGreaterThan(2000);
    for (const { value, text } of table) expect(floatText(value)).toBe(text);
  });

  test.skipIf(!hasPython)(`agrees with Python's repr on random doubles${NEEDS_PYTHON}`, () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    const values = fc.sample(finite, { numRuns: 5000, seed: 1 });
    const program =
      'import struct,sys\nfor w in sys.stdin: print(repr(struct.unpack(">d",bytes.fromhex(w))[0]))';
    const { stdout } = python(['-c', program], values.map((value) => wordOf(value)).join('\n'));
    expect(values.map((value) => floatText(value))).toEqual(stdout.trimEnd().split('\n'));
  });

  test('always reads back as the same double', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(fc.property(finite, (value) => Object.is(Number(floatText(value)), value)));
  });
});

describe('numberText', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [1, '1'],
    [-1, '-1'],
    [1e15, '1000000000000000'],
    [1e16, '10000000000000000'],
    [2 ** 53 + 2, '9007199254740994'],
    [123456789012345680000, '123456789012345680000'],
    [1e21, '1e+21'],
    [-1e21, '-1e+21'],
    [1.5, '1.5'],
    [1e-4, '0.0001'],
    [1e-5, '1e-05'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
  ])('%d is written %s', (value, text) => {
    expect(numberText(value)).toBe(text);
  });
});
