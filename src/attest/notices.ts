/**
 * What is worth knowing of a transcript's evidence, and is no fault.
 *
 * @module
 */
import { type CheckpointFile } from './checkpoint-file.ts';
import { headAt, seenAs, sizeWords, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf, type LogIdentity } from './log-identity.ts';
import { type Statement } from './look-up.ts';

/** What lay around the file before it was read. */
export interface Around {
  /** The file's real path; undefined for what is no file, as a pipe. */
  readonly path: string | undefined;
  /** All paths that it comes to by its name. */
  readonly places: readonly string[];
  readonly stored: CheckpointFile | null;
  readonly listed: readonly Statement[];
}

/** What was found since. */
export interface Found {
  /** The keys that signed and aren't known. */
  readonly unknown: readonly string[];
  /** Whether not each of them was tried with the known keys of its name. */
  readonly hasMore: boolean;
  /** Which log it is; null if it is broken, or there is none. */
  readonly identity: LogIdentity | null;
  readonly memory: HeadMemory | undefined;
  /** What was seen of it in other places, and says nothing against it here. */
  readonly elsewhere: readonly KnownHead[];
  /** How many records it has. */
  readonly size: number;
}

/** In sentences. */
export function noticesOf(around: Around, found: Found): string[] {
  const { identity, memory } = found;
  const beside = besideWords(around, found);
  if (identity === null) return beside;
  return [...beside, ...placeWords(around, identity, memory), ...copyWords(found)];
}

/** Of longer copies: what they have more may be a forgery, or what is missing here. */
function copyWords({ elsewhere, size }: Found): string[] {
  const longer = elsewhere.filter((head) => head.size > size);
  // The largest of each place.
  const [longest, ...others] = longer.filter((head) => headAt(longer, head.path) === head);
  if (longest === undefined) return [];
  const { size: more, by, time, path } = longest;
  const rest = others.length === 0 ? '' : `; ${others.length} more were seen elsewhere`;
  return [
    `a longer copy of it, of ${more} records, was ${seenAs(by)} in ${path} at ${time}${rest}`,
  ];
}

function besideWords({ stored }: Around, { unknown, hasMore }: Found): string[] {
  const { torn = false, problem } = stored ?? {};
  return [
    ...(unknown.length === 0 ? [] : [`signed by an unknown key: ${keyWords(unknown)}`]),
    ...(hasMore ? [MORE] : []),
    ...(torn ? ['the last checkpoint beside it is unfinished, as a crash leaves it'] : []),
    ...(problem === undefined ? [] : [`its checkpoints can't be read: ${problem}`]),
  ];
}

const MORE =
  'so many unknown keys that have the name of a known one signed its checkpoints that not all were tried: whether one is that of the known key, with its ID changed, is not known';

/** So many keys are named, with so much of their names: more are counted. */
const KEYS = 5;
const LETTERS = 100;

/** A name that somebody has chosen, in a line. */
export function shortened(name: string): string {
  return name.length > LETTERS ? `${name.slice(0, LETTERS)}…` : name;
}

/** Keys in a line that isn't longer for all that somebody has written to a file. */
export function keyWords(keys: readonly string[]): string {
  const named = keys.slice(0, KEYS).map(shortened);
  const more = keys.length - named.length;
  return `${named.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

function placeWords(
  { places, listed }: Around,
  { id, unique }: LogIdentity,
  memory: HeadMemory | undefined,
): string[] {
  const before = listed.find(({ isNamed }) => isNamed)?.before;
  const words =
    before === undefined
      ? []
      : [`another log was written here before, at ${before.at}: ${originOf(before.log)}`];
  if (memory === undefined) return words;
  if (!unique) words.push('not remembered: the run has no id, so another could begin just so');
  const seen = places.flatMap((place) => memory.everAt(place));
  const others = new Map(seen.map((head) => [head.log, head]));
  for (const log of [id, before?.log ?? '']) others.delete(log);
  return [...words, ...seenWords([...others.values()])];
}

/** Whoever removes a file and runs again does so too, so it is no fault; but it is said as long as it is remembered. */
export function seenWords(others: readonly KnownHead[]): string[] {
  const [last] = others;
  if (last === undefined) return [];
  const which = `${originOf(last.log)}, ${sizeWords(last)}`;
  return others.length === 1
    ? [
        `another log was ${last.by === 'writer' ? 'written' : 'seen'} here at ${last.time}: ${which}`,
      ]
    : [`${others.length} other logs were seen here, the last at ${last.time}: ${which}`];
}
