/**
 * How an episode ended: what it came to, by what was said and what was checked. Pure.
 *
 * @module
 */
import { type Outcome, type StopReason } from '../run/outcome.ts';
import { type Episode } from './episode-options.ts';
import { type LastWord, type Stage } from './stage.ts';

/** What an episode came to. */
export type Ending = Pick<Episode, 'result' | 'claim' | 'check' | 'steps'>;

/**
 * What the episode came to: a claim is a claim, and only the check verifies.
 *
 * @param isCut whether the episode was aborted before the check had a verdict.
 */
export function endingOf(outcome: Outcome, stage: Stage, isCut: boolean): Ending {
  const { history, lastWord: word, secrets } = stage;
  const claim = word === null ? outcome.answer : word.kind === 'done' ? word.answer : word.reason;
  const result = resultOf(outcome, word?.kind, isCut);
  return { result, claim: secrets.hide(claim), check: outcome.check, steps: history.length };
}

/**
 * Why the check of an episode isn't asked; null where the claim stands. Who doesn't say that it is done has reached nothing,
 * whatever the screen shows.
 *
 * @param last the brain's last word, if it had one.
 */
export function unclaimed(reason: StopReason, last: LastWord['kind'] | undefined): string | null {
  if (reason === 'sentinel' && last === 'done') return null;
  if (reason === 'refused' || last === 'refuse') return 'not verified: it was refused';
  if (reason.endsWith('_budget'))
    return 'not verified: the budget ended before anybody said that the goal is reached';
  return 'not verified: nobody said that the goal is reached';
}

/** What it came to where its audit log was lost: what no log holds is not verified, whatever was found before. */
export function unaudited(ending: Ending, problem: string): Ending {
  const { check } = ending;
  const isKnown = check === null || !check.ok;
  return { ...ending, result: 'error', check: isKnown ? check : { ok: false, detail: problem } };
}

/** @param isCut whether the episode was aborted before the check had a verdict. */
function resultOf(
  outcome: Outcome,
  last: LastWord['kind'] | undefined,
  isCut: boolean,
): Episode['result'] {
  switch (outcome.reason) {
    case 'sentinel':
    case 'no_tool_calls':
      if (last === 'refuse') return 'refused';
      // Who doesn't say that it is done has reached nothing, whatever the screen shows.
      return last === 'done' ? checkedResult(outcome, isCut) : 'failed';
    case 'refused':
    case 'stalled':
    case 'aborted':
      return outcome.reason;
    case 'model_error':
    case 'record_error':
    case 'cut_off':
      return 'error';
    default:
      return 'out_of_budget';
  }
}

function checkedResult({ verified }: Outcome, isCut: boolean): Episode['result'] {
  if (isCut) return 'aborted';
  return verified === true ? 'verified' : 'failed';
}
