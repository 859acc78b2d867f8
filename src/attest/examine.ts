/**
 * What the evidence around a transcript says of it, beside the chain's own verdict.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { fromHex } from '../evidence/hex.ts';
import { encodeCheckpoint, type Policy, type VerifierKey } from '../evidence/index.ts';
import { realPath } from '../store/place.ts';
import { messageOf } from '../store/store-errors.ts';
import { type Fault, type Verdict } from '../transcript/index.ts';
import { NO_NEWLINE } from '../transcript/line-verifier.ts';
import { syncFile } from './atomic-file.ts';
import { findAnchors, type AnchorKnowledge, type Anchors } from './anchors.ts';
import { bearingOn, seenAt, type Bearing } from './bearing.ts';
import { isCatalog, readCatalog } from './catalog.ts';
import { readCheckpoints, type CheckpointFile } from './checkpoint-file.ts';
import { compare, wantRoots, type EvidenceFault, type EvidenceReason } from './compare.ts';
import { coverageOf, uncounted, uncovered, type Covered, type Level } from './coverage.ts';
import { headAt, headsOf, type HeadMemory, type Recalled } from './head-memory.ts';
import { identityIn } from './identity-in.ts';
import { originOf, type LogIdentity } from './log-identity.ts';
import { type LookUp } from './look-up.ts';
import { noticesOf, type Around } from './notices.ts';
import { placeOf, placesOf } from './place-of.ts';
import { replacedBy } from './replaced.ts';
import { Roots } from './roots.ts';
import { checkSignatures, type Signatures } from './signatures.ts';

/** What is known where a transcript is examined. */
export interface Knowledge extends AnchorKnowledge {
  readonly memory?: HeadMemory | undefined;
  /** What makes a checkpoint witnessed; without one, any known witness does. */
  readonly policy?: Policy | undefined;
  /** What must cover all records, each of these. */
  readonly required?: readonly Level[] | undefined;
  /** What catalogues say of a file; undefined to read none. */
  readonly listed?: LookUp | undefined;
  /** Whether nothing is remembered nor told of what is looked at: only whether it holds is asked. */
  readonly isOnlyLooking?: true;
  /** Whether what was stated elsewhere is left aside, whatever names it. */
  readonly isWithoutAnchors?: true;
  /** Which of the keys are the user's own; undefined not to tell them apart. */
  readonly own?: readonly VerifierKey[] | undefined;
}

/** A verdict with the evidence in it. */
export interface Examined extends Omit<Verdict, 'fault'> {
  readonly fault?: Omit<Fault, 'reason'> & {
    readonly reason: Fault['reason'] | EvidenceReason;
    readonly torn?: true;
    readonly undo?: string;
  };
  /** What checkpoints call the log: it is made of its first record's hash. */
  readonly origin?: string;
  /** The Merkle root of the records that hold, 64 hex digits. */
  readonly root?: string;
  readonly coverage: readonly Covered[];
  /** Whether memory has all of these records, from before or from now on. */
  readonly remembered: boolean;
  /** What is worth knowing and no fault. */
  readonly notices: readonly string[];
}

/** One transcript's examination: it looks on while the chain is verified. */
export class Examination {
  readonly #knowledge: Knowledge;
  readonly #roots = new Roots();
  readonly #before: Before;
  readonly #notices: string[] = [];
  readonly #bearing: Bearing;
  /** Whether what was known of it can't be read: that isn't written over. */
  readonly #isDamaged: boolean = false;

