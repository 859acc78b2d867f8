import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const inCi = process.env['HASHTAPE_NO_SKIP'] === '1';

/** Elsewhere, tests that need one of these skip and say so; in CI none may be missing. */
test.skipIf(!inCi).each([
  ['python3', ['--version']],
  ['script', ['--version']],
  ['git', ['--version']],
])('%s is there (asked for in CI only)', (command, args) => {
  expect(spawnSync(command, args).status).toBe(0);
});
