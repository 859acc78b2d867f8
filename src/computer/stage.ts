/**
 * The screen of one episode: looks, acts, and ties each step to what was there.
 *
 * @module
 */
import { type Clock } from '../run/clock.ts';
import { Cancellation, race, type Raced } from '../run/deadline.ts';
import { type RunEvent } from '../run/events.ts';
import { type ToolCall } from '../run/model.ts';
import { describeError, publicText } from '../run/result.ts';
import { canonicalJson } from '../transcript/index.ts';
import { ActionError, aimed, type Deed } from './act.ts';
import { describe, describeCall, type Action, type ScreenAction } from './action.ts';
import { type AuditLog } from './audit-log.ts';
import { observationDigest, screenDigest, withNotices, type Observation } from './observation.ts';
import { recordedAction } from './read-action.ts';
import { ScreenGoneError, type Screen } from './screen.ts';
import { type Secrets } from './secrets.ts';
import { viewOf } from './view.ts';
import { Watch, type Alert, type SeenStep, type WatchLimits } from './watch.ts';

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

/** That the brain is done, or refuses. */
export type LastWord = Extract<Action, { kind: 'done' | 'refuse' }>;

/** A call of which nothing is done. */
type Refused = Pick<ToolCall, 'name' | 'arguments'>;

/** The screen as it was last seen. */
export interface Look {
  /** All that was seen, without secrets. */
  readonly all: Observation;
  /** What the brain is shown. */
  readonly view: Observation;
  /** The digests of all that was seen. */
  readonly digest: string;
  readonly seedDigest: string;
}

type Done =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly error: string };

/** What was seen after an action. */
interface Sequel {
  /** The screen before, where it wasn't seen. */
  readonly after: Look;
  /** What the action came to, and why that wasn't seen. */
  readonly words: string;
  readonly isSeen: boolean;
}

/** What a stage is made of. */
export interface StageOptions {
  readonly goal: string;
  readonly screen: Screen;
  readonly audit: AuditLog | undefined;
  readonly secrets: Secrets;
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
  /** Null until one is accepted, which ends the episode. */
  lastWord: LastWord | null = null;
  readonly secrets: Secrets;
  readonly #options: StageOptions;
  readonly #watch: Watch;
  /** The look that what comes now was decided on. */
  #shown: Look | null = null;
  #pending: Promise<void> = Promise.resolve();
  #isOver = false;
  /** Whether the screen was gone when it was last needed. */
  #isGone = false;

  constructor(options: StageOptions) {
    this.#options = options;
    this.secrets = options.secrets;
    this.#watch = new Watch(options.limits);
  }

  /** Looks, and shows the brain what is there. */
  async observe(signal: AbortSignal): Promise<Look> {
    this.blind += 1;
    try {
      this.look = await this.#see(signal);
    } catch (error) {
      if (error instanceof ScreenGoneError) this.#gone(error);
      throw this.secrets.hideError(error);
    }
    this.stale = false;
    this.blind = 0;
    return this.look;
  }

  /** The brain is asked: all that it decides in this turn, it decides on what it has been shown by now. */
  decide(): void {
    this.#shown = this.look;
  }

  /**
   * Acts, and looks again. The look is null where what came of it couldn't be seen.
   *
   * @throws {ActionError} if it failed. If the screen has changed since the brain was shown it, nothing on it is
   * touched any more before the next look: an index, or a label, may mean something else by now. What actions of the
   * same turn have changed is told with them; of the actions after them, those go on whose element is the same still.
   */
  act(action: Deed, signal: AbortSignal): Promise<{ summary: string; look: Look | null }> {
    return this.#next(() => this.#act(action, signal));
  }

  /** Records what acts on no screen. */
  async say(word: LastWord): Promise<void> {
    const ok = word.kind === 'done';
    const outcome = ok ? 'claimed' : 'refused';
    this.lastWord = word;
    const look = this.#shown ?? this.look;
    await this.#next(() => this.#write(word, { outcome, ok, look }));
  }

  /** The loop answered a call. What it refused, by schema or policy, never came here. */
  answered({ call, content, failure }: Extract<RunEvent, { type: 'tool-end' }>): void {
    const isRefused = failure === 'invalid_arguments' || failure === 'denied';
    if (isRefused || failure === 'unknown_tool') this.refused(call, content);
  }

