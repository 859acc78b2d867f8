/**
 * What the commands that only read load: a start is most of what a small file takes.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const IMPORT = /^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm;

/** The files that a file loads, itself among them; types alone count too, as their modules are loaded. */
function loaded(file: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    loaded(resolve(dirname(file), path), seen);
  }
  return seen;
}

test.each(['verify', 'show', 'check', 'prove', 'checkpoint', 'key', 'heads'])(
  '%s loads neither the loop, nor models, nor tools',
  (name) => {
    const files = [...loaded(resolve(SRC, `cli/${name}.ts`))].map((file) => relative(SRC, file));
    expect(files.length).toBeGreaterThan(10);
    const heavy =
      /^(?:run\/(?:run|loop|resume|world|settings|schema|journal)|replay\/|models\/|cli\/tools\/)/;
    expect(files.filter((file) => heavy.test(file))).toEqual([]);
  },
);
