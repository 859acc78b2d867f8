/**
 * Episodes on a scripted screen: what is verified, what is recorded, and what is said when it goes wrong.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { rows } from '../../src/cli/episode-words.ts';
import { type Action } from '../../src/computer/action.ts';
import { type BrainFunction } from '../../src/computer/brain.ts';
import {
  episode,
  observationDigest,
  openAudit,
  verifyAuditFile,
  type Episode,
  type EpisodeOptions,
} from '../../src/computer/index.ts';
import { type ActResult } from '../../src/computer/screen.ts';
import { scripted } from '../../src/models/scripted.ts';

import { verifyFile } from '../../src/store/index.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { scriptedScreen, type ScriptedScreen } from '../../src/testing/scripted-screen.ts';
import { never } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';

import { check, DONE, doing, flip, perform, SAVE, stuck, todo, TYPE } from './episode-support.ts';

const newPath = scratch();

describe('an episode', () => {
  test('is verified by the screen, and each step is tied to what was on it', async () => {
    const audit = newPath('audit.jsonl');
    const screenshot = newPath('last.png');
    mkdirSync(dirname(screenshot), { recursive: true });
    const screen = todo();
    const seen = observationDigest(await screen.observe({ signal: new AbortController().signal }));
    const { result, payloads } = await perform({
      screen,
      brain: doing(TYPE, SAVE, DONE),
      audit,
      screenshot,
    });
    expect(result).toMatchObject({
      result: 'verified',
      success: true,
      claim: 'milk is on the list',
      check: {
        ok: true,
        detail: expect.stringMatching(/^it holds; last screen SHA-256 [0-9a-f]{64}$/),
      },
      steps: 3,
      alerts: [],
      outcome: { reason: 'sentinel', verified: true, transcript: { sealed: true } },
      audit: { location: audit, entries: 4 },
    });
    expect(payloads.map(({ kind }) => kind).join(' ')).toBe(
      'user assistant tool assistant tool assistant tool assistant tool final',
    );
    // A look, the three decisions, and what each left on the screen.
    expect(payloads[2]?.payload).toMatchObject({
      name: 'look',
      value: {
        observation: {
          text: 'No items',
          elements: [{ index: 0, label: 'New item' }, { index: 1 }],
        },
      },
    });
    expect(payloads[4]?.payload).toMatchObject({
      name: 'type',
      value: { did: 'typed into "New item"', screen: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const entries = readFileSync(audit, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries).toMatchObject([
      {
        kind: 'step',
        screen: seen,
        action: 'type "milk" into "New item"',
        outcome: 'typed into "New item"',
        ok: true,
      },
      { kind: 'step', action: 'click "Save"', ok: true },
      { kind: 'step', action: 'done: "milk is on the list"', outcome: 'claimed', ok: true },
      { kind: 'episode', outcome: 'success: verified', ok: true, goal: 'Put milk on the list' },
    ]);
    expect(await verifyAuditFile(audit)).toMatchObject({ ok: true, count: 4, steps: 3 });
    expect(readFileSync(screenshot, 'latin1')).toMatch(/^\x89PNG[^]*scene saved$/);
  });

  test('fails where the brain claims what is not there', async () => {
    const { result } = await perform({ screen: todo(true), brain: doing(TYPE, SAVE, DONE) });
    expect(result).toMatchObject({
      result: 'failed',
      success: false,
      claim: 'milk is on the list',
      check: { ok: false, detail: 'it does not hold' },
    });
  });

  test('of a model: observations are what tools answer, actions are calls', async () => {
    const model = scripted([
      {
        tool_calls: [{ name: 'type', arguments: '{"label":"New item","text":"milk"}' }],
        usage: { input: 50, output: 5 },
      },
      { content: 'Saving.', tool_calls: [{ name: 'click', arguments: '{"index":1}' }] },
      { tool_calls: [{ name: 'done', arguments: '{"answer":"ok"}' }] },
    ]);
    const { result } = await perform({ brain: model });
    expect(result).toMatchObject({
      result: 'verified',
      claim: 'ok',
      outcome: { spent: { steps: 4 } },
    });
    const [first, second] = model.requests;
    expect(first?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    expect(first?.messages[3]?.content).toContain('"text":"No items"');
    expect(second?.messages.at(-1)?.content).toContain('"value":"milk"');
    expect(first?.tools.map(({ name }) => name)).toContain('double_click');
  });

  test.each<
    [string, Partial<EpisodeOptions> & Pick<EpisodeOptions, 'brain'>, Episode['result'], RegExp]
  >([
    ['refused', { brain: doing({ kind: 'refuse', reason: 'not my list' }) }, 'refused', /./],
    [
      'out of steps',
      { brain: doing(TYPE, TYPE, TYPE, TYPE), budget: { steps: 3 } },
      'out_of_budget',
      /./,
    ],
    [
      'what is no action',
      { brain: doing('click!') },
      'error',
      /returned what isn't an action: kind is not there/,
    ],
    [
      'an unknown kind',
      { brain: doing({ kind: 'hover' }) },
      'error',
      /kind is "hover"; the kinds are click/,
    ],
    [
      'no target',
      { brain: doing({ kind: 'click' }) },
      'error',
      /click: say which element by one of label and index/,
    ],
    [
      'a text and a secret',
      { brain: doing({ ...TYPE, secret: 'x' }) },
      'error',
      /give one of text and secret/,
    ],
    [
      'a brain that throws',
      {
        brain: () => {
          throw new Error('no idea');
        },
      },
      'error',
      /the brain raised Error: no idea/,
    ],
    ['a model that says nothing', { brain: scripted(['']) }, 'failed', /^$/],
  ])('%s', async (_name, options, expected, error) => {
    const { result } = await perform(options);
    expect(result.result).toBe(expected);
    if (expected === 'error') expect(result.outcome.error).toMatch(error);
    expect(result.success).toBe(false);
  });

  test.each<[string, EpisodeOptions['check'], string]>([
    ['none', undefined, 'not verified: there is no check'],
    [
      'one that throws',
      () => {
        throw new Error('no page');
      },
      'not verified: the check raised Error: no page',
    ],
    [
      'one that says 1',
      () => 1 as never,
      'not verified: the check gave neither true, false nor { ok, detail }',
    ],
    ['one that says no, because', () => ({ ok: false, detail: 'no milk' }), 'no milk'],
  ])('with a check that is %s is not verified', async (_name, given, detail) => {
    const { result } = await perform({ brain: doing(TYPE, SAVE, DONE), check: given });
    expect(result).toMatchObject({ result: 'failed', check: { ok: false, detail } });
  });

  test('is aborted, and seals its record and its audit log', async () => {
    const controller = new AbortController();
    const audit = newPath('audit.jsonl');
    const { result } = await perform({
      audit,
      signal: controller.signal,
      brain: (_observation, _goal, history) => {
        if (history.length === 1) controller.abort();
        return TYPE;
      },
    });
    expect(result).toMatchObject({ result: 'aborted', check: null });
    expect(readFileSync(audit, 'utf8').trimEnd().split('\n').at(-1)).toContain('failure: aborted');
  });

  test('is aborted where that comes during the check', async () => {
    const controller = new AbortController();
    const { result } = await perform({
      signal: controller.signal,
      brain: doing(TYPE, SAVE, DONE),
      check: () => {
        controller.abort();
        return never();
      },
    });
    expect(result).toMatchObject({ result: 'aborted', success: false });
  });
});

describe('failures as data', () => {
  test.each<[string, Action, RegExp]>([
    [
      'a label that is not there',
      { kind: 'click', target: { label: 'Svae' } },
      /nothing is labelled "Svae" \(there is "New item", "Save"\)/,
    ],
    [
      'an index that is not there',
      { kind: 'click', target: { index: 9 } },
      /no element 9 on the screen \(0 to 1\)/,
    ],
    ['what the screen refuses', SAVE, /Save is disabled/],
    [
      'a secret that is not there',
      { kind: 'type', target: { index: 0 }, secret: 'pin' },
      /no secret 'pin' \(there are none\)/,
    ],
  ])('%s', async (_name, wrong, words) => {
    const audit = newPath('audit.jsonl');
    const { result, payloads } = await perform({ brain: doing(wrong, TYPE, SAVE, DONE), audit });
    expect(result.result).toBe('verified');
    expect(payloads[4]?.payload).toMatchObject({
      ok: false,
      failure: 'threw',
      error: expect.stringMatching(words),
    });
    const [entry] = readFileSync(audit, 'utf8')
      .split('\n')
      .map((line) => (line === '' ? {} : JSON.parse(line)));
    expect(entry).toMatchObject({ ok: false, outcome: expect.stringMatching(words) });
  });

  test('two elements of one label: the brain is told to say which', async () => {
    const ok = { label: 'OK', kind: 'button' };
    const screen = scriptedScreen({
      two: {
        elements: [ok, { ...ok, label: ' ok ' }, ok],
        on: (_action, element) => (element?.y === 40 ? 'hit' : 'missed'),
      },
      hit: { text: 'milk' },
      missed: {},
    });
    const { result, payloads } = await perform({
      screen,
      brain: doing(
        { kind: 'click', target: { label: 'OK' } },
        { kind: 'click', target: { index: 2 } },
        DONE,
      ),
    });
    expect(payloads[4]?.payload['error']).toContain(
      '2 elements are labelled "OK": 0 (button), 2 (button); say which by its index',
    );
    expect(result.result).toBe('verified');
  });

  test('a screen that changed while an action failed is looked at again', async () => {
    const screen = todo();
    const looks = vi.fn<BrainFunction>();
    const { payloads } = await perform({
      screen,
      brain: (observation, goal, history, context) => {
        void looks(observation, goal, history, context);
        if (history.length === 0) {
          screen.show('saved');
          return { kind: 'click', target: { label: 'Gone' } };
        }
        return DONE;
      },
    });
    expect(payloads[4]?.payload['error']).toMatch(/The screen has changed meanwhile: look at it$/);
    expect(payloads[6]?.payload).toMatchObject({ name: 'look' });
    expect(looks.mock.calls[1]?.[0].text).toBe('milk');
  });
});

test('of thousands of elements all can be acted on', async () => {
  const elements = Array.from({ length: 1200 }, (_, n) => ({
    label: `Item ${n}`,
    kind: 'button',
    y: (n - 600) * 20,
  }));
  const screen = scriptedScreen({
    many: {
      elements,
      on: (_action, element) => (element?.label === 'Item 1100' ? 'hit' : undefined),
    },
    hit: { text: 'milk' },
  });
  const seen: (string | undefined)[] = [];
  const { result } = await perform({
    screen,
    brain: ({ elements: shown, offset }, _goal, history) => {
      seen.push(`${offset} ${shown[0]?.label}`);
      return history.length === 0
        ? { kind: 'click', target: { index: 3 } }
        : history.length === 1
          ? { kind: 'click', target: { label: 'Item 1100' } }
          : DONE;
    },
  });
  expect(seen[0]).toBe('600 Item 600');
  expect(screen.acted.map((action) => 'index' in action && action.index)).toEqual([3, 1100]);
  expect(result.result).toBe('verified');
});

const rowsFrom = (top: number) =>
  Array.from({ length: 1500 }, (_, n) => ({
    label: `Row ${n}`,
    kind: 'button',
    y: top + n * 20,
  }));

const endsOf = (elements: readonly { label: string }[]): (string | undefined)[] => [
  elements[0]?.label,
  elements.at(-1)?.label,
];

describe('of thousands of elements those from the top of the window on are shown', () => {
  const header = { label: 'Home', kind: 'link', y: 0 };
  const skip = { label: 'Skip', kind: 'link', y: -500 };
  const footer = { label: 'Imprint', kind: 'link', y: 700 };
  test.each([
    ['at the top', [header, ...rowsFrom(0)], ['Home', 'Row 498']],
    ['below a header that stays', [header, ...rowsFrom(-12_000)], ['Row 600', 'Row 1099']],
    ['with a menu that is pushed out', [...rowsFrom(0), skip], ['Row 0', 'Row 499']],
    ['with both', [header, ...rowsFrom(-12_000), footer, skip], ['Row 600', 'Row 1099']],
    ['at the end', [header, ...rowsFrom(-29_000), footer], ['Row 1001', 'Imprint']],
    ['below all of it', [...rowsFrom(-40_000)], ['Row 1000', 'Row 1499']],
  ])('%s', async (_name, elements, ends) => {
    const shown: (string | undefined)[][] = [];
    const brain: BrainFunction = (observation) => {
      shown.push(endsOf(observation.elements));
      return DONE;
    };
    await perform({ screen: scriptedScreen({ page: { elements, text: 'milk' } }), brain });
    expect(shown).toEqual([ends]);
  });
});

describe('the options', () => {
  const good = { goal: 'g', screen: todo(), brain: doing(DONE) };
  test.each<[object, string]>([
    [{ goal: '' }, 'goal must be a text, and not empty'],
    [
      { screen: Promise.resolve(todo()) },
      'screen must be a screen: { observe, act }, not a promise of one',
    ],
    [{ brain: undefined }, 'brain must be a model, or a function'],
    [{ chekc: check }, "unknown option 'chekc'; they are goal, screen, brain"],
    [{ check: 'milk' }, 'check must be a function'],
    [{ watchdog: { stopp: true } }, "unknown watchdog setting 'stopp'"],
    [{ watchdog: { unchangedAfter: -1 } }, 'watchdog.unchangedAfter must be a number above 0'],
    [{ watchdog: { sameFailureAfter: 2.5 } }, 'watchdog.sameFailureAfter must be a whole number'],
    [{ watchdog: 5 as unknown as object }, 'watchdog must be an object, as { stop: true }'],
    [{ watchdog: null as unknown as object }, 'watchdog must be an object, as { stop: true }'],
    [{ watchdog: new Date() as unknown as object }, 'watchdog must be an object'],
    [{ watchdog: [] as unknown as object }, 'watchdog must be an object'],
    [{ secrets: new Date() as unknown as Record<string, string> }, 'secrets must be texts by name'],
    [{ secrets: new Map() as unknown as Record<string, string> }, 'secrets must be texts by name'],
    [{ signal: 5 as unknown as AbortSignal }, 'signal must be an AbortSignal'],
    [{ watchdog: { modelSeconds: Number.NaN } }, 'watchdog.modelSeconds must be a number above 0'],
    [
      { watchdog: { stop: ['stuck'] } },
      'watchdog.stop must be true, false or a list of unchanged_screen',
    ],
    [{ secrets: { pin: '' } }, 'secrets must be texts by name, none of them empty'],
    [{ secrets: { pin: undefined } }, 'secrets must be texts by name'],
    [{ audit: 5 }, 'audit must be a path, a URL or an audit log that is open'],
    [{ screenshot: 5 }, 'screenshot must be a path'],
    [{ budget: { step: 5 } }, "unknown budget 'step'"],
  ])('%j', async (wrong, message) => {
    await expect(episode({ ...good, ...wrong })).rejects.toThrow(message);
  });
});

test.each<[string, (path: string) => Partial<EpisodeOptions>]>([
  ['the picture, the audit log', (path) => ({ audit: path, screenshot: path })],
  ['the picture, the transcript', (path) => ({ transcript: path, screenshot: path })],
  ['the audit log, the transcript', (path) => ({ transcript: path, audit: path })],
  ['as an address', (path) => ({ audit: pathToFileURL(path), screenshot: path })],
  ['spelled otherwise', (path) => ({ audit: relative(process.cwd(), path), screenshot: path })],
  ['through a link', (path) => ({ audit: path, screenshot: linkTo(path) })],
  ['through a folder that is one', (path) => ({ transcript: path, audit: throughFolder(path) })],
])('one file for two is refused: %s', async (_name, places) => {
  const path = newPath('one.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  const good = { goal: 'g', screen: todo(), brain: doing(DONE), signal: AbortSignal.abort() };
  await expect(episode({ ...good, ...places(path) })).rejects.toThrow(/must be another file than/);
  expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe('');
});

function linkTo(path: string): string {
  const link = `${path}.link`;
  writeFileSync(path, '');
  symlinkSync(path, link);
  return link;
}

function throughFolder(path: string): string {
  const link = `${dirname(path)}-link`;
  symlinkSync(dirname(path), link);
  return join(link, basename(path));
}

test('an open audit log is one episode’s at a time', async () => {
  const path = newPath('shared.jsonl');
  const audit = await openAudit(path);
  const good = { goal: 'g', screen: todo(), brain: doing(TYPE, SAVE, DONE), check };
  const first = episode({ ...good, audit });
  await expect(episode({ ...good, audit })).rejects.toThrow(/another episode writes to .* now/);
  expect(await first).toMatchObject({ result: 'verified' });
  const brain = doing(TYPE, SAVE, DONE);
  expect(await episode({ ...good, screen: todo(), brain, audit })).toMatchObject({ success: true });
  await audit.release();
  expect(await verifyAuditFile(path)).toMatchObject({ ok: true });
});

test('one open audit log, and its picture in its place, is refused', async () => {
  const path = newPath('one.jsonl');
  const audit = await openAudit(path);
  const good = { goal: 'g', screen: todo(), brain: doing(DONE), signal: AbortSignal.abort() };
  await expect(episode({ ...good, audit, screenshot: path })).rejects.toThrow(
    /^screenshot must be another file than audit: both are /,
  );
  await audit.release();
});

test('a picture never replaces what is no picture', async () => {
  const screenshot = newPath('log.jsonl');
  writeFileSync(screenshot, '{"kind":"step"}\n');
  const { result } = await perform({ brain: doing(TYPE, SAVE, DONE), screenshot });
  expect(readFileSync(screenshot, 'utf8')).toBe('{"kind":"step"}\n');
  expect(result.check?.detail).toMatch(/no picture was kept: log\.jsonl is there, and is no PNG$/);
  expect(result.screenshot).toBeUndefined();
});

test('a picture is kept also where there was no check to hold its hash', async () => {
  const screenshot = newPath('deep/er/last.png');
  const controller = new AbortController();
  const brain: BrainFunction = () => {
    controller.abort();
    return TYPE;
  };
  const { result } = await perform({ brain, screenshot, signal: controller.signal });
  expect(result).toMatchObject({ result: 'aborted', screenshot: { path: screenshot } });
});

/** Does one thing, then the other, eleven times in all. */
function byTurns(one: Action, other: Action): BrainFunction {
  return (_o, _g, { length }) => (length >= 11 ? DONE : length % 2 === 0 ? one : other);
}

