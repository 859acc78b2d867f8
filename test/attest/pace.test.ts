/**
 * How often a log is stated while it is written: by records and, where these come by the thousand, by the clock.
 *
 * @module
 */
import { afterEach, expect, test, vi } from 'vitest';
import { readCheckpoints } from '../../src/attest/checkpoint-file.ts';
import { createAttested } from '../../src/attest/open.ts';
import { scratch } from '../store/helpers.ts';
import { examine, FINAL, toolRecord, userIn, userRecord } from './support.ts';

const newPath = scratch();
afterEach(() => {
  vi.restoreAllMocks();
});

test('every 256 records, four times at once, then once a second; and all of it in the end', async () => {
  let now = 5000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const [path, user] = [newPath(), userIn(newPath('state'))];
  const store = await createAttested(path, user.attesting);
  const batch = Array.from({ length: 256 }, (_, i) => toolRecord(i));
  const sizes = (): number[] =>
    (readCheckpoints(path)?.checkpoints ?? []).map(({ checkpoint }) => checkpoint.size);
  const grow = async (): Promise<void> => {
    await store.append(batch);
    await store.sync();
  };
  await store.append([userRecord()]);
  await store.sync();
  for (let i = 0; i < 12; i += 1) await grow();
  expect(sizes()).toEqual([1, 257, 513, 769]);
  for (let i = 13; i < 24; i += 1) {
    now += 500;
    await grow();
  }
  expect(sizes()).toEqual([1, 257, 513, 769, 3329, 3841, 4353, 4865, 5377, 5889]);
  // What has been saved up while little came.
  now += 60_000;
  for (let i = 0; i < 12; i += 1) await grow();
  expect(sizes().slice(10)).toEqual([6145, 6401, 6657, 6913]);
  await store.append([FINAL]);
  await store.sync();
  expect(sizes().at(-1)).toBe(store.head.count);
  await store.close();
  expect(await examine(path, user.knowledge)).toMatchObject({
    ok: true,
    coverage: [
      { by: 'signed', records: store.head.count },
      { by: 'remembered', records: store.head.count },
    ],
  });
});

test('records that come without a sync for long are all in the tree', async () => {
  const [path, user] = [newPath(), userIn(newPath('state'))];
  const store = await createAttested(path, user.attesting);
  await store.append([userRecord()]);
  for (let i = 0; i < 10; i += 1) {
    await store.append(Array.from({ length: 1000 }, (_, n) => toolRecord(n)));
  }
  await store.close();
  expect(await examine(path, user.knowledge)).toMatchObject({
    ok: true,
    count: 10_001,
    coverage: [{ by: 'signed', records: 10_001 }, { records: 10_001 }],
  });
});
