/**
 * The catalogue of a folder: many runs at once, crashes, and what is gone by it.
 *
 * @module
 */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Attesting } from '../../src/attest/attested-store.ts';
import { catalogPath, isCatalog, readCatalog } from '../../src/attest/catalog.ts';
import { lookUp } from '../../src/attest/look-up.ts';
import { noteRemoval, noteRun } from '../../src/attest/catalog-notes.ts';
import { checkpointPath } from '../../src/attest/checkpoint-file.ts';
import { type Knowledge } from '../../src/attest/examine.ts';
import { goneAt, goneFrom, type Found, type Gone } from '../../src/attest/gone.ts';
import { openAttested } from '../../src/attest/open.ts';
import { recordsOf, scratch } from '../store/helpers.ts';
import {
  attestChild,
  atOnce,
  examine,
  requireBuiltAttest,
  toolRecord,
  userIn,
  whenAllReady,
  within,
  writeLog,
  type User,
} from './support.ts';

const newPath = scratch();

/** A user whose runs are noted in the catalogues of their folders. */
function newUser(): User & { readonly noting: Attesting } {
  const user = userIn(newPath('state'));
  const { attesting } = user;
  return { ...user, noting: { ...attesting, onState: (state) => noteRun(state, attesting) } };
}

function newFolder(): string {
  return dirname(newPath('x'));
}

/** The transcripts in a folder, at any depth, as `verify` finds them: links to folders aren't followed. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.name.endsWith('.jsonl') ? [path] : [];
  });
}

/** What `verify` finds wrong with a folder: of the files that are there, and of those that aren't. */
async function faultsIn(folder: string, { knowledge }: User): Promise<string[]> {
  const knowing: Knowledge = { ...knowledge, listed: lookUp() };
  const faults: string[] = [];
  const found = new Map<string, Found[]>();
  const files = filesIn(folder);
  for (const file of files) {
    const { fault, origin = '', count: size, root } = await examine(file, knowing);
    const isFaulty = fault !== undefined && fault.reason !== 'not_sealed';
    found.set(origin, [...(found.get(origin) ?? []), { file, size, root, isFaulty }]);
    if (fault !== undefined) faults.push(`${file.slice(folder.length + 1)} ${fault.reason}`);
  }
  const gone = await goneFrom([folder], { files, found }, knowledge.memory);
  return [
    ...faults,
    ...gone.map((each) => `${each.file.slice(folder.length + 1)} ${each.fault.reason}`),
  ];
}

