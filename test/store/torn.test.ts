/**
 * Every way in which a transcript's end can be torn, and what opening it does.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTranscript, verifyFile } from '../../src/store/index.ts';
import { advance, EMPTY_HEAD, encodeRecord, type Draft } from '../../src/transcript/index.ts';
import { faultySystem } from './faulty.ts';
import { FINAL, recordsOf, scratch, storeError, tool, USER } from './helpers.ts';

const newPath = scratch();

function encoded(...drafts: readonly Draft[]): Buffer {
  let head = EMPTY_HEAD;
  let text = '';
  for (const draft of drafts) {
    const line = encodeRecord(head, draft);
    text += line.text;
    head = advance(line);
  }
  return Buffer.from(text);
}

/** Hundreds of files are repaired here, and it isn't the disk's speed that is tested. */
const system = faultySystem({
  datasync: async () => undefined,
  syncDirectory: async () => undefined,
});

const OPEN = encoded(USER, tool(1), tool('ä€😀'), tool('\u2028"\n'));
const LINE_STARTS = lineStarts(OPEN);

function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  bytes.forEach((byte, at) => {
    if (byte === 0x0a) starts.push(at + 1);
  });
  return starts;
}

function written(bytes: Uint8Array): string {
  const path = newPath();
  writeFileSync(path, bytes);
  return path;
}

/** Refused without `recover`, with the file and its folder as they were; the lock is free. */
async function refused(path: string, code: 'broken' | 'sealed', options = {}): Promise<string> {
  const before = readFileSync(path);
  const error = await storeError(openTranscript(path, options), code);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
  return error.message;
}

/** Recovers to exactly the first `good` bytes of it, and goes on. */
async function recovers(path: string, good: number): Promise<void> {
  const before = readFileSync(path);
  expect(await refused(path, 'broken')).toMatch(/torn_tail.*recover/);
  const store = await openTranscript(path, { recover: true }, system);
  const after = readFileSync(path);
  // Not `toEqual`, which takes a second for a large buffer.
  expect(after.subarray(0, good).equals(before.subarray(0, good))).toBe(true);
  const torn = before.subarray(good);
  expect(readFileSync(`${path}.torn-1`).equals(torn)).toBe(true);
  const count = lineStarts(before.subarray(0, good)).length - 1;
  expect(store.head).toMatchObject({ count: count + 1, sealed: false });
  const records = await recordsOf(store);
  expect(records.at(-1)).toMatchObject({
    kind: 'recovered',
    payload: {
      bytes: torn.length,
      kept: 'run.jsonl.torn-1',
      sha256: createHash('sha256').update(torn).digest('hex'),
    },
  });
  await store.append([tool('on'), FINAL]);
  await store.close();
  expect(await verifyFile(path)).toMatchObject({ ok: true, count: count + 3 });
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['run.jsonl', 'run.jsonl.torn-1']);
}

describe('a file that was cut', () => {
  const from = LINE_STARTS.at(-3) ?? 0;
  const offsets = Array.from({ length: OPEN.length - from + 1 }, (_, i) => from + i);
  const boundaries = new Set(LINE_STARTS);

  test('at every byte of its last two lines', async () => {
    for (const size of offsets) {
      const path = written(OPEN.subarray(0, size));
      if (boundaries.has(size)) {
        // A cut between two lines can't be seen: the rest is a whole transcript.
        const store = await openTranscript(path, { recover: true }, system);
        expect(store.head.count).toBe(LINE_STARTS.indexOf(size));
        await store.append([FINAL]);
        await store.close();
        expect(await verifyFile(path)).toMatchObject({ ok: true });
        expect(existsSync(`${path}.torn-1`)).toBe(false);
      } else {
        await recovers(path, LINE_STARTS.findLast((start) => start < size) ?? 0);
      }
    }
  });
});

