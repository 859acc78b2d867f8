/**
 * What is worth knowing of a transcript's evidence, and is no fault.
 *
 * @module
 */
import { isCatalog, type Listed } from './catalog.ts';
import { type CheckpointFile } from './checkpoint-file.ts';
import { knownOf, type HeadMemory, type KnownHead } from './head-memory.ts';
import { originOf, type LogIdentity } from './log-identity.ts';

/** What lay around the file before it was read. */
export interface Around {
  /** The file's real path; undefined for what is no file, as a pipe. */
  readonly path: string | undefined;
  readonly stored: CheckpointFile | null;
  readonly listed: Listed | null;
}

/** What was found since. */
export interface Found {
  /** The keys that signed and aren't known. */
  readonly unknown: readonly string[];
  /** Which log it is; null if it is broken, or there is none. */
  readonly identity: LogIdentity | null;
  readonly memory: HeadMemory | undefined;
}

/** In sentences. */
export function noticesOf(around: Around, { unknown, identity, memory }: Found): string[] {
  const beside = besideWords(around, unknown);
  if (identity === null) return beside;
  return [...beside, ...placeWords(around, identity, memory)];
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
  const { before } = listed ?? {};
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
  if (isCatalog(path)) return memory.list().filter((head) => head.path === path);
  const last = knownOf(memory.at(path));
  return last === null ? [] : [last];
}
