/**
 * Records: what is written, and reading it back.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import {
  advance,
  CanonicalError,
  EMPTY_HEAD,
  encodeRecord,
  GENESIS,
  MAX_LINE_BYTES,
  parseRecord,
  Verbatim,
  verifyTranscript,
  type Draft,
} from '../../src/transcript/index.ts';
import { chain, rehashed, SAMPLE, sha256 } from './sample.ts';

function refusal(draft: unknown): string {
  try {
    // A caller in JavaScript can pass anything.
    return `written: ${encodeRecord(EMPTY_HEAD, draft as Draft).text}`;
  } catch (error) {
    if (!(error instanceof CanonicalError)) throw error;
    return error.message;
  }
}

describe('encodeRecord', () => {
  test('the hash is that of the line’s own bytes without the hash field', () => {
    for (const line of chain(SAMPLE)) {
      const [, hash, rest] = /^\{"hash":"(\w{64})",(.*)\n$/u.exec(line) ?? [];
      expect(sha256(`{${rest}`)).toBe(hash);
    }
  });

  test('each record continues the one before', () => {
    const first = encodeRecord(EMPTY_HEAD, { kind: 'user', payload: {} });
    expect(parseRecord(first.text)).toMatchObject({ seq: 0, prev: GENESIS });
    const head = advance(first);
    expect(head).toEqual({ count: 1, hash: first.hash, sealed: false });
    const last = encodeRecord(head, { kind: 'final', payload: [] });
    expect(parseRecord(last.text)).toMatchObject({ seq: 1, prev: first.hash, kind: 'final' });
    expect(advance(last).sealed).toBe(true);
  });

  test.each<[string, unknown, string]>([
    ['a kind that is no string', { kind: 1, payload: {} }, '$.kind: not a string'],
    ['no payload', { kind: 'a' }, '$.payload: not an object or an array'],
    ['a null payload', { kind: 'a', payload: null }, '$.payload: not an object or an array'],
    ['a payload of text', { kind: 'a', payload: 'x' }, '$.payload: not an object or an array'],
    [
      'a number in verbatim',
      { kind: 'a', payload: new Verbatim('1.0') },
      '$.payload: not an object or an array',
    ],
    [
      'a lone surrogate as kind',
      { kind: '\ud800', payload: {} },
      '$: a string with a lone surrogate',
    ],
    ['NaN inside', { kind: 'a', payload: { x: [NaN] } }, '$.x[0]: NaN'],
  ])('refuses %s', (_, draft, message) => {
    expect(refusal(draft)).toBe(message);
  });

  test('a line of exactly the limit is written and verifies; one byte more is refused by both', () => {
    const overhead = encodeRecord(EMPTY_HEAD, { kind: 'final', payload: [''] }).text.length - 1;
    const filler = 'x'.repeat(MAX_LINE_BYTES - overhead);
    const line = encodeRecord(EMPTY_HEAD, { kind: 'final', payload: [filler] });
    expect(line.text.length).toBe(MAX_LINE_BYTES + 1);
    expect(verifyTranscript(line.text).ok).toBe(true);
    const over = rehashed(line.text, (rest) => rest.replace('x', 'xx'));
    expect(verifyTranscript(over).fault?.reason).toBe('malformed_record');
    expect(() => encodeRecord(EMPTY_HEAD, { kind: 'final', payload: [`${filler}x`] })).toThrow(
      `$.payload: a record over ${MAX_LINE_BYTES} bytes`,
    );
  });
});

describe('parseRecord', () => {
  test('gives back what was written, numbers with their spelling', () => {
    const payload = { big: 10n ** 30n, float: new Verbatim('1.0'), text: 'é\u2028' };
    const line = encodeRecord(EMPTY_HEAD, { kind: 'tool', payload });
    const record = parseRecord(line.text);
    expect(record).toEqual({
      seq: 0,
      kind: 'tool',
      payload: { ...payload, big: new Verbatim(`1${'0'.repeat(30)}`) },
      prev: GENESIS,
      hash: line.hash,
    });
    expect(encodeRecord(EMPTY_HEAD, record).text).toBe(line.text);
    expect(parseRecord(line.text.slice(0, -1))).toEqual(record);
  });

  test.each(['', 'x', '[]', '{}', '{"hash":"","kind":"a","payload":1,"prev":"","seq":0}'])(
    'throws on %j',
    (line) => {
      expect(() => parseRecord(line)).toThrow(SyntaxError);
    },
  );

  test.each([
    { seq: '0' },
    { seq: null },
    { kind: 1 },
    { prev: null },
    { hash: 1 },
    { payload: 'text' },
    { payload: null },
    { payload: 3 },
  ])('refuses a record whose %j is of the wrong kind', (wrong) => {
    const record = { seq: 0, kind: 'final', payload: {}, prev: GENESIS, hash: GENESIS };
    expect(parseRecord(JSON.stringify(record))).toEqual(record);
    expect(() => parseRecord(JSON.stringify({ ...record, ...wrong }))).toThrow(
      'not a transcript record; verify the file first',
    );
  });
});
