/**
 * Starts Chromium through Playwright, an optional peer that is loaded when it is used.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import type { Browser, BrowserType, ViewportSize } from 'playwright-core';
import { environment, loadPeer } from '../models/peer.ts';

/** What is known of the browser to be started. */
export interface LaunchOptions {
  /** Default: `CHROMIUM_PATH`, else where systems have Chromium or Chrome, else Playwright's own. */
  readonly executablePath?: string;
  /** Default true: no window is shown. */
  readonly headless?: boolean;
  /** The window's size in CSS pixels. Default 1280 × 720. */
  readonly viewport?: ViewportSize;
}

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** What a browser would say to others by itself. */
const QUIET = [
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const HOW =
  'install one (`apt-get install chromium`, or `npx playwright-core install chromium`), or say where it is with executablePath or CHROMIUM_PATH';

/** Where Chromium is; undefined to leave it to Playwright. */
export function findChromium(): string | undefined {
  return environment('CHROMIUM_PATH') ?? PLACES.find((path) => existsSync(path));
}

/**
 * Starts Chromium.
 *
 * @throws {Error} that says what to install, or why it doesn't start.
 */
export async function launchChromium({
  executablePath,
  headless,
}: LaunchOptions): Promise<Browser> {
  const chromium = await loadChromium();
  const path = executablePath ?? findChromium();
  if (path !== undefined && !existsSync(path)) {
    throw new Error(`there is no browser at ${path}: ${HOW}`);
  }
  // As root Chromium has no sandbox to offer, and doesn't start with one.
  const isRoot = process.getuid?.() === 0;
  try {
    return await chromium.launch({
      ...(path === undefined ? {} : { executablePath: path }),
      headless: headless ?? true,
      args: QUIET,
      chromiumSandbox: !isRoot,
      // Whoever started the episode decides what a signal means; the browser ends with this process.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    throw launchError(error, path);
  }
}

async function loadChromium(): Promise<BrowserType> {
  const { chromium } = await loadPeer('playwright-core', () => import('playwright-core'));
  return chromium;
}

function launchError(error: unknown, path: string | undefined): Error {
  const words = String(error instanceof Error ? error.message : error);
  if (/executable doesn't exist/iu.test(words)) {
    return new Error(`there is no browser: ${HOW}`, { cause: error });
  }
  const first = words.split('\n')[0] ?? '';
  const hint = /x server|\$DISPLAY|headed browser/iu.test(words)
    ? 'there is no display: leave headless on'
    : 'start it by hand to see why';
  return new Error(`${path ?? 'the browser'} did not start (${first}): ${hint}`, { cause: error });
}
