/**
 * Checkpoints (C2SP tlog-checkpoint): the text of a signed note that says how many records a log has and the
 * root of their Merkle tree.
 *
 * @module
 */
import { decodeHash, encodeBase64, EvidenceError, readInteger, readText } from './encoding.ts';

/** A log's state, as its text in a note says it. */
export interface Checkpoint {
  /** Which log: one line, best a URL without its scheme. */
  readonly origin: string;
  /** How many leaves the log's tree has. */
  readonly size: number;
  /** The tree's root, 32 bytes. */
  readonly root: Uint8Array;
  /** Further lines; none of ours has any. */
  readonly extensions: readonly string[];
}

/** Reads a note's text strictly: what it accepts, {@link encodeCheckpoint} writes again byte for byte. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeText = '', rootText = '', ...rest] = readText(text, WHAT).split('\n');
  const extensions = rest.slice(0, -1);
  if (rest.at(-1) !== '' || origin === '' || extensions.includes('')) {
    throw new EvidenceError(`${WHAT}: three lines or more, none of them empty, end in a newline`);
  }
  const size = readInteger(sizeText);
  if (size === undefined) {
    throw new EvidenceError(`${WHAT}: the size must be decimal, up to ${Number.MAX_SAFE_INTEGER}`);
  }
  const root = decodeHash(rootText);
  if (root === undefined) throw new EvidenceError(`${WHAT}: the root must be base64 of 32 bytes`);
  return { origin, size, root, extensions };
}

/** Writes a checkpoint as a note's text. Throws if {@link parseCheckpoint} would not read it as it is. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const { origin, size, root, extensions } = checkpoint;
  const text = `${[origin, String(size), encodeBase64(root), ...extensions].join('\n')}\n`;
  // A newline within the origin or an extension would make more lines of it.
  if (parseCheckpoint(text).extensions.length !== extensions.length) {
    throw new EvidenceError(`${WHAT}: the origin and every extension are one line`);
  }
  return text;
}

const WHAT = 'checkpoint';