describe('what it says of a file', () => {
  test('that it was begun, and how it was closed', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting, { sealed: false });
    const records = await recordsOf(catalogPath(path));
    expect(records.map(({ kind }) => kind)).toEqual(['catalog', 'run', 'run']);
    const listed = (await readCatalog(catalogPath(path)))?.files.get('a.jsonl');
    const known = user.memory.list().find((head) => head.path === path);
    expect(listed).toEqual({
      file: 'a.jsonl',
      log: known?.log,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      end: { size: 5, root: known?.root, sealed: false, seq: 2 },
    });
    const store = await openAttested(path, user.noting);
    await store.append([toolRecord(1)]);
    await store.close();
    expect((await readCatalog(catalogPath(path)))?.files.get('a.jsonl')?.end?.size).toBe(6);
    expect(user.problems).toEqual([]);
    expect(await faultsIn(dirname(path), user)).toEqual([]);
  });

  test('it is a transcript like any other, signed and remembered', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting);
    expect(isCatalog(catalogPath(path))).toBe(true);
    expect(await examine(catalogPath(path), user.knowledge)).toMatchObject({
      ok: true,
      count: 3,
      coverage: [
        { by: 'signed', records: 3 },
        { by: 'remembered', records: 3 },
      ],
    });
  });

  test('nothing where there is none', async () => {
    const path = newPath();
    expect(await readCatalog(catalogPath(path))).toBeNull();
    expect(await lookUp()(path, undefined)).toEqual({ statements: [] });
    expect(await noteRemoval(path, newUser().attesting)).toBe(false);
    expect(existsSync(catalogPath(path))).toBe(false);
  });

  test('that it was removed; and that another was begun there', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting);
    rmSync(path);
    rmSync(checkpointPath(path));
    expect(await faultsIn(dirname(path), user)).toEqual(['a.jsonl missing']);
    const { log = '' } = user.memory.list().find((head) => head.path === path) ?? {};
    expect(await noteRemoval(path, user.attesting)).toBe(true);
    expect(await noteRemoval(path, user.attesting)).toBe(false);
    await user.memory.forget(log);
    expect(await faultsIn(dirname(path), user)).toEqual([]);
    await writeLog(path, user.noting);
    const listed = (await readCatalog(catalogPath(path)))?.files.get('a.jsonl');
    expect(listed?.log).not.toBe(log);
    expect(listed?.end?.size).toBe(5);
    expect(await faultsIn(dirname(path), user)).toEqual([]);
  });

  test('a removal that comes late takes only the log that was removed', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting);
    const before = (await readCatalog(catalogPath(path)))?.files.get('a.jsonl');
    rmSync(path);
    await writeLog(path, user.noting);
    const catalog = await openAttested(catalogPath(path), user.attesting);
    const payload = { at: 'NOW', file: 'a.jsonl', log: before?.log ?? '' };
    await catalog.append([{ kind: 'removed', payload }]);
    await catalog.close();
    const listed = (await readCatalog(catalogPath(path)))?.files.get('a.jsonl');
    expect(listed).toBeDefined();
    expect(listed?.log).not.toBe(before?.log);
  });

  test('records of other kinds and shapes say nothing', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting);
    const catalog = await openAttested(catalogPath(path), user.attesting);
    await catalog.append([
      { kind: 'run', payload: [] },
      { kind: 'run', payload: { file: 'b.jsonl' } },
      { kind: 'run', payload: { file: 1, log: 'x', at: 'y' } },
      { kind: 'other', payload: { file: 'b.jsonl', log: 'x', at: 'y' } },
      { kind: 'removed', payload: { file: 'a.jsonl', log: 'x', at: 'y' } },
      // A catalogue says nothing of other folders.
      ...['../b', '/etc/passwd', 'b/c', 'b\\c', '.', '..', '', 'b\0c'].map((file) => ({
        kind: 'run',
        payload: { file, log: 'x', at: 'y' },
      })),
    ]);
    await catalog.close();
    expect([...((await readCatalog(catalogPath(path)))?.files.keys() ?? [])]).toEqual(['a.jsonl']);
  });
});

