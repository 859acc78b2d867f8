/**
 * kill -9 at random points of a run of thirty steps.
 *
 * @module
 */
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { verifyFile } from '../../src/store/index.ts';
import { scratch } from '../store/helpers.ts';
import {
  completeLines,
  expectCarriedOn,
  inChild,
  placeIn,
  resumeHere,
  twoAtOnce,
  type Kill,
} from './killed-run.ts';
import { requireBuild } from './support.ts';

beforeAll(requireBuild);

const newPath = scratch();

/** The operations of the whole run, without a kill. */
let total = 0;
beforeAll(async () => {
  const place = placeIn(newPath());
  const ended = await inChild(place);
  if (ended.killed) throw new Error('it was killed by somebody else');
  await expectCarriedOn(place, [], ended.outcome);
  total = ended.names.length;
  expect(total).toBeGreaterThan(300);
});

/** Points that are the same in each run of this test. */
function kills(count: number, power: boolean): readonly Kill[] {
  const nth = fc.noBias(fc.integer({ min: 1, max: total }));
  const bytes = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));
  return fc.sample(fc.record({ nth, bytes, power: fc.constant(power) }), {
    seed: 3,
    numRuns: count,
  });
}

async function killAndResume(kill: Kill): Promise<void> {
  const place = placeIn(newPath());
  expect(await inChild(place, kill)).toEqual({ killed: true });
  const before = completeLines(place);
  await expectCarriedOn(place, [before], await resumeHere(place));
}

test('200 points: no effect twice, nothing lost, the same outcome', async () => {
  await twoAtOnce(kills(200, false), killAndResume);
});

test('40 points at which the machine loses what was not synced', async () => {
  await twoAtOnce(kills(40, true), killAndResume);
});

test('one run that is killed again and again', async () => {
  const place = placeIn(newPath());
  const before: Buffer[] = [];
  for (const { nth = 0, bytes = 0 } of kills(200, false)) {
    const ended = await inChild(place, { nth: 1 + (nth % 60), bytes });
    before.push(completeLines(place));
    const { ok: hasEnded } = await verifyFile(place.path);
    if (ended.killed && !hasEnded) continue;
    expect(before.length).toBeGreaterThan(5);
    await expectCarriedOn(place, before, ended.killed ? null : ended.outcome);
    return;
  }
  throw new Error('it never ended');
});
