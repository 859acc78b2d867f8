/**
 * The state of a run: what its records say, folded. Nothing that the loop needs lives elsewhere.
 *
 * The fold adds to what it has: a step costs the same after ten thousand others as at the start.
 *
 * @module
 */
import { type JsonObject } from '../transcript/index.ts';
import { chargeFor, costOf, NO_COUNTS, type Charge, type Counts, type Spent } from './budget.ts';
import {
  comparedBy,
  endsRun,
  isSameTool,
  manifestPoints,
  withManifest,
  type Configuration,
  type Manifest,
} from './configuration.ts';
import { type FailedAttempt, type Message } from './model.ts';
import { type NamedCall } from './outcome.ts';
import {
  readAnswer,
  readAttempts,
  readHead,
  readResumption,
  readTurn,
  type Answer,
  type Resumption,
  type Turn,
  type TurnCall,
} from './payloads.ts';
import { RepeatLedger, type Landing } from './repeats.ts';
import { contentOf } from './result.ts';
import { StallDetector } from './stall.ts';
import { codePoints, estimateTokens } from './usage.ts';

/** Failures that say nothing about the call itself: whether it was made is not the tool's doing. */
const NOT_LANDED: ReadonlySet<string> = new Set(['denied', 'not_run', 'abandoned', 'interrupted']);
/** Failures of a call whose tool was not called, this time. */
const NOT_CALLED: ReadonlySet<string> = new Set([
  'unknown_tool',
  'invalid_arguments',
  'denied',
  'not_run',
  'interrupted',
]);

