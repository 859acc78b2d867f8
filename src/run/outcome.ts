/**
 * How a run ended: why it stopped, what the model claimed, and what was verified, as separate facts.
 *
 * @module
 */
import { type BudgetName, type Spent } from './budget.ts';

/** Why a run stopped. */
export type StopReason =
  | 'no_tool_calls'
  | 'sentinel'
  | 'step_budget'
  | 'token_budget'
  | 'cost_budget'
  | 'time_budget'
  | 'tool_call_budget'
  | 'model_error'
  | 'cut_off'
  | 'refused'
  | 'stalled'
  | 'aborted'
  | 'record_error';

/** What a success check found. */
export interface CheckResult {
  readonly ok: boolean;
  readonly detail?: string;
}

/** A call, by the names that a report needs. */
export interface NamedCall {
  readonly id: string;
  readonly tool: string;
}

/** How a run ended. A run always ends in one: only programming errors throw. */
export interface Outcome {
  readonly reason: StopReason;
  /** The last text of the model: what it claims. */
  readonly answer: string;
  /** What `check` found; null when there was none, or it couldn't be run. */
  readonly check: CheckResult | null;
  /** Whether success was verified: true only if `check` said so; null without a check. */
  readonly verified: boolean | null;
  readonly spent: Spent;
  /** The budget that stopped the run. */
  readonly budget?: { readonly name: BudgetName; readonly limit: number; readonly used: number };
  /** What went wrong, for `model_error` and `record_error`. */
  readonly error?: string;
  /** For a run that was resumed: what became of the calls that had begun, or may have. */
  readonly resumed?: {
    readonly times: number;
    /** They may have run before, were not run again, and their effect is unknown. */
    readonly interrupted: readonly NamedCall[];
    /** They may have run before, and ran again, as their tools allow it. */
    readonly rerun: readonly NamedCall[];
  };
  /** The transcript: where it is, how many records it has, and the hash of the last. */
  readonly transcript: {
    readonly location: string;
    readonly count: number;
    readonly head: string;
    readonly sealed: boolean;
  };
}
