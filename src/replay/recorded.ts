/**
 * A record as the source of a run: the model's replies, the tools' answers, the check and the times are read
 * from it, and everything else is worked out again.
 *
 * @module
 */
import { type NoTurn, type RunContext, type Source } from '../run/context.ts';
import { type Now } from '../run/decide.ts';
import { answer } from '../run/dispatch.ts';
import { startedCalls } from '../run/journal.ts';
import { type BudgetName } from '../run/budget.ts';
import { type CheckResult, type StopReason } from '../run/outcome.ts';
import {
  readAnswer,
  readAttempts,
  readResumption,
  readTurn,
  turnPayload,
  type Answer,
  type TurnCall,
} from '../run/payloads.ts';
import { type RunState } from '../run/state.ts';
import { isJsonObject, type JsonObject, type TranscriptRecord } from '../transcript/index.ts';
import { impossible } from './possible.ts';
import { isForeign, membersOf, type Tape } from './tape.ts';

/** Is told of each recorded answer before it is written again. */
export type OnAnswer = (context: RunContext, recorded: Answer) => Promise<void>;

/** The source that a tape is. The run of a process ends where its records do. */
export function recordedSource(tape: Tape, state: RunState, onAnswer?: OnAnswer): Source {
  const stamp = (): JsonObject => {
    const { at } = tape.payload;
    return at === undefined ? {} : { at };
  };
  return {
    async takeTurn(context) {
      const { own: next, payload } = tape;
      if (next.kind === 'final') return noTurn(tape, payload, state);
      if (next.kind !== 'assistant') throw tape.diverged('the loop asks the model here');
      const turn = readTurn(payload);
      const ids = turn.calls.map(({ id }) => id);
      if (new Set(ids).size < ids.length || ids.some((id) => state.callIds.has(id)))
        throw tape.diverged('the id of a call comes twice, and the loop would have given another');
      const written = turnPayload(turn, state.estimatedFor(turn));
      await context.record('assistant', { ...written, ...stamp() });
      state.turnTaken(turn);
      return null;
    },
    async runStage(context, stage) {
      for (const call of stage) {
        const recorded = recordedAnswer(tape, call, state);
        await onAnswer?.(context, recorded);
        await answer(context, recorded);
      }
    },
    check: async () => recordedCheck(tape.payload),
    abort: () => moment(tape, state).abort,
    seconds: () => moment(tape, state).seconds,
    stamp,
  };
}

/** Takes over what stands between the records of two processes; returns whether there was any. */
export function handOver(tape: Tape, state: RunState): boolean {
  let found = false;
  for (const { kind, payload } of tape.foreign()) {
    found = true;
    if (kind !== 'resumed' || !isJsonObject(payload)) continue;
    const resumption = readResumption(payload);
    const open = startedCalls(state).join();
    if (open !== resumption.calls.join())
      throw tape.divergedBefore(`the calls that may have been started are: ${open || 'none'}`);
    state.resumed(resumption);
  }
  return found;
}

/** The stop reasons with which asking a model can end. */
const NO_TURN: ReadonlySet<unknown> = new Set<StopReason>([
  'model_error',
  'aborted',
  'stalled',
  'time_budget',
]);

function noTurn(tape: Tape, final: JsonObject, { configuration }: RunState): NoTurn {
  const { reason, error } = final;
  const isTimeless = reason === 'time_budget' && configuration.budget.seconds === undefined;
  if (!NO_TURN.has(reason) || isTimeless)
    throw tape.diverged(`the loop goes on and asks the model, where the record stops`);
  const budget = recordedBudget(final);
  return {
    reason: reason as StopReason, // the set holds nothing else
    failedAttempts: readAttempts(final),
    ...(typeof error === 'string' ? { error } : {}),
    ...(budget === undefined ? {} : { budget }),
  };
}

function recordedBudget({ budget }: JsonObject): NoTurn['budget'] {
  if (!isJsonObject(budget)) return undefined;
  const { name, limit, used } = budget;
  if (typeof limit !== 'number') return undefined;
  return {
    name: (name === 'tool_calls' ? 'toolCalls' : name) as BudgetName, // the loop writes no other
    limit,
    used: typeof used === 'number' ? used : limit,
  };
}