const LAST = LINE_STARTS.at(-2) ?? 0;
const CUT = OPEN.subarray(0, LAST + 100);
const TAILS: readonly [string, Buffer, number][] = [
  [
    'a line cut within a character',
    OPEN.subarray(0, OPEN.lastIndexOf('😀') + 2),
    LINE_STARTS[2] ?? 0,
  ],
  ['NUL bytes after a cut line', Buffer.concat([CUT, Buffer.alloc(4000)]), LAST],
  ['NUL bytes after a whole line', Buffer.concat([OPEN, Buffer.alloc(4000)]), OPEN.length],
  [
    'NUL bytes and a newline',
    Buffer.concat([OPEN, Buffer.alloc(9), Buffer.from('\n')]),
    OPEN.length,
  ],
  ['NUL bytes alone', Buffer.alloc(70_000), 0],
  ['a cut line with a newline', Buffer.concat([CUT, Buffer.from('\n')]), LAST],
  [
    'bytes that are not UTF-8, with a newline',
    Buffer.concat([OPEN, Buffer.from([0xff, 0x0a])]),
    OPEN.length,
  ],
  ['a valid record without its newline', OPEN.subarray(0, -1), LAST],
  ['a cut first line', OPEN.subarray(0, 50), 0],
  ['one byte', Buffer.from('{'), 0],
  ['a cut line of 200 kB', Buffer.concat([OPEN, Buffer.alloc(200_000, 0x78)]), OPEN.length],
];
test.each(TAILS)('%s is a torn tail', (_, bytes, good) => recovers(written(bytes), good));

const NOT_TORN: readonly [string, Buffer, string][] = [
  ['a torn line and a blank line', Buffer.concat([CUT, Buffer.from('\n\n')]), 'bad_json'],
  [
    'a torn line and another record',
    Buffer.concat([CUT, Buffer.from('\n'), OPEN.subarray(LAST)]),
    'bad_json',
  ],
  [
    'a torn line and a record glued to it',
    Buffer.concat([CUT, OPEN.subarray(LAST), OPEN.subarray(LAST)]),
    'bad_json',
  ],
  ['a blank last line', Buffer.concat([OPEN, Buffer.from('\n')]), 'not_canonical'],
  [
    'a last line that is JSON but no record',
    Buffer.concat([OPEN, Buffer.from('{}\n')]),
    'missing_fields',
  ],
  ['the last record twice', Buffer.concat([OPEN, OPEN.subarray(LAST)]), 'seq_gap'],
  [
    'an edited record before a torn tail',
    Buffer.from(CUT.toString().replace('Zähle', 'Zahle')),
    'hash_mismatch',
  ],
];
test.each(NOT_TORN)('%s: refused, with and without recover', async (_, bytes, reason) => {
  const path = written(bytes);
  for (const options of [{}, { recover: true }]) {
    const message = await refused(path, 'broken', options);
    expect(message).toContain(reason);
    expect(message).not.toContain('`recover`');
  }
});

test('bytes after a final record are not what a crash leaves', async () => {
  const path = written(Buffer.concat([encoded(USER, FINAL), Buffer.from('{"ha')]));
  for (const options of [{}, { recover: true }]) {
    expect(await refused(path, 'broken', options)).toContain('torn_tail');
  }
});

test('a sealed transcript is refused with and without recover', async () => {
  const path = written(encoded(USER, FINAL));
  await refused(path, 'sealed');
  await refused(path, 'sealed', { recover: true });
});

test('a final record without its newline was never finished: it is set aside', async () => {
  const bytes = encoded(USER, FINAL);
  await recovers(written(bytes.subarray(0, -1)), encoded(USER).length);
});

test('what was set aside before is never overwritten', async () => {
  const path = written(OPEN.subarray(0, -1));
  writeFileSync(`${path}.torn-1`, 'earlier');
  mkdirSync(`${path}.torn-2`);
  const store = await openTranscript(path, { recover: true });
  await store.close();
  expect(readFileSync(`${path}.torn-1`, 'utf8')).toBe('earlier');
  expect(readFileSync(`${path}.torn-3`)).toEqual(OPEN.subarray(LAST, -1));
});

test.skipIf(process.platform === 'win32')(
  'what is set aside is no wider open than the transcript (needs modes)',
  async () => {
    for (const mode of [0o600, 0o640, 0o644]) {
      const path = written(OPEN.subarray(0, -1));
      chmodSync(path, mode);
      await (await openTranscript(path, { recover: true })).close();
      expect(statSync(`${path}.torn-1`).mode & 0o777 & ~mode).toBe(0);
      expect(statSync(`${path}.torn-1`).mode & 0o600).toBe(0o600);
    }
  },
);

test('recover does nothing to a file that is whole', async () => {
  const path = written(OPEN);
  const store = await openTranscript(path, { recover: true });
  await store.close();
  expect(readFileSync(path)).toEqual(OPEN);
});