  /**
   * Nothing is done of a call. If it is an action, that is a step which failed; if it is none, only the watchdog is
   * told of it. A look that isn't allowed is one more that failed.
   */
  refused(call: Refused, why: string): void {
    if (call.name === 'look') this.blind += 1;
    // What comes next waits for it, and what goes wrong with the audit log is told.
    else this.#next(() => this.#recordRefused(call, why)).catch(nothing);
  }

  /** Waits until all that was done or refused by now is recorded. */
  recorded(): Promise<void> {
    return this.#pending;
  }

  /** Waits as `recorded` does, also for what was given up. Nothing is recorded after it. */
  async settle(): Promise<void> {
    await this.#pending;
    this.#isOver = true;
  }

  /** Does one thing after another. */
  #next<T>(work: () => Promise<T>): Promise<T> {
    const working = this.#pending.then(work);
    this.#pending = working.then(nothing, nothing);
    return working;
  }

  async #recordRefused({ name, arguments: args }: Refused, why: string): Promise<void> {
    const look = this.#shown ?? this.look;
    const recorded = recordedAction(name, args);
    const outcome = this.secrets.hideShown(why);
    if (recorded !== null) await this.#write(recorded.action, { outcome, ok: false, look });
    this.#watched(
      {
        action: this.secrets.hide(recorded?.said ?? describeCall(name, args)),
        whole: canonicalJson(recorded?.action ?? { ...args, kind: name }),
        ok: false,
        idle: name === 'wait',
      },
      { before: look, after: look },
    );
  }

  async #act(action: Deed, signal: AbortSignal): Promise<{ summary: string; look: Look | null }> {
    const before = this.look ?? (await this.observe(signal));
    const shown = this.#shown ?? before;
    if (this.stale && 'target' in action) {
      const untouched = { before, after: before, words: STALE, isSeen: true };
      throw new ActionError(await this.#record(action, false, { shown, ...untouched }));
    }
    const done = await this.#attempt(action, { shown, now: before }, signal);
    const sequel = await this.#after(before, done, signal);
    const outcome = await this.#record(action, done.ok, { shown, before, ...sequel });
    const { after, isSeen } = sequel;
    if (done.ok && isSeen) {
      this.look = after;
      return { summary: outcome, look: after };
    }
    this.stale ||= !isSeen || after.digest !== before.digest;
    // It was done all the same.
    if (done.ok) return { summary: outcome, look: null };
    throw new ActionError(
      this.stale ? `${outcome}. The screen has changed meanwhile: look at it` : outcome,
    );
  }

  /** Records what was tried, and gives its outcome in words without secrets. */
  async #record(
    action: Deed,
    ok: boolean,
    { shown, before, after, words, isSeen }: Sequel & { shown: Look; before: Look },
  ): Promise<string> {
    const hidden = this.secrets.hideShown(words);
    // The record has failures so.
    const outcome = ok ? hidden : publicText(hidden);
    const { said } = await this.#write(action, { outcome, ok, look: shown });
    // Of a screen that isn't seen, nobody knows whether it changed.
    const idle = action.kind === 'wait' || !isSeen;
    this.#watched({ action: said, whole: canonicalJson(action), ok, idle }, { before, after });
    return outcome;
  }

  async #attempt(
    action: Deed,
    { shown, now }: { shown: Look; now: Look },
    signal: AbortSignal,
  ): Promise<Done> {
    try {
      const aim = aimed(action, { shown: shown.all, now: now.all }, this.secrets);
      return await this.#timed(action, aim, signal);
    } catch (error) {
      if (error instanceof ActionError) return { ok: false, error: error.message };
      if (error instanceof ScreenGoneError) return { ok: false, error: this.#gone(error) };
      // Whatever it was, the action may have been done.
      return { ok: false, error: `${describeError(error)}; its effect is unknown` };
    }
  }

  #gone(error: ScreenGoneError): string {
    const evidence = this.secrets.hideShown(`the screen is gone: ${error.message}`);
    if (!this.#isGone) this.#options.onAlert({ kind: 'screen_gone', evidence });
    this.#isGone = true;
    return evidence;
  }

  async #timed(action: Deed, aim: ScreenAction, signal: AbortSignal): Promise<Done> {
    const waits = action.kind === 'wait' ? action.milliseconds : 0;
    const work = this.#options.screen.act(aim, { signal });
    const raced = await this.#waited(work, describe(action), { signal, waits });
    if (raced.ended === 'error') throw raced.error;
    if (raced.ended === 'value') return readDone(raced.value);
    return { ok: false, error: 'given up; its effect is unknown' };
  }

  /** Says so if it takes long, and gives it up when it is told to: what the screen does then is unknown. */
  async #waited<T>(
    work: Promise<T>,
    what: string,
    { signal, waits }: { signal: AbortSignal; waits: number },
  ): Promise<Raced<T>> {
    const { clock, limits, onAlert } = this.#options;
    const cancel = clock.timer(waits + limits.actionSeconds * 1000, () =>
      onAlert({
        kind: 'hung_action',
        evidence: `it has not ended for ${limits.actionSeconds} s: ${what}`,
      }),
    );
    // How long a call may take at most is the loop's to say: it aborts the signal.
    const cancellation = new Cancellation();
    const limit = { clock, signal, milliseconds: Infinity, cancellation };
    // A screen of somebody's own may answer at once.
    const raced = await race(Promise.resolve(work), limit);
    cancel();
    return raced;
  }

  /** Looks after an action. Whatever comes of the look, the action was done, and is recorded. */
  async #after(before: Look, done: Done, signal: AbortSignal): Promise<Sequel> {
    const words = wordsOf(done);
    if (signal.aborted) return { after: before, words, isSeen: false };
    try {
      return { after: await this.#see(signal), words, isSeen: true };
    } catch (error) {
      const why = error instanceof ScreenGoneError ? this.#gone(error) : describeError(error);
      const all = words.includes(why) ? words : `${words}; what came of it was not seen: ${why}`;
      return { after: before, words: all, isSeen: false };
    }
  }

  async #see(signal: AbortSignal): Promise<Look> {
    const work = this.#options.screen.observe({ signal });
    const raced = await this.#waited(work, 'look', { signal, waits: 0 });
    if (raced.ended === 'error') throw raced.error;
    if (raced.ended !== 'value') throw new ActionError('the look at the screen was given up');
    this.#isGone = false;
    const seen = wellFormed(withNotices(raced.value));
    this.secrets.see(seen);
    const all = this.secrets.hideOn(seen);
    return {
      all,
      view: viewOf(all),
      digest: screenDigest(all),
      seedDigest: observationDigest(all),
    };
  }

  #watched(
    done: Pick<SeenStep, 'action' | 'whole' | 'ok' | 'idle'>,
    { before, after }: { before: Look | null; after: Look | null },
  ): void {
    const seen = { ...done, before: before?.digest ?? '', after: after?.digest ?? '' };
    for (const alert of this.#watch.step(seen)) this.#options.onAlert(alert);
  }

  async #write(
    action: Action,
    { outcome, ok, look }: { outcome: string; ok: boolean; look: Look | null },
  ): Promise<Step> {
    const { audit, goal, onStep, onBroken } = this.#options;
    const said = this.secrets.hide(describe(action));
    const step: Step = { action, said, outcome, ok, screen: look?.seedDigest ?? '' };
    if (this.#isOver) return step;
    this.history.push(step);
    try {
      await audit?.append({ goal, screen: step.screen, action: said, outcome, ok });
    } catch (error) {
      onBroken(error);
      throw new ActionError(`the audit log can't be written: ${describeError(error)}`);
    }
    onStep(step);
    return step;
  }
}

const STALE = 'the screen has changed since it was looked at: look at it first';

/** What a screen of somebody's own answered. @throws {TypeError} if that is no answer. */
function readDone(value: unknown): Done {
  const { ok, summary, error }: { ok?: unknown; summary?: unknown; error?: unknown } =
    Object(value);
  if (ok === true && typeof summary === 'string') return { ok, summary };
  if (ok === false && typeof error === 'string') return { ok, error };
  throw new TypeError(
    "the screen's act gave neither { ok: true, summary } nor { ok: false, error }",
  );
}

function wordsOf(done: Done): string {
  return done.ok ? done.summary : done.error;
}

function nothing(): void {}

/** A page, or a screen of one's own, may hold half a character, which no record can. */
function wellFormed(observation: Observation): Observation {
  const { elements, text, url, title } = observation;
  return {
    elements: elements.map((element) => ({
      ...element,
      label: element.label.toWellFormed(),
      kind: element.kind.toWellFormed(),
      ...(element.value === undefined ? {} : { value: element.value.toWellFormed() }),
    })),
    text: text.toWellFormed(),
    ...(url === undefined ? {} : { url: url.toWellFormed() }),
    ...(title === undefined ? {} : { title: title.toWellFormed() }),
  };
}
