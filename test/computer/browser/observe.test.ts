import { expect, test } from 'vitest';
import {
  observationDigest,
  screenDigest,
  type Observation,
} from '../../../src/computer/observation.ts';
import { describeInBrowser, QUICK, signal } from './support.ts';

/** An element on one line: `checkbox "Own box" = value (states)`. */
function lines({ elements }: Observation): string[] {
  return elements.map(({ kind, label, value, states }) => {
    const held = value === undefined ? '' : ` = ${JSON.stringify(value)}`;
    return `${kind} ${JSON.stringify(label)}${held}${states === undefined ? '' : ` (${states.join(' ')})`}`;
  });
}

/** Beginnings of pages on which all that follows is shown, in place of an `@` or at the end. */
const ALL_SHOWN: readonly (readonly [string, string])[] = [
  ['all is fixed', `<body style="margin:0;overflow:hidden"><div style="position:fixed;inset:0">`],
  [
    'the root is fixed',
    `<style>body{margin:0;overflow-x:hidden}</style><div style="position:fixed">`,
  ],
  ['all floats', `<body style="margin:0;overflow:auto"><div style="float:left">`],
  [
    'in a frame',
    `<iframe srcdoc="<body style='margin:0;overflow:hidden'><div style='position:fixed'>@"></iframe>`,
  ],
  ['out of a folded box', `<div style="height:0;overflow:hidden"><div style="position:fixed">`],
  [
    'placed by what is further out',
    `<div style="height:0;overflow:hidden"><p style="position:absolute">`,
  ],
  ['a dialog in one', `<div style="height:0;overflow:hidden"><dialog style="position:absolute">`],
  ['in a box without height that cuts nothing', `<div style="height:0">`],
  [
    'in a list that scrolls from its end',
    `<div style="height:50px;overflow:auto;display:flex;flex-direction:column-reverse"><p style="flex:none;height:900px">`,
  ],
  [
    'in a list that was scrolled',
    `<div style="height:50px;overflow:auto" onscroll=""><p style="height:900px">`,
  ],
  [
    'below the edge of a frame',
    `<iframe height=50 srcdoc="<p style='height:200px'></p>@"></iframe>`,
  ],
  [
    'below the edge of a frame that is cut',
    `<div style="height:50px;overflow:hidden"><iframe height=200 srcdoc="<p style='height:900px'></p>@"></iframe></div>`,
  ],
  [
    'in a frame of a box that scrolls',
    `<div style="height:50px;overflow:auto"><iframe height=400 srcdoc="<p style='height:200px'></p>@"></iframe></div>`,
  ],
  [
    'in a frame that is drawn larger',
    `<div style="zoom:2"><iframe height=100 srcdoc="<p style='height:70px;margin:0'></p>@"></iframe></div>`,
  ],
  ['open details, without a box', `<details open><p style="display:contents">`],
  ['the front of a card', `<div style="backface-visibility:hidden">`],
  [
    'the back of a card that is turned',
    `<div style="transform-style:preserve-3d;rotate:y 180deg"><div style="backface-visibility:hidden;transform:rotateY(180deg)">`,
  ],
  ['a back that shows', `<div style="transform:rotateY(180deg)">`],
  [
    'at the end of a box that is drawn larger',
    `<div style="zoom:2;width:100px;height:50px;overflow:auto"><p style="height:900px">`,
  ],
  [
    'at the end of one that is scaled',
    `<div style="transform:scale(2);transform-origin:0 0;width:100px;height:50px;overflow:auto"><p style="height:900px">`,
  ],
];

