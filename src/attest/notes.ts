/**
 * Files of several signed notes, one after the other.
 *
 * @module
 */

/** The notes of a file as texts, and what is left of one whose writing was cut off. */
export interface NoteTexts {
  readonly notes: readonly string[];
  /** What follows the last whole note; empty if nothing does. */
  readonly rest: string;
}

/**
 * Splits a file of notes whose texts have no blank line, as checkpoints don't: a note ends where a line that
 * isn't a signature follows one that is.
 */
export function splitNotes(file: string): NoteTexts {
  const notes: string[] = [];
  let start = 0;
  let at = 0;
  let signed = false;
  for (let end = file.indexOf('\n'); end !== -1; end = file.indexOf('\n', at)) {
    const isSignature = file.startsWith(SIGNATURE, at);
    if (signed && !isSignature) {
      notes.push(file.slice(start, at));
      start = at;
    }
    signed = isSignature;
    at = end + 1;
  }
  // A cut could have come after any of the last note's signatures: then it has fewer of them, and is one still.
  if (signed && at === file.length) {
    notes.push(file.slice(start));
    start = file.length;
  }
  return { notes, rest: file.slice(start) };
}

const SIGNATURE = '— ';