/** The state of a run. `decide` reads it; only records change it. */
export class RunState {
  readonly messages: Message[] = [];
  readonly ledger: RepeatLedger = new RepeatLedger();
  readonly stall: StallDetector = new StallDetector();
  /** The newest turn; null before the first. */
  turn: Turn | null = null;
  /** How many of the newest turn's calls have an answer. */
  answered = 0;
  /** Whether a call of the newest turn has ended the run. */
  ended = false;
  /** Ids that were given to calls. */
  readonly callIds: Set<string> = new Set();
  steps = 0;
  toolCalls = 0;
  tokens = 0;
  estimatedTokens = 0;
  nanoUsd = 0;
  /** How often the run was resumed. */
  resumptions = 0;
  /** Calls that a process before the last resume may have started; whether they may run again. */
  readonly uncertain: Map<string, boolean> = new Map();
  /** The uncertain calls that did not run again: their effect is unknown. */
  readonly interrupted: NamedCall[] = [];
  /** The uncertain calls that ran again. */
  readonly rerun: NamedCall[] = [];
  #configuration: Configuration;
  #points = 0;
  /** What was charged while no price was known: a resume may bring one. */
  #unpriced: Counts = NO_COUNTS;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#points = manifestPoints(configuration);
    const { system } = configuration;
    if (system !== undefined) this.#add({ role: 'system', content: system });
  }

  /** What the run's decisions are taken by; a resume may have changed it. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** The calls of the newest turn that have no answer yet. */
  get unanswered(): readonly TurnCall[] {
    return this.turn === null ? [] : this.turn.calls.slice(this.answered);
  }

  /** The next call to be answered, if there is one. */
  get nextCall(): TurnCall | undefined {
    return this.turn?.calls[this.answered];
  }

  /** What the next request's input comes to, by estimate. */
  get inputEstimate(): number {
    return estimateTokens(this.#points);
  }

  /** What was spent, but for the time, which records hold only if a clock is given. */
  spent(seconds: number): Spent {
    return {
      steps: this.steps,
      toolCalls: this.toolCalls,
      tokens: this.tokens,
      estimatedTokens: this.estimatedTokens,
      usd: this.#configuration.price === undefined ? null : this.nanoUsd / 1e9,
      seconds,
    };
  }

  /** The task was given. */
  started(task: string): void {
    this.#add({ role: 'user', content: task });
  }

  /** Another process went on with the run, maybe under another configuration. */
  resumed({ calls, configuration }: Resumption): void {
    this.resumptions += 1;
    const before = this.#configuration;
    if (configuration !== undefined) this.#reconfigure(configuration);
    // A call whose tool is another by now stays one that may not run again.
    const may = this.unanswered
      .filter(({ id }) => calls.includes(id))
      .map(({ id, name }) => {
        const isSame = isSameTool(before, this.#configuration, name);
        return [id, isSame && this.uncertain.get(id) !== false] as const;
      });
    this.uncertain.clear();
    for (const [id, mayRerun] of may) this.uncertain.set(id, mayRerun);
  }

  #reconfigure(configuration: Configuration): void {
    const [before, now] = [this.#configuration, configuration];
    this.#configuration = configuration;
    this.#points += manifestPoints(now) - manifestPoints(before);
    if (now.price !== undefined) {
      // What was spent before costs what it would now: nobody said otherwise.
      this.nanoUsd += costOf(this.#unpriced, now.price);
      this.#unpriced = NO_COUNTS;
    }
    if (before.system === now.system) return;
    if (before.system !== undefined) {
      this.messages.shift();
      this.#points -= codePoints(before.system);
    }
    if (now.system === undefined) return;
    this.messages.unshift(Object.freeze({ role: 'system', content: now.system }));
    this.#points += codePoints(now.system);
  }

  /** How many tokens of a turn would be charged by estimate. */
  estimatedFor(turn: Turn): number {
    return chargeFor(turn.usage, this.#estimate(turn), undefined).estimated;
  }

  /** The model took a turn. */
  turnTaken(turn: Turn): void {
    this.#chargeAttempts(turn.failedAttempts);
    this.#charge(turn.usage, this.#estimate(turn));
    this.steps += 1;
    this.turn = turn;
    this.answered = 0;
    this.ended = false;
    for (const call of turn.calls) this.callIds.add(call.id);
    this.#points += callPoints(turn);
    this.#add({
      role: 'assistant',
      content: turn.content,
      toolCalls: turn.calls,
      ...(turn.provider === undefined ? {} : { provider: turn.provider }),
    });
  }

  /** Attempts failed, and no turn came of them. */
  attemptsFailed(attempts: readonly FailedAttempt[]): void {
    this.#chargeAttempts(attempts);
  }

  /** The landing that an answer is, for the ledger; null if it says nothing about repeats. */
  landing(answer: Answer): Landing | null {
    const { call, failure, ok, text, digest } = answer;
    if (failure !== undefined && NOT_LANDED.has(failure)) return null;
    // Where the text is not what the model wrote, only its own words tell two calls apart.
    const said = call.problem === null ? call.text : (call.raw ?? call.text);
    return {
      tool: call.name,
      arguments: said,
      result: digest ?? text,
      ok,
      comparedBy: comparedBy(this.#configuration, call.name),
    };
  }

  /** The next call of the turn was answered. `landing` spares making it again. */
  callAnswered(answer: Answer, landing: Landing | null = this.landing(answer)): void {
    const { call, ok, text, note, failure } = answer;
    this.answered += 1;
    if (ok && endsRun(this.#configuration, call.name)) this.ended = true;
    if (failure !== 'not_run') this.toolCalls += 1;
    if (landing !== null) this.stall.landed(ok, this.ledger.add(landing));
    if (this.uncertain.has(call.id)) this.#settle(call, failure);
    this.#add({
      role: 'tool',
      callId: call.id,
      name: call.name,
      ok,
      content: ok ? contentOf(text) : text,
      ...(note === undefined ? {} : { note }),
    });
  }

  #settle({ id, name }: TurnCall, failure: Answer['failure']): void {
    if (failure === 'interrupted') this.interrupted.push({ id, tool: name });
    else if (failure === undefined || !NOT_CALLED.has(failure)) this.rerun.push({ id, tool: name });
  }

  /** What a failed attempt is charged. One that failed before it could cost anything has no usage at all. */
  chargeForAttempt({ usage, streamed = 0 }: FailedAttempt): Charge {
    if (usage === undefined) return { tokens: 0, estimated: 0, nanoUsd: 0, counts: NO_COUNTS };
    const output = streamed === 0 ? 0 : estimateTokens(streamed);
    return chargeFor(usage, { input: this.inputEstimate, output }, this.#configuration.price);
  }

  #estimate(turn: Turn): { input: number; output: number } {
    const points = codePoints(turn.content) + callPoints(turn);
    return { input: this.inputEstimate, output: estimateTokens(points) };
  }

  #chargeAttempts(attempts: readonly FailedAttempt[]): void {
    for (const attempt of attempts) {
      const { usage, streamed = 0 } = attempt;
      if (usage === undefined) continue;
      const output = streamed === 0 ? 0 : estimateTokens(streamed);
      this.#charge(usage, { input: this.inputEstimate, output });
    }
  }

  #charge(usage: Turn['usage'], estimate: { input: number; output: number }): void {
    const { price } = this.#configuration;
    const charge = chargeFor(usage, estimate, price);
    this.tokens += charge.tokens;
    this.estimatedTokens += charge.estimated;
    this.nanoUsd += charge.nanoUsd;
    if (price === undefined) this.#unpriced = sum(this.#unpriced, charge.counts);
  }

  #add(message: Message): void {
    this.messages.push(Object.freeze(message));
    this.#points += codePoints(message.content);
    if (message.role === 'tool' && message.note !== undefined)
      this.#points += codePoints(message.note);
  }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

