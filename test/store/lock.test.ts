/**
 * One writer a transcript: who is refused, and when a lock is taken over.
 *
 * @module
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTranscript, openTranscript, verifyFile } from '../../src/store/index.ts';
import { takeLock } from '../../src/store/lock.ts';
import {
  isGone,
  parseOwner,
  thisProcess,
  type Owner,
  type Started,
} from '../../src/store/owner.ts';
import { FINAL, scratch, storeError, tool, USER } from './helpers.ts';

const newPath = scratch();
const self = thisProcess();
const linux = process.platform === 'linux';

/** The id of a process that has ended and been waited for. */
function freePid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

/** The text of a lock whose owner is gone. */
function stale(): string {
  return JSON.stringify({ ...self, pid: freePid() });
}

/** A start like this process's, which is known on Linux. */
function started(change: Partial<Started>): Started {
  return {
    ...(self.started ?? { machine: null, boot: 'b', namespace: 'n', ticks: '1' }),
    ...change,
  };
}

const OWNERS: readonly [string, Owner, boolean][] = [
  ['this process', self, false],
  ['a process that is gone', { ...self, pid: freePid() }, true],
  [
    'a process that is gone, start unknown',
    { ...self, pid: freePid(), started: null },
    self.started === null,
  ],
  ['a live process, start unknown', { ...self, started: null }, false],
  ['a process of init, which is not ours', { ...self, pid: 1, started: null }, false],
  ['a process on another host', { ...self, pid: freePid(), host: `not-${hostname()}` }, false],
];
const LINUX_OWNERS: typeof OWNERS = [
  ['an id that another process has by now', { ...self, started: started({ ticks: '1' }) }, true],
  [
    'a process before the last boot of this machine',
    { ...self, started: started({ machine: self.started?.machine ?? null, boot: 'another' }) },
    typeof self.started?.machine === 'string',
  ],
  [
    'a process of another machine with this host name',
    { ...self, started: started({ machine: 'another', boot: 'another' }) },
    false,
  ],
  [
    'a process of another boot, of who knows which machine',
    { ...self, started: started({ machine: null, boot: 'another' }) },
    false,
  ],
  [
    'an id of another container that is free here',
    { ...self, pid: freePid(), started: started({ namespace: 'pid:[1]' }) },
    false,
  ],
];

