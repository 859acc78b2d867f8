/// <reference lib="dom" />
/**
 * Holds on to the element that an action was decided on, for as long as it is called what it was called: pages use the
 * same nodes again for others.
 *
 * @module
 */
import type { ElementHandle, JSHandle } from 'playwright-core';
import { type PageView } from './observe-page.ts';
import { lookAt, type Look, type Place } from './playwright-observe.ts';
import { type ScreenLimits } from './playwright-limits.ts';

/** Nothing was touched: the element isn't there any more, or is another. The message goes on from its name. */
export class LostError extends Error {
  override readonly name = 'LostError';
}

const GONE = 'is not on the screen any more';
/** Why nothing came through to it. */
const REFUSED: Readonly<Record<string, string>> = {
  changed: 'is another by now: its label or kind has changed',
  inner: 'has an element on it that is acted on by itself: act on that, or on what is beside it',
  unfocused: 'gives what is typed to another element: look which has the focus',
};
const CHANGED = REFUSED['changed'];

/** The node of the element that was observed, which is what it was at this moment. */
export async function nodeAt({ view, node }: Place): Promise<ElementHandle<Element>> {
  let handle: JSHandle<Element | boolean>;
  try {
    handle = await view.evaluateHandle((seen, at) => {
      const found = seen.nodes[at];
      if (found !== undefined && seen.isSame(at)) return found;
      return found?.isConnected === true;
    }, node);
  } catch {
    throw new LostError(GONE); // with its document
  }
  const element = handle.asElement();
  if (element !== null) return element;
  throw new LostError((await handle.jsonValue()) === true ? CHANGED : GONE);
}

/**
 * Acts on an element with mouse or keyboard. What takes its time, until the element is enabled or not covered any
 * more, may find another when it is over: nothing comes through to that.
 *
 * @throws {LostError} if it was another, or is gone, and nothing was touched.
 */
export async function guarded<T>({ view, node }: Place, work: () => Promise<T>): Promise<T> {
  const guard = await view.evaluateHandle(guardOf, node).catch(() => {
    throw new LostError(GONE);
  });
  // The page may be gone because of what was done.
  const end = (): Promise<string> => guard.evaluate((its) => its.end()).catch(() => 'touched');
  try {
    const result = await work();
    const refused = REFUSED[await end()];
    if (refused !== undefined) throw new LostError(refused);
    return result;
  } catch (error) {
    if (error instanceof LostError) throw error;
    const came = await end();
    const refused = REFUSED[came];
    if (refused !== undefined) throw new LostError(refused, { cause: error });
    if (came === 'untouched' && isDetached(error)) throw new LostError(GONE, { cause: error });
    throw error;
  } finally {
    await guard.dispose().catch(() => undefined);
  }
}

function isDetached(error: unknown): boolean {
  return error instanceof Error && error.message.includes('not attached to the DOM');
}

/** Runs in the page: lets through to an element what comes of mouse and keyboard, if it is what it was when that comes. */
function guardOf(view: PageView, place: number): { end(): string } {
  const events = 'pointerdown mousedown pointerup mouseup click dblclick beforeinput'.split(' ');
  const node = view.nodes[place];
  // What shows or hides parts of it when the mouse is over it makes no other of it.
  const written = (): string => {
    const labels: unknown = node === undefined ? [] : Reflect.get(node, 'labels');
    const nodes = [node, ...(labels instanceof NodeList ? labels : [])];
    const names = ['role', 'aria-label', 'alt', 'placeholder', 'title', 'value'];
    return JSON.stringify([
      nodes.map((each) => each?.textContent),
      names.map((name) => node?.getAttribute(name)),
    ]);
  };
  const before = view.isSame(place) ? written() : undefined;
  const isSame = (): boolean =>
    view.isSame(place) || (node?.isConnected === true && written() === before);
  /** What comes to another element: what is typed where the focus went on, a press on what lies on it. */
  const strayed = (event: Event): string | undefined => {
    const path = event.composedPath();
    const at = node === undefined ? -1 : path.indexOf(node);
    if (event.type === 'beforeinput') return at === -1 ? 'unfocused' : undefined;
    const within = new Set(path.slice(0, Math.max(0, at)));
    return view.nodes.some((other) => within.has(other)) ? 'inner' : undefined;
  };
  let came = 'untouched';
  const watch = (event: Event): void => {
    if (!event.isTrusted) return;
    if (came === 'untouched') came = isSame() ? (strayed(event) ?? 'touched') : 'changed';
    if (came === 'touched') return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of events) addEventListener(kind, watch, { capture: true });
  return {
    end() {
      for (const kind of events) removeEventListener(kind, watch, { capture: true });
      return came;
    },
  };
}

/**
 * Looks once more at the page, for the one element that is called the same by now, and acts on that.
 *
 * @throws {LostError} if there isn't one, or the page is another.
 */
export async function onceMore<T>(
  look: Pick<Look, 'page'> & Partial<Look>,
  { label, kind }: Place,
  limits: ScreenLimits,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const next = await lookAt(look.page, limits).catch(() => {
    throw new LostError(GONE);
  });
  try {
    // What is called the same on another page is another.
    const places = next.address === look.address ? next.places : [];
    const [place, ...others] = places.filter((one) => one.label === label && one.kind === kind);
    if (place === undefined) throw new LostError(GONE);
    if (others.length > 0) {
      throw new LostError(`${GONE}, and ${others.length + 1} are labelled the same`);
    }
    return await work(place);
  } finally {
    void next.dispose();
  }
}
