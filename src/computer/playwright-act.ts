/// <reference lib="dom" />
/**
 * Acts on a page, through the very elements that were observed.
 *
 * @module
 */
import type { ElementHandle, Page } from 'playwright-core';
import { type Clock } from '../run/clock.ts';
import { type ScreenAction } from './action.ts';
import { type ScreenElement } from './observation.ts';
import { type PageOption } from './observe-page.ts';
import { stopLoading } from './playwright-alive.ts';
import { failureOf, navigationFailure } from './playwright-failure.ts';
import { guarded, LostError, nodeAt, onceMore } from './playwright-hold.ts';
import { type ScreenLimits } from './playwright-limits.ts';
import { type Look, type Place } from './playwright-observe.ts';
import { type Origins } from './playwright-origins.ts';
import { barePoint } from './playwright-point.ts';
import { type ActResult } from './screen.ts';

/** What acting needs to know. */
export interface Acting {
  readonly limits: ScreenLimits;
  readonly origins: Origins;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What is acted on: what was seen, or a page that nobody has looked at yet. */
type Acted = Pick<Look, 'page'> & Partial<Look>;

/** An element that an action is for. */
interface Target {
  readonly node: ElementHandle<Element>;
  readonly place: Place;
  /** As `button "Save"`. */
  readonly words: string;
  readonly kind: string;
  readonly limits: ScreenLimits;
}

type ElementAction = Extract<ScreenAction, { readonly index: number }>;

/** So many options are named in an error. */
const NAMED = 12;

/** Does what an action says on the page that was looked at. */
export async function actOn(look: Acted, action: ScreenAction, acting: Acting): Promise<ActResult> {
  switch (action.kind) {
    case 'press':
      return press(look.page, action.key);
    case 'scroll':
      return scroll(look.page, action.direction, action.by);
    case 'wait':
      return wait(action.milliseconds, acting);
    case 'navigate':
      return navigate(look.page, action.url, acting);
    default:
      return actOnElement(look, action, acting);
  }
}

async function actOnElement(
  look: Acted,
  action: ElementAction,
  { limits }: Acting,
): Promise<ActResult> {
  const element = look.observation?.elements[action.index];
  const place = look.places?.[action.index];
  if (element === undefined || place === undefined) {
    return failed(`element ${action.index} is not on the screen`);
  }
  const aim = { element, action, limits };
  try {
    return await actAt(place, aim).catch((error: unknown) => {
      if (!(error instanceof LostError) || action.byLabel !== true) throw error;
      return onceMore(look, place, limits, (other) => actAt(other, aim));
    });
  } catch (error) {
    if (!(error instanceof LostError)) throw error;
    return failed(`${nameOf(aim)} ${error.message}`);
  }
}

/** What is to be done, and to what, as the brain was shown it. */
interface Aim {
  readonly element: ScreenElement;
  readonly action: ElementAction;
  readonly limits: ScreenLimits;
}

function nameOf({ element, action }: Aim): string {
  return `element ${action.index} (${JSON.stringify(element.label)})`;
}

/** @throws {LostError} if it isn't there as what it was, and nothing was touched. */
async function actAt(place: Place, aim: Aim): Promise<ActResult> {
  const { element, action, limits } = aim;
  const node = await nodeAt(place);
  const words = `${element.kind} ${JSON.stringify(element.label)}`;
  const target = { node, place, words, kind: element.kind, limits };
  try {
    const result = await perform(target, action);
    return result.ok ? result : failed(`${nameOf(aim)} ${result.error}`);
  } catch (error) {
    if (error instanceof LostError) throw error;
    const cover = (): Promise<string> =>
      place.view.evaluate((view, at) => view.coverOf(at), place.node);
    return failed(`${nameOf(aim)} ${await failureOf(error, limits.actionMs, cover)}`);
  } finally {
    await node.dispose().catch(() => undefined);
  }
}

/** Errors say what is wrong with the element, which is named before them. */
async function perform(target: Target, action: ElementAction): Promise<ActResult> {
  switch (action.kind) {
    case 'click':
    case 'double_click':
      return click(target, action.kind);
    case 'type':
      return type(target, action);
    default:
      return choose(target, action.option);
  }
}

async function click(target: Target, kind: 'click' | 'double_click'): Promise<ActResult> {
  const { node, words } = target;
  if (target.kind === 'option' && (await isListed(target))) return chooseItself(target);
  await node.evaluate(stillness, target.limits.actionMs * STILL_SHARE).catch(() => undefined);
  const position = await barePoint(target);
  const how = { ...within(target), ...(position === undefined ? {} : { position }) };
  if (kind === 'click') {
    await guarded(target.place, () => node.click(how));
    return did(`clicked ${words}`);
  }
  await guarded(target.place, () => node.dblclick(how));
  return did(`double-clicked ${words}`);
}

/** So much of an action's time may be spent waiting for an element to stand still. */
const STILL_SHARE = 0.5;

/**
 * Runs in the page: waits until an element has stood still for a while, or the time is over. Playwright looks at two
 * frames only, and an element that is pushed away between press and release isn't clicked, though nothing says so.
 */
function stillness(element: Element, limitMs: number): Promise<void> {
  const [stepMs, steps] = [50, 4];
  const place = (): string => {
    const { x, y } = element.getBoundingClientRect();
    return `${x} ${y}`;
  };
  return new Promise((resolve) => {
    let [last, same, spentMs] = [place(), 0, 0];
    const look = (): void => {
      const now = place();
      same = now === last ? same + 1 : 0;
      last = now;
      spentMs += stepMs;
      if (same >= steps || spentMs >= limitMs) resolve();
      else setTimeout(look, stepMs);
    };
    setTimeout(look, stepMs);
  });
}

async function type(
  target: Target,
  { text, isSecret, submit }: Extract<ElementAction, { kind: 'type' }>,
): Promise<ActResult> {
  const { node, place, words } = target;
  if (isSecret) {
    await place.view.evaluate((view, at) => {
      view.markSecret(at);
    }, place.node);
  }
  await guarded(place, () => fill(target, text));
  if (submit) await node.press('Enter', within(target));
  const what = isSecret ? 'typed a secret into' : 'typed into';
  return did(`${what} ${words}${submit ? ', then pressed Enter' : ''}`);
}

/** A date, a time and the like are emptied by a value that they don't take: then what they held is put back. */
async function fill(target: Target, text: string): Promise<void> {
  const { node } = target;
  const held = await node.inputValue(within(target)).catch(() => undefined);
  try {
    await node.fill(text, within(target));
  } catch (error) {
    const now = await node.inputValue(within(target)).catch(() => undefined);
    if (held !== undefined && now !== held) {
      await node.fill(held, within(target)).catch(() => undefined);
    }
    throw error;
  }
}

/** What comes of an action is awaited later, with a limit of its own. */
function within({ limits }: Target): { timeout: number; noWaitAfter: true } {
  return { timeout: limits.actionMs, noWaitAfter: true };
}

/** Whether it is an option of a list of the browser's own, which shows it in no place that can be clicked. */
async function isListed({ node }: Target): Promise<boolean> {
  return node.evaluate((element) => element instanceof HTMLOptionElement);
}

async function chooseItself(target: Target): Promise<ActResult> {
  const handle = await target.node.evaluateHandle((option) => option.closest('select'));
  const list = handle.asElement();
  if (list === null) return failed('is in no list');
  const option = await target.node.evaluate((element) => ({
    index: (element as HTMLOptionElement).index, // as its kind says
    isDisabled: element.matches(':disabled'),
  }));
  if (option.isDisabled) return failed('is disabled');
  await list.selectOption({ index: option.index }, within(target));
  return did(`selected ${target.words}`);
}

async function choose(target: Target, wanted: string): Promise<ActResult> {
  const { place, words } = target;
  const options = await place.view.evaluate((view, at) => view.optionsOf(at), place.node);
  if (options === undefined) {
    return failed('is not a list of the browser: click it, then click the option');
  }
  const tests: ((option: PageOption) => boolean)[] = [
    ({ label }) => label === wanted,
    ({ label }) => plain(label) === plain(wanted),
    ({ value }) => value === wanted,
  ];
  const index = tests.map((test) => options.findIndex(test)).find((found) => found >= 0);
  const option = index === undefined ? undefined : options[index];
  const said = JSON.stringify(wanted.slice(0, target.limits.label));
  if (index === undefined || option === undefined) {
    const names = options.slice(0, NAMED).map(({ label }) => JSON.stringify(label));
    const more = options.length > NAMED ? `, and ${options.length - NAMED} more` : '';
    return failed(`has no option ${said} (there is ${names.join(', ') || 'none'}${more})`);
  }
  if (option.disabled) return failed(`has the option ${said}, but it is disabled`);
  await target.node.selectOption({ index }, within(target));
  return did(`selected ${JSON.stringify(option.label)} in ${words}`);
}

function plain(text: string): string {
  return text.normalize('NFKC').replaceAll(/\s+/gu, ' ').trim().toLowerCase();
}

async function press(page: Page, key: string): Promise<ActResult> {
  try {
    await page.keyboard.press(key);
    return did(`pressed ${key}`);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('Unknown key')) throw error;
    const name = JSON.stringify(key.slice(0, 40));
    return failed(`there is no key ${name}; keys are named as Enter, Escape, ArrowDown, Control+a`);
  }
}