function callPoints(turn: Turn): number {
  let points = 0;
  for (const call of turn.calls)
    points += codePoints(call.name) + codePoints(call.raw ?? call.text);
  return points;
}

/** The configuration of a transcript that holds none, as other programs write it. */
const UNKNOWN: Configuration = {
  model: '',
  tools: '',
  manifest: null,
  budget: {},
  price: undefined,
  system: undefined,
  sentinel: undefined,
  maxOutputTokens: undefined,
  stopAfterRepeats: undefined,
  runId: undefined,
  checked: false,
  permitted: false,
  redact: undefined,
};

/**
 * Folds records that were read back: the same state that the loop had when it wrote them.
 *
 * @throws {TypeError | RangeError} if a payload isn't one that the loop writes.
 */
export function fold(
  records: Iterable<{ readonly kind: string; readonly payload: unknown }>,
): RunState {
  let state: RunState | null = null;
  for (const record of records) state = foldRecord(state, record);
  return state ?? new RunState(UNKNOWN);
}

/**
 * The state after a further record; null before the first that the loop writes.
 *
 * @param known a manifest for transcripts that hold only the hash of theirs.
 * @throws {TypeError | RangeError} if its payload isn't one that the loop writes.
 */
export function foldRecord(
  state: RunState | null,
  { kind, payload }: { readonly kind: string; readonly payload: unknown },
  known: Manifest | null = null,
): RunState | null {
  // The transcript layer has checked that a payload is an object or an array.
  const members = payload as JsonObject;
  if (state !== null) {
    applyRecord(state, kind, members);
    return state;
  }
  if (kind !== 'user') return null;
  const { task, configuration } = readHead(members);
  const made = new RunState(withManifest(configuration ?? UNKNOWN, known));
  made.started(task);
  return made;
}

function applyRecord(state: RunState, kind: string, payload: JsonObject): void {
  switch (kind) {
    case 'user':
      throw new TypeError('a second record of kind user');
    case 'assistant':
      state.turnTaken(readTurn(payload));
      break;
    case 'tool':
      state.callAnswered(readAnswer(payload, state.nextCall));
      break;
    case 'resumed':
      state.resumed(readResumption(payload));
      break;
    case 'final':
      state.attemptsFailed(readAttempts(payload));
      break;
    default: // other kinds are chained, and mean nothing to the loop
  }
}
