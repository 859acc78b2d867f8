/**
 * What a replay is given: today's tools and configuration, to be compared with what is recorded.
 *
 * @module
 */
import { type Configuration } from '../run/configuration.ts';
import { differences, taskDifference, type Difference } from '../run/differences.ts';
import { ModelError, type Model, type ModelRequest } from '../run/model.ts';
import { type RunOptions } from '../run/options.ts';
import { mergedWatchdog, recordedOptions } from '../run/resume.ts';
import { prepare, type Settings } from '../run/settings.ts';

/**
 * What may be given to a replay. No model: it can't reach one. What is given is compared with the record; what
 * isn't is taken to be the same.
 */
export interface ReplayOptions {
  readonly task?: string | undefined;
  readonly system?: RunOptions['system'];
  readonly budget?: RunOptions['budget'];
  readonly sentinel?: RunOptions['sentinel'];
  readonly maxOutputTokens?: RunOptions['maxOutputTokens'];
  readonly watchdog?: RunOptions['watchdog'];
  /** Today's tools. Their definitions are compared with the recorded ones; they are not run. */
  readonly tools?: RunOptions['tools'];
  /**
   * Run the tools on the recorded calls, effects and all. What they answer is compared with the record, and goes
   * nowhere else. Default false.
   */
  readonly live?: boolean;
  /** What isn't given counts as not there, as in a run, but for the task. Default false. */
  readonly whole?: boolean;
}

const OPTIONS: { readonly [K in keyof Required<ReplayOptions>]: true } = {
  tools: true,
  task: true,
  system: true,
  budget: true,
  sentinel: true,
  maxOutputTokens: true,
  watchdog: true,
  whole: true,
  live: true,
};

/** @throws {TypeError} if one is unknown, or a model. */
export function checkReplayOptions(options: ReplayOptions): void {
  if (options.live === true && options.tools === undefined)
    throw new TypeError('live needs the tools that are to run');
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue;
    throw new TypeError(
      name === 'model'
        ? 'a replay takes no model: the replies come from the record'
        : `unknown option '${name}'; a replay takes ${Object.keys(OPTIONS).join(', ')}`,
    );
  }
}

/** Nobody asks it: a replay's turns come from the record. */
export const NO_MODEL: Model = () => Promise.reject(new ModelError('a replay has no model'));

/**
 * The settings that a run would have today.
 *
 * @throws {TypeError | RangeError} if an option is wrong.
 */
export function prepareGiven(
  task: string,
  configuration: Configuration,
  options: ReplayOptions,
): Settings {
  const { price, model: id } = configuration;
  const { whole = false, live: _live, ...given } = options;
  const named = { id, ...(price === undefined ? {} : { price }) };
  const model: Model = Object.assign((request: ModelRequest) => NO_MODEL(request), named);
  const recorded = whole ? {} : recordedOptions(configuration);
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const watchdog = whole ? given.watchdog : mergedWatchdog(configuration, given);
  return prepare({ task, ...recorded, ...set, watchdog, model });
}

/** What differs, of what was given. */
export function givenDifferences(
  was: { readonly task: string; readonly configuration: Configuration },
  given: Settings,
  { tools, whole = false }: ReplayOptions,
): Difference[] {
  const { runId, checked, permitted, redact, ...before } = was.configuration;
  const { configuration } = given;
  // Nothing is said of what can't be given; nor of tools, if none are.
  const same = { runId, checked, permitted, redact };
  const kept =
    tools === undefined && !whole ? { tools: before.tools, manifest: before.manifest } : {};
  const is = { ...configuration, ...same, ...kept };
  return [...taskDifference(was.task, given.task), ...differences(was.configuration, is)];
}
