import { expect, test } from 'vitest';
import { fakeClock } from '../../../src/testing/clock.ts';
import { describeInBrowser, QUICK, signal } from './support.ts';

describeInBrowser('act', (world) => {
  test('a to-do list: type, check, delete', async () => {
    const { see, type, click } = await world.open('todo.html');
    await see();
    expect(await type('New task', 'Buy milk', { submit: true })).toEqual({
      ok: true,
      summary: 'typed into textbox "New task", then pressed Enter',
    });
    await see();
    await type('New task', 'Feed the cat');
    await see();
    await click('Add');
    expect((await see()).text).toContain('2 to do');
    await click('Buy milk');
    const after = await see();
    expect(after.text).toContain('1 to do');
    expect(after.elements.find(({ label }) => label === 'Buy milk')?.states).toContain('checked');
    await click('Delete Feed the cat');
    expect((await see()).text).toContain('Nothing to do');
  });

  test('a form that turns down the first try', async () => {
    const { see, type, click, act, index } = await world.open('form.html');
    await see();
    await type('Name', 'first');
    await type('Name', 'Ada');
    await type('E-mail', 'nobody');
    await click('I accept the terms');
    await click('Paid');
    await type('Born', '1815-12-10');
    expect(await act({ kind: 'select', index: index('Country'), option: ' japan' })).toEqual({
      ok: true,
      summary: 'selected "Japan" in combobox "Country"',
    });
    expect(await type('Born', 'long ago')).toMatchObject({
      ok: false,
      error: expect.stringContaining('does not take such a value (a date is YYYY-MM-DD'),
    });
    await click('Send');
    const turnedDown = await see();
    expect(turnedDown.text).toContain('An e-mail address has an @.');
    const states = Object.fromEntries(
      turnedDown.elements.map(({ label, states: all }) => [label, all]),
    );
    expect(states['E-mail']).toEqual(['invalid']);
    expect(states['Paid']).toEqual(['checked']);
    expect(turnedDown.elements.find(({ label }) => label === 'Country')?.value).toBe('Japan');
    expect(turnedDown.elements.find(({ label }) => label === 'Born')?.value).toBe('1815-12-10');
    await type('E-mail', 'ada@example.org');
    await click('Send');
    expect((await see()).text).toContain('Send again');
    await click('Send');
    expect((await see()).text).toBe('Welcome, Ada');
  });

  test('an option of a list can be clicked', async () => {
    const { see, click } = await world.open('form.html');
    await see();
    expect(await click('Austria')).toEqual({ ok: true, summary: 'selected option "Austria"' });
    expect(await click('Atlantis')).toMatchObject({
      ok: false,
      error: expect.stringContaining('is disabled'),
    });
    expect((await see()).elements.find(({ label }) => label === 'Country')?.value).toBe('Austria');
  });

  test('a button that moves is hit when it stands still', async () => {
    const { see, click } = await world.open('moving.html', {
      limits: { ...QUICK, actionMs: 5000 },
    });
    const { elements } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Save', 'Delete', 'Not saved']);
    expect(await click('Save')).toMatchObject({ ok: true });
    expect((await see()).text).toContain('\nSaved');
  });

  test('a modal that takes the focus', async () => {
    const { see, type, click, act, index } = await world.open('modal.html');
    await see();
    const nick = index('Nickname');
    await type('Nickname', 'A');
    expect((await see()).elements[0]?.kind).toBe('dialog');
    // The field is behind the dialog now: the newest observation hasn't got it.
    await click('Close it');
    const closed = await see();
    expect(closed.text).toContain('Closed');
    expect(closed.elements[nick]).toMatchObject({ label: 'Nickname', value: 'A' });
    expect(await act({ kind: 'click', index: nick })).toMatchObject({ ok: true });
  });

  test('what was observed is what is acted on, of two that are called the same', async () => {
    const { see, act } = await world.open('twins.html');
    const { elements } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Remove', 'Remove', 'Nobody removed']);
    await act({ kind: 'click', index: 1 });
    expect((await see()).text).toContain('Bob removed');
    await act({ kind: 'double_click', index: 0 });
    expect((await see()).text).toContain('Ada removed');
  });

  test('in frames and shadow trees', async () => {
    const frames = await world.open(`frames.html?far=${world.far.url}`);
    await frames.see();
    for (const which of ['near', 'far']) {
      expect(await frames.type(`Field ${which}`, `to ${which}`)).toMatchObject({ ok: true });
    }
    expect((await frames.see()).text).toBe('Before\nTyped to near\nBetween\nTyped to far\nAfter');
    const shadow = await world.open('shadow.html');
    await shadow.see();
    await shadow.click('Shadow button');
    expect((await shadow.see()).text).toContain('Shadow button clicked');
  });

  test('in every language', async () => {
    const { see, click, type } = await world.open('languages.html');
    await see();
    await click('حذف الحساب');
    expect((await see()).text).toContain('تم الحذف');
    await type('姓名', '李小龙 🐉');
    expect((await see()).elements.find(({ label }) => label === '姓名')?.value).toBe('李小龙 🐉');
  });

  test('far below the window', async () => {
    const { see, click } = await world.open('long.html');
    await see();
    expect(await click('Bottom')).toMatchObject({ ok: true });
    expect((await see()).text).toContain('Reached');
  });

  test('scrolling where there is nowhere to go fails', async () => {
    const { act } = await world.open('long.html');
    expect(await act({ kind: 'scroll', direction: 'up', by: 100 })).toEqual({
      ok: false,
      error: 'nothing scrolled up: it is at its end, or has nowhere to scroll',
    });
    expect(await act({ kind: 'scroll', direction: 'right', by: 100 })).toMatchObject({ ok: false });
  });

  test('rich text is replaced', async () => {
    const { see, type } = await world.open('visible.html');
    await see();
    expect(await type('Editable', 'new words')).toMatchObject({ ok: true });
    expect((await see()).elements.find(({ label }) => label === 'Editable')?.value).toBe(
      'new words',
    );
  });

  test('keys go to what has the focus; one that is unknown fails', async () => {
    const { see, click, act } = await world.open('todo.html');
    await see();
    await click('New task');
    for (const key of ['a', 'Shift+B', 'Control+a', 'x', 'Enter']) {
      expect(await act({ kind: 'press', key })).toEqual({ ok: true, summary: `pressed ${key}` });
    }
    expect((await see()).elements.map(({ label }) => label)).toContain('Delete x');
    expect(await act({ kind: 'press', key: 'Bogus' })).toEqual({
      ok: false,
      error: 'there is no key "Bogus"; keys are named as Enter, Escape, ArrowDown, Control+a',
    });
  });

  test('waiting takes the time of the clock, and no more than the limit', async () => {
    const clock = fakeClock();
    const { act } = await world.open('twins.html', { clock });
    let result: unknown;
    const waiting = act({ kind: 'wait', milliseconds: 90_000 }).then((done) => (result = done));
    await clock.advance(59_999);
    expect(result).toBeUndefined();
    await clock.advance(1);
    await waiting;
    expect(result).toEqual({ ok: true, summary: 'waited 60000 ms, the most there is' });
    expect(clock.pending).toBe(0);
  });

  test('the error names the element and what is wrong with it', async () => {
    const { see, act, screen, index } = await world.open('form.html');
    await see();
    await screen.page.evaluate(`{
      const cover = document.createElement('div');
      cover.id = 'cookies';
      cover.textContent = 'We use cookies';
      cover.style.cssText = 'position: fixed; inset: 0 0 50% 0; background: white';
      document.body.append(cover);
      document.querySelector('fieldset').remove();
      document.getElementById('terms').parentElement.style.display = 'none';
    }`);
    const type = { kind: 'type', text: 'x', submit: false, isSecret: false } as const;
    const errors: Record<string, Parameters<typeof act>[0]> = {
      'element 1 ("Name") is covered by <div> "We use cookies"': { kind: 'click', index: 1 },
      'element 8 ("Free") is not on the screen any more': { kind: 'click', index: 8 },
      'element 10 ("Born") does not take such a value (a date is YYYY-MM-DD, a time HH:MM, a colour #rrggbb)':
        { ...type, index: 10 },
      'element 11 ("Notes") is read-only': { ...type, index: 11 },
      'element 12 ("I accept the terms") is not visible': { kind: 'click', index: 12 },
      'element 13 ("Send") is not a field that can be typed into': { ...type, index: 13 },
      'element 14 ("Import") is disabled': { kind: 'click', index: 14 },
      'element 13 ("Send") is not a list of the browser: click it, then click the option': {
        kind: 'select',
        index: 13,
        option: 'x',
      },
      'element 3 ("Country") has no option "Mars" (there is "Choose …", "Austria", "Japan", "Atlantis")':
        { kind: 'select', index: 3, option: 'Mars' },
      'element 3 ("Country") has the option "Atlantis", but it is disabled': {
        kind: 'select',
        index: 3,
        option: 'Atlantis',
      },
      'element 99 is not on the screen': { kind: 'click', index: 99 },
    };
    expect(index('Import')).toBe(14);
    for (const [error, action] of Object.entries(errors)) {
      expect(await act(action)).toEqual({ ok: false, error });
    }
  });

  test('an element of a page that is gone is not on the screen any more', async () => {
    const { see, act, screen } = await world.open('twins.html');
    await see();
    await screen.page.goto(`${world.near.url}/twins.html?again`);
    expect(await act({ kind: 'click', index: 0 })).toEqual({
      ok: false,
      error: 'element 0 ("Remove") is not on the screen any more',
    });
  });

  test('navigation: allowed origins only, whatever the spelling', async () => {
    const { see, act } = await world.open('twins.html');
    const { near, far } = world;
    expect(await act({ kind: 'navigate', url: 'todo.html' })).toMatchObject({ ok: true });
    expect((await see()).title).toBe('To do');
    expect(await act({ kind: 'navigate', url: '/nowhere.html' })).toEqual({
      ok: true,
      summary: 'navigated to "/nowhere.html" (the server answered 404)',
    });
    const refused = [
      `${far.url}/todo.html`,
      'about:blank',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,hello',
      'chrome://version',
      `blob:${near.url}/1`,
      `${near.url.replace('127.0.0.1', 'localhost')}/todo.html`,
    ];
    for (const url of refused) {
      const error = `${JSON.stringify(url)} is not allowed: only ${near.url} is`;
      expect(await act({ kind: 'navigate', url })).toEqual({ ok: false, error });
    }
    expect(await act({ kind: 'navigate', url: 'http://[' })).toEqual({
      ok: false,
      error: '"http://[" is no address',
    });
    const asked = far.asked.length;
    expect(await act({ kind: 'navigate', url: `/redirect?${far.url}/todo.html` })).toMatchObject({
      ok: false,
      error: expect.stringContaining(`it leads to ${far.url}/todo.html (refused`),
    });
    expect(await act({ kind: 'navigate', url: '/file.csv' })).toMatchObject({ ok: false });
    expect((await see()).url).toBe(`${near.url}/nowhere.html`);
    expect(far.asked.slice(asked)).toEqual([]);
  });

  test('an address that does not answer', async () => {
    const { act, see } = await world.open('twins.html', {
      limits: { ...QUICK, navigateMs: 200 },
    });
    expect(await act({ kind: 'navigate', url: '/never' })).toEqual({
      ok: false,
      error: '"/never" did not answer within 200 ms',
    });
    expect((await see()).title).toBe('Two of a kind');
  });

  test('an address where nobody is', async () => {
    const { act } = await world.open('twins.html', {
      allowedOrigins: [world.near.url, 'http://127.0.0.1:1'],
    });
    expect(await act({ kind: 'navigate', url: 'http://127.0.0.1:1/' })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/could not be reached \(ERR_/u),
    });
  });

  test('a link whose server does not answer is given up', async () => {
    const { see, click, screen } = await world.open('twins.html', {
      limits: { ...QUICK, navigateMs: 100 },
    });
    await screen.page.setContent('<a href="/never">Never</a> <a href="/todo.html">Other</a>');
    await see();
    expect(await click('Never')).toEqual({ ok: true, summary: 'clicked link "Never"' });
    expect((await see()).text).toBe('[loading] no answer within 100 ms (stopped)\nNever Other');
    // It is the page that it was, and goes on.
    expect(await click('Other')).toMatchObject({ ok: true });
    expect((await see()).title).toBe('To do');
  });

  test('secrets: no value, no message, no echo', async () => {
    const { see, type, click, screen, act, index } = await world.open('password.html');
    const first = await see();
    expect(first.elements.find(({ label }) => label === 'Password')).not.toHaveProperty('value');
    expect(first.elements.find(({ label }) => label === 'Password')?.states).toEqual(['password']);
    const secret = 'correct horse & battery';
    const said = [
      await type('User', 'ada'),
      await type('Password', secret, { isSecret: true }),
      await type('API key', 'k&y', { isSecret: true }),
      // A field that takes none, so that there is an error.
      await act({
        kind: 'type',
        index: index('Sign in'),
        text: secret,
        submit: false,
        isSecret: true,
      }),
      await click('Show the password'),
    ];
    const shown = await see();
    await click('Sign in');
    // The text under the heading, that is.
    const after = await see();
    const all = JSON.stringify([said, shown, after]);
    expect(all).not.toContain(secret);
    expect(all).not.toContain('battery');
    expect(JSON.stringify([shown.elements, after.elements.slice(0, -1)])).not.toMatch(/k&y/u);
    expect(said[1]).toEqual({ ok: true, summary: 'typed a secret into textbox "Password"' });
    expect(shown.elements.find(({ label }) => label === 'User')?.value).toBe('ada');
    expect(after.title).toBe('Hello [secret]');
    expect(after.url).toContain('password=[secret]');
    // The page has it, of course.
    expect(await screen.page.title()).toBe(`Hello ${secret}`);
  });

  test('secrets: not where the page cuts them, and not as a role', async () => {
    const { see, type, click, screen } = await world.open('password.html');
    await screen.page.setContent(`
      <label>Password <input type="password" id="p"></label>
      <button onclick="alert('A'.repeat(190) + p.value)">Tell</button>
      <button onclick="this.textContent = 'B'.repeat(190) + p.value">Name</button>
      <button onclick="this.setAttribute('role', p.value)">Role</button>`);
    await see();
    await type('Password', 'hunter2-Zebra', { isSecret: true });
    for (const label of ['Tell', 'Name', 'Role']) await click(label);
    const { text, elements } = await see();
    expect(text).toMatch(/^\[dialog alert\] "A{190}\[secret\]…" \(accepted\)/);
    expect(elements[2]?.label).toMatch(/^B{190}\[secret\]…$/);
    expect(elements[3]).toMatchObject({ label: 'Role', kind: 'button' });
  });

  test('a page whose script hangs is a screen that is gone', async () => {
    const { screen, see } = await world.open('twins.html', {
      limits: { navigateMs: 100, answerMs: 300 },
    });
    await see();
    screen.page.evaluate('for (;;);').catch(() => undefined);
    await expect(screen.observe({ signal })).rejects.toMatchObject({
      name: 'ScreenGoneError',
      message: 'the page has not answered for 400 ms',
    });
  });
});
