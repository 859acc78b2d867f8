/**
 * What lies around a transcript beside its own files: the catalogue of its folder, and git notes.
 *
 * @module
 */
import { type Covered } from './coverage.ts';
import { type Examined, type Knowledge } from './examine.ts';
import { examineFile } from './examine-file.ts';
import { gitNotes } from './git.ts';
import { lookUp, type Believed } from './look-up.ts';

/**
 * Adds to what is known that the catalogue of a file's folder, and git notes of the repositories that it is in, are looked
 * at too, as `hashtape verify` does. Each is read once and kept, so make it anew for each look at files.
 *
 * @param catalogs paths of catalogues that are asked beside those of the files' own folders: where a run was moved from.
 */
export function lookAround(knowledge: Knowledge, catalogs: readonly string[] = []): Knowledge {
  const findGitNotes = knowledge.findGitNotes ?? gitNotes();
  const known = { ...knowledge, findGitNotes };
  const check = (catalog: string): Promise<Believed> => believe(catalog, known);
  return { ...known, listed: lookUp({ others: catalogs, check }) };
}

/** What is wrong with a catalogue, and what was stated of it elsewhere. */
async function believe(catalog: string, knowledge: Knowledge): Promise<Believed> {
  const { listed: _, required: __, ...known } = knowledge;
  const looking = { ...known, isOnlyLooking: true } as const;
  const all = await examineFile(catalog, looking, { allowOpen: true });
  if (isFit(all)) return { coverage: all.coverage };
  // Whoever can write beside it could make up an anchor that it doesn't keep: that is told where it is verified itself, and
  // must not keep it from being asked.
  const { keys, memory } = known;
  const bare = { keys, memory, isOnlyLooking: true, isWithoutAnchors: true } as const;
  const own = await examineFile(catalog, bare, { allowOpen: true });
  if (isFit(own)) return { coverage: NOTHING };
  return { problem: `${own.fault?.reason}: ${own.fault?.detail}`, coverage: NOTHING };
}

const NOTHING: readonly Covered[] = [];

/** Its last record may just be being written. */
function isFit({ fault }: Examined): boolean {
  return fault === undefined || fault.reason === 'torn_tail';
}
