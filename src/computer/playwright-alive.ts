/**
 * Whether a browser is still there, and waiting for it only as long as it is.
 *
 * @module
 */
import { setImmediate as immediate } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { systemClock } from '../run/clock.ts';
import { ScreenGoneError } from './screen.ts';

/** The life of a screen: once it is over, whatever waits for it ends. */
export interface Life {
  /** Ends it; the first reason counts. */
  end(why: string): void;
  /** Rejects when it is over. */
  readonly over: Promise<never>;
  /** Aborted when it is over. */
  readonly ended: AbortSignal;
  readonly isOver: boolean;
}

export function newLife(): Life {
  let reject: ((error: ScreenGoneError) => void) | undefined;
  const over = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  // Nobody may be waiting when it ends.
  over.catch(() => undefined);
  const controller = new AbortController();
  return {
    over,
    ended: controller.signal,
    get isOver() {
      return controller.signal.aborted;
    },
    end(why) {
      controller.abort();
      reject?.(new ScreenGoneError(why));
    },
  };
}

/** What a wait may end with besides what is waited for. */
export interface Watch {
  readonly life: Life;
  readonly signal: AbortSignal;
  /** A page that hasn't answered after so long is taken for gone. */
  readonly mostMs: number;
}

/**
 * Waits for a browser's answer.
 *
 * @throws {ScreenGoneError} if there is no browser any more, or it doesn't answer.
 * @throws the reason of `signal` when it is aborted.
 */
export async function answer<T>(work: () => Promise<T>, watch: Watch): Promise<T> {
  const { life, signal, mostMs } = watch;
  signal.throwIfAborted();
  if (life.isOver) return life.over;
  let stop: (() => void) | undefined;
  const cut = new Promise<never>((_resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error); // whatever the reason is, it is what was asked for
    };
    signal.addEventListener('abort', abort, { once: true });
    const cancel = systemClock.timer(mostMs, () => {
      reject(new ScreenGoneError(`the page has not answered for ${mostMs} ms`));
    });
    stop = () => {
      signal.removeEventListener('abort', abort);
      cancel();
    };
  });
  try {
    const working = work();
    // It may fail after the wait was cut.
    working.catch(() => undefined);
    return await Promise.race([working, life.over, cut]);
  } catch (error) {
    // The event that says why may come just after.
    if (isClosed(error)) await immediate();
    return await (life.isOver ? life.over : Promise.reject(error));
  } finally {
    stop?.();
  }
}

/**
 * Does work on a page that may be asking for another one meanwhile. Until a server has answered, Chromium answers
 * nothing about the page; one that takes too long is asked no more. Work may take longer before it asks for
 * anything, so a page that still answers is looked after again.
 *
 * @param stopped is told so.
 */
export async function unstuck<T>(
  page: Page,
  mostMs: number,
  stopped: () => void,
  work: () => Promise<T>,
): Promise<T> {
  let isDone = false;
  let cancel: () => void;
  const look = async (): Promise<void> => {
    const isStuck = !(await answers(page));
    if (isDone) return;
    if (!isStuck) {
      cancel = systemClock.timer(mostMs, () => void look());
      return;
    }
    stopped();
    // If this doesn't help either, whoever waits gives the page up.
    await stopLoading(page).catch(() => undefined);
  };
  cancel = systemClock.timer(mostMs, () => void look());
  try {
    return await work();
  } finally {
    isDone = true;
    cancel();
  }
}

/** A page that can answer does so in a few milliseconds. */
const PROBE_MS = 200;

async function answers(page: Page): Promise<boolean> {
  let cancel: (() => void) | undefined;
  const late = new Promise<boolean>((resolve) => {
    cancel = systemClock.timer(PROBE_MS, () => resolve(false));
  });
  const asked = page.evaluate(() => true).catch(() => true);
  try {
    return await Promise.race([asked, late]);
  } finally {
    cancel?.();
  }
}

export async function stopLoading(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.stopLoading');
  await session.detach();
}

/** Whether Playwright says that a page is gone. There may be another one that the screen goes on with. */
export function isClosed(error: unknown): boolean {
  return (
    error instanceof Error && /has been closed|crashed/u.test(error.message.split('\n')[0] ?? '')
  );
}
