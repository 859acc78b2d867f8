/**
 * Compares a log with what was stated of it before: the checkpoints beside it, and what this user remembers.
 *
 * @module
 */
import { toHex } from '../evidence/hex.ts';
import { shellPath } from '../store/shell-path.ts';
import { type CheckpointFile } from './checkpoint-file.ts';
import { seenAs, sizeWords, type KnownHead } from './head-memory.ts';
import { originOf } from './log-identity.ts';
import { type Statement } from './look-up.ts';
import { shortened } from './notices.ts';
import { isFileItself } from './place-of.ts';
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
  /** What to do if it was done on purpose, as the end of a sentence. */
  readonly undo?: string;
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
  /** What to do if the log was changed on purpose. */
  readonly undo?: string;
  /** Whether nothing may follow these records. */
  readonly isSealed?: boolean;
  /** Whether it is of the checkpoints beside the log: they are of one history. */
  readonly isBeside?: true;
}

/** What was stated of a log before. */
export interface Stated {
  /** All paths of the file. */
  readonly places: readonly string[];
  /** Null if the file holds no record. */
  readonly id: string | null;
  readonly stored: CheckpointFile | null;
  /** What is remembered of the log. */
  readonly known: readonly KnownHead[];
  /** What catalogues say of the file, or of its log. */
  readonly listed?: readonly Statement[];
  /** What this user's own run wrote here, if that was another log. */
  readonly replaced?: KnownHead | undefined;
  /** What is stated in other places. */
  readonly anchors?: readonly Claim[];
  /** Whether the file's last line is unfinished. */
  readonly isTorn?: boolean;
}

/** Asks for the roots that {@link compare} needs. */
export function wantRoots(roots: Roots, { stored, known, listed, anchors }: Partial<Stated>): void {
  for (const { size } of anchors ?? []) roots.want(size);
  for (const { checkpoint } of stored?.checkpoints ?? []) roots.want(checkpoint.size);
  for (const { size } of known ?? []) roots.want(size);
  for (const { end } of listed ?? []) if (end) roots.want(end.size);
}

/** The first statement that the log doesn't keep, by size. Who signed is not looked at. */
export function compare(roots: Roots, stated: Stated): EvidenceFault | undefined {
  const foreign = stated.id === null ? undefined : otherLog(stated.id, stated);
  if (foreign !== undefined) return foreign;
  const claims = claimsOf(stated).toSorted((a, b) => a.size - b.size);
  const failed = failedOf(claims, roots);
  const [first] = failed;
  if (first === undefined) return undefined;
  const fault = first.fault ?? rolledBack(claims, roots, stated);
  // Of all that fail, or the next one would say it after the first was undone.
  const toUndo = new Set(failed.flatMap(({ claim }) => claim.undo ?? []));
  return toUndo.size === 0 ? fault : { ...fault, undo: [...toUndo].join(', and ') };
}

/** The claims that don't hold, with what is wrong by each; one of more records than there are has no fault of its own. */
function failedOf(
  claims: readonly Claim[],
  roots: Roots,
): { claim: Claim; fault: EvidenceFault | undefined }[] {
  let held = 0;
  const failed: { claim: Claim; fault: EvidenceFault | undefined }[] = [];
  for (const claim of claims) {
    const isLarger = claim.size > roots.size;
    // Other claims may be of a history that the checkpoints beside it are not of.
    const fault = isLarger ? undefined : judge(claim, roots, claim.isBeside ? held : 0);
    if (isLarger || fault !== undefined) failed.push({ claim, fault });
    else if (claim.isBeside) held = claim.size;
  }
  return failed;
}

function otherLog(
  id: string,
  { stored, listed = [], replaced }: Stated,
): EvidenceFault | undefined {
  const foreign = stored?.checkpoints.find(({ checkpoint }) => checkpoint.origin !== originOf(id));
  if (foreign !== undefined) {
    const { number, checkpoint } = foreign;
    const detail = `checkpoint ${number} beside it is of another log, ${shortened(checkpoint.origin)}`;
    return { seq: 0, reason: 'root_mismatch', detail, undo: MOVE_AWAY };
  }
  const other = listed.find(({ log }) => log !== id);
  if (other === undefined) return replaced === undefined ? undefined : otherThan(replaced);
  const { log, at, who, file } = other;
  const detail = `${who} says that another log, ${log}, was written to this file at ${at}`;
  return { seq: 0, reason: 'diverged', detail, undo: forgetting(file) };
}

function otherThan(written: KnownHead): EvidenceFault {
  const { log, time, path } = written;
  const detail = `by this machine's memory of heads another log, ${originOf(log)}, of ${sizeWords(written)}, was written here at ${time}`;
  return { seq: 0, reason: 'diverged', detail, undo: forgetting(path) };
}

const MOVE_AWAY = 'move its .checkpoint away';

/** How to forget what was seen at a path. */
export function forgetting(path: string): string {
  return `run \`hashtape heads forget ${shellPath(path)}\``;
}

function claimsOf({ places, stored, known, listed = [], anchors = [] }: Stated): Claim[] {
  const claims = (stored?.checkpoints ?? []).map(
    ({ number, checkpoint: { size, root } }): Claim => ({
      size,
      root: toHex(root),
      words: `checkpoint ${number} beside it states ${size} records`,
      reason: 'root_mismatch',
      undo: MOVE_AWAY,
      isBeside: true,
    }),
  );
  claims.push(...anchors);
  for (const { file, who, end } of listed) {
    if (end === undefined) continue;
    const words = `${who} states ${end.size} records`;
    const { size, root, sealed: isSealed } = end;
    claims.push({ size, root, words, reason: 'diverged', isSealed, undo: forgetting(file) });
  }
  for (const head of known) {
    const { size, root, sealed: isSealed } = head;
    const isHere = places.includes(head.path);
    const words = knownWords(head, isHere);
    // Where it goes on in another place, forgetting that would give up the better one.
    const isLeft = isHere || !isFileItself(head.path);
    const undo = isLeft ? { undo: forgetting(head.path) } : {};
    claims.push({ size, root, words, reason: 'diverged', isSealed, ...undo });
  }
  return claims;
}

function knownWords({ size, by, time, path }: KnownHead, isHere: boolean): string {
  const where = isHere ? 'here' : `in ${path}`;
  return `by this machine's memory of heads it had ${size} records when it was ${seenAs(by)} ${where} at ${time}`;
}

/** The largest claim tells the most. */
function rolledBack(claims: readonly Claim[], { size }: Roots, { isTorn }: Stated): EvidenceFault {
  const { words = '', size: was } = claims.at(-1) ?? {};
  const detail = `${words}, and it has ${size}`;
  const fault = { seq: size, reason: 'rolled_back', detail } as const;
  if (isTorn !== true || was !== size + 1) return fault;
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
