/**
 * Outcomes in plain words: why a run stopped, what the model claims, and what was verified, as three
 * separate facts, and how to check the record.
 *
 * @module
 */
// Not from the index, which would load the whole loop for `show`.
import { type BudgetName } from '../run/budget.ts';
import { type Outcome, type StopReason } from '../run/outcome.ts';
import { type Style } from './io.ts';
import { count, cut, dollars, duration, number, oneLine } from './words.ts';

const REASONS: Readonly<Record<StopReason, string>> = {
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
  return Object.entries(REASONS).find(([known]) => known === reason)?.[1];
}

const CLAIM_LENGTH = 100;

/** What is said at the end of a run. @param hadCheck whether there was a check to run. */
export function report(outcome: Outcome, hadCheck: boolean, style: Style): string {
  const { answer, verified, transcript } = outcome;
  const { location, count: records, sealed, head } = transcript;
  const look = verified === null ? 'strong' : verified ? 'good' : 'bad';
  const file = oneLine(location);
  const rows = [
    ['stopped', oneLine(stopped(outcome))],
    ['claimed', answer === '' ? 'nothing' : oneLine(cut(answer.trim(), CLAIM_LENGTH))],
    ['verified', style(look, oneLine(verification(outcome, hadCheck)))],
    ['spent', spending(outcome)],
    ['record', `${file}, ${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}`],
    ['head', head],
    ['check it', `hashtape verify ${quoted(file)}`],
  ];
  const lines = rows.map(([name = '', text = '']) => `${style('quiet', name.padEnd(9))} ${text}`);
  return ['', ...lines].join('\n');
}

function stopped({ reason, budget, error }: Outcome): string {
  const limit =
    budget === undefined
      ? ''
      : `: ${amountWords(budget.name, budget.used)} of ${amountWords(budget.name, budget.limit)}`;
  return `${REASONS[reason]}${limit} (${reason})${error === undefined ? '' : `: ${error}`}`;
}

function amountWords(name: BudgetName, amount: number): string {
  if (name === 'usd') return dollars(amount);
  if (name === 'seconds') return duration(amount);
  const nouns = { steps: 'step', tokens: 'token', toolCalls: 'tool call' } as const;
  return count(amount, nouns[name]);
}

function verification({ check, reason }: Outcome, hadCheck: boolean): string {
  if (check !== null) return (check.ok ? 'yes' : 'no') + (check.detail ? `: ${check.detail}` : '');
  if (!hadCheck) return 'not checked (there was no --check)';
  return `not checked (${reason === 'aborted' ? 'the run was aborted' : 'the check was not run'})`;
}

function spending({ spent }: Outcome): string {
  const estimated =
    spent.estimatedTokens === 0 ? '' : ` (${number(spent.estimatedTokens)} estimated)`;
  return [
    count(spent.steps, 'step'),
    count(spent.toolCalls, 'tool call'),
    count(spent.tokens, 'token') + estimated,
    ...(spent.usd === null ? [] : [dollars(spent.usd)]),
    duration(spent.seconds),
  ].join(', ');
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
