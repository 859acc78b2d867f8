/**
 * A disk that fails, somebody else at the file, and a clock that is set back: the run says so, and a later
 * process goes on from what was recorded.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { type AnyTool } from '../../src/run/tool.ts';
import { createTranscript, openTranscript, verifyFile } from '../../src/store/index.ts';
import { thisProcess } from '../../src/store/owner.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { call, calls, DONE, toolOf, type Step } from '../run/support.ts';
import { failing, faultySystem, systemError, type Faults } from '../store/faulty.ts';
import { child, scratch, storeError } from '../store/helpers.ts';
import { byTurns, expectWhole, requireBuild } from './support.ts';

const newPath = scratch();
beforeAll(requireBuild);

/** Two turns with two calls each, of which one may not run twice, and the end. */
const SCRIPT = [calls(call('pay'), call('put')), calls(call('put'), call('pay')), DONE];

/** A run whose effects are counted. */
function counted(more: Partial<RunOptions> = {}): { options: RunOptions; effects: string[] } {
  const effects: string[] = [];
  const tool = (name: string, extra: Partial<AnyTool>): AnyTool =>
    toolOf(name, (_, { callId }) => effects.push(`${name} ${callId}`) > 0, extra);
  const tools = [tool('pay', { parallel: false }), tool('put', { idempotent: true })];
  const model = byTurns(SCRIPT);
  return { options: { task: 'x', model, tools, ...more }, effects };
}

function paid(effects: readonly string[]): string[] {
  return effects.filter((effect) => effect.startsWith('pay'));
}

/** Makes the n-th call fail as it is told. */
function nth<A extends unknown[], R>(
  n: number,
  fail: (...how: A) => R,
): (...how: A) => R | undefined {
  let count = 0;
  return (...how) => {
    count += 1;
    return count === n ? fail(...how) : undefined;
  };
}

const halfThen =
  (code: string) =>
  (real: (length: number) => number, length: number): never => {
    real(length >> 1);
    throw systemError(code);
  };

const DISKS: readonly [string, (n: number) => Faults][] = [
  ['ENOSPC', (n) => ({ write: nth(n, failing('ENOSPC')) as never })],
  ['EIO', (n) => ({ write: nth(n, failing('EIO')) as never })],
  ['ENOSPC after half of a record', (n) => ({ write: nth(n, halfThen('ENOSPC')) as never })],
  [
    'EIO after half of a record, which stays',
    (n) => ({ write: nth(n, halfThen('EIO')) as never, truncate: failing('EIO') }),
  ],
  ['EIO in a sync', (n) => ({ datasync: nth(n, async () => failing('EIO')()) as never })],
];

describe('a disk that fails at any of its calls, and is mended', () => {
  test.each(DISKS)('%s', async (_, faultsAt) => {
    let n = 1;
    for (; ; n += 1) {
      const path = newPath();
      const { options, effects } = counted();
      const store = await createTranscript(path, {}, faultySystem(faultsAt(n)));
      const outcome = await run({ ...options, transcript: store });
      await store.close().catch(() => undefined);
      if (outcome.reason !== 'record_error') break;
      // A last record that is there, but may not be on the disk, has ended the run all the same.
      const { ok: hasEnded } = await verifyFile(path);
      expect(outcome.transcript.sealed).toBe(hasEnded);
      expect(outcome.error).toMatch(/ENOSPC|EIO/);
      const before = readFileSync(path).subarray(0, readFileSync(path).lastIndexOf(0x0a) + 1);
      if (!hasEnded) {
        const resumed = await run({ ...options, transcript: path, resume: true });
        expect(resumed).toMatchObject({ reason: 'no_tool_calls', answer: 'done' });
      }
      const { final } = await expectWhole(path);
      expect(final).toMatchObject({ reason: 'no_tool_calls', steps: 3, tool_calls: 4 });
      expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
      expect(paid(effects).length).toBe(new Set(paid(effects)).size);
    }
    expect(n).toBeGreaterThan(6);
  });
});

const small = join(dirname(newPath()), 'small');
mkdirSync(small);
const mounted =
  process.platform === 'linux' &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]).status === 0;
afterAll(() => {
  if (mounted) spawnSync('umount', [small]);
});

