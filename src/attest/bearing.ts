/**
 * What the memory of a log says of one of the files that hold it.
 *
 * @module
 */
import { beginsAs } from './begins-as.ts';
import { type HeadMemory, type KnownHead, type Recalled } from './head-memory.ts';
import { type LogIdentity } from './log-identity.ts';
import { realOrPlace } from './place-of.ts';

/** What is remembered, as it bears on a file. */
export interface Bearing {
  /** All paths of the file, also those that lead to it from where the log was seen. */
  readonly places: readonly string[];
  /** What the file must continue. */
  readonly heads: readonly KnownHead[];
  /** What was seen elsewhere and says nothing against this file. */
  readonly elsewhere: readonly KnownHead[];
}

/** What is known at all of a file's paths, of the logs that were there last. */
export function seenAt(memory: HeadMemory | undefined, places: readonly string[]): Recalled {
  const seen: KnownHead[] = [];
  for (const place of places) {
    const recalled = memory?.at(place) ?? [];
    if ('problem' in recalled) return recalled;
    seen.push(...recalled);
  }
  return seen;
}

/**
 * All paths of a file at which its log is known, beside those that its name comes to: where it was seen in a folder that
 * was exchanged for a link since, the file that is reached there now must be what was seen there.
 *
 * @param places what its name comes to, the real path first.
 */
export function allPlaces(
  places: readonly string[],
  heads: readonly KnownHead[],
): readonly string[] {
  const [real] = places;
  const leading = heads.map(({ path }) => path).filter((path) => realOrPlace(path) === real);
  return [...new Set([...places, ...leading])];
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
 * @param names all paths of the file that its name comes to.
 */
export function bearingOn(
  names: readonly string[],
  heads: readonly KnownHead[],
  identity: LogIdentity | null | undefined,
): Bearing {
  const places = allPlaces(names, heads);
  const isKnown = heads.some(({ path }) => places.includes(path));
  const bears = (head: KnownHead): boolean => {
    if (places.includes(head.path)) return true;
    const wasMoved = !isKnown && !beginsAs(head.path, head.log);
    return wasMoved || (isOwn(head, heads) && identity?.isCatalog !== true);
  };
  return { places, heads: heads.filter(bears), elsewhere: heads.filter((head) => !bears(head)) };
}
