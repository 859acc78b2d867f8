/**
 * An attested store: it is a store like any other, and what it states of its log is never ahead of it.
 *
 * @module
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AttestedStore, type AttestedState } from '../../src/attest/attested-store.ts';
import { checkpointPath, readCheckpoints } from '../../src/attest/checkpoint-file.ts';
import { HeadMemory, headsOf } from '../../src/attest/head-memory.ts';
import { createAttested, openAttested } from '../../src/attest/open.ts';
import { storeConformance, type StoreUnderTest } from '../../src/store/conformance.ts';
import { createTranscript, StoreError } from '../../src/store/index.ts';
import { failingLater, faultySystem, systemError, type Faults } from '../store/faulty.ts';
import { replaced, scratch } from '../store/helpers.ts';
import { watching, type Change } from './disk.ts';
import { examine, FINAL, toolRecord, userIn, userRecord, type User } from './support.ts';

const newPath = scratch();

function newUser(): User {
  return userIn(newPath('state'));
}

function sizesIn(path: string): number[] {
  return (readCheckpoints(path)?.checkpoints ?? []).map(({ checkpoint }) => checkpoint.size);
}

function knownSize(user: User): number[] {
  return user.memory.list().map(({ size }) => size);
}

describe('it keeps the contract of stores', () => {
  const user = newUser();
  async function make(): Promise<StoreUnderTest> {
    const path = newPath();
    return {
      store: await createAttested(path, user.attesting),
      reopen: () => openAttested(path, user.attesting),
      async dispose() {
        expect(user.problems).toEqual([]);
        if (existsSync(path) && readFileSync(path).length > 0)
          expect(await examine(path, user.knowledge)).toMatchObject({ ok: true });
        await rm(dirname(path), { recursive: true });
      },
    };
  }
  for (const { name, run } of storeConformance(make)) test(name, run);
});

describe('what is stated, and when', () => {
  test('the first record, then every few hundred, then the end', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.sync();
    expect(existsSync(checkpointPath(path))).toBe(false);
    await store.append([userRecord()]);
    expect(existsSync(checkpointPath(path))).toBe(false);
    for (let i = 0; i < 600; i += 1) {
      await store.sync();
      await store.append([toolRecord(i)]);
    }
    // A few more where the disk is slow: what is late is stated, too.
    const sizes = sizesIn(path);
    expect(sizes[0]).toBe(1);
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    for (const [i, size] of sizes.entries()) {
      const next = sizes[i + 1] ?? 601;
      expect(next - size).toBeGreaterThan(0);
      expect(next - size).toBeLessThanOrEqual(256);
    }
    expect(knownSize(user)).toEqual(sizes.slice(-1));
    await store.append([FINAL]);
    await store.sync();
    expect(sizesIn(path)).toEqual([...sizes, 602]);
    expect(knownSize(user)).toEqual([602]);
    await store.close();
    expect(sizesIn(path)).toEqual([...sizes, 602]);
    expect(await examine(path, user.knowledge)).toMatchObject({
      ok: true,
      coverage: [
        { by: 'signed', records: 602 },
        { by: 'remembered', records: 602 },
      ],
    });
  });

  test('what was appended without a sync is stated when it is closed', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord(), toolRecord(1)]);
    await store.close();
    expect(sizesIn(path)).toEqual([2]);
    expect(knownSize(user)).toEqual([2]);
  });

  test('what is on the disk is stated a second later, though nothing more comes', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord()]);
    await store.sync();
    await store.append([toolRecord(1)]);
    await store.sync();
    await store.append([toolRecord(2)]);
    await store.sync();
    expect(sizesIn(path)).toEqual([1]);
    // A tool is at work meanwhile, for as long as it likes.
    await expect.poll(() => sizesIn(path), { timeout: 60_000 }).toEqual([1, 3]);
    await expect.poll(() => knownSize(user), { timeout: 60_000 }).toEqual([3]);
    // What isn't on the disk waits for its sync.
    await store.append([toolRecord(3)]);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(sizesIn(path)).toEqual([1, 3]);
    await store.sync();
    await store.append([toolRecord(4)]);
    await store.sync();
    await store.close();
    const closed = sizesIn(path);
    expect(closed.at(-1)).toBe(5);
    // Nothing is left that could write to a file that is somebody else's by now.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(sizesIn(path)).toEqual(closed);
  });

  test('an empty log states nothing', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.sync();
    await store.close();
    expect(existsSync(checkpointPath(path))).toBe(false);
    expect(existsSync(user.state)).toBe(false);
  });

  test('without an id of its own a log is signed, and not remembered', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([{ kind: 'user', payload: { content: 'x' } }, FINAL]);
    await store.close();
    expect(sizesIn(path)).toEqual([2]);
    expect(user.memory.list()).toEqual([]);
    expect(await examine(path, user.knowledge)).toMatchObject({ ok: true, remembered: false });
  });

  test('syncs at the same time state each size once', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord()]);
    await Promise.all([store.sync(), store.sync(), store.sync()]);
    await store.append([FINAL]);
    await Promise.all([store.sync(), store.sync(), store.close()]);
    expect(sizesIn(path)).toEqual([1, 2]);
    expect(user.problems).toEqual([]);
  });

  test('statements come one after the other, however the syncs overlap', async () => {
    const [path, user] = [newPath(), newUser()];
    const steps: string[] = [];
    const memory = new HeadMemory(user.state);
    const remember = memory.remember.bind(memory);
    memory.remember = async (seen, known) => {
      steps.push(`begin ${seen.size}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const isKept = await remember(seen, known);
      steps.push(`end ${seen.size}`);
      return isKept;
    };
    const store = await createAttested(path, { ...user.attesting, memory });
    await store.append([userRecord()]);
    const first = store.sync();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.append([FINAL]);
    await Promise.all([first, store.sync(), store.close()]);
    expect(steps).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
    expect(sizesIn(path)).toEqual([1, 2]);
  });

  test('its caller is told when it begins and when it is closed', async () => {
    const [path, user] = [newPath(), newUser()];
    const states: AttestedState[] = [];
    const onState = async (state: AttestedState): Promise<void> => void states.push(state);
    const store = await createAttested(path, { ...user.attesting, onState });
    await store.append([userRecord()]);
    await store.sync();
    const { head } = store;
    await store.append([FINAL]);
    await store.sync();
    await store.close();
    const { memory } = user;
    expect(states).toMatchObject([
      { path, size: 1, head: head.hash, sealed: false, closed: false },
      { path, size: 2, head: store.head.hash, sealed: true, closed: true },
    ]);
    expect(states[1]?.root).toBe(headsOf(memory.recall(head.hash))[0]?.root);
    expect(states[1]?.identity).toEqual({ id: head.hash, unique: true, isCatalog: false });
  });

  test('what is appended while a sync is under way isn’t stated by it', async () => {
    const [path, user] = [newPath(), newUser()];
    const plain = await createTranscript(path);
    let meanwhile: (() => Promise<unknown>) | undefined;
    const inner = replaced(plain, {
      async sync() {
        await plain.sync();
        await meanwhile?.();
      },
    });
    const store = new AttestedStore(inner, path, user.attesting);
    await store.append([userRecord()]);
    meanwhile = () => store.append([toolRecord(1)]);
    await store.sync();
    expect(sizesIn(path)).toEqual([1]);
    expect(knownSize(user)).toEqual([1]);
    meanwhile = undefined;
    await store.close();
    expect(sizesIn(path)).toEqual([1, 2]);
  });

  test('who verified it meanwhile doesn’t keep the writer from remembering', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord()]);
    await store.sync();
    await store.append([toolRecord(1)]);
    await store.sync();
    expect(await examine(path, user.knowledge)).toMatchObject({ ok: true, remembered: true });
    expect(knownSize(user)[0]).toBe(2);
    await store.append([FINAL]);
    await store.close();
    expect(knownSize(user)).toEqual([3]);
    expect(user.problems).toEqual([]);
  });
});

/** Two turns and the end of a run, each synced. */
async function carry(path: string, user: User): Promise<void> {
  const store = await createAttested(path, user.attesting);
  await store.append([userRecord()]);
  await store.sync();
  await store.append(Array.from({ length: 300 }, (_, i) => toolRecord(i)));
  await store.sync();
  await store.append([toolRecord(1), FINAL]);
  await store.sync();
  await store.close();
}

