/**
 * Creating and opening transcript files, and the seed's faults in writing, numbered as in its report:
 * A1–A7 and C6–C8, each with the input that broke it.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  createTranscript,
  memoryStore,
  openTranscript,
  verifyFile,
  type FileOptions,
  type TranscriptStore,
} from '../../src/store/index.ts';
import { faultySystem, systemError, type Faults } from './faulty.ts';
import { bytesOf, FINAL, recordsOf, scratch, storeError, tool, USER } from './helpers.ts';

const newPath = scratch();

async function created(...drafts: Parameters<TranscriptStore['append']>[0]): Promise<string> {
  const path = newPath();
  const store = await createTranscript(path);
  await store.append(drafts);
  await store.close();
  return path;
}

describe('createTranscript', () => {
  test.each<[object, string]>([
    [{ durabilty: 'always' }, "unknown option 'durabilty'; the options are durability"],
    [{ durability: 'fsync' }, 'durability must be one of always, turn, never'],
    [{ recover: true }, "unknown option 'recover'"],
  ])('refuses %j: it would be a promise that is not kept', async (options, message) => {
    const path = newPath();
    await expect(createTranscript(path, options)).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
  });

  test('makes the folders it needs, and the file at once', async () => {
    const path = newPath('a/b/c/run.jsonl');
    const store = await createTranscript(path);
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(store.location).toBe(path);
    await store.close();
  });

  test('sets aside what lies beside it of another one that was removed', async () => {
    for (const isEmpty of [false, true]) {
      const path = newPath();
      for (const ending of ['.checkpoint', '.anchors', '.open']) writeFileSync(path + ending, 'x');
      writeFileSync(`${path}.open.old-1`, 'older');
      if (isEmpty) writeFileSync(path, '');
      await (await createTranscript(path)).close();
      const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
      const kept = ['', '.anchors.old-1', '.checkpoint.old-1', '.open.old-1', '.open.old-2'];
      expect(names.toSorted()).toEqual(kept.map((ending) => basename(path) + ending));
      expect(readFileSync(`${path}.open.old-1`, 'utf8')).toBe('older');
    }
  });

  test('leaves what lies beside one that is there', async () => {
    const path = await created(USER);
    writeFileSync(`${path}.checkpoint`, 'x');
    await expect(createTranscript(path)).rejects.toThrow('there is a transcript already');
    expect(readFileSync(`${path}.checkpoint`, 'utf8')).toBe('x');
  });

  test.each([
    ['always', ['c', 'b', 'a', '.']],
    ['turn', ['c', 'b', 'a', '.']],
    ['never', []],
  ] as const)(
    '%s: the names of new folders and file are made durable',
    async (durability, expected) => {
      const root = dirname(newPath());
      const synced: string[] = [];
      const system = faultySystem({
        async syncDirectory(_, path) {
          synced.push(path);
        },
      });
      await (await createTranscript(join(root, 'a/b/c/run.jsonl'), { durability }, system)).close();
      const at: Record<string, string> = { c: 'a/b/c', b: 'a/b', a: 'a', '.': '.' };
      expect(synced).toEqual(expected.map((name) => join(root, at[name] ?? '')));
      synced.length = 0;
      await (await createTranscript(join(root, 'a/run.jsonl'), { durability }, system)).close();
      expect(synced).toEqual(durability === 'never' ? [] : [join(root, 'a')]);
    },
  );

  test('uses an empty file, and refuses one with content', async () => {
    const path = newPath();
    writeFileSync(path, '');
    const store = await createTranscript(path);
    await store.append([USER]);
    await store.close();
    const before = readFileSync(path);
    const error = await storeError(createTranscript(path), 'exists');
    expect(error.message).toContain('choose another path');
    expect(readFileSync(path)).toEqual(before);
    writeFileSync(path, '\n');
    await storeError(createTranscript(path), 'exists');
  });

  test('a folder, a file as a folder, a device: clear errors', async () => {
    const path = await created(USER);
    await storeError(createTranscript(dirname(path)), 'failed');
    const error = await storeError(createTranscript(join(path, 'x.jsonl')), 'failed');
    expect(error.message).toMatch(/folder can't be made.*(ENOTDIR|EEXIST)/);
    if (process.platform !== 'win32') {
      const device = await storeError(createTranscript('/dev/null'), 'failed');
      expect(device.message).toContain('not a regular file');
      expect(existsSync('/dev/null.lock')).toBe(false);
    }
  });

  test('an empty path is a clear error', async () => {
    for (const attempt of [createTranscript, openTranscript, recordsOf]) {
      await expect(attempt('')).rejects.toThrow(
        new TypeError('the path is empty; give the path of a transcript file'),
      );
    }
  });

  test('a path through a symbolic link leads to the file itself', async () => {
    const path = newPath();
    const link = join(dirname(path), 'latest.jsonl');
    symlinkSync('run.jsonl', link);
    const store = await createTranscript(link);
    expect(existsSync(`${path}.lock`)).toBe(true);
    await store.append([USER, FINAL]);
    await store.close();
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 2 });
  });
});

describe('openTranscript', () => {
  test('goes on where the last writer stopped', async () => {
    const path = await created(USER, tool(1));
    const before = readFileSync(path);
    const store = await openTranscript(path);
    expect(store.head.count).toBe(2);
    expect(await bytesOf(store)).toEqual(before);
    await store.append([FINAL]);
    await store.close();
    expect(readFileSync(path).subarray(0, before.length)).toEqual(before);
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 3 });
  });

  test('an empty file is an empty transcript', async () => {
    const path = newPath();
    writeFileSync(path, '');
    const store = await openTranscript(path);
    expect(store.head.count).toBe(0);
    await store.close();
  });

  test('a missing file is missing, and isn’t created', async () => {
    const path = newPath('no/run.jsonl');
    await storeError(openTranscript(path), 'missing');
    await storeError(openTranscript(path, { recover: true }), 'missing');
    expect(existsSync(dirname(path))).toBe(false);
  });

  test('an edited file is broken, with the fault as the cause; recover changes nothing', async () => {
    const path = await created(USER, tool(41), tool(2));
    writeFileSync(path, readFileSync(path, 'utf8').replace('41', '42'));
    for (const options of [{}, { recover: true }]) {
      const error = await storeError(openTranscript(path, options), 'broken');
      expect(error.message).toContain('line 2 (record 1)');
      expect(error.cause).toMatchObject({ reason: 'hash_mismatch', seq: 1, line: 2 });
    }
  });
});

const BOTH: readonly [string, (options?: FileOptions) => Promise<TranscriptStore>][] = [
  ['memory', async () => memoryStore()],
  ['file', (options) => createTranscript(newPath(), options)],
];

/** What the seed wrote and then could not read. */
async function holds(store: TranscriptStore, count: number): Promise<void> {
  const bytes = await bytesOf(store);
  await store.close();
  const path = newPath();
  writeFileSync(path, bytes);
  expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true, count });
  const again = await openTranscript(path);
  await again.append([FINAL]);
  await again.close();
  expect(await verifyFile(path)).toMatchObject({ ok: true, count: count + 1 });
}

