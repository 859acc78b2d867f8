/**
 * Where a file is, or was.
 *
 * @module
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** A path in the real path of its folder, as far as that is there; the name itself isn't followed. */
export function placeOf(file: string): string {
  const path = resolve(file);
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