test('records are on the disk before their checkpoint is written, and it is before they are remembered', async () => {
  const [path, user] = [newPath(), newUser()];
  const steps: string[] = [];
  await watching(
    ({ name, path: at }) => {
      const what = at.startsWith(user.state) ? 'memory' : basename(at);
      if (at.includes('.lock') || name === 'rmSync' || name === 'mkdirSync') return;
      if (what === 'memory' && name !== 'renameSync') return;
      steps.push(`${name} ${what}`);
    },
    () => carry(path, user),
  );
  const folder = basename(dirname(path));
  const stated = (isNew: boolean): string[] => [
    'write run.jsonl',
    'sync run.jsonl',
    'create run.jsonl.checkpoint',
    'write run.jsonl.checkpoint',
    'sync run.jsonl.checkpoint',
    ...(isNew ? [`sync folder ${folder}`] : []),
    // The head, and at first what was last seen at its path.
    'renameSync memory',
    ...(isNew ? ['renameSync memory'] : []),
  ];
  expect(steps).toEqual([
    'create run.jsonl',
    `sync folder ${folder}`,
    ...stated(true),
    ...stated(false),
    ...stated(false),
  ]);
});

test('a loss of power at any moment: what is stated is never ahead of the log', async () => {
  const [path, user] = [newPath(), newUser()];
  const checkpoint = checkpointPath(path);
  let durable = Buffer.alloc(0);
  let number = 0;
  const lost: { path: string; state: string; change: Change }[] = [];
  await watching(
    (change) => {
      // The log loses what wasn't synced. Of the rest the disk may have kept all that was written.
      if (change.path.includes('.lock') || change.path.includes(`${dirname(path)}-`)) return;
      const after = (number += 1);
      const folder = `${dirname(path)}-${after}`;
      lost.push({ path: join(folder, basename(path)), state: join(folder, 'state'), change });
      snapshotAt(folder, { durable, path, checkpoint, state: user.state });
      if (change.name === 'sync' && change.path === path) durable = readFileSync(path);
    },
    () => carry(path, user),
  );
  expect(lost.length).toBeGreaterThan(30);
  const sizes = new Set<number>();
  for (const each of lost) {
    const what = `before ${each.change.name} ${basename(each.change.path)}`;
    const memory = new HeadMemory(each.state);
    const examined = await examine(each.path, { keys: [user.signer.verifier], memory });
    expect(examined, what).toMatchObject({ ok: true });
    for (const { size } of memory.list()) expect(size, what).toBeLessThanOrEqual(examined.count);
    for (const size of sizesIn(each.path)) expect(size, what).toBeLessThanOrEqual(examined.count);
    sizes.add(examined.count);
  }
  expect([...sizes]).toEqual([0, 1, 301, 303]);
});

