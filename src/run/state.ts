/**
 * The state of a run: what its records say, folded. Nothing that the loop needs lives elsewhere.
 *
 * The fold adds to what it has: a step costs the same after ten thousand others as at the start.
 *
 * @module
 */
import { type JsonObject } from '../transcript/index.ts';
import { chargeFor, type Charge, type Spent } from './budget.ts';
import { type FailedAttempt, type Message, type Price } from './model.ts';
import {
  readAnswer,
  readAttempts,
  readTask,
  readTurn,
  type Answer,
  type Turn,
  type TurnCall,
} from './payloads.ts';
import { RepeatLedger, type Landing } from './repeats.ts';
import { contentOf } from './result.ts';
import { StallDetector } from './stall.ts';
import { codePoints, estimateTokens } from './usage.ts';

/** What the fold has to know beside the records; the first record binds it. */
export interface FoldSettings {
  readonly system: string | undefined;
  readonly price: Price | undefined;
  /** Code points of the tool manifest, which every request carries. */
  readonly manifestPoints: number;
  /** Whether a tool's repeats are judged by the arguments alone. */
  readonly comparedBy: (tool: string) => Landing['comparedBy'];
}

/** Failures that say nothing about the call itself: whether it was made is not the tool's doing. */
const NOT_LANDED: ReadonlySet<string> = new Set(['denied', 'not_run', 'abandoned']);

/** The state of a run. `decide` reads it; only records change it. */
export class RunState {
  readonly messages: Message[] = [];
  readonly ledger: RepeatLedger = new RepeatLedger();
  readonly stall: StallDetector = new StallDetector();
  /** The newest turn; null before the first. */
  turn: Turn | null = null;
  /** How many of the newest turn's calls have an answer. */
  answered = 0;
  /** Ids that were given to calls. */
  readonly callIds: Set<string> = new Set();
  steps = 0;
  toolCalls = 0;
  tokens = 0;
  estimatedTokens = 0;
  nanoUsd = 0;
  readonly #settings: FoldSettings;
  #points: number;

  constructor(settings: FoldSettings) {
    this.#settings = settings;
    this.#points = settings.manifestPoints;
    if (settings.system !== undefined) this.#add({ role: 'system', content: settings.system });
  }

  /** The calls of the newest turn that have no answer yet. */
  get unanswered(): readonly TurnCall[] {
    return this.turn === null ? [] : this.turn.calls.slice(this.answered);
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
      usd: this.#settings.price === undefined ? null : this.nanoUsd / 1e9,
      seconds,
    };
  }

  /** The task was given. */
  started(task: string): void {
    this.#add({ role: 'user', content: task });
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
      comparedBy: this.#settings.comparedBy(call.name),
    };
  }

  /** The next call of the turn was answered. `landing` spares making it again. */
  callAnswered(answer: Answer, landing: Landing | null = this.landing(answer)): void {
    const { call, ok, text, note, failure } = answer;
    this.answered += 1;
    if (failure !== 'not_run') this.toolCalls += 1;
    if (landing !== null) this.stall.landed(ok, this.ledger.add(landing));
    this.#add({
      role: 'tool',
      callId: call.id,
      name: call.name,
      ok,
      content: ok ? contentOf(text) : text,
      ...(note === undefined ? {} : { note }),
    });
  }

  /** What a failed attempt is charged. One that failed before it could cost anything has no usage at all. */
  chargeForAttempt({ usage, streamed = 0 }: FailedAttempt): Charge {
    if (usage === undefined) return { tokens: 0, estimated: 0, nanoUsd: 0 };
    const output = streamed === 0 ? 0 : estimateTokens(streamed);
    return chargeFor(usage, { input: this.inputEstimate, output }, this.#settings.price);
  }

  #estimate(turn: Turn): { input: number; output: number } {
    const points = codePoints(turn.content) + callPoints(turn);
    return { input: this.inputEstimate, output: estimateTokens(points) };
  }

  #chargeAttempts(attempts: readonly FailedAttempt[]): void {
    for (const attempt of attempts) {
      const charge = this.chargeForAttempt(attempt);
      this.tokens += charge.tokens;
      this.estimatedTokens += charge.estimated;
      this.nanoUsd += charge.nanoUsd;
    }
  }

  #charge(usage: Turn['usage'], estimate: { input: number; output: number }): void {
    const charge = chargeFor(usage, estimate, this.#settings.price);
    this.tokens += charge.tokens;
    this.estimatedTokens += charge.estimated;
    this.nanoUsd += charge.nanoUsd;
  }

  #add(message: Message): void {
    this.messages.push(Object.freeze(message));
    this.#points += codePoints(message.content);
    if (message.role === 'tool' && message.note !== undefined)
      this.#points += codePoints(message.note);
  }
}

function callPoints(turn: Turn): number {
  let points = 0;
  for (const call of turn.calls)
    points += codePoints(call.name) + codePoints(call.raw ?? call.text);
  return points;
}

/**
 * Folds records that were read back: the same state that the loop had when it wrote them.
 *
 * @throws {TypeError} if a payload isn't one that the loop writes.
 */
export function fold(
  records: Iterable<{ readonly kind: string; readonly payload: unknown }>,
  settings: FoldSettings,
): RunState {
  const state = new RunState(settings);
  for (const { kind, payload } of records) {
    // The transcript layer has checked that a payload is an object or an array.
    applyRecord(state, kind, payload as JsonObject);
  }
  return state;
}

function applyRecord(state: RunState, kind: string, payload: JsonObject): void {
  switch (kind) {
    case 'user':
      state.started(readTask(payload));
      break;
    case 'assistant':
      state.turnTaken(readTurn(payload));
      break;
    case 'tool':
      state.callAnswered(readAnswer(payload, state.unanswered[0]));
      break;
    case 'final':
      state.attemptsFailed(readAttempts(payload));
      break;
    default: // other kinds are chained, and mean nothing to the loop
  }
}
