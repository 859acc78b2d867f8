/**
 * kill -9 at every place where it matters: around each record and each effect, in a write, before a sync, in
 * the repair that a kill made necessary, and while a dead process's lock is taken over.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type NamedCall } from '../../src/run/outcome.ts';
import { openTranscript, verifyFile } from '../../src/store/index.ts';
import { recordsOf, scratch, storeError } from '../store/helpers.ts';
import {
  completeLines,
  expectCarriedOn,
  inChild,
  placeIn,
  resumeHere,
  type Kill,
  type Place,
} from './killed-run.ts';
import { requireBuild } from './support.ts';

const newPath = scratch();
beforeAll(requireBuild);

/** What a kill leaves, and what resuming makes of it. */
interface Expected {
  /** How many complete lines; the first are user, assistant, tool, assistant, tool, tool. */
  readonly lines: number;
  /** The effects before the resume. */
  readonly effects?: readonly string[];
  readonly interrupted?: readonly string[];
  readonly rerun?: readonly string[];
}

/** The first turn calls `pay`, the second `look` and `post` together, the third `put`. */
const FIRST = { lines: 2, interrupted: ['pay call_1_0'] };
const PAID = ['pay call_1_0'];
const SECOND = { lines: 4, interrupted: ['post call_2_1'], rerun: ['look call_2_0'] };

const KILLS: readonly [string, Kill, Expected][] = [
  ['before anything', { at: 'open' }, { lines: 0 }],
  ['before the lock is written', { at: 'lock: writeFileSync' }, { lines: 0 }],
  ['before the lock is taken', { at: 'lock: linkSync' }, { lines: 0 }],
  ['before the first record', { at: 'write of user' }, { lines: 0 }],
  ['in the middle of the first record', { at: 'write of user', bytes: 0.5 }, { lines: 0 }],
  ['between the first record and its sync', { at: 'sync of the transcript' }, { lines: 1 }],
  ['before the assistant record', { at: 'write of assistant' }, { lines: 1 }],
  ['in the middle of the assistant record', { at: 'write of assistant', bytes: 0.5 }, { lines: 1 }],
  ['one byte before its end', { at: 'write of assistant', bytes: 0.999 }, { lines: 1 }],
  ['between it and its sync', { at: 'sync of the transcript', nth: 2 }, FIRST],
  ['after it and before the tool', { at: 'start of pay' }, FIRST],
  ["before the tool's effect", { at: 'effect of pay' }, FIRST],
  [
    "after the tool's effect and before its record",
    { at: 'end of pay' },
    { ...FIRST, effects: PAID },
  ],
  ['in the middle of its record', { at: 'write of tool', bytes: 0.5 }, { ...FIRST, effects: PAID }],
  ['after its record', { at: 'sync of the transcript', nth: 3 }, { lines: 3, effects: PAID }],
  [
    'two calls started, one done',
    { at: 'end of look' },
    { ...SECOND, effects: [...PAID, 'look call_2_0'] },
  ],
  [
    'two calls done, one recorded',
    { at: 'write of tool', nth: 3 },
    {
      lines: 5,
      effects: [...PAID, 'look call_2_0', 'post call_2_1'],
      interrupted: ['post call_2_1'],
    },
  ],
  [
    'after the effect of an idempotent tool',
    { at: 'end of put' },
    {
      lines: 7,
      effects: [...PAID, 'look call_2_0', 'post call_2_1', 'put call_3_0'],
      rerun: ['put call_3_0'],
    },
  ],
  [
    'before a serial tool, whose turn has others behind it',
    { at: 'start of pay', nth: 2 },
    {
      lines: 9,
      effects: [...PAID, 'look call_2_0', 'post call_2_1', 'put call_3_0'],
      interrupted: ['pay call_4_0'],
    },
  ],
];

