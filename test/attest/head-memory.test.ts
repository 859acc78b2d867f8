/**
 * The memory of heads: it never shrinks, whoever writes to it at once, and what is damaged is said.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  HeadMemory,
  headAt,
  headsOf,
  type KnownHead,
  type SeenHead,
} from '../../src/attest/head-memory.ts';
import { scratch } from '../store/helpers.ts';
import { attestChild, atOnce, requireBuiltAttest, snapshot, whenAllReady } from './support.ts';

const newPath = scratch();

/** What is known of a log where it mostly is. */
function knownIn(memory: HeadMemory, log = hash('a')): KnownHead | undefined {
  return headAt(headsOf(memory.recall(log)), '/runs/a.jsonl');
}

function hash(digit: number | string): string {
  return String(digit).padStart(64, '0');
}

function seen(size: number, more: Partial<SeenHead> = {}): SeenHead {
  const root = hash(size);
  return {
    log: hash('a'),
    kind: 'transcript',
    size,
    root,
    sealed: false,
    path: '/runs/a.jsonl',
    by: 'writer',
    ...more,
  };
}

/** A memory whose clock goes on by a second each time. */
function newMemory(): { memory: HeadMemory; state: string } {
  const state = join(newPath(), 'state');
  let time = 0;
  return { state, memory: new HeadMemory(state, () => new Date((time += 1000))) };
}

function headFile(state: string, log = hash('a')): string {
  return join(state, 'heads', `${log}.json`);
}

test('nothing is written before something is seen', async () => {
  const { memory, state } = newMemory();
  expect(memory.recall(hash('a'))).toEqual([]);
  expect(memory.at('/runs/a.jsonl')).toEqual([]);
  expect(memory.list()).toEqual([]);
  expect(await memory.forget(hash('a'))).toBe(false);
  await memory.leave('/runs/a.jsonl');
  expect(existsSync(state)).toBe(false);
});

test('what was seen is known: when first, when so large, where, and by whom', async () => {
  const { memory, state } = newMemory();
  expect(await memory.remember(seen(3), undefined)).toBe(true);
  const first = { ...seen(3), time: '1970-01-01T00:00:01.000Z' };
  expect(memory.recall(hash('a'))).toEqual([first]);
  expect(await memory.remember(seen(5, { by: 'verifier', sealed: true }), first)).toBe(true);
  expect(new HeadMemory(state).recall(hash('a'))).toEqual([
    { ...seen(5, { by: 'verifier', sealed: true }), time: '1970-01-01T00:00:02.000Z' },
    first,
  ]);
});

test.skipIf(process.platform === 'win32')('it is for its user alone (needs modes)', async () => {
  const { memory, state } = newMemory();
  await memory.remember(seen(3), undefined);
  for (const folder of [state, join(state, 'heads'), join(state, 'paths')])
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of Object.keys(snapshot(state)))
    expect(statSync(join(state, name)).mode & 0o777).toBe(0o600);
});

test('a smaller size, or another root of the same, is never written over it', async () => {
  const { memory } = newMemory();
  await memory.remember(seen(5), undefined);
  const known = knownIn(memory);
  for (const other of [seen(4), seen(1), seen(5, { root: hash('bad') })]) {
    expect(await memory.remember(other, known)).toBe(true);
    expect(memory.recall(hash('a'))).toEqual([known]);
  }
});

test('what was seen meanwhile is not written over: the caller must compare again', async () => {
  const { memory } = newMemory();
  await memory.remember(seen(5), undefined);
  const known = knownIn(memory);
  await memory.remember(seen(9), known);
  for (const stale of [undefined, known, { ...known!, size: 9 }]) {
    expect(await memory.remember(seen(7), stale)).toBe(stale?.size === 9);
    expect(await memory.remember(seen(12), stale)).toBe(false);
    expect(memory.recall(hash('a'))).toMatchObject([{ size: 9, root: hash(9) }]);
  }
});

