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

/** A signature that is right. */
export interface Signed extends Verified {
  readonly checkpoint: Checkpoint;
}

/** What the signatures of a file of checkpoints come to. */
export interface Signatures {
  readonly signed: readonly Signed[];
  /** The names and IDs of keys that aren't known, each once. */
  readonly unknown: readonly string[];
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
  for (const stored of file.checkpoints) {
    // The same again shows nothing more, and a signature takes its time.
    const text = stored.note.text + encodeSignatureLines(stored.note.signatures);
    if (seen.has(text)) continue;
    seen.add(text);
    const { verified, unknown: others, wrong } = await checkNote(stored.note, keys, ed25519);
    const forged = wrong[0] ?? (await altered(stored.note, others, keys));
    if (forged !== undefined)
      return { signed, unknown: [...unknown], fault: faultOf(stored, forged) };
    for (const each of verified) signed.push({ ...each, checkpoint: stored.checkpoint });
    for (const { name, keyId } of others) unknown.add(`${name}+${keyId}`);
  }
  const all = { signed, unknown: [...unknown] };
  if (file.damage === undefined) return all;
  return {
    ...all,
    fault: { seq: 0, reason: 'bad_signature', detail: `beside it, ${file.damage}` },
  };
}

/**
 * A signature of a known key whose name or ID was changed, so that it seems to be of an unknown one. Another key
 * of the same name is just that: names may be chosen.
 */
async function altered(
  { text }: Note,
  others: readonly NoteSignature[],
  keys: readonly VerifierKey[],
): Promise<NoteSignature | undefined> {
  for (const other of others) {
    for (const key of keys) {
      // An ID is made of name and key, so no other key has it. Its last bits share a digit of base64 with the
      // signature: one change there spoils both.
      const isNearly = key.name === other.name && key.keyId.startsWith(other.keyId.slice(0, 6));
      if (isNearly || key.keyId === other.keyId) return other;
      if (key.name !== other.name) continue;
      const { signature } = other;
      const note = { text, signatures: [{ name: key.name, keyId: key.keyId, signature }] };
      if ((await checkNote(note, [key], nodeEd25519)).ok) return other;
    }
  }
  return undefined;
}

function faultOf(
  { number, checkpoint }: StoredCheckpoint,
  { name, keyId }: NoteSignature,
): EvidenceFault {
  return {
    seq: Math.max(checkpoint.size - 1, 0),
    reason: 'bad_signature',
    detail: `checkpoint ${number} beside it isn't what its key signed: the signature of ${name}+${keyId} is wrong`,
  };
}