/** What is there after a loss of power. */
function snapshotAt(
  folder: string,
  {
    durable,
    path,
    checkpoint,
    state,
  }: { durable: Buffer; path: string; checkpoint: string; state: string },
): void {
  for (const name of ['', 'state/heads', 'state/paths'])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, basename(path)), durable);
  if (existsSync(checkpoint)) copyFileSync(checkpoint, join(folder, basename(checkpoint)));
  for (const head of new HeadMemory(state).list()) {
    const name = `heads/${head.log}.json`;
    copyFileSync(join(state, name), join(folder, 'state', name));
  }
}

function isBeside({ name, path: at }: Change, path: string): boolean {
  // Removing takes no room.
  if (name === 'rmSync' || name === 'unlinkSync') return false;
  return at !== path && at !== dirname(path) && !at.startsWith(`${path}.lock`);
}

/** Every change of the disk beside the log itself and its lock. */
async function changesBeside(): Promise<number> {
  const [path, user] = [newPath(), newUser()];
  let count = 0;
  await watching(
    (change) => {
      if (isBeside(change, path)) count += 1;
    },
    () => carry(path, user),
  );
  return count;
}

describe('a disk that is full, or fails, at any write beside the log', () => {
  test.each([true, false])(
    'the run goes on, and it is said once (room again afterwards: %s)',
    async (mended) => {
      const all = await changesBeside();
      expect(all).toBeGreaterThan(20);
      for (let nth = 1; nth <= all; nth += 1) {
        const [path, user] = [newPath(), newUser()];
        let count = 0;
        let failed: Change | undefined;
        await watching(
          (change) => {
            if (!isBeside(change, path)) return;
            count += 1;
            if (count < nth || (mended && count > nth)) return;
            failed ??= change;
            change.part?.(0.5);
            throw systemError('ENOSPC');
          },
          () => carry(path, user),
        );
        const what = `${nth}: ${failed?.name} ${failed?.path}`;
        // Each kind of evidence is given up once. A lock or a draft that stays behind does no harm.
        expect(user.problems.length, what).toBeLessThanOrEqual(2);
        if (!mended) expect(user.problems.length, what).toBeGreaterThan(0);
        for (const problem of user.problems) expect(problem, what).toContain('ENOSPC');
        expect(new Set(user.problems.map((each) => each.split(':')[1])).size).toBe(
          user.problems.length,
        );
        const examined = await examine(path, user.knowledge, {});
        expect(examined, what).toMatchObject({ ok: true, count: 303, sealed: true });
      }
    },
  );
});