test("a writer's word is kept beside a verifier's, whichever is larger and came first", async () => {
  for (const [first, second] of [
    ['writer', 'verifier'],
    ['verifier', 'writer'],
  ] as const) {
    for (const [small, large] of [
      [5, 5],
      [5, 7],
      [7, 5],
    ] as const) {
      const { memory } = newMemory();
      await memory.remember(seen(small, { by: first }), undefined);
      expect(await memory.remember(seen(large, { by: second }), knownIn(memory))).toBe(true);
      const kept = headsOf(memory.recall(hash('a')));
      const written = first === 'writer' ? small : large;
      expect(kept.filter(({ by }) => by === 'writer').map(({ size }) => size)).toEqual([written]);
      // Of what was written a verifier says no more, unless there is more.
      const verified = first === 'writer' ? large : small;
      expect(kept.length).toBe(verified > written ? 2 : 1);
      // Whoever asks for one gets the largest, and of two alike what was written.
      expect(kept[0]).toMatchObject({ size: Math.max(small, large) });
      if (small === large) expect(kept[0]?.by).toBe('writer');
      expect(await memory.forget(hash('a'), '/runs/a.jsonl')).toBe(true);
      expect(memory.list()).toEqual([]);
    }
  }
});

/** One that was verified at a place of its own. */
function copy(i: number): SeenHead {
  return seen(5, { path: `/place/${i}`, by: 'verifier' });
}

describe('where a log was', () => {
  test('is known by its path, each place by itself', async () => {
    const { memory } = newMemory();
    await memory.remember(seen(5), undefined);
    const known = knownIn(memory);
    expect(memory.at('/runs/a.jsonl')).toEqual([known]);
    expect(await memory.remember(seen(7, { path: '/new/a.jsonl' }), undefined)).toBe(true);
    // The largest first.
    const moved = { size: 7, path: '/new/a.jsonl', time: '1970-01-01T00:00:02.000Z' };
    expect(memory.recall(hash('a'))).toMatchObject([moved, { size: 5 }]);
    expect(memory.at('/runs/a.jsonl')).toEqual([known]);
    expect(memory.at('/new/a.jsonl')).toMatchObject([moved]);
    await memory.remember(seen(2, { log: hash('b') }), undefined);
    expect(memory.at('/runs/a.jsonl')).toMatchObject([{ log: hash('b') }]);
    expect(memory.at('/new/a.jsonl')).toMatchObject([moved]);
    expect(memory.list()).toHaveLength(3);
  });

  test('may be in 256 places, of which none is given up for a copy that is verified', async () => {
    const { memory } = newMemory();
    const places = (): string[] => headsOf(memory.recall(hash('a'))).map(({ path }) => path);
    for (let i = 0; i < 256; i += 1) await memory.remember(copy(i), undefined);
    await expect(memory.remember(copy(256), undefined)).rejects.toThrow(
      /known in 256 other places.*hashtape heads forget FILE/,
    );
    expect(places()).toHaveLength(256);
    expect(places()).toContain('/place/0');
    // One that is known may grow.
    const known = memory.list().find(({ path }) => path === '/place/9');
    expect(await memory.remember({ ...copy(9), size: 6 }, known)).toBe(true);
    // What its own writer says is always kept, and nothing is given up for it either: nobody else can add to that.
    for (let i = 0; i < 5; i += 1) {
      expect(await memory.remember(seen(7, { path: `/own/${i}` }), undefined)).toBe(true);
    }
    expect(places()).toHaveLength(261);
    expect(places()).toContain('/place/255');
    await expect(memory.remember(copy(256), undefined)).rejects.toThrow('hashtape heads forget');
    // Where there is room again, there is, and what is there stays.
    expect(await memory.forget(hash('a'), '/place/3')).toBe(true);
    expect(places()).toHaveLength(260);
    expect(await memory.remember(copy(256), undefined)).toBe(true);
  });

  test('bears on it when it comes back, however many others were there since', async () => {
    const { memory } = newMemory();
    await memory.remember(seen(5), undefined);
    for (let i = 0; i < 70; i += 1) {
      await memory.remember(seen(3, { log: hash(i), by: 'verifier' }), undefined);
    }
    expect(memory.everAt('/runs/a.jsonl')).toHaveLength(65);
    expect(knownIn(memory)).toMatchObject({ size: 5, by: 'writer' });
  });

  test('is the one that grew there last, whatever was there before', async () => {
    const { memory } = newMemory();
    for (const size of [1, 2, 3, 4]) {
      for (const log of [hash('a'), hash('b'), hash('b')]) {
        const known = knownIn(memory, log);
        await memory.remember(seen((known?.size ?? 0) + 1, { log }), known);
        expect(memory.at('/runs/a.jsonl'), `${size}`).toMatchObject([{ log }]);
      }
    }
  });

  test('is forgotten when a new log begins there; the log is not', async () => {
    const { memory } = newMemory();
    await memory.remember(seen(5), undefined);
    await memory.leave('/runs/a.jsonl');
    expect(memory.at('/runs/a.jsonl')).toEqual([]);
    expect(memory.recall(hash('a'))).toMatchObject([{ size: 5 }]);
  });

  test('any path is kept as it is', async () => {
    const { memory } = newMemory();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.nat(), async (name, n) => {
        const path = `/${name}`;
        const log = n.toString(16).padStart(64, '0');
        await memory.forget(log);
        await memory.remember(seen(1, { log, path }), undefined);
        expect(memory.at(path)).toMatchObject([{ log, path }]);
      }),
      { numRuns: 20 },
    );
  });
});

