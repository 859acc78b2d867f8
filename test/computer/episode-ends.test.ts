/**
 * How episodes end where something is lost, refused, unfinished or never answers.
 *
 * @module
 */
import { existsSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type BrainFunction } from '../../src/computer/brain.ts';
import { openAudit, type EpisodeOptions, type Screen } from '../../src/computer/index.ts';
import { type Model, type ModelReply } from '../../src/run/model.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { never } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';
import { DONE, doing, perform, SAVE, stuck, todo, TYPE } from './episode-support.ts';

const newPath = scratch();

const calls = (...names: string[]): Model =>
  Object.assign(
    (): ModelReply => {
      const name = names.shift();
      const args = name === 'refuse' ? { reason: 'no' } : { milliseconds: 0 };
      return { content: 'Hm.', toolCalls: name === undefined ? [] : [{ name, arguments: args }] };
    },
    { id: 'test' },
  );

/** A to-do list whose so manieth look fails. */
function failing(at: number): Screen {
  const screen = todo();
  let seen = 0;
  const observe: Screen['observe'] = (options) => {
    seen += 1;
    if (seen === at) throw new Error('navigating');
    return screen.observe(options);
  };
  return { observe, act: (action, options) => screen.act(action, options) };
}

/** A screen that shows itself so often, and then hangs. */
function hanging(looks: number): Screen {
  const screen = stuck();
  let seen = 0;
  const observe: Screen['observe'] = (options) => {
    seen += 1;
    return seen > looks ? never() : screen.observe(options);
  };
  return { observe, act: (action, options) => screen.act(action, options) };
}

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

test('an action whose sequel can not be seen is in the log, and the brain is shown the screen anew', async () => {
  const audit = newPath('audit.jsonl');
  const shown: string[] = [];
  const actions = [TYPE, SAVE, DONE];
  const brain: BrainFunction = ({ elements }, _goal, history) => {
    shown.push(elements[0]?.value ?? '');
    return actions[history.length] ?? DONE;
  };
  const { result } = await perform({ screen: failing(2), audit, brain });
  expect(result).toMatchObject({ result: 'verified', steps: 3, alerts: [] });
  expect(shown).toEqual(['', 'milk', '']);
  const [first = ''] = readFileSync(audit, 'utf8').split('\n');
  expect(JSON.parse(first)).toMatchObject({
    action: 'type "milk" into "New item"',
    ok: true,
    outcome: 'typed into "New item"; what came of it was not seen: Error: navigating',
  });
});

describe('whatever never answers, an episode ends', () => {
  const go: Action = { kind: 'click', target: { label: 'Go' } };

  test.each([
    ['the first look', 0, 0],
    ['a look after an action', 1, 1],
  ])('%s: at an abort, and what was done is in the log', async (_name, looks, steps) => {
    const controller = new AbortController();
    const audit = newPath('audit.jsonl');
    const screen = hanging(looks);
    const observe = vi.spyOn(screen, 'observe');
    const playing = perform({ screen, audit, brain: doing(go), signal: controller.signal });
    await vi.waitFor(() => expect(observe).toHaveBeenCalledTimes(looks + 1));
    controller.abort();
    const { result } = await playing;
    expect(result).toMatchObject({ result: 'aborted', steps });
    const log = readFileSync(audit, 'utf8');
    expect(log.includes('"outcome":"clicked')).toBe(steps === 1);
    expect(log.trimEnd().split('\n').at(-1)).toContain('failure: aborted');
  });

  test.each([
    ['the first look', 0],
    ['a look after an action', 1],
  ])('%s: it is said, and the watchdog may stop it', async (_name, looks) => {
    const clock = fakeClock(1_700_000_000_000);
    const watchdog = { actionSeconds: 5, stop: true };
    const playing = perform({ clock, screen: hanging(looks), brain: doing(go), watchdog });
    await clock.advance(6000);
    const { result } = await playing;
    expect(result).toMatchObject({
      result: 'stalled',
      alerts: [{ kind: 'hung_action', evidence: 'it has not ended for 5 s: look' }],
    });
    expect(clock.pending).toBe(0);
  });

  test('a picture: after 10 s, or 2 s after an abort; and it is not written later', async () => {
    for (const isAborted of [false, true]) {
      const clock = fakeClock(1_700_000_000_000);
      const path = newPath('last.png');
      const controller = new AbortController();
      const screenshot = vi.fn<() => Promise<Uint8Array>>(
        () => new Promise((resolve) => clock.timer(60_000, () => resolve(Buffer.from('late')))),
      );
      const playing = perform({
        clock,
        screen: { ...stuck(), screenshot },
        screenshot: path,
        brain: doing(DONE),
        signal: controller.signal,
      });
      await vi.waitFor(() => expect(screenshot).toHaveBeenCalledTimes(1));
      if (isAborted) controller.abort();
      await clock.advance(isAborted ? 2000 : 10_000);
      const { result } = await playing;
      expect(result).toMatchObject({ result: isAborted ? 'aborted' : 'verified' });
      expect(result.screenshot).toBeUndefined();
      await clock.advance(60_000);
      expect(existsSync(path)).toBe(false);
      expect(screenshot).toHaveBeenCalledTimes(1);
      expect(clock.pending).toBe(0);
    }
  });

  test('a check that answers an abort has no say any more', async () => {
    const controller = new AbortController();
    const { result } = await perform({
      brain: doing(DONE),
      signal: controller.signal,
      check: () => {
        controller.abort();
        return true;
      },
    });
    expect(result).toMatchObject({ result: 'aborted', success: false });
  });

  test('the check hears that it is waited for no more', async () => {
    const controller = new AbortController();
    let heard: AbortSignal | undefined;
    const { result } = await perform({
      brain: doing(DONE),
      signal: controller.signal,
      check: (_observation, _screen, { signal }) => {
        heard = signal;
        controller.abort();
        return never();
      },
    });
    expect(result.result).toBe('aborted');
    expect(heard?.aborted).toBe(true);
  });
});