describe('what a crash or a person leaves of it', () => {
  test('an empty one is begun', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    writeFileSync(catalogPath(path), '');
    await writeLog(path, user.noting);
    expect(user.problems).toEqual([]);
    expect(await faultsIn(dirname(path), user)).toEqual([]);
    expect((await readCatalog(catalogPath(path)))?.files.size).toBe(1);
  });

  test('a torn one is repaired, at its first record as well', async () => {
    for (const before of [0, 1]) {
      const user = newUser();
      const folder = newFolder();
      if (before > 0) await writeLog(join(folder, 'a.jsonl'), user.noting);
      const path = join(folder, 'b.jsonl');
      appendFileSync(catalogPath(path), '{"hash":"01');
      // What is torn says what it says as far as it is whole.
      expect((await readCatalog(catalogPath(path)))?.files.size).toBe(before);
      await writeLog(path, user.noting);
      expect(user.problems).toEqual([]);
      expect((await readCatalog(catalogPath(path)))?.files.size).toBe(before + 1);
      expect(await faultsIn(folder, user)).toEqual([]);
      const examined = await examine(catalogPath(path), user.knowledge);
      expect(examined.coverage).toMatchObject([{ by: 'signed' }, { by: 'remembered' }]);
    }
  });

  test.each<[string, (catalog: string) => void]>([
    [
      'edited',
      (catalog) =>
        writeFileSync(catalog, readFileSync(catalog, 'utf8').replace('a.jsonl', 'z.jsonl')),
    ],
    [
      'cut',
      (catalog) => writeFileSync(catalog, readFileSync(catalog, 'utf8').split(/(?<=\n)/)[0] ?? ''),
    ],
    ['emptied', (catalog) => writeFileSync(catalog, '')],
    ['no transcript', (catalog) => writeFileSync(catalog, 'hello\nworld\n')],
    ['a folder', (catalog) => (rmSync(catalog), mkdirSync(catalog))],
  ])('one that is %s: runs go on, it is said, and it is left as it is', async (_, spoil) => {
    const user = newUser();
    const folder = newFolder();
    await writeLog(join(folder, 'a.jsonl'), user.noting);
    const path = join(folder, 'b.jsonl');
    const catalog = catalogPath(path);
    spoil(catalog);
    const bytes =
      existsSync(catalog) &&
      !readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isDirectory())
        ? readFileSync(catalog)
        : null;
    await writeLog(path, user.noting);
    expect(user.problems).toHaveLength(1);
    expect(user.problems[0]).toContain('where it stands is not noted: ');
    if (bytes !== null) expect(readFileSync(catalog)).toEqual(bytes);
    expect(await examine(path, user.knowledge, {})).toMatchObject({
      ok: true,
      coverage: [{ records: 5 }, { records: 5 }],
    });
    // A broken one says nothing of files, and is a fault itself.
    await lookUp()(path, undefined);
    if (bytes !== null)
      expect((await faultsIn(folder, user)).join()).toContain('hashtape-catalog.jsonl');
  });

  test('one that is deleted is missed', async () => {
    const user = newUser();
    const path = within(newFolder(), 'a.jsonl');
    await writeLog(path, user.noting);
    rmSync(catalogPath(path));
    expect(await faultsIn(dirname(path), user)).toEqual(['hashtape-catalog.jsonl missing']);
  });
});

describe('many processes', () => {
  beforeAll(requireBuiltAttest);

  test('eight with several runs each, which end at once: none is lost', async () => {
    const folder = newFolder();
    const state = newPath('state');
    const names = {
      'head-memory.js': '{ HeadMemory }',
      'open.js': '{ createAttested }',
      'catalog-notes.js': '{ noteRun }',
    };
    const act = (number: number): string => `
      const memory = new HeadMemory(${JSON.stringify(state)});
      const problems = [];
      const attesting = {
        memory,
        onProblem: (problem) => problems.push(problem),
        onState: (now) => noteRun(now, { memory }),
      };
      for (let i = 0; i < 3; i += 1) {
        const store = await createAttested(path + '/${number}-' + i + '.jsonl', attesting);
        await store.append([{ kind: 'user', payload: { run: { id: '${number}-' + i } } }]);
        await store.sync();
        await store.append([{ kind: 'final', payload: {} }]);
        await store.close();
      }
      say(JSON.stringify(problems));`;
    const children = Array.from({ length: 8 }, (_, i) =>
      attestChild(folder, names, whenAllReady(act(i))),
    );
    expect(await atOnce(children)).toEqual(Array.from({ length: 8 }, () => '[]'));
    const listing = await readCatalog(join(folder, 'hashtape-catalog.jsonl'));
    expect(listing?.files.size).toBe(24);
    for (const { end } of listing?.files.values() ?? []) expect(end?.size).toBe(2);
    expect(await faultsIn(folder, userIn(state))).toEqual([]);
    expect(readdirSync(folder).filter((name) => !name.endsWith('.jsonl'))).toEqual([]);
  });
});

/** A folder of runs, two of them in a folder within. */
async function newRuns(user: ReturnType<typeof newUser>): Promise<string> {
  const folder = newFolder();
  for (const name of ['a.jsonl', 'b.jsonl', 'deep/er/c.jsonl', 'deep/er/d.jsonl'])
    await writeLog(within(folder, name), user.noting);
  expect(await faultsIn(folder, user)).toEqual([]);
  return folder;
}

