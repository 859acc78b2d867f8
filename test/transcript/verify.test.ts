/**
 * Verification names the first fault of a damaged transcript, and where it is.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import {
  createVerifier,
  EMPTY_HEAD,
  GENESIS,
  MAX_LINE_BYTES,
  unreadable,
  verifyTranscript,
  type VerifyOptions,
} from '../../src/transcript/index.ts';
import { bytesOf, chain, hashOf, SAMPLE, sha256 } from './sample.ts';
import { LARGE_TAMPERS, TAMPERS } from './tampers.ts';

/** A final record, spelled as it is given. */
function record(payload: string, prev = GENESIS, seq = 0): string {
  const content = `"kind":"final","payload":${payload},"prev":"${prev}","seq":${seq}}`;
  return `{"hash":"${sha256(`{${content}`)}",${content}\n`;
}

/** A line of 64 MiB: an object of many members that have this value. */
function wideLine(value: string): Uint8Array {
  const member = Buffer.from(`,"00000000":${value}`);
  const count = Math.floor((MAX_LINE_BYTES - 1) / member.length);
  const bytes = Buffer.alloc(count * member.length + 2, member);
  for (let i = 0; i < count; i += 1) {
    let at = i * member.length + 9; // the name's last digit
    for (let rest = i; rest > 0; rest = Math.floor(rest / 10), at -= 1)
      bytes[at] = 0x30 + (rest % 10);
  }
  bytes.write('{'); // in the place of the first comma
  bytes.write('}\n', count * member.length);
  return bytes;
}

/** A record with a hundred members too many, whose long names hold escapes and differ only at their ends. */
function manyNames(): string {
  const names = Array.from({ length: 100 }, (_, i) => `${'\\n\\u0001é'.repeat(400)}${100 + i}`);
  const members = names.map((name) => `"${name}":{}`).join(',');
  return record('[]').replace('{"hash"', `{${members},"hash"`);
}

const lines = chain(SAMPLE);
const good = lines.join('');

describe('the table of tampers', () => {
  test.each([...TAMPERS, ...LARGE_TAMPERS])('$name', ({ bytes, options, fault, detail }) => {
    const copy = bytes.slice();
    const verdict = verifyTranscript(bytes, options);
    expect(Buffer.compare(bytes, copy)).toBe(0);
    if (fault === null) {
      expect(verdict.fault).toBe(undefined);
      expect(verdict.ok).toBe(true);
      return;
    }
    expect(verdict).toMatchObject({ ok: false, count: fault.seq, fault });
    if (detail !== undefined) expect(verdict.fault?.detail).toContain(detail);
    // A verdict is plain data, short enough to print.
    expect(JSON.stringify(verdict).length).toBeLessThan(1000);
  });

  test('is written out as test vectors', async () => {
    const vectors = TAMPERS.map(({ name, bytes, options = {}, fault }) => {
      const { ok, count, head, sealed } = verifyTranscript(bytes, options);
      const verdict =
        fault === null ? { ok, count, head, sealed } : { ok, count, head, sealed, fault };
      return JSON.stringify({
        name,
        options,
        verdict,
        base64: Buffer.from(bytes).toString('base64'),
      });
    });
    const path = '../testdata/format/verify.json';
    await expect(`[\n${vectors.join(',\n')}\n]\n`).toMatchFileSnapshot(path);
  });
});

describe('a verdict', () => {
  test('on a good transcript: what it holds, and nothing else', () => {
    expect(verifyTranscript(good)).toEqual({
      ok: true,
      count: 6,
      head: hashOf(lines[5] ?? ''),
      sealed: true,
    });
  });

  test('on a broken one: what held before the fault, and what would have been right', () => {
    const verdict = verifyTranscript(good.replace('"sum":42', '"sum":43'));
    expect(verdict).toMatchObject({ ok: false, count: 2, sealed: false });
    expect(verdict.head).toBe(hashOf(lines[1] ?? ''));
    expect(verdict.fault?.detail).toBe(`hash is ${hashOf(lines[2] ?? '')}`);
    expect(verdict.fault?.expected).toMatch(/^[0-9a-f]{64}$/);
    expect(verifyTranscript(lines.slice(1).join('')).fault?.expected).toBe('0');
    expect(verifyTranscript(good, { count: 9 }).fault?.expected).toBe('9');
    expect(verifyTranscript(good, { head: GENESIS }).fault?.expected).toBe(GENESIS);
  });

  test('records after a final one are chained alike, and unseal the transcript', () => {
    const more = chain([...SAMPLE, { kind: 'recovered', payload: {} }]);
    expect(verifyTranscript(more.join(''))).toMatchObject({
      count: 7,
      sealed: false,
      fault: { seq: 7, line: 8, reason: 'not_sealed' },
    });
    expect(verifyTranscript(more.join(''), { allowOpen: true }).ok).toBe(true);
  });

  test('not_sealed says how many records were expected', () => {
    const cut = verifyTranscript(lines.slice(0, 3).join(''), { count: 6 });
    expect(cut.fault).toMatchObject({ reason: 'not_sealed', seq: 3, line: 4 });
    expect(cut.fault?.detail).toContain('6 were expected');
  });

  test('on bytes that could not be had', () => {
    expect(unreadable('no such file')).toEqual({
      ok: false,
      count: 0,
      head: GENESIS,
      sealed: false,
      fault: { seq: 0, line: 1, reason: 'unreadable', detail: 'no such file' },
    });
  });

  test('on a string with a lone surrogate, which is not the text that was hashed', () => {
    const text = chain([{ kind: 'final', payload: { a: '\ufffd' } }]).join('');
    expect(verifyTranscript(text).ok).toBe(true);
    expect(verifyTranscript(text.replace('\ufffd', '\ud800')).fault?.reason).toBe('torn_tail');
    const two = `${text.replace('\ufffd', '\ud800')}${text}`;
    expect(verifyTranscript(two).fault).toMatchObject({ seq: 0, reason: 'bad_utf8' });
  });
});

describe('the verifier', () => {
  test('tells where the chain stands while bytes come', () => {
    const verifier = createVerifier();
    expect(verifier.head).toEqual(EMPTY_HEAD);
    verifier.push(bytesOf(lines.slice(0, 2).join('')));
    expect(verifier.head).toEqual({ count: 2, hash: hashOf(lines[1] ?? ''), sealed: false });
    verifier.push(bytesOf(lines[2]?.slice(0, 50) ?? ''));
    expect(verifier.head.count).toBe(2);
    verifier.push(bytesOf(lines[2]?.slice(50) ?? ''));
    expect(verifier.head.count).toBe(3);
    expect(verifier.fault).toBe(undefined);
    verifier.push(bytesOf(lines[5] ?? ''));
    expect(verifier.fault).toMatchObject({ seq: 3, line: 4, reason: 'seq_gap' });
    verifier.push(bytesOf(lines[3] ?? ''));
    expect(verifier.end()).toMatchObject({ count: 3, fault: { reason: 'seq_gap' } });
  });

  test('ends with the same verdict when it is ended twice', () => {
    for (const text of [good, good.slice(0, -5), good.slice(0, 5), '']) {
      const verifier = createVerifier();
      verifier.push(bytesOf(text));
      expect(verifier.end()).toEqual(verifier.end());
    }
  });

  test('gives up a line over the limit without keeping it', () => {
    const piece = new Uint8Array(1024 * 1024).fill(0x20);
    const verifier = createVerifier();
    verifier.push(bytesOf(lines[0] ?? ''));
    for (let i = 0; i < 64; i += 1) verifier.push(piece);
    expect(verifier.fault).toBe(undefined);
    verifier.push(piece);
    expect(verifier.fault).toMatchObject({ seq: 1, line: 2, reason: 'malformed_record' });
  });

  test('refuses a line over the limit in one piece alike', () => {
    const bytes = new Uint8Array(MAX_LINE_BYTES + 2).fill(0x20);
    bytes[MAX_LINE_BYTES + 1] = 0x0a;
    const fault = { seq: 0, line: 1, reason: 'malformed_record' };
    expect(verifyTranscript(bytes).fault).toMatchObject(fault);
    // The last byte of the limit's own excess may be the newline, which hasn't come.
    expect(verifyTranscript(bytes.subarray(0, -1)).fault?.reason).toBe('torn_tail');
    bytes[MAX_LINE_BYTES + 1] = 0x20;
    expect(verifyTranscript(bytes).fault).toMatchObject(fault);
  });

  describe('judges a long line without reading its values', () => {
    const LONG = 256 * 1024 + 1;
    const filler = '[],'.repeat(LONG / 3 + 1);
    const long = record(`[${filler}1]`);

    test.each<[string, string, string | undefined]>([
      ['a good one holds', long, undefined],
      ['an edit', long.replace(',1]', ',2]'), 'hash_mismatch'],
      ['another place', record(`[${filler}1]`, GENESIS, 3), 'seq_gap'],
      ['another predecessor', record(`[${filler}1]`, 'a'.repeat(64)), 'prev_mismatch'],
      ['a member too many', long.replace(/}\n$/, ',"zeta":1}\n'), 'extra_fields'],
      ['a long member too many', long.replace(/}\n$/, `,"zeta":[${filler}1]}\n`), 'extra_fields'],
      ['__proto__ as a member too many', `{"__proto__":{},${long.slice(1)}`, 'extra_fields'],
      ['a member too few', long.replace('"kind":"final",', ''), 'missing_fields'],
      ['a payload that is a string', record(`"${'x'.repeat(LONG)}"`), 'malformed_record'],
      ['a seq of too many digits', long.replace('"seq":0', `"seq":${'1'.repeat(2000)}`), 'seq_gap'],
      [
        'a hash that is a long array',
        long.replace(/"hash":"\w+"/, `"hash":[${filler}1]`),
        'malformed_record',
      ],
      ['an array', `[${filler}1]\n`, 'not_an_object'],
      ['white space', long.replace('{"hash"', '{ "hash"'), 'not_canonical'],
      ['no JSON at all', `${'['.repeat(LONG)}\n`, 'not_canonical'],
      ['no UTF-8', `${'\ud800'.repeat(LONG)}\n`, 'not_canonical'],
      ['blanks', `${' '.repeat(LONG)}\n`, 'not_canonical'],
      ['a tail of NUL', `${'\0'.repeat(LONG)}\n`, 'torn_tail'],
      ['NUL before more', `${'\0'.repeat(LONG)}\n${long}`, 'bad_json'],
      [
        'a million levels, the record’s own among them, round an empty one',
        record('['.repeat(1_000_000) + ']'.repeat(1_000_000)),
        undefined,
      ],
      ['one more', record('['.repeat(1_000_001) + ']'.repeat(1_000_001)), 'not_canonical'],
      ['unknown members that differ far behind', manyNames(), 'extra_fields'],
    ])('%s', (_, text, reason) => {
      expect(verifyTranscript(text).fault?.reason).toBe(reason);
    });

    test.each<[string, string]>([
      ['names', '0'],
      ['values of nearly 1,000 bytes', `[${'[0],'.repeat(248)}0]`],
    ])('64 MiB of %s are outlined in bounded memory', (_, value) => {
      const bytes = wideLine(value);
      const before = process.memoryUsage().heapUsed;
      expect(verifyTranscript(bytes).fault?.reason).toBe('missing_fields');
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
    });

    test('64 MiB of brackets and of tiny arrays end in a verdict, in bounded memory', () => {
      for (const unit of ['[', '[],', '{"a":', '1,']) {
        const bytes = Buffer.alloc(MAX_LINE_BYTES, unit);
        bytes[0] = 0x5b;
        bytes[bytes.length - 1] = 0x0a;
        const before = process.memoryUsage().heapUsed;
        expect(verifyTranscript(bytes).fault?.reason).toBe('not_canonical');
        expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
      }
    });
  });
});

