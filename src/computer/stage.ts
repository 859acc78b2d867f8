/**
 * The screen of one episode: looks, acts, and ties each step to what was there.
 *
 * @module
 */
import { type Clock } from '../run/clock.ts';
import { describeError } from '../run/result.ts';
import { ActionError, aimed, type Deed } from './act.ts';
import { describe, type Action, type ScreenAction } from './action.ts';
import { type AuditLog } from './audit-log.ts';
import { observationDigest, screenDigest, type Observation } from './observation.ts';
import { ScreenGoneError, type Screen } from './screen.ts';
import { viewOf } from './view.ts';
import { Watch, type Alert, type WatchLimits } from './watch.ts';

/** One step of an episode, as a brain and a listener are told of it. */
export interface Step {
  readonly action: Action;
  /** The action in one line. */
  readonly said: string;
  /** What it came to: a summary, or why it failed. */
  readonly outcome: string;
  readonly ok: boolean;
  /** The digest, as audit logs hold it, of the screen that it was decided on. */
  readonly screen: string;
}

/** The screen as it was last seen. */
export interface Look {
  /** What the brain is shown. */
  readonly view: Observation;
  /** How many elements there are in all. */
  readonly elements: number;
  /** The digests of all that was seen. */
  readonly digest: string;
  readonly seedDigest: string;
}

/** What a stage is made of. */
export interface StageOptions {
  readonly goal: string;
  readonly screen: Screen;
  readonly audit: AuditLog | undefined;
  readonly secrets: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly limits: WatchLimits & { readonly actionSeconds: number };
  readonly onStep: (step: Step) => void;
  readonly onAlert: (alert: Alert) => void;
  /** The audit log can't be written: nothing may be done that it doesn't hold. */
  readonly onBroken: (error: unknown) => void;
}

/** The screen of one episode. Calls are serial. */
export class Stage {
  /** Null before the first look. */
  look: Look | null = null;
  /** Looks that failed since the last that didn't. */
  blind = 0;
  /** Whether the screen has changed since the brain was shown it. */
  stale = false;
  readonly history: Step[] = [];
  /** Secrets that a model spelled out, by the names that the record has for them. */
  readonly spelled: Map<string, string> = new Map();
  readonly #options: StageOptions;
  readonly #watch: Watch;

  constructor(options: StageOptions) {
    this.#options = options;
    this.#watch = new Watch(options.limits);
  }

  /** Looks, and shows the brain what is there. */
  async observe(signal: AbortSignal): Promise<Look> {
    this.blind += 1;
    this.look = await this.#see(signal);
    this.stale = false;
    this.blind = 0;
    return this.look;
  }

  /**
   * Acts, and looks again.
   *
   * @throws {ActionError} if it failed: the screen stays what the brain was shown, but for `stale`.
   */
  async act(action: Deed, signal: AbortSignal): Promise<{ summary: string; look: Look }> {
    const before = this.look ?? (await this.observe(signal));
    const result = await this.#attempt(action, before, signal);
    const after = await this.#after(before, signal);
    if (result.ok) this.look = after;
    else this.stale = after.digest !== before.digest;
    await this.#record(action, { ...result, before, after });
    if (result.ok) return { summary: result.summary, look: after };
    const changed = this.stale ? '. The screen has changed meanwhile: look at it' : '';
    throw new ActionError(`${result.error}${changed}`);
  }

  /** Records what acts on no screen: that the brain is done, or refuses. */
  async say(action: Extract<Action, { kind: 'done' | 'refuse' }>): Promise<void> {
    const look = this.look;
    const outcome = action.kind === 'done' ? 'claimed' : 'refused';
    await this.#write({
      action,
      said: describe(action),
      outcome,
      ok: action.kind === 'done',
      screen: look?.seedDigest ?? '',
    });
  }

  async #attempt(
    action: Deed,
    { view }: Look,
    signal: AbortSignal,
  ): Promise<{ ok: true; summary: string } | { ok: false; error: string }> {
    try {
      const secrets = new Map([...this.#options.secrets, ...this.spelled]);
      return await this.#timed(action, aimed(action, view, secrets), signal);
    } catch (error) {
      if (error instanceof ActionError) return { ok: false, error: error.message };
      if (!(error instanceof ScreenGoneError)) throw error;
      const evidence = `the screen is gone: ${error.message}`;
      this.#options.onAlert({ kind: 'screen_gone', evidence });
      return { ok: false, error: evidence };
    }
  }

  /** Says so if it takes long; whether it is given up is the tool's time-out's affair. */
  async #timed(action: Deed, aim: ScreenAction, signal: AbortSignal): ReturnType<Screen['act']> {
    const { clock, screen, limits, onAlert } = this.#options;
    const waits = action.kind === 'wait' ? action.milliseconds : 0;
    const cancel = clock.timer(waits + limits.actionSeconds * 1000, () =>
      onAlert({
        kind: 'hung_action',
        evidence: `it has not ended for ${limits.actionSeconds} s: ${describe(action)}`,
      }),
    );
    try {
      return await screen.act(aim, { signal });
    } finally {
      cancel();
    }
  }

  async #after(before: Look, signal: AbortSignal): Promise<Look> {
    try {
      return await this.#see(signal);
    } catch (error) {
      if (error instanceof ScreenGoneError) return before;
      throw error;
    }
  }

  async #see(signal: AbortSignal): Promise<Look> {
    const observation = await this.#options.screen.observe({ signal });
    return {
      view: viewOf(observation),
      elements: observation.elements.length,
      digest: screenDigest(observation),
      seedDigest: observationDigest(observation),
    };
  }

  async #record(
    action: Deed,
    done: ({ ok: true; summary: string } | { ok: false; error: string }) & {
      before: Look;
      after: Look;
    },
  ): Promise<void> {
    const { before, after, ok } = done;
    const said = describe(action);
    const outcome = done.ok ? done.summary : done.error;
    await this.#write({ action, said, outcome, ok, screen: before.seedDigest });
    const idle = action.kind === 'wait';
    const seen = { before: before.digest, after: after.digest, action: said, ok, idle };
    for (const alert of this.#watch.step(seen)) this.#options.onAlert(alert);
  }

  async #write(step: Step): Promise<void> {
    const { audit, goal, onStep, onBroken } = this.#options;
    this.history.push(step);
    const { said: action, outcome, ok, screen } = step;
    try {
      await audit?.append({ goal, screen, action, outcome, ok });
    } catch (error) {
      onBroken(error);
      throw new ActionError(`the audit log can't be written: ${describeError(error)}`);
    }
    onStep(step);
  }
}