  private constructor(knowledge: Knowledge, before: Before) {
    const { stored, listed, found } = before;
    const { anchors, notices } = found;
    this.#knowledge = knowledge;
    this.#before = before;
    this.#notices.push(...notices);
    const recalled = recall(knowledge.memory, before);
    this.#bearing = bearingOn(before.places, headsOf(recalled), before.identity);
    if ('problem' in recalled) {
      this.#isDamaged = true;
      this.#notices.push(recalled.problem);
    }
    wantRoots(this.#roots, { stored, listed, anchors, known: this.#bearing.heads });
  }

  /**
   * Begins with what is known of the file. That is looked up before the file is read: a writer may be at work, and
   * what it states must be of what is read.
   */
  static async of(file: string, knowledge: Knowledge): Promise<Examination> {
    const path = regularPath(file);
    if (path === undefined) return new Examination(knowledge, NOTHING);
    const identity = await identityIn(path);
    // By a link's own name: it may lead to a run in the place of another.
    const listed = await knowledge.listed?.(placeOf(file), identity?.id);
    const { statements = [], problem } = listed ?? {};
    const examination = new Examination(knowledge, {
      path,
      places: placesOf(file),
      identity,
      stored: readCheckpoints(path, identity === null ? undefined : originOf(identity.id)),
      listed: statements,
      found:
        identity === null || knowledge.isWithoutAnchors === true
          ? NO_ANCHORS
          : await findAnchors(path, originOf(identity.id), knowledge),
    });
    if (problem !== undefined) examination.#notices.push(problem);
    const isTold = knowledge.isOnlyLooking !== true;
    if (isTold && isCatalog(path)) examination.#notices.push(...(await removedFrom(path)));
    return examination;
  }

  /** Takes the next record that holds. */
  readonly onRecord = (hash: string): void => this.#roots.add(hash);

  /** Ends with what the chain's verdict and the evidence come to. */
  async end(verdict: Verdict): Promise<Examined> {
    const { fault: chainFault, ...standing } = verdict;
    const { stored, listed, found: elsewhere } = this.#before;
    const identity = verdict.count === 0 ? null : this.#before.identity;
    const signatures = await checkSignatures(stored ?? NO_FILE, this.#knowledge.keys);
    const isSound = chainFault === undefined || YIELDING.has(chainFault.reason);
    const found = isSound ? this.#compared(identity, signatures, chainFault) : undefined;
    const { policy, required, memory, own } = this.#knowledge;
    const { anchors } = elsewhere;
    const { heads: known, elsewhere: copies } = this.#bearing;
    const evidence = { signatures, known, anchors, listed, policy, own };
    const coverage = coverageOf(this.#roots, evidence);
    const { unknown, signed } = signatures;
    this.#notices.push(...[uncounted(signed, policy)].flatMap((notice) => notice ?? []));
    const lack = { unknown, policy, count: verdict.count };
    const wrong = found ?? chainFault;
    const fault = wrong ?? uncovered(required, coverage, lack);
    const sound = isSound && found === undefined ? identity : null;
    const seen = { memory, elsewhere: copies, size: verdict.count };
    this.#notices.push(...noticesOf(this.#before, { ...signatures, identity: sound, ...seen }));
    const doubt = wrong ?? uncovered(besidesMemory(required), coverage, lack);
    const isNew = await this.#remember(identity, verdict, doubt);
    const remembered = isNew || isRemembered(coverage, verdict.count);
    const examined = { ...this.#originOf(identity), coverage, remembered, notices: this.#notices };
    if (fault === undefined) return { ...standing, ok: true, ...examined };
    return { ...standing, ok: false, fault: placed(fault), ...examined };
  }

  #originOf(identity: LogIdentity | null): Pick<Examined, 'origin' | 'root'> {
    return identity === null ? {} : { origin: originOf(identity.id), root: this.#roots.root };
  }

  /** What a checkpoint of the records so far says; undefined before the first. */
  get statement(): string | undefined {
    const { size, root } = this.#roots;
    const hash = fromHex(root);
    const { identity } = this.#before;
    if (identity === null || size === 0 || hash === undefined) return undefined;
    const origin = originOf(identity.id);
    return encodeCheckpoint({ origin, size, root: hash, extensions: [] });
  }

  /** What is wrong with a file that is no transcript: that there was one, by what lies around it. */
  get displaced(): EvidenceFault | undefined {
    const { places, stored, listed } = this.#before;
    const known = headsOf(seenAt(this.#knowledge.memory, places));
    const isKnown = known.some(({ kind }) => kind === 'transcript');
    if (stored === null && listed.length === 0 && !isKnown) return undefined;
    const by = listed.length > 0 ? 'the catalogue' : stored !== null ? 'its checkpoints' : 'memory';
    const detail = `there was a transcript here, by ${by}, and it is none`;
    return { seq: 0, reason: 'diverged', detail };
  }

  #compared(
    identity: LogIdentity | null,
    { fault }: Signatures,
    chainFault: Fault | undefined,
  ): EvidenceFault | undefined {
    if (fault !== undefined) return fault;
    const { stored, listed, found } = this.#before;
    const { anchors } = found;
    const id = identity?.id ?? null;
    const { places, heads: known } = this.#bearing;
    const isTorn = chainFault?.reason === 'torn_tail' && chainFault.detail === NO_NEWLINE;
    const replaced = replacedBy(identity?.id, places, this.#knowledge.memory);
    return compare(this.#roots, { places, id, stored, listed, replaced, anchors, known, isTorn });
  }

  /** Whether it is to be remembered. A log that isn't what it must be could be a forged one: what it should have been would then be called wrong. */
  #isTrusted(fault: Examined['fault'] | EvidenceFault | undefined): boolean {
    if (this.#isDamaged || this.#knowledge.isOnlyLooking === true) return false;
    if (fault === undefined) return true;
    const { reason } = fault;
    return reason === 'not_sealed' || reason === 'torn_tail';
  }

  async #remember(
    identity: LogIdentity | null,
    { count, sealed }: Verdict,
    fault: Examined['fault'] | EvidenceFault,
  ): Promise<boolean> {
    const { memory } = this.#knowledge;
    const { path } = this.#before;
    if (!this.#isTrusted(fault)) return false;
    if (memory === undefined || path === undefined || identity?.unique !== true) return false;
    const known = headAt(this.#bearing.heads, path);
    try {
      // Else a loss of power could take from the log what is remembered of it.
      if (known === undefined || known.size < count) await syncFile(path);
      const { root } = this.#roots;
      const log = { log: identity.id, kind: 'transcript', size: count, root, sealed } as const;
      if (await memory.remember({ ...log, path, by: 'verifier' }, known)) return true;
      // Somebody else has seen it meanwhile, and perhaps more of it.
      return (headAt(headsOf(memory.recall(identity.id)), path)?.size ?? 0) >= count;
    } catch (error) {
      this.#notices.push(`not remembered: ${messageOf(error)}`);
      return false;
    }
  }
}

/** What must be remembered is so from its first sight on: that it isn't yet is no reason not to. */
function besidesMemory(required: readonly Level[] | undefined): readonly Level[] | undefined {
  return required?.filter((level) => level !== 'remembered');
}

/** What is known before the file is read. */
interface Before extends Around {
  readonly identity: LogIdentity | null;
  readonly found: Anchors;
}

function isRemembered(coverage: readonly Covered[], count: number): boolean {
  return coverage.some(({ by, records }) => by === 'remembered' && records >= count);
}

/** What is known of the log; of a file that holds none any more, what is known of its path. */
function recall(memory: HeadMemory | undefined, { identity, places }: Before): Recalled {
  if (memory === undefined) return [];
  return identity === null ? seenAt(memory, places) : memory.recall(identity.id);
}

const NO_ANCHORS: Anchors = { anchors: [], notices: [] };

const NOTHING: Before = {
  path: undefined,
  places: [],
  identity: null,
  stored: null,
  listed: [],
  found: NO_ANCHORS,
};

const NO_FILE: CheckpointFile = { checkpoints: [], torn: false };

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

/** So many names are told; more are counted. */
const NAMES = 5;

/** The runs that were taken off a catalogue: with `hashtape heads forget`, or by somebody else. */
async function removedFrom(path: string): Promise<readonly string[]> {
  const catalog = await readCatalog(path).catch(() => null);
  const removed = [...(catalog?.removed ?? [])].map(([file, { at }]) => `${file}, at ${at}`);
  if (removed.length === 0) return [];
  const more = removed.length > NAMES ? `; and ${removed.length - NAMES} more` : '';
  return [`taken off it: ${removed.slice(0, NAMES).join('; ')}${more}`];
}
