/**
 * `diff`: where two recorded runs part, and what each did from there.
 *
 * @module
 */
import { differences, type Difference } from '../run/differences.ts';
import { type TranscriptStore } from '../store/store.ts';
import { isJsonArray, type JsonValue, type Verdict } from '../transcript/index.ts';
import { accountFrom, type Account } from './account.ts';
import { firstDifference, shortened } from './first-difference.ts';
import {
  BEHAVIOUR,
  EXPENSE,
  IGNORED,
  readRun,
  type Aspect,
  type Ignored,
  type Moment,
  type RecordedRun,
} from './moments.ts';

/** What two runs do otherwise where they part. */
export type Parting =
  | Aspect
  /** The same number of calls, but of other tools. */
  | 'tool'
  /** One goes on where the other ends. */
  | 'end'
  /** A record of one doesn't verify: whether they part from there on can't be told. */
  | 'fault';

/** The first records of two runs that differ. */
export interface Parted {
  readonly what: Parting;
  /** The place, in words: `arguments.b of call 1 (add)`. */
  readonly where: string;
  /** What else differs in the same records. */
  readonly also: readonly Aspect[];
  readonly a: PartedSide;
  readonly b: PartedSide;
}

/** A run where it parts from another. */
export interface PartedSide {
  /** The record; null if there is none, as the record of this run ends before. */
  readonly seq: number | null;
  /** What is there, cut short. */
  readonly said: string;
}

/** One of two runs that were compared. */
export interface ComparedRun {
  readonly location: string;
  /** What verification found. Only records that verify are compared. */
  readonly verdict: Verdict;
  readonly turns: number;
  readonly calls: number;
  /** Records about the process, which are not compared: resumes and repairs. */
  readonly resumed: number;
  readonly recovered: number;
  /** What it did from where the runs part, from the beginning of that turn. */
  readonly after: Account;
}

/** How two runs compare. */
export interface RunDiff {
  /** Whether task, configuration and every record are the same, but for what `ignored` names. */
  readonly same: boolean;
  /** What differs up to the parting, and counts as no difference: the run's own id, and things of records. */
  readonly ignored: readonly ('runId' | Ignored)[];
  /** Null if it is the same. */
  readonly task: { readonly a: string; readonly b: string } | null;
  /** Null if only one of the transcripts holds a configuration; `was` is of a, and `is` of b. */
  readonly configuration: readonly Difference[] | null;
  /** Null if the runs did the same. */
  readonly parted: Parted | null;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
}

/**
 * Compares two runs, by what their records say and not by their hashes. Times, ids and the spelling of arguments make
 * no difference. What was paid (`usage`, `attempts`) and what only the provider reads (`provider`) is named
 * only where the runs did the same.
 *
 * @throws {JournalError} `unusable` if one isn't the record of a run of this loop.
 * @throws {StoreError} `missing` or `failed` if one can't be read.
 */
export async function diff(
  a: string | URL | TranscriptStore,
  b: string | URL | TranscriptStore,
): Promise<RunDiff> {
  const [one, other] = [await readRun(a), await readRun(b)];
  const task = one.task === other.task ? null : { a: one.task, b: other.task };
  const differing = compareConfigurations(one, other);
  const configuration = differing?.filter(({ part }) => part !== 'runId') ?? null;
  const { parted, from, ignored } = compareMoments(one, other);
  return {
    same: task === null && configuration?.length === 0 && parted === null,
    ignored: differing?.length === configuration?.length ? ignored : ['runId', ...ignored],
    task,
    configuration,
    parted,
    a: comparedRun(one, from),
    b: comparedRun(other, from),
  };
}

function compareConfigurations(a: RecordedRun, b: RecordedRun): readonly Difference[] | null {
  if (a.configuration === null || b.configuration === null || a.last === null || b.last === null)
    return a.configuration === b.configuration ? [] : null;
  const begun = differences(a.configuration, b.configuration);
  const names = new Set(begun.map(({ name }) => name));
  // A resume may have changed it on the way.
  return [...begun, ...differences(a.last, b.last).filter(({ name }) => !names.has(name))];
}

function comparedRun(run: RecordedRun, from: number): ComparedRun {
  const { location, verdict, moments, resumed, recovered } = run;
  const turns = moments.flatMap(({ turn }) => (turn === null ? [] : [turn]));
  const calls = turns.reduce((sum, turn) => sum + turn.calls.length, 0);
  const after = accountFrom(moments, from);
  return { location, verdict, turns: turns.length, calls, resumed, recovered, after };
}

function compareMoments(
  a: RecordedRun,
  b: RecordedRun,
): {
  readonly parted: Parted | null;
  /** The index of the moment from which there is something to tell. */
  readonly from: number;
  readonly ignored: readonly Ignored[];
} {
  const length = Math.max(a.moments.length, b.moments.length);
  // What comes after a fault is unknown.
  const end = isBroken(a) || isBroken(b) ? length + 1 : length;
  let same = 0;
  let parted: Parted | null = null;
  for (; same < end; same += 1) {
    parted = partedAt(a, b, same);
    if (parted !== null) break;
  }
  const [ones, others] = [a.moments.slice(0, same), b.moments.slice(0, same)];
  return {
    parted: parted ?? paidOtherwise(ones, others),
    from: turnOf(a, b, same),
    ignored: IGNORED.filter((aspect) => ones.some((one, i) => isOther(one, others[i], aspect))),
  };
}

