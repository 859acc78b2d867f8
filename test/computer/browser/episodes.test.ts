/**
 * Episodes on real pages in Chromium: the library and the built command, with scripted brains.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Action } from '../../../src/computer/action.ts';
import { episode, type Episode, type EpisodeOptions } from '../../../src/computer/index.ts';
import { replay } from '../../../src/replay/replay.ts';
import { memoryStore } from '../../../src/store/index.ts';
import { bareEnv, execute, MAIN, type Executed } from '../../cli/script.ts';
import { describeInBrowser, type World } from './support.ts';

const at = (label: string): { label: string } => ({ label });
const DONE: Action = { kind: 'done', answer: 'done' };

/** Plays actions on a page, one after another. */
async function play(
  world: World,
  page: string,
  actions: readonly Action[],
  options: Partial<EpisodeOptions> = {},
  transcript = memoryStore(),
): Promise<Episode> {
  const { screen } = await world.open(page);
  let next = 0;
  const played = await episode({
    goal: 'as the test says',
    screen,
    brain: () => actions[next++] ?? DONE,
    budget: { steps: 30 },
    transcript,
    ...options,
  });
  expect(await replay(transcript)).toMatchObject({ ok: true });
  return played;
}

const outcomes = async (transcript: ReturnType<typeof memoryStore>): Promise<string> => {
  let text = '';
  for await (const piece of transcript.read()) text += Buffer.from(piece).toString();
  return text;
};

describeInBrowser('episodes in Chromium', (world) => {
  test('a to-do list: verified by what the page shows', async () => {
    const result = await play(
      world,
      'todo.html',
      [
        { kind: 'type', target: at('New task'), text: 'buy milk', submit: true },
        { kind: 'type', target: at('New task'), text: '買う 🥛' },
        { kind: 'click', target: at('Add') },
        DONE,
      ],
      { check: ({ text }) => text.includes('buy milk') && text.includes('買う 🥛') },
    );
    expect(result).toMatchObject({ result: 'verified', steps: 4, alerts: [] });
  });

  test('a claim without the deed fails', async () => {
    const result = await play(
      world,
      'todo.html',
      [
        { kind: 'type', target: at('New task'), text: 'buy milk' },
        { kind: 'done', answer: 'Saved!' },
      ],
      { check: ({ text }) => text.includes('buy milk') },
    );
    expect(result).toMatchObject({ result: 'failed', claim: 'Saved!', check: { ok: false } });
  });

  test('what the screen itself says is shown to the brain, and is no text for a check', async () => {
    const texts: string[] = [];
    const { screen } = await world.open('twins.html');
    await screen.page.setContent('<button onclick="confirm(1)">Ask</button>');
    const late = async (): Promise<void> => {
      await screen.page.evaluate(() => confirm('Saved?'));
    };
    const result = await episode({
      goal: 'save',
      screen,
      brain: async ({ text }, _goal, history) => {
        texts.push(text);
        if (history.length === 0) return { kind: 'click', target: at('Ask') };
        await late();
        return DONE;
      },
      check: ({ text, notices = [] }) => ({
        ok: text.includes('Saved'),
        detail: `${text}; ${notices.join()}`,
      }),
    });
    expect(texts).toEqual(['Ask', '[dialog confirm] "1" (dismissed)\nAsk']);
    expect(result.result).toBe('failed');
    expect(result.check?.detail).toBe('Ask; [dialog confirm] "Saved?" (dismissed)');
  });

  test('two buttons of one label, an origin that is not allowed, a label that is not there', async () => {
    const transcript = memoryStore();
    const result = await play(
      world,
      'twins.html',
      [{ kind: 'click', target: at('Nope') }, { kind: 'navigate', url: world.far.url }, DONE],
      { check: () => true },
      transcript,
    );
    expect(result).toMatchObject({ result: 'verified', steps: 3 });
    const text = await outcomes(transcript);
    expect(text).toContain('nothing is labelled');
    expect(text.match(/"failure":"threw"/g)).toHaveLength(2);
  });

  test('a password that a model spells out is in no record', async () => {
    const { screen, see } = await world.open('password.html');
    const { elements } = await see();
    const field = elements.findIndex(({ states }) => states?.includes('password'));
    expect(field).toBeGreaterThanOrEqual(0);
    const transcript = memoryStore();
    const turns = [
      { name: 'type', arguments: JSON.stringify({ index: field, text: 'correct horse' }) },
      { name: 'done', arguments: '{"answer":"typed"}' },
    ];
    let turn = 0;
    const brain = Object.assign(
      () => ({ content: '', toolCalls: [turns[turn++] ?? { name: 'look', arguments: '{}' }] }),
      { id: 'test' },
    );
    await episode({ goal: 'log in', screen, brain, transcript, check: () => true });
    expect(await outcomes(transcript)).not.toContain('correct horse');
  });

  test('an endless spinner: waiting for it is no stall', async () => {
    const wait: Action = { kind: 'wait', milliseconds: 10 };
    const patient = await play(
      world,
      'spinner.html',
      Array.from({ length: 7 }, () => wait),
      {
        watchdog: { unchangedAfter: 3 },
      },
    );
    expect(patient.alerts).toEqual([]);
  });

  test('a browser that dies is said, and the record is sealed', async () => {
    const { screen } = await world.open('todo.html');
    const result = await episode({
      goal: 'x',
      screen,
      budget: { steps: 6 },
      brain: async (_observation, _goal, history) => {
        if (history.length === 1) await screen.page.close();
        return { kind: 'click', target: at('Add') };
      },
    });
    expect(result.alerts.map(({ kind }) => kind)).toContain('screen_gone');
    expect(result.outcome.transcript.sealed).toBe(true);
    expect(result.success).toBe(false);
  });
});

