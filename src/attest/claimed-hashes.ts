/**
 * The hashes that the records of a transcript claim, read without looking at what the records say.
 *
 * @module
 */
import { readHexHash } from '../evidence/hex.ts';
import { type OpenFile } from '../store/filesystem.ts';
import { pieces } from '../store/pieces.ts';
import { ascii, matches } from '../transcript/bytes.ts';

/**
 * Is told of each whole line: the 32 bytes of its hash, which are only lent, or null if it doesn't begin as a record
 * does; and where it begins and ends in the file, its newline left out. It gives false when it has enough.
 */
export type OnClaim = (hash: Uint8Array | null, start: number, end: number) => boolean;

/** Reads a file's lines from a place at which one begins. */
export async function readClaims(file: OpenFile, from: number, onClaim: OnClaim): Promise<void> {
  const hash = new Uint8Array(HASH_BYTES);
  const claim = (bytes: Uint8Array, at: number): Uint8Array | null =>
    matches(bytes, at, OPENING) &&
    readHexHash(bytes, at + OPENING.length, hash) &&
    bytes[at + CLAIM_BYTES - 1] === QUOTE
      ? hash
      : null;
  // How a line begins that an earlier piece didn't end.
  let begun = NOTHING;
  let lineAt = from;
  let pieceAt = from;
  for await (const piece of pieces((into, position) => file.read(into, from + position))) {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      const isWhole = begun.length === 0;
      const found = isWhole ? claim(piece, start) : claim(joined(begun, piece.subarray(0, end)), 0);
      if (!onClaim(found, lineAt, pieceAt + end)) return;
      begun = NOTHING;
      start = end + 1;
      lineAt = pieceAt + start;
    }
    begun = joined(begun, piece.subarray(start));
    pieceAt += piece.length;
  }
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const NOTHING = new Uint8Array(0);
const HASH_BYTES = 32;
const OPENING = ascii('{"hash":"');
/** The opening, the hash in hex, and a quotation mark. */
const CLAIM_BYTES = OPENING.length + 2 * HASH_BYTES + 1;

/** As much of the beginning of a line as is looked at. */
function joined(begun: Uint8Array, more: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat([begun, more.subarray(0, Math.max(0, CLAIM_BYTES - begun.length))]),
  );
}