async function goneOf(path: string, user: User): Promise<Gone | null> {
  return goneAt(path, user.memory);
}

test('a log that was seen in a second place is missed where that holds it no more', async () => {
  const user = newUser();
  const path = within(newFolder(), 'a.jsonl');
  await writeLog(path, user.attesting);
  const copy = newPath('copy.jsonl');
  copyFileSync(path, copy);
  expect(await examine(copy, user.knowledge)).toMatchObject({ ok: true });
  rmSync(path);
  expect(await goneOf(path, user)).toBeNull();
  writeFileSync(copy, 'hello\n');
  expect(await goneOf(path, user)).toMatchObject({ fault: { reason: 'missing' } });
});

test('a run that its catalogue says was closed is missed where only a part of it is found', async () => {
  const user = newUser();
  const path = within(newFolder(), 'a.jsonl');
  await writeLog(path, user.noting);
  const { origin = '', count: size, root } = await examine(path, user.knowledge);
  const copy = newPath('copy');
  renameSync(path, copy);
  const files = [catalogPath(path)];
  const gone = async (found: Omit<Found, 'file'>): Promise<number> => {
    const all = new Map([[origin, [{ file: copy, ...found }]]]);
    return (await goneFrom([dirname(path)], { files, found: all }, undefined)).length;
  };
  expect(await gone({ size, root, isFaulty: false })).toBe(0);
  expect(await gone({ size, root: '0'.repeat(64), isFaulty: false })).toBe(1);
  expect(await gone({ size: size - 1, root, isFaulty: false })).toBe(1);
  // What is wrong with it is told of the file.
  expect(await gone({ size: size - 1, root, isFaulty: true })).toBe(0);
  // It has grown, if what is in it begins so.
  expect(await gone({ size: size + 1, root: '0'.repeat(64), isFaulty: false })).toBe(0);
  copyFileSync(catalogPath(path), copy);
  expect(await gone({ size: size + 1, root: '0'.repeat(64), isFaulty: false })).toBe(1);
});