test.skipIf(!mounted)('a disk that is really full (needs the right to mount a tmpfs)', async () => {
  const path = join(small, 'run.jsonl');
  const filler = join(small, 'filler');
  writeFileSync(filler, Buffer.alloc(44 * 1024));
  const { options, effects } = counted({ system: 'x'.repeat(5000) });
  const script = Array.from({ length: 8 }, () => ({ ...SCRIPT[0], content: 'y'.repeat(3000) }));
  const model = byTurns([...script, DONE]);
  const outcome = await run({ ...options, model, transcript: path });
  expect(outcome).toMatchObject({ reason: 'record_error', transcript: { sealed: false } });
  expect(outcome.error).toContain('ENOSPC');
  expect(await verifyFile(path, { allowOpen: true })).toMatchObject({ ok: true });
  rmSync(filler);
  const resumed = await resume(path, { ...options, task: undefined, model });
  expect(resumed).toMatchObject({ reason: 'no_tool_calls', spent: { steps: 9, toolCalls: 16 } });
  await expectWhole(path);
  expect(paid(effects).length).toBe(new Set(paid(effects)).size);
});

describe('somebody else at the file of a run that goes on', () => {
  test.each<[string, (path: string) => void, string | null]>([
    ['deletes it', (path) => rmSync(path), null],
    ['renames it', (path) => renameSync(path, `${path}.old`), null],
    [
      'puts another in its place',
      (path) => {
        writeFileSync(`${path}.new`, 'another');
        renameSync(`${path}.new`, path);
      },
      'another',
    ],
    ['cuts it', (path) => truncateSync(path, 9), '{"hash":"'],
    ['empties it', (path) => writeFileSync(path, ''), ''],
  ])('%s', async (_, meddle, left) => {
    const path = newPath();
    const { options, effects } = counted();
    const tools = [...(options.tools ?? []), toolOf('meddle', () => meddle(path))];
    const script = [calls(call('pay')), calls(call('meddle')), calls(call('pay')), DONE];
    const outcome = await run({ ...options, tools, model: byTurns(script), transcript: path });
    expect(outcome).toMatchObject({ reason: 'record_error', transcript: { sealed: false } });
    expect(outcome.error).toContain('somebody else changed it');
    // Nothing is done without a record of it, and what is there now is left as it is.
    expect(effects).toEqual(['pay call_1_0']);
    expect(existsSync(path) ? readFileSync(path, 'utf8') : null).toBe(left);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('writes to it', async () => {
    const path = newPath();
    const { options } = counted();
    const tools = [toolOf('pay', () => appendFileSync(path, '{}\n'))];
    const outcome = await run({ ...options, tools, transcript: path });
    expect(outcome).toMatchObject({ reason: 'record_error' });
    // It is no torn tail: nothing is repaired.
    const bytes = readFileSync(path);
    await storeError(run({ ...options, tools, transcript: path, resume: true }), 'broken');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});

test.skipIf(process.platform === 'win32')(
  'a folder that may not be written to: a clear error, and nothing changes',
  async () => {
    const path = newPath();
    const { options } = counted();
    const store = await createTranscript(
      path,
      {},
      faultySystem({ write: nth(4, failing('EIO')) as never }),
    );
    await run({ ...options, transcript: store });
    await store.close();
    appendFileSync(path, '{"hash":"'); // a torn tail, to be set aside
    const bytes = readFileSync(path);
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    chmodSync(dirname(dirname(path)), 0o755);
    const other = child(
      path,
      `// Root may write anywhere: nobody may not.
       if (process.getuid() === 0) process.seteuid(65534);
       const tried = (promise) => promise.then(() => 'it worked', ({ code, message }) => code + ' ' + message);
       say(await tried(openTranscript(path, { recover: true })));
       say(await tried(createTranscript(path + '.new')));`,
    );
    expect(await other.line()).toMatch(/^failed .*run\.jsonl\.lock: the lock failed: EACCES/);
    expect(await other.line()).toMatch(/^failed .*run\.jsonl\.new: .*EACCES/);
    await other.ended;
    chmodSync(dirname(path), 0o755);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  },
);

test('a run that goes on in another process is not resumed; one that was killed is', async () => {
  const path = newPath();
  const other = child(
    path,
    `import { run } from ${JSON.stringify(new URL('../../dist/run/run.js', import.meta.url).href)};
     const model = () => { say('asked'); return new Promise(() => setInterval(() => undefined, 1000)); };
     await run({ task: 'x', model, transcript: path });`,
  );
  expect(await other.line()).toBe('asked');
  const bytes = readFileSync(path);
  const model = byTurns([DONE]);
  const error = await storeError(resume(path, { model }), 'locked');
  expect(error.message).toContain(`held by process ${other.process.pid}`);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(model.asked).toEqual([]);
  other.process.kill('SIGKILL');
  await other.ended;
  expect(await resume(path, { model })).toMatchObject({ reason: 'no_tool_calls' });
  await expectWhole(path);
});

/** A run that was cut off after so many records. */
async function cutAfter(records: number, options: RunOptions): Promise<string> {
  const path = newPath();
  await run({ ...options, transcript: path });
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(
    path,
    lines
      .slice(0, records)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return path;
}

test.skipIf(process.platform !== 'linux')(
  'a stale lock whose process id another process has by now (needs /proc)',
  async () => {
    const { options } = counted();
    const path = await cutAfter(2, options);
    const self = thisProcess();
    // The id is that of a live process, which started at another time.
    const owner = { ...self, pid: process.ppid, started: { ...self.started, ticks: '1' } };
    writeFileSync(`${path}.lock`, JSON.stringify(owner));
    expect(await resume(path, { ...options, task: undefined })).toMatchObject({
      reason: 'no_tool_calls',
    });
    expect(existsSync(`${path}.lock`)).toBe(false);
    await expectWhole(path);
  },
);

describe('a clock that is set back', () => {
  const START = Date.UTC(2030, 0, 1);
  /** Each turn takes four seconds, and some time before its end the clock is set back by an hour. */
  const timed = (): { options: RunOptions; clock: { time: number } } => {
    const clock = { ...fakeClock(), time: START, now: () => clock.time };
    const model = byTurns(
      Array.from({ length: 9 }, (): Step => async () => {
        clock.time += 4000;
        return calls(call('back'));
      }),
    );
    const back = toolOf('back', () => {
      clock.time -= 3_600_000;
      return clock.time;
    });
    return { options: { task: 'x', model, tools: [back], budget: { seconds: 10 }, clock }, clock };
  };

  test('gives a run no more time than its budget', async () => {
    const path = newPath();
    const { options } = timed();
    const outcome = await run({ ...options, transcript: path });
    expect(outcome).toMatchObject({
      reason: 'time_budget',
      budget: { name: 'seconds', limit: 10, used: 12 },
      spent: { steps: 3, seconds: 12 },
    });
    await expectWhole(path);
  });

  test.each([3, 4, 5])('nor a run that goes on after %d records', async (records) => {
    const path = await cutAfter(records, timed().options);
    const { options, clock } = timed();
    clock.time = START - 86_400_000;
    const outcome = await resume(path, { ...options, task: undefined });
    expect(outcome).toMatchObject({ reason: 'time_budget', spent: { steps: 3, seconds: 12 } });
    const { records: read } = await expectWhole(path);
    const times = read.map(({ payload }) => Date.parse(String(payload['at'])));
    expect(times.every((time) => !Number.isNaN(time))).toBe(true);
    expect(times.toSorted((a, b) => a - b)).not.toEqual(times);
  });
});

describe('a second crash, where the first resume came with other tools', () => {
  test('what was uncertain stays so, however the tools stand now', async () => {
    const effects: string[] = [];
    const tool = (name: string, extra: Partial<AnyTool>): AnyTool =>
      toolOf(name, (_, { callId }) => effects.push(`${name} ${callId}`), extra);
    const model = byTurns([calls(call('a'), call('b')), DONE]);
    const path = await cutAfter(2, { task: 'x', model, tools: [tool('a', {}), tool('b', {})] });
    expect(effects.splice(0)).toEqual(['a call_1_0', 'b call_1_1']);
    // They stood together, and both may have run. Now they stand alone, and are said to be idempotent.
    const extra = { parallel: false, idempotent: true };
    const tools = [tool('a', extra), tool('b', extra)];
    // The second process gets no further than its first record.
    const broken = await openTranscript(
      path,
      {},
      faultySystem({ write: nth(2, failing('EIO')) as never }),
    );
    const cut = await resume(broken, { model, tools, allow: ['tools'] });
    expect(cut).toMatchObject({ reason: 'record_error' });
    await broken.close();
    const outcome = await resume(path, { model, tools });
    expect(outcome.resumed).toEqual({
      times: 2,
      interrupted: [
        { id: 'call_1_0', tool: 'a' },
        { id: 'call_1_1', tool: 'b' },
      ],
      rerun: [],
    });
    expect(effects).toEqual([]);
    await expectWhole(path);
  });
});
