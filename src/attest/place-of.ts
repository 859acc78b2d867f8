/**
 * Where a file is, or was.
 *
 * @module
 */
import { lstatSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { meantPath, realPath } from '../store/place.ts';
import { codeOf } from '../store/store-errors.ts';

/** A path in the real path of its folder, as far as that is there; the name itself isn't followed. */
export function placeOf(file: string): string {
  const path = meantPath(file);
  try {
    return join(realPath(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

/**
 * All paths of a file that links in its name come to: each folder of it followed, or not. What was seen at one of them
 * was seen here, also where a folder was changed for a link to another since.
 */
export function placesOf(file: string): readonly string[] {
  const path = meantPath(file);
  const places = new Set<string>();
  for (let folder = path; ; folder = dirname(folder)) {
    const real = realOf(folder);
    if (real !== null) places.add(join(real, relative(folder, path)));
    // Nothing above it is a link.
    if (real === folder || folder === dirname(folder)) return [...places];
  }
}

function realOf(path: string): string | null {
  try {
    return realPath(path);
  } catch {
    return null; // it isn't there, or can't be seen
  }
}

/** The real path of a file or folder, or where it was. */
export function realOrPlace(path: string): string {
  return realOf(path) ?? placeOf(path);
}

/** Whether a file is there, or may be: where that can't be seen, nothing is called missing. */
export function isThere(path: string): boolean {
  return isFile(path, statSync);
}

/** The same of the very file: a link to another is none. */
export function isFileItself(path: string): boolean {
  return isFile(path, lstatSync);
}

function isFile(path: string, look: (path: string) => Stats): boolean {
  try {
    return look(path).isFile();
  } catch (error) {
    return !['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '');
  }
}