describe('the watchdog', () => {
  const go: Action = { kind: 'click', target: { label: 'Go' } };
  test.each<[string, () => ScriptedScreen, Action, string, RegExp]>([
    ['an unchanged screen', stuck, go, 'unchanged_screen', /^3 actions left the screen as it was/],
    [
      'two screens to and fro',
      flip,
      go,
      'alternating_screens',
      /^the screen went to and fro 4 times/,
    ],
    [
      'the same failure',
      stuck,
      { kind: 'click', target: { label: 'No' } },
      'same_failure',
      /^the same action failed 3 times: click "No"$/,
    ],
  ])('%s is an event, and a stop only if asked for', async (_name, screen, action, kind, words) => {
    const watchdog = { unchangedAfter: 3, alternatingAfter: 3, sameFailureAfter: 3 };
    const brain = (_o: unknown, _g: unknown, history: readonly unknown[]): Action =>
      history.length < 6 ? action : DONE;
    const warned = await perform({ screen: screen(), brain, watchdog });
    expect(warned.result.result).not.toBe('stalled');
    const alerts = warned.result.alerts.filter((alert) => alert.kind === kind);
    expect(alerts).toMatchObject([{ evidence: expect.stringMatching(words) }]);
    expect(warned.events.filter(({ type }) => type === 'alert')).toHaveLength(
      warned.result.alerts.length,
    );
    const stop = kind === 'same_failure' ? true : ([kind] as never);
    const stopped = await perform({ screen: screen(), brain, watchdog: { ...watchdog, stop } });
    expect(stopped.result).toMatchObject({
      result: 'stalled',
      check: null,
      outcome: { reason: 'stalled' },
    });
    expect(stopped.result.outcome.error).toBe(stopped.result.alerts[0]?.evidence);
    expect(stopped.payloads.at(-1)?.payload).toMatchObject({ reason: 'stalled' });
  });

  test('a slow page is no stall while the brain waits for it', async () => {
    const screen = stuck();
    const { result } = await perform({
      screen,
      watchdog: { unchangedAfter: 3, stop: true },
      brain: (_o, _g, history) =>
        history.length < 8 ? { kind: 'wait', milliseconds: 1000 } : DONE,
    });
    expect(result).toMatchObject({ result: 'verified', alerts: [] });
  });

  test('a page that turns to and fro by itself is no stall while it is waited for', async () => {
    const watchdog = { alternatingAfter: 3 };
    const wait: Action = { kind: 'wait', milliseconds: 1 };
    const waiting = await perform({ screen: flip(), watchdog, brain: byTurns(wait, wait) });
    expect(waiting.result.alerts).toEqual([]);
    // To go there again and again, and wait until the page is back, is no patience.
    const going = await perform({ screen: flip(), watchdog, brain: byTurns(go, wait) });
    expect(going.result.alerts.map(({ kind }) => kind)).toEqual(['alternating_screens']);
  });

  test('a silent model, a hung action: after their time, and no timer is left', async () => {
    const clock = fakeClock(1_700_000_000_000);
    const screen = scriptedScreen({
      page: {
        elements: [{ label: 'Go', kind: 'button' }],
        text: 'milk',
        on: () =>
          new Promise<undefined>((resolve) => clock.timer(50_000, () => resolve(undefined))),
      },
    });
    const playing = perform({
      screen,
      clock,
      watchdog: { modelSeconds: 10, actionSeconds: 20 },
      brain: async (_o, _g, history) => {
        await new Promise<void>((resolve) => clock.timer(15_000, resolve));
        return history.length === 0 ? go : DONE;
      },
    });
    await clock.advance(200_000);
    const { result } = await playing;
    expect(result.result).toBe('verified');
    expect(result.alerts.map(({ kind }) => kind)).toEqual([
      'silent_model',
      'hung_action',
      'silent_model',
    ]);
    expect(clock.pending).toBe(0);
  });

  test('a brain that never answers is stopped, if it is asked for', async () => {
    const clock = fakeClock(0);
    const playing = perform({
      clock,
      watchdog: { modelSeconds: 10, stop: true },
      brain: () => never(),
    });
    await clock.advance(11_000);
    expect((await playing).result).toMatchObject({ result: 'stalled' });
    expect(clock.pending).toBe(0);
  });

  test('a dead browser is said, and no crash of ours', async () => {
    const screen = todo();
    const { result } = await perform({
      screen,
      brain: (_o, _g, history) => {
        if (history.length < 1) return SAVE;
        screen.crash();
        return DONE;
      },
    });
    expect(result).toMatchObject({
      result: 'failed',
      check: { detail: expect.stringContaining('ScreenGoneError') },
    });
  });

  test('of a browser that dies at an action the brain is shown nothing any more', async () => {
    const screen = todo();
    const { result } = await perform({
      screen,
      brain: (_o, _g, history) => {
        if (history.length === 1) screen.crash();
        return history.length < 3 ? SAVE : DONE;
      },
    });
    expect(result.alerts.map(({ kind }) => kind)).toEqual(['screen_gone']);
    expect(result).toMatchObject({ result: 'error', steps: 2 });
    expect(result.outcome.error).toBe('the screen could not be seen 3 times');
  });
});

