/**
 * How episodes end where something is lost, refused, unfinished or never answers.
 *
 * @module
 */
import { renameSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { openAudit, type EpisodeOptions } from '../../src/computer/index.ts';
import { type Model, type ModelReply } from '../../src/run/model.ts';
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

describe('without a claim nothing is verified, printed or recorded as if it were', () => {
  const calls = (...names: string[]): Model =>
    Object.assign(
      (): ModelReply => {
        const name = names.shift();
        const args = name === 'refuse' ? { reason: 'no' } : { milliseconds: 0 };
        return { content: 'Hm.', toolCalls: name === undefined ? [] : [{ name, arguments: args }] };
      },
      { id: 'test' },
    );
  const silent: Model = Object.assign(
    () => {
      throw new Error('no answer');
    },
    { id: 'test' },
  );

  test.each<[string, Partial<EpisodeOptions> & Pick<EpisodeOptions, 'brain'>, string, RegExp]>([
    ['refused', { brain: calls('refuse') }, 'refused', /^not verified: it was refused$/],
    ['only talked', { brain: calls() }, 'failed', /^not verified: nobody said/],
    [
      'out of steps',
      { brain: calls('wait', 'wait'), budget: { steps: 2 } },
      'out_of_budget',
      /^not verified: the budget ended before anybody said/,
    ],
    ['a model that fails', { brain: silent }, 'error', /^not verified: nobody said/],
  ])('%s', async (_name, options, expected, detail) => {
    const asked = vi.fn<() => boolean>(() => true);
    const { result, payloads } = await perform({ ...options, check: asked });
    const check = { ok: false, detail: expect.stringMatching(detail) };
    expect(result).toMatchObject({ result: expected, success: false, check });
    expect(result.outcome.verified).toBe(false);
    expect(payloads.at(-1)?.payload).toMatchObject({ check });
    expect(asked).not.toHaveBeenCalled();
  });

  test('the picture of the last screen is in the record all the same', async () => {
    const { result } = await perform({ brain: calls('refuse'), screenshot: newPath('last.png') });
    expect(result.check?.detail).toMatch(/^not verified: it was refused; last screen SHA-256 /);
  });
});
