/**
 * Canonical JSON: one spelling for every value, and a refusal that says where for everything else.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  CanonicalError,
  compareCodePoints,
  encodeRecord,
  MAX_DEPTH,
  parseJson,
  Verbatim,
  type JsonValue,
} from '../../src/transcript/index.ts';
import { sha256 } from './sample.ts';

interface Vectors {
  readonly transcript: {
    readonly genesis: string;
    readonly canonical: readonly {
      readonly name: string;
      readonly text: string;
      readonly sha256: string;
    }[];
    readonly records: readonly {
      readonly record: {
        readonly seq: number;
        readonly kind: string;
        readonly payload: Record<string, JsonValue>;
        readonly prev: string;
        readonly hash: string;
      };
      readonly line: string;
    }[];
  };
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../testdata/seeds/vectors.json', import.meta.url), 'utf8'),
);

/** Reads a text and writes it again. */
function respelled(text: string): string {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new SyntaxError(parsed.problem);
  return canonicalJson(parsed.value, Infinity);
}

function refusal(value: unknown): string {
  try {
    return `written: ${canonicalJson(value)}`;
  } catch (error) {
    if (!(error instanceof CanonicalError)) throw error;
    expect(error.message).toBe(`${error.path}: ${error.problem}`);
    return error.message;
  }
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('the seed’s vectors', () => {
  test.each(vectors.transcript.canonical)('$name', ({ name, text, sha256: digest }) => {
    expect(sha256(text)).toBe(digest);
    // JSON has no NaN: the seed writes it, and no strict reader takes it.
    if (name === 'nan') expect(parseJson(text).ok).toBe(false);
    else expect(respelled(text)).toBe(text);
  });

  test.each(vectors.transcript.records)(
    'record $record.seq: the same bytes',
    ({ record, line }) => {
      const { seq, kind, payload, prev, hash } = record;
      const head = { count: seq, hash: prev, sealed: false };
      expect(encodeRecord(head, { kind, payload })).toEqual({
        seq,
        kind,
        hash,
        text: line.endsWith('\n') ? line : `${line}\n`,
      });
    },
  );
});

describe('what is written', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['booleans', [true, false], '[true,false]'],
    ['empty containers', { a: [], b: {} }, '{"a":[],"b":{}}'],
    ['keys in order', { b: 1, a: 2, B: 3, '': 4 }, '{"":4,"B":3,"a":2,"b":1}'],
    ['integer-like keys, as text', { 10: 1, 9: 2, 1: 3 }, '{"1":3,"10":1,"9":2}'],
    ['keys by code point', { '\u{10000}': 2, '\uffff': 1 }, '{"\uffff":1,"\u{10000}":2}'],
    ['a key that is a prefix', { ab: 1, a: 2 }, '{"a":2,"ab":1}'],
    ['short escapes', '"\\\b\f\n\r\t', String.raw`"\"\\\b\f\n\r\t"`],
    ['other controls', '\u0000\u000b\u001f', String.raw`"\u0000\u000b\u001f"`],
    [
      'nothing else escaped',
      '/\u007f\u0080\u0085\u2028\u2029é😀',
      '"/\u007f\u0080\u0085\u2028\u2029é😀"',
    ],
    ['an integer', 42, '42'],
    ['minus zero, an integer in JavaScript', -0, '0'],
    ['a fraction', [0.25, 1e-5, 1e21], '[0.25,1e-05,1e+21]'],
    ['integers of any size', 10n ** 40n, `1${'0'.repeat(40)}`],
    ['negative bigint', -5n, '-5'],
    ['verbatim text', { a: new Verbatim('1.0') }, '{"a":1.0}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['a shared part, which is no cycle', shared(), '{"a":[1],"b":[1]}'],
    ['toJSON that is no function', { toJSON: 1 }, '{"toJSON":1}'],
    [
      'members that can’t be enumerated are left out',
      Object.defineProperty({}, 'a', { value: 1 }),
      '{}',
    ],
  ])('%s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('the key __proto__ is a key like others', () => {
    const value: unknown = JSON.parse('{"__proto__":{"x":1},"a":1}');
    expect(canonicalJson(value)).toBe('{"__proto__":{"x":1},"a":1}');
    expect(respelled('{"a":1,"__proto__":[]}')).toBe('{"__proto__":[],"a":1}');
    expect(Reflect.get({}, 'x')).toBe(undefined);
  });

  test('500 levels, and not one more', () => {
    expect(canonicalJson(nested(MAX_DEPTH))).toMatch(/^\{"a":\[/);
    expect(refusal(nested(MAX_DEPTH + 1))).toMatch(/: nested deeper than 500 levels$/);
    expect(canonicalJson(nested(MAX_DEPTH + 1), Infinity)).toContain('[1]');
  });

  test('200,000 levels, when asked to, in time that grows with the depth and not its square', () => {
    const text = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(respelled(text)).toBe(text);
  });
});

function shared(): unknown {
  const part = [1];
  return { a: part, b: part };
}

