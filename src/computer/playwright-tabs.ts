/**
 * The pages of a screen, and what happens on them unasked: dialogs, new windows, downloads, crashes.
 *
 * @module
 */
import type { Dialog, Download, FileChooser, Page } from 'playwright-core';
import { systemClock } from '../run/clock.ts';
import { type Life } from './playwright-alive.ts';
import { guard, type Origins } from './playwright-origins.ts';

/** How dialogs of a page are answered: `safe` accepts what only tells, and says no to what asks. */
export type Dialogs = 'safe' | 'accept' | 'dismiss';

export interface TabRules {
  readonly origins: Origins;
  readonly dialogs: Dialogs;
  readonly life: Life;
  readonly loadMs: number;
}

/** How the notice of a navigation that was refused begins. */
export const REFUSED = '[navigation]';

/** So much of a message or an address is said. */
const SAID = 200;

/** A page, and those that it opens. */
export class Tabs {
  /** What happened and wasn't told yet, oldest first. */
  readonly notices: string[] = [];
  readonly #first: Page;
  readonly #rules: TabRules;
  /** Those that are open, the newest last. */
  readonly #pages: Page[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  /** Windows that are there, of which Playwright tells only when their server has answered. */
  readonly #opening = new Map<string, () => void>();
  /** Those of which Playwright told first. */
  #early = 0;
  readonly #undo: (() => unknown)[] = [];

  private constructor(first: Page, rules: TabRules) {
    this.#first = first;
    this.#rules = rules;
  }

  /** Watches a page from now on. */
  static async watch(first: Page, rules: TabRules): Promise<Tabs> {
    const tabs = new Tabs(first, rules);
    const ended = (): void => {
      rules.life.end('the browser was closed');
    };
    first.context().once('close', ended);
    tabs.#undo.push(() => first.context().off('close', ended));
    const stop = await guard(first, {
      origins: rules.origins,
      refused: (url) => {
        tabs.#refuse(url);
      },
      opened: (window) => {
        if (tabs.#early > 0) tabs.#early -= 1;
        else tabs.#during(tabs.#arrival(window));
      },
      closed: (window) => tabs.#opening.get(window)?.(),
    });
    tabs.#undo.push(stop);
    tabs.#adopt(first);
    return tabs;
  }

  /** The newest page that is open. */
  current(): Page {
    return this.#pages.at(-1) ?? this.#first;
  }

  /** Ends when what happens at this moment has been dealt with. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Leaves the pages as they are. */
  async release(): Promise<void> {
    for (const arrived of this.#opening.values()) arrived();
    await Promise.allSettled(this.#undo.map(async (each) => each()));
  }

  #adopt(page: Page): void {
    this.#pages.push(page);
    const handlers = {
      dialog: (dialog: Dialog) => {
        this.#during(answerDialog(dialog, this.#rules.dialogs, this.notices));
      },
      popup: (popup: Page) => {
        this.#during(this.#decide(popup));
        // Which of those that open it is doesn't matter.
        const [arrived] = this.#opening.values();
        if (arrived === undefined) this.#early += 1;
        else arrived();
      },
      download: (download: Download) => {
        this.notices.push(`[download] ${said(download.suggestedFilename())} (refused)`);
        this.#during(download.cancel());
      },
      filechooser: (_chooser: FileChooser) => {
        this.notices.push('[file chooser] (refused)');
      },
      close: () => {
        this.#left(page, 'the page was closed');
      },
      crash: () => {
        this.#left(page, 'the page crashed');
      },
    };
    this.#undo.push(listen(page, handlers));
  }

  /** Goes on in a new window, unless it leads where it may not. */
  async #decide(popup: Page): Promise<void> {
    const { loadMs, origins } = this.#rules;
    await popup.waitForLoadState('domcontentloaded', { timeout: loadMs }).catch(() => undefined);
    if (popup.isClosed()) return;
    if (origins.allows(popup.url())) {
      this.#adopt(popup);
      this.notices.push(`[window] ${said(popup.url())} (opened; it is what is shown now)`);
    } else {
      this.#refuse(popup.url());
      await popup.close();
    }
  }

  #refuse(url: string): void {
    const { words } = this.#rules.origins;
    this.notices.push(`${REFUSED} ${said(url)} (refused: only ${words} is allowed)`);
  }

  #left(page: Page, why: string): void {
    const place = this.#pages.indexOf(page);
    if (place < 0) return;
    this.#pages.splice(place, 1);
    if (this.#pages.length === 0) this.#rules.life.end(why);
    else this.notices.push(`[window] ${why}`);
  }

  /** Ends when a window has arrived, or is gone, or has taken too long. */
  #arrival(window: string): Promise<void> {
    return new Promise((resolve) => {
      const arrived = (): void => {
        cancel();
        this.#opening.delete(window);
        resolve();
      };
      const cancel = systemClock.timer(this.#rules.loadMs, arrived);
      this.#opening.set(window, arrived);
    });
  }

  #during(work: Promise<unknown>): void {
    const settled = work.catch(() => undefined).finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }
}

async function answerDialog(dialog: Dialog, dialogs: Dialogs, notices: string[]): Promise<void> {
  const kind = dialog.type();
  // Without an answer of yes nobody ever leaves a page that asks whether to.
  const isHarmless = kind === 'alert' || kind === 'beforeunload';
  const accepts = dialogs === 'accept' || (dialogs === 'safe' && isHarmless);
  const outcome = accepts ? 'accepted' : 'dismissed';
  notices.push(`[dialog ${kind}] ${JSON.stringify(said(dialog.message()))} (${outcome})`);
  await (accepts ? dialog.accept(dialog.defaultValue()) : dialog.dismiss());
}

/** What a page says on one line, and not all of it. */
function said(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  const points = Array.from(line.slice(0, 2 * SAID + 2));
  return points.length > SAID ? `${points.slice(0, SAID).join('')}…` : line;
}

function listen(
  page: Page,
  handlers: Readonly<Record<string, (given: never) => void>>,
): () => void {
  for (const [event, handler] of Object.entries(handlers)) {
    page.on(event as 'popup', handler as () => void); // each handler takes what its event gives
  }
  return () => {
    for (const [event, handler] of Object.entries(handlers)) {
      page.off(event as 'popup', handler as () => void);
    }
  };
}
