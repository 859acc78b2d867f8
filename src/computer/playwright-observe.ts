/// <reference lib="dom" />
/**
 * Looks at a page and its frames, and makes one observation of them.
 *
 * @module
 */
import type { Frame, JSHandle, Page } from 'playwright-core';
import { type Observation, type ScreenElement } from './observation.ts';
import { viewSource, type PageItem, type PageView } from './observe-page.ts';
import { type FrameWindow } from './observe-page-shown.ts';
import { readSight } from './page-sight.ts';
import { type ScreenLimits } from './playwright-limits.ts';

/** Where an element is kept: the look at its document, and its place there; and what the page calls it. */
export interface Place {
  readonly view: JSHandle<PageView>;
  readonly node: number;
  readonly label: string;
  readonly kind: string;
}

/** What was seen, and what it takes to act on it. */
export interface Look {
  readonly page: Page;
  /** Where the page was. */
  readonly address: string;
  readonly observation: Observation;
  /** One for each element. */
  readonly places: readonly Place[];
  /** Lets go of what is kept in the page. */
  dispose(): Promise<void>;
}

/** What is gathered of a frame and those in it. */
interface Sight {
  readonly elements: ScreenElement[];
  readonly places: Place[];
  text: string;
}

interface Given {
  readonly limits: ScreenLimits;
  /** All that is kept in the page. */
  readonly views: JSHandle<PageView>[];
}

/** Where a frame is in the window. */
interface Position {
  readonly left: number;
  readonly top: number;
  readonly isFocused: boolean;
  /** How much larger it is drawn. */
  readonly scale: { readonly x: number; readonly y: number };
  /** What is seen of it; undefined for the window itself. */
  readonly seen?: FrameWindow | undefined;
}

/** A frame that doesn't answer for so long is left out; a page must. */
const FRAME_MS = 2000;

/** Looks at a page as it is at this moment. */
export async function lookAt(page: Page, limits: ScreenLimits): Promise<Look> {
  const views: JSHandle<PageView>[] = [];
  const given = { limits, views };
  const top = { left: 0, top: 0, isFocused: true, scale: { x: 1, y: 1 } };
  const sight = await seeFrame(page.mainFrame(), top, given);
  const title = await page.title();
  const observation = {
    elements: sight.elements.slice(0, limits.elements),
    text: folded(sight.text, limits.text),
    url: plainUrl(page.url()),
    title: folded(title.replaceAll(/\s+/gu, ' '), limits.label),
  };
  return {
    page,
    address: page.url(),
    observation,
    places: sight.places,
    async dispose() {
      await Promise.allSettled(views.map((view) => view.dispose()));
    },
  };
}

/** The first `most` code points of what a page says, its white space folded and its lines kept. */
export function folded(text: string, most: number): string {
  const lines = text
    .toWellFormed()
    .replaceAll(/[\r\u2028\u2029\u0085]/gu, '\n')
    .replaceAll(/[^\S\n]+/gu, ' ')
    .replaceAll(/ ?\n[ \n]*/gu, '\n')
    .trim();
  if (lines.length <= most) return lines;
  const points = Array.from(lines.slice(0, 2 * most + 2));
  return points.length > most ? `${points.slice(0, most - 1).join('')}…` : lines;
}

async function seeFrame(frame: Frame, position: Position, given: Given): Promise<Sight> {
  const source = viewSource(given.limits, position.seen);
  const view: JSHandle<PageView> = await frame.evaluateHandle<PageView>(source);
  given.views.push(view);
  const { items, texts } = readSight(await view.evaluate(({ sight: found }) => found));
  const [first = '', ...others] = texts;
  const sight: Sight = { elements: [], places: [], text: first };
  // At once: those that don't answer are waited for together.
  const children = await Promise.all(
    items.map(async (item) =>
      item.frame === undefined ? undefined : childSight(view, item, position, given),
    ),
  );
  for (const [at, item] of items.entries()) {
    const child = children[at];
    if (child === undefined) {
      // That a frame is there is said even where it can't be looked at.
      sight.elements.push(element(item, position));
      const { node, label, kind } = item;
      sight.places.push({ view, node, label, kind });
    } else {
      for (const each of child.elements) sight.elements.push(each);
      for (const each of child.places) sight.places.push(each);
    }
    if (item.frame !== undefined) sight.text += `\n${child?.text ?? ''}\n${others.shift() ?? ''}`;
  }
  return sight;
}

async function childSight(
  view: JSHandle<PageView>,
  item: PageItem,
  position: Position,
  given: Given,
): Promise<Sight | undefined> {
  const frame = await childFrame(view, item.node);
  return frame === null ? undefined : inTime(seeFrame(frame, inside(item, position), given));
}

async function childFrame(view: JSHandle<PageView>, node: number): Promise<Frame | null> {
  const handle = await view.evaluateHandle(({ nodes }, at) => nodes[at], node);
  try {
    return (await handle.asElement()?.contentFrame()) ?? null;
  } finally {
    await handle.dispose();
  }
}

/** What a frame shows, unless it goes away or doesn't answer. */
async function inTime(work: Promise<Sight>): Promise<Sight | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, FRAME_MS, undefined);
  });
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

function inside({ x, y, states, frame }: PageItem, around: Position): Position {
  const has = states?.includes('focused') === true;
  const { left, top, isFocused, scale } = around;
  const own = frame?.scale ?? { x: 1, y: 1 };
  return {
    left: left + x * scale.x,
    top: top + y * scale.y,
    isFocused: isFocused && has,
    scale: { x: scale.x * own.x, y: scale.y * own.y },
    seen: frame,
  };
}

function element(item: PageItem, { left, top, isFocused, scale }: Position): ScreenElement {
  const { label, kind, width, height, value } = item;
  // A frame remembers its focus while another has it.
  const states = (item.states ?? []).filter((state) => isFocused || state !== 'focused');
  return {
    label,
    kind,
    x: Math.round(left + item.x * scale.x),
    y: Math.round(top + item.y * scale.y),
    width: Math.max(1, Math.round(width * scale.x)),
    height: Math.max(1, Math.round(height * scale.y)),
    ...(value === undefined ? {} : { value }),
    ...(states.length === 0 ? {} : { states }),
  };
}

/** An address without the name and password that may be in it. */
function plainUrl(text: string): string {
  if (!URL.canParse(text)) return text.toWellFormed();
  const url = new URL(text);
  if (url.username === '' && url.password === '') return text;
  url.username = '';
  url.password = '';
  return url.href;
}
