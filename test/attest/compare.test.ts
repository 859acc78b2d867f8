/**
 * Statements about a log against every log that could be there instead: all small trees.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { type CheckpointFile } from '../../src/attest/checkpoint-file.ts';
import { compare, wantRoots, type Claim, type Stated } from '../../src/attest/compare.ts';
import { type KnownHead } from '../../src/attest/head-memory.ts';
import { originOf } from '../../src/attest/log-identity.ts';
import { type Statement } from '../../src/attest/look-up.ts';
import { Roots } from '../../src/attest/roots.ts';
import { fromHex } from '../../src/evidence/hex.ts';

/** Logs are up to so long. */
const MOST = 9;
const ID = 'a'.repeat(64);
const PATH = '/x';

/** The hash of record `i`, and of another that could be in its place. */
function record(i: number, isOther = false): string {
  return (isOther ? 'f' : '1') + String(i).padStart(63, '0');
}

/** A log of `size` records, which are others from `changed` on. */
function log(size: number, changed = Infinity): string[] {
  return Array.from({ length: size }, (_, i) => record(i, i >= changed));
}

function rootOf(records: readonly string[]): string {
  const roots = new Roots();
  for (const each of records) roots.add(each);
  return roots.root;
}

function checkpoints(...logs: readonly (readonly string[])[]): CheckpointFile {
  return {
    torn: false,
    checkpoints: logs.map((records, i) => ({
      number: i + 1,
      note: { text: '', signatures: [] },
      checkpoint: {
        origin: originOf(ID),
        size: records.length,
        root: fromHex(rootOf(records)) ?? new Uint8Array(32),
        extensions: [],
      },
    })),
  };
}

function known(records: readonly string[], by: KnownHead['by'] = 'verifier'): KnownHead {
  const seen = { log: ID, kind: 'transcript', size: records.length, sealed: false } as const;
  return { ...seen, root: rootOf(records), path: PATH, by, time: 'THEN' };
}

function listed(records: readonly string[], id = ID): Statement {
  return {
    file: PATH,
    who: 'the catalogue',
    isNamed: true,
    through: [],
    log: id,
    at: 'THEN',
    end: { size: records.length, root: rootOf(records), sealed: false, seq: 1 },
  };
}

function anchored(records: readonly string[]): Claim {
  return {
    size: records.length,
    root: rootOf(records),
    words: 'elsewhere',
    reason: 'root_mismatch',
  };
}

/** What the statements show of a log. */
function judged(records: readonly string[], stated: Partial<Stated>): ReturnType<typeof compare> {
  const roots = new Roots();
  wantRoots(roots, stated);
  for (const each of records) roots.add(each);
  return compare(roots, {
    id: records.length === 0 ? null : ID,
    stored: null,
    places: [PATH],
    known: [],
    ...stated,
  });
}

/** The first and last record that a fault's words name. */
function named(detail: string): [number, number] {
  const range = /one of records (\d+) to (\d+)/.exec(detail) ?? /record (\d+)/.exec(detail) ?? [];
  return [Number(range[1]), Number(range[2] ?? range[1])];
}

describe('one statement of every size, against a log of every size, changed from every record on', () => {
  const SOURCES: readonly [string, (records: readonly string[]) => Partial<Stated>, string][] = [
    ['a checkpoint', (records) => ({ stored: checkpoints(records) }), 'root_mismatch'],
    ['memory', (records) => ({ known: [known(records)] }), 'diverged'],
    ['an anchor', (records) => ({ anchors: [anchored(records)] }), 'root_mismatch'],
    ['the catalogue', (records) => ({ listed: [listed(records)] }), 'diverged'],
  ];

  test.each(SOURCES)('%s', (_, state, reason) => {
    for (let size = 1; size <= MOST; size += 1) {
      for (let now = 0; now <= MOST; now += 1) {
        for (let changed = 0; changed <= now; changed += 1) {
          const what = JSON.stringify({ size, now, changed });
          const fault = judged(log(now, changed), state(log(size)));
          if (now < size) {
            expect(fault, what).toMatchObject({ reason: 'rolled_back', seq: now });
          } else if (changed < size) {
            expect(fault, what).toMatchObject({ reason, expected: rootOf(log(size)) });
            const [first, last] = named(fault?.detail ?? '');
            expect(first, what).toBe(fault?.seq);
            expect(first, what).toBeLessThanOrEqual(changed);
            expect(last, what).toBeGreaterThanOrEqual(changed);
            expect(last, what).toBeLessThan(size);
          } else {
            expect(fault, what).toBeUndefined();
          }
        }
      }
    }
  });
});