test('what a brain does to its observation changes nothing of what is acted on', async () => {
  const screen = todo();
  const { result } = await perform({
    screen,
    brain: ({ elements }, _goal, history) => {
      const past = history.at(-1);
      if (past !== undefined) Object.assign(past.action, { kind: 'done', answer: 'all of it' });
      (elements as unknown[]).reverse(); // as plain JavaScript may
      return history.length === 0 ? TYPE : history.length === 1 ? SAVE : DONE;
    },
  });
  expect(screen.acted).toEqual([
    { kind: 'type', index: 0, byLabel: true, text: 'milk', submit: false, isSecret: false },
    { kind: 'click', index: 1, byLabel: true },
  ]);
  expect(result).toMatchObject({ result: 'verified', claim: DONE.kind === 'done' && DONE.answer });
});

test.each([undefined, null, 'clicked', {}, { ok: true }, { ok: 'yes', summary: 'x' }])(
  'a screen whose act gives %j has done what nobody knows, which is in the log',
  async (given) => {
    const screen = stuck();
    const audit = newPath('audit.jsonl');
    const act = async (): Promise<ActResult> => given as unknown as ActResult; // as plain JavaScript may
    const { result } = await perform({
      screen: { observe: (options) => screen.observe(options), act },
      audit,
      brain: doing({ kind: 'click', target: { label: 'Go' } }, DONE),
    });
    expect(result.steps).toBe(2);
    const [first = ''] = readFileSync(audit, 'utf8').split('\n');
    expect(JSON.parse(first)).toMatchObject({
      action: 'click "Go"',
      ok: false,
      outcome: expect.stringMatching(/act gave neither .*; its effect is unknown$/),
    });
  },
);

