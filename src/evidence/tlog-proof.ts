/**
 * One record's proof in a file (C2SP tlog-proof): where it is in the log, its path to the root, and the signed
 * checkpoint with that root. It is checked without the log.
 *
 * @module
 */
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { type Ed25519Verifier } from './ed25519.ts';
import {
  decodeBase64,
  decodeHash,
  encodeBase64,
  EvidenceError,
  readInteger,
  readText,
} from './encoding.ts';
import { checkInclusion, leafHash } from './merkle.ts';
import { encodeNote, type Note, parseNote } from './note.ts';
import { type VerifierKey } from './note-key.ts';
import { checkNote, type NoteVerdict } from './note-signature.ts';

/** That a record is in a log. */
export interface TlogProof {
  /** The record's place in the log, from 0. */
  readonly index: number;
  /** The hashes beside the way from the leaf to the root. */
  readonly path: readonly Uint8Array[];
  /** The log's checkpoint, with its signatures. */
  readonly note: Note;
  /** Bytes for whoever checks. Nothing vouches for them. */
  readonly extra?: Uint8Array;
}

/** Writes a proof; the file's name should end in `.tlog-proof`. Throws if it isn't one that can be read. */
export function encodeTlogProof({ index, path, note, extra }: TlogProof): string {
  const lines = [HEADER];
  if (extra !== undefined) lines.push(EXTRA + encodeBase64(extra));
  lines.push(INDEX + String(index), ...path.map(encodeBase64));
  const file = `${lines.join('\n')}\n\n${encodeNote(note)}`;
  parseTlogProof(file);
  return file;
}

/** Reads a proof strictly: what it accepts, {@link encodeTlogProof} writes again byte for byte. */
export function parseTlogProof(input: string | Uint8Array): TlogProof {
  const file = readText(input, WHAT);
  const split = file.indexOf('\n\n');
  const [header, ...lines] = file.slice(0, Math.max(split, 0)).split('\n');
  if (header !== HEADER) throw new EvidenceError(`${WHAT}: the first line must be ${HEADER}`);
  const extra = lines[0]?.startsWith(EXTRA) === true ? parseExtra(lines.shift()) : {};
  const index = parseIndex(lines.shift());
  if (lines.length > MAX_PATH)
    throw new EvidenceError(`${WHAT}: a path of over ${MAX_PATH} hashes`);
  const path = lines.map(parseHash);
  const note = parseNote(file.slice(split + 2));
  parseCheckpoint(note.text);
  return { ...extra, index, path, note };
}

/** What a proof shows. */
export interface ProofVerdict {
  /** Whether a known key vouches for a log in which the record is. */
  readonly ok: boolean;
  /** What is missing, in words. */
  readonly detail?: string;
  /** Whether the path leads from the record to the checkpoint's root, whoever signed that. */
  readonly included: boolean;
  /** Which log it is, as the checkpoint says. */
  readonly checkpoint: Checkpoint;
  /** Who signed the checkpoint. */
  readonly signed: NoteVerdict;
}

/** Checks that `data`, a record's hash, is where the proof says, in a log that one of the `keys` signed. */
export async function checkTlogProof(
  proof: TlogProof,
  data: Uint8Array,
  keys: readonly VerifierKey[],
  ed25519: Ed25519Verifier,
): Promise<ProofVerdict> {
  const checkpoint = parseCheckpoint(proof.note.text);
  const signed = await checkNote(proof.note, keys, ed25519);
  const stray = inclusionFault(proof, checkpoint, data);
  const detail = signatureFault(signed) ?? stray;
  const shown = { included: stray === undefined, checkpoint, signed };
  return detail === undefined ? { ok: true, ...shown } : { ok: false, detail, ...shown };
}

const WHAT = 'proof';
const HEADER = 'c2sp.org/tlog-proof@v1';
const EXTRA = 'extra ';
const INDEX = 'index ';
/** A tree with the 2^63 leaves that the other formats can count is this high. */
const MAX_PATH = 63;

function parseExtra(line = ''): { extra: Uint8Array } {
  const extra = decodeBase64(line.slice(EXTRA.length));
  if (extra === undefined || extra.length === 0) {
    throw new EvidenceError(`${WHAT}: extra data must be base64 and not empty`);
  }
  return { extra };
}

function parseIndex(line = ''): number {
  const index = line.startsWith(INDEX) ? readInteger(line.slice(INDEX.length)) : undefined;
  if (index !== undefined) return index;
  throw new EvidenceError(
    `${WHAT}: a line "index", with a decimal number, must come before the path`,
  );
}

function parseHash(line: string, i: number): Uint8Array {
  const hash = decodeHash(line);
  if (hash !== undefined) return hash;
  throw new EvidenceError(`${WHAT}: hash ${i + 1} of the path isn't base64 of 32 bytes`);
}

/** A cosignature alone doesn't do: it says that the log was seen, not that the log's owner stands by it. */
function signatureFault({ verified, wrong }: NoteVerdict): string | undefined {
  const [forged] = wrong;
  if (forged !== undefined) return `the checkpoint's signature by ${forged.name} is wrong`;
  if (verified.some(({ key }) => key.kind === 'ed25519')) return undefined;
  return 'no known key signed the checkpoint';
}

function inclusionFault(
  { index, path }: TlogProof,
  { size, root }: Checkpoint,
  data: Uint8Array,
): string | undefined {
  if (index >= size)
    return `the checkpoint is of ${size} records: record ${index} isn't among them`;
  if (checkInclusion({ index, size, root, leaf: leafHash(data) }, path)) return undefined;
  return `the path doesn't lead from this record, as record ${index}, to the checkpoint's root`;
}