describe('what is refused, and where', () => {
  const cycle: unknown[] = [];
  cycle.push({ back: cycle });
  const deepCycle: { next?: unknown } = {};
  let tip = deepCycle;
  for (let i = 0; i < 100; i += 1) tip = tip.next = {};
  tip.next = deepCycle;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  class Point {
    x = 1;
  }
  const thrower = {
    get x(): never {
      throw new Error('no');
    },
  };
  test.each<[string, unknown, string]>([
    ['undefined', undefined, '$: undefined'],
    ['undefined in an object', { a: [1, { b: undefined }] }, '$.a[1].b: undefined'],
    ['NaN', { a: NaN }, '$.a: NaN'],
    ['infinity', [1, Infinity], '$[1]: Infinity'],
    ['minus infinity', { 'a b': -Infinity }, '$["a b"]: -Infinity'],
    ['a function', { f: () => 1 }, '$.f: a function'],
    ['a symbol', [Symbol('x')], '$[0]: a symbol'],
    ['a cycle', cycle, '$[0].back: a cycle: it holds itself'],
    ['a long cycle', deepCycle, `$${'.next'.repeat(101)}: a cycle: it holds itself`],
    ['a Date', { at: new Date(0) }, '$.at: a Date, not plain data'],
    ['a Map', [new Map()], '$[0]: a Map, not plain data'],
    ['a Set', [new Set()], '$[0]: a Set, not plain data'],
    ['a typed array', { b: new Uint8Array(1) }, '$.b: a Uint8Array, not plain data'],
    ['an Error', [new Error('x')], '$[0]: a Error, not plain data'],
    ['an instance of a class', new Point(), '$: a Point, not plain data'],
    ['an object made from another', Object.create({}), '$: an object of a class, not plain data'],
    ['an object with toJSON', { o: { toJSON: () => 1 } }, '$.o: an object with toJSON'],
    ['an array with toJSON', Object.assign([1], { toJSON: () => 1 }), '$: an object with toJSON'],
    ['a getter that throws', { o: thrower }, '$.o.x: a getter that throws'],
    ['a revoked Proxy', { p: revoked.proxy }, '$.p: an object that throws when it is read'],
    ['a sparse array', Object.assign([], { 1: 1 }), '$[0]: undefined'],
    ['a lone surrogate', ['a\ud800'], '$[0]: a string with a lone surrogate'],
    ['a low one', ['\udc00\ud800'], '$[0]: a string with a lone surrogate'],
    [
      'one in a key',
      { x: { '\udfff': 1 } },
      String.raw`$.x["\udfff"]: a string with a lone surrogate`,
    ],
  ])('%s', (_, value, message) => {
    expect(refusal(value)).toBe(message);
  });

  test('a cycle that begins below the depth limit, without one', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    let value: unknown = loop;
    for (let i = 0; i < 1000; i += 1) value = [value];
    expect(() => canonicalJson(value, Infinity)).toThrow('a cycle: it holds itself');
  });
});

/** A JSON value made of numbers that read back as they are written. */
const plainValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ unit: 'binary', maxLength: 4 }), tie('value'), { maxKeys: 5 }),
  ),
})).value;

describe('properties', () => {
  test('JSON.parse reads back the value', () => {
    fc.assert(
      fc.property(plainValue, (value) => {
        const back: unknown = JSON.parse(canonicalJson(value));
        expect(back).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('writing what was read gives the same text', () => {
    fc.assert(
      fc.property(plainValue, (value) => {
        const text = canonicalJson(value);
        expect(respelled(text)).toBe(text);
        expect(respelled(JSON.stringify(value, null, 2))).toBe(text);
      }),
    );
  });

  test('the order of an object’s keys makes no difference', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), fc.integer()), {
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(entries, (pairs) => {
        const there = canonicalJson(Object.fromEntries(pairs));
        expect(canonicalJson(Object.fromEntries(pairs.toReversed()))).toBe(there);
      }),
    );
  });

  test('compareCodePoints orders as the lists of code points do', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
    });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')]; // UTF-8 sorts as code points do
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(x, y));
      }),
    );
  });
});

test('a part that stands twice deep inside is no cycle, and a cycle deep inside is one', () => {
  const part = { a: 1 };
  let twice: unknown = [part, part];
  for (let i = 0; i < 60; i += 1) twice = [twice];
  expect(canonicalJson(twice)).toBe(`${'['.repeat(61)}{"a":1},{"a":1}${']'.repeat(61)}`);
  const ring: unknown[] = [];
  let inner: unknown[] = ring;
  for (let i = 0; i < 60; i += 1) inner = [inner];
  ring.push(inner);
  expect(() => canonicalJson(ring, Infinity)).toThrow('a cycle: it holds itself');
  let deep: unknown = ring;
  for (let i = 0; i < 60; i += 1) deep = [deep];
  expect(() => canonicalJson(deep, Infinity)).toThrow('a cycle: it holds itself');
});

test('a class without a name is named as one', () => {
  const nameless = new (class {
    a = 1;
  })();
  expect(() => canonicalJson(nameless)).toThrow('an object of a class, not plain data');
});