/** Turns the wheel in the middle of the window, so that what is there scrolls: the page, a dialog, a frame. */
async function scroll(
  page: Page,
  direction: 'up' | 'down' | 'left' | 'right',
  by: number,
): Promise<ActResult> {
  const { width, height } = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }));
  await page.mouse.move(Math.round(width / 2), Math.round(height / 2));
  const moved = Promise.all(
    page.frames().map((frame) => frame.evaluate(hasScrolled).catch(() => false)),
  );
  const signed = direction === 'up' || direction === 'left' ? -by : by;
  const isVertical = direction === 'up' || direction === 'down';
  await page.mouse.wheel(isVertical ? 0 : signed, isVertical ? signed : 0);
  if ((await moved).includes(true)) return did(`scrolled ${direction} by ${by}`);
  return failed(`nothing scrolled ${direction}: it is at its end, or has nowhere to scroll`);
}

/** Runs in the page: whether something scrolls within a moment. */
function hasScrolled(): Promise<boolean> {
  return new Promise((resolve) => {
    const found = (): void => {
      resolve(true);
    };
    addEventListener('scroll', found, { capture: true, once: true });
    setTimeout(() => {
      removeEventListener('scroll', found, { capture: true });
      resolve(false);
    }, 400);
  });
}

async function wait(milliseconds: number, { limits, clock, signal }: Acting): Promise<ActResult> {
  const time = Math.min(Math.max(0, milliseconds), limits.waitMs);
  await new Promise<void>((resolve) => {
    const over = (): void => {
      cancel();
      signal.removeEventListener('abort', over);
      resolve();
    };
    const cancel = clock.timer(time, over);
    signal.addEventListener('abort', over, { once: true });
  });
  return did(`waited ${time} ms${time < milliseconds ? ', the most there is' : ''}`);
}

async function navigate(page: Page, to: string, { limits, origins }: Acting): Promise<ActResult> {
  const said = JSON.stringify(to.slice(0, limits.label));
  const base = page.url();
  const url = URL.canParse(to, base) ? new URL(to, base) : undefined;
  if (url === undefined) return failed(`${said} is no address`);
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  if (!isWeb || !origins.allows(url.href)) {
    return failed(`${said} is not allowed: only ${origins.words} is`);
  }
  try {
    const response = await page.goto(url.href, { waitUntil: 'commit', timeout: limits.navigateMs });
    const status = response?.status() ?? 200;
    return did(`navigated to ${said}${status >= 400 ? ` (the server answered ${status})` : ''}`);
  } catch (error) {
    // It may still be asked for, and would come when nobody expects it.
    await stopLoading(page).catch(() => undefined);
    return failed(`${said} ${navigationFailure(error, limits.navigateMs)}`);
  }
}

function did(summary: string): ActResult {
  return { ok: true, summary };
}

function failed(error: string): ActResult {
  return { ok: false, error };
}
