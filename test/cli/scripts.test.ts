/**
 * Every script of `scripts/`.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { runScript } from './script.ts';

const folder = new URL('scripts/', import.meta.url);

describe.concurrent('the built command', () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt'))) {
    test(name, async () => {
      await runScript(readFileSync(new URL(name, folder), 'utf8'));
    });
  }
});

describe.concurrent('a script that is wrong fails', () => {
  for (const script of [
    '> hashtape --version\nexit 1',
    '> hashtape nonsense',
    '> hashtape --version\nstdout nonsense',
    '> hashtape --version\n! stdout \\d',
    '! exists a\n-- a --\n',
    'file a c\n-- a --\nb\n',
    'nonsense a',
  ]) {
    test(JSON.stringify(script), async ({ expect }) => {
      await expect(runScript(script)).rejects.toThrow();
    });
  }
});
