/**
 * What an episode is given, and what it comes to.
 *
 * @module
 */
import { type RunEvent } from '../run/events.ts';
import { type RunOptions } from '../run/options.ts';
import { type CheckResult, type Outcome } from '../run/outcome.ts';
import { type TornTail } from '../store/recover.ts';
import { type AuditLog } from './audit-log.ts';
import { type Brain } from './brain.ts';
import { type Observation } from './observation.ts';
import { type Screen } from './screen.ts';
import { type Step } from './stage.ts';
import { type Alert, type WatchLimits } from './watch.ts';

/**
 * Looks at a fresh observation, and at whatever else it likes. Only `true` or `ok: true` is success. Its signal is aborted when
 * it is waited for no more: the episode was aborted, or ten minutes are over.
 */
export type ScreenCheck = (
  observation: Observation,
  screen: Screen,
  context: { readonly signal: AbortSignal },
) => boolean | CheckResult | Promise<boolean | CheckResult>;

/** When something is said, and whether the episode then ends. */
export interface EpisodeWatchdog extends Partial<WatchLimits> {
  /** Seconds without a word from the model. Default 120. */
  readonly modelSeconds?: number;
  /** Seconds that an action, or a look, may take, beside what it waits on purpose. Default 30. */
  readonly actionSeconds?: number;
  /** The alerts that end the episode as `stalled`; `true` for all. Default none: an alert is an event. */
  readonly stop?: boolean | readonly Alert['kind'][];
}

/** One event: those of the run, steps on the screen, and alerts. */
export type EpisodeEvent =
  | RunEvent
  | { readonly type: 'step'; readonly step: Step }
  | { readonly type: 'alert'; readonly alert: Alert };

/** What an episode is given. The rest is as for a run. */
export interface EpisodeOptions extends Pick<
  RunOptions,
  | 'budget'
  | 'transcript'
  | 'signal'
  | 'clock'
  | 'system'
  | 'runId'
  | 'maxOutputTokens'
  | 'permit'
  | 'ask'
> {
  readonly goal: string;
  readonly screen: Screen;
  readonly brain: Brain;
  /** Without one nothing is verified, and the episode fails. */
  readonly check?: ScreenCheck | undefined;
  /** A path for an audit log, new or to go on with, or one that is open. */
  readonly audit?: string | URL | AuditLog | undefined;
  readonly watchdog?: EpisodeWatchdog | undefined;
  /** What the action `type` may enter by name. No record, event or message holds it, unless the goal does. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /**
   * A path for a picture of the last screen, PNG; its hash is in the record of the check. A file that is there is
   * replaced only if it is a PNG.
   */
  readonly screenshot?: string | undefined;
  readonly on?: ((event: EpisodeEvent) => unknown) | undefined;
}

/** How an episode ended. */
export interface Episode {
  readonly result:
    | 'verified'
    | 'failed'
    | 'refused'
    | 'out_of_budget'
    | 'stalled'
    | 'aborted'
    | 'error';
  /** Whether the result is `verified`. */
  readonly success: boolean;
  /** What the brain said last. */
  readonly claim: string;
  readonly check: CheckResult | null;
  /** Actions, failed ones and the last word among them. */
  readonly steps: number;
  readonly alerts: readonly Alert[];
  /** The run that it was, with its transcript. */
  readonly outcome: Outcome;
  /** The picture that was kept, and its SHA-256, hex. */
  readonly screenshot?: { readonly path: string; readonly sha256: string };
  readonly audit?: {
    readonly location: string;
    readonly entries: number;
    readonly head: string;
    /** The unfinished line that a crash had left, and that was set aside. */
    readonly torn?: TornTail;
  };
}