describe('what is gone', () => {
  const CASES: readonly [string, (folder: string) => void, string[]][] = [
    ['nothing', () => undefined, []],
    ['one that was deleted', (folder) => rmSync(join(folder, 'a.jsonl')), ['a.jsonl missing']],
    [
      'one that was deleted with its checkpoints',
      (folder) => {
        rmSync(join(folder, 'a.jsonl'));
        rmSync(join(folder, 'a.jsonl.checkpoint'));
      },
      ['a.jsonl missing'],
    ],
    [
      'not one that has another name',
      (folder) => renameSync(join(folder, 'a.jsonl'), join(folder, 'z.jsonl')),
      [],
    ],
    [
      'not one that was moved deeper',
      (folder) => renameSync(join(folder, 'a.jsonl'), join(folder, 'deep', 'a.jsonl')),
      [],
    ],
    [
      'one that was moved out',
      (folder) => renameSync(join(folder, 'a.jsonl'), newPath()),
      ['a.jsonl missing'],
    ],
    [
      'one within',
      (folder) => rmSync(join(folder, 'deep/er/c.jsonl')),
      ['deep/er/c.jsonl missing'],
    ],
    [
      'a folder with its catalogue, by memory alone',
      (folder) => rmSync(join(folder, 'deep'), { recursive: true }),
      [
        'deep/er/c.jsonl missing',
        'deep/er/d.jsonl missing',
        'deep/er/hashtape-catalog.jsonl missing',
      ],
    ],
    [
      'not a folder with another name',
      (folder) => renameSync(join(folder, 'deep'), join(folder, 'other')),
      [],
    ],
    [
      'not one that was damaged: that is told of the file',
      (folder) => writeFileSync(join(folder, 'a.jsonl'), 'hello\nworld\n'),
      ['a.jsonl bad_json'],
    ],
    [
      'not one that was emptied: that is told of the file',
      (folder) => writeFileSync(join(folder, 'a.jsonl'), ''),
      ['a.jsonl rolled_back'],
    ],
    [
      'not one that another was put over',
      (folder) => renameSync(join(folder, 'b.jsonl'), join(folder, 'a.jsonl')),
      ['a.jsonl root_mismatch'],
    ],
  ];

  test.each(CASES)('%s', async (_, act, expected) => {
    const user = newUser();
    const folder = await newRuns(user);
    act(folder);
    expect((await faultsIn(folder, user)).toSorted()).toEqual(expected);
  });

  test('by the catalogue alone, for who has no memory of it', async () => {
    const user = newUser();
    const folder = await newRuns(user);
    rmSync(join(folder, 'a.jsonl'));
    expect(await faultsIn(folder, newUser())).toEqual(['a.jsonl missing']);
  });

  test('of a folder that is reached through a link', async () => {
    const user = newUser();
    const folder = await newRuns(user);
    const link = newPath('link');
    symlinkSync(folder, link);
    rmSync(join(folder, 'a.jsonl'));
    rmSync(join(folder, 'deep'), { recursive: true });
    expect((await faultsIn(link, user)).toSorted()).toEqual([
      'a.jsonl missing',
      'deep/er/c.jsonl missing',
      'deep/er/d.jsonl missing',
      'deep/er/hashtape-catalog.jsonl missing',
    ]);
  });

  test('a run in a file of another ending is there', async () => {
    const user = newUser();
    const folder = newFolder();
    await writeLog(join(folder, 'a.jsonl'), user.noting);
    await writeLog(join(folder, 'b.log'), user.noting);
    expect(await faultsIn(folder, user)).toEqual([]);
    rmSync(join(folder, 'b.log'));
    expect(await faultsIn(folder, user)).toEqual(['b.log missing']);
  });

  test('a folder whose name begins as another’s isn’t in it', async () => {
    const user = newUser();
    const root = newFolder();
    for (const name of ['runs/a.jsonl', 'runs-2/b.jsonl'])
      await writeLog(within(root, name), user.noting);
    rmSync(join(root, 'runs-2'), { recursive: true });
    expect(await faultsIn(join(root, 'runs'), user)).toEqual([]);
  });

  describe('at a path', () => {
    test('that was never one, or where one is: nothing', async () => {
      const user = newUser();
      const folder = await newRuns(user);
      expect(await goneOf(join(folder, 'z.jsonl'), user)).toBeNull();
      expect(await goneOf(join(folder, 'a.jsonl'), user)).toBeNull();
      expect(await goneOf('/nowhere/at/all.jsonl', user)).toBeNull();
      expect(await goneAt(join(folder, 'z.jsonl'), undefined)).toBeNull();
    });

    test('by the catalogue, by memory, and with nothing left of its folder', async () => {
      const user = newUser();
      const folder = await newRuns(user);
      rmSync(join(folder, 'a.jsonl'));
      expect((await goneOf(join(folder, 'a.jsonl'), user))?.fault).toMatchObject({
        reason: 'missing',
        detail: expect.stringContaining('closed with 5 records'),
      });
      rmSync(catalogPath(join(folder, 'a.jsonl')));
      expect((await goneOf(join(folder, 'a.jsonl'), user))?.fault.detail).toMatch(
        /^by this machine's memory of heads, a log of 5 records was (written|verified) here at /,
      );
      rmSync(folder, { recursive: true });
      expect((await goneOf(join(folder, 'a.jsonl'), user))?.fault.reason).toBe('missing');
    });
  });
});

test('a catalogue that is in use is waited for', async () => {
  const user = newUser();
  const path = within(newFolder(), 'a.jsonl');
  await writeLog(path, user.noting);
  const holder = await openAttested(catalogPath(path), {});
  const other = writeLog(join(dirname(path), 'b.jsonl'), user.noting);
  const late = setTimeout(() => void holder.close(), 500);
  await other;
  clearTimeout(late);
  await holder.close();
  expect(user.problems).toEqual([]);
  expect((await readCatalog(catalogPath(path)))?.files.get('b.jsonl')?.end).toBeDefined();
});
