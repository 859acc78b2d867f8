/**
 * What is remembered of an audit log: one digest stands for all entries up to it.
 *
 * @module
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeadMemory } from '../../src/attest/head-memory.ts';
import { examineAudit, type ExaminedAudit } from '../../src/cli/audit-evidence.ts';
import { openAudit } from '../../src/computer/audit-log.ts';
import { verifyAudit } from '../../src/computer/audit-verify.ts';

let folder: string;
let file: string;
let memory: HeadMemory;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hashtape-audit-'));
  file = join(folder, 'audit.jsonl');
  memory = new HeadMemory(join(folder, 'state'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Adds a step whose texts hold what other programs take for the end of a line. */
async function step(outcome: string): Promise<void> {
  const audit = await openAudit(file, { durability: 'never' });
  const goal = 'one\u2028two\u2029three\u0085four';
  await audit.append({ goal, screen: '0123456789abcdef', action: 'click "ü"', outcome, ok: true });
  await audit.release();
}

function examine(): Promise<ExaminedAudit> {
  return examineAudit(file, verifyAudit(readFileSync(file)), { keys: [], memory });
}

test('a log that grew is the same, and is remembered as it is now', async () => {
  await step('a');
  await step('b');
  expect(await examine()).toMatchObject({ ok: true, coverage: [], remembered: true });
  await step('c');
  expect(await examine()).toMatchObject({ ok: true, coverage: [{ records: 2 }], remembered: true });
  expect(await examine()).toMatchObject({ ok: true, coverage: [{ records: 3 }] });
});

test('a log that was written anew is another, also where it is longer', async () => {
  await step('a');
  await step('b');
  await examine();
  writeFileSync(file, '');
  for (const outcome of ['a', 'x', 'c']) await step(outcome);
  expect(await examine()).toMatchObject({ ok: false, fault: { reason: 'diverged' } });
});

test('a log that is shorter was cut', async () => {
  await step('a');
  await step('b');
  await examine();
  const [first = ''] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, `${first}\n`);
  expect(await examine()).toMatchObject({ ok: false, fault: { reason: 'rolled_back', entry: 2 } });
});

test('a log that lost the end of its last line had a whole entry there', async () => {
  await step('a');
  await step('b');
  await examine();
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -1));
  const { fault } = await examine();
  expect(fault).toMatchObject({ reason: 'rolled_back', entry: 2 });
  expect(fault?.detail).toMatch(/and it has 1: its last line is cut or has no newline/);
});

function at(name: string): string {
  return join(folder, name);
}

test('a log that took the place of another is excused where logs are rotated by number, and nowhere else', async () => {
  await step('a');
  expect(await examine()).toMatchObject({ ok: true });
  for (const [name, next] of [
    ['audit.1.jsonl', 'audit.2.jsonl'],
    ['audit.jsonl.1', 'audit.jsonl.2'],
    ['audit.2026.01.jsonl', 'audit.2026.02.jsonl'],
    ['other.1.jsonl', 'other.2.jsonl'],
    ['audit.3.jsonl', 'audit.5.jsonl'],
    ['x.jsonl', 'y.jsonl'],
  ] as const) {
    for (const each of [name, next]) {
      rmSync(file);
      await step(`of ${each}`);
      renameSync(file, at(each));
      file = at(each);
      expect(await examine()).toMatchObject({ ok: true });
      file = at('audit.jsonl');
      await step('a');
    }
    renameSync(at(name), at(next));
    file = at(next);
    const isRotated = /^audit\.([12]\.jsonl|jsonl\.1)$/.test(name);
    expect({ name, ...(await examine()) }).toMatchObject({
      name,
      ok: isRotated,
      ...(isRotated ? {} : { fault: { reason: 'diverged' } }),
    });
    file = at('audit.jsonl');
  }
});

test('a log in the place of one that was moved has its verdict, also if where that is now can’t be remembered', async () => {
  await step('a');
  await examine();
  const [first] = memory.list();
  if (first === undefined) throw new Error('nothing is remembered');
  const { time: _, ...head } = first;
  for (let i = 0; i < 255; i += 1) {
    await memory.remember({ ...head, path: join(folder, `copy-${i}`) }, undefined);
  }
  renameSync(file, join(folder, 'audit.jsonl.1'));
  await step('b');
  const { ok, notices } = await examine();
  expect(ok).toBe(true);
  expect(notices).toEqual([
    expect.stringMatching(
      /it is in .*audit\.jsonl\.1 now, which is not remembered: this log is known in 256 other places/,
    ),
  ]);
});