test('a log that is forgotten is not known, and may be seen anew', async () => {
  const { memory } = newMemory();
  await memory.remember(seen(5), undefined);
  await memory.remember(seen(3, { log: hash('b'), path: '/b' }), undefined);
  expect(memory.list().map(({ log }) => log)).toEqual([hash('a'), hash('b')]);
  expect(await memory.forget(hash('a'))).toBe(true);
  expect(await memory.forget(hash('a'))).toBe(false);
  expect(memory.recall(hash('a'))).toEqual([]);
  expect(memory.at('/runs/a.jsonl')).toEqual([]);
  expect(memory.list().map(({ log }) => log)).toEqual([hash('b')]);
  expect(await memory.remember(seen(2), undefined)).toBe(true);
});

test('a log may be forgotten in one place', async () => {
  const { memory } = newMemory();
  await memory.remember(seen(5), undefined);
  await memory.remember(seen(7, { path: '/new' }), undefined);
  expect(await memory.forget(hash('a'), '/nowhere')).toBe(false);
  expect(await memory.forget(hash('a'), '/new')).toBe(true);
  expect(memory.at('/new')).toEqual([]);
  expect(memory.recall(hash('a'))).toMatchObject([{ size: 5 }]);
  expect(await memory.forget(hash('a'), '/runs/a.jsonl')).toBe(true);
  expect(memory.list()).toEqual([]);
});

test('what its own writer said of a log is kept, in however many places it was verified since', async () => {
  const { memory } = newMemory();
  await memory.remember(seen(5), undefined);
  for (let i = 0; i < 70; i += 1) {
    await memory.remember(seen(5, { path: `/copy/${i}`, by: 'verifier' }), undefined);
  }
  expect(memory.at('/runs/a.jsonl')).toMatchObject([{ by: 'writer', size: 5 }]);
});

test('all logs that were seen at a path are known, the last one first', async () => {
  const { memory } = newMemory();
  for (const log of ['a', 'b', 'c', 'b'].map(hash)) {
    await memory.remember(seen(5, { log }), knownIn(memory, log));
  }
  const logs = (): string[] => memory.everAt('/runs/a.jsonl').map(({ log }) => log);
  expect(logs()).toEqual(['b', 'c', 'a'].map(hash));
  expect(memory.everAt('/runs/a.jsonl').map((head) => memory.isLast(head))).toEqual([
    true,
    false,
    false,
  ]);
  await memory.leave('/runs/a.jsonl');
  expect(memory.at('/runs/a.jsonl')).toEqual([]);
  expect(logs()).toEqual(['b', 'c', 'a'].map(hash));
  await memory.forget(hash('c'));
  expect(logs()).toEqual(['b', 'a'].map(hash));
});

