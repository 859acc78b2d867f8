/**
 * How episodes end where something is lost, refused, unfinished or never answers.
 *
 * @module
 */
import { renameSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openAudit } from '../../src/computer/index.ts';
import { scratch } from '../store/helpers.ts';
import { DONE, doing, perform, SAVE, TYPE } from './episode-support.ts';

const newPath = scratch();

describe('an audit log that is lost at the very end is a result, and nothing is verified', () => {
  test.each<[string, (path: string) => void]>([
    ['deleted', (path) => rmSync(path)],
    ['moved', (path) => renameSync(path, `${path}.moved`)],
    ['cut', (path) => truncateSync(path, 1)],
  ])('%s while the check runs', async (_name, harm) => {
    const audit = newPath('audit.jsonl');
    const { result, payloads } = await perform({
      audit,
      brain: doing(TYPE, SAVE, DONE),
      check: () => {
        harm(audit);
        return true;
      },
    });
    const detail = expect.stringMatching(/^not verified: the audit log can't be written: .*audit/);
    expect(result).toMatchObject({ result: 'error', success: false, check: { ok: false, detail } });
    // The record doesn't say otherwise.
    expect(payloads.at(-1)?.payload).toMatchObject({ check: { ok: false, detail } });
  });

  test('after it', async () => {
    const path = newPath('audit.jsonl');
    const audit = await openAudit(path, { durability: 'never' });
    audit.close = () => Promise.reject(new Error('the disk is full'));
    const { result } = await perform({ audit, brain: doing(TYPE, SAVE, DONE) });
    await audit.release();
    const detail = "the audit log can't be written: Error: the disk is full";
    expect(result).toMatchObject({ result: 'error', success: false, check: { ok: false, detail } });
  });
});
