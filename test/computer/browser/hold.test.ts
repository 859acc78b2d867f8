/**
 * What was decided on is what is acted on, whatever the page has made of its nodes meanwhile.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { describeInBrowser, QUICK, type Opened, type World } from './support.ts';

const MOVED = 'is another by now: its label or kind has changed';
const GONE = 'is not on the screen any more';
const byLabel = true;

const paid = async ({ see }: Opened): Promise<string | undefined> =>
  (await see()).elements.find(({ kind }) => kind === 'status')?.label;

/** Payments, with what the page does by itself after it was looked at. */
async function changed(world: World, script: string): Promise<Opened> {
  const opened = await world.open('payments.html', { limits: { ...QUICK, actionMs: 3000 } });
  await opened.see();
  await opened.screen.page.evaluate(script);
  return opened;
}

describeInBrowser('an element that is another by now', (world) => {
  test('that was named by its place is not touched', async () => {
    const opened = await changed(world, "show('mallory', 'ann', 'bob')");
    const error = `element 0 ("Pay ann") ${MOVED}`;
    expect(await opened.act({ kind: 'click', index: 0 })).toEqual({ ok: false, error });
    expect(await opened.act({ kind: 'double_click', index: 0 })).toEqual({ ok: false, error });
    expect(await paid(opened)).toBe('Nothing paid');
  });

  test('that was named by its label is found where it is now', async () => {
    const opened = await changed(world, "show('mallory', 'ann', 'bob')");
    expect(await opened.act({ kind: 'click', index: 0, byLabel })).toEqual({
      ok: true,
      summary: 'clicked button "Pay ann"',
    });
    expect(await paid(opened)).toBe('Nothing paid, paid ann');
  });

  test('that was named by its label, and was drawn anew, is found', async () => {
    const opened = await changed(world, "draw('ann', 'bob', 'cy')");
    expect(await opened.act({ kind: 'click', index: 1 })).toEqual({
      ok: false,
      error: `element 1 ("Pay bob") ${GONE}`,
    });
    expect(await opened.act({ kind: 'click', index: 1, byLabel })).toMatchObject({ ok: true });
    expect(await paid(opened)).toBe('Nothing paid, paid bob');
  });

  test.each([
    ['is nowhere', "show('mallory', 'nan', 'bob')", GONE],
    ['is there twice', "show('mallory', 'ann', 'ann')", `${GONE}, and 2 are labelled the same`],
    [
      'is a link',
      "show('mallory'); buttons[1].setAttribute('role', 'link'); show('m', 'ann')",
      GONE,
    ],
    ['is on another page', "show('mallory', 'ann'); history.pushState(null, '', '?next')", GONE],
  ])('that was named by a label that %s is not touched', async (_name, script, words) => {
    const opened = await changed(world, script);
    expect(await opened.act({ kind: 'click', index: 0, byLabel })).toEqual({
      ok: false,
      error: `element 0 ("Pay ann") ${words}`,
    });
    expect(await paid(opened)).toBe('Nothing paid');
  });

  test('of another role is another', async () => {
    const opened = await changed(world, "buttons[0].setAttribute('role', 'switch')");
    expect(await opened.act({ kind: 'click', index: 0 })).toMatchObject({ ok: false });
    expect(await paid(opened)).toBe('Nothing paid');
  });

  test('when what lies over it goes away is not touched', async () => {
    const opened = await changed(world, "load('mallory', 'bob')");
    expect(await opened.act({ kind: 'click', index: 0, byLabel })).toEqual({
      ok: false,
      error: `element 0 ("Pay ann") ${GONE}`,
    });
    expect(await paid(opened)).toBe('Nothing paid');
  });

  test('when what lies over it goes away is found elsewhere by its label', async () => {
    const opened = await changed(world, "load('mallory', 'bob', 'ann')");
    expect(await opened.act({ kind: 'double_click', index: 0, byLabel })).toMatchObject({
      ok: true,
    });
    expect(await paid(opened)).toBe('Nothing paid, paid ann, paid ann');
  });

  test('when it is enabled is not typed into', async () => {
    const { see, type, screen } = await world.open('form.html', {
      limits: { ...QUICK, actionMs: 3000 },
    });
    await screen.page.evaluate("document.querySelector('#name').disabled = true");
    await see();
    await screen.page.evaluate(`{
      const field = document.querySelector('#name');
      setTimeout(() => {
        field.disabled = false;
        field.setAttribute('aria-label', 'Public note');
      }, 800);
    }`);
    expect(await type('Name', 'for nobody')).toMatchObject({
      ok: false,
      error: expect.stringContaining(MOVED),
    });
    const field = (await see()).elements.find(({ label }) => label === 'Public note');
    expect(field?.value).toBe('');
  });

  test('but what the mouse alone shows more of is the same', async () => {
    const opened = await changed(world, '0');
    expect(await opened.act({ kind: 'click', index: 2 })).toMatchObject({ ok: true });
    expect(await paid(opened)).toBe('Nothing paid, paid cy');
  });
});

