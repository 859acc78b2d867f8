import { expect, test } from 'vitest';
import { fakeClock } from '../../../src/testing/clock.ts';
import { describeInBrowser, QUICK, signal } from './support.ts';

describeInBrowser('dialogs, windows, downloads', (world) => {
  const path = (): string => `windows.html?far=${world.far.url}`;

  test.each([
    ['safe', ['undefined', 'false', 'null'], ['accepted', 'dismissed', 'dismissed']],
    ['accept', ['undefined', 'true', 'Ada'], ['accepted', 'accepted', 'accepted']],
    ['dismiss', ['undefined', 'false', 'null'], ['dismissed', 'dismissed', 'dismissed']],
  ] as const)('dialogs: %s', async (dialogs, answers, outcomes) => {
    const { see, click } = await world.open(path(), { dialogs });
    await see();
    const messages = [
      ['Alert', '[dialog alert] "Saved!"'],
      ['Confirm', '[dialog confirm] "Really?"'],
      ['Prompt', '[dialog prompt] "Your name?"'],
    ] as const;
    for (const [place, [label, message]] of messages.entries()) {
      expect(await click(label)).toMatchObject({ ok: true });
      const { text } = await see();
      expect(text.split('\n')[0]).toBe(`${message} (${outcomes[place]})`);
      expect(text).toContain(`answer: ${answers[place]}`);
      // It is said once.
      expect((await see()).text).not.toContain('[dialog');
    }
  });

  test('an empty window is gone to at once', async () => {
    const { see, click, screen } = await world.open('twins.html', {
      limits: { ...QUICK, loadMs: 20_000 },
    });
    await screen.page.setContent(
      `<button onclick="window.open('').document.body.innerHTML = '<h1>Written</h1>'">Open</button>`,
    );
    await see();
    const start = performance.now();
    expect(await click('Open')).toMatchObject({ ok: true });
    expect((await see()).elements).toMatchObject([{ kind: 'heading', label: 'Written' }]);
    // No measure of speed: a window that is waited for in vain costs all of `loadMs`.
    expect(performance.now() - start).toBeLessThan(19_000);
  });

  test('a dialog that comes by itself blocks nothing', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.evaluate(
      `setTimeout(() => { alert('one\\ntwo'); document.title = 'On' }, 50)`,
    );
    await screen.page.waitForFunction(`document.title === 'On'`);
    expect((await see()).text).toContain('[dialog alert] "one two" (accepted)\n');
  });

  test.each(['New tab', 'New window'])(
    '%s: the screen goes there, and back when it closes',
    async (label) => {
      const { see, click, act, index, screen } = await world.open(path());
      await see();
      expect(await click(label)).toMatchObject({ ok: true });
      const there = await see();
      expect(there.url).toBe(`${world.near.url}/twins.html`);
      expect(there.text.split('\n')[0]).toBe(
        `[window] ${world.near.url}/twins.html (opened; it is what is shown now)`,
      );
      await act({ kind: 'click', index: index('Remove') });
      expect((await see()).text).toContain('Ada removed');
      const first = index('Remove');
      await screen.page.close();
      expect(await act({ kind: 'click', index: first })).toEqual({
        ok: false,
        error: `element ${first} ("Remove") is not on the screen any more`,
      });
      const back = await see();
      expect(back.title).toBe('Windows');
      expect(back.text.split('\n')[0]).toBe('[window] the page was closed');
    },
  );

  test.each(['Foreign link', 'Redirected link', 'Foreign tab', 'Redirected tab'])(
    '%s: nothing is asked of the other origin',
    async (label) => {
      const { see, click, screen } = await world.open(path());
      await see();
      const asked = world.far.asked.length;
      const refusal = `${world.far.url}/todo.html (refused: only ${world.near.url} is allowed)`;
      expect(await click(label)).toEqual({
        ok: false,
        error: `clicked link "${label}", but it leads to ${refusal}`,
      });
      const { title, text } = await see();
      expect(title).toBe('Windows');
      expect(text.split('\n')[0]).toBe(`[navigation] ${refusal}`);
      expect(world.far.asked.slice(asked)).toEqual([]);
      expect(screen.page.context().pages()).toHaveLength(1);
      // The screen works on.
      expect(await click('Confirm')).toMatchObject({ ok: true });
    },
  );

  test('a script leads nowhere else either', async () => {
    const { see, screen } = await world.open('twins.html');
    const asked = world.far.asked.length;
    await screen.page.evaluate(`location.href = '${world.far.url}/todo.html'`);
    await expect.poll(async () => (await see()).text).toContain('[navigation] http://localhost');
    expect(world.far.asked.slice(asked)).toEqual([]);
    expect((await see()).title).toBe('Two of a kind');
  });

  test('origins that are allowed can be gone to', async () => {
    const allowedOrigins = [world.near.url, `${world.far.url}/any/path`];
    const { see, click } = await world.open(path(), { allowedOrigins });
    await see();
    expect(await click('Redirected tab')).toMatchObject({ ok: true });
    expect(await see()).toMatchObject({ title: 'To do', url: `${world.far.url}/todo.html` });
  });

  test('another screen in the same browser keeps its own origins', async () => {
    const one = await world.open('twins.html');
    const page = await world.browser.newPage();
    await page.goto(`${world.far.url}/todo.html`);
    expect(await page.title()).toBe('To do');
    await page.context().close();
    expect((await one.see()).title).toBe('Two of a kind');
  });

  test('a download is refused and said', async () => {
    const { see, click } = await world.open(path());
    await see();
    await click('Download');
    const { title, text } = await see();
    expect(title).toBe('Windows');
    expect(text.split('\n')[0]).toBe('[download] numbers.csv (refused)');
  });

  test('a chooser of files is refused and said', async () => {
    const { see, click } = await world.open(path());
    await see();
    await click('Picture');
    expect((await see()).text.split('\n')[0]).toBe('[file chooser] (refused)');
  });

  test.each([
    ['closed', 'the page was closed'],
    ['crashed', 'the page crashed'],
  ])('a page that is %s is a screen that is gone', async (how, why) => {
    const { screen, see, act } = await world.open('twins.html');
    await see();
    if (how === 'closed') await screen.page.close();
    else await screen.page.goto('chrome://crash').catch(() => undefined);
    const gone = { name: 'ScreenGoneError', message: why };
    await expect(see()).rejects.toMatchObject(gone);
    await expect(act({ kind: 'click', index: 0 })).rejects.toMatchObject(gone);
    await expect(screen.screenshot()).rejects.toMatchObject(gone);
  });

  test('it is noticed while something is awaited', async () => {
    const clock = fakeClock();
    const { screen, act } = await world.open('twins.html', { clock });
    const waiting = expect(act({ kind: 'wait', milliseconds: 50_000 })).rejects;
    const outcome = waiting.toMatchObject({ name: 'ScreenGoneError' });
    await screen.page.close();
    await outcome;
    expect(clock.pending).toBe(0);
  });

  test('a page of the caller is left open, and free to go anywhere', async () => {
    const { screen } = await world.open('twins.html', { limits: QUICK });
    const { page } = screen;
    await screen.close();
    expect(page.isClosed()).toBe(false);
    await page.goto(`${world.far.url}/todo.html`);
    expect(await page.title()).toBe('To do');
    await expect(screen.observe({ signal })).rejects.toMatchObject({
      message: 'the screen was closed',
    });
  });
});
