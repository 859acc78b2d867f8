/**
 * docs/format.md: its example and its test vectors are what the code does.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canonicalJson, parseJson, verifyTranscript } from '../../src/transcript/index.ts';
import { TAMPERS } from './tampers.ts';

const document = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8');
const example = readFileSync(new URL('../testdata/format/example.jsonl', import.meta.url), 'utf8');

/** The canonical form of a text; null where it has none. */
function canonical(text: string): string | null {
  const parsed = parseJson(text);
  if (!parsed.ok || parsed.overflow !== null) return null;
  try {
    return canonicalJson(parsed.value, Infinity);
  } catch {
    return null; // a lone surrogate
  }
}

/** JSON texts, and some that are not, in the order of docs/format.md §3. */
const TEXTS = [
  ' [ null , true , false ] ',
  '[]',
  '[ ]',
  '{}',
  '{ }',
  String.raw`"\"\\\/\b\f\n\r\t"`,
  String.raw`"\u0000\u0008\u0009\u000a\u000b\u000C\u000d\u001F\u0020\u007f"`,
  String.raw`"\u0022\u005c\u002f\u0041\u00e9\u2028\u2029\u0085\uFEFF"`,
  String.raw`"\ud83d\ude00"`,
  String.raw`"\ud83d"`,
  String.raw`"\ude00\ud83d"`,
  String.raw`{"\ud800":1}`,
  '"e\u0301 \u00e9"',
  '"\t"',
  ...'0 -0 00 - +1 -1 12 9007199254740993 10000000000000000000000000000000000000000'.split(' '),
  ...'0.0 -0.0 1.0 1. .5 1.50 1e0 1E5 1e+05 1e15 1e16 -1e16 0.0001 0.00001 1e-4 1e-5'.split(' '),
  ...'1.5e-7 123456789012345.6 9007199254740993.0 9999999999999998.0 1e21 1e22 1e23'.split(' '),
  ...'5e-324 2e-324 1e-400 0.1e1 1.7976931348623157e308 1.7976931348623159e308'.split(' '),
  ...'1e999 -1e999 NaN Infinity'.split(' '),
  '{"b":1,"a":2,"B":3,"":4,"ab":5}',
  '{"10":1,"2":2,"1":3}',
  '{"\u{10000}":1,"\uffff":2,"\ue000":3,"\ud7ff":4}',
  String.raw`{"a":1,"\n":2,"\u0001":3,"\"":4,"!":5,"#":6,"\\":7}`,
  '{"__proto__":1,"a":{"__proto__":[]}}',
  '[1,]',
  '[1 2]',
  '{"a":1,}',
  "{'a':1}",
  '',
  '1 1',
];

describe('docs/format.md', () => {
  test('its example is a transcript that holds, with the head that it names', () => {
    const [, block = ''] = /```json\n([^]*?)```/.exec(document) ?? [];
    expect(block).toBe(example);
    const verdict = verifyTranscript(example);
    expect(verdict).toMatchObject({ ok: true, count: 5, sealed: true });
    expect(document).toContain(`\`${verdict.head}\``);
  });

  test('has at most 300 lines', () => {
    expect(document.split('\n').length).toBeLessThanOrEqual(300);
  });

  test('names every reason', () => {
    for (const { fault } of TAMPERS) if (fault) expect(document).toContain(`\`${fault.reason}\``);
    expect(document).toContain('`unreadable`');
  });

  test('the vectors of canonical JSON', async () => {
    const rows = TEXTS.map((json) => JSON.stringify({ json, canonical: canonical(json) }));
    const path = '../testdata/format/canonical.json';
    await expect(`[\n${rows.join(',\n')}\n]\n`).toMatchFileSnapshot(path);
  });
});
