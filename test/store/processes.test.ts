/**
 * The file store among several processes, which may be killed at any moment.
 *
 * @module
 */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createTranscript, openTranscript, verifyFile } from '../../src/store/index.ts';
import {
  child,
  FINAL,
  recordsOf,
  requireBuild,
  scratch,
  storeError,
  tool,
  USER,
} from './helpers.ts';

const newPath = scratch();
beforeAll(requireBuild);

/** Waits for a line on its input, so that all processes start together, then reports what came of it. */
const RACE = (open: string): string => `
  say('ready');
  process.stdin.once('data', async () => {
    try {
      const store = await ${open};
      for (let i = 0; i < 20; i += 1) await store.append([tool(process.pid)]);
      await store.sync();
      say('won');
      process.stdin.once('data', async () => {
        await store.close();
        process.exit(0);
      });
    } catch (error) {
      say(error.code);
      process.exit(0);
    }
  });`;

async function race(path: string, open: string, racers: number): Promise<string[]> {
  const children = Array.from({ length: racers }, () => child(path, RACE(open)));
  for (const racer of children) expect(await racer.line()).toBe('ready');
  for (const racer of children) racer.process.stdin?.write('go\n');
  // The winner holds the lock until all have tried.
  const results = await Promise.all(children.map((racer) => racer.line()));
  for (const racer of children) racer.process.stdin?.end('done\n');
  await Promise.all(children.map((racer) => racer.ended));
  return results.map(String).toSorted();
}

test('processes that create one transcript at once: one wins', async () => {
  for (let round = 0; round < 2; round += 1) {
    const path = newPath();
    const results = await race(path, 'createTranscript(path)', 3);
    expect(results.filter((result) => result === 'won')).toHaveLength(1);
    for (const result of results) expect(['won', 'locked', 'exists']).toContain(result);
    expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true, count: 20 });
    expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
  }
});

test('processes that open one transcript at once: one wins, and the chain stays whole', async () => {
  const path = newPath();
  const store = await createTranscript(path);
  await store.append([USER]);
  await store.close();
  for (let round = 1; round <= 2; round += 1) {
    const results = await race(path, 'openTranscript(path)', 3);
    expect(results).toEqual(['locked', 'locked', 'won']);
    const verdict = await verifyFile(path, { allowOpen: true });
    expect(verdict).toMatchObject({ ok: true, count: 1 + 20 * round });
  }
});

test('a lock of a killed process is taken over by exactly one of those who want it', async () => {
  const path = newPath();
  const holder = child(
    path,
    `const store = await createTranscript(path);
     await store.append([tool(0)]);
     say('holds');
     setInterval(() => store.head, 1000);`,
  );
  expect(await holder.line()).toBe('holds');
  const error = await storeError(openTranscript(path), 'locked');
  expect(error.message).toContain(`held by process ${holder.process.pid}`);
  await storeError(createTranscript(path), 'locked');
  holder.process.kill('SIGKILL');
  await holder.ended;
  expect(existsSync(`${path}.lock`)).toBe(true);
  const results = await race(path, 'openTranscript(path)', 3);
  expect(results).toEqual(['locked', 'locked', 'won']);
  expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true, count: 21 });
  expect(readdirSync(dirname(path))).toEqual(['run.jsonl']);
});

test('kill -9 in the midst of appends: what was synced is there, and a torn tail is repaired', async () => {
  const path = newPath();
  let expected = 0;
  for (let round = 0; round < 10; round += 1) {
    const writer = child(
      path,
      `import { existsSync } from 'node:fs';
       const store = existsSync(path) ? await openTranscript(path, { recover: true }) : await createTranscript(path);
       for (;;) {
         await store.append([tool('x'.repeat(Math.random() * 5000)), tool(2)]);
         await store.sync();
         say(String(store.head.count));
       }`,
    );
    // The first line shows that it got going; the moment after that is random.
    let count = Number(await writer.line());
    const stop = Math.random() * 40;
    for (let i = 0; i < stop; i += 1) count = Number(await writer.line());
    writer.process.kill('SIGKILL');
    await writer.ended;
    for (let line = await writer.line(); line !== null; line = await writer.line())
      count = Number(line);
    expect(count).toBeGreaterThan(expected);
    const verdict = await verifyFile(path, { allowOpen: true });
    if (!verdict.ok) expect(verdict.fault?.reason).toBe('torn_tail');
    expect(verdict.count).toBeGreaterThanOrEqual(count);
    expected = verdict.count;
  }
  const store = await openTranscript(path, { recover: true });
  await store.append([FINAL]);
  await store.close();
  expect(await verifyFile(path)).toMatchObject({ ok: true });
});

test('a torn tail of a killed process is set aside by the next one', async () => {
  const path = newPath();
  const writer = child(
    path,
    `import { appendFileSync } from 'node:fs';
     const store = await createTranscript(path);
     await store.append([tool('whole')]);
     appendFileSync(path, '{"hash":"12');
     say('torn');
     setInterval(() => store.head, 1000);`,
  );
  expect(await writer.line()).toBe('torn');
  writer.process.kill('SIGKILL');
  await once(writer.process, 'exit');
  await storeError(openTranscript(path), 'broken');
  const store = await openTranscript(path, { recover: true });
  await store.append([tool('next')]);
  await store.close();
  expect((await recordsOf(path)).map(({ kind }) => kind)).toEqual(['tool', 'recovered', 'tool']);
  expect(readFileSync(`${path}.torn-1`, 'utf8')).toBe('{"hash":"12');
});

test('a file that is emptied under a live writer is noticed', async () => {
  const path = newPath();
  const store = await createTranscript(path);
  await store.append([USER, tool(1)]);
  writeFileSync(path, '');
  await storeError(store.append([tool(2)]), 'changed');
  await store.close();
});
