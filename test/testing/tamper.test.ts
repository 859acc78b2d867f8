import { describe, expect, test } from 'vitest';
import * as tamper from '../../src/testing/tamper.ts';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  verifyTranscript,
  type Draft,
  type Head,
  type Verdict,
} from '../../src/transcript/index.ts';

function transcript(): Uint8Array {
  let head: Head = EMPTY_HEAD;
  let text = '';
  for (const kind of ['user', 'assistant', 'tool', 'assistant', 'final']) {
    const line = encodeRecord(head, { kind, payload: { content: `${kind} ${head.count}`, n: 1 } });
    head = advance(line);
    text += line.text;
  }
  return new TextEncoder().encode(text);
}

const whole = transcript();
const lines = new TextDecoder().decode(whole).split(/(?<=\n)/);
const verdict = (bytes: Uint8Array): Verdict => verifyTranscript(bytes);
const change = (payload: unknown): { content: string } => {
  expect(payload).toMatchObject({ n: 1 });
  return { content: 'other' };
};
const same = (payload: Draft['payload']): Draft['payload'] => payload;

describe('tamper', () => {
  test('the transcript that is damaged below is sound', () => {
    expect(verdict(whole)).toMatchObject({ ok: true, count: 5, sealed: true });
  });

  test.each<[string, Uint8Array, { seq: number; reason: string }]>([
    ['flipByte', tamper.flipByte(whole, whole.indexOf(0x0a) - 2), { seq: 0, reason: 'seq_gap' }],
    ['dropRecord', tamper.dropRecord(whole, 2), { seq: 2, reason: 'seq_gap' }],
    ['dropRecord of the first', tamper.dropRecord(whole, 0), { seq: 0, reason: 'seq_gap' }],
    ['swapRecords', tamper.swapRecords(whole, 3, 1), { seq: 1, reason: 'seq_gap' }],
    ['editPayload', tamper.editPayload(whole, 1, change), { seq: 1, reason: 'hash_mismatch' }],
    ['duplicateLast', tamper.duplicateLast(whole), { seq: 5, reason: 'seq_gap' }],
    ['truncateRecords', tamper.truncateRecords(whole, 4), { seq: 4, reason: 'not_sealed' }],
    ['truncateRecords to none', tamper.truncateRecords(whole, 0), { seq: 0, reason: 'not_sealed' }],
    ['tear', tamper.tear(whole, 1), { seq: 4, reason: 'torn_tail' }],
    ['zeroTail', tamper.zeroTail(whole, 9), { seq: 4, reason: 'torn_tail' }],
    ['insertBlankLine', tamper.insertBlankLine(whole, 2), { seq: 2, reason: 'not_canonical' }],
    [
      'insertBlankLine at the end',
      tamper.insertBlankLine(whole, 5),
      { seq: 5, reason: 'not_canonical' },
    ],
    ['crlf', tamper.crlf(whole), { seq: 0, reason: 'not_canonical' }],
    ['addBom', tamper.addBom(whole), { seq: 0, reason: 'not_canonical' }],
  ])('%s is what its name says', (_name, damaged, fault) => {
    expect(verdict(damaged)).toMatchObject({ ok: false, fault });
  });

  test('editPayload with rehash leaves a chain that only a known head refutes', () => {
    const before = verdict(whole);
    const forged = tamper.editPayload(whole, 1, change, { rehash: true });
    const after = verdict(forged);
    expect(after).toMatchObject({ ok: true, count: 5, sealed: true });
    expect(after.head).not.toBe(before.head);
    const text = new TextDecoder().decode(forged);
    expect(text.startsWith(lines[0]!)).toBe(true);
    expect(text).toContain('"payload":{"content":"other"}');
    // The other records say what they said.
    for (const n of [2, 3, 4]) expect(text).toContain(/"payload":\{.*?\}/.exec(lines[n]!)![0]);
  });

  test('edits that change nothing give the same bytes back', () => {
    expect(tamper.editPayload(whole, 3, same)).toEqual(whole);
    expect(tamper.editPayload(whole, 0, same, { rehash: true })).toEqual(whole);
  });

  test('the bytes that are given stay as they are, and none are shared', () => {
    const copy = Uint8Array.from(whole);
    const results = [
      tamper.flipByte(copy, 3),
      tamper.truncateRecords(copy, 3),
      tamper.tear(copy, 2),
      tamper.zeroTail(copy, 2),
      tamper.addBom(copy),
    ];
    for (const result of results) result.fill(0xff);
    expect(copy).toEqual(whole);
  });

  test('damage adds up: a torn transcript can be damaged again', () => {
    const torn = tamper.tear(whole, 5);
    expect(tamper.dropRecord(torn, 0)).toEqual(
      new TextEncoder().encode(lines.slice(1).join('').slice(0, -5)),
    );
    expect(new TextDecoder().decode(tamper.crlf(torn))).not.toMatch(/[^\r]\n/);
  });

  test.each<[string, () => unknown]>([
    ['flipByte after the end', () => tamper.flipByte(whole, whole.length)],
    ['flipByte before the start', () => tamper.flipByte(whole, -1)],
    ['dropRecord', () => tamper.dropRecord(whole, 5)],
    ['swapRecords', () => tamper.swapRecords(whole, 0, 5)],
    ['swapRecords of one', () => tamper.swapRecords(whole, 2, 2)],
    ['editPayload', () => tamper.editPayload(whole, 5, change)],
    ['duplicateLast of nothing', () => tamper.duplicateLast(new Uint8Array())],
    ['truncateRecords to all', () => tamper.truncateRecords(whole, 5)],
    ['tear of nothing', () => tamper.tear(whole, 0)],
    ['tear of too much', () => tamper.tear(whole, whole.length + 1)],
    ['zeroTail', () => tamper.zeroTail(whole, 0)],
    ['insertBlankLine', () => tamper.insertBlankLine(whole, 6)],
  ])('%s is refused, as it would damage nothing', (_name, damage) => {
    expect(damage).toThrow(RangeError);
  });
});