/** Beginnings of pages on which nothing that follows is shown. */
const NOT_SHOWN: readonly (readonly [string, string])[] = [
  ['a folded box', `<div style="height:0;overflow:hidden">`],
  ['a folded box with a border', `<div style="height:0;overflow:hidden;border:2px solid">`],
  [
    'what is placed in a folded box',
    `<div style="height:0;overflow:hidden;position:relative"><p style="position:absolute">`,
  ],
  [
    'what is fixed to a folded box',
    `<div style="height:0;overflow:hidden;transform:scale(1)"><p style="position:fixed">`,
  ],
  [
    'the end of a box that cuts it off',
    `<div style="height:20px;overflow:hidden"><p style="height:50px;margin:0"></p>`,
  ],
  ['left of the page', `<div style="position:absolute;left:-9999px">`],
  ['above the page', `<div style="position:fixed;top:0;transform:translateY(-200%)">`],
  ['below a window that is fixed', `<div style="position:fixed;top:100%">`],
  [
    'right of a page that does not scroll there',
    `<body style="overflow-x:hidden"><div style="position:absolute;left:100%">`,
  ],
  [
    'before the beginning of a list',
    `<div style="height:50px;overflow:auto;position:relative"><p style="height:900px"><b style="position:absolute;top:-100px">`,
  ],
  ['scaled to nothing', `<div style="transform:scale(0)">`],
  ['cut away', `<div style="clip-path:inset(100%)">`],
  ['cut away on one side', `<div style="clip-path:inset(0 100% 0 0 round 2px)">`],
  ['cut to a point', `<div style="clip-path:polygon(0 0, 0 0, 0 0)">`],
  ['cut to a circle of no size', `<div style="clip-path:circle(0)"><p style="position:fixed">`],
  ['for screen readers', `<div style="position:absolute;clip:rect(0,0,0,0)">`],
  [
    'for screen readers, in one pixel',
    `<div style="position:absolute;width:1px;height:1px;overflow:hidden">`,
  ],
  ['content that is skipped', `<div style="content-visibility:hidden">`],
  ['content that waits to be found', `<div hidden="until-found">`],
  ['closed details', `<details><summary></summary>`],
  ['closed details, without a box', `<details><summary></summary><p style="display:contents">`],
  ['skipped, without a box', `<div style="content-visibility:hidden"><p style="display:contents">`],
  [
    'found by a search, without a box',
    `<div hidden="until-found"><p style="display:contents"><b style="display:contents">`,
  ],
  [
    'painted by itself',
    `<div style="contain:paint;height:20px"><p style="height:50px;margin:0"></p>`,
  ],
  [
    'painted by itself where it is seen',
    `<div style="content-visibility:auto;height:20px"><p style="height:50px;margin:0"></p>`,
  ],
  ['the back of a card', `<div style="backface-visibility:hidden;transform:rotateY(180deg)">`],
  ['the back of another', `<div style="backface-visibility:hidden;rotate:1 0 0 180deg">`],
  ['the back of a third', `<div style="backface-visibility:hidden;rotate:y 150deg">`],
  [
    'the front of a card that is turned',
    `<div style="transform-style:preserve-3d;transform:rotateY(180deg)"><div style="backface-visibility:hidden">`,
  ],
  ['a frame of a pixel', `<iframe width=1 height=1 srcdoc="Saved"></iframe><p hidden>`],
  [
    'below the edge of a frame that does not scroll',
    `<iframe scrolling=no height=50 srcdoc="<p style='height:200px'></p>Saved"></iframe><p hidden>`,
  ],
  [
    'what is cut off of a frame',
    `<div style="height:50px;overflow:hidden"><iframe height=400 srcdoc="<p style='height:200px'></p>Saved"></iframe></div><p hidden>`,
  ],
  [
    'what is fixed to the end of a frame that is cut',
    `<div style="height:50px;overflow:hidden"><iframe height=400 srcdoc="<p style='position:fixed;bottom:0'>Saved"></iframe></div><p hidden>`,
  ],
  ['what drawings are made of', `<svg><defs><text y=20>`],
  ['a shape that cuts', `<svg><clipPath id=a><text y=20>`],
  ['a mask', `<svg><mask id=a><text y=20>`],
  ['letters without a colour', `<svg><text y=20 fill=none>`],
  ['letters that are clear', `<svg><text y=20 fill-opacity=0>`],
  ['beyond the edge of a drawing', `<svg width=50 height=50><text y=20 x=300>`],
];

/** A busy machine takes its time. */
const POLL = { timeout: 60_000 };