test('many statements of one history: the range that is named holds the first record that is another', () => {
  const genuine = log(MOST);
  for (let mask = 1; mask < 2 ** MOST; mask += 1) {
    const sizes = Array.from({ length: MOST }, (_, i) => i + 1).filter(
      (i) => mask & (1 << (i - 1)),
    );
    for (let changed = 0; changed < MOST; changed += 1) {
      const stated = {
        stored: checkpoints(...sizes.map((size) => genuine.slice(0, size))),
        known: [known(genuine.slice(0, sizes.at(-1)))],
        listed: [listed(genuine.slice(0, sizes[0]))],
      };
      const fault = judged(log(MOST, changed), stated);
      const what = JSON.stringify({ sizes, changed });
      if (changed >= (sizes.at(-1) ?? 0)) {
        expect(fault, what).toBeUndefined();
        continue;
      }
      const [first, last] = named(fault?.detail ?? '');
      expect(first <= changed && changed <= last, `${what}: ${fault?.detail}`).toBe(true);
      expect(fault?.seq).toBe(first);
    }
  }
});

test('what to undo if it was on purpose is that of all statements that fail, once each', () => {
  const forget = 'run `hashtape heads forget /x`';
  const all = (size: number): Partial<Stated> => ({
    stored: checkpoints(log(2), log(size)),
    known: [known(log(size))],
    listed: [listed(log(size))],
  });
  for (const now of [log(4), log(MOST, 3)]) {
    const fault = judged(now, all(6));
    expect(fault?.undo).toBe(`move its .checkpoint away, and ${forget}`);
  }
  // Those that hold need no undoing, and an anchor can't be undone.
  const changed = log(MOST, 3);
  const stored = checkpoints(changed.slice(0, 6));
  expect(judged(changed, { ...all(6), stored })?.undo).toBe(forget);
  expect(judged(changed, { anchors: [anchored(log(6))] })).not.toHaveProperty('undo');
});

test('checkpoints that were made for the changed log don’t narrow what memory or an anchor says', () => {
  for (let changed = 0; changed < 6; changed += 1) {
    for (let forged = 1; forged <= 6; forged += 1) {
      const now = log(MOST, changed);
      const stored = checkpoints(now.slice(0, forged));
      for (const other of [
        { known: [known(log(6))] },
        { anchors: [anchored(log(6))] },
      ] as Partial<Stated>[]) {
        const fault = judged(now, { stored, ...other });
        const [first, last] = named(fault?.detail ?? '');
        expect(first <= changed && changed <= last, `${changed}: ${fault?.detail}`).toBe(true);
      }
    }
  }
});

describe('of another log', () => {
  test('is a checkpoint whose origin is another', () => {
    const stored = checkpoints(log(2), log(4));
    const [first, second] = stored.checkpoints;
    const foreign = {
      ...second!,
      checkpoint: { ...second!.checkpoint, origin: originOf('b'.repeat(64)) },
    };
    const fault = judged(log(4), { stored: { torn: false, checkpoints: [first!, foreign] } });
    expect(fault).toMatchObject({ reason: 'root_mismatch', seq: 0 });
    expect(fault?.detail).toContain(`checkpoint 2 beside it is of another log, hashtape/bbb`);
  });

  test('is a file that the catalogue has as another', () => {
    const fault = judged(log(4), { listed: [listed(log(4), 'b'.repeat(64))] });
    expect(fault).toMatchObject({ reason: 'diverged', seq: 0 });
    expect(fault?.detail).toContain('b'.repeat(64));
  });
});

test('a log that was only begun, as the catalogue says, may have any size', () => {
  const { end: _, ...begun } = listed(log(1));
  for (let now = 0; now < 4; now += 1) {
    expect(judged(log(now), { listed: [begun] })).toBeUndefined();
  }
});

test('without statements nothing is wrong', () => {
  for (let now = 0; now < 4; now += 1) expect(judged(log(now), {})).toBeUndefined();
});

describe('roots at chosen sizes', () => {
  test('are those of a tree of just so many records, whenever they were asked for in time', () => {
    for (let size = 0; size <= 20; size += 1) {
      for (let asked = 0; asked <= 20; asked += 1) {
        const roots = new Roots();
        if (asked === 0) roots.want(size);
        for (let i = 0; i < 20; i += 1) {
          roots.add(record(i));
          if (asked === i + 1) roots.want(size);
        }
        const isInTime = asked <= size;
        expect(roots.at(size)).toBe(isInTime ? rootOf(log(size)) : undefined);
      }
    }
  });

  test('what is no hash is refused', () => {
    const roots = new Roots();
    for (const text of ['x', 'A'.repeat(64), '1'])
      expect(() => roots.add(text)).toThrow(RangeError);
    expect(roots.size).toBe(0);
  });
});

test('what was sealed is not gone on with', () => {
  const records = log(3);
  for (const stated of [
    { known: [{ ...known(records.slice(0, 2)), sealed: true }], listed: [] },
    {
      known: [],
      listed: [
        {
          ...listed(records.slice(0, 2)),
          end: { size: 2, root: rootOf(records.slice(0, 2)), sealed: true, seq: 1 },
        },
      ],
    },
  ]) {
    const roots = new Roots();
    wantRoots(roots, stated);
    for (const hash of records) roots.add(hash);
    expect(compare(roots, { places: [PATH], id: ID, stored: null, ...stated })).toMatchObject({
      seq: 2,
      reason: 'diverged',
    });
  }
});
