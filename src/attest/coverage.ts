/**
 * Which records are covered by which evidence.
 *
 * @module
 */
import { toHex } from '../evidence/hex.ts';
import {
  checkPolicy,
  encodeVerifierKey,
  type Checkpoint,
  type Policy,
  type VerifierKey,
} from '../evidence/index.ts';
import { type Anchor } from './anchors.ts';
import { type EvidenceFault } from './compare.ts';
import { seenAs, type KnownHead } from './head-memory.ts';
import { keyWords } from './notices.ts';
import { type Statement } from './look-up.ts';
import { type Roots } from './roots.ts';
import { type Signatures, type Signed } from './signatures.ts';

/** What evidence can cover records with, from the weakest to the strongest. */
export type Level = 'signed' | 'remembered' | 'anchored' | 'witnessed';

/** That the first so many records are covered. */
export interface Covered {
  readonly by: Level;
  readonly records: number;
  /** The key that signed, or where the evidence is. */
  readonly who?: string;
  /** Whose that key is: the user's own, or one that the caller gave; undefined where that isn't told apart. */
  readonly whose?: 'own' | 'given';
  /** What this machine was doing when it remembered them: it wrote the log, or verified it. */
  readonly as?: 'written' | 'verified';
  /** The time that the evidence states, UTC. */
  readonly since?: string;
}

/** What there is to cover records with. */
export interface Evidence {
  readonly signatures: Signatures;
  /** The largest first. */
  readonly known: readonly KnownHead[];
  readonly anchors: readonly Anchor[];
  /** What catalogues say of it. */
  readonly listed?: readonly Statement[];
  /** What makes a checkpoint witnessed; without one, any known witness does. */
  readonly policy?: Policy | undefined;
  /** The keys that are the user's own; undefined if they aren't told apart. */
  readonly own?: readonly VerifierKey[] | undefined;
}

/** What covers the records, as far as it states their roots. */
export function coverageOf(roots: Roots, evidence: Evidence): Covered[] {
  const { signatures, known, anchors, listed = [], policy, own } = evidence;
  const right = signatures.signed.filter(
    ({ checkpoint: { size, root } }) => roots.at(size) === toHex(root),
  );
  const coverage = [...signedBy(right, own), ...witnessedBy(right, policy)];
  const held = known.find(({ size, root }) => roots.at(size) === root);
  if (held !== undefined) coverage.push(rememberedAs(held));
  coverage.push(...anchoredBy(anchors, roots), ...listed.flatMap((each) => listedBy(each, roots)));
  return coverage.toSorted((a, b) => LEVELS.indexOf(a.by) - LEVELS.indexOf(b.by));
}

/** What each place states of most records: a copy may hold all checkpoints of a long run. */
function anchoredBy(anchors: readonly Anchor[], roots: Roots): Iterable<Covered> {
  const places = new Map<string, Covered>();
  for (const { size, root, who, since, isVouched } of anchors) {
    if (!isVouched || roots.at(size) !== root) continue;
    const place = `${who} ${since ?? ''}`;
    if ((places.get(place)?.records ?? -1) >= size) continue;
    places.set(place, { by: 'anchored', records: size, who, ...(since ? { since } : {}) });
  }
  return places.values();
}

/**
 * What a catalogue states that is itself out of its writer's reach. Who cosigned a catalogue saw one history of that, in
 * which a log may stand twice: so the log was there then, and is no more witnessed than by any other anchor.
 */
function listedBy({ end, through, who }: Statement, roots: Roots): Covered[] {
  if (end === undefined || roots.at(end.size) !== end.root) return [];
  return through.map(({ by, who: where = '', since }) => ({
    by: 'anchored',
    records: end.size,
    who: `${who}, which is ${by === 'witnessed' ? 'cosigned by' : 'in'} ${where}`,
    ...(since === undefined ? {} : { since }),
  }));
}

/** What memory covers, and what wrote it: only a verifier has looked at the records. */
export function rememberedAs({ size: records, time: since, by }: KnownHead): Covered {
  return { by: 'remembered', records, since, as: seenAs(by) };
}

/** Every level, from the weakest to the strongest. */
export const LEVELS: readonly Level[] = ['signed', 'remembered', 'anchored', 'witnessed'];

/** What there is besides coverage. */
export interface Lack {
  /** The keys that signed and aren't known. */
  readonly unknown: readonly string[];
  readonly policy?: Policy | undefined;
  /** How many records there are. */
  readonly count: number;
}

/** The first that is required and isn't there. */
export function uncovered(
  required: readonly Level[] | undefined,
  coverage: readonly Covered[],
  { unknown, policy, count }: Lack,
): EvidenceFault | undefined {
  for (const level of required ?? []) {
    const sizes = coverage.filter(({ by }) => by === level).map(({ records }) => records);
    const most = Math.max(0, ...sizes);
    // Of no record nothing holds.
    if (most < count || count === 0) return lacking(level, most, { unknown, policy });
  }
  return undefined;
}

