/**
 * What a run does next: a pure function of its state, its settings and the moment.
 *
 * @module
 */
import { type Abort } from './abort.ts';
import { exhausted, overrun, roomForOutput, type BudgetName, type Exceeded } from './budget.ts';
import { type Rules } from './configuration.ts';
import { type StopReason } from './outcome.ts';
import { type Turn } from './payloads.ts';
import { type RunState } from './state.ts';

/** The moment: what no record says. */
export interface Now {
  readonly abort: Abort | null;
  /** Since the run began. */
  readonly seconds: number;
}

/** The next thing to do. */
export type Next =
  | { readonly do: 'ask'; readonly maxOutputTokens: number | undefined }
  /** Run the calls of the newest turn. */
  | { readonly do: 'call' }
  /** Answer them without running them, and go on. */
  | { readonly do: 'skip'; readonly why: string }
  /** End the run; calls without an answer are answered with `why`. */
  | {
      readonly do: 'stop';
      readonly reason: StopReason;
      readonly why: string;
      readonly budget?: Exceeded;
      readonly error?: string;
    };

const STOP_REASONS: { readonly [N in BudgetName]: StopReason } = {
  steps: 'step_budget',
  tokens: 'token_budget',
  usd: 'cost_budget',
  seconds: 'time_budget',
  toolCalls: 'tool_call_budget',
};

/**
 * Decides. A turn that ends the run ends it also when its calls were answered before, by a process that was
 * cut off on the way to its end.
 */
export function decide(state: RunState, rules: Rules, now: Now): Next {
  const { turn, answered } = state;
  if (turn === null) return beforeTurn(state, rules, now);
  const end = endingTurn(turn, state, rules, now);
  if (end !== null) return end;
  if (answered === turn.calls.length)
    return state.ended ? stop('sentinel', 'a tool ended the run') : beforeTurn(state, rules, now);
  return beforeCalls(turn, rules, now);
}

/** Before a turn: abort, then the budgets, then whether the run has stalled. */
function beforeTurn(state: RunState, rules: Rules, now: Now): Next {
  if (now.abort !== null) return aborted(now.abort);
  const spent = state.spent(now.seconds);
  const used = exhausted(rules.budget, spent);
  if (used !== null) return overBudget(used);
  const { stopAfterRepeats: limit } = rules;
  if (limit !== undefined && state.stall.repeats >= limit) {
    return stop('stalled', `${limit} repeats brought nothing new`);
  }
  const room = roomForOutput(
    rules.budget,
    spent,
    state.inputEstimate,
    rules.price,
    rules.maxOutputTokens,
  );
  if (!room.ok) return overBudget({ name: room.name, limit: room.limit, used: room.used });
  return { do: 'ask', maxOutputTokens: room.maxOutputTokens };
}

/** What ends the run with a turn: sentinel, refusal, no calls, tokens and cost. */
function endingTurn(turn: Turn, state: RunState, rules: Rules, now: Now): Next | null {
  if (rules.sentinel !== undefined && turn.content.includes(rules.sentinel)) {
    return stop('sentinel', 'the run ended on the sentinel');
  }
  if (turn.stop === 'refused') return stop('refused', 'the model refused');
  if (turn.calls.length === 0) {
    return turn.stop === 'length'
      ? stop('cut_off', 'the turn was cut off by the output limit')
      : stop('no_tool_calls', 'the model asked for no tools');
  }
  const spent = state.spent(now.seconds);
  const over = overrun(rules.budget, spent);
  return over === null ? null : overBudget(over);
}

/** Before the calls of a turn: whether it was cut, abort, the time; then they run. */
function beforeCalls(turn: Turn, rules: Rules, now: Now): Next {
  if (turn.stop === 'length') {
    return {
      do: 'skip',
      why: 'the turn was cut off by the output limit, so its calls may be incomplete',
    };
  }
  if (now.abort !== null) return aborted(now.abort);
  const { seconds } = rules.budget;
  if (seconds !== undefined && now.seconds >= seconds) {
    return overBudget({ name: 'seconds', limit: seconds, used: now.seconds });
  }
  return { do: 'call' };
}

function stop(reason: StopReason, why: string): Next {
  return { do: 'stop', reason, why };
}

function aborted({ reason, error }: Abort): Next {
  const stopped = { do: 'stop', reason, why: 'the run was aborted' } as const;
  return error === undefined ? stopped : { ...stopped, error };
}

function overBudget(budget: Exceeded): Next {
  return {
    do: 'stop',
    reason: STOP_REASONS[budget.name],
    why: `the ${BUDGET_WORDS[budget.name]} of ${budget.limit} is used up`,
    budget,
  };
}

/** How budgets are called in sentences. */
export const BUDGET_WORDS: { readonly [N in BudgetName]: string } = {
  steps: 'step budget',
  tokens: 'token budget',
  usd: 'cost budget',
  seconds: 'time budget',
  toolCalls: 'tool-call budget',
};
