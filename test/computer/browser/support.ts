/**
 * Pages, served on loopback, and one browser for the tests of a file.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { type ActResult } from '../../../src/computer/screen.ts';
import { withNotices, type Observation } from '../../../src/computer/observation.ts';
import {
  findChromium,
  playwrightScreen,
  type PlaywrightScreen,
  type PlaywrightScreenOptions,
} from '../../../src/computer/playwright.ts';
import { type ScreenAction } from '../../../src/computer/action.ts';
import { launchChromium } from '../../../src/computer/playwright-launch.ts';

const PAGES = new URL('../../testdata/pages/', import.meta.url);

/** Limits that are short where a test waits for them. */
export const QUICK = { quietMs: 60, settleMs: 500, actionMs: 1500 };

export const signal = new AbortController().signal;

export interface Site {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[];
}

/** Tests that need a browser: they skip, and say why, where there is none. In CI none may be missing. */
export function describeInBrowser(name: string, tests: (world: World) => void): void {
  const isNeeded = process.env['HASHTAPE_NO_SKIP'] === '1';
  const isThere = existsSync(findChromium() ?? '/nowhere');
  const why = isThere || isNeeded ? '' : ' (skipped: Chromium is not installed)';
  describe.skipIf(why !== '')(`${name}${why}`, () => {
    tests(world());
  });
}

/** What the tests of a file share. */
export interface World {
  readonly near: Site;
  readonly far: Site;
  readonly browser: Browser;
  /** A screen of its own for a test, on a page of `near`. */
  open(path: string, options?: Partial<PlaywrightScreenOptions>): Promise<Opened>;
}

/** A screen with short ways to look and to act. */
export interface Opened {
  readonly screen: PlaywrightScreen;
  /** Looks, and gives what a brain is shown. */
  readonly see: () => Promise<Observation>;
  readonly act: (action: ScreenAction) => Promise<ActResult>;
  /** Acts on what has this label now. */
  readonly click: (label: string) => Promise<ActResult>;
  readonly type: (
    label: string,
    text: string,
    more?: { submit?: boolean; isSecret?: boolean },
  ) => Promise<ActResult>;
  readonly index: (label: string) => number;
}

function world(): World {
  const servers: Server[] = [];
  const sites: Site[] = [];
  const screens: PlaywrightScreen[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    for (let count = 0; count < 2; count += 1) {
      const asked: string[] = [];
      const server = await serve(asked);
      servers.push(server);
      // Chromium gives another process to another host, not to another port.
      const host = count === 0 ? '127.0.0.1' : 'localhost';
      sites.push({ asked, url: `http://${host}:${(server.address() as AddressInfo).port}` });
    }
    browser = await launchChromium({});
  });
  afterEach(async () => {
    for (const screen of screens.splice(0)) {
      const context = screen.page.context();
      await screen.close();
      await context.close();
    }
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  return {
    get near() {
      return sites[0]!;
    },
    get far() {
      return sites[1]!;
    },
    get browser() {
      return browser!;
    },
    async open(path, options = {}) {
      const page = await browser!.newPage({ viewport: { width: 800, height: 600 } });
      await page.goto(`${sites[0]!.url}/${path}`);
      const screen = await playwrightScreen({ page, limits: QUICK, ...options });
      screens.push(screen);
      return opened(screen);
    },
  };
}

export function opened(screen: PlaywrightScreen): Opened {
  let seen: Observation | undefined;
  const index = (label: string): number => {
    const found = seen?.elements.findIndex((element) => element.label === label) ?? -1;
    if (found < 0)
      throw new Error(`nothing is labelled ${label}: ${JSON.stringify(seen?.elements)}`);
    return found;
  };
  const act = (action: ScreenAction): Promise<ActResult> => screen.act(action, { signal });
  return {
    screen,
    act,
    index,
    async see() {
      seen = withNotices(await screen.observe({ signal }));
      return seen;
    },
    click: (label) => act({ kind: 'click', index: index(label) }),
    type: (label, text, { submit = false, isSecret = false } = {}) =>
      act({ kind: 'type', index: index(label), text, submit, isSecret }),
  };
}

async function serve(asked: string[]): Promise<Server> {
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
    if (pathname === '/redirect') {
      response.writeHead(302, { location: search.slice(1) }).end();
    } else if (pathname === '/file.csv') {
      response.setHeader('content-disposition', 'attachment; filename="numbers.csv"');
      response.end('1,2,3');
    } else if (pathname === '/never') {
      // It is left without an answer.
    } else if (pathname === '/slow') {
      // A page that comes in two parts.
      response.setHeader('content-type', 'text/html');
      response.write('<title>Slow</title><h1>First</h1>');
      setTimeout(() => response.end('<h1>Second</h1>'), 300);
    } else {
      const file = new URL(`.${pathname}`, PAGES);
      const exists = existsSync(file) && pathname.endsWith('.html');
      response.writeHead(exists ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
      response.end(exists ? readFileSync(file) : '<h1>Not found</h1>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
