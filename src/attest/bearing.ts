/**
 * What the memory of a log says of one of the files that hold it.
 *
 * @module
 */
import { headAt, type KnownHead } from './head-memory.ts';
import { type LogIdentity } from './log-identity.ts';
import { isFileItself } from './place-of.ts';

/** What is remembered, as it bears on a file. */
export interface Bearing {
  /** What the file must continue. */
  readonly heads: readonly KnownHead[];
  /** What was seen elsewhere and says nothing against this file. */
  readonly elsewhere: readonly KnownHead[];
}

/**
 * Chooses among the heads that are known of a log those that the file at `path` must continue.
 *
 * A log that is seen at a new place must continue what this user's own runs wrote of it anywhere, and what was seen of it
 * where it isn't any more, so that a moved or copied file is recognised. A copy that was only verified elsewhere says
 * nothing against it: anybody can add records to a copy. A folder that is copied has two catalogues from then on,
 * each of which goes its own way.
 */
export function bearingOn(
  path: string,
  heads: readonly KnownHead[],
  identity: LogIdentity | null | undefined,
): Bearing {
  const own = headAt(heads, path);
  const bears = (head: KnownHead): boolean => {
    if (head.path === path) return true;
    const wasMoved = own === undefined && !isFileItself(head.path);
    return wasMoved || (head.by === 'writer' && identity?.isCatalog !== true);
  };
  return { heads: heads.filter(bears), elsewhere: heads.filter((head) => !bears(head)) };
}
