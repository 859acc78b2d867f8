/**
 * The files that the arguments of `verify` stand for.
 *
 * @module
 */
import { type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareCodePoints } from '../transcript/index.ts';
import { codeOf, messageOf } from '../store/store-errors.ts';

/** A file to verify, or why there is none. */
export type Target =
  | { readonly file: string }
  | { readonly file: string; readonly problem: string };

/** Files in the order given; a folder's in the order of their paths. */
export async function findTargets(paths: readonly string[]): Promise<Target[]> {
  const found: Target[] = [];
  for (const path of paths) found.push(...(await targetsOf(path)));
  return found;
}

async function targetsOf(path: string): Promise<readonly Target[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ file: path }];
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const problem = missing
      ? 'there is no such file; check the path'
      : `it can't be read: ${messageOf(error)}`;
    return [{ file: path, problem }];
  }
  const inside = await walk(path);
  if (inside.length > 0) return inside;
  return [{ file: path, problem: 'the folder holds no *.jsonl file; name the files' }];
}

/** Links to files are followed, links to folders aren't: they may lead round in a circle. */
async function walk(folder: string): Promise<Target[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return [{ file: folder, problem: `the folder can't be read: ${messageOf(error)}` }];
  }
  const found: Target[] = [];
  for (const entry of entries.toSorted((a, b) => compareCodePoints(a.name, b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await walk(path)));
    else if (entry.name.endsWith('.jsonl') && !(await isFolder(path))) found.push({ file: path });
  }
  return found;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    // A broken link is reported when it is opened.
    () => false,
  );
}
