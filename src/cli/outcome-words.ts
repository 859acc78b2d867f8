/**
 * Outcomes in plain words.
 *
 * @module
 */
import { type BudgetName, type Spent } from '../run/budget.ts';
import { type Outcome, type StopReason } from '../run/outcome.ts';
import { count, dollars, duration, number } from './words.ts';

const WORDS: Readonly<Record<StopReason, string>> = {
  no_tool_calls: 'the model asked for no more tools',
  sentinel: 'the model said the sentinel',
  step_budget: 'the step budget is used up',
  token_budget: 'the token budget is used up',
  cost_budget: 'the cost budget is used up',
  time_budget: 'the time budget is used up',
  tool_call_budget: 'the tool-call budget is used up',
  model_error: 'the model failed',
  cut_off: "the model's answer was cut off by its output limit",
  refused: 'the model, or a filter, declined',
  stalled: 'the run went round in circles',
  aborted: 'it was aborted',
  record_error: 'the transcript could not be written',
};

/** A stop reason in words; undefined for one that isn't ours. */
export function stopWords(reason: string): string | undefined {
  return Object.entries(WORDS).find(([known]) => known === reason)?.[1];
}

/** Why a run stopped, with the budget's limit and use. */
export function reasonWords({ reason, budget, error }: Outcome): string {
  const limit =
    budget === undefined
      ? ''
      : `: ${amountWords(budget.name, budget.used)} of ${amountWords(budget.name, budget.limit)}`;
  return `${WORDS[reason]}${limit} (${reason})${error === undefined ? '' : `: ${error}`}`;
}

/** Whether success was verified. */
export function verifiedWords({ check, verified, reason }: Outcome, asked: boolean): string {
  if (check !== null && verified !== null) {
    const detail = check.detail === undefined || check.detail === '' ? '' : `: ${check.detail}`;
    return `${verified ? 'yes' : 'no'}${detail}`;
  }
  if (!asked) return 'not checked (there was no --check)';
  return `not checked (${reason === 'aborted' ? 'the run was aborted' : 'the check was not run'})`;
}

/** What a run has spent. */
export function spentWords(spent: Spent): string {
  const estimated =
    spent.estimatedTokens === 0 ? '' : ` (${number(spent.estimatedTokens)} estimated)`;
  return [
    count(spent.steps, 'step'),
    count(spent.toolCalls, 'tool call'),
    `${count(spent.tokens, 'token')}${estimated}`,
    ...(spent.usd === null ? [] : [dollars(spent.usd)]),
    duration(spent.seconds),
  ].join(', ');
}

function amountWords(name: BudgetName, amount: number): string {
  if (name === 'usd') return dollars(amount);
  if (name === 'seconds') return duration(amount);
  const nouns = { steps: 'step', tokens: 'token', toolCalls: 'tool call' } as const;
  return count(amount, nouns[name]);
}
