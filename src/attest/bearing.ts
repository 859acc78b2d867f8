/**
 * What the memory of a log says of one of the files that hold it.
 *
 * @module
 */
import { isCatalog } from './catalog.ts';
import { headAt, type KnownHead } from './head-memory.ts';
import { isThere } from './place-of.ts';

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
 * A log that is seen at a new place must continue all that was seen of it anywhere, so that a moved or copied file is
 * recognised. Where it was seen before, a copy that was only verified elsewhere says nothing against it: anybody
 * can add records to a copy. A folder that is copied has two catalogues from then on, each of which goes its own way.
 */
export function bearingOn(path: string, heads: readonly KnownHead[]): Bearing {
  const own = headAt(heads, path);
  const bears = (head: KnownHead): boolean => {
    if (head.path === path) return true;
    if (isCatalog(path)) return own === undefined && !isThere(head.path);
    return own === undefined || head.by === 'writer';
  };
  return { heads: heads.filter(bears), elsewhere: heads.filter((head) => !bears(head)) };
}