test('a line whose own bytes have its hash, but are no record, does not hold', () => {
  const content = `"kind":"final","payload":{},"prev":"${GENESIS}","seq":0`;
  for (const end of [']', ' ', '0', '}}', '} ', '}\r']) {
    const forged = `{"hash":"${sha256(`{${content}${end}`)}",${content}${end}\n`;
    expect(verifyTranscript(forged).ok, JSON.stringify(end)).toBe(false);
  }
  const whole = `{"hash":"${sha256(`{${content}}`)}",${content}}\n`;
  expect(verifyTranscript(whole).ok).toBe(true);
});

function wordsOn(text: string, options: VerifyOptions = {}): string | undefined {
  return verifyTranscript(text, options).fault?.detail;
}

test('the words at the end of a file', () => {
  expect(wordsOn(good.slice(0, -1))).toBe('the last line has no newline');
  expect(wordsOn(lines[0] ?? '')).toBe('1 records and no final one after them');
  expect(wordsOn(lines[0] ?? '', { count: 6 })).toBe(
    '1 records and no final one after them; 6 were expected',
  );
  expect(wordsOn(good, { count: 7 })).toBe(`${lines.length} records`);
  expect(wordsOn(good, { head: 'a'.repeat(64) })).toBe(`the head is ${hashOf(lines.at(-1) ?? '')}`);
});
