/**
 * The files that a path on the command line stands for.
 *
 * @module
 */
import { type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { inFolder } from '../store/place.ts';
import { compareCodePoints } from '../transcript/index.ts';
import { accessProblem } from './verdict.ts';

/** A file to verify, or why it can't be. */
export interface Target {
  readonly file: string;
  readonly problem?: string;
}

/** The file itself, or a folder's *.jsonl files at any depth, in the order of their names. It never rejects. */
export async function targetsOf(path: string): Promise<readonly Target[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ file: path }];
  } catch (error) {
    return [{ file: path, problem: accessProblem(path, error) }];
  }
  const targets: Target[] = [];
  const folders = [path];
  // It grows while it is walked through. A folder that can't be read keeps no other from being verified.
  for (const folder of folders) {
    try {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const file = inFolder(folder, entry.name);
        if (entry.isDirectory()) folders.push(file);
        else if (await isTranscript(entry, file)) targets.push({ file });
      }
    } catch (error) {
      targets.push({ file: folder, problem: accessProblem(folder, error) });
    }
  }
  if (targets.length > 0) return targets.toSorted((a, b) => compareCodePoints(a.file, b.file));
  return [{ file: path, problem: 'the folder holds no *.jsonl file; name the files' }];
}

/**
 * Links to files are followed, links to folders aren't: they may lead round in a circle. A pipe or a device
 * is left out: reading it may never end.
 */
async function isTranscript(entry: Dirent, file: string): Promise<boolean> {
  if (!entry.name.endsWith('.jsonl')) return false;
  if (!entry.isSymbolicLink()) return entry.isFile();
  // Where a link leads nowhere, a file is missing, which is to be said.
  return stat(file).then(
    (found) => found.isFile(),
    () => true,
  );
}