describe('kill -9', () => {
  test.each(KILLS)('%s', async (_, kill, { lines, effects = [], interrupted = [], rerun = [] }) => {
    const place = placeIn(newPath());
    expect(await inChild(place, kill)).toEqual({ killed: true });
    const before = completeLines(place);
    expect(before.toString().split('\n').length - 1).toBe(lines);
    expect(effectsOf(place)).toEqual(effects);
    const outcome = await resumeHere(place);
    await expectCarriedOn(place, [before], outcome);
    expect(named(outcome?.resumed?.interrupted)).toEqual(interrupted);
    expect(named(outcome?.resumed?.rerun)).toEqual(rerun);
  });

  test.each<[string, Kill]>([
    ['in the middle of the last record', { at: 'write of final', bytes: 0.5 }],
    ['between the last record and its sync, with a loss of power', { at: 'sync', power: true }],
  ])('%s', async (_, kill) => {
    const place = placeIn(newPath());
    expect(await inChild(place, await last(kill))).toEqual({ killed: true });
    const before = completeLines(place);
    expect(before.toString()).not.toContain('"kind":"final"');
    const outcome = await resumeHere(place);
    expect(outcome?.resumed).toEqual({ times: 1, interrupted: [], rerun: [] });
    await expectCarriedOn(place, [before], outcome);
  });

  test('after the last record: the run has ended, and its lock is no hindrance', async () => {
    const place = placeIn(newPath());
    expect(await inChild(place, await last({ at: 'lock: unlink' }))).toEqual({ killed: true });
    await expectCarriedOn(place, [completeLines(place)], null);
    const error = await storeError(openTranscript(place.path), 'sealed');
    expect(error.message).toContain('the run in it has ended');
    expect(readdirSync(dirname(place.path)).toSorted()).toEqual(['effects', 'run.jsonl']);
  });
});

/** The last of the operations of the whole run whose names begin so. */
async function last(kill: Kill): Promise<Kill> {
  const ended = await inChild(placeIn(newPath()));
  if (ended.killed) throw new Error('it was killed by somebody else');
  const nth = ended.names.filter((name) => name.startsWith(kill.at ?? '')).length;
  return { ...kill, nth };
}

function named(calls: readonly NamedCall[] = []): string[] {
  return calls.map(({ id, tool }) => `${tool} ${id}`);
}

function effectsOf({ effects }: Place): string[] {
  try {
    const lines = readFileSync(effects, 'utf8').trimEnd().split('\n');
    return lines.map((line) => line.split(' ', 2).join(' '));
  } catch {
    return []; // there was none
  }
}

describe('kill -9 in the repair of a torn tail', () => {
  test.each<[string, Kill]>([
    ['before the tail is set aside', { at: 'open of a torn tail' }],
    ['when its file is empty', { at: 'write of a torn tail' }],
    ['in the middle of its bytes', { at: 'write of a torn tail', bytes: 0.5 }],
    ['before they are synced', { at: 'sync of a torn tail' }],
    ['before the name of its file is synced', { at: 'sync of a folder' }],
    ['after it is set aside', { at: 'truncation of the transcript' }],
    ['after the cut', { at: 'sync of the transcript' }],
    ['before the record of the repair', { at: 'write of recovered' }],
    ['in the middle of it', { at: 'write of recovered', bytes: 0.5 }],
    ['after it', { at: 'sync of the transcript', nth: 2 }],
    ['before the record of the resume', { at: 'write of resumed' }],
    ['in the middle of it', { at: 'write of resumed', bytes: 0.5 }],
  ])('%s', async (_, kill) => {
    const place = placeIn(newPath());
    await inChild(place, { at: 'write of tool', bytes: 0.5 });
    const before = completeLines(place);
    const tail = readFileSync(place.path).subarray(before.length);
    expect(tail.length).toBeGreaterThan(50);
    expect(await inChild(place, kill)).toEqual({ killed: true });
    const between = completeLines(place);
    const outcome = await resumeHere(place);
    await expectCarriedOn(place, [before, between], outcome);
    expect(named(outcome?.resumed?.interrupted)).toEqual(['pay call_1_0']);
    // Whatever happened, the bytes are kept, and what the record says of them is true.
    const kept = torn(place);
    expect(kept.some(({ bytes }) => bytes.equals(tail))).toBe(true);
    const records = await recordsOf(place.path);
    for (const { payload } of records.filter(({ kind }) => kind === 'recovered')) {
      const told = kept.map(({ name, bytes }) => ({
        bytes: bytes.length,
        kept: name,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      }));
      expect(told).toContainEqual(payload);
    }
  });
});

/** What was set aside. */
function torn({ path }: Place): { name: string; bytes: Buffer }[] {
  const names = readdirSync(dirname(path)).filter((name) => name.includes('.torn-'));
  return names.map((name) => ({ name, bytes: readFileSync(join(dirname(path), name)) }));
}

test('kill -9 at each step of taking over the lock of a killed process', async () => {
  let steps = 0;
  for (let nth = 1; ; nth += 1) {
    const place = placeIn(newPath());
    await inChild(place, { at: 'model', nth: 2 });
    const before = completeLines(place);
    expect(await inChild(place, { at: 'lock', nth })).toEqual({ killed: true });
    // The last is the release of the lock, when the run has ended.
    if ((await verifyFile(place.path)).ok) break;
    steps = nth;
    expect(completeLines(place)).toEqual(before);
    await expectCarriedOn(place, [before], await resumeHere(place));
  }
  expect(steps).toBeGreaterThan(6);
});
