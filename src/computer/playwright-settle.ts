/// <reference lib="dom" />
/**
 * Waits for what a page is about to do by itself, as long as it isn't for ever.
 *
 * @module
 */
import type { Page } from 'playwright-core';
import { describeError } from '../run/result.ts';
import { isClosed, type Life } from './playwright-alive.ts';
import { type ScreenLimits } from './playwright-limits.ts';
import { lookAt, type Look } from './playwright-observe.ts';
import { type Tabs } from './playwright-tabs.ts';
import { ScreenGoneError } from './screen.ts';

/** A page may go elsewhere while it is looked at, but not again and again. */
const LOOKS = 5;

/** Looks until a look isn't cut by a page that goes elsewhere. */
export async function lookNow(tabs: Tabs, limits: ScreenLimits, life: Life): Promise<Look> {
  for (let looks = 1; ; looks += 1) {
    try {
      await loaded(tabs.current(), limits);
      await tabs.settled();
      return await lookAt(tabs.current(), limits);
    } catch (error) {
      if (error instanceof ScreenGoneError) throw error;
      if (life.isOver || looks === LOOKS) throw goneError(error);
    }
  }
}

/** Waits until a page has done what it does because of an action. */
export async function settle(tabs: Tabs, limits: ScreenLimits): Promise<void> {
  const { quietMs, settleMs } = limits;
  await loaded(tabs.current(), limits);
  // A page that goes elsewhere meanwhile is waited for once more.
  await tabs
    .current()
    .evaluate(quiet, { quietMs, settleMs })
    .catch(() => loaded(tabs.current(), limits));
  await tabs.settled();
}

async function loaded(page: Page, { loadMs }: ScreenLimits): Promise<void> {
  await page.waitForLoadState('domcontentloaded', { timeout: loadMs }).catch((error: unknown) => {
    if (isClosed(error)) throw error;
  });
}

function goneError(error: unknown): ScreenGoneError {
  return new ScreenGoneError(whyGone(error), { cause: error });
}

function whyGone(error: unknown): string {
  if (isClosed(error)) return 'the page was closed';
  const [words = ''] = describeError(error).split('\n');
  if (/context was|find context|navigat|detached/iu.test(words))
    return 'the page goes from one address to the next';
  return `the page can't be looked at, as what is built into the browser is something else there: ${words}`;
}

/** Runs in the page: ends when it hasn't changed for a while. */
function quiet({ quietMs, settleMs }: { quietMs: number; settleMs: number }): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      observer.disconnect();
      clearTimeout(still);
      clearTimeout(most);
      resolve();
    };
    const observer = new MutationObserver(() => {
      clearTimeout(still);
      still = setTimeout(end, quietMs);
    });
    let still = setTimeout(end, quietMs);
    const most = setTimeout(end, settleMs);
    const subtree = true;
    observer.observe(document, { subtree, childList: true, attributes: true, characterData: true });
  });
}
