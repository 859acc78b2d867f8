/**
 * Verifying and reading files: the same verdicts as in memory, for every kind of file there is.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { memoryStore, readRecords, verifyFile } from '../../src/store/index.ts';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  MAX_LINE_BYTES,
  verifyTranscript,
  type Draft,
} from '../../src/transcript/index.ts';
import { FINAL, lending, recordsOf, replaced, scratch, storeError, tool, USER } from './helpers.ts';

const newPath = scratch();

function encoded(drafts: readonly Draft[]): string {
  let head = EMPTY_HEAD;
  return drafts
    .map((draft) => {
      const line = encodeRecord(head, draft);
      head = advance(line);
      return line.text;
    })
    .join('');
}

function written(content: string | Uint8Array): string {
  const path = newPath();
  writeFileSync(path, content);
  return path;
}

/** Over three pieces of 1 MiB, with lines and characters across their borders. */
const LARGE = encoded([
  USER,
  ...Array.from({ length: 3 }, (_, i) => tool(`${i}ä€😀`.repeat(120_000))),
  FINAL,
]);

describe('verifyFile', () => {
  const contents: readonly [string, string | Uint8Array][] = [
    ['a sealed transcript', encoded([USER, FINAL])],
    ['an open transcript', encoded([USER])],
    ['an empty file', ''],
    ['a torn tail', encoded([USER, FINAL]).slice(0, -9)],
    ['no transcript at all', new Uint8Array([0xff, 0x00, 0x0a, 0x41])],
    ['a transcript of several pieces', LARGE],
    ['one that is edited in its second piece', LARGE.replace('1ä', '2ä')],
  ];
  test.each(contents)('%s: the same verdict as in memory', async (_, content) => {
    const path = written(content);
    for (const options of [{}, { allowOpen: true }, { count: 2 }, { head: 'f'.repeat(64) }]) {
      const expected = verifyTranscript(content, options);
      expect(await verifyFile(path, options)).toEqual(expected);
      expect(await verifyFile(pathToFileURL(path), options)).toEqual(expected);
    }
  });

  test('tells how far it got, and stops at the first fault', async () => {
    const size = Buffer.byteLength(LARGE);
    const seen: number[][] = [];
    const onProgress = (...numbers: number[]): unknown => seen.push(numbers);
    expect((await verifyFile(written(LARGE), { onProgress })).ok).toBe(true);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.at(-1)).toEqual([size, size]);
    const positions = seen.map(([done]) => done ?? 0);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    seen.length = 0;
    expect((await verifyFile(written(`{}\n${LARGE}`), { onProgress })).ok).toBe(false);
    expect(seen.length).toBe(1);
  });

  test('a progress callback that throws changes nothing', async () => {
    const verdict = await verifyFile(written(LARGE), {
      onProgress() {
        throw new Error('no terminal');
      },
    });
    expect(verdict.ok).toBe(true);
  });

  test('other work gets a turn while a large file is verified', async () => {
    // 40 MB, more than two turns' worth of bytes.
    const path = written(
      encoded([...Array.from({ length: 10 }, () => tool('x'.repeat(4e6))), FINAL]),
    );
    let turns = 0;
    let going = true;
    const tick = (): void => {
      turns += 1;
      if (going) setImmediate(tick);
    };
    const counts: number[] = [];
    const verdict = await verifyFile(path, {
      onProgress(done, total) {
        if (counts.length === 0) setImmediate(tick);
        if (done === total) counts.push(turns);
        else if (counts.length === 0) counts.push(turns);
      },
    });
    going = false;
    expect(verdict.ok).toBe(true);
    expect(counts[1]).toBeGreaterThanOrEqual(2);
  });

  describe('what can not be read is a verdict, not an error', () => {
    const cases: readonly [string, () => string | URL, RegExp][] = [
      ['a missing file', () => newPath('missing.jsonl'), /ENOENT/],
      ['a folder', () => dirname(newPath()), /EISDIR/],
      ['a file in a file', () => `${written('')}/x`, /ENOTDIR/],
      ['a path with NUL', () => 'a\0b', /null bytes/],
      ['an empty path', () => '', /ENOENT/],
      ['a URL that is no file', () => new URL('https://example.org/x'), /scheme/],
    ];
    test.each(cases)('%s', async (_, path, detail) => {
      const verdict = await verifyFile(path());
      expect(verdict).toMatchObject({ ok: false, count: 0, fault: { reason: 'unreadable' } });
      expect(verdict.fault?.detail).toMatch(detail);
      expect(verdict.fault?.detail).not.toMatch(/\n|    at /);
    });

    test.skipIf(process.getuid?.() === 0)('a forbidden file (root may read it)', async () => {
      const path = written('');
      chmodSync(path, 0);
      expect((await verifyFile(path)).fault?.detail).toMatch(/EACCES/);
    });
  });

  test.skipIf(process.platform === 'win32')(
    'a pipe is read to its end (needs mkfifo)',
    async () => {
      const path = newPath('pipe');
      expect(spawnSync('mkfifo', [path]).status).toBe(0);
      const verdict = verifyFile(path);
      // Another process writes, as opening a pipe waits for its other end.
      const content = written(LARGE);
      spawnSync('sh', ['-c', `cat "${content}" > "${path}" &`], { stdio: 'ignore' });
      expect(await verdict).toEqual(verifyTranscript(LARGE));
    },
  );
});

