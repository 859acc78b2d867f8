/**
 * Evidence that is made and kept on a machine: a signing key, checkpoints beside a transcript, the memory of heads.
 *
 * @module
 */
export { AttestedStore, type AttestedState, type Attesting } from './attested-store.ts';
export { checkProof, type CheckedProof, type ProofReason } from './check-proof.ts';
export { type EvidenceFault, type EvidenceReason } from './compare.ts';
export { readCopy, type Copy } from './copy-file.ts';
export { examineFile } from './examine-file.ts';
export { type Covered, type Level } from './coverage.ts';
export { type Examined, type Knowledge } from './examine.ts';
export { HeadMemory, type KnownHead, type SeenHead } from './head-memory.ts';
export { newKey, openKeyring, readKeyring, rotateKey, type Keyring } from './key-file.ts';
export { lookAround } from './look-around.ts';
export { createAttested, openAttested } from './open.ts';
export { placesIn, type Places } from './places.ts';
export { ProveError, proveRecord, type ProveOptions } from './prove.ts';
export { requestTimestamp, type TimestampAuthority, type TimestampOutcome } from './timestamp.ts';
export {
  verifyTimestamp,
  type TimestampExpectation,
  type TimestampVerdict,
} from './timestamp-verify.ts';
export {
  cosign,
  type CosignOutcome,
  type CosignRequest,
  type WitnessAddress,
} from './witness-client.ts';
export { nodeEd25519 } from '../evidence/ed25519-node.ts';
