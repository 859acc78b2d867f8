/**
 * What the file store does when the disk fails: each system call, before and after it takes effect.
 *
 * @module
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createTranscript,
  openTranscript,
  verifyFile,
  type TranscriptStore,
} from '../../src/store/index.ts';
import {
  failing,
  failingLater,
  failingLaterAfter,
  faultySystem,
  systemError,
  type Faults,
} from './faulty.ts';
import { bytesOf, FINAL, scratch, storeError, tool, USER } from './helpers.ts';

const newPath = scratch();

/** After a fault: the head, what `read` yields and the file agree, and a new writer can go on. */
async function goesOn(path: string, count: number): Promise<void> {
  const verdict = await verifyFile(path, { allowOpen: true });
  expect(verdict).toMatchObject({ ok: true, count });
  const again = await openTranscript(path);
  expect(again.head.count).toBe(count);
  await again.append([tool('again'), FINAL]);
  await again.close();
  expect(await verifyFile(path)).toMatchObject({ ok: true, count: count + 2 });
}

/** A transcript of two records whose disk then has `faults`. */
async function prepared(durability: 'always' | 'turn' | 'never' = 'turn'): Promise<{
  path: string;
  store: TranscriptStore;
  faults: Faults;
}> {
  const path = newPath();
  const faults: Faults = {};
  const store = await createTranscript(path, { durability }, faultySystem(faults));
  await store.append([USER, tool(1)]);
  await store.sync();
  return { path, store, faults };
}

/** `leaves`: whether bytes are on the disk when it fails. `make` gives a fresh fault. */
const WRITE_FAULTS: readonly [string, boolean, () => NonNullable<Faults['write']>][] = [
  ['the disk is full', false, () => failing('ENOSPC')],
  ['EIO', false, () => failing('EIO')],
  ['it takes nothing', false, () => () => 0],
  [
    'all is written, and then it fails',
    true,
    () => (real, length) => failAfter(() => real(length)),
  ],
  [
    'half is written, and then it fails',
    true,
    () => (real, length) => failAfter(() => real(length >> 1)),
  ],
  ['a short write, then a full disk', true, () => shortThen('ENOSPC')],
];

function failAfter(action: () => number): never {
  action();
  throw systemError('EIO');
}

function shortThen(code: string): NonNullable<Faults['write']> {
  let calls = 0;
  return (real) => {
    calls += 1;
    if (calls > 1) throw systemError(code);
    return real(10);
  };
}

describe.each(WRITE_FAULTS)('write: %s', (_, leaves, make) => {
  test('is taken back: head and file stay, and the next append works', async () => {
    const { path, store, faults } = await prepared();
    const [head, bytes] = [store.head, readFileSync(path)];
    faults.write = make();
    await storeError(store.append([tool(2), tool(3)]), 'failed');
    expect(store.head).toEqual(head);
    expect(readFileSync(path)).toEqual(bytes);
    expect(await bytesOf(store)).toEqual(bytes);
    delete faults.write;
    await store.append([tool(4)]);
    await store.close();
    await goesOn(path, 3);
  });

  test.each([
    ['fails', failing('EIO')],
    ['has no effect', () => undefined],
  ])('if taking it back %s, nothing is written after bytes that stayed', async (__, truncate) => {
    const { path, store, faults } = await prepared();
    const [head, bytes] = [store.head, await bytesOf(store)];
    faults.write = make();
    faults.truncate = truncate;
    await storeError(store.append([tool(2), tool(3)]), 'failed');
    expect(store.head).toEqual(head);
    expect(await bytesOf(store)).toEqual(bytes);
    delete faults.write;
    delete faults.truncate;
    const left = readFileSync(path);
    expect(left.length > bytes.length).toBe(leaves);
    if (leaves) {
      const error = await storeError(store.append([tool(4)]), 'failed');
      expect(error.message).toContain('Nothing more is written');
      await storeError(store.sync(), 'failed');
      expect(readFileSync(path)).toEqual(left);
      await store.close();
      // The next writer finds whole records or a torn tail, and says which.
      const again = await openTranscript(path, { recover: true });
      const { count } = again.head;
      await again.close();
      await goesOn(path, count);
    } else {
      await store.append([tool(4)]);
      await store.close();
      await goesOn(path, 3);
    }
  });
});