/** A good line, then one twice as long as any may be. */
async function* endless(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(encoded([USER]));
  const piece = new Uint8Array(1 << 20);
  for (let total = 0; total <= 2 * MAX_LINE_BYTES; total += piece.length) yield piece;
}

describe('readRecords', () => {
  test('encoding what was read gives the same bytes', async () => {
    const path = written(LARGE);
    const again = encoded((await recordsOf(path)).map(({ kind, payload }) => ({ kind, payload })));
    expect(again === readFileSync(path, 'utf8')).toBe(true);
    expect(await recordsOf(pathToFileURL(path))).toHaveLength(5);
  });

  test('leaves an unfinished last line out', async () => {
    const text = encoded([USER, tool(1), FINAL]);
    expect(await recordsOf(written(text.slice(0, -1)))).toHaveLength(2);
    expect(await recordsOf(written(''))).toEqual([]);
  });

  test('gives what comes before the first line that is no record, and names that line', async () => {
    const [first = '', second = ''] = encoded([USER, FINAL]).split(/(?<=\n)/);
    for (const bad of ['{}\n', '\n', 'x\n', '[]\n', Buffer.from([0xff, 0x0a])]) {
      const path = written(
        Buffer.concat([Buffer.from(first), Buffer.from(bad), Buffer.from(second)]),
      );
      const kinds: string[] = [];
      const reading = (async () => {
        for await (const { kind } of readRecords(path)) kinds.push(kind);
      })();
      await expect(reading).rejects.toThrow(SyntaxError);
      await expect(reading).rejects.toThrow(/^line 2: /);
      expect(kinds).toEqual(['user']);
    }
  });

  test('does not keep a line without end: left out if it is unfinished, named if it ends', async () => {
    const store = memoryStore();
    expect(await recordsOf(replaced(store, { read: endless }))).toHaveLength(1);
    async function* ended(): AsyncGenerator<Uint8Array> {
      yield* endless();
      yield Buffer.from('\n');
    }
    const reading = recordsOf(replaced(store, { read: ended }));
    await expect(reading).rejects.toThrow(`line 2: over ${MAX_LINE_BYTES} bytes`);
  });

  test('copies what a store only lends', async () => {
    const store = memoryStore();
    await store.append([USER, tool('x'.repeat(500)), FINAL]);
    for (const size of [1, 7, 64, 200, 1000]) {
      expect(await recordsOf(lending(store, size))).toEqual(await recordsOf(store));
    }
  });

  test('says what is wrong with a file that can not be opened', async () => {
    await storeError(recordsOf(newPath('missing.jsonl')), 'missing');
    const folder = newPath('folder');
    mkdirSync(folder);
    const error = await storeError(recordsOf(folder), 'failed');
    expect(error.message).toContain('it is a folder; name one of the files in it');
  });
});
