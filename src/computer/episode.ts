/**
 * An episode: a run whose tools act on a screen, whose every step is tied to what was on it, and whose success is
 * what a check finds there.
 *
 * @module
 */
import { Stalled } from '../run/abort.ts';
import { CHECK_ABORTED } from '../run/check.ts';
import { systemClock } from '../run/clock.ts';
import { isThenable } from '../run/deadline.ts';
import { type Model, type ModelReply, type ModelRequest } from '../run/model.ts';
import { type CheckResult, type Outcome } from '../run/outcome.ts';
import { run } from '../run/run.ts';
import { openAudit, type AuditLog } from './audit-log.ts';
import { episodeModel, isModel } from './brain.ts';
import { type Episode, type EpisodeEvent, type EpisodeOptions } from './episode-options.ts';
import { checkScreen, pictureAfter } from './success.ts';
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
  const outcome = await run({
    ...runOptions(options),
    model,
    tools: screenTools(stage, ACTION_TIMEOUT_MS),
    signal: AbortSignal.any([
      controller.signal,
      ...(options.signal === undefined ? [] : [options.signal]),
    ]),
    check: (request) => checkScreen(options, stage.secrets, request.signal),
    on: tell,
  });
  await stage.settle();
  const ended = summary(outcome, stage, isBroken);
  const success = ended.result === 'verified';
  const picture = await pictureAfter(options, outcome);
  if (!isBroken) await audit?.close({ goal, success, reason: ended.result });
  return {
    ...ended,
    success,
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

function runOptions(options: EpisodeOptions): Pick<Parameters<typeof run>[0], 'task'> {
  const {
    goal: task,
    brain,
    budget,
    transcript,
    clock,
    runId,
    maxOutputTokens,
    permit,
    ask,
  } = options;
  const system = options.system ?? (isModel(brain) ? SYSTEM : undefined);
  const given = { budget, transcript, clock, runId, maxOutputTokens, permit, ask, system };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { task, ...Object.fromEntries(set) };
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
  isBroken: boolean,
): Pick<Episode, 'result' | 'claim' | 'check' | 'steps'> {
  const last = history.at(-1)?.action;
  const claim =
    last?.kind === 'done' ? last.answer : last?.kind === 'refuse' ? last.reason : outcome.answer;
  const check: CheckResult | null = outcome.check;
  const result = isBroken ? 'error' : resultOf(outcome, last?.kind);
  return { result, claim: secrets.hide(claim), check, steps: history.length };
}

function resultOf(outcome: Outcome, last: Action['kind'] | undefined): Episode['result'] {
  switch (outcome.reason) {
    case 'sentinel':
    case 'no_tool_calls':
      return last === 'refuse' ? 'refused' : checkedResult(outcome, last);
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

function checkedResult(
  { verified, check }: Outcome,
  last: Action['kind'] | undefined,
): Episode['result'] {
  // Who doesn't say that it is done has reached nothing, whatever the screen shows.
  if (last !== 'done') return 'failed';
  if (check === null || check.detail === CHECK_ABORTED) return 'aborted';
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