describeInBrowser('hashtape episode', (world) => {
  const SCRIPT = {
    turns: [
      { tool_calls: [{ name: 'type', arguments: { label: 'New task', text: 'buy milk' } }] },
      { tool_calls: [{ name: 'click', arguments: { label: 'Add' } }] },
      { tool_calls: [{ name: 'done', arguments: { answer: 'milk is on the list' } }] },
    ],
  };

  async function command(
    args: readonly string[],
    use: (ran: Executed, folder: string) => unknown,
  ): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'hashtape-episode-'));
    try {
      writeFileSync(join(folder, 's.json'), JSON.stringify(SCRIPT));
      const env = { ...bareEnv(folder), CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '' };
      const set = env.CHROMIUM_PATH === '' ? bareEnv(folder) : env;
      const ran = await execute(process.execPath, [MAIN, ...args], { cwd: folder, env: set });
      await use(ran, folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Removing an audit log and beginning it anew with the command is a note, no fault: that is how one does it on purpose. */
  async function runsAnew(folder: string): Promise<void> {
    for (const name of ['a.jsonl', 'a.audit.jsonl']) rmSync(join(folder, name));
    const env = { ...bareEnv(folder), CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '' };
    const args = [MAIN, ...episodeArgs('--check-text', 'buy milk')];
    expect(await execute(process.execPath, args, { cwd: folder, env })).toMatchObject({
      status: 0,
    });
    const verify = [MAIN, 'verify', 'a.jsonl', 'a.audit.jsonl'];
    const { status, stdout } = await execute(process.execPath, verify, { cwd: folder, env });
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(
      / note +another log was written here at 20.*: hashtape\/[0-9a-f]{64}, 4 entries$/m,
    );
  }

  const episodeArgs = (...more: string[]): string[] => [
    'episode',
    'Put milk on the list',
    '--url',
    new URL('todo.html', world.near.url).href,
    '--model',
    'scripted:s.json',
    '--out',
    'a.jsonl',
    ...more,
  ];

  test('reaches a goal on a real page, and leaves what shows it', async () => {
    await command(episodeArgs('--check-text', 'buy milk', '--json'), async (ran, folder) => {
      expect(ran.stderr).toMatch(
        /^verified {2}yes: the page shows "buy milk"; last screen SHA-256/m,
      );
      expect(ran.stderr).toMatch(/^episode {3}verified, 3 actions$/m);
      expect(ran.stderr).toMatch(/^audit {5}a\.audit\.jsonl, 4 entries$/m);
      expect(ran.status).toBe(0);
      const result = JSON.parse(ran.stdout);
      expect(result).toMatchObject({
        result: 'verified',
        success: true,
        claim: 'milk is on the list',
      });
      const picture = readFileSync(join(folder, 'a.png'));
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
      const sha = createHash('sha256').update(picture).digest('hex');
      expect(readFileSync(join(folder, 'a.jsonl'), 'utf8')).toContain(sha);
      for (const args of [
        ['verify', 'a.jsonl', 'a.audit.jsonl'],
        ['replay', 'a.jsonl'],
        ['show', 'a.audit.jsonl'],
      ]) {
        const again = await execute(process.execPath, [MAIN, ...args], {
          cwd: folder,
          env: bareEnv(folder),
        });
        expect(again.status, `${args.join(' ')}: ${again.stdout}${again.stderr}`).toBe(0);
      }
      await runsAnew(folder);
    });
  });

  test('an interrupt ends the command that checks, too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hashtape-episode-'));
    try {
      const turns = [{ tool_calls: [{ name: 'done', arguments: { answer: 'x' } }] }];
      writeFileSync(join(folder, 's.json'), JSON.stringify({ turns }));
      const env = { ...bareEnv(folder), CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '' };
      const set = env.CHROMIUM_PATH === '' ? bareEnv(folder) : env;
      const args = [MAIN, ...episodeArgs('--check', 'echo begun > begun; sleep 500')];
      const child = spawn(process.execPath, args, { cwd: folder, env: set, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await vi.waitFor(() => expect(existsSync(join(folder, 'begun'))).toBe(true), 120_000);
      const started = performance.now();
      child.kill('SIGINT');
      expect(await ended).toBe(1);
      expect(performance.now() - started).toBeLessThan(100_000);
      expect(readFileSync(join(folder, 'a.jsonl'), 'utf8')).toContain('aborted during the check');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('an interrupt while the page opens ends the browser, and leaves nothing of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hashtape-episode-'));
    try {
      writeFileSync(join(folder, 's.json'), JSON.stringify({ turns: [] }));
      mkdirSync(join(folder, 'tmp'));
      const { CHROMIUM_PATH } = process.env;
      const env = {
        ...bareEnv(folder),
        TMPDIR: join(folder, 'tmp'),
        ...(CHROMIUM_PATH === undefined ? {} : { CHROMIUM_PATH }),
      };
      const url = `${world.near.url}/never`;
      const asked = world.near.asked.length;
      const args = [MAIN, 'episode', 'x', '--url', url, '--model', 'scripted:s.json'];
      const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.on('close', resolve));
      const seen = (): readonly string[] => world.near.asked.slice(asked);
      await vi.waitFor(() => expect(seen()).toContain('/never'), 120_000);
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      const left = readdirSync(join(folder, 'tmp'));
      expect(left.filter((name) => name.startsWith('playwright'))).toEqual([]);
      expect(readdirSync(folder).filter((name) => name.endsWith('.jsonl'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each<[string, readonly string[], number, RegExp]>([
    [
      'a check that does not hold',
      ['--check-text', 'buy beer'],
      1,
      /^verified {2}no: the page does not show "buy beer"/m,
    ],
    [
      'a command that says no',
      ['--check', 'echo nothing there; false'],
      1,
      /^verified {2}no: exit 1: nothing there/m,
    ],
    ['no check', [], 1, /^verified {2}no: not verified: there is no check/m],
    [
      'a secret that is not set',
      ['--secret', 'NO_SUCH'],
      2,
      /--secret NO_SUCH: no environment variable of that name is set/,
    ],
    [
      'a browser that is not there',
      ['--chromium', '/no/chromium'],
      2,
      /the page can't be opened: there is no browser at \/no\/chromium/,
    ],
    ['an audit log that can not be one', ['--audit', '.'], 2, /the audit log can't be used: \./],
    ['one file for two', ['--audit', 'a.jsonl'], 2, /must name three files/],
  ])('%s', async (_name, more, status, words) => {
    await command(episodeArgs(...more), (ran, folder) => {
      expect(ran.stderr).toMatch(words);
      expect(ran.status).toBe(status);
      const left = readdirSync(folder).filter((name) => name.startsWith('a.') && status === 2);
      expect(left).toEqual([]);
      expect(existsSync(join(folder, 'a.jsonl'))).toBe(status === 1);
    });
  });

  test.each([
    [['episode', 'x'], /required option '-u, --url <url>' not specified/],
    [['episode', 'x', '--url', 'file:///etc/passwd'], /It must begin with http/],
    [
      ['episode', ' ', '--url', 'http://127.0.0.1/', '--model', 'scripted:s.json'],
      /the goal is empty/,
    ],
    [
      ['episode', 'x', '--url', 'http://127.0.0.1:9/', '--model', 'scripted:s.json'],
      /the page can't be opened: .*127\.0\.0\.1:9/,
    ],
  ])('%j is refused', async (args, words) => {
    await command(args, (ran) => {
      expect(ran.stderr).toMatch(words);
      expect(ran.status).toBe(2);
    });
  });
});
