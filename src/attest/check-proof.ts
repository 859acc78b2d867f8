/**
 * Checks a proof of one record by itself: without the log, and without a network.
 *
 * @module
 */
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import { fromHex } from '../evidence/hex.ts';
import {
  checkTlogProof,
  encodeVerifierKey,
  EvidenceError,
  parseTlogProof,
  type ProofVerdict,
  type TlogProof,
  type VerifierKey,
} from '../evidence/index.ts';
import { type TranscriptRecord } from '../transcript/index.ts';
import { originOf } from './log-identity.ts';
import { readLoneRecord } from './lone-record.ts';

/** Why a proof shows nothing. */
export type ProofReason =
  /** The file isn't a proof as hashtape writes it. */
  | 'bad_proof'
  /** What it holds isn't a record. */
  | 'bad_record'
  /** The record's content was changed. */
  | 'hash_mismatch'
  /** The record is spelled otherwise than it was hashed. */
  | 'not_canonical'
  /** The record isn't at this place in the log that was signed. */
  | 'root_mismatch'
  /** The checkpoint isn't what its key signed. */
  | 'bad_signature'
  /** Only keys that aren't known signed: nothing vouches for it. */
  | 'unknown_key';

/** What a proof comes to. */
export interface CheckedProof {
  /** Whether a known key vouches for the record. */
  readonly ok: boolean;
  readonly fault?: { readonly reason: ProofReason; readonly detail: string };
  /** The record, if a known key vouches for it. */
  readonly record?: TranscriptRecord;
  /** What the checkpoint calls the log: it is made of the first record's hash. */
  readonly origin?: string;
  /** How many records the log had when the checkpoint was signed. */
  readonly size?: number;
  /** The known keys whose signatures are right. */
  readonly signed: readonly string[];
  /** The names and IDs of other keys that are said to have signed. */
  readonly unknown: readonly string[];
}

/**
 * Checks a proof file's bytes by the known keys. Whatever the bytes are, it doesn't reject.
 *
 * @throws {EvidenceError} if two of the keys have one name and ID, and it is used.
 */
export async function checkProof(
  bytes: string | Uint8Array,
  keys: readonly VerifierKey[],
): Promise<CheckedProof> {
  let proof: TlogProof;
  try {
    proof = parseTlogProof(bytes);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return failed('bad_proof', error.message);
  }
  const { extra } = proof;
  if (extra === undefined) return failed('bad_proof', 'the record is not in it');
  const lone = readLoneRecord(extra);
  if ('reason' in lone) return failed(lone.reason, lone.detail);
  const { record } = lone;
  const verdict = await checkTlogProof(proof, hashOf(record), keys, nodeEd25519);
  const { checkpoint, signed } = verdict;
  const shown = {
    origin: checkpoint.origin,
    size: checkpoint.size,
    signed: signed.verified.map(({ key }) => encodeVerifierKey(key)),
    unknown: signed.unknown.map(({ name, keyId }) => `${name}+${keyId}`),
  };
  const fault = faultOf(proof, record, verdict);
  return fault === undefined ? { ok: true, record, ...shown } : { ok: false, fault, ...shown };
}

function failed(reason: ProofReason, detail: string): CheckedProof {
  return { ok: false, fault: { reason, detail }, signed: [], unknown: [] };
}

function hashOf({ hash }: TranscriptRecord): Uint8Array {
  return fromHex(hash) ?? new Uint8Array(0);
}

const ORIGIN = /^hashtape\/[0-9a-f]{64}$/;

function faultOf(
  { index }: TlogProof,
  { seq, hash }: TranscriptRecord,
  { ok, detail = '', included, checkpoint, signed }: ProofVerdict,
): CheckedProof['fault'] {
  const { origin, size } = checkpoint;
  if (!ORIGIN.test(origin)) {
    return { reason: 'bad_proof', detail: `its checkpoint is of no log of hashtape's: ${origin}` };
  }
  if (seq !== index || (seq === 0 && origin !== originOf(hash))) {
    const where = seq === index ? `log ${origin}` : `place ${index}`;
    return { reason: 'root_mismatch', detail: `record ${seq} doesn't belong at ${where}` };
  }
  if (!included) {
    const where = `the log of ${size} records that its checkpoint states`;
    return { reason: 'root_mismatch', detail: `record ${seq} isn't in ${where}` };
  }
  if (ok) return undefined;
  const reason = signed.wrong.length > 0 ? 'bad_signature' : 'unknown_key';
  return { reason, detail };
}
