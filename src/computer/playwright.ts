/**
 * A screen that is a page in Chromium, driven by Playwright.
 *
 * @module
 */
import type { Browser, Page } from 'playwright-core';
import { checkOptions, FLAG, isObject, isString, orAbsent, type Shape } from '../models/options.ts';
import { systemClock, type Clock } from '../run/clock.ts';
import { type ScreenAction } from './action.ts';
import { type Observation } from './observation.ts';
import { actOn } from './playwright-act.ts';
import { answer, isClosed, newLife, unstuck, type Life } from './playwright-alive.ts';
import { navigationFailure } from './playwright-failure.ts';
import { launchChromium, type LaunchOptions } from './playwright-launch.ts';
import { DEFAULT_LIMITS, type ScreenLimits } from './playwright-limits.ts';
import { type Look } from './playwright-observe.ts';
import { allowedOrigins, type Origins } from './playwright-origins.ts';
import { Secrets } from './secrets.ts';
import { lookNow, settle } from './playwright-settle.ts';
import { REFUSED, Tabs, type Dialogs } from './playwright-tabs.ts';
import { ScreenGoneError, type ActResult, type Screen } from './screen.ts';

export { type Dialogs } from './playwright-tabs.ts';
export { findChromium, type LaunchOptions } from './playwright-launch.ts';
export { type PageLimits, type ScreenLimits } from './playwright-limits.ts';

interface CommonOptions {
  /** The origins that a window may show. Default: that of the first page. What a page loads from elsewhere, it loads. */
  readonly allowedOrigins?: readonly string[];
  /** How dialogs are answered. Default `safe`: alerts are accepted, questions dismissed. */
  readonly dialogs?: Dialogs;
  readonly limits?: Partial<ScreenLimits>;
  /** The time of `wait`. */
  readonly clock?: Clock;
}

/** A page of the caller's, which is never closed, or a browser that is started for a URL. */
export type PlaywrightScreenOptions = CommonOptions &
  ({ readonly page: Page } | (StartOptions & LaunchOptions));

interface StartOptions {
  readonly url: string | URL;
  /** Gives up opening it, and ends the browser. Later it changes nothing. */
  readonly signal?: AbortSignal | undefined;
}

/** A {@link Screen} in Chromium. */
export interface PlaywrightScreen extends Screen {
  /** The page that is shown now. */
  readonly page: Page;
  screenshot(): Promise<Uint8Array>;
  /** Ends what was started; a page of the caller's is left as it is. */
  close(): Promise<void>;
}

const COMMON: Shape = {
  allowedOrigins: [
    'a list of origins',
    orAbsent((value) => Array.isArray(value) && value.every(isString)),
  ],
  dialogs: [
    'safe, accept or dismiss',
    orAbsent((value) => ['safe', 'accept', 'dismiss'].some((known) => known === value)),
  ],
  limits: ['an object', orAbsent(isObject)],
  clock: ['a clock, with now and timer', orAbsent((value) => isObject(value) && 'timer' in value)],
};

const OF_PAGE: Shape = { page: ['a page of Playwright', isObject], ...COMMON };

const OF_URL: Shape = {
  url: ['an address', (value) => isString(value) || value instanceof URL],
  executablePath: ['a path', orAbsent(isString)],
  headless: FLAG,
  viewport: ['a size, as { width: 1280, height: 720 }', orAbsent(isObject)],
  signal: ['an AbortSignal', orAbsent((value) => value instanceof AbortSignal)],
  ...COMMON,
};

const LIMITS: Shape = Object.fromEntries(
  Object.keys(DEFAULT_LIMITS).map((name) => [
    name,
    [
      'an integer of at least 0',
      orAbsent((value) => Number.isInteger(value) && Number(value) >= 0),
    ],
  ]),
);

/**
 * Opens a screen in Chromium.
 *
 * @throws {TypeError | RangeError} if an option isn't what it should be.
 * @throws {Error} if the browser or the first page can't be had; it says what to do.
 * @throws what the signal was aborted with.
 */
export async function playwrightScreen(
  options: PlaywrightScreenOptions,
): Promise<PlaywrightScreen> {
  checkOptions('playwrightScreen', options, 'page' in options ? OF_PAGE : OF_URL);
  checkOptions('limits', options.limits ?? {}, LIMITS);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  if ('page' in options) {
    const { page } = options;
    if (options.allowedOrigins === undefined && page.url() === 'about:blank') {
      throw new TypeError('the page is empty: go to an address first, or say allowedOrigins');
    }
    const origins = allowedOrigins(options.allowedOrigins ?? [page.url()]);
    return screenOf({ page, origins, limits, options });
  }
  const url = String(options.url);
  const origins = allowedOrigins([url, ...(options.allowedOrigins ?? [])]);
  return inBrowser(options, async (browser) => {
    const page = await browser.newPage({
      viewport: options.viewport ?? { width: 1280, height: 720 },
      acceptDownloads: false,
    });
    const screen = await screenOf({ page, origins, limits, options, browser });
    await open(page, url, limits);
    return screen;
  });
}