/** What says that something was pressed. */
const say = (word: string): string => `onclick="event.stopPropagation(); o.textContent='${word}'"`;

/** A page of one's own writing. */
async function drawn(world: World, html: string): Promise<Opened> {
  const opened = await world.open('payments.html', { limits: { ...QUICK, actionMs: 3000 } });
  await opened.screen.page.setContent(`<!doctype html>${html}<p role=status id=o>Nothing</p>`);
  await opened.see();
  return opened;
}

describeInBrowser('an element that others lie on', (world) => {
  test.each([
    [
      'a box whose label has a link in its middle',
      `<input type=checkbox id=c style="display:none"><label for=c onclick="o.textContent='agreed'" style="display:inline-block">I agree to the <a href="#t" ${say('followed')}>terms and conditions of use</a></label>`,
      'I agree to the terms and conditions of use',
      'agreed',
    ],
    [
      'a card with a button in its middle',
      `<div role=button aria-label="Open order" ${say('opened')} style="padding:40px 160px"><button ${say('deleted')}>Delete</button></div>`,
      'Open order',
      'opened',
    ],
    [
      'a row',
      `<table><tr ${say('opened')} style="cursor:pointer"><td>Anna<td><button ${say('deleted')}>Delete</button><td>2024</table>`,
      'Anna Delete 2024',
      'opened',
    ],
  ])('%s is pressed where they are not', async (_name, html, label, word) => {
    const opened = await drawn(world, html);
    expect(await opened.click(label)).toMatchObject({ ok: true });
    expect(await paid(opened)).toBe(word);
  });

  test('all over is not pressed', async () => {
    const opened = await drawn(
      world,
      `<div role=button aria-label="Open order" ${say('opened')} style="width:90px"><button ${say('deleted')} style="display:block;width:90px;height:40px;margin:0;border:0">Delete</button></div>`,
    );
    expect(await opened.click('Open order')).toEqual({
      ok: false,
      error:
        'element 0 ("Open order") has an element on it that is acted on by itself: act on that, or on what is beside it',
    });
    expect(await paid(opened)).toBe('Nothing');
  });
});

describeInBrowser('a field that hands on its focus', (world) => {
  test.each([false, true])('is not typed into, nor is the other (secret: %s)', async (isSecret) => {
    const opened = await drawn(
      world,
      `<label>Password <input id=a type=password></label><label>Search <input id=b></label>
      <script>a.addEventListener('focus', () => b.focus())</script>`,
    );
    expect(await opened.type('Password', 'hunter2', { isSecret })).toEqual({
      ok: false,
      error:
        'element 0 ("Password") gives what is typed to another element: look which has the focus',
    });
    expect(await opened.screen.page.evaluate('a.value + b.value')).toBe('');
  });
});
