/**
 * What a replay is given: today's tools and configuration, to be compared with what is recorded.
 *
 * @module
 */
import { type Configuration } from '../run/configuration.ts';
import { differences, taskDifference, type Difference } from '../run/differences.ts';
import { ModelError, type Model, type ModelRequest } from '../run/model.ts';
import { type RunOptions } from '../run/options.ts';
import { recordedOptions } from '../run/resume.ts';
import { prepare, type Settings } from '../run/settings.ts';

/**
 * What may be given to a replay. No model: it can't reach one. What is given is compared with the record; what
 * isn't is taken to be the same.
 */
export interface ReplayOptions extends Partial<
  Pick<RunOptions, 'task' | 'system' | 'budget' | 'sentinel' | 'maxOutputTokens' | 'watchdog'>
> {
  /**
   * Real tools, which are run on the recorded calls, effects and all. What they answer is compared with the
   * record, and goes nowhere else.
   */
  readonly tools?: RunOptions['tools'];
}

const OPTIONS: { readonly [K in keyof Required<ReplayOptions>]: true } = {
  tools: true,
  task: true,
  system: true,
  budget: true,
  sentinel: true,
  maxOutputTokens: true,
  watchdog: true,
};

/** @throws {TypeError} if one is unknown, or a model. */
export function checkReplayOptions(options: ReplayOptions): void {
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
  const named = { id, ...(price === undefined ? {} : { price }) };
  const model: Model = Object.assign((request: ModelRequest) => NO_MODEL(request), named);
  return prepare({ task, ...recordedOptions(configuration), ...options, model });
}

/** What differs, of what was given. */
export function givenDifferences(
  was: { readonly task: string; readonly configuration: Configuration },
  given: Settings,
  { tools }: ReplayOptions,
): Difference[] {
  const { configuration } = given;
  // Without tools given, nothing is said about them.
  const kept = { tools: was.configuration.tools, manifest: was.configuration.manifest };
  const is = tools === undefined ? { ...configuration, ...kept } : configuration;
  return [...taskDifference(was.task, given.task), ...differences(was.configuration, is)];
}
