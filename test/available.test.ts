import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findChromium } from '../src/computer/playwright.ts';

const inCi = process.env['HASHTAPE_NO_SKIP'] === '1';

/** Elsewhere, tests that need one of these skip and say so; in CI none may be missing. */
test.skipIf(!inCi).each([
  ['python3', ['--version']],
  ['script', ['--version']],
  ['git', ['--version']],
  ['openssl', ['version']],
])('%s is there (asked for in CI only)', (command, args) => {
  expect(spawnSync(command, args).status).toBe(0);
});

test.skipIf(!inCi)('Chromium and playwright-core are there (asked for in CI only)', async () => {
  expect(existsSync(findChromium() ?? '/nowhere')).toBe(true);
  await expect(import('playwright-core')).resolves.toHaveProperty('chromium');
});
