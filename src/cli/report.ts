/**
 * Outcomes in plain words: why a run stopped, what the model claims, and what was verified, as three
 * separate facts, and how to check the record.
 *
 * @module
 */
// Not from the index, which would load the whole loop for `show`.
import { type NamedCall, type Outcome, type StopReason } from '../run/outcome.ts';
import { shellPath } from '../store/shell-path.ts';
import { type Style } from './io.ts';
import { count, cut, dollars, duration, number, oneLine } from './words.ts';

const REASONS: Readonly<Record<StopReason, string>> = {
  no_tool_calls: 'the model asked for no more tools',
  sentinel: 'the model ended it',
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

/** What a recorded budget holds; what a file says may be of any type. */
type Used = { readonly name?: unknown; readonly used?: unknown; readonly limit?: unknown };

/** A stop reason in words; undefined for one that isn't ours. @param budget the one that stopped the run. */
export function stopWords(reason: string, budget: Used = {}): string | undefined {
  const words = Object.entries(REASONS).find(([known]) => known === reason)?.[1];
  const { name, used, limit } = budget;
  // A turn is estimated before it is paid for, so a run may stop before all is spent.
  const early = typeof used === 'number' && typeof limit === 'number' && used < limit;
  if (!early || (name !== 'tokens' && name !== 'usd')) return words;
  return words?.replace('is used up', 'leaves no room for another turn');
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
    ...resumedRows(outcome),
    ['spent', spending(outcome)],
    ['record', `${file}, ${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}`],
    ...(outcome.reason === 'record_error' && !sealed ? [['', UNRECORDED]] : []),
    ['head', head],
    ['check it', `npx hashtape verify ${shellPath(file)}`],
  ];
  const lines = rows.map(([name = '', text = '']) => `${style('quiet', name.padEnd(9))} ${text}`);
  return ['', ...lines].join('\n');
}

/** A row for each call that may have been under way when a run was cut off. */
function resumedRows({ resumed }: Outcome): readonly (readonly string[])[] {
  if (resumed === undefined) return [];
  const { times, interrupted, rerun } = resumed;
  return [
    ['resumed', times === 1 ? 'once' : `${number(times)} times`],
    ...interrupted.map((call) => ['', `${named(call)}: ${INTERRUPTED}`]),
    ...rerun.map((call) => ['', `${named(call)}: ${RERUN}`]),
  ];
}

function named({ tool, id }: NamedCall): string {
  return oneLine(`${tool} [${id}]`);
}

const INTERRUPTED = 'effect unknown: may have run, was not run again';
const RERUN = 'may have run before, was run again as its tool allows it';

/** What a failed write means for the record, and for the world. */
const UNRECORDED =
  'what was written holds, but is not sealed; a tool whose result could not be written has run';

/** `the step budget is used up: 2 of 2 steps (step_budget)`. */
function stopped({ reason, budget, error }: Outcome): string {
  const why = stopWords(reason, budget) ?? reason;
  const amount = budget === undefined ? '' : `: ${amountWords(budget)}`;
  const left = why === REASONS[reason] ? '' : ' spent';
  return `${why}${amount}${left} (${reason})${error === undefined ? '' : `: ${error}`}`;
}

function amountWords({ name, used, limit }: NonNullable<Outcome['budget']>): string {
  if (name === 'usd') return `${dollars(used)} of ${dollars(limit)}`;
  if (name === 'seconds') return `${duration(used)} of ${duration(limit)}`;
  return `${number(used)} of ${number(limit)} ${name === 'toolCalls' ? 'tool calls' : name}`;
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
