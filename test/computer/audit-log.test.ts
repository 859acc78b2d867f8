/**
 * The writer of audit logs: one writer, nothing that doesn't verify, and nothing that a crash or somebody else can make of
 * the file goes unnoticed.
 *
 * @module
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  openAudit,
  verifyAuditFile,
  type AuditLog,
  type AuditOptions,
} from '../../src/computer/audit-log.ts';
import { renderAudit } from '../../src/computer/audit-verdict.ts';
import { verifyAudit } from '../../src/computer/audit-verify.ts';
import { failing, faultySystem, systemError, type Faults } from '../store/faulty.ts';
import { scratch, storeError } from '../store/helpers.ts';
import { log, logLines, SCREEN } from './audit-sample.ts';

const at = scratch();
const STEP = { goal: 'save', screen: SCREEN, action: "click 'Save'", outcome: 'clicked', ok: true };
const FAILED = { ...STEP, ok: false, outcome: 'it moved away' };
const END = { goal: 'save', success: true, reason: 'verified' };
/** 2026-01-01T00:00:00.999Z: what is below a second is left out. */
const clock = { now: () => 1_767_225_600_999 };

function open(path: string, faults: Faults = {}, options: AuditOptions = {}): Promise<AuditLog> {
  return openAudit(path, { clock, ...options }, faultySystem(faults));
}

/** A log of two steps and an end. */
async function written(path: string): Promise<string> {
  const audit = await open(path);
  await audit.append(STEP);
  await audit.append(FAILED);
  await audit.close(END);
  await audit.release();
  return readFileSync(path, 'utf8');
}

describe('a new log', () => {
  test('holds the seed’s bytes, and verifies', async () => {
    const path = at('folder/audit.jsonl');
    const text = await written(path);
    expect(text.split('\n')[0]).toBe(logLines()[0]?.trimEnd());
    const verdict = await verifyAuditFile(path);
    expect(verdict).toEqual(verifyAudit(text));
    expect(renderAudit(verdict)).toBe(
      'audit: 3 entries (2 steps, 1 failed, 1 ok) | chain intact: 3 entries, chain intact',
    );
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('gives what it wrote, and where it stands', async () => {
    const path = at();
    const audit = await open(path);
    expect(audit.head).toMatchObject({ count: 0, digest: '', closed: false });
    expect(audit.location).toBe(path);
    const entry = await audit.append(STEP);
    expect(entry).toEqual(JSON.parse(readFileSync(path, 'utf8')));
    expect(entry).toMatchObject({ at: '2026-01-01T00:00:00+00:00', index: 0, prev: '' });
    const end = await audit.close({ ...END, success: false, reason: 'out of steps' });
    expect(end).toMatchObject({
      kind: 'episode',
      outcome: 'failure: out of steps',
      ok: false,
      prev: entry.digest,
      screen: '',
      action: '',
    });
    expect(audit.head).toMatchObject({ count: 2, digest: end.digest, closed: true, episodes: 1 });
    await audit.release();
    await audit.release();
    await storeError(audit.append(STEP), 'closed');
    await storeError(audit.close(END), 'closed');
  });

  test('takes any text, and is readable by who ends lines as Python does', async () => {
    const path = at();
    const audit = await open(path, {}, { durability: 'never' });
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\u0085', '\u2028', '\u2029', '\ud800', '\udc00', '\n'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 9,
    });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (goal, action, outcome) => {
        await audit.append({ ...STEP, goal, action, outcome });
        await audit.close({ goal, success: false, reason: outcome });
      }),
    );
    await audit.release();
    const all = readFileSync(path, 'utf8');
    expect(all).not.toMatch(/[\u0085\u2028\u2029\ud800-\udfff]/u);
    expect(verifyAudit(all)).toMatchObject({ ok: true, count: 200 });
  });

  test('writes in the order of the calls', async () => {
    const path = at();
    const audit = await open(path);
    const actions = Array.from({ length: 20 }, (_, i) => `wait ${i} ms`);
    const entries = await Promise.all(actions.map((action) => audit.append({ ...STEP, action })));
    expect(entries.map(({ action }) => action)).toEqual(actions);
    await audit.release();
    expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: 20 });
  });

  test.each<[string, Partial<Record<keyof typeof STEP, unknown>>]>([
    ['no text', { goal: undefined }],
    ['no digest', { screen: 'abc' }],
    ['no boolean', { ok: 'true' }],
  ])('refuses what is %s, and goes on', async (_, members) => {
    const path = at();
    const audit = await open(path);
    // A caller in JavaScript can pass anything.
    await expect(audit.append({ ...STEP, ...members } as typeof STEP)).rejects.toThrow(TypeError);
    await audit.append(STEP);
    await audit.release();
    expect(verifyAudit(readFileSync(path)).count).toBe(1);
  });

  test('needs no clock of the caller', async () => {
    const audit = await openAudit(at());
    const { at: time } = await audit.append(STEP);
    expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(600_000);
    await audit.release();
  });

  test('refuses options that it would not keep', async () => {
    const wrong = { recovr: true } as AuditOptions;
    await expect(openAudit(at(), wrong)).rejects.toThrow("unknown option 'recovr'");
    await expect(openAudit('')).rejects.toThrow(TypeError);
  });
});