test('a screen full of long texts is shown in part, and what was done on it stands', async () => {
  // Six bytes each in a record.
  const words = '\u0001'.repeat(2000);
  const fields = Array.from({ length: 500 }, (_, at) => ({
    label: `${at} ${words}`,
    kind: 'textbox',
    value: words,
  }));
  const screen = scriptedScreen({
    page: {
      elements: [...fields, { label: 'Pay', kind: 'button' }],
      text: words.repeat(9),
      url: `data:${words.repeat(2000)}`,
    },
  });
  const { result, events } = await perform({
    screen,
    check: () => true,
    brain: doing({ kind: 'click', target: { label: 'Pay' } }, DONE),
  });
  expect(result).toMatchObject({ result: 'verified', steps: 2 });
  const calls = events.filter(({ type }) => type === 'tool-end');
  expect(calls).toHaveLength(3);
  for (const call of calls) expect(call).toMatchObject({ ok: true });
});

test('an answer that no record has room for is not claimed', async () => {
  const audit = newPath('audit.jsonl');
  const answer = 'x'.repeat(3_000_000);
  const { result } = await perform({
    audit,
    brain: doing({ kind: 'done', answer }, { kind: 'refuse', reason: 'too long' }),
  });
  expect(result).toMatchObject({ result: 'refused', claim: 'too long', steps: 2 });
});

