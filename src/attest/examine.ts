/**
 * What the evidence around a transcript says of it, beside the chain's own verdict.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { toHex } from '../evidence/hex.ts';
import { encodeVerifierKey, type VerifierKey } from '../evidence/index.ts';
import { realPath } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { messageOf } from '../store/store-errors.ts';
import { type Fault, type Verdict } from '../transcript/index.ts';
import { type Listed } from './catalog.ts';
import { readCheckpoints, type CheckpointFile } from './checkpoint-file.ts';
import { compare, wantRoots, type EvidenceFault, type EvidenceReason } from './compare.ts';
import { knownOf, type HeadMemory, type KnownHead, type Recalled } from './head-memory.ts';
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
  readonly #notices: string[] = [];
  readonly #identity: LogIdentity | null;
  readonly #known: KnownHead | null;
  /** Whether what was known of it can't be read: that isn't written over. */
  readonly #isDamaged: boolean = false;

  private constructor(knowledge: Knowledge, before: Before) {
    const { path, identity, stored, listed } = before;
    this.#knowledge = knowledge;
    this.#path = path;
    this.#identity = identity;
    this.#stored = stored;
    this.#listed = listed;
    const recalled = recall(knowledge.memory, before);
    this.#known = knownOf(recalled);
    if (recalled !== null && 'problem' in recalled) {
      this.#isDamaged = true;
      this.#notices.push(recalled.problem);
    }
    wantRoots(this.#roots, { stored, listed, known: this.#known });
  }

  /**
   * Begins with what is known of the file. That is looked up before the file is read: a writer may be at work, and
   * what it states must be of what is read.
   */
  static async of(file: string, knowledge: Knowledge): Promise<Examination> {
    const path = regularPath(file);
    if (path === undefined) return new Examination(knowledge, NOTHING);
    return new Examination(knowledge, {
      path,
      identity: await identityIn(path),
      stored: readCheckpoints(path),
      listed: (await knowledge.listed?.(path)) ?? null,
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
    this.#look(identity, signatures);
    const isToBe = !this.#isDamaged && this.#isTrusted(fault);
    const remembered = isToBe && (await this.#remember(identity, verdict));
    const examined = {
      ...standing,
      ok: fault === undefined,
      ...(identity === null ? {} : { origin: originOf(identity.id) }),
      coverage,
      remembered,
      notices: this.#notices,
    };
    return fault === undefined
      ? examined
      : { ...examined, fault: { line: fault.seq + 1, ...fault } };
  }

  #compared(identity: LogIdentity | null, { fault }: Signatures): EvidenceFault | undefined {
    if (fault !== undefined) return fault;
    const stated = { stored: this.#stored, known: this.#known, listed: this.#listed };
    return compare(this.#roots, { id: identity?.id ?? null, ...stated });
  }

  #coverage({ signed }: Signatures): Covered[] {
    const coverage: Covered[] = [];
    const [newest] = signed
      .filter(({ key: { kind }, checkpoint: { size, root } }) => {
        return kind === 'ed25519' && this.#roots.at(size) === toHex(root);
      })
      .toSorted((one, other) => other.checkpoint.size - one.checkpoint.size);
    if (newest !== undefined) {
      const { key, checkpoint } = newest;
      coverage.push({ by: 'signed', records: checkpoint.size, who: encodeVerifierKey(key) });
    }
    const known = this.#known;
    if (known !== null && this.#roots.at(known.size) === known.root) {
      coverage.push({ by: 'remembered', records: known.size, since: known.time });
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
    const { torn = false, problem } = this.#stored ?? {};
    if (torn)
      this.#notices.push('the last checkpoint beside it is unfinished, as a crash leaves it');
    if (problem !== undefined) this.#notices.push(`its checkpoints can't be read: ${problem}`);
    if (memory === undefined || identity === null) return;
    if (!identity.unique) {
      this.#notices.push(
        'not remembered: its first record has no run id, so another run could begin just so',
      );
    }
    const before = this.#path === undefined ? null : knownOf(memory.at(this.#path));
    if (before !== null && before.log !== identity.id) {
      const { log, size, time } = before;
      this.#notices.push(`another log was seen here at ${time}: ${log}, ${size} records`);
    }
  }

  /** A log that isn't what it must be could be a forged one: what it should have been would then be called wrong. */
  #isTrusted(fault: Examined['fault'] | EvidenceFault | undefined): boolean {
    if (fault === undefined) return true;
    const { reason } = fault;
    // What must be remembered is so from its first sight on.
    if (reason === 'not_covered') return this.#knowledge.required === 'remembered';
    return reason === 'not_sealed' || reason === 'torn_tail';
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
      if (await memory.remember(seen, known)) return true;
      // Somebody else has seen it meanwhile, and perhaps more of it.
      return (knownOf(memory.recall(identity.id))?.size ?? 0) >= count;
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
}

/** What is known of the log; of a file that holds none any more, what is known of its path. */
function recall(memory: HeadMemory | undefined, { identity, path }: Before): Recalled {
  if (memory === undefined || path === undefined) return null;
  return identity === null ? memory.at(path) : memory.recall(identity.id);
}

const NOTHING: Before = { path: undefined, identity: null, stored: null, listed: null };

const NONE: Signatures = { signed: [], unknown: [] };

/** Faults of a chain that holds as far as it goes: what is known of the rest says more. */
const YIELDING: ReadonlySet<Fault['reason']> = new Set([
  'not_sealed',
  'torn_tail',
  'count_mismatch',
  'head_mismatch',
]);

function regularPath(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? realPath(file) : undefined;
  } catch {
    return undefined; // reading it will tell why
  }
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
