/**
 * The built-in file tools: what they give, and that nothing leads out of the root.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readingTools } from '../../src/cli/tools/files.ts';
import { writingTools } from '../../src/cli/tools/files.ts';
import { Root } from '../../src/cli/tools/root.ts';

let base: string;
let root: string;
let secret: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hashtape-root-')));
  root = join(base, 'root');
  secret = join(base, 'root-secret');
  mkdirSync(join(root, 'sub'), { recursive: true });
  mkdirSync(secret);
  writeFileSync(join(secret, 'key.txt'), 'SECRET');
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n');
  symlinkSync(secret, join(root, 'out'));
  symlinkSync('../root-secret/key.txt', join(root, 'sub/key'));
  symlinkSync(join(secret, 'new.txt'), join(root, 'dangling'));
  symlinkSync('sub', join(root, 'inside'));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

async function call(name: string, args: Record<string, unknown>): Promise<unknown> {
  const all = [...readingTools(new Root(root)), ...writingTools(new Root(root))];
  const tool = all.find((candidate) => candidate.name === name)!;
  const context = { signal: new AbortController().signal, callId: 'c', idempotencyKey: 'k' };
  // The tool checks nothing that its schema does; the loop has done that.
  return tool.execute(args as never, context);
}

const outside = [
  '../root-secret/key.txt',
  '..',
  '../root-secret',
  'sub/../../root-secret/key.txt',
  'out',
  'out/key.txt',
  'out/new.txt',
  'out/deep/er/new.txt',
  'sub/key',
  'inside/key',
  'inside/../sub/key',
  'dangling',
  'dangling/new.txt',
  'a\0b',
  './/..//root-secret/key.txt',
];

describe('no path leads out', () => {
  const uses: readonly [string, (path: string) => Record<string, unknown>][] = [
    ['read_file', (path) => ({ path })],
    ['list_files', (path) => ({ path })],
    ['search_files', (path) => ({ path, pattern: 'SECRET' })],
    ['write_file', (path) => ({ path, content: 'x' })],
    ['edit_file', (path) => ({ path, old: 'SECRET', new: 'x' })],
  ];
  for (const [name, args] of uses) {
    test.each([...outside, '/etc/hostname', 'ABSOLUTE'])(`${name} %j`, async (path) => {
      const given = path === 'ABSOLUTE' ? join(secret, 'key.txt') : path;
      const error: unknown = await call(name, args(given)).then(
        (value) => value,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      const { message } = error as Error;
      expect(message).toMatch(/leads out|absolute paths|leads nowhere|NUL/);
      // What a model reads never names the machine's folders.
      if (path !== 'ABSOLUTE') expect(message).not.toContain(base);
      expect(readFileSync(join(secret, 'key.txt'), 'utf8')).toBe('SECRET');
      expect(existsSync(join(secret, 'new.txt'))).toBe(false);
      expect(existsSync(join(secret, 'deep'))).toBe(false);
    });
  }

  test('a link within the root is followed', async () => {
    await call('write_file', { path: 'inside/b.txt', content: 'b' });
    expect(readFileSync(join(root, 'sub/b.txt'), 'utf8')).toBe('b');
  });

  test('search never follows a link out', async () => {
    await expect(call('search_files', { pattern: 'SECRET' })).resolves.toEqual({
      matches: [],
      files_searched: 1,
    });
  });

  test('what is no regular file is refused, and a pipe keeps nobody waiting', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(call('read_file', { path: 'pipe' })).rejects.toThrow(
      /^pipe: it is not a regular file$/,
    );
    await expect(call('write_file', { path: 'pipe', content: '' })).rejects.toThrow(
      /not a regular file/,
    );
    await expect(call('read_file', { path: 'sub' })).rejects.toThrow(/^sub: it is /);
  });
});

describe('read_file', () => {
  test.each([
    [{}, { text: 'one\ntwo\nthree', first_line: 1, last_line: 3, total_lines: 3 }],
    [
      { offset: 2, limit: 1 },
      { text: 'two', first_line: 2, last_line: 2, total_lines: 3, lines_left: 1, next_offset: 3 },
    ],
    [{ offset: 3 }, { text: 'three', first_line: 3, last_line: 3, total_lines: 3 }],
  ])('%j', async (args, result) => {
    await expect(call('read_file', { path: 'a.txt', ...args })).resolves.toEqual(result);
  });

  test.each([
    ['missing.txt', 'missing.txt: there is no such file or folder'],
    ['a.txt/b', 'a.txt/b: a part of the path is not a folder'],
    ['binary', 'binary: it is not a text file'],
    ['latin1', 'latin1: it is not UTF-8 text'],
  ])('%s', async (path, message) => {
    writeFileSync(join(root, 'binary'), Buffer.from([65, 0, 66]));
    writeFileSync(join(root, 'latin1'), Buffer.from([65, 0xe9, 66]));
    await expect(call('read_file', { path })).rejects.toThrow(message);
  });

  test('an offset after the end, and an empty file', async () => {
    await expect(call('read_file', { path: 'a.txt', offset: 4 })).rejects.toThrow('has 3 lines');
    writeFileSync(join(root, 'empty'), '');
    await expect(call('read_file', { path: 'empty' })).resolves.toMatchObject({
      text: '',
      total_lines: 0,
    });
  });

  test('is capped in lines and in characters, and says what is left', async () => {
    writeFileSync(join(root, 'lines'), 'x\n'.repeat(1200));
    await expect(call('read_file', { path: 'lines' })).resolves.toMatchObject({
      last_line: 500,
      lines_left: 700,
      next_offset: 501,
    });
    writeFileSync(join(root, 'long'), `${'a'.repeat(65_535)}😀${'b'.repeat(10)}\nnext`);
    await expect(call('read_file', { path: 'long' })).resolves.toEqual({
      text: 'a'.repeat(65_535),
      first_line: 1,
      last_line: 1,
      total_lines: 2,
      characters_left_out: 12,
      lines_left: 1,
      next_offset: 2,
    });
  });
});

describe('list_files and search_files', () => {
  test('one folder, sorted and marked', async () => {
    await expect(call('list_files', {})).resolves.toEqual({
      path: '.',
      entries: ['a.txt', 'dangling@', 'inside@', 'out@', 'sub/'],
    });
  });

  test('many entries are capped', async () => {
    for (let i = 0; i < 1003; i += 1) writeFileSync(join(root, 'sub', `f${i}`), '');
    await expect(call('list_files', { path: 'sub' })).resolves.toMatchObject({
      entries_left_out: 4,
    });
  });

  test('a literal text, line by line', async () => {
    writeFileSync(
      join(root, 'sub/b.txt'),
      `a.c\nabc a.c a.c\n${'x'.repeat(500)}a.c${'y'.repeat(500)}`,
    );
    writeFileSync(join(root, 'sub/bin'), Buffer.from([0, 97, 46, 99]));
    mkdirSync(join(root, 'node_modules'));
    writeFileSync(join(root, 'node_modules/c.txt'), 'a.c');
    await expect(call('search_files', { pattern: 'a.c' })).resolves.toEqual({
      matches: [
        { path: 'sub/b.txt', line: 1, text: 'a.c' },
        { path: 'sub/b.txt', line: 2, text: 'abc a.c a.c' },
        { path: 'sub/b.txt', line: 3, text: `${'x'.repeat(100)}a.c${'y'.repeat(197)}` },
      ],
      files_searched: 2,
      files_skipped: 1,
    });
  });

  test.each([
    ['\n', [1, 2, 3]],
    ['\ntwo', [1]],
    ['two\nthree', [2]],
  ])('a pattern with a line feed, %j', async (pattern, lines) => {
    const result = await call('search_files', { pattern, path: 'a.txt' });
    const { matches } = result as { matches: { line: number }[] };
    expect(matches.map(({ line }) => line)).toEqual(lines);
  });

  test('matches are capped', async () => {
    writeFileSync(join(root, 'many'), 'hit\n'.repeat(201));
    const result = await call('search_files', { pattern: 'hit' });
    expect(result).toMatchObject({ more: true });
    expect((result as { matches: [] }).matches).toHaveLength(200);
  });
});

describe('write_file and edit_file', () => {
  test('writes with folders, and replaces', async () => {
    await expect(call('write_file', { path: 'x/y/z.txt', content: 'é' })).resolves.toEqual({
      path: 'x/y/z.txt',
      bytes: 2,
    });
    await call('write_file', { path: 'a.txt', content: 'n' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('n');
    await expect(call('write_file', { path: 'sub', content: '' })).rejects.toThrow(/^sub: it is /);
    await expect(call('write_file', { path: 'a.txt/b', content: '' })).rejects.toThrow(
      /^a\.txt\/b: /,
    );
  });

  test.each([
    ['two', '$&', 'one\n$&\nthree\n'],
    ['\nthree', '', 'one\ntwo\n'],
  ])('replaces %j by %j', async (old, text, result) => {
    await call('edit_file', { path: 'a.txt', old, new: text });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(result);
  });

  test.each([
    ['four', 'is not in it'],
    ['o', 'more than once'],
  ])('%j is refused', async (old, why) => {
    await expect(call('edit_file', { path: 'a.txt', old, new: 'x' })).rejects.toThrow(why);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  test('overlapping places are two', async () => {
    writeFileSync(join(root, 'b'), 'aaa');
    await expect(call('edit_file', { path: 'b', old: 'aa', new: 'x' })).rejects.toThrow(
      'more than once',
    );
  });
});