test('short writes are completed', async () => {
  const { path, store, faults } = await prepared();
  faults.write = (real, length) => real(Math.min(length, 7));
  await store.append([tool('ä€😀'.repeat(20)), tool(3)]);
  await store.close();
  await goesOn(path, 4);
});

test('a failed write is only taken back if nobody else wrote meanwhile', async () => {
  const { path, store, faults } = await prepared();
  const head = store.head;
  faults.write = () => {
    appendFileSync(path, 'x'.repeat(10_000));
    throw systemError('EIO');
  };
  const error = await storeError(store.append([tool(2)]), 'failed');
  expect(error.message).toContain('could not be taken back');
  expect(readFileSync(path, 'utf8')).toMatch(/x{10000}$/);
  expect(store.head).toEqual(head);
  await store.close();
});

describe('datasync', () => {
  test.each([
    ['before', failingLater],
    ['after', failingLaterAfter],
  ])(
    'fails %s it took effect under turn: sync says so and nothing more is written',
    async (_, datasync) => {
      const { path, store, faults } = await prepared();
      await store.append([tool(2)]);
      faults.datasync = datasync;
      await storeError(store.sync(), 'failed');
      delete faults.datasync;
      // A second fsync that succeeds proves nothing, so the store doesn't try.
      await storeError(store.sync(), 'failed');
      const error = await storeError(store.append([tool(3)]), 'failed');
      expect(error.message).toContain('Verify the file, then open it again');
      expect(store.head.count).toBe(3);
      await store.close();
      await goesOn(path, 3);
    },
  );

  test('fails under always: the append is undone and nothing more is written', async () => {
    const { path, store, faults } = await prepared('always');
    const [head, bytes] = [store.head, readFileSync(path)];
    faults.datasync = failingLater;
    await storeError(store.append([tool(2)]), 'failed');
    expect(store.head).toEqual(head);
    expect(await bytesOf(store)).toEqual(bytes);
    expect(readFileSync(path)).toEqual(bytes);
    delete faults.datasync;
    await storeError(store.append([tool(2)]), 'failed');
    await store.close();
    await goesOn(path, 2);
  });

  test('and then the cut fails too under always: head and read still agree', async () => {
    const { store, faults } = await prepared('always');
    const [head, bytes] = [store.head, await bytesOf(store)];
    faults.datasync = failingLater;
    faults.truncate = failing('EIO');
    await storeError(store.append([tool(2)]), 'failed');
    expect(store.head).toEqual(head);
    expect(await bytesOf(store)).toEqual(bytes);
    await store.close();
  });

  test('fails in close: close says so, and the lock is free', async () => {
    const { path, store, faults } = await prepared();
    await store.append([tool(2)]);
    faults.datasync = failingLater;
    await storeError(store.close(), 'failed');
    await storeError(store.close(), 'failed');
    await goesOn(path, 3);
  });

  test.each([
    ['always', [1, 2, 2, 2]],
    ['turn', [0, 0, 1, 1]],
    ['never', [0, 0, 0, 0]],
  ] as const)('%s: is called when promised and only then', async (durability, expected) => {
    let calls = 0;
    const store = await createTranscript(
      newPath(),
      { durability },
      faultySystem({
        async datasync(real) {
          calls += 1;
          await real();
        },
      }),
    );
    const seen: number[] = [];
    await store.append([USER]);
    seen.push(calls);
    await store.append([tool(1), tool(2)]);
    seen.push(calls);
    await store.sync();
    seen.push(calls);
    await store.sync();
    await store.close();
    seen.push(calls);
    expect(seen).toEqual(expected);
  });

  test('a sync waits for the disk even while another one is on its way', async () => {
    const gates: (() => void)[] = [];
    const { store, faults } = await prepared();
    faults.datasync = (real) =>
      new Promise<void>((resolve) => {
        gates.push(resolve);
      }).then(real);
    await store.append([tool(2)]);
    const done: string[] = [];
    const first = store.sync().then(() => done.push('first'));
    const second = store.sync().then(() => done.push('second'));
    await new Promise(setImmediate);
    expect(done).toEqual([]);
    for (const open of gates) open();
    await Promise.all([first, second]);
    delete faults.datasync;
    await store.close();
  });
});

