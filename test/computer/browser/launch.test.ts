import { execFileSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import {
  playwrightScreen,
  type PlaywrightScreenOptions,
} from '../../../src/computer/playwright.ts';
import { describeInBrowser, opened, QUICK, signal } from './support.ts';

describeInBrowser('launch', (world) => {
  test('a browser of its own for a URL, which ends with the screen', async () => {
    const screen = await playwrightScreen({
      url: `${world.near.url}/windows.html?far=${world.far.url}`,
      viewport: { width: 640, height: 480 },
      limits: QUICK,
    });
    const { see, click } = opened(screen);
    const browser = screen.page.context().browser()!;
    try {
      expect((await see()).title).toBe('Windows');
      expect(screen.page.viewportSize()).toEqual({ width: 640, height: 480 });
      await click('Download');
      expect((await see()).text).toContain('[download] numbers.csv (refused)');
      expect(await click('Foreign tab')).toMatchObject({ ok: false });
    } finally {
      await screen.close();
    }
    expect(browser.isConnected()).toBe(false);
    await expect(screen.observe({ signal })).rejects.toMatchObject({ name: 'ScreenGoneError' });
  });

  test.each([0, 1, 50, 400, 1500])('opening is given up after %i ms', async (milliseconds) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const opening = playwrightScreen({
      url: `${world.near.url}/never`,
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(reason), milliseconds);
    await expect(opening).rejects.toBe(reason);
  });

  test('an abort after it was opened changes nothing', async () => {
    const controller = new AbortController();
    const url = `${world.near.url}/twins.html`;
    const screen = await playwrightScreen({ url, limits: QUICK, signal: controller.signal });
    controller.abort();
    expect((await screen.observe({ signal })).title).toBe('Two of a kind');
    await screen.close();
  });

  test('a browser that is killed is a screen that is gone', async () => {
    const screen = await playwrightScreen({ url: `${world.near.url}/twins.html`, limits: QUICK });
    const session = await screen.page.context().browser()!.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const main = processInfo.find(({ type }) => type === 'browser')!.id;
    const waiting = screen.act({ kind: 'wait', milliseconds: 50_000 }, { signal });
    const outcome = expect(waiting).rejects.toMatchObject({ name: 'ScreenGoneError' });
    process.kill(main, 'SIGKILL');
    await outcome;
    await expect(screen.observe({ signal })).rejects.toMatchObject({ name: 'ScreenGoneError' });
    await screen.close();
  });

  test('nothing of a browser is left when the first page is not there', async () => {
    const before = browsers();
    await expect(playwrightScreen({ url: 'http://127.0.0.1:1/' })).rejects.toThrow(
      'http://127.0.0.1:1/ could not be reached (ERR_UNSAFE_PORT)',
    );
    expect(browsers().filter((pid) => !before.includes(pid))).toEqual([]);
  });

  test('a browser that is not there is asked for', async () => {
    const url = world.near.url;
    const error = /^there is no browser at \/nowhere\/chromium: install one \(`apt-get install/u;
    await expect(playwrightScreen({ url, executablePath: '/nowhere/chromium' })).rejects.toThrow(
      error,
    );
    vi.stubEnv('CHROMIUM_PATH', '/nowhere/chromium');
    await expect(playwrightScreen({ url })).rejects.toThrow(error);
    vi.unstubAllEnvs();
  });

  test('a program that is no browser is said to be none', async () => {
    await expect(
      playwrightScreen({ url: world.near.url, executablePath: process.execPath }),
    ).rejects.toThrow(/did not start .*start it by hand to see why$/u);
  });

  test('options', async () => {
    const page = await world.browser.newPage();
    const bad: [unknown, RegExp][] = [
      [{}, /^url: expected an address, got nothing$/u],
      [{ url: 'file:///etc/passwd' }, /begins with http:\/\/ or https:\/\/, got "file:/u],
      [{ url: world.near.url, headles: true }, /unknown option 'headles'/u],
      [{ url: world.near.url, allowedOrigins: ['elsewhere'] }, /got "elsewhere"$/u],
      [{ url: world.near.url, dialogs: 'never' }, /^dialogs: expected safe, accept or dismiss/u],
      [{ url: world.near.url, limits: { actionMs: -1 } }, /^actionMs: expected an integer/u],
      [{ url: world.near.url, limits: { action: 1 } }, /unknown option 'action'/u],
      [{ page }, /^the page is empty: go to an address first, or say allowedOrigins$/u],
      [{ page, url: world.near.url }, /unknown option 'url'/u],
    ];
    for (const [options, message] of bad) {
      await expect(playwrightScreen(options as PlaywrightScreenOptions)).rejects.toThrow(message);
    }
    await page.context().close();
  });
});

/** The processes that this one has started and that still run, apart from `ps`. */
function browsers(): string[] {
  const table = execFileSync('ps', ['-o', 'pid=,ppid=,stat=,comm=', '-A'], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const [pid = '', parent, stat = '', command] = line.trim().split(/\s+/u);
    const isOurs = Number(parent) === process.pid && command !== 'ps';
    return isOurs && !stat.startsWith('Z') ? [pid] : [];
  });
}
