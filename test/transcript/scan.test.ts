/**
 * The scanner, which only reads, accepts exactly the texts that reading and writing again leaves as they are.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, parseJson } from '../../src/transcript/index.ts';
import { BAD } from '../../src/transcript/bytes.ts';
import { ValueScanner } from '../../src/transcript/scan.ts';

const scanner = new ValueScanner();
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether the scanner takes all of the bytes as one value. */
function scans(bytes: Uint8Array): boolean {
  const end = scanner.scan(bytes, 0);
  return end !== BAD && end === bytes.length;
}

/** The definition: valid UTF-8, valid JSON, and its own canonical spelling. */
function isCanonical(bytes: Uint8Array): boolean {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return false;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || parsed.overflow !== null) return false;
  try {
    return canonicalJson(parsed.value, Infinity) === text;
  } catch {
    return false; // a lone surrogate, escaped
  }
}

function agree(bytes: Uint8Array): void {
  const expected = isCanonical(bytes);
  if (scans(bytes) !== expected) {
    throw new Error(`${expected ? 'refused' : 'accepted'}: ${JSON.stringify(utf8Loose(bytes))}`);
  }
}

function utf8Loose(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const CANONICAL = [
  '{"":null,"a":[true,false,-1,0.5,1e+16],"b":{"c":"\\n\\u0001\\"","é":"\u{1F600}"}}',
  '[[],{},[[]],"",0,-0.0,1e-05,123456789012345678901234567890,2.2250738585072014e-308]',
  '{"\uffff":1,"\u{10000}":2}',
  '{"\\t":1,"\\n":2,"\\u000b":3," ":4,"\\\\":5,"a":6}',
  '"\\b\\f\\n\\r\\t\\u0000\\u001f\u007f\u0080\u2028"',
  '0.0001',
  '9999999999999998.0',
];

describe('ValueScanner', () => {
  test.each(CANONICAL)('accepts %s', (text) => {
    const bytes = Buffer.from(text);
    expect(isCanonical(bytes)).toBe(true);
    expect(scans(bytes)).toBe(true);
  });

  test('every text of up to three bytes of an alphabet', () => {
    const alphabet = Buffer.from('{}[],:"\\u/bn019-+.eE nt\n\0aé\u2028');
    const one = new Uint8Array(1);
    for (const a of alphabet) {
      one[0] = a;
      agree(one);
      for (const b of alphabet) {
        agree(Uint8Array.of(a, b));
        for (const c of alphabet) agree(Uint8Array.of(a, b, c));
      }
    }
  });

  test('every number of up to six characters', () => {
    const grow = (text: string): void => {
      agree(Buffer.from(text));
      if (text.length < 6) for (const next of '015.e-+') grow(text + next);
    };
    grow('');
  });

  test('every pair of bytes after a first byte that begins a longer character', () => {
    for (let first = 0x80; first < 0x100; first += 1) {
      for (let second = 0x7f; second <= 0xc0; second += 1) {
        const tail = [0x80, 0xbf];
        for (let more = 0; more <= 2; more += 1) {
          agree(Uint8Array.of(0x22, first, second, ...tail.slice(0, more), 0x22));
        }
      }
    }
  });

  test('every single-byte change of canonical texts', () => {
    for (const text of CANONICAL) {
      const bytes = Uint8Array.from(Buffer.from(text));
      for (let at = 0; at < bytes.length; at += 1) {
        const original = bytes[at] ?? 0;
        for (let value = 0; value < 256; value += 1) {
          bytes[at] = value;
          agree(bytes);
        }
        bytes[at] = original;
      }
    }
  });

  test('every byte left out or doubled in canonical texts', () => {
    for (const text of CANONICAL) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 1) {
        agree(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]));
        agree(Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)]));
      }
    }
  });

  test('every escape \\u00xx, in both cases', () => {
    for (let unit = 0; unit < 256; unit += 1) {
      const hex = unit.toString(16).padStart(4, '0');
      agree(Buffer.from(`"\\u${hex}"`));
      agree(Buffer.from(`"\\u${hex.toUpperCase()}"`));
    }
  });

  test('keys in every order', () => {
    const keys = [
      '',
      'a',
      'aa',
      'b',
      '\\t',
      '\\u0001',
      ' ',
      '\\"',
      '!',
      '#',
      'é',
      '\uffff',
      '\u{10000}',
    ];
    for (const a of keys) {
      for (const b of keys) {
        agree(Buffer.from(`{"${a}":1,"${b}":2}`));
        agree(Buffer.from(`{"x${a}":{"${b}":1},"x${b}":2}`));
      }
    }
  });

  test('doubles in several spellings', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, fc.integer({ min: 1, max: 20 }), (value, digits) => {
        const spellings = [
          String(value),
          value.toExponential(),
          value.toExponential(digits),
          value.toPrecision(digits),
          `${Math.trunc(value)}.0`,
        ];
        for (const text of spellings) agree(Buffer.from(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('random JSON, as it stands, spelled canonically, and damaged', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom(0, 1, 2));
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.array(change, { maxLength: 3 }),
        (json, changes) => {
          agree(Buffer.from(json));
          const parsed = parseJson(json);
          if (!parsed.ok) throw new Error('fc.json gave what is no JSON');
          let bytes = Buffer.from(canonicalJson(parsed.value));
          expect(scans(bytes)).toBe(true);
          for (const [place, value, removed] of changes) {
            const at = place % (bytes.length + 1);
            const rest = bytes.subarray(Math.min(bytes.length, at + removed));
            bytes = Buffer.concat([bytes.subarray(0, at), Uint8Array.of(value), rest]);
          }
          agree(bytes);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('nesting of any depth', () => {
    const depth = 300_000;
    agree(Buffer.from('['.repeat(depth) + ']'.repeat(depth)));
    agree(Buffer.from(`${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`));
    agree(Buffer.from('['.repeat(depth)));
    agree(Buffer.from('['.repeat(depth) + '}'.repeat(depth)));
  });
});
