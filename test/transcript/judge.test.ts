/**
 * The words of faults: what a person reads of each, exactly.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { GENESIS, verifyTranscript } from '../../src/transcript/index.ts';
import { sha256 } from './sample.ts';

function line(
  payload: string,
  rest: { seq?: string; prev?: string; spelled?: string } = {},
): string {
  const { seq = '0', prev = GENESIS, spelled = payload } = rest;
  const content = (text: string): string =>
    `"kind":"final","payload":${text},"prev":"${prev}","seq":${seq}}`;
  return `{"hash":"${sha256(`{${content(payload)}`)}",${content(spelled)}\n`;
}

/** A line, and a good one after it, so that it isn't a torn tail. */
function detail(text: string | Uint8Array): string | undefined {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from(line('{}'))]);
  return verifyTranscript(bytes).fault?.detail;
}

function wordsOn(text: string): string | undefined {
  return verifyTranscript(text).fault?.detail;
}

const good = line('{"a":1}');
const long = 'k'.repeat(100);

describe('the detail of a fault', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['bytes that are no text', Uint8Array.of(0xff, 0x0a), 'the line is not valid UTF-8'],
    ['no JSON', '{"a":}\n', 'column 6: expected a value'],
    ['null', 'null\n', 'the line is null'],
    ['an array', '[1]\n', 'the line is an array'],
    ['a number', '1.0\n', 'the line is a number'],
    ['a plain number', '7\n', 'the line is a number'],
    ['a text', '"x"\n', 'the line is a string'],
    ['true', 'true\n', 'the line is a boolean'],
    ['missing members', '{"kind":"a","seq":0}\n', 'hash, payload, prev'],
    ['a member too many', good.replace('{"hash"', '{"aaa":1,"hash"'), '"aaa"'],
    [
      'a long member too many',
      good.replace('{"hash"', `{"${long}":1,"hash"`),
      `"${'k'.repeat(79)}`,
    ],
    [
      'many members too many',
      good.replace(
        '{"hash"',
        `{${Array.from('abcdefghij', (key) => `"${key}":1`).join(',')},"hash"`,
      ),
      '"a", "b", "c", "d", "e", "f", "g", "h"',
    ],
    [
      'a hash in upper case',
      good.replace(/[0-9a-f]{64}/, (hash) => hash.toUpperCase()),
      'hash must be 64 lower-case hex',
    ],
    [
      'a hash that is a number',
      good.replace(/"[0-9a-f]{64}"/, '1'),
      'hash must be 64 lower-case hex',
    ],
    ['a kind that is none', good.replace('"final"', 'null'), 'kind must be a string'],
    [
      'a payload that is a text',
      good.replace('{"a":1}', '"x"'),
      'payload must be an object or an array',
    ],
    ['a prev that is short', good.replace(GENESIS, '00'), 'prev must be 64 lower-case hex'],
    ['a prev that is null', good.replace(`"${GENESIS}"`, 'null'), 'prev must be 64 lower-case hex'],
    ['a seq that is a text', good.replace('"seq":0', '"seq":"0"'), 'seq must be an integer'],
    ['a seq with a point', good.replace('"seq":0', '"seq":1.0'), 'seq must be an integer'],
    ['another seq', line('{}', { seq: '7' }), 'seq is 7'],
    ['a seq of many digits', line('{}', { seq: '1'.repeat(60) }), `seq is ${'1'.repeat(40)}`],
    ['another prev', line('{}', { prev: 'a'.repeat(64) }), `prev is ${'a'.repeat(64)}`],
    [
      'a number out of range',
      line('{}', { spelled: `{"a":1e${'9'.repeat(60)}}` }),
      `a number beyond the range of a double has no canonical form: 1e${'9'.repeat(38)}`,
    ],
    [
      'a lone surrogate',
      line('{}', { spelled: '{"a":"\\ud800"}' }),
      'a lone surrogate has no canonical form',
    ],
    ['a key twice', line('{"a":1}', { spelled: '{"a":2,"a":1}' }), 'the key "a" comes twice'],
    [
      'a long key twice',
      line(`{"${long}":1}`, { spelled: `{"${long}":2,"${long}":1}` }),
      `the key "${'k'.repeat(79)} comes twice`,
    ],
    ['a carriage return', good.replace('\n', '\r\n'), 'the line ends in \\r\\n'],
    ['a mark at the start', `\uFEFF${good}`, 'a byte order mark'],
    [
      'white space',
      line('{"a":1}', { spelled: '{"a": 1}' }),
      'column 106: " 1},\\"prev\\":\\"" is written "1},\\"prev\\":\\"0"',
    ],
    [
      'a long line that is no JSON',
      `${'['.repeat(256 * 1024 + 1)}\n`,
      'a line over 262144 bytes that is not canonical JSON',
    ],
  ])('%s', (_, text, words) => {
    expect(detail(text)).toBe(words);
  });

  test('lines of just the length that is read, and one more', () => {
    expect(detail(`${'['.repeat(256 * 1024)}\n`)).toBe('column 262145: expected a value');
  });

  test('a record twice, a fork, and neither', () => {
    const first = line('{}');
    const hash = /[0-9a-f]{64}/.exec(first)?.[0] ?? '';
    const second = line('{"n":1}', { seq: '1', prev: hash });
    const fork = line('{"n":2}', { seq: '1', prev: hash });
    expect(wordsOn(first + first)).toBe('seq is 0; the record stands here a second time');
    expect(wordsOn(first + second + fork)).toBe('seq is 1; fork: two writers');
    expect(wordsOn(first + line('{"n":1}', { seq: '5', prev: hash }))).toBe('seq is 5');
    expect(wordsOn(first + line('{"n":1}', { seq: '1' }))).toBe(
      `prev is ${GENESIS}; fork: two writers`,
    );
  });
});