describe.each(BOTH)('faults of the seed, %s', (_, make) => {
  test.each(['\u2028', '\u2029', '\u0085', '\r', '\u000b\u000c\u001c\u001d\u001e'])(
    'A1: a payload with the line separator %j stays one line',
    async (separator) => {
      const store = await make();
      const payload = { text: `a${separator}b` };
      const [line] = await store.append([{ kind: 'user', payload }]);
      expect((await bytesOf(store)).toString()).toBe(line?.text);
      expect((await recordsOf(store))[0]?.payload).toEqual(payload);
      await holds(store, 1);
    },
  );

  test('A2: keys that look like integers have one order, in memory and on disk', async () => {
    const store = await make();
    const payload = { 1: 'a', 2: 'b', 10: 'c' };
    const [line] = await store.append([{ kind: 'user', payload }]);
    expect(line?.text).toContain('{"1":"a","10":"c","2":"b"}');
    await holds(store, 1);
  });

  test('A3: a caller that changes the payload after append changes no record', async () => {
    const store = await make();
    const payload = { list: ['before'] };
    await store.append([USER, { kind: 'tool', payload }]);
    payload.list[0] = 'after';
    expect((await recordsOf(store))[1]?.payload).toEqual({ list: ['before'] });
    await holds(store, 2);
  });

  test('C2, C3: a lone surrogate or a payload 5,000 levels deep is refused by name, and nothing is written', async () => {
    const store = await make();
    await store.append([USER]);
    let deep: readonly unknown[] = [];
    for (let i = 0; i < 5000; i += 1) deep = [deep];
    // A caller without types may pass anything.
    for (const payload of [{ text: '\ud800' }, deep as []]) {
      await expect(store.append([{ kind: 'tool', payload }])).rejects.toMatchObject({
        name: 'CanonicalError',
      });
    }
    await holds(store, 1);
  });
});

