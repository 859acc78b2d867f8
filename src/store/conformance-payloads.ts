/**
 * Payloads that stores and formats have lost or changed, and drafts that none may accept.
 *
 * @module
 */
import { Verbatim, type JsonObject, type JsonValue } from '../transcript/index.ts';

/** Payloads that must read back byte for byte, each with its name. */
export const ODD_PAYLOADS: readonly (readonly [string, JsonObject | readonly JsonValue[]])[] = [
  ['line separators of Unicode', { text: 'a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg' }],
  ['line ends', { text: 'a\nb\rc\r\nd' }],
  ['every control character', { text: String.fromCharCode(...Array(33).keys(), 127) }],
  ['keys that look like integers', { 10: 'c', 2: 'b', 1: 'a' }],
  ['keys beyond the BMP', { '\u{1F600}': 1, '\uFFFD': 2, '\uE000': 3, a: 4 }],
  ['a key named __proto__', JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject],
  ['empty keys and containers', { '': '', a: {}, b: [], c: [[], {}] }],
  ['an empty object', {}],
  ['an empty array', []],
  ['an array', [null, true, false, 'text', 0]],
  [
    'numbers with a spelling of their own',
    ['1.0', '-0.0', '1e+16', '1e-07', '123456789012345678901234567890'].map(verbatim),
  ],
  ['numbers of JavaScript', [-0, 0.1, 1e21, 5e-324, -1e-7, 2 ** 53, 123n]],
  ['a byte order mark and U+FFFD', { text: '\uFEFF\uFFFD\uFFFF' }],
  ['two forms of one letter', { '\u00e9': 1, 'e\u0301': 2 }],
  ['nested 400 levels deep', nested(400)],
];

/** What no store may accept: each is refused with `CanonicalError`. */
export const UNRECORDABLE: readonly (readonly [string, unknown])[] = [
  ['undefined', { kind: 'tool', payload: { value: undefined } }],
  ['NaN', { kind: 'tool', payload: { value: Number.NaN } }],
  ['an infinity', { kind: 'tool', payload: [Number.POSITIVE_INFINITY] }],
  ['a function', { kind: 'tool', payload: { value: () => 1 } }],
  ['a symbol', { kind: 'tool', payload: { value: Symbol('s') } }],
  ['a lone surrogate', { kind: 'tool', payload: { value: '\ud800' } }],
  ['a lone surrogate in a key', { kind: 'tool', payload: { '\udc00': 1 } }],
  ['a lone surrogate in a kind', { kind: '\ud800', payload: {} }],
  ['a cycle', { kind: 'tool', payload: cycle() }],
  ['a date', { kind: 'tool', payload: { value: new Date(0) } }],
  ['a map', { kind: 'tool', payload: new Map() }],
  ['a getter that throws', { kind: 'tool', payload: throwing() }],
  ['a payload that is text', { kind: 'tool', payload: 'text' }],
  ['a payload that is null', { kind: 'tool', payload: null }],
  ['a payload that is a number', { kind: 'tool', payload: new Verbatim('1.0') }],
  ['no payload', { kind: 'tool' }],
  ['a kind that is no text', { kind: 1, payload: {} }],
];

function verbatim(text: string): Verbatim {
  return new Verbatim(text);
}

function nested(depth: number): readonly JsonValue[] {
  let value: readonly JsonValue[] = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

function cycle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

function throwing(): object {
  return Object.defineProperty({}, 'value', {
    enumerable: true,
    get() {
      throw new Error('no');
    },
  });
}
