/**
 * Every script of `scripts/`.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { runScript } from './script.ts';

const folder = new URL('scripts/', import.meta.url);

describe('the built command', () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt'))) {
    test(name, () => {
      runScript(readFileSync(new URL(name, folder), 'utf8'));
    });
  }
});