describe('a log that is there', () => {
  test('is gone on with, after an episode or within one', async () => {
    const path = at();
    await written(path);
    const audit = await open(path);
    expect(audit.head).toMatchObject({ count: 3, closed: true });
    expect(audit.torn).toBe(undefined);
    await audit.append(STEP);
    await audit.release();
    const again = await open(path);
    await again.close(END);
    await again.release();
    expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: 5, episodes: 2 });
  });

  test('is used if it is empty', async () => {
    const path = at();
    writeFileSync(path, '');
    const audit = await open(path);
    await audit.append(STEP);
    await audit.release();
    expect(verifyAudit(readFileSync(path)).ok).toBe(true);
  });

  test('is refused if it is broken, with the fault, and is left as it is', async () => {
    const good = log();
    for (const bad of [
      good.replace('click', 'press'),
      `\n${good}`,
      '{"level":"info"}\n',
      good.slice(0, -1),
    ]) {
      for (const recover of bad.endsWith('\n') ? [true, false] : [false]) {
        const path = at();
        writeFileSync(path, bad);
        const error = await storeError(open(path, {}, { recover }), 'broken');
        expect(error.cause).toEqual(verifyAudit(bad).fault);
        expect(error.message).toContain(verifyAudit(bad).detail);
        expect(readFileSync(path, 'utf8')).toBe(bad);
        expect(readdirSync(dirname(path))).toEqual([basename(path)]);
      }
    }
  });

  test('with a torn tail goes on if asked to, wherever it was cut', async () => {
    const good = Buffer.from(log());
    for (let length = 1; length < good.length; length += 7) {
      const cut = good.subarray(0, length);
      const { count, fault } = verifyAudit(cut);
      if (fault === undefined) continue;
      const path = at();
      writeFileSync(path, cut);
      const error = await storeError(open(path), 'broken');
      expect(error.message).toContain('`recover`');
      const audit = await open(path, {}, { recover: true });
      expect(audit.head.count).toBe(count);
      const start = cut.lastIndexOf(0x0a) + 1;
      expect(audit.torn).toMatchObject({ bytes: length - start, kept: `${basename(path)}.torn-1` });
      expect(readFileSync(`${path}.torn-1`)).toEqual(cut.subarray(start));
      await audit.append(STEP);
      await audit.release();
      expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: count + 1 });
    }
  });

  test('has one writer', async () => {
    const path = at();
    const audit = await open(path);
    await storeError(open(path), 'locked');
    await audit.append(STEP);
    await audit.release();
    await (await open(path)).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('a file that somebody touches while it is open', () => {
  test.each<[string, (path: string) => void]>([
    ['deleted', (path) => rmSync(path)],
    ['cut', (path) => truncateSync(path, 10)],
    ['emptied', (path) => truncateSync(path, 0)],
    ['written to', (path) => appendFileSync(path, 'x')],
    ['moved away', (path) => renameSync(path, `${path}.old`)],
    [
      'replaced',
      (path) => {
        const bytes = readFileSync(path);
        writeFileSync(`${path}.new`, bytes);
        renameSync(`${path}.new`, path);
      },
    ],
  ])('%s: it is noticed before anything is added', async (_, touch) => {
    const path = at();
    const audit = await open(path);
    await audit.append(STEP);
    await audit.append(STEP);
    const { head } = audit;
    touch(path);
    const before = existsSync(path) ? readFileSync(path) : null;
    await storeError(audit.append(STEP), 'changed');
    await storeError(audit.close(END), 'changed');
    expect(audit.head).toEqual(head);
    expect(existsSync(path) ? readFileSync(path) : null).toEqual(before);
    await audit.release();
  });
});

describe('when the disk fails', () => {
  test('an entry is on disk before it is said to be written', async () => {
    const order: string[] = [];
    const path = at();
    const audit = await open(path, {
      datasync: async (real) => {
        await real();
        order.push('synced');
      },
    });
    await audit.append(STEP);
    order.push('appended');
    expect(order).toEqual(['synced', 'appended']);
    await audit.release();
  });

  test('a new log’s name is durable too', async () => {
    const synced: string[] = [];
    const path = at('a/b/audit.jsonl');
    const audit = await open(path, {
      syncDirectory: (real, folder) => {
        synced.push(folder);
        return real();
      },
    });
    await audit.release();
    const folder = dirname(path);
    expect(synced).toEqual([folder, dirname(folder), dirname(dirname(folder))]);
  });

  test('a write that fails half way is taken back, and the next one goes on', async () => {
    const path = at();
    const faults: Faults = {};
    const audit = await open(path, faults);
    await audit.append(STEP);
    const before = readFileSync(path);
    let calls = 0;
    faults.write = (real, length) => {
      calls += 1;
      if (calls === 1) return real(length >> 1);
      throw systemError('ENOSPC');
    };
    await storeError(audit.append(STEP), 'failed');
    expect(readFileSync(path)).toEqual(before);
    expect(audit.head.count).toBe(1);
    delete faults.write;
    await audit.append(STEP);
    await audit.release();
    expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: 2 });
  });

  test('after a sync that failed nothing is written, and nothing is claimed', async () => {
    const path = at();
    const faults: Faults = {};
    const audit = await open(path, faults);
    await audit.append(STEP);
    faults.datasync = failing('EIO');
    await storeError(audit.append(STEP), 'failed');
    expect(audit.head.count).toBe(1);
    delete faults.datasync;
    await storeError(audit.append(STEP), 'failed');
    await audit.release();
    expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: 1 });
  });

  test('what was created in vain is gone', async () => {
    const path = at('a/audit.jsonl');
    await storeError(open(path, { syncDirectory: failing('EIO') }), 'failed');
    expect(existsSync(dirname(path))).toBe(false);
    const folder = at('folder');
    mkdirSync(folder);
    await storeError(open(folder), 'failed');
    await storeError(open(join(at('file'), 'x'), { open: failing('EACCES') }), 'failed');
  });

  test('a file that can’t be read has a verdict', async () => {
    const { fault, ok } = await verifyAuditFile(at());
    expect(ok).toBe(false);
    expect(fault).toMatchObject({ reason: 'unreadable' });
  });
});
