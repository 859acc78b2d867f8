/**
 * Who signed a log's checkpoints.
 *
 * @module
 */
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import {
  checkNote,
  type Checkpoint,
  type NoteSignature,
  type Verified,
  type VerifierKey,
} from '../evidence/index.ts';
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
  for (const stored of file.checkpoints) {
    const { verified, unknown: others, wrong } = await checkNote(stored.note, keys, nodeEd25519);
    const forged = wrong[0] ?? others.find((other) => passesItselfOff(other, keys));
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

/** Half of a known key's name and ID: one byte may have been changed to make a wrong signature an unknown one. */
function passesItselfOff({ name, keyId }: NoteSignature, keys: readonly VerifierKey[]): boolean {
  return keys.some((key) => key.name === name || key.keyId === keyId);
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