function recordedAnswer(tape: Tape, call: TurnCall, state: RunState): Answer {
  const { own: next, payload } = tape;
  if (next.kind !== 'tool' || payload['call'] !== call.id)
    throw tape.diverged(`the answer to call ${call.id} (${call.name}) belongs here`);
  // Whether it gets a note is worked out again.
  const { note: _note, ...bare } = readAnswer(payload, call);
  const why =
    impossible(state, bare) ?? (isKeptAlone(tape) ? 'the run goes on after its end' : null);
  if (why !== null)
    throw tape.diverged(`the answer to call ${call.id} (${call.name}) can't be: ${why}`);
  return bare;
}

function recordedCheck({ check }: JsonObject): CheckResult | null {
  if (!isJsonObject(check)) return null;
  const { ok, detail } = check;
  return { ok: ok === true, detail: typeof detail === 'string' ? detail : '' };
}

const NEUTRAL: Now = { abort: null, seconds: 0 };
const ABORTED: Now = { abort: { reason: 'aborted' }, seconds: 0 };

/**
 * The moment of a decision. An abort and the end of the time are what no earlier record foretells: they are
 * taken from how the process ended, where nothing but answers to calls that its end kept from running are left.
 */
function moment({ records, head }: Tape, { configuration }: RunState): Now {
  let at = head.count;
  let kept: Now | null = null;
  for (; wasKept(records[at]); at += 1) kept = keptAt(records[at]) ?? kept;
  const after = records[at];
  // Within a turn what is decided is whether its next calls run; and a process may be cut off at its end.
  const isWithinTurn = records[head.count - 1]?.kind === 'tool';
  const isCutOff = after === undefined || isForeign(after);
  const end = after?.kind === 'final' ? endMoment(membersOf(after), configuration) : NEUTRAL;
  // The end knows best why the run was aborted.
  if (kept !== null && (isWithinTurn || isCutOff) && end.abort === null) return kept;
  return end;
}

function endMoment(
  { reason, error, failed_attempts: attempts, ...final }: JsonObject,
  { budget }: RunState['configuration'],
): Now {
  // Attempts are only made where the loop went on to ask.
  if (attempts !== undefined) return NEUTRAL;
  if (reason === 'aborted' || reason === 'stalled')
    return { abort: { reason, ...(typeof error === 'string' ? { error } : {}) }, seconds: 0 };
  if (reason !== 'time_budget' || budget.seconds === undefined) return NEUTRAL;
  return { abort: null, seconds: recordedBudget(final)?.used ?? 0 };
}

/** Whether an answer says that the end kept its call from running, where no end comes. */
function isKeptAlone({ records, head }: Tape): boolean {
  if (keptAt(records[head.count]) === null) return false;
  let at = head.count;
  while (records[at]?.kind === 'tool') at += 1;
  const after = records[at];
  return after !== undefined && !isForeign(after) && after.kind !== 'final';
}

/** Whether an answer may be one that the end gave; of a call that is interrupted nobody can say. */
function wasKept(record: TranscriptRecord | undefined): boolean {
  if (record?.kind !== 'tool') return false;
  const { failure, permit, given } = membersOf(record);
  const isBare = permit === undefined && given === undefined;
  return (failure === 'interrupted' && isBare) || keptAt(record) !== null;
}

/** The moment at which a call's answer says that it was kept from running; null if it doesn't say so. */
function keptAt(record: TranscriptRecord | undefined): Now | null {
  const { failure, error, permit, given } = membersOf(record);
  if (failure !== 'not_run' || typeof error !== 'string') return null;
  // It had been checked and permitted: the end came within its stage.
  if (permit !== undefined || given !== undefined) return null;
  if (error === 'not run: the run was aborted') return ABORTED;
  const isTime = /^not run: the time budget of \S+ is used up$/.test(error);
  return isTime ? { abort: null, seconds: Infinity } : null;
}
