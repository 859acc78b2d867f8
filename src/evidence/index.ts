/**
 * Evidence: Merkle trees, signed notes, checkpoints and proofs; values that were taken out of records.
 *
 * Pure: no input or output, no clock, no dependency; it runs in a browser. Ed25519 is passed in.
 *
 * @module
 */
export { encodeCheckpoint, parseCheckpoint, type Checkpoint } from './checkpoint.ts';
export {
  redact,
  redactAsIn,
  reveal,
  type Commitment,
  type Path,
  type Payload,
  type Redacted,
  type Revealed,
} from './commit.ts';
export {
  disclosureDigest,
  encodeDisclosure,
  parseDisclosure,
  type Disclosure,
} from './disclosure.ts';
export { webEd25519 } from './ed25519-web.ts';
export { type Ed25519, type Ed25519Verifier } from './ed25519.ts';
export { EvidenceError } from './encoding.ts';
export {
  checkConsistency,
  checkInclusion,
  EMPTY_ROOT,
  leafHash,
  MerkleTree,
  nodeHash,
  proveConsistency,
  proveInclusion,
  type ConsistencyClaim,
  type InclusionClaim,
  type TreeHashes,
} from './merkle.ts';
export {
  encodeSignerKey,
  encodeVerifierKey,
  parseSignerKey,
  parseVerifierKey,
  signerKey,
  verifierKey,
  type SignatureKind,
  type SignerKey,
  type VerifierKey,
} from './note-key.ts';
export {
  checkNote,
  cosignNote,
  signNote,
  type NoteVerdict,
  type Verified,
} from './note-signature.ts';
export { encodeNote, parseNote, type Note, type NoteSignature } from './note.ts';
export {
  checkPolicy,
  parsePolicy,
  policyKeys,
  type Policy,
  type PolicyGroup,
  type PolicyLog,
  type PolicyVerdict,
  type PolicyWitness,
} from './policy.ts';
export {
  NOTHING_OPEN,
  openLine,
  parseOpenFile,
  type BadLine,
  type OpenFile,
  type OpenLine,
} from './open-file.ts';
export { Revealer, type Disclosed, type OpenFault, type RevealedRecord } from './revealer.ts';
export {
  checkTlogProof,
  encodeTlogProof,
  parseTlogProof,
  type ProofVerdict,
  type TlogProof,
} from './tlog-proof.ts';
export {
  encodeAddCheckpoint,
  encodeCosignatures,
  encodeTreeSize,
  parseAddCheckpoint,
  parseCosignatures,
  parseTreeSize,
  TREE_SIZE_TYPE,
  type AddCheckpoint,
} from './witness.ts';