describe('evidence fails by itself', () => {
  test('memory that can’t be written ends no signing', async () => {
    const [path, user] = [newPath(), newUser()];
    writeFileSync(user.state, '');
    await carry(path, user);
    expect(user.problems).toHaveLength(1);
    expect(user.problems[0]).toMatch(/run\.jsonl: its head is not remembered: /);
    expect(sizesIn(path)).toEqual([1, 301, 303]);
  });

  test('checkpoints that can’t be written end no remembering', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    mkdirSync(checkpointPath(path));
    await store.append([userRecord()]);
    await store.sync();
    await store.append([FINAL]);
    await store.close();
    expect(user.problems).toHaveLength(1);
    expect(user.problems[0]).toMatch(/run\.jsonl: its checkpoints are not written: /);
    expect(knownSize(user)).toEqual([2]);
  });

  test('a caller that can’t note it ends neither', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, {
      ...user.attesting,
      onState: () => Promise.reject(new Error('no catalogue')),
    });
    await store.append([userRecord()]);
    await store.sync();
    await store.append([FINAL]);
    await store.close();
    expect(user.problems).toEqual([expect.stringContaining('no catalogue')]);
    expect(sizesIn(path)).toEqual([1, 2]);
    expect(knownSize(user)).toEqual([2]);
  });

  test('a memory that is damaged is told, and left as it is', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord()]);
    await store.sync();
    const head = join(user.state, 'heads', `${store.head.hash}.json`);
    writeFileSync(head, '{');
    await store.append([FINAL]);
    await store.close();
    expect(user.problems).toEqual([expect.stringContaining('is damaged')]);
    expect(readFileSync(head, 'utf8')).toBe('{');
    expect(sizesIn(path)).toEqual([1, 2]);
  });
});

async function failing(
  faults: Faults,
): Promise<{ store: AttestedStore; path: string; user: User }> {
  const [path, user] = [newPath(), newUser()];
  const plain = await createTranscript(path, {}, faultySystem(faults));
  return { store: new AttestedStore(plain, path, user.attesting), path, user };
}

describe('a log whose own disk fails', () => {
  test('a sync that fails is thrown, and nothing is stated', async () => {
    const { store, path, user } = await failing({ datasync: failingLater });
    await store.append([userRecord()]);
    await expect(store.sync()).rejects.toThrow(StoreError);
    // Told once, it isn't told again, as a plain store's close wouldn't.
    await store.close();
    expect(sizesIn(path)).toEqual([]);
    expect(user.memory.list()).toEqual([]);
  });

  test('a sync that fails only in close is thrown by close', async () => {
    const { store, path, user } = await failing({ datasync: failingLater });
    await store.append([userRecord()]);
    await expect(store.close()).rejects.toThrow('EIO');
    expect(sizesIn(path)).toEqual([]);
    expect(user.memory.list()).toEqual([]);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('an append that fails is not in what is stated', async () => {
    const faults: Faults = {};
    const { store, path, user } = await failing(faults);
    await store.append([userRecord()]);
    faults.write = (real, length) => {
      real(length - 1);
      throw systemError('ENOSPC');
    };
    await expect(store.append([toolRecord(1), FINAL])).rejects.toThrow('ENOSPC');
    delete faults.write;
    await store.append([toolRecord(2)]);
    await store.close();
    expect(sizesIn(path)).toEqual([2]);
    expect(await examine(path, user.knowledge)).toMatchObject({ ok: true, count: 2 });
  });
});