/** Starts a browser, which ends if the work in it fails, or the signal is aborted meanwhile. */
async function inBrowser<T>(
  { signal, ...launch }: StartOptions & LaunchOptions,
  work: (browser: Browser) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const browser = await launchChromium(launch);
  const stop = (): void => void browser.close().catch(nothing);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    return await work(browser);
  } catch (error) {
    await browser.close();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function nothing(): void {}

async function open(page: Page, url: string, { navigateMs }: ScreenLimits): Promise<void> {
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: navigateMs });
  } catch (error) {
    throw new Error(`${url} ${navigationFailure(error, navigateMs)}`, { cause: error });
  }
}

interface Signalled {
  readonly signal: AbortSignal;
}

interface Parts {
  readonly page: Page;
  readonly origins: Origins;
  readonly limits: ScreenLimits;
  readonly options: CommonOptions;
  /** To be closed with the screen. */
  readonly browser?: Browser;
}

/** What a screen holds. */
class ChromiumScreen implements PlaywrightScreen {
  readonly #tabs: Tabs;
  readonly #life: Life;
  readonly #parts: Parts;
  readonly #secrets = new Secrets({});
  #look: Look | undefined;

  constructor(tabs: Tabs, life: Life, parts: Parts) {
    this.#tabs = tabs;
    this.#life = life;
    this.#parts = parts;
  }

  get page(): Page {
    return this.#tabs.current();
  }

  async observe({ signal }: Signalled): Promise<Observation> {
    const { limits } = this.#parts;
    const work = (): Promise<Look> => lookNow(this.#tabs, limits, this.#life);
    const mostMs = limits.navigateMs + limits.answerMs;
    const next = await answer(() => this.#patiently(work), { life: this.#life, signal, mostMs });
    void this.#look?.dispose();
    const notices = this.#tabs.notices.splice(0);
    const shown = { ...next.observation, ...(notices.length === 0 ? {} : { notices }) };
    this.#look = { ...next, observation: this.#secrets.hideOn(shown) };
    return this.#look.observation;
  }

  async act(action: ScreenAction, { signal }: Signalled): Promise<ActResult> {
    const { limits, origins, options } = this.#parts;
    const seen = this.#look ?? { page: this.page };
    if (action.kind === 'type' && action.isSecret) this.#secrets.nameOf(action.text);
    const either = AbortSignal.any([signal, this.#life.ended]);
    const { clock = systemClock } = options;
    const acting = (): Promise<ActResult> =>
      actOn(seen, action, { limits, origins, clock, signal: either });
    const isWait = action.kind === 'wait';
    const work = isWait ? acting : () => this.#patiently(() => this.#settled(acting));
    const mostMs = limits.answerMs + (isWait ? limits.waitMs : limits.navigateMs);
    try {
      return await answer(work, { life: this.#life, signal, mostMs });
    } catch (error) {
      // A page that closes under an action, while another one is there, is no end.
      if (error instanceof ScreenGoneError || !isClosed(error)) throw error;
      return { ok: false, error: 'the page was closed meanwhile' };
    }
  }

  async screenshot(): Promise<Uint8Array> {
    const { signal } = new AbortController();
    const mostMs = this.#parts.limits.answerMs;
    return answer(() => this.page.screenshot(), { life: this.#life, signal, mostMs });
  }

  async close(): Promise<void> {
    this.#life.end('the screen was closed');
    await this.#tabs.release();
    await this.#parts.browser?.close();
  }

  /** Acts, and waits for what comes of it. One that leads where it may not has failed, though the click went well. */
  async #settled(acting: () => Promise<ActResult>): Promise<ActResult> {
    const before = this.#tabs.notices.length;
    const result = await acting();
    await settle(this.#tabs, this.#parts.limits);
    const refusal = this.#tabs.notices.slice(before).find((notice) => notice.startsWith(REFUSED));
    if (refusal === undefined) return result;
    const words = result.ok ? result.summary : result.error;
    return { ok: false, error: `${words}, but it leads to${refusal.slice(REFUSED.length)}` };
  }

  #patiently<T>(work: () => Promise<T>): Promise<T> {
    const { navigateMs } = this.#parts.limits;
    const stopped = (): void => {
      this.#tabs.notices.push(`[loading] no answer within ${navigateMs} ms (stopped)`);
    };
    return unstuck(this.page, navigateMs, stopped, work);
  }
}

async function screenOf(parts: Parts): Promise<PlaywrightScreen> {
  const { page, origins, limits, options } = parts;
  const life = newLife();
  const { dialogs = 'safe' } = options;
  const tabs = await Tabs.watch(page, { origins, dialogs, life, loadMs: limits.loadMs });
  return new ChromiumScreen(tabs, life, parts);
}
