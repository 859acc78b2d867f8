/**
 * Logs of this user's own runs that have another log in their place.
 *
 * @module
 */
import { beginsAs } from './begins-as.ts';
import { headsOf, type HeadMemory, type KnownHead } from './head-memory.ts';

/**
 * What this user's own run wrote where another log is now. Who begins a new run in its place takes leave of it first, so
 * somebody else has put that there. Undefined if what was written lies in another place, as it was last seen there.
 *
 * @param places all paths of the file.
 * @param id the log that is there; undefined if there is none.
 */
export function replacedBy(
  id: string | undefined,
  places: readonly string[],
  memory: HeadMemory | undefined,
): KnownHead | undefined {
  if (memory === undefined || id === undefined) return undefined;
  return places
    .flatMap((place) => headsOf(memory.at(place)))
    .find(
      (head) => head.by === 'writer' && head.log !== id && !liesElsewhere(head, places, memory),
    );
}

function liesElsewhere(
  { log, size }: KnownHead,
  places: readonly string[],
  memory: HeadMemory,
): boolean {
  const others = headsOf(memory.recall(log)).filter((head) => !places.includes(head.path));
  return others.some(
    (head) => head.size >= size && beginsAs(head.path, log) && memory.isLast(head),
  );
}