function partedAt(a: RecordedRun, b: RecordedRun, index: number): Parted | null {
  const [one, other] = [a.moments[index], b.moments[index]];
  const isLike = one !== undefined && other !== undefined && one.kind === other.kind;
  return isLike ? apart(one, other, BEHAVIOUR) : unlike(a, b, index);
}

function paidOtherwise(ones: readonly Moment[], others: readonly Moment[]): Parted | null {
  for (const [i, one] of ones.entries()) {
    const other = others[i];
    const parted = other === undefined ? null : apart(one, other, EXPENSE);
    if (parted !== null) return parted;
  }
  return null;
}

/** A last line that is torn is how a crash ends a run, and is no doubt about it. */
function isBroken({ verdict: { fault } }: RecordedRun): boolean {
  return fault !== undefined && fault.reason !== 'torn_tail';
}

/** The index of the turn that a moment belongs to. Before it the runs are the same. */
function turnOf(a: RecordedRun, b: RecordedRun, index: number): number {
  if (a.moments[index]?.kind !== 'tool' && b.moments[index]?.kind !== 'tool') return index;
  const turn = a.moments.slice(0, index).findLastIndex(({ kind }) => kind === 'assistant');
  return Math.max(0, turn);
}

function isOther(a: Moment, b: Moment | undefined, aspect: Aspect | Ignored): boolean {
  return firstDifference(a.aspects[aspect], b?.aspects[aspect]) !== null;
}

/** How two moments of the same kind differ in some aspects; null if they don't. */
function apart(a: Moment, b: Moment, aspects: readonly Aspect[]): Parted | null {
  const [first, ...also] = aspects.filter((aspect) => isOther(a, b, aspect));
  if (first === undefined) return null;
  const { what, where, saidA, saidB } = placeOf(first, a, b);
  // Where the calls are others, so are their arguments.
  const rest = first === 'calls' ? also.filter((aspect) => aspect !== 'arguments') : also;
  return {
    what,
    where,
    also: rest,
    a: { seq: a.seq, said: saidA },
    b: { seq: b.seq, said: saidB },
  };
}

interface Place {
  readonly what: Parting;
  readonly where: string;
  readonly saidA: string;
  readonly saidB: string;
}

function placeOf(aspect: Aspect, a: Moment, b: Moment): Place {
  const [one, other] = [a.aspects[aspect], b.aspects[aspect]];
  if (!isJsonArray(one) || !isJsonArray(other) || a.turn === null || aspect === 'attempts') {
    const name = a.kind === 'tool' ? ` of ${short(a.payload['name'])}` : '';
    return placeIn(aspect, one, other, name);
  }
  // One entry a call.
  const index = one.findIndex((entry, i) => firstDifference(entry, other[i]) !== null);
  const call = `call ${index + 1}`;
  if (aspect === 'arguments')
    return placeIn(
      aspect,
      one[index],
      other[index],
      ` of ${call} (${short(a.aspects.calls, index)})`,
    );
  const isTool = one.length === other.length;
  return {
    what: isTool ? 'tool' : 'calls',
    where: isTool ? `the tool of ${call}` : 'the number of calls',
    saidA: isTool ? short(one, index) : callsText(one),
    saidB: isTool ? short(other, index) : callsText(other),
  };
}

function placeIn(
  aspect: Aspect,
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  of: string,
): Place {
  const { path = '', a = '', b = '' } = firstDifference(one, other) ?? {};
  return {
    what: aspect,
    where: `${aspect}${shortened(path, PATH_LENGTH)}${of}`,
    saidA: a,
    saidB: b,
  };
}

/** Longer paths, names and lists of names are cut. */
const PATH_LENGTH = 100;
const NAME_LENGTH = 60;
const NAMES_LENGTH = 100;

/** A name, or one of a list of names. */
function short(names: JsonValue | undefined, index = 0): string {
  const name = isJsonArray(names) ? names[index] : names;
  return typeof name === 'string' ? shortened(name, NAME_LENGTH) : '';
}

function callsText(names: readonly JsonValue[]): string {
  if (names.length === 0) return 'none';
  return shortened(
    `${names.length} (${names.map((name) => short(name)).join(', ')})`,
    NAMES_LENGTH,
  );
}

/** How two runs part where their records are of other kinds, or one has none. */
function unlike(a: RecordedRun, b: RecordedRun, index: number): Parted {
  const [one, other] = [a.moments[index], b.moments[index]];
  const isFault = (one === undefined && isBroken(a)) || (other === undefined && isBroken(b));
  const isEnd = [one, other].some((moment) => moment === undefined || moment.kind === 'final');
  const what = isFault ? 'fault' : isEnd ? 'end' : 'record';
  return {
    what,
    where: isFault
      ? 'a record that does not verify'
      : isEnd
        ? 'where one ends'
        : 'the kind of record',
    also: [],
    a: { seq: one?.seq ?? null, said: doing(a, one) },
    b: { seq: other?.seq ?? null, said: doing(b, other) },
  };
}

/** What a run does at a moment. */
function doing({ verdict: { fault, sealed } }: RecordedRun, moment: Moment | undefined): string {
  if (moment === undefined) {
    if (fault !== undefined) return `record ${fault.seq} does not verify (${fault.reason})`;
    return sealed ? 'the record ends' : 'the record ends, and the run had not ended';
  }
  const { kind, payload } = moment;
  if (kind === 'final') return `the run stops (${short(payload['reason'])})`;
  if (kind === 'assistant') return 'the run goes on with a turn';
  if (kind === 'tool') return `the run goes on with the answer of ${short(payload['name'])}`;
  return `a record of kind ${short(kind)}`;
}