test('a screen that can not be seen at all ends it soon', async () => {
  const screen = todo();
  screen.crash();
  const { result } = await perform({ screen, brain: doing(TYPE), audit: newPath('audit.jsonl') });
  expect(result).toMatchObject({ result: 'error', steps: 0, outcome: { spent: { steps: 3 } } });
  expect(result.outcome.error).toBe('the screen could not be seen 3 times');
});

test('an unfinished line of the audit log is set aside, and it is said where', async () => {
  const audit = newPath('audit.jsonl');
  await perform({ audit, brain: doing(TYPE, SAVE, DONE) });
  const whole = readFileSync(audit, 'utf8');
  writeFileSync(audit, whole.slice(0, -9));
  const { result } = await perform({ audit, brain: doing(TYPE, SAVE, DONE) });
  expect(result.audit).toMatchObject({ entries: 7, torn: { kept: `${basename(audit)}.torn-1` } });
  expect(rows(result)).toContain(
    `          its last line was unfinished; the bytes are kept in ${basename(audit)}.torn-1`,
  );
});

test('what can not be audited is not done any more', async () => {
  const audit = newPath('audit.jsonl');
  const { result } = await perform({
    audit,
    brain: (_o, _g, history) => {
      if (history.length === 1) rmSync(audit);
      return history.length < 5 ? TYPE : DONE;
    },
  });
  expect(result).toMatchObject({
    result: 'error',
    outcome: { reason: 'aborted', error: expect.stringContaining('audit.jsonl') },
  });
  expect(result.steps).toBe(2);
});

test('listeners change nothing, whatever they do', async () => {
  const paths = [newPath(), newPath()];
  for (const [i, transcript] of paths.entries()) {
    const on =
      i === 0
        ? () => {
            throw new Error('no');
          }
        : undefined;
    await episode({
      goal: 'g',
      screen: todo(),
      brain: doing(TYPE, SAVE, DONE),
      check,
      transcript,
      on,
    });
    expect(await verifyFile(transcript)).toMatchObject({ ok: true, sealed: true });
  }
  expect(readFileSync(paths[0] ?? '')).toEqual(readFileSync(paths[1] ?? ''));
});
