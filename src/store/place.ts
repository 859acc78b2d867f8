/**
 * Paths of transcript files.
 *
 * @module
 */
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A path as text.
 *
 * @throws {TypeError} if it is a URL of another scheme than `file:`.
 */
export function pathText(path: string | URL): string {
  return typeof path === 'string' ? path : fileURLToPath(path);
}

/**
 * The one name of an existing file: absolute, with symbolic links resolved. So two names of a file lead to
 * one lock, and a later change of the working folder changes nothing.
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