describe('whether an owner is provably gone', () => {
  test.each(OWNERS)('%s', (_, owner, gone) => {
    expect(isGone(owner)).toBe(gone);
  });

  test.skipIf(!linux).each(LINUX_OWNERS)('%s (needs /proc)', (_, owner, gone) => {
    expect(isGone(owner)).toBe(gone);
  });

  test.skipIf(!linux)('a start is known and steady (needs /proc)', () => {
    expect(self.started).toEqual(thisProcess().started);
    expect(self.started?.ticks).toMatch(/^\d+$/);
    expect(self.started?.boot).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.skipIf(!linux)('a zombie writes no more (needs /proc)', async () => {
    // The shell's child ends, and the program that the shell becomes never waits for it.
    const parent = spawn('sh', ['-c', 'sleep 0.02 & echo $!; exec sleep 20']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const state = (): string | undefined =>
      readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];
    while (state() !== 'Z') await setTimeout(5);
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1] ?? '';
    const ticks = stat.split(' ')[19] ?? '';
    expect(isGone({ ...self, pid, started: started({ ticks }) })).toBe(true);
    parent.kill();
  });
});

describe('the text of a lock', () => {
  test.each([
    '',
    'null',
    '[]',
    '{',
    '{"pid":1}',
    '{"pid":0,"host":"h"}',
    '{"pid":1.5,"host":"h"}',
    '{"pid":"1","host":"h"}',
    '{"pid":1,"host":""}',
  ])('%j names no owner', (text) => {
    expect(parseOwner(text)).toBeNull();
  });

  test('names this process', () => {
    const path = newPath();
    const lock = takeLock(path);
    const text = readFileSync(`${path}.lock`, 'utf8');
    expect(parseOwner(text)).toEqual(self);
    expect(JSON.parse(text)).toMatchObject({ pid: process.pid, host: hostname() });
    lock.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('of an older version, without the machine, is read', () => {
    const { machine: _, ...older } = started({});
    const owner = parseOwner(JSON.stringify({ ...self, started: older }));
    expect(owner).toEqual({ ...self, started: { ...older, machine: null } });
  });

  test('of a start in another form leaves the start unknown', () => {
    expect(parseOwner('{"pid":1,"host":"h","started":"yesterday"}')?.started).toBeNull();
  });
});

describe('a second writer', () => {
  test('in the same process is refused, whatever it calls the file', async () => {
    const path = newPath();
    const store = await createTranscript(path);
    await store.append([USER]);
    const link = join(dirname(path), 'link.jsonl');
    symlinkSync(path, link);
    const error = await storeError(openTranscript(path), 'locked');
    expect(error.message).toContain('held by this process');
    await storeError(openTranscript(link), 'locked');
    await storeError(createTranscript(link), 'locked');
    await store.append([FINAL]);
    await store.close();
    expect(await verifyFile(path)).toMatchObject({ ok: true, count: 2 });
  });

  test('is welcome once the first has closed', async () => {
    const path = newPath();
    for (let i = 0; i < 3; i += 1) {
      const store = await (i === 0 ? createTranscript(path) : openTranscript(path));
      await store.append([tool(i)]);
      await store.close();
    }
    expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true, count: 3 });
    expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
  });

  test.each([
    ['', 'is empty'],
    ['who knows\n', 'does not name its owner'],
  ])('finds the lock %j: it can not be proved stale', async (text, problem) => {
    const path = newPath();
    writeFileSync(path, '');
    writeFileSync(`${path}.lock`, text);
    const error = await storeError(openTranscript(path), 'locked');
    expect(error.message).toContain(problem);
    expect(error.message).toContain('delete it by hand');
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
  });

  test('finds a lock of a process that may live: told who and what to do', async () => {
    const path = newPath();
    writeFileSync(path, '');
    const text = JSON.stringify({ ...self, pid: 1, started: null });
    writeFileSync(`${path}.lock`, text);
    const error = await storeError(openTranscript(path), 'locked');
    expect(error.message).toContain(`held by process 1 on ${hostname()}`);
    expect(error.message).toContain('delete the lock by hand');
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
  });
});

describe('a stale lock', () => {
  test('is taken over, and leaves nothing behind', async () => {
    const path = newPath();
    writeFileSync(path, '');
    writeFileSync(`${path}.lock`, stale());
    const store = await openTranscript(path);
    expect(parseOwner(readFileSync(`${path}.lock`, 'utf8'))).toEqual(self);
    await storeError(openTranscript(path), 'locked');
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
  });

  test('is left alone while another process has the right to remove it', () => {
    const path = newPath();
    const text = stale();
    writeFileSync(`${path}.lock`, text);
    const hash = createHash('sha256').update(text).digest('hex');
    const right = `${path}.lock.${hash.slice(0, 16)}`;
    writeFileSync(right, JSON.stringify({ ...self, pid: 1, started: null }));
    expect(() => takeLock(path)).toThrow('held by process 1');
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(text);
    // Its taker died: the right is taken over the same way.
    writeFileSync(right, stale());
    takeLock(path).release();
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

describe('a name with no room for others beside it', () => {
  const long = `${'ä'.repeat(100)}.jsonl`;

  test('is refused, and nothing is left behind', async () => {
    const path = newPath(`made/for/it/${long}`);
    const error = await storeError(createTranscript(path), 'failed');
    expect(error.message).toContain('over 200 bytes');
    expect(readdirSync(join(dirname(path), '../../..'))).toEqual([]);
    const there = newPath(long);
    writeFileSync(there, '');
    await storeError(createTranscript(there), 'failed');
    await storeError(openTranscript(there), 'failed');
    expect(readdirSync(dirname(there))).toEqual([long]);
  });

  test('begins at 201 bytes', async () => {
    const path = newPath('x'.repeat(200));
    const store = await createTranscript(path);
    await store.append([USER]);
    await store.close();
    writeFileSync(`${path}.lock`, stale());
    appendFileSync(path, '{"torn');
    await (await openTranscript(path, { recover: true })).close();
    expect(readdirSync(dirname(path))).toHaveLength(2);
  });
});

describe('release', () => {
  test('leaves a lock alone that is not ours any more', () => {
    const path = newPath();
    const first = takeLock(path);
    rmSync(`${path}.lock`);
    const second = takeLock(path);
    first.release();
    expect(existsSync(`${path}.lock`)).toBe(true);
    second.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
    second.release();
  });

  test('happens when opening fails after the lock was taken', async () => {
    const path = newPath();
    writeFileSync(path, '{}\n');
    await storeError(openTranscript(path), 'broken');
    await storeError(createTranscript(path), 'exists');
    expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
  });
});