function lacking(
  level: Level,
  most: number,
  { unknown, policy }: Pick<Lack, 'unknown' | 'policy'>,
): EvidenceFault {
  if (level === 'signed' && most === 0 && unknown.length > 0) {
    const detail = `signed by ${keyWords(unknown)}, whose key is not known here; --key gives it`;
    return { seq: 0, reason: 'unknown_key', detail };
  }
  const which = most === 0 ? 'no record is' : `record ${most} and what follows it are not`;
  const asksNobody = level === 'witnessed' && policy !== undefined && policy.quorum === undefined;
  const why = asksNobody ? ': the policy asks for no witness (quorum none)' : '';
  return { seq: most, reason: 'not_covered', detail: `${which} ${level}${why}` };
}

/** The largest checkpoint that a log's key signed. */
function signedBy(signed: readonly Signed[], own: readonly VerifierKey[] | undefined): Covered[] {
  const [largest] = signed.filter(isByLog).toSorted(bySize);
  if (largest === undefined) return [];
  const { key, checkpoint } = largest;
  const who = encodeVerifierKey(key);
  const covered = { by: 'signed', records: checkpoint.size, who } as const;
  if (own === undefined) return [covered];
  const isOwn = own.some((mine) => encodeVerifierKey(mine) === who);
  return [{ ...covered, whose: isOwn ? 'own' : 'given' }];
}

/** The largest checkpoint that enough witnesses cosigned. */
function witnessedBy(signed: readonly Signed[], policy: Policy | undefined): Covered[] {
  const largest = cosignedIn(signed).find((note) => refusalBy(policy, note) === undefined);
  if (largest === undefined) return [];
  const { times, who, records } = cosignersOf(largest);
  // The first is when it was there at the latest.
  const since = times.length === 0 ? {} : { since: iso(Math.min(...times)) };
  return [{ by: 'witnessed', records, who, ...since }];
}

/** The notes that known witnesses cosigned, the largest first. A policy may ask for no witness: then it accepts what nobody has witnessed. */
function cosignedIn(signed: readonly Signed[]): readonly (readonly Signed[])[] {
  const notes = new Map<Checkpoint, Signed[]>();
  for (const each of signed) {
    notes.set(each.checkpoint, [...(notes.get(each.checkpoint) ?? []), each]);
  }
  return [...notes.values()]
    .filter((note) => !note.every(isByLog))
    .toSorted(([a], [b]) => (a && b ? bySize(a, b) : 0));
}

function cosignersOf(note: readonly Signed[]): {
  readonly who: string;
  readonly records: number;
  readonly times: readonly number[];
} {
  const witnesses = note.filter((each) => !isByLog(each));
  return {
    who: witnesses.map(({ key }) => key.name).join(', '),
    records: note[0]?.checkpoint.size ?? 0,
    times: witnesses.flatMap(({ time }) => time ?? []),
  };
}

/** Why right cosignatures of more records than any that count don't count, as a sentence; undefined if there are none. */
export function uncounted(
  signed: readonly Signed[],
  policy: Policy | undefined,
): string | undefined {
  const [largest] = cosignedIn(signed);
  const why = largest === undefined ? undefined : refusalBy(policy, largest);
  if (largest === undefined || why === undefined) return undefined;
  const { who, records } = cosignersOf(largest);
  // The same may have been cosigned by more of them since.
  const counted = witnessedBy(signed, policy).some((covered) => covered.records >= records);
  if (counted) return undefined;
  return `cosigned by ${who} at ${records} records, which doesn't count by the policy: ${why}`;
}

/**
 * Why a policy doesn't accept a cosigned note; undefined if it does, or there is none. A policy names a log by its key. One
 * key signs all logs of a user here, so the origin isn't the key's name; and a policy that names no log leaves it to the
 * known keys.
 */
function refusalBy(policy: Policy | undefined, note: readonly Signed[]): string | undefined {
  if (policy === undefined) return undefined;
  const signers = note.filter(isByLog);
  const verdicts = signers.map(({ key }) => {
    const logs = policy.logs.length > 0 ? policy.logs : [{ key }];
    return checkPolicy({ ...policy, logs }, key.name, note);
  });
  if (verdicts.some(({ ok }) => ok)) return undefined;
  const quorum = verdicts.find(({ log }) => log !== undefined);
  if (quorum?.detail !== undefined) return quorum.detail;
  const names = signers.map(({ key }) => `${key.name}+${key.keyId}`).join(', ');
  if (names === '') return 'no key of a log that is known here signed it';
  return `none of its log lines has the key that signed it, ${names}`;
}

function isByLog({ key }: Signed): boolean {
  return key.kind === 'ed25519';
}

function bySize(a: Signed, b: Signed): number {
  return b.checkpoint.size - a.checkpoint.size;
}

/** A time in seconds of Unix time, as far as a date can hold it. */
function iso(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}
