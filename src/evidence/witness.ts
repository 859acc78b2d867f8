/**
 * What a log and its witness say to each other (C2SP tlog-witness, `add-checkpoint`): the bodies of the request
 * and of the two answers that have a format.
 *
 * @module
 */
import { parseCheckpoint } from './checkpoint.ts';
import { decodeHash, encodeBase64, EvidenceError, readInteger, readText } from './encoding.ts';
import {
  encodeNote,
  encodeSignatureLines,
  type Note,
  type NoteSignature,
  parseNote,
  parseSignatureLines,
} from './note.ts';

/** Asks a witness to cosign a checkpoint. */
export interface AddCheckpoint {
  /** The size of the last checkpoint of this log that the witness cosigned; 0 if none. */
  readonly oldSize: number;
  /** That the log of that size is how this one began: RFC 6962 §2.1.2. Empty if `oldSize` is 0. */
  readonly consistency: readonly Uint8Array[];
  /** The checkpoint, signed by the log. */
  readonly note: Note;
}

/** Writes a request's body. Throws if it isn't one that {@link parseAddCheckpoint} would read. */
export function encodeAddCheckpoint({ oldSize, consistency, note }: AddCheckpoint): string {
  const lines = [OLD + String(oldSize), ...consistency.map(encodeBase64)];
  const body = `${lines.join('\n')}\n\n${encodeNote(note)}`;
  parseAddCheckpoint(body);
  return body;
}

/** Reads a request's body strictly: what it accepts, {@link encodeAddCheckpoint} writes again byte for byte. */
export function parseAddCheckpoint(input: string | Uint8Array): AddCheckpoint {
  const body = readText(input, WHAT);
  const split = body.indexOf('\n\n');
  const [first = '', ...lines] = body.slice(0, Math.max(split, 0)).split('\n');
  const oldSize = first.startsWith(OLD) ? readInteger(first.slice(OLD.length)) : undefined;
  if (oldSize === undefined) {
    throw new EvidenceError(`${WHAT}: the first line must be "old" and a decimal number`);
  }
  if (lines.length > MAX_PATH) throw new EvidenceError(`${WHAT}: over ${MAX_PATH} hashes`);
  const consistency = lines.map(parseHash);
  const note = parseNote(body.slice(split + 2));
  if (parseCheckpoint(note.text).size < oldSize) {
    throw new EvidenceError(`${WHAT}: the old size is above the checkpoint's`);
  }
  return { oldSize, consistency, note };
}

/** Writes the body of status 200: the witness's cosignatures. Throws if it couldn't be read as they are. */
export function encodeCosignatures(signatures: readonly NoteSignature[]): string {
  const body = encodeSignatureLines(signatures);
  // A newline in a name could make more of them.
  if (parseCosignatures(body).length !== signatures.length) {
    throw new EvidenceError('note: a name is one word');
  }
  return body;
}

/** Reads the body of status 200. Nothing says yet that a signature in it is right. */
export function parseCosignatures(input: string | Uint8Array): NoteSignature[] {
  return parseSignatureLines(readText(input, 'cosignatures'));
}

/** The content type of {@link encodeTreeSize}'s body. */
export const TREE_SIZE_TYPE = 'text/x.tlog.size';

/** Writes the body of status 409: the size of the last checkpoint that the witness cosigned. */
export function encodeTreeSize(size: number): string {
  return `${size}\n`;
}

/** Reads the body of status 409; undefined if it is anything else. */
export function parseTreeSize(body: string): number | undefined {
  return body.endsWith('\n') ? readInteger(body.slice(0, -1)) : undefined;
}

const WHAT = 'request';
const OLD = 'old ';
/** As C2SP tlog-witness has it: a tree with 2^63 leaves needs no more. */
const MAX_PATH = 63;

function parseHash(line: string, i: number): Uint8Array {
  const hash = decodeHash(line);
  if (hash !== undefined) return hash;
  throw new EvidenceError(`${WHAT}: hash ${i + 1} of the proof isn't base64 of 32 bytes`);
}
