/**
 * Compares a log with what was stated of it before: the checkpoints beside it, and what this user remembers.
 *
 * @module
 */
import { toHex } from '../evidence/hex.ts';
import { type Listed } from './catalog.ts';
import { type CheckpointFile } from './checkpoint-file.ts';
import { type KnownHead } from './head-memory.ts';
import { originOf } from './log-identity.ts';
import { type Roots } from './roots.ts';

/** What evidence can show to be wrong; docs/evidence-format.md defines each. */
export type EvidenceReason =
  /** The log is smaller than it was. */
  | 'rolled_back'
  /** The log was there, and is gone. */
  | 'missing'
  /** The log isn't a continuation of what it was. */
  | 'diverged'
  /** A checkpoint isn't what its key signed. */
  | 'bad_signature'
  /** A checkpoint states another root, or is of another log. */
  | 'root_mismatch'
  /** Only keys that aren't known signed, where a known one is required. */
  | 'unknown_key'
  /** Evidence that is required isn't there. */
  | 'not_covered';

/** What is wrong with a log, by the evidence. */
export interface EvidenceFault {
  /** The first record that it may concern, from 0. */
  readonly seq: number;
  readonly reason: EvidenceReason;
  readonly detail: string;
  readonly expected?: string;
  /** Whether of all that was there only the end of the last line is gone: then that is all that is wrong with it. */
  readonly torn?: true;
}

/** That a log had this root at this size. */
export interface Claim {
  readonly size: number;
  readonly root: string;
  /** Who says so, as the beginning of a sentence. */
  readonly words: string;
  readonly reason: 'diverged' | 'root_mismatch';
  /** Whether nothing may follow these records. */
  readonly isSealed?: boolean;
  /** Whether it is of the checkpoints beside the log: they are of one history. */
  readonly isBeside?: true;
}

/** What was stated of a log before. */
export interface Stated {
  /** Null if the file holds no record. */
  readonly id: string | null;
  readonly stored: CheckpointFile | null;
  readonly known: KnownHead | null;
  /** What the folder's catalogue says of the file. */
  readonly listed?: Listed | null;
  /** What is stated in other places. */
  readonly anchors?: readonly Claim[];
  /** Whether the file's last line is unfinished. */
  readonly isTorn?: boolean;
}

/** Asks for the roots that {@link compare} needs. */
export function wantRoots(roots: Roots, { stored, known, listed, anchors }: Partial<Stated>): void {
  for (const { size } of anchors ?? []) roots.want(size);
  for (const { checkpoint } of stored?.checkpoints ?? []) roots.want(checkpoint.size);
  if (known) roots.want(known.size);
  if (listed?.end) roots.want(listed.end.size);
}

/** The first statement that the log doesn't keep, by size. Who signed is not looked at. */
export function compare(roots: Roots, stated: Stated): EvidenceFault | undefined {
  const foreign = stated.id === null ? undefined : otherLog(stated.id, stated);
  if (foreign !== undefined) return foreign;
  let held = 0;
  const claims = claimsOf(stated).toSorted((a, b) => a.size - b.size);
  for (const claim of claims) {
    if (claim.size > roots.size) return rolledBack(claims.at(-1) ?? claim, roots, stated);
    // Other claims may be of a history that the checkpoints beside it are not of.
    const fault = judge(claim, roots, claim.isBeside ? held : 0);
    if (fault !== undefined) return fault;
    if (claim.isBeside) held = claim.size;
  }
  return undefined;
}

function otherLog(id: string, { stored, listed }: Stated): EvidenceFault | undefined {
  const foreign = stored?.checkpoints.find(({ checkpoint }) => checkpoint.origin !== originOf(id));
  if (foreign !== undefined) {
    const { number, checkpoint } = foreign;
    const detail = `checkpoint ${number} beside it is of another log, ${checkpoint.origin}`;
    return { seq: 0, reason: 'root_mismatch', detail };
  }
  if (!listed || listed.log === id) return undefined;
  const { log, at } = listed;
  const detail = `the catalogue of its folder says that another log, ${log}, was written to this file at ${at}`;
  return { seq: 0, reason: 'diverged', detail };
}

function claimsOf({ stored, known, listed, anchors = [] }: Stated): Claim[] {
  const claims = (stored?.checkpoints ?? []).map(
    ({ number, checkpoint: { size, root } }): Claim => ({
      size,
      root: toHex(root),
      words: `checkpoint ${number} beside it states ${size} records`,
      reason: 'root_mismatch',
      isBeside: true,
    }),
  );
  claims.push(...anchors);
  if (listed?.end) {
    const words = `the catalogue of its folder states ${listed.end.size} records`;
    const { size, root, sealed: isSealed } = listed.end;
    claims.push({ size, root, words, reason: 'diverged', isSealed });
  }
  if (known) {
    const who = known.by === 'writer' ? 'it was written' : 'it was verified';
    const words = `by this machine's memory of heads it had ${known.size} records when ${who} here at ${known.time}`;
    const { size, root, sealed: isSealed } = known;
    claims.push({ size, root, words, reason: 'diverged', isSealed });
  }
  return claims;
}

function rolledBack(claim: Claim, { size }: Roots, { isTorn }: Stated): EvidenceFault {
  const detail = `${claim.words}, and it has ${size}`;
  const fault = { seq: size, reason: 'rolled_back', detail } as const;
  if (isTorn !== true || claim.size !== size + 1) return fault;
  const rest = 'its last line is cut or has no newline, and was a whole record before';
  return { ...fault, detail: `${detail}: ${rest}`, torn: true };
}

function judge(
  { size, root, words, reason, isSealed = false }: Claim,
  roots: Roots,
  held: number,
): EvidenceFault | undefined {
  const found = roots.at(size);
  if (found === root) {
    if (!isSealed || roots.size === size) return undefined;
    // A run that has ended is never gone on with.
    const detail = `${words}, and was sealed with them; it has ${roots.size}`;
    return { seq: size, reason: 'diverged', detail };
  }
  const seq = Math.min(held, Math.max(size - 1, 0));
  const where = seq >= size - 1 ? `record ${seq}` : `one of records ${seq} to ${size - 1}`;
  const detail = `${words}; ${where} is another now: the root of the first ${size} is ${found}`;
  return { seq, reason, detail, expected: root };
}
