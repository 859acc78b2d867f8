/**
 * What the memory of a log says of one of the files that hold it.
 *
 * @module
 */
import { headAt, type HeadMemory, type KnownHead, type Recalled } from './head-memory.ts';
import { type LogIdentity } from './log-identity.ts';
import { isFileItself } from './place-of.ts';

/** What is remembered, as it bears on a file. */
export interface Bearing {
  /** What the file must continue. */
  readonly heads: readonly KnownHead[];
  /** What was seen elsewhere and says nothing against this file. */
  readonly elsewhere: readonly KnownHead[];
}

/** What is known at the first of a file's paths at which something is. */
export function seenAt(memory: HeadMemory | undefined, places: readonly string[]): Recalled {
  for (const place of places) {
    const recalled = memory?.at(place) ?? [];
    if ('problem' in recalled || recalled.length > 0) return recalled;
  }
  return [];
}

/** What is known of a log at the first of a file's paths at which something is. */
export function headIn(
  places: readonly string[],
  heads: readonly KnownHead[],
): KnownHead | undefined {
  const known = places.map((place) => headAt(heads, place));
  return known.find((head) => head !== undefined);
}

/** Whether this user's own run wrote it, or it was verified in the place where that did. */
function isOwn({ path }: KnownHead, heads: readonly KnownHead[]): boolean {
  return heads.some((head) => head.by === 'writer' && head.path === path);
}

/**
 * Chooses among the heads that are known of a log those that a file must continue.
 *
 * A log that is seen at a new place must continue what this user's own runs wrote of it anywhere, what was verified in
 * those places, and what was seen of it where it isn't any more, so that a moved or copied file is recognised. A copy that was only verified elsewhere says
 * nothing against it: anybody can add records to a copy. A folder that is copied has two catalogues from then on,
 * each of which goes its own way.
 *
 * @param places all paths of the file.
 */
export function bearingOn(
  places: readonly string[],
  heads: readonly KnownHead[],
  identity: LogIdentity | null | undefined,
): Bearing {
  const isKnown = headIn(places, heads) !== undefined;
  const bears = (head: KnownHead): boolean => {
    if (places.includes(head.path)) return true;
    const wasMoved = !isKnown && !isFileItself(head.path);
    return wasMoved || (isOwn(head, heads) && identity?.isCatalog !== true);
  };
  return { heads: heads.filter(bears), elsewhere: heads.filter((head) => !bears(head)) };
}