describe('somebody else changes the file', () => {
  const changes: readonly [string, (path: string) => void][] = [
    ['appends to it', (path) => appendFileSync(path, '{}\n')],
    ['cuts it', (path) => truncateSync(path, 20)],
    ['empties it', (path) => truncateSync(path)],
    ['deletes it', (path) => rmSync(path)],
    ['renames it', (path) => renameSync(path, `${path}.old`)],
    [
      'renames it and puts a copy in its place',
      (path) => {
        renameSync(path, `${path}.old`);
        writeFileSync(path, readFileSync(`${path}.old`));
      },
    ],
    [
      'replaces it',
      (path) => {
        writeFileSync(`${path}.new`, readFileSync(path));
        renameSync(`${path}.new`, path);
      },
    ],
  ];
  test.each(changes)('%s: append refuses and writes nothing', async (_, change) => {
    const { path, store } = await prepared();
    const head = store.head;
    change(path);
    const before = existsSync(path) ? readFileSync(path) : null;
    const error = await storeError(store.append([tool(2)]), 'changed');
    expect(error.message).toContain('somebody else changed it');
    expect(existsSync(path) ? readFileSync(path) : null).toEqual(before);
    expect(store.head).toEqual(head);
    await store.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test.each(changes.slice(1))('%s: read does not pretend', async (_, change) => {
    const { path, store } = await prepared();
    change(path);
    await storeError(bytesOf(store), existsSync(path) ? 'changed' : 'missing');
    await store.close();
  });

  test.each(changes.slice(3))('%s: sync says so', async (_, change) => {
    const { path, store } = await prepared();
    await store.append([tool(2)]);
    change(path);
    await storeError(store.sync(), 'changed');
    await storeError(store.append([tool(3)]), 'changed');
    await store.close();
  });

  test('the look at its path fails: nothing is written, and the next append works', async () => {
    const { path, store, faults } = await prepared();
    faults.pathStat = failing('EACCES');
    await storeError(store.append([tool(2)]), 'failed');
    delete faults.pathStat;
    await store.append([tool(2)]);
    await store.close();
    await goesOn(path, 3);
  });

  test('the look before an append fails: nothing is written, and the next append works', async () => {
    const { path, store, faults } = await prepared();
    faults.stat = failing('EIO');
    await storeError(store.append([tool(2)]), 'failed');
    delete faults.stat;
    await store.append([tool(2)]);
    await store.close();
    await goesOn(path, 3);
  });
});

function failingFirst(): NonNullable<Faults['stat']> {
  let calls = 0;
  return (real) => {
    calls += 1;
    return calls === 1 ? failing('EIO')() : real();
  };
}

describe('creating and opening', () => {
  const cases: readonly [string, Faults][] = [
    ['open', { open: failingLater }],
    [
      'open, after it took effect',
      {
        open: async (real) => {
          await (await real()).close();
          throw systemError('EIO');
        },
      },
    ],
    ['the first look', { stat: failingFirst() }],
    ['the sync of the folder', { syncDirectory: failingLater }],
  ];
  test.each(cases)(
    '%s fails: createTranscript says so and leaves nothing',
    async (name, faults) => {
      const system = faultySystem(faults);
      const path = newPath('a/b/run.jsonl');
      const root = dirname(dirname(dirname(path)));
      await storeError(createTranscript(path, {}, system), 'failed');
      // Whether a failed open has created the file can't be known.
      const left = name.includes('took effect') ? ['a', 'a/b', 'a/b/run.jsonl'] : [];
      expect(readdirSync(root, { recursive: true })).toEqual(left);
      expect(existsSync(`${path}.lock`)).toBe(false);
      const store = await createTranscript(path);
      await store.append([USER]);
      await store.close();
      await goesOn(path, 1);
    },
  );

  test('a file that another writer locked meanwhile is left to it', async () => {
    const path = newPath();
    const system = faultySystem({
      async open(real) {
        const file = await real();
        writeFileSync(`${path}.lock`, 'another');
        return file;
      },
    });
    await storeError(createTranscript(path, {}, system), 'locked');
    expect(existsSync(path)).toBe(true);
  });

  test('a read that fails while it is verified: openTranscript says so and leaves no lock', async () => {
    const { path, store } = await prepared();
    await store.close();
    await storeError(openTranscript(path, {}, faultySystem({ read: failing('EIO') })), 'failed');
    expect(existsSync(`${path}.lock`)).toBe(false);
    await goesOn(path, 2);
  });

  test('whatever goes wrong, no file stays open', async () => {
    const { path, store } = await prepared();
    let open = 0;
    const system = faultySystem({
      async open(real) {
        const file = await real();
        open += 1;
        return file;
      },
      async close(real) {
        await real();
        open -= 1;
      },
    });
    await storeError(openTranscript(path, {}, system), 'locked');
    await store.close();
    await storeError(createTranscript(path, {}, system), 'exists');
    await storeError(createTranscript(dirname(path), {}, system), 'failed');
    appendFileSync(path, '{"torn');
    await storeError(openTranscript(path, {}, system), 'broken');
    expect(open).toBe(0);
    const again = await openTranscript(path, { recover: true }, system);
    await bytesOf(again);
    expect(open).toBe(1);
    await again.close();
    expect(open).toBe(0);
  });

  test('a file handle that fails to close still frees the lock', async () => {
    const { path, store, faults } = await prepared();
    faults.close = failingLaterAfter;
    const error = await storeError(store.close(), 'failed');
    expect(error.message).toContain('EIO');
    await goesOn(path, 2);
  });
});

function onlyFor(part: string, fault: () => Promise<never>): NonNullable<Faults['open']> {
  return (real, path) => (path.includes(part) ? fault() : real());
}

describe('recovering a torn tail', () => {
  const cases: readonly [string, () => Faults][] = [
    ['the file to set aside opens', () => ({ open: onlyFor('.torn-', failingLater) })],
    ['it is written', () => ({ write: failing('ENOSPC') })],
    ['it is synced', () => ({ datasync: failingLater })],
    ['its folder is synced', () => ({ syncDirectory: failingLater })],
    ['the transcript is cut', () => ({ truncate: failing('EIO') })],
  ];
  test.each(cases)('it fails when %s: the transcript is as it was', async (_, faults) => {
    const { path, store } = await prepared();
    const whole = readFileSync(path).length;
    await store.append([tool('torn')]);
    await store.close();
    truncateSync(path, readFileSync(path).length - 5);
    const before = readFileSync(path);
    const tail = before.subarray(whole);
    await storeError(openTranscript(path, { recover: true }, faultySystem(faults())), 'failed');
    expect(readFileSync(path)).toEqual(before);
    expect(existsSync(`${path}.lock`)).toBe(false);
    const again = await openTranscript(path, { recover: true });
    expect(again.head.count).toBe(3);
    await again.close();
    // No part of the bytes is left beside it, only the whole.
    for (const name of readdirSync(dirname(path)).filter((entry) => entry.includes('torn'))) {
      expect(readFileSync(`${dirname(path)}/${name}`)).toEqual(tail);
    }
    await goesOn(path, 3);
  });

  test('the bytes are durable beside the transcript before it is cut', async () => {
    const { path, store } = await prepared();
    await store.close();
    truncateSync(path, readFileSync(path).length - 5);
    const steps: string[] = [];
    const system = faultySystem({
      async datasync(real) {
        steps.push('sync');
        await real();
      },
      async syncDirectory(real) {
        steps.push('sync folder');
        await real();
      },
      truncate(real) {
        steps.push('cut');
        real();
      },
      write(real, length) {
        steps.push('write');
        return real(length);
      },
    });
    const again = await openTranscript(path, { recover: true, durability: 'turn' }, system);
    await again.close();
    const order = ['write', 'sync', 'sync folder', 'cut', 'sync', 'write', 'sync'];
    expect(steps).toEqual(order);
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['run.jsonl', 'run.jsonl.torn-1']);
  });
});
