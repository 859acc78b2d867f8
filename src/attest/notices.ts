/**
 * What is worth knowing of a transcript's evidence, and is no fault.
 *
 * @module
 */
import { isCatalog } from './catalog.ts';
import { type CheckpointFile } from './checkpoint-file.ts';
import { headsOf, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf, type LogIdentity } from './log-identity.ts';
import { type Statement } from './look-up.ts';

/** What lay around the file before it was read. */
export interface Around {
  /** The file's real path; undefined for what is no file, as a pipe. */
  readonly path: string | undefined;
  readonly stored: CheckpointFile | null;
  readonly listed: readonly Statement[];
}

/** What was found since. */
export interface Found {
  /** The keys that signed and aren't known. */
  readonly unknown: readonly string[];
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
  const { unknown, identity, memory } = found;
  const beside = besideWords(around, unknown);
  if (identity === null) return beside;
  return [...beside, ...placeWords(around, identity, memory), ...copyWords(found)];
}

/** Of longer copies: what they have more may be a forgery, or what is missing here. */
function copyWords({ elsewhere, size }: Found): string[] {
  return elsewhere
    .filter((head) => head.size > size)
    .map(({ size: more, by, time, path }) => {
      const who = by === 'writer' ? 'written' : 'verified';
      return `a longer copy of it, of ${more} records, was ${who} in ${path} at ${time}`;
    });
}

function besideWords({ stored }: Around, unknown: readonly string[]): string[] {
  const { torn = false, problem } = stored ?? {};
  return [
    ...(unknown.length === 0 ? [] : [`signed by an unknown key: ${unknown.join(', ')}`]),
    ...(torn ? ['the last checkpoint beside it is unfinished, as a crash leaves it'] : []),
    ...(problem === undefined ? [] : [`its checkpoints can't be read: ${problem}`]),
  ];
}

function placeWords(
  { path, listed }: Around,
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
  for (const { log, size, time } of path === undefined ? [] : seenAt(path, memory)) {
    const isOther = log !== id && log !== before?.log;
    if (isOther) {
      words.push(`another log was seen here at ${time}: ${originOf(log)}, ${size} records`);
    }
  }
  return words;
}

/** The logs that are remembered of a place. */
function seenAt(path: string, memory: HeadMemory): readonly KnownHead[] {
  // Nobody begins a catalogue anew where there is one; a run may take the place of another.
  if (isCatalog(path)) return memory.everAt(path);
  return headsOf(memory.at(path));
}
