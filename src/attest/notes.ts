/**
 * Files of several signed notes, one after the other.
 *
 * @module
 */

/** The notes of a file, and what is left of one whose writing was cut off. */
export interface SplitNotes {
  readonly notes: readonly Uint8Array[];
  /** What follows the last whole note; empty if nothing does. */
  readonly rest: Uint8Array;
}

/**
 * Splits a file of notes whose texts have no blank line, as checkpoints don't: a note ends where a line that
 * isn't a signature follows one that is. A last note that was cut after one of its signatures is one still.
 */
export function splitNotes(file: Uint8Array): SplitNotes {
  const notes: Uint8Array[] = [];
  let start = 0;
  let at = 0;
  let signed = false;
  for (let end = file.indexOf(NEWLINE); end !== -1; end = file.indexOf(NEWLINE, at)) {
    const begin = at;
    const isSignature = SIGNATURE.every((byte, i) => file[begin + i] === byte);
    if (signed && !isSignature) {
      notes.push(file.subarray(start, at));
      start = at;
    }
    signed = isSignature;
    at = end + 1;
  }
  if (signed) {
    notes.push(file.subarray(start, at));
    start = at;
  }
  return { notes, rest: file.subarray(start) };
}

/**
 * Whether bytes without a whole signature can be the beginning of a checkpoint of ours, or of one more signature
 * under the one before: what a crash leaves. A loss of power may keep the length alone, as zeros.
 */
export function isCutOff(rest: Uint8Array): boolean {
  // Byte by byte: the cut may be within the dash.
  const lines = Buffer.from(rest).toString('latin1').replace(/\0+$/, '').split('\n');
  const last = lines.pop() ?? '';
  if (lines.length > CHECKPOINT.length) return false;
  if (!lines.every((line, i) => CHECKPOINT[i]?.pattern.test(line))) return false;
  const line = CHECKPOINT[lines.length];
  if (lines.length === 0 && CUT_SIGNATURE.test(last)) return true;
  if (line === undefined) return CUT_SIGNATURE.test(last);
  return line.pattern.test(last + line.sample.slice(last.length));
}

const NEWLINE = 0x0a;
/** `— `: it begins a line that is a signature. */
const SIGNATURE = Buffer.from('— ');

/** The lines before the signatures. A line that was cut off is one again with the rest of the sample. */
const CHECKPOINT = [
  { pattern: /^hashtape\/[0-9a-f]{64}$/, sample: `hashtape/${'0'.repeat(64)}` },
  { pattern: /^(?:0|[1-9]\d{0,15})$/, sample: '1' },
  { pattern: /^[A-Za-z0-9+/]{43}=$/, sample: `${'A'.repeat(43)}=` },
  { pattern: /^$/, sample: '' },
];

/** Any beginning of a line of a dash, a name and base64, in which nothing can follow the padding. */
const CUT_SIGNATURE =
  /^(?:|\xe2\x80?|\xe2\x80\x94(?: (?:[^\0- +]+(?: (?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{0,3}|[A-Za-z0-9+/]{2}==?|[A-Za-z0-9+/]{3}=))?)?)?)$/;
