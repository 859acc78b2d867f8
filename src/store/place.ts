/**
 * Paths of transcript files.
 *
 * @module
 */
import { lstatSync, mkdirSync, realpathSync, rmdirSync, statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from './store-errors.ts';

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
  // The other one takes `x/..` for nothing, also where x is a link to another folder.
  return realpathSync.native(path);
}

/**
 * What a path means, as the system takes it when it opens a file: a link is followed before the `..` behind it. In
 * `link/../a.jsonl` that is the folder around the one that the link leads to, where `resolve` of Node would name the one
 * around the link. All that is looked for around a file must be looked for where the file is read.
 *
 * @param from the folder that a relative path begins in.
 * @returns an absolute path without `..`; links that no `..` follows are left in it.
 */
export function meantPath(path: string, from: string = process.cwd()): string {
  const absolute = isAbsolute(path) ? path : from + sep + path;
  const parts = absolute.split(sep);
  // Without `..` the text says it all, and nothing is opened by what is too long.
  if (!parts.includes('..') || absolute.length > MAX_PATH) return resolve(absolute);
  let meant = resolve(sep);
  for (const part of parts) {
    meant = part === '..' ? dirname(realOr(meant)) : join(meant, part);
  }
  return meant;
}

/** PATH_MAX of Linux; other systems have less. */
const MAX_PATH = 4096;

function realOr(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path; // nothing is there, so nothing can be read by it
  }
}

/** The path of a file in a folder, which means the same: `join` of Node would take a `..` in it back. */
export function inFolder(folder: string, name: string): string {
  const isPlain = !folder.split(sep).includes('..');
  return isPlain ? join(folder, name) : `${folder.replace(/\/+$/, '')}${sep}${name}`;
}

/** Whether there is anything of this name: also a symbolic link that leads nowhere. */
export function isTaken(path: string): boolean {
  return found(path) !== null;
}

/** Whether a path's last part is a symbolic link. */
export function isLink(path: string): boolean {
  return found(path)?.isSymbolicLink() === true;
}

function found(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null; // what is done with it will tell why
  }
}

/**
 * Creates the folders that a new file needs.
 *
 * @param mode who may do what in them: the bits of mkdir(2).
 * @returns the folders whose entries are new once the file is there: those to make durable, deepest first.
 */
export function createParents(path: string, mode = 0o777): readonly string[] {
  const changed = [dirname(meantPath(path))];
  // One by one: Node's own recursive mkdir never ends below /proc (seen with 20.20).
  const missing: string[] = [];
  for (let [folder = ''] = changed; !isFolder(folder) && folder !== dirname(folder);) {
    missing.push(folder);
    folder = dirname(folder);
    changed.push(folder);
  }
  for (const folder of missing.toReversed()) makeFolder(folder, mode);
  return changed;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // making it will tell why
  }
}

/** Another process may have made it meanwhile. */
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
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
