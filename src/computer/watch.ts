/**
 * The watchdog of an episode: sees from its steps that it gets nowhere. Pure.
 *
 * @module
 */

/** What the watchdog found. */
export interface Alert {
  readonly kind:
    /** The last actions left the screen as it was. */
    | 'unchanged_screen'
    /** The screen goes to and fro between two looks. */
    | 'alternating_screens'
    /** The same action failed again and again. */
    | 'same_failure'
    /** The model has said nothing for long. */
    | 'silent_model'
    /** An action, or a look, has not ended for long. */
    | 'hung_action'
    /** There is no screen any more. */
    | 'screen_gone';
  /** What was seen, in words: it is recorded if the run stops for it. */
  readonly evidence: string;
}

/** One step, as far as the watchdog looks at it. */
export interface SeenStep {
  /** Digests of the whole screen. */
  readonly before: string;
  readonly after: string;
  /** The action in words, which may be cut, and whole. */
  readonly action: string;
  readonly whole: string;
  readonly ok: boolean;
  /** It was meant to leave the screen as it is, as waiting is. */
  readonly idle: boolean;
}

/** After how many steps it is said. */
export interface WatchLimits {
  /** Actions that leave the screen as it was. */
  readonly unchangedAfter: number;
  /** Changes to and fro between two screens. */
  readonly alternatingAfter: number;
  /** Failures of the same action. */
  readonly sameFailureAfter: number;
}

/** Sees steps go by, and says once for each streak that it has become long. */
export class Watch {
  readonly #limits: WatchLimits;
  #unchanged = 0;
  #alternating = 0;
  #failures = 0;
  #last: SeenStep | undefined;
  #lastChange: SeenStep | undefined;

  constructor(limits: WatchLimits) {
    this.#limits = limits;
  }

  /** A step was taken. */
  step(step: SeenStep): Alert[] {
    this.#count(step);
    const { unchangedAfter, alternatingAfter, sameFailureAfter } = this.#limits;
    const [before, after] = [step.before.slice(0, 16), step.after.slice(0, 16)];
    const stays = step.before === step.after;
    return [
      ...this.#when(step.idle ? 0 : this.#unchanged, unchangedAfter, {
        kind: 'unchanged_screen',
        evidence: `${this.#unchanged} actions left the screen as it was (${after}…)`,
      }),
      ...this.#when(stays || step.idle ? 0 : this.#alternating, alternatingAfter, {
        kind: 'alternating_screens',
        evidence: `the screen went to and fro ${this.#alternating + 1} times between ${before}… and ${after}…`,
      }),
      ...this.#when(this.#failures, sameFailureAfter, {
        kind: 'same_failure',
        evidence: `the same action failed ${this.#failures} times: ${step.action}`,
      }),
    ];
  }

  #count(step: SeenStep): void {
    const last = this.#last;
    this.#last = step;
    const stays = step.before === step.after;
    // A wait neither breaks a streak nor makes it longer: a slow page is no stall.
    if (!stays) this.#unchanged = 0;
    else if (!step.idle) this.#unchanged += 1;
    if (!stays) {
      // What left the screen as it was, as a wait, stands between two changes and breaks nothing.
      const change = this.#lastChange;
      const isBack = step.after === change?.before && step.before === change.after;
      if (!isBack) this.#alternating = 0;
      // A page that turns to and fro by itself, as a spinner does, is only waited for.
      else if (!step.idle) this.#alternating += 1;
      this.#lastChange = step;
    }
    const isSame = last?.ok === false && last.whole === step.whole;
    this.#failures = step.ok ? 0 : isSame ? this.#failures + 1 : 1;
  }

  #when(streak: number, limit: number, alert: Alert): Alert[] {
    return streak === limit ? [alert] : [];
  }
}