describe('what is damaged', () => {
  async function damaged(text: string | Buffer): Promise<{ memory: HeadMemory; file: string }> {
    const { memory, state } = newMemory();
    await memory.remember(seen(5), undefined);
    writeFileSync(headFile(state), text);
    return { memory, file: headFile(state) };
  }

  async function isSaid(text: string | Buffer): Promise<void> {
    const { memory, file } = await damaged(text);
    for (const recalled of [memory.recall(hash('a')), memory.at('/runs/a.jsonl')]) {
      expect(recalled).toMatchObject({ problem: expect.stringContaining(file) });
      expect(recalled).toMatchObject({ problem: expect.stringContaining('Delete') });
      expect(headsOf(recalled)).toEqual([]);
    }
    // It is what an enemy would do to have it begin anew.
    await expect(memory.remember(seen(7), undefined)).rejects.toThrow('is damaged');
    expect(readFileSync(file)).toEqual(Buffer.from(text));
    expect(memory.list()).toEqual([]);
    expect(memory.problems()).toEqual([expect.stringContaining(file)]);
    expect(await memory.forget(hash('a'))).toBe(true);
    expect(await memory.remember(seen(7), undefined)).toBe(true);
  }

  test('a file cut at any byte is said to be', async () => {
    const { memory, state } = newMemory();
    await memory.remember(seen(5), undefined);
    const text = readFileSync(headFile(state));
    // Its last byte is a newline.
    for (let length = 0; length < text.length - 1; length += 1) {
      writeFileSync(headFile(state), text.subarray(0, length));
      expect(memory.recall(hash('a')), `${length}`).toHaveProperty('problem');
    }
  });

  const good = { ...seen(5), time: 't' };
  const fileOf = (more: object): string =>
    JSON.stringify({ heads: [{ ...good, ...more }], version: 2 });
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['zeros', Buffer.alloc(300)],
    ['no JSON', 'garbage'],
    ['another JSON', '[]'],
    ['another version', JSON.stringify({ heads: [good], version: 3 })],
    ['no heads', JSON.stringify({ heads: [], version: 2 })],
    ['one bad head of two', JSON.stringify({ heads: [good, {}], version: 2 })],
    ['another log', fileOf({ log: hash('b') })],
    ['another kind', fileOf({ kind: 'x' })],
    ['no size', fileOf({ size: 0 })],
    ['a negative size', fileOf({ size: -1 })],
    ['a broken size', fileOf({ size: 1.5 })],
    ['a size as text', fileOf({ size: '5' })],
    ['no root', fileOf({ root: 'x' })],
    ['no path', fileOf({ path: 1 })],
    ['nobody', fileOf({ by: 'enemy' })],
  ])('%s is said to be', (_, text) => isSaid(text));

  test('a folder in a file’s place is said, and nothing else comes to harm', async () => {
    const { memory, state } = newMemory();
    await memory.remember(seen(5), undefined);
    rmSync(headFile(state));
    mkdirSync(headFile(state));
    expect(memory.recall(hash('a'))).toMatchObject({ problem: expect.stringContaining('Delete') });
    expect(memory.list()).toEqual([]);
  });

  test('an index of paths that is damaged only finds nothing', async () => {
    for (const text of ['', 'garbage', '{"log":1}', '{"log":"../../../etc/passwd"}', '[]']) {
      const { memory, state } = newMemory();
      await memory.remember(seen(5), undefined);
      const [name = ''] = readdirSync(join(state, 'paths'));
      writeFileSync(join(state, 'paths', name), text);
      expect(memory.at('/runs/a.jsonl')).toEqual([]);
      expect(memory.recall(hash('a'))).toMatchObject([{ size: 5 }]);
    }
  });

  test('what a crash leaves beside is not listed', async () => {
    const { memory, state } = newMemory();
    await memory.remember(seen(5), undefined);
    writeFileSync(`${headFile(state)}.3f0e`, '{"log"');
    expect(memory.list()).toHaveLength(1);
  });

  test('a state folder that is a file: nothing is known, and remembering fails with words', async () => {
    const state = newPath('state');
    writeFileSync(state, '');
    const memory = new HeadMemory(state);
    expect(memory.recall(hash('a'))).toHaveProperty('problem');
    expect(memory.at('/runs/a.jsonl')).toEqual([]);
    expect(memory.list()).toEqual([]);
    await expect(memory.remember(seen(1), undefined)).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});