describe('faults of the seed, file', () => {
  test('A4: a missing folder is made, so the first record is never lost', async () => {
    const path = newPath('missing/run.jsonl');
    const store = await createTranscript(path);
    await store.append([USER]);
    await store.append([FINAL]);
    await store.close();
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 2 });
  });

  test('A4: a full disk in the midst of a line: memory is where the file is, nothing is glued to a part', async () => {
    const faults: Faults = {};
    const path = newPath();
    const store = await createTranscript(path, {}, faultySystem(faults));
    await store.append([USER]);
    faults.write = (real) => {
      real(20);
      throw systemError('ENOSPC');
    };
    await storeError(store.append([tool(1)]), 'failed');
    delete faults.write;
    await store.append([tool(1), FINAL]);
    await store.close();
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 3 });
  });

  test('A5: after a torn last line the agent can start again on that path', async () => {
    const path = await created(USER, tool(1));
    writeFileSync(path, readFileSync(path).subarray(0, -20));
    const store = await openTranscript(path, { recover: true });
    await store.append([FINAL]);
    await store.close();
    expect((await recordsOf(path)).map(({ kind }) => kind)).toEqual(['user', 'recovered', 'final']);
    expect(await verifyFile(path)).toMatchObject({ ok: true });
  });

  test('A6: nothing is ever appended to a line without its newline', async () => {
    const path = await created(USER, tool(1));
    const cut = readFileSync(path).subarray(0, -1);
    writeFileSync(path, cut);
    await storeError(openTranscript(path), 'broken');
    await storeError(createTranscript(path), 'exists');
    expect(readFileSync(path)).toEqual(cut);
    const store = await openTranscript(path, { recover: true });
    await store.append([FINAL]);
    await store.close();
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 3 });
  });

  test('A7: two writers on one path: the second is refused', async () => {
    const path = newPath();
    const store = await createTranscript(path);
    for (let i = 0; i < 50; i += 1) {
      await store.append([tool(i)]);
      await storeError(openTranscript(path), 'locked');
    }
    await store.close();
    expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true, count: 50 });
  });

  test('C8: a second run on the path of a first is refused instead of continuing its chain', async () => {
    for (const drafts of [[USER], [USER, FINAL]]) {
      const path = await created(...drafts);
      await storeError(createTranscript(path), 'exists');
      expect(await recordsOf(path)).toHaveLength(drafts.length);
    }
  });

  test('C6: a path object works as a path does', async () => {
    const path = newPath('with space ä.jsonl');
    const store = await createTranscript(pathToFileURL(path));
    expect(store.location).toBe(path);
    await store.append([USER]);
    await store.close();
    const again = await openTranscript(pathToFileURL(path));
    await again.append([FINAL]);
    await again.close();
    expect(await verifyFile(pathToFileURL(path))).toMatchObject({ ok: true, count: 2 });
    for (const open of [createTranscript, openTranscript]) {
      await expect(open(new URL('https://example.org/run.jsonl'))).rejects.toThrow(/scheme/);
    }
  });

  test('C7: reading or opening another transcript never changes where records go', async () => {
    const [a, b] = [await created(USER), await created(USER, tool(1))];
    const before = readFileSync(b);
    const store = await openTranscript(a);
    expect(await recordsOf(b)).toHaveLength(2);
    const other = await openTranscript(b);
    await store.append([tool('a')]);
    await other.close();
    await store.append([FINAL]);
    await store.close();
    expect(readFileSync(b)).toEqual(before);
    expect(await verifyFile(a)).toMatchObject({ ok: true, count: 3 });
  });

  test('C7: a change of the working folder never changes where records go', async () => {
    const path = newPath();
    const elsewhere = join(dirname(path), 'elsewhere');
    mkdirSync(elsewhere);
    const before = process.cwd();
    try {
      process.chdir(dirname(path));
      const store = await createTranscript('run.jsonl');
      expect(store.location).toBe('run.jsonl');
      process.chdir(elsewhere);
      await store.append([USER, FINAL]);
      expect(await bytesOf(store)).toEqual(readFileSync(path));
      await store.close();
    } finally {
      process.chdir(before);
    }
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 2 });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
