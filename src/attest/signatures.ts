/**
 * Who signed a log's checkpoints.
 *
 * @module
 */
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import {
  checkNote,
  type Checkpoint,
  type Note,
  type NoteSignature,
  type Verified,
  type VerifierKey,
} from '../evidence/index.ts';
import { encodeSignatureLines } from '../evidence/note.ts';
import { onceEach } from './check-once.ts';
import { type CheckpointFile, type StoredCheckpoint } from './checkpoint-file.ts';
import { type EvidenceFault } from './compare.ts';
import { shortened } from './notices.ts';

/** A signature that is right. */
export interface Signed extends Verified {
  readonly checkpoint: Checkpoint;
}

/** What the signatures of a file of checkpoints come to. */
export interface Signatures {
  readonly signed: readonly Signed[];
  /** The names and IDs of keys that aren't known, each once. */
  readonly unknown: readonly string[];
  /** Whether so many unknown keys have the name of a known one that not each was tried with that. */
  readonly hasMore: boolean;
  /** The first checkpoint that isn't what its key signed, or can't be read. */
  readonly fault?: EvidenceFault;
}

/** Checks the signatures by the known keys. */
export async function checkSignatures(
  file: CheckpointFile,
  keys: readonly VerifierKey[],
): Promise<Signatures> {
  const signed: Signed[] = [];
  const unknown = new Set<string>();
  const seen = new Set<string>();
  const ed25519 = onceEach(nodeEd25519);
  const disguised = new Disguised(keys);
  const found = (): Signatures => ({ signed, unknown: [...unknown], hasMore: disguised.hasMore });
  for (const stored of file.checkpoints) {
    // The same again shows nothing more, and a signature takes its time.
    const text = stored.note.text + encodeSignatureLines(stored.note.signatures);
    if (seen.has(text)) continue;
    seen.add(text);
    const { verified, unknown: others, wrong } = await checkNote(stored.note, keys, ed25519);
    const forged = wrong[0] ?? (await disguised.among(stored.note, others));
    if (forged !== undefined) return { ...found(), fault: faultOf(stored, forged) };
    for (const each of verified) signed.push({ ...each, checkpoint: stored.checkpoint });
    for (const { name, keyId } of others) unknown.add(`${name}+${keyId}`);
  }
  if (file.damage === undefined) return found();
  return {
    ...found(),
    fault: { seq: 0, reason: 'bad_signature', detail: `beside it, ${file.damage}` },
  };
}

/** So many unknown keys that have the name of a known one are tried: whoever can write the file can make up any number. */
const MOST_TRIED = 1000;

/**
 * Finds signatures of a known key whose name or ID was changed, so that they seem to be of an unknown one. Another key
 * of the same name is just that: names may be chosen.
 */
class Disguised {
  readonly #keys: readonly VerifierKey[];
  /** Those that were tried: a key that is another in one note is so in all. */
  readonly #tried = new Set<string>();
  hasMore = false;

  constructor(keys: readonly VerifierKey[]) {
    this.#keys = keys;
  }

  /** The first among the signatures of unknown keys. */
  async among(
    { text }: Note,
    others: readonly NoteSignature[],
  ): Promise<NoteSignature | undefined> {
    for (const other of others) {
      if (this.#keys.some((key) => isNearly(key, other))) return other;
      for (const key of this.#keys) {
        if (key.name !== other.name || !this.#isToTry(key, other)) continue;
        const { signature } = other;
        const note = { text, signatures: [{ name: key.name, keyId: key.keyId, signature }] };
        if ((await checkNote(note, [key], nodeEd25519)).ok) return other;
      }
    }
    return undefined;
  }

  #isToTry({ keyId }: VerifierKey, other: NoteSignature): boolean {
    const pair = `${keyId} ${other.keyId}`;
    if (this.#tried.has(pair)) return false;
    if (this.#tried.size >= MOST_TRIED) {
      this.hasMore = true;
      return false;
    }
    this.#tried.add(pair);
    return true;
  }
}

/**
 * Whether only the name, or the ID's end, is another. An ID is made of name and key, so no other key has it. Its last
 * bits share a digit of base64 with the signature: one change there spoils both.
 */
function isNearly(key: VerifierKey, { name, keyId }: NoteSignature): boolean {
  return key.keyId === keyId || (key.name === name && key.keyId.startsWith(keyId.slice(0, 6)));
}

function faultOf(
  { number, checkpoint }: StoredCheckpoint,
  { name, keyId }: NoteSignature,
): EvidenceFault {
  return {
    seq: Math.max(checkpoint.size - 1, 0),
    reason: 'bad_signature',
    detail: `checkpoint ${number} beside it isn't what its key signed: the signature of ${shortened(name)}+${keyId} is wrong`,
  };
}