/** Sees sizes of a log until `last`, each with the root that it must have, in a place of its own or in one of all. */
const SEES = (first: number, step: number, last: number, log: string, place: string): string => `
    const memory = new HeadMemory(path);
    let kept = 0;
    for (let size = ${first}; size <= ${last}; size += ${step}) {
      const root = String(size).padStart(64, '0');
      const seen = { log: ${JSON.stringify(log)}, kind: 'transcript', size, root, sealed: false };
      const head = { ...seen, path: ${JSON.stringify(place)}, by: 'writer' };
      const known = headAt(headsOf(memory.recall(head.log)), head.path);
      if (await memory.remember(head, known)) kept += 1;
      const now = headAt(headsOf(memory.recall(head.log)), head.path);
      if (now === undefined || now.size < (known?.size ?? 0)) throw new Error('it shrank');
      if (Number(now.root) !== now.size) throw new Error('it is mixed up');
    }
    say(String(kept));`;

describe('many processes at once', () => {
  beforeAll(requireBuiltAttest);
  const IMPORTS = { 'head-memory.js': '{ HeadMemory, headAt, headsOf }' };

  test('at one log: it never shrinks, and the largest stays', async () => {
    const state = join(newPath(), 'state');
    const children = Array.from({ length: 6 }, (_, i) =>
      attestChild(state, IMPORTS, whenAllReady(SEES(i + 1, 6, 60, hash('a'), '/p'))),
    );
    const lines = await atOnce(children);
    for (const line of lines) expect(Number(line), String(line)).toBeGreaterThan(0);
    expect(headsOf(new HeadMemory(state).recall(hash('a')))[0]?.size).toBeGreaterThanOrEqual(55);
    // No lock and no draft is left.
    expect(readdirSync(join(state, 'heads'))).toEqual([`${hash('a')}.json`]);
  });

  test('at one log in many places: none is lost', async () => {
    const state = join(newPath(), 'state');
    const children = Array.from({ length: 6 }, (_, i) =>
      attestChild(state, IMPORTS, whenAllReady(SEES(1, 1, 5, hash('a'), `/p${i}`))),
    );
    expect(await atOnce(children)).toEqual(Array.from({ length: 6 }, () => '5'));
    const heads = headsOf(new HeadMemory(state).recall(hash('a')));
    expect(heads.map(({ path, size }) => `${path} ${size}`).toSorted()).toEqual(
      Array.from({ length: 6 }, (_, i) => `/p${i} 5`),
    );
  });

  test('at many logs: none waits for another or is lost', async () => {
    const state = join(newPath(), 'state');
    const children = Array.from({ length: 8 }, (_, i) =>
      attestChild(state, IMPORTS, whenAllReady(SEES(1, 1, 5, hash(i), '/p'))),
    );
    expect(await atOnce(children)).toEqual(Array.from({ length: 8 }, () => '5'));
    const list = new HeadMemory(state).list();
    expect(list.map(({ log, size }) => [log, size])).toEqual(
      Array.from({ length: 8 }, (_, i) => [hash(i), 5]),
    );
  });
});
