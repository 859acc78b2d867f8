/**
 * Paths of transcript files.
 *
 * @module
 */
import { mkdirSync, realpathSync, rmdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A path as text.
 *
 * @throws {TypeError} if it is empty, or a URL of another scheme than `file:`.
 */
export function pathText(path: string | URL): string {
  if (path === '') throw new TypeError('the path is empty; give the path of a transcript file');
  return typeof path === 'string' ? path : fileURLToPath(path);
}

/**
 * The name of an existing file: absolute, with symbolic links resolved. So all symbolic links to a file lead
 * to one lock, and a later change of the working folder changes nothing. Hard links are out of scope: each
 * is a name of its own, with its own lock, and two writers through two of them show only as `changed`.
 */
export function realPath(path: string): string {
  return realpathSync(path);
}

/**
 * Creates the folders that a new file needs.
 *
 * @returns the folders whose entries are new once the file is there: those to make durable, deepest first.
 */
export function createParents(path: string): readonly string[] {
  const parent = dirname(resolve(path));
  const first = mkdirSync(parent, { recursive: true });
  if (first === undefined) return [parent];
  const changed = [parent];
  const last = dirname(resolve(first));
  for (let folder = parent; folder !== last;) {
    folder = dirname(folder);
    changed.push(folder);
  }
  return changed;
}

/** Takes back what {@link createParents} created, as far as nobody has put anything there. */
export function removeParents(changed: readonly string[]): void {
  try {
    // The last was there before.
    for (const folder of changed.slice(0, -1)) rmdirSync(folder);
  } catch {
    // It isn't empty, or stays behind empty: neither does harm.
  }
}