describeInBrowser('observe', (world) => {
  test('names what is seen, and only that, in reading order', async () => {
    const { see } = await world.open('visible.html');
    const observation = await see();
    expect(lines(observation)).toEqual([
      'heading "What is seen"',
      'button "Plain"',
      'button "More"',
      'button "Less" (expanded)',
      'button "In open details"',
      'button "In contents"',
      'checkbox "Own box" (checked)',
      'link "Heading link"',
      'link "Link heading"',
      'link "Picture link"',
      'img "A tree"',
      'img "Chart"',
      'generic "With a handler"',
      'generic "With a hand"',
      'generic "With a tab stop"',
      'button "Pressed" (pressed)',
      'switch "Switched on" (checked)',
      'tab "First tab" (selected)',
      'tab "Second tab" (disabled)',
      'button "Named by others"',
      'button "Named on one line"',
      'textbox "By its title" = ""',
      'textbox "By its placeholder" = "" (required)',
      'button "Submit"',
      'button "By its alt"',
      'textbox "Editable" = "some rich text"',
      'listbox "Many of them" = "One"',
      'option "One" (selected)',
      'option "Two"',
      'progressbar "Half way" = "1"',
      'textbox "Written" = "in a field"',
    ]);
    expect(observation.title).toBe('What is seen');
    expect(observation.url).toBe(`${world.near.url}/visible.html`);
  });

  test('the text is what is seen, its white space folded and its lines kept', async () => {
    const { see } = await world.open('visible.html');
    const { text } = await see();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'What is seen',
        'line one',
        'line two',
        'left right',
        'broken',
        'line',
      ]),
    );
    expect(text).toContain('but this');
    for (const hidden of [
      'inert',
      'transparent',
      'folded',
      'No display',
      'Invisible',
      'In details',
    ]) {
      expect(text).not.toContain(hidden);
    }
    expect(text).not.toMatch(/ {2}|\n\n|eyes only|no script|in a field/u);
  });

  test('places are whole pixels of the window, before and after it is scrolled', async () => {
    const { see, act, screen } = await world.open('long.html');
    const before = await see();
    expect(before.elements.map(({ label }) => label)).toEqual(['Top', 'Bottom', '—']);
    for (const { x, y, width, height } of before.elements) {
      expect([x, y, width, height].every(Number.isInteger)).toBe(true);
    }
    expect(before.elements[1]?.y).toBeGreaterThan(3000);
    expect(await act({ kind: 'scroll', direction: 'down', by: 500 })).toEqual({
      ok: true,
      summary: 'scrolled down by 500',
    });
    const after = await see();
    expect(after.elements[1]?.y).toBe((before.elements[1]?.y ?? 0) - 500);
    expect(await screen.page.evaluate('scrollY')).toBe(500);
  });

  test('frames of both origins are in their place in the order and in the window', async () => {
    const { see } = await world.open(`frames.html?far=${world.far.url}`);
    const { elements, text } = await see();
    expect(elements.map(({ label }) => label)).toEqual([
      'Before',
      'Field near',
      'Field far',
      'After',
    ]);
    // Margin 10, border 5, padding 3, and the field at 20, 40 in the frame.
    const heading = elements[0]!;
    expect(elements[1]).toMatchObject({ x: 38, width: 100, height: 20 });
    expect(elements[2]!.y - elements[1]!.y).toBeGreaterThan(120);
    expect(elements[1]!.y).toBeGreaterThan(heading.y + heading.height + 40);
    expect(text).toBe('Before\nInside near\nBetween\nInside far\nAfter');
  });

  test('frames that are drawn smaller, and one in another', async () => {
    const { see, screen } = await world.open('twins.html');
    const button = `<button style='position:absolute;left:100px;top:60px;width:80px;height:40px'>Go</button>`;
    const inner = `<style>body{margin:0}</style>${button}<iframe style='position:absolute;left:20px;top:20px;border:0;scale:.5;transform-origin:0 0' srcdoc="${button.replaceAll("'", '&quot;')}"></iframe>`;
    await screen.page.setContent(
      `<iframe style="position:absolute;left:40px;top:10px;border:10px solid;padding:0;scale:.5;transform-origin:0 0;width:600px;height:400px"></iframe>`,
    );
    await screen.page.evaluate((html) => {
      const frame = document.querySelector('iframe');
      if (frame !== null) frame.srcdoc = html;
    }, inner);
    await expect.poll(async () => (await see()).elements.length, POLL).toBe(2);
    expect((await see()).elements.map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
      [95, 45, 40, 20],
      [80, 40, 20, 10],
    ]);
  });

  test.each([
    [1, 'Field near'],
    [2, 'Field far'],
  ])(
    'the place of what is in a frame is where the mouse finds it: %i, %s',
    async (index, label) => {
      const { see, click, screen } = await world.open(`frames.html?far=${world.far.url}`);
      const { x, y, width, height } = (await see()).elements[index]!;
      const corners = [
        [x, y, true],
        [x + width - 1, y + height - 1, true],
        [x - 2, y, false],
        [x + width - 1, y + height + 1, false],
      ] as const;
      for (const [left, top, isInside] of corners) {
        await see();
        await click('After');
        await screen.page.mouse.click(left, top);
        // The focus goes to a frame of another process in its own time.
        const hasFocus = async (): Promise<boolean> => {
          const { elements } = await see();
          expect(elements[index]).toMatchObject({ label });
          return elements[index]?.states?.includes('focused') === true;
        };
        await expect.poll(hasFocus, POLL).toBe(isInside);
      }
    },
  );

  test('only the frame that has the focus says so', async () => {
    const { see, click } = await world.open(`frames.html?far=${world.far.url}`);
    await see();
    await click('Field near');
    await see();
    await click('Field far');
    const { elements } = await see();
    expect(elements.map(({ states }) => states ?? [])).toEqual([[], [], ['focused'], []]);
  });

  test('shadow trees are read as they are rendered, slots included', async () => {
    const { see } = await world.open('shadow.html');
    const observation = await see();
    expect(lines(observation)).toEqual([
      'heading "Light"',
      'heading "Slotted title"',
      'textbox "Amount" = "3"',
      'button "Slotted button"',
      'button "Shadow button"',
      'status "Nothing"',
    ]);
    expect(observation.text).toBe(
      'Light\nSlotted title\nAmount Slotted button Shadow button\nNothing\nAfter',
    );
  });

  test('text of every language, and half an emoji, has a digest', async () => {
    const { see } = await world.open('languages.html');
    const observation = await see();
    expect(lines(observation)).toEqual([
      'heading "语言"',
      'button "保存"',
      'button "حذف الحساب"',
      'button "🚀 Launch 👩‍👩‍👧"',
      'textbox "姓名" = ""',
      'status "—"',
    ]);
    expect(observation.text).toContain('مرحبا بالعالم');
    expect(observation.text).toContain('half \uFFFD end');
    expect(observation.title).toBe('语言 لغات 🌍');
    expect(observationDigest(observation)).toMatch(/^[0-9a-f]{16}$/u);
    expect(screenDigest(observation)).toMatch(/^[0-9a-f]{64}$/u);
  });

  test('states of fields, and the options of a list', async () => {
    const { see } = await world.open('form.html');
    expect(lines(await see())).toEqual([
      'heading "Register"',
      'textbox "Name" = "" (required)',
      'textbox "E-mail" = ""',
      'combobox "Country" = "Choose …"',
      'option "Choose …" (selected)',
      'option "Austria"',
      'option "Japan"',
      'option "Atlantis" (disabled)',
      'radio "Free" (checked)',
      'radio "Paid"',
      'textbox "Born" = ""',
      'textbox "Notes" = "As agreed" (readonly)',
      'checkbox "I accept the terms"',
      'button "Send"',
      'button "Import" (disabled)',
    ]);
  });

  test('a modal dialog hides what is behind it', async () => {
    const { see, click } = await world.open('modal.html');
    await see();
    await click('Close account');
    const { elements, text } = await see();
    expect(elements.map(({ kind, label }) => `${kind} ${label}`)).toEqual([
      'dialog Close the account?',
      'heading Close the account?',
      'button Keep it',
      'button Close it',
    ]);
    expect(text).toBe("Close the account?\nThis can't be undone.\nKeep it Close it");
  });

  test('a box cuts only what is placed in it', async () => {
    const { see, screen } = await world.open('twins.html');
    const inside = '<button>Save</button> Words';
    for (const [name, before] of ALL_SHOWN) {
      const html = before.includes('@') ? before.replace('@', inside) : before + inside;
      await screen.page.setContent(`<!doctype html>${html}`);
      await screen.page.evaluate(() => {
        document.querySelector('dialog')?.showModal();
        document.querySelector('[onscroll]')?.scrollBy(0, 300);
      });
      const { elements, text } = await see();
      const buttons = elements.filter(({ kind }) => kind === 'button');
      expect(
        buttons.map(({ label }) => label),
        name,
      ).toEqual(['Save']);
      expect(text, name).toBe('Save Words');
    }
  });

  test('what is not shown is neither text nor an element', async () => {
    const { see, screen } = await world.open('twins.html');
    const inside = 'Saved <button>Saved</button><label>Saved <input type="checkbox"></label>';
    for (const [name, before] of NOT_SHOWN) {
      await screen.page.setContent(`<!doctype html>${before}${inside}`);
      const { elements, text } = await see();
      expect(text, name).toBe('');
      expect(
        elements.filter(({ label }) => label !== ''),
        name,
      ).toEqual([]);
    }
  });

  test('what a field holds is its value, not text of the page, whatever makes it one', async () => {
    const { see, screen } = await world.open('twins.html');
    const fields = [
      '<div contenteditable>milk <b>and</b> <a href="#x">bread</a></div>',
      '<div contenteditable="plaintext-only" role="document" aria-label="Notes">milk</div>',
      '<iframe srcdoc="<body contenteditable>milk"></iframe>',
      '<iframe srcdoc="<script>document.designMode = \'on\'</script>milk"></iframe>',
    ];
    await screen.page.setContent(`${fields.join('')}<p contenteditable="false">Page`);
    const { elements, text } = await see();
    expect(text).toBe('Page');
    expect(elements.map(({ kind, value }) => `${kind} ${value}`)).toEqual([
      'textbox milk and bread',
      'link undefined',
      'document milk',
      'textbox milk',
      'textbox milk',
    ]);
  });

  test('a text that shows nothing is none', async () => {
    const { see, screen } = await world.open('twins.html');
    const hidden = [
      '<p style="text-indent:-999px">Saved',
      '<p style="font-size:0">Saved',
      '<p style="color:transparent">Saved',
      '<p style="color:rgba(255,255,255,0)">Saved',
      '<p style="color:oklch(0.5 0.1 20 / 0)">Saved',
      '<progress>Saved</progress>',
    ];
    await screen.page.setContent(`<!doctype html>${hidden.join('')}`);
    expect((await see()).text).toBe('');
    const gradient = 'background:linear-gradient(red, blue);background-clip:text';
    await screen.page.setContent(
      `<p style="color:transparent;text-shadow:0 0 2px red">One<p style="color:transparent;${gradient}">Two <b>Three`,
    );
    expect((await see()).text).toBe('One\nTwo Three');
  });

  test('a field that shows dots holds a secret, also once it shows what it holds', async () => {
    const { see, screen } = await world.open('twins.html');
    const dots = 'style="-webkit-text-security:disc"';
    await screen.page.setContent(
      `<textarea aria-label=A ${dots}>hunter2</textarea><div role=textbox contenteditable aria-label=B ${dots}>hunter2</div><input aria-label=C id=c type=password value=hunter2>`,
    );
    const states = async (): Promise<unknown> =>
      (await see()).elements.map(({ value, states: has }) => [value, has?.includes('password')]);
    const hidden = ['A', 'B', 'C'].map(() => [undefined, true]);
    expect(await states()).toEqual(hidden);
    await screen.page.evaluate("c.type = 'text'; c.ariaLabel = 'D'");
    expect(await states()).toEqual(hidden);
  });

  test('the same page gives the same observation', async () => {
    const { see } = await world.open('form.html');
    expect(await see()).toEqual(await see());
  });

  test('5,000 elements', async () => {
    const { see } = await world.open('many.html');
    const { elements, text } = await see();
    expect(elements).toHaveLength(5001);
    expect(elements[5000]).toMatchObject({ kind: 'button', label: 'Delete 1250' });
    expect(text).toMatch(/Item 1250 Edit 1250 Delete 1250 in stock: 4$/u);
  });

  test('a page that differs far down has another digest, and its end is text', async () => {
    const { see, screen } = await world.open('twins.html');
    const digests = new Set<string>();
    for (const end of ['Saved: A', 'Error: B']) {
      await screen.page.setContent(`<p>${'word '.repeat(150_000)}<p>${end}`);
      const observation = await see();
      expect(observation.text.endsWith(`word\n${end}`)).toBe(true);
      digests.add(screenDigest(observation));
    }
    expect(digests.size).toBe(2);
  });

  test('what is behind a modal dialog takes none of its room', async () => {
    const limits = { ...QUICK, text: 20, elements: 2 };
    const { see, screen } = await world.open('twins.html', { limits });
    const behind = '<button>behind it</button>'.repeat(20);
    await screen.page.setContent(`${behind}<dialog>Order 17 saved<button>OK</button></dialog>`);
    await screen.page.evaluate(() => {
      document.querySelector('dialog')?.showModal();
    });
    const { elements, text } = await see();
    expect(text).toBe('Order 17 saved OK');
    expect(lines({ elements, text })).toEqual(['dialog ""', 'button "OK" (focused)']);
  });

  test('limits hold, in code points', async () => {
    const limits = { ...QUICK, text: 40, label: 5, elements: 3, options: 1 };
    const { see, screen } = await world.open('form.html', { limits });
    const { elements, text } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Regi…', 'Name', 'E-ma…']);
    expect(Array.from(text)).toHaveLength(40);
    await screen.page.setContent(`<button>${'😀'.repeat(9)}</button>`);
    expect((await see()).elements[0]?.label).toBe('😀😀😀😀…');
  });

  test('a page that still loads is waited for', async () => {
    const { see, act } = await world.open('twins.html');
    await act({ kind: 'navigate', url: '/slow' });
    expect((await see()).text).toBe('First\nSecond');
  });

  test('a page that never stops changing is looked at as it is', async () => {
    const { see, click } = await world.open('spinner.html');
    const { elements } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Report', 'Loading the report', 'Cancel']);
    expect(await click('Cancel')).toEqual({ ok: true, summary: 'clicked button "Cancel"' });
  });

  test('a page that never loads is looked at as it is', async () => {
    const { see, screen } = await world.open('twins.html', { limits: { ...QUICK, loadMs: 100 } });
    await screen.page.evaluate(
      `document.write('<h1>Half</h1><script src="/never"></script><h1>Page')`,
    );
    expect((await see()).elements.map(({ label }) => label)).toContain('Half');
  });

  test('a frame that does not answer is named', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(
      `<p>Outside</p><iframe title="Stuck" src="${world.far.url}/inner.html"></iframe><p>After</p>`,
    );
    const stuck = screen.page.frames()[1]!;
    await stuck.waitForLoadState();
    stuck.evaluate('for (;;);').catch(() => undefined);
    const { elements, text } = await see();
    expect(elements.map(({ kind, label }) => `${kind} ${label}`)).toEqual(['iframe Stuck']);
    expect(text).toBe('Outside\nAfter');
  });

  test('a form whose fields are called like its members is no trap', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(
      '<form><input name="title" aria-label="Title"><input name="children" aria-label="C"><input name="hidden" aria-label="H"><button>Go</button></form>',
    );
    expect((await see()).elements.map(({ label }) => label)).toEqual(['Title', 'C', 'H', 'Go']);
  });

  test.each([
    'attributes childNodes children contains getAttribute getBoundingClientRect getRootNode hasAttribute',
    'checkVisibility closest localName matches nodeType parentElement querySelector shadowRoot style',
  ])('a form whose fields are called %s is looked at', async (names) => {
    const { see, screen } = await world.open('twins.html');
    const fields = names.split(' ').map((name) => `<input name="${name}" aria-label="${name}">`);
    await screen.page.setContent(`<form>${fields.join('')}<button>Go</button>and more</form>`);
    const { elements, text } = await see();
    expect(elements.map(({ label }) => label)).toEqual([...names.split(' '), 'Go']);
    expect(text).toBe('Go and more');
    // One that is acted on, and placed.
    await screen.page.evaluate(() => {
      const form = document.querySelector('form');
      const set = (name: string, value: string): void =>
        form === null ? undefined : Element.prototype.setAttribute.call(form, name, value);
      set('tabindex', '0');
      set('aria-label', 'Form');
      set('style', 'position:absolute;cursor:pointer');
    });
    const acted = await see();
    expect(acted.elements.map(({ label }) => label)).toEqual(['Form', ...names.split(' '), 'Go']);
  });

  test.each([
    'body',
    'createElement',
    'createRange',
    'documentElement',
    'elementFromPoint',
    'scrollingElement',
  ])('a picture that is called %s hides nothing', async (name) => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(`<img name="${name}" alt="Picture"><p>Saved</p>`);
    const { elements, text } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Picture']);
    expect(text).toBe('Saved');
  });

  test.each([
    `<svg><text y=20>Saved`,
    `<svg><text y=20 fill=none stroke=black>Saved`,
    `<svg width=50 style="overflow:visible"><text y=20 x=300>Saved`,
    `<svg width=50><g><a href="#x"><text y=20>Saved`,
  ])('the text of a drawing is one: %s', async (html) => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(html);
    expect((await see()).text).toBe('Saved');
  });

  test('what stands beside the body, or was made by another frame, is seen', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(`<p>In the body</p><iframe srcdoc="<p>In a frame</p>"></iframe>`);
    await screen.page.frames()[1]!.waitForLoadState();
    await screen.page.evaluate(() => {
      const [outside, inside] = [document.createElement('div'), document.createElement('div')];
      outside.innerHTML = '<button>Undo</button> Saved';
      inside.innerHTML = '<button>Buy</button> 5';
      document.documentElement.append(outside);
      document.querySelector('iframe')?.contentDocument?.body.append(inside);
    });
    const { elements, text } = await see();
    expect(elements.map(({ label }) => label)).toEqual(['Buy', 'Undo']);
    expect(text).toBe('In the body\nIn a frame\nBuy 5\nUndo Saved');
  });

  test('what is behind a modal dialog beside the body is not seen', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(`<p>Order saved</p>`);
    await screen.page.evaluate(() => {
      const dialog = document.createElement('dialog');
      dialog.textContent = 'Really?';
      document.documentElement.append(dialog);
      dialog.showModal();
    });
    expect((await see()).text).toBe('Really?');
  });

  test('a script that names a class like one of the browser hides no text', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent('<p>Saved</p><script>class Text {}</script>');
    expect((await see()).text).toBe('Saved');
  });

  test.each([
    '<a href="#x" style="display:contents"><div>Card</div></a>',
    '<button style="display:contents" onclick="location.hash=`x`"><div>Card</div></button>',
    '<a href="#x"><img alt="Card" style="float:left;width:50px;height:50px"></a>',
    '<a href="#x"><span style="position:absolute">Card</span></a>',
    '<a href="#x"><i hidden></i><b style="float:right">Card</b></a>',
  ])('a control without a box of its own is pressed where what it holds is: %s', async (html) => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(html);
    const [card, ...others] = (await see()).elements.filter(({ kind }) => kind !== 'img');
    expect(others).toEqual([]);
    expect(card).toMatchObject({ label: 'Card', kind: html.includes('<a') ? 'link' : 'button' });
    const index = (await see()).elements.findIndex(({ kind }) => kind === card?.kind);
    expect(await screen.act({ kind: 'click', index }, { signal })).toMatchObject({ ok: true });
    expect(await screen.page.evaluate('location.hash')).toBe('#x');
  });

  test('a link without a box that holds nothing that is seen is none', async () => {
    const { see, screen } = await world.open('twins.html');
    await screen.page.setContent(
      '<a href="#x" style="visibility:hidden"><b style="float:left">Card</b></a><a href="#x" style="display:contents"><b hidden>Card</b></a><button>Go</button>',
    );
    expect((await see()).elements.map(({ label }) => label)).toEqual(['Go']);
  });

  test('an address is told without the name and password in it', async () => {
    const { screen, see } = await world.open('twins.html');
    await screen.page.goto(world.near.url.replace('//', '//ada:sesame@') + '/todo.html');
    expect((await see()).url).toBe(`${world.near.url}/todo.html`);
  });

  test('a picture is a PNG of the window', async () => {
    const { screen } = await world.open('languages.html');
    const picture = await screen.screenshot();
    expect(Buffer.from(picture.subarray(1, 4)).toString()).toBe('PNG');
    const size = new DataView(picture.buffer, picture.byteOffset);
    expect([size.getUint32(16), size.getUint32(20)]).toEqual([800, 600]);
  });

  test('an abort ends the wait with its reason', async () => {
    const { screen } = await world.open('twins.html');
    const reason = new Error('enough');
    await expect(screen.observe({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = screen.act(
      { kind: 'wait', milliseconds: 50_000 },
      { signal: controller.signal },
    );
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(screen.observe({ signal })).resolves.toMatchObject({ title: 'Two of a kind' });
  });

  test('a page that replaces what is built in is said, in one line', async () => {
    const { screen, see } = await world.open('todo.html');
    await screen.page.evaluate(() => {
      Object.assign(Array.prototype, { toJSON: () => 'mine' });
    });
    await expect(see()).rejects.toThrow(/^the page can't be looked at: its scripts replace/u);
  });
});
