/**
 * An episode: a run whose tools act on a screen, whose every step is tied to what was on it, and whose success is
 * what a check finds there.
 *
 * @module
 */
import { Stalled } from '../run/abort.ts';
import { systemClock } from '../run/clock.ts';
import { isThenable } from '../run/deadline.ts';
import { type Model, type ModelReply, type ModelRequest } from '../run/model.ts';
import { type CheckResult, type Outcome } from '../run/outcome.ts';
import { type RunOptions } from '../run/options.ts';
import { run } from '../run/run.ts';
import { openAudit, type AuditLog } from './audit-log.ts';
import { episodeModel, isModel } from './brain.ts';
import { type Episode, type EpisodeEvent, type EpisodeOptions } from './episode-options.ts';
import { Success } from './success.ts';
import { Secrets } from './secrets.ts';
import { type Action } from './action.ts';
import { checkEpisodeOptions } from './check-options.ts';
import { Stage, type StageOptions } from './stage.ts';
import { screenTools } from './tools.ts';
import { type Alert } from './watch.ts';

/** How a model is told what it is to do. */
const SYSTEM =
  'You act on a screen to reach the goal that the user gives. After each action you are shown the screen. Name an element by its label, or by its index where the label is not unique. Call done only when the screen shows that the goal is reached: it is checked. Call refuse if it should not, or can not, be reached.';

/** An action that isn't over by then is given up; its effect is unknown. */
const ACTION_TIMEOUT_MS = 120_000;

/**
 * Carries one goal on a screen to one result. The screen is the caller's, and is left open.
 *
 * @throws {TypeError | RangeError} if an option is wrong.
 * @throws {StoreError} if the transcript or the audit log can't be begun.
 */
export async function episode(options: EpisodeOptions): Promise<Episode> {
  checkEpisodeOptions(options);
  const { audit, clock = systemClock } = options;
  if (audit === undefined || (typeof audit === 'object' && 'append' in audit))
    return perform(options, audit);
  const log = await openAudit(audit, { clock, recover: true });
  try {
    return await perform(options, log);
  } finally {
    await log.release();
  }
}

async function perform(options: EpisodeOptions, audit: AuditLog | undefined): Promise<Episode> {
  const { goal, brain } = options;
  const controller = new AbortController();
  const alerts: Alert[] = [];
  const tell = teller(options);
  let isBroken = false;
  const onAlert = (alert: Alert): void => {
    alerts.push(alert);
    tell({ type: 'alert', alert });
    const { stop = false } = options.watchdog ?? {};
    const stops = typeof stop === 'boolean' ? stop : stop.includes(alert.kind);
    if (stops) controller.abort(new Stalled(alert.evidence));
  };
  const stage = new Stage({
    ...stageOptions(options, audit),
    onAlert,
    onStep: (step) => tell({ type: 'step', step }),
    onBroken: (error) => {
      isBroken = true;
      controller.abort(error);
    },
  });
  const model = attentive(episodeModel(brain, goal, stage), { options, onAlert });
  const success = new Success(options, stage.secrets);
  const signal = AbortSignal.any([controller.signal, options.signal ?? controller.signal]);
  const outcome = await run({
    ...runOptions(options),
    model,
    tools: screenTools(stage, ACTION_TIMEOUT_MS),
    signal,
    check: (request) => success.check(request.signal),
    on: tell,
  });
  await stage.settle();
  const isCut = signal.aborted && success.verdict === null;
  const ended = summary(outcome, stage, { isBroken, isCut });
  const isSuccess = ended.result === 'verified';
  const picture = await success.picture();
  if (!isBroken) await audit?.close({ goal, success: isSuccess, reason: ended.result });
  return {
    ...ended,
    success: isSuccess,
    alerts: [...alerts],
    outcome,
    ...(picture === null ? {} : { screenshot: picture }),
    ...(audit === undefined ? {} : { audit: auditOf(audit) }),
  };
}

function stageOptions(
  options: EpisodeOptions,
  audit: AuditLog | undefined,
): Omit<StageOptions, 'onAlert' | 'onStep' | 'onBroken'> {
  const { goal, screen, secrets = {}, clock = systemClock, watchdog = {} } = options;
  const {
    unchangedAfter = 5,
    alternatingAfter = 4,
    sameFailureAfter = 3,
    actionSeconds = 30,
  } = watchdog;
  const limits = { unchangedAfter, alternatingAfter, sameFailureAfter, actionSeconds };
  return { goal, screen, audit, clock, limits, secrets: new Secrets(secrets) };
}

function runOptions(options: EpisodeOptions): Omit<RunOptions, 'model'> {
  const { goal: task, brain, budget, transcript, clock, runId, maxOutputTokens } = options;
  const { permit, ask, system = isModel(brain) ? SYSTEM : undefined } = options;
  return { task, budget, transcript, clock, runId, maxOutputTokens, permit, ask, system };
}

function nothing(): void {}

/**
 * The model, watched for silence. What it says is told when its turn has ended: before that, nobody knows whether a
 * secret is in it, or half of one.
 */
function attentive(
  model: Model,
  { options, onAlert }: { options: EpisodeOptions; onAlert: (alert: Alert) => void },
): Model {
  const { clock = systemClock, watchdog: { modelSeconds = 120 } = {} } = options;
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    let cancel = nothing;
    const listen = (extra = 0): void => {
      cancel();
      cancel = clock.timer(extra + modelSeconds * 1000, () =>
        onAlert({
          kind: 'silent_model',
          evidence: `the model has said nothing for ${modelSeconds} s`,
        }),
      );
    };
    const { signal } = request;
    const stop = (): void => cancel();
    signal.addEventListener('abort', stop, { once: true });
    listen();
    try {
      let hasText = false;
      const reply = await model({
        ...request,
        onDelta({ kind }) {
          if (!signal.aborted) listen();
          hasText ||= kind === 'text';
        },
        onWait(milliseconds) {
          if (!signal.aborted) listen(milliseconds);
          request.onWait(milliseconds);
        },
      });
      if (hasText && typeof reply?.content === 'string')
        request.onDelta({ kind: 'text', text: reply.content });
      return reply;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  };
  const { id, price } = model;
  return Object.assign(answer, {
    ...(id === undefined ? {} : { id }),
    ...(price === undefined ? {} : { price }),
  });
}

/** What the episode came to: a claim is a claim, and only the check verifies. */
function summary(
  outcome: Outcome,
  { history, secrets }: Stage,
  { isBroken, isCut }: { isBroken: boolean; isCut: boolean },
): Pick<Episode, 'result' | 'claim' | 'check' | 'steps'> {
  const last = history.at(-1)?.action;
  const claim =
    last?.kind === 'done' ? last.answer : last?.kind === 'refuse' ? last.reason : outcome.answer;
  const check: CheckResult | null = outcome.check;
  const result = isBroken ? 'error' : resultOf(outcome, last?.kind, isCut);
  return { result, claim: secrets.hide(claim), check, steps: history.length };
}

/** @param isCut whether the episode was aborted before the check had a verdict. */
function resultOf(
  outcome: Outcome,
  last: Action['kind'] | undefined,
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

function auditOf({ location, head }: AuditLog): NonNullable<Episode['audit']> {
  return { location, entries: head.count, head: head.digest };
}

/** A listener only watches: what goes wrong in it is its own affair. */
function teller({ on }: EpisodeOptions): (event: EpisodeEvent) => void {
  if (on === undefined) return () => undefined;
  return (event) => {
    try {
      const result: unknown = on(event);
      if (isThenable(result)) Promise.resolve(result).catch(() => undefined);
    } catch {
      // See above.
    }
  };
}
