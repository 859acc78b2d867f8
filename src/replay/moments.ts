/**
 * A recorded run as moments: what each of its records says, taken apart into what can differ.
 *
 * @module
 */
import { type Configuration } from '../run/configuration.ts';
import { JournalError } from '../run/journal.ts';
import { withheld } from '../run/redacting.ts';
import { readHead, type Turn } from '../run/payloads.ts';
import { describeError } from '../run/result.ts';
import { foldRecord, type RunState } from '../run/state.ts';
import { readRecords } from '../store/read.ts';
import { type TranscriptStore } from '../store/store.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';
import { readVerified, type ReadTranscript } from './read-verified.ts';
import { membersOf } from './tape.ts';

/** What two runs did otherwise; what tells most comes first. */
export const BEHAVIOUR = [
  'calls',
  'arguments',
  'result',
  'permission',
  'note',
  'stop',
  'check',
  'text',
  'record',
] as const;

/** What else of two runs may differ: runs that do the same may cost another amount. */
export const EXPENSE = ['attempts', 'usage', 'provider'] as const;

/** What makes no difference: the time, the ids of calls, and another spelling of the same arguments. */
export const IGNORED = ['times', 'ids', 'spelling'] as const;

export type Aspect = (typeof BEHAVIOUR)[number] | (typeof EXPENSE)[number];
export type Ignored = (typeof IGNORED)[number];

type Aspects = { readonly [A in Aspect | Ignored]?: JsonValue | undefined };

/** A record of a run, but for the first. */
export interface Moment {
  readonly seq: number;
  readonly kind: string;
  readonly payload: JsonObject;
  readonly aspects: Aspects;
  /** For a record of kind `assistant`. */
  readonly turn: Turn | null;
}

/** A run that was read. */
export interface RecordedRun extends ReadTranscript {
  readonly task: string;
  readonly configuration: Configuration | null;
  /** As it was at the end: a resume may have changed it. */
  readonly last: Configuration | null;
  readonly moments: readonly Moment[];
  /** Records about the process and not the run. */
  readonly resumed: number;
  readonly recovered: number;
}

/**
 * Reads a run as far as its records verify.
 *
 * @throws {JournalError} `unusable` if it isn't the record of a run of this loop.
 * @throws {StoreError} `missing` or `failed` if it can't be read.
 */
export async function readRun(from: string | URL | TranscriptStore): Promise<RecordedRun> {
  const read = await readVerified(from);
  const { location, records } = read;
  await refuseUnfit(read, from);
  const moments: Moment[] = [];
  const passed = { resumed: 0, recovered: 0 };
  let state: RunState | null = null;
  let head: ReturnType<typeof readHead> | undefined;
  for (const record of records) {
    const { kind } = record;
    state = folded(state, record, location);
    if (state !== null && head === undefined) head = readHead(membersOf(record));
    else if (kind === 'resumed' || kind === 'recovered') passed[kind] += 1;
    else moments.push(momentOf(record, state));
  }
  if (head === undefined) throw noTask(read);
  const last = head.configuration === null ? null : (state?.configuration ?? null);
  return { ...read, ...head, ...passed, last, moments };
}

/** @throws {JournalError | StoreError} if it can't be read, or a part of it is withheld. */
async function refuseUnfit(
  { location, verdict, withheldFrom }: ReadTranscript,
  from: string | URL | TranscriptStore,
): Promise<void> {
  // Reading again rejects with the reason, in words.
  if (verdict.fault?.reason === 'unreadable') await readRecords(from).next();
  if (withheldFrom !== undefined) throw withheld(location, withheldFrom);
}

function folded(
  state: RunState | null,
  record: TranscriptRecord,
  location: string,
): RunState | null {
  try {
    return foldRecord(state, record);
  } catch (error) {
    const problem = `${location}: record ${record.seq} (${record.kind}) isn't one that hashtape's loop writes, so the run can't be compared: ${describeError(error)}`;
    throw new JournalError('unusable', problem, [], { cause: error });
  }
}

function noTask({ location, verdict: { fault } }: ReadTranscript): JournalError {
  const broken =
    fault === undefined ? '' : ` (record ${fault.seq}: ${fault.reason}: ${fault.detail})`;
  const problem = `${location}: no task can be read from it, so there is nothing to compare${broken}`;
  return new JournalError('unusable', problem);
}

function momentOf(record: TranscriptRecord, state: RunState | null): Moment {
  const { seq, kind } = record;
  const payload = membersOf(record);
  const turn = kind === 'assistant' ? (state?.turn ?? null) : null;
  return { seq, kind, payload, turn, aspects: aspectsOf(kind, payload, turn) };
}

function aspectsOf(kind: string, payload: JsonObject, turn: Turn | null): Aspects {
  if (turn !== null) return turnAspects(payload, turn);
  if (kind === 'tool') return answerAspects(payload);
  if (kind === 'final') return finalAspects(payload);
  const { at, ...rest } = payload;
  return { record: rest, times: at };
}

function turnAspects(payload: JsonObject, { calls, content, stop }: Turn): Aspects {
  const { usage, tokens_estimated: estimated, failed_attempts: attempts, provider, at } = payload;
  return {
    calls: calls.map(({ name }) => name),
    // Where the arguments are not what the model wrote, only its own words tell two calls apart.
    arguments: calls.map((call) =>
      call.problem === null ? call.arguments : (call.raw ?? call.text),
    ),
    stop: { stop },
    text: content,
    attempts,
    usage: { ...(isJsonObject(usage) ? usage : {}), estimated: estimated ?? 0 },
    provider,
    ids: calls.map(({ id, providerId }) => [id, providerId ?? id]),
    spelling: calls.map(({ raw }) => raw ?? null),
    times: at,
  };
}

function answerAspects(payload: JsonObject): Aspects {
  const { call, value, error, failure, result_sha256: digest } = payload;
  const { given, permit, note, at } = payload;
  const result = { value, error, failure, digest };
  return {
    arguments: given,
    result: there(result),
    permission: permit,
    note,
    ids: call,
    times: at,
  };
}

function finalAspects(payload: JsonObject): Aspects {
  const { reason, error, check, content, failed_attempts: attempts, at } = payload;
  const { steps, tool_calls: calls, tokens, tokens_estimated: estimated, cost } = payload;
  const { used, ...budget } = isJsonObject(payload['budget']) ? payload['budget'] : {};
  const isTime = budget['name'] === 'seconds';
  return {
    stop: there({ reason, error, budget }),
    check,
    text: content,
    attempts,
    usage: there({ steps, calls, tokens, estimated, cost, used: isTime ? undefined : used }),
    times: there({ at, used: isTime ? used : undefined }),
  };
}

function there(members: { readonly [name: string]: JsonValue | undefined }): JsonObject {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Only the undefined members are gone.
  return Object.fromEntries(entries) as JsonObject;
}
