/**
 * An episode: a run whose tools act on a screen, whose every step is tied to what was on it, and whose success is
 * what a check finds there.
 *
 * @module
 */
import { Stalled } from '../run/abort.ts';
import { systemClock } from '../run/clock.ts';
import { isThenable } from '../run/deadline.ts';
import { type RunEvent } from '../run/events.ts';
import { type RunOptions } from '../run/options.ts';
import { run } from '../run/run.ts';
import { attentive } from './attentive.ts';
import { openAudit, type AuditLog } from './audit-log.ts';
import { episodeModel, isModel } from './brain.ts';
import { checkEpisodeOptions } from './check-options.ts';
import { endingOf, unaudited, unclaimed } from './ending.ts';
import { type Episode, type EpisodeEvent, type EpisodeOptions } from './episode-options.ts';
import { maskedAsk, maskedPermit } from './masked-policy.ts';
import { KeptAudit } from './kept-audit.ts';
import { Secrets } from './secrets.ts';
import { Success } from './success.ts';
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
 * @throws {TypeError | RangeError} if an option is wrong, or another episode writes to the audit log now.
 * @throws {StoreError} if the transcript or the audit log can't be begun. What goes wrong with them later is a result.
 */
export async function episode(options: EpisodeOptions): Promise<Episode> {
  checkEpisodeOptions(options);
  const { audit, clock = systemClock } = options;
  if (audit === undefined) return perform(options, audit);
  if (typeof audit === 'object' && 'append' in audit)
    return alone(audit, () => perform(options, audit));
  const log = await openAudit(audit, { clock, recover: true });
  try {
    return await perform(options, log);
  } finally {
    // Its entries are on the disk: that it can't be closed loses none of them.
    await log.release().catch(nothing);
  }
}

/** Audit logs that an episode writes to now. */
const busy = new WeakSet<AuditLog>();

/** The entries of two episodes would stand among each other, and each would end by the other's end. */
async function alone(audit: AuditLog, work: () => Promise<Episode>): Promise<Episode> {
  if (busy.has(audit))
    throw new TypeError(
      `audit: another episode writes to ${audit.location} now: wait until it has ended, or give each a log of its own`,
    );
  busy.add(audit);
  try {
    return await work();
  } finally {
    busy.delete(audit);
  }
}

async function perform(options: EpisodeOptions, audit: AuditLog | undefined): Promise<Episode> {
  const { goal, brain } = options;
  const controller = new AbortController();
  const alerts: Alert[] = [];
  const tell = teller(options);
  const kept = new KeptAudit(audit);
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
      kept.lost(error);
      controller.abort(error);
    },
  });
  const model = attentive(episodeModel(brain, goal, stage), { options, onAlert });
  const signal = AbortSignal.any([controller.signal, options.signal ?? controller.signal]);
  const success = new Success(options, { secrets: stage.secrets, kept, signal });
  const outcome = await run({
    ...runOptions(options, stage.secrets),
    model,
    tools: screenTools(stage, ACTION_TIMEOUT_MS),
    signal,
    check: ({ signal: until, reason }) =>
      success.check(until, unclaimed(reason, stage.lastWord?.kind)),
    on: (event) => heard(event, stage, tell),
  });
  await stage.settle();
  const isCut = signal.aborted && (success.verdict === null || success.isLate);
  const ending = endingOf(outcome, stage, isCut);
  const picture = await success.picture();
  const { result } = ending;
  await kept.close({ goal, success: result === 'verified', reason: result });
  const ended = kept.problem === null ? ending : unaudited(ending, kept.problem);
  return {
    ...ended,
    success: ended.result === 'verified',
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

function runOptions(options: EpisodeOptions, secrets: Secrets): Omit<RunOptions, 'model'> {
  const { goal: task, brain, budget, transcript, clock, runId, maxOutputTokens } = options;
  const { permit, ask, system = isModel(brain) ? SYSTEM : undefined } = options;
  const given = { task, budget, transcript, clock, runId, maxOutputTokens, system };
  return {
    ...given,
    // What is no function, the run refuses.
    permit: typeof permit === 'function' ? maskedPermit(permit, secrets) : permit,
    ask: typeof ask === 'function' ? maskedAsk(ask, secrets) : ask,
  };
}

/** What the loop answers by itself, the stage has to hear of. */
function heard(event: RunEvent, stage: Stage, tell: (event: EpisodeEvent) => void): void {
  if (event.type === 'tool-end') stage.answered(event);
  tell(event);
}

function nothing(): void {}

function auditOf({ location, head, torn }: AuditLog): NonNullable<Episode['audit']> {
  const { count: entries, digest } = head;
  return { location, entries, head: digest, ...(torn === undefined ? {} : { torn }) };
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
