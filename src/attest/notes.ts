/**
 * Files of several signed notes, one after the other.
 *
 * @module
 */
import { MAX_BYTES } from '../evidence/encoding.ts';

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
  for (let end = noteEnd(file, 0); end !== undefined; end = noteEnd(file, start)) {
    notes.push(file.subarray(start, end));
    start = end;
  }
  return { notes, rest: file.subarray(start) };
}

/** Where the first note behind a place ends; undefined if there is no whole one. */
function noteEnd(file: Uint8Array, start: number): number | undefined {
  let signed = false;
  let at = start;
  for (let end = file.indexOf(NEWLINE, at); end !== -1; end = file.indexOf(NEWLINE, at)) {
    const begin = at;
    const isSignature = SIGNATURE.every((byte, i) => file[begin + i] === byte);
    if (signed && !isSignature) return at;
    signed = isSignature;
    at = end + 1;
  }
  return signed ? at : undefined;
}

/**
 * The notes of a log in any file, one at a time: each from a line that is the log's origin to the end of its
 * signatures. Whatever else stands there is passed over, as other logs' notes and what a crash left of one.
 */
export function* notesOf(origin: string, file: Uint8Array): Generator<Uint8Array> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const first = Buffer.from(`${origin}\n`);
  let at = bytes.indexOf(first);
  while (at !== -1) {
    const next = bytes.indexOf(first, at + first.length);
    const within = bytes.subarray(at, next === -1 ? bytes.length : next);
    const isLine = at === 0 || bytes[at - 1] === NEWLINE;
    const end = isLine ? noteEnd(within, 0) : undefined;
    if (end !== undefined) yield within.subarray(0, end);
    at = next;
  }
}

/** Whether a checkpoint of any log stands in a file, among whatever else. */
export function holdsNote(file: Uint8Array): boolean {
  const text = Buffer.from(file.buffer, file.byteOffset, file.length).toString('latin1');
  return SIGNED_ROOT.test(text);
}

/** The root, what a log may say beside it, and the first signature. It reads a line once for each that may be a root above it. */
const SIGNED_ROOT = /^(?:0|[1-9]\d{0,15})\n[A-Za-z0-9+/]{43}=\n(?:[^\n]+\n){0,16}\n\xe2\x80\x94 /m;

/**
 * Whether bytes without a whole signature can be the beginning of a checkpoint of ours, or of one more signature
 * under the one before: what a crash leaves. A loss of power may keep the length alone, as zeros.
 */
export function isCutOff(rest: Uint8Array): boolean {
  // One note was being written when it came, zeros and all.
  if (rest.length > MAX_BYTES) return false;
  let end = rest.length;
  while (end > 0 && rest[end - 1] === 0) end -= 1;
  // Byte by byte: the cut may be within the dash.
  const lines = Buffer.from(rest.subarray(0, end)).toString('latin1').split('\n');
  const last = lines.pop() ?? '';
  if (lines.length > CHECKPOINT.length) return false;
  if (!lines.every((line, i) => CHECKPOINT[i]?.pattern.test(line))) return false;
  const line = CHECKPOINT[lines.length];
  if (lines.length === 0 && isCutSignature(last)) return true;
  if (line === undefined) return isCutSignature(last);
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
function isCutSignature(text: string): boolean {
  const found = CUT_SIGNATURE.exec(text);
  if (found === null) return false;
  const [, base64 = '', padding = ''] = found;
  const over = base64.length % 4;
  return padding === '' || over === 2 || (over === 3 && padding === '=');
}

/** No repetition of a group: on a long line each turn of one takes room on the stack. */
const CUT_SIGNATURE =
  /^(?:|\xe2\x80?|\xe2\x80\x94(?: (?:[^\0- +]+(?: ([A-Za-z0-9+/]*)(={0,2}))?)?)?)$/;
