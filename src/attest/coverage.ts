/**
 * Which records are covered by which evidence.
 *
 * @module
 */
import { toHex } from '../evidence/hex.ts';
import { checkPolicy, encodeVerifierKey, type Checkpoint, type Policy } from '../evidence/index.ts';
import { type Anchor } from './anchors.ts';
import { type EvidenceFault } from './compare.ts';
import { type KnownHead } from './head-memory.ts';
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
  /** The time that the evidence states, UTC. */
  readonly since?: string;
}

/** What there is to cover records with. */
export interface Evidence {
  readonly signatures: Signatures;
  /** The largest first. */
  readonly known: readonly KnownHead[];
  readonly anchors: readonly Anchor[];
  /** What makes a checkpoint witnessed; without one, any known witness does. */
  readonly policy?: Policy | undefined;
}

/** What covers the records, as far as it states their roots. */
export function coverageOf(roots: Roots, evidence: Evidence): Covered[] {
  const { signatures, known, anchors, policy } = evidence;
  const right = signatures.signed.filter(
    ({ checkpoint: { size, root } }) => roots.at(size) === toHex(root),
  );
  const coverage = [...signedBy(right), ...witnessedBy(right, policy)];
  const held = known.find(({ size, root }) => roots.at(size) === root);
  if (held !== undefined) {
    coverage.push({ by: 'remembered', records: held.size, since: held.time });
  }
  coverage.push(...anchoredBy(anchors, roots));
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

/** Every level, from the weakest to the strongest. */
export const LEVELS: readonly Level[] = ['signed', 'remembered', 'anchored', 'witnessed'];

/** The first that is required and isn't there. */
export function uncovered(
  required: readonly Level[] | undefined,
  coverage: readonly Covered[],
  { unknown }: Signatures,
  count: number,
): EvidenceFault | undefined {
  for (const level of required ?? []) {
    const sizes = coverage.filter(({ by }) => by === level).map(({ records }) => records);
    const most = Math.max(0, ...sizes);
    if (most < count) return lacking(level, most, unknown);
  }
  return undefined;
}

function lacking(level: Level, most: number, unknown: readonly string[]): EvidenceFault {
  if (level === 'signed' && most === 0 && unknown.length > 0) {
    const detail = `signed by ${unknown.join(', ')}, whose key is not known here; --key gives it`;
    return { seq: 0, reason: 'unknown_key', detail };
  }
  const which = most === 0 ? 'no record is' : `record ${most} and what follows it are not`;
  return { seq: most, reason: 'not_covered', detail: `${which} ${level}` };
}

/** The largest checkpoint that a log's key signed. */
function signedBy(signed: readonly Signed[]): Covered[] {
  const [largest] = signed.filter(isByLog).toSorted(bySize);
  if (largest === undefined) return [];
  const { key, checkpoint } = largest;
  return [{ by: 'signed', records: checkpoint.size, who: encodeVerifierKey(key) }];
}

/** The largest checkpoint that enough witnesses cosigned. */
function witnessedBy(signed: readonly Signed[], policy: Policy | undefined): Covered[] {
  const notes = new Map<Checkpoint, Signed[]>();
  for (const each of signed) {
    notes.set(each.checkpoint, [...(notes.get(each.checkpoint) ?? []), each]);
  }
  const enough = [...notes.values()].filter((note) =>
    policy === undefined ? !note.every(isByLog) : isAccepted(policy, note),
  );
  const [largest] = enough.toSorted(([a], [b]) => (a && b ? bySize(a, b) : 0));
  if (largest === undefined) return [];
  const witnesses = largest.filter((each) => !isByLog(each));
  const times = witnesses.flatMap(({ time }) => time ?? []);
  // The first is when it was there at the latest.
  const since = times.length === 0 ? {} : { since: iso(Math.min(...times)) };
  const who = witnesses.map(({ key }) => key.name).join(', ');
  const records = largest[0]?.checkpoint.size ?? 0;
  return [{ by: 'witnessed', records, who, ...since }];
}

/** A policy names a log by its key. One key signs all logs of a user here, so the origin isn't the key's name. */
function isAccepted(policy: Policy, note: readonly Signed[]): boolean {
  return note.filter(isByLog).some(({ key }) => checkPolicy(policy, key.name, note).ok);
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
