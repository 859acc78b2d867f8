/**
 * Signed notes (C2SP signed-note): a text, a blank line, and a line for each signature. Here they are read and
 * written; who signed is checked in note-signature.ts.
 *
 * @module
 */
import { concat, decodeBase64, encodeBase64, EvidenceError, readText } from './encoding.ts';
import { fromHex, toHex } from './hex.ts';

/** How many signatures a note may carry, as in Go's `sumdb/note`. */
export const MAX_SIGNATURES = 100;

/** A signature as a note carries it; nothing says yet that it is right. */
export interface NoteSignature {
  /** The name of the key that is said to have signed. */
  readonly name: string;
  /** The key's ID, as 8 lower-case hex digits. Name and ID together name a key and its kind of signature. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** A text and its signatures. */
export interface Note {
  /** What is signed: it ends in a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** What a key may be called: no control character, no space of Unicode, and no plus sign. */
export const KEY_NAME: RegExp = /^[^\0- \p{White_Space}+]+$/u;

const SIGNATURE_LINE = /^— ([^\p{White_Space}+]+) ([A-Za-z0-9+/=]+)$/u;

/** Reads a note strictly: what it accepts, {@link encodeNote} writes again byte for byte. */
export function parseNote(input: string | Uint8Array): Note {
  const whole = readText(input, 'note');
  const split = whole.lastIndexOf('\n\n');
  if (split < 0) throw new EvidenceError('note: no blank line stands before the signatures');
  const signatures = parseSignatureLines(whole.slice(split + 2));
  return { text: whole.slice(0, split + 1), signatures };
}

/** Reads what stands below a note's blank line: one signature a line, one or more. */
export function parseSignatureLines(text: string): NoteSignature[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new EvidenceError('note: the last line has no newline');
  if (lines.length === 0) throw new EvidenceError('note: no signature');
  if (lines.length > MAX_SIGNATURES) {
    throw new EvidenceError(`note: over ${MAX_SIGNATURES} signatures`);
  }
  const signatures = lines.map(parseSignature);
  const keys = new Set(signatures.map(({ name, keyId }) => `${name}+${keyId}`));
  if (keys.size < signatures.length) throw new EvidenceError('note: two signatures of one key');
  return signatures;
}

/** Writes a note. Throws if it isn't one that {@link parseNote} would read as it is. */
export function encodeNote(note: Note): string {
  const whole = `${note.text}\n${encodeSignatureLines(note.signatures)}`;
  const read = parseNote(whole);
  // A newline in a name, or none after the text, could make another note of it.
  if (read.text !== note.text || read.signatures.length !== note.signatures.length) {
    throw new EvidenceError('note: the text must end in a newline, and a name is one word');
  }
  return whole;
}

/** Writes what {@link parseSignatureLines} reads. */
export function encodeSignatureLines(signatures: readonly NoteSignature[]): string {
  return signatures.map(signatureLine).join('');
}

function parseSignature(line: string, i: number): NoteSignature {
  const [, name, base64] = SIGNATURE_LINE.exec(line) ?? [];
  if (name === undefined || base64 === undefined) {
    throw new EvidenceError(`note: signature line ${i + 1} isn't "— name base64"`);
  }
  const bytes = decodeBase64(base64);
  if (bytes === undefined || bytes.length < 5) {
    const rule = 'the base64 of a key ID and a signature';
    throw new EvidenceError(`note: signature line ${i + 1} doesn't end in ${rule}`);
  }
  return { name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) };
}

function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = fromHex(keyId);
  if (id?.length !== 4) throw new EvidenceError('note: a key ID has 8 lower-case hex digits');
  return `— ${name} ${encodeBase64(concat(id, signature))}\n`;
}
