/**
 * What the evidence around a transcript says of it, beside the chain's own verdict.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { fromHex, toHex } from '../evidence/hex.ts';
import { encodeCheckpoint, encodeVerifierKey, type VerifierKey } from '../evidence/index.ts';
import { realPath } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { messageOf } from '../store/store-errors.ts';
import { type Fault, type Verdict } from '../transcript/index.ts';
import { findAnchors, type Anchor, type Anchors } from './anchors.ts';
import { type Listed } from './catalog.ts';
import { readCheckpoints, type CheckpointFile } from './checkpoint-file.ts';
import { compare, wantRoots, type EvidenceFault, type EvidenceReason } from './compare.ts';
import { type FindGitNotes } from './git.ts';
import { type HeadMemory, type KnownHead, type Recalled } from './head-memory.ts';
import { identityOf, originOf, type LogIdentity } from './log-identity.ts';
import { Roots } from './roots.ts';
import { checkSignatures, type Signatures } from './signatures.ts';

/** What evidence can cover records with, from the weakest to the strongest. */
export type Level = 'signed' | 'remembered' | 'anchored' | 'witnessed';

/** That the first so many records are covered. */
export interface Covered {
  readonly by: Level;
  readonly records: number;
  /** The key that signed, or where the evidence is. */
  readonly who?: string;
  /** The time that the evidence states, UTC. */
  readonly since?: string;
}

/** What is known where a transcript is examined. */
export interface Knowledge {
  /** The user's own keys, and those that the user trusts. */
  readonly keys: readonly VerifierKey[];
  readonly memory?: HeadMemory | undefined;
  /** What must cover all records. */
  readonly required?: Level | undefined;
  /** What the folder's catalogue says of a file; undefined to read no catalogue. */
  readonly listed?: ((path: string) => Promise<Listed | null>) | undefined;
  /** Finds git notes; undefined to look at no anchors. */
  readonly findGitNotes?: FindGitNotes | undefined;
}

/** A verdict with the evidence in it. */
export interface Examined extends Omit<Verdict, 'fault'> {
  readonly fault?: Omit<Fault, 'reason'> & { readonly reason: Fault['reason'] | EvidenceReason };
  /** What checkpoints call the log: it is made of its first record's hash. */
  readonly origin?: string;
  readonly coverage: readonly Covered[];
  /** Whether this size is remembered from now on. */
  readonly remembered: boolean;
  /** What is worth knowing and no fault. */
  readonly notices: readonly string[];
}

/** One transcript's examination: it looks on while the chain is verified. */
export class Examination {
  readonly #knowledge: Knowledge;
  readonly #roots = new Roots();
  /** The file's real path; undefined for what is no file, as a pipe. */
  readonly #path: string | undefined;
  readonly #stored: CheckpointFile | null;
  readonly #listed: Listed | null;
  readonly #anchors: readonly Anchor[];
  readonly #notices: string[] = [];
  readonly #identity: LogIdentity | null;
  readonly #known: KnownHead | null;

