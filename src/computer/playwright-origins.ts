/**
 * Keeps a browser's windows on the origins that are allowed, redirects and new windows included.
 *
 * @module
 */
import type { CDPSession, Page } from 'playwright-core';

/** The origins that a window may show. */
export interface Origins {
  allows(url: string): boolean;
  /** For messages. */
  readonly words: string;
}

/**
 * @throws {TypeError} if one isn't the address of a web page.
 */
export function allowedOrigins(urls: readonly string[]): Origins {
  const origins = new Set(urls.map(webOrigin));
  return {
    allows: (url) => {
      const { origin, protocol } = URL.canParse(url) ? new URL(url) : { origin: '', protocol: '' };
      // What a page makes itself, as `about:blank` or a `blob:`, comes from nowhere else.
      return protocol === 'about:' || origins.has(origin);
    },
    words: [...origins].join(', '),
  };
}

/** What a guard tells. */
export interface Guarding {
  readonly origins: Origins;
  readonly refused: (url: string) => void;
  /** One of the windows opens another; `closed` may follow. */
  readonly opened: (window: string) => void;
  readonly closed: (window: string) => void;
}

/**
 * Refuses navigations elsewhere, of a page and of those that it opens; they stay where they were.
 *
 * Playwright's own routes see neither redirects nor, before it was sent, what a new window asks for. Chromium's
 * interception, in the whole browser, sees both.
 */
export async function guard(page: Page, guarding: Guarding): Promise<() => Promise<void>> {
  const { origins, refused } = guarding;
  const browser = page.context().browser();
  if (browser === null || browser.browserType().name() !== 'chromium') {
    throw new TypeError(
      'page: expected a page in Chromium, which alone can be kept on its origins',
    );
  }
  const first = await mainFrame(page);
  const session = await browser.newBrowserCDPSession();
  session.on('Fetch.requestPaused', ({ requestId, frameId, request }) => {
    const decide = async (): Promise<void> => {
      const window = origins.allows(request.url)
        ? undefined
        : await windowOf(session, frameId, first);
      if (window === undefined) {
        await session.send('Fetch.continueRequest', { requestId });
        return;
      }
      refused(request.url);
      await session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
      // A window that was made for this has nothing to show.
      const isEmpty = window.url === '' || window.url === 'about:blank';
      if (isEmpty && frameId !== first)
        await session.send('Target.closeTarget', { targetId: frameId });
    };
    // A window that goes away meanwhile needs no answer.
    decide().catch(() => undefined);
  });
  let isWatching = false;
  session.on('Target.targetCreated', ({ targetInfo: { targetId, type } }) => {
    if (type !== 'page' || !isWatching) return;
    const tell = async (): Promise<void> => {
      if ((await windowOf(session, targetId, first)) !== undefined) guarding.opened(targetId);
    };
    tell().catch(() => undefined);
  });
  session.on('Target.targetDestroyed', ({ targetId }) => {
    guarding.closed(targetId);
  });
  await session.send('Target.setDiscoverTargets', { discover: true });
  // Those that are there already were told by now.
  isWatching = true;
  await session.send('Fetch.enable', {
    patterns: [{ resourceType: 'Document', requestStage: 'Request' }],
  });
  return () => session.detach();
}

async function mainFrame(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  try {
    return (await session.send('Page.getFrameTree')).frameTree.frame.id;
  } finally {
    await session.detach();
  }
}

/** The window whose main frame this is, if it is the first one or was opened by it or by one of its own. */
async function windowOf(
  session: CDPSession,
  frameId: string,
  first: string,
): Promise<{ readonly url: string } | undefined> {
  const { targetInfos } = await session.send('Target.getTargets');
  const pages = new Map(
    targetInfos.filter(({ type }) => type === 'page').map((info) => [info.targetId, info]),
  );
  let opener = pages.get(frameId);
  while (opener !== undefined && opener.targetId !== first) {
    opener = pages.get(opener.openerId ?? '');
  }
  return opener === undefined ? undefined : pages.get(frameId);
}

function webOrigin(url: string): string {
  const { protocol, origin } = URL.canParse(url) ? new URL(url) : { protocol: '', origin: '' };
  if (protocol === 'http:' || protocol === 'https:') return origin;
  throw new TypeError(
    `expected an address that begins with http:// or https://, got ${JSON.stringify(url.slice(0, 80))}`,
  );
}