  private constructor(knowledge: Knowledge, before: Before) {
    const { path, identity, stored, listed, found } = before;
    const { anchors, notices } = found;
    this.#knowledge = knowledge;
    this.#path = path;
    this.#identity = identity;
    this.#stored = stored;
    this.#listed = listed;
    this.#anchors = anchors;
    this.#notices.push(...notices);
    const recalled = recall(knowledge.memory, before);
    if (recalled !== null && 'problem' in recalled) this.#notices.push(recalled.problem);
    this.#known = recalled !== null && 'log' in recalled ? recalled : null;
    wantRoots(this.#roots, { stored, listed, anchors, known: this.#known });
  }

  /**
   * Begins with what is known of the file. That is looked up before the file is read: a writer may be at work, and
   * what it states must be of what is read.
   */
  static async of(file: string, knowledge: Knowledge): Promise<Examination> {
    const path = regularPath(file);
    if (path === undefined) return new Examination(knowledge, NOTHING);
    const identity = await identityIn(path);
    return new Examination(knowledge, {
      path,
      identity,
      stored: readCheckpoints(path),
      listed: (await knowledge.listed?.(path)) ?? null,
      found: await anchorsOf(path, identity, knowledge),
    });
  }

  /** Takes the next record that holds. */
  readonly onRecord = (hash: string): void => this.#roots.add(hash);

  /** Ends with what the chain's verdict and the evidence come to. */
  async end(verdict: Verdict): Promise<Examined> {
    const { fault: chainFault, ...standing } = verdict;
    const stored = this.#stored;
    const identity = verdict.count === 0 ? null : this.#identity;
    const signatures = stored === null ? NONE : await checkSignatures(stored, this.#knowledge.keys);
    const isBroken = chainFault !== undefined && !YIELDING.has(chainFault.reason);
    const found = isBroken ? undefined : this.#compared(identity, signatures);
    const coverage = this.#coverage(signatures);
    const fault = found ?? chainFault ?? this.#missing(coverage, signatures, verdict.count);
    const isSound = found === undefined && !isBroken;
    this.#look(isSound ? identity : null, signatures);
    const remembered = isSound && (await this.#remember(identity, verdict));
    return {
      ...standing,
      ok: fault === undefined,
      ...(fault === undefined ? {} : { fault: placed(fault) }),
      ...(identity === null ? {} : { origin: originOf(identity.id) }),
      coverage,
      remembered,
      notices: this.#notices,
    };
  }

  /** What a checkpoint of the records so far says; undefined before the first. */
  get statement(): string | undefined {
    const { size, root } = this.#roots;
    const hash = fromHex(root);
    if (this.#identity === null || size === 0 || hash === undefined) return undefined;
    const origin = originOf(this.#identity.id);
    return encodeCheckpoint({ origin, size, root: hash, extensions: [] });
  }

  #compared(identity: LogIdentity | null, { fault }: Signatures): EvidenceFault | undefined {
    if (fault !== undefined) return fault;
    return compare(this.#roots, {
      id: identity?.id ?? null,
      stored: this.#stored,
      known: this.#known,
      listed: this.#listed,
      anchors: this.#anchors,
    });
  }

  #coverage({ signed }: Signatures): Covered[] {
    const coverage: Covered[] = [];
    const newest = signed.findLast(
      ({ key, checkpoint: { size, root } }) =>
        key.kind === 'ed25519' && this.#roots.at(size) === toHex(root),
    );
    if (newest !== undefined) {
      const { key, checkpoint } = newest;
      coverage.push({ by: 'signed', records: checkpoint.size, who: encodeVerifierKey(key) });
    }
    const known = this.#known;
    if (known !== null && this.#roots.at(known.size) === known.root) {
      coverage.push({ by: 'remembered', records: known.size, since: known.time });
    }
    for (const { size, root, who, since } of this.#anchors) {
      if (this.#roots.at(size) !== root) continue;
      coverage.push({ by: 'anchored', records: size, who, ...(since ? { since } : {}) });
    }
    return coverage;
  }

  /** What is required and isn't there. */
  #missing(
    coverage: readonly Covered[],
    { unknown }: Signatures,
    count: number,
  ): EvidenceFault | undefined {
    const { required } = this.#knowledge;
    if (required === undefined) return undefined;
    const most = Math.max(
      0,
      ...coverage.filter(({ by }) => by === required).map(({ records }) => records),
    );
    if (most >= count) return undefined;
    if (required === 'signed' && most === 0 && unknown.length > 0) {
      const detail = `signed by ${unknown.join(', ')}, whose key is not known here; --key gives it`;
      return { seq: 0, reason: 'unknown_key', detail };
    }
    const which = most === 0 ? 'no record is' : `record ${most} and what follows it are not`;
    return { seq: most, reason: 'not_covered', detail: `${which} ${required}` };
  }

  /** Notes what is worth knowing. */
  #look(identity: LogIdentity | null, { unknown }: Signatures): void {
    const { memory } = this.#knowledge;
    if (unknown.length > 0) {
      this.#notices.push(`signed by an unknown key: ${unknown.join(', ')}`);
    }
    if (this.#stored?.torn === true) {
      this.#notices.push('the last checkpoint beside it is unfinished, as a crash leaves it');
    }
    if (memory === undefined || identity === null) return;
    if (!identity.unique) {
      this.#notices.push('not remembered: the run has no id, so another could begin just so');
    }
    const before = this.#path === undefined ? null : memory.at(this.#path);
    if (before !== null && 'log' in before && before.log !== identity.id) {
      const { log, size, time } = before;
      this.#notices.push(`another log was seen here at ${time}: ${log}, ${size} records`);
    }
  }

  async #remember(identity: LogIdentity | null, { count, sealed }: Verdict): Promise<boolean> {
    const { memory } = this.#knowledge;
    const path = this.#path;
    if (memory === undefined || path === undefined || identity?.unique !== true) return false;
    const known = this.#known;
    if (known !== null && known.size >= count && known.path === path) return true;
    try {
      // Else a loss of power could take from the log what is remembered of it.
      await syncFile(path);
      const { root } = this.#roots;
      const seen = { log: identity.id, size: count, root, sealed, path, by: 'verifier' as const };
      await memory.remember(seen, known);
      return true;
    } catch (error) {
      this.#notices.push(`not remembered: ${messageOf(error)}`);
      return false;
    }
  }
}

/** What is known before the file is read. */
interface Before {
  readonly path: string | undefined;
  readonly identity: LogIdentity | null;
  readonly stored: CheckpointFile | null;
  readonly listed: Listed | null;
  readonly found: Anchors;
}

/** What is known of the log; of a file that holds none any more, what is known of its path. */
function recall(memory: HeadMemory | undefined, { identity, path }: Before): Recalled {
  if (memory === undefined || path === undefined) return null;
  return identity === null ? memory.at(path) : memory.recall(identity.id);
}

const NO_ANCHORS: Anchors = { anchors: [], notices: [] };

const NOTHING: Before = {
  path: undefined,
  identity: null,
  stored: null,
  listed: null,
  found: NO_ANCHORS,
};

const NONE: Signatures = { signed: [], unknown: [] };

/** Faults of a chain that holds as far as it goes: what is known of the rest says more. */
const YIELDING: ReadonlySet<Fault['reason']> = new Set([
  'not_sealed',
  'torn_tail',
  'count_mismatch',
  'head_mismatch',
]);

/** A fault of the evidence has no line of its own: it is that of the first record that it may concern. */
function placed(fault: Fault | EvidenceFault): NonNullable<Examined['fault']> {
  if ('line' in fault) return fault;
  const { seq, ...rest } = fault;
  return { seq, line: seq + 1, ...rest };
}

function regularPath(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? realPath(file) : undefined;
  } catch {
    return undefined; // reading it will tell why
  }
}

async function anchorsOf(
  path: string,
  identity: LogIdentity | null,
  { findGitNotes }: Knowledge,
): Promise<Anchors> {
  if (identity === null || findGitNotes === undefined) return NO_ANCHORS;
  return findAnchors(path, originOf(identity.id), findGitNotes);
}

/** Which log it is; null if its first line doesn't say. */
async function identityIn(path: string): Promise<LogIdentity | null> {
  try {
    for await (const record of readRecords(path)) return identityOf(record);
  } catch {
    // Verification will say what is wrong with it.
  }
  return null;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
