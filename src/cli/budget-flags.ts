/**
 * Budgets and prices as options give them.
 *
 * @module
 */
import { type Budget } from '../run/budget.ts';
import { type Price } from '../run/model.ts';
import { CommandError } from './command-error.ts';
import { type RunFlags } from './run.ts';

/** The budget. Steps have a default, so that no run is endless. */
export function budgetOf(flags: RunFlags): Budget {
  const { maxTokens: tokens, maxUsd: usd, maxSeconds: seconds, maxToolCalls: toolCalls } = flags;
  return {
    steps: flags.maxSteps,
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { usd }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
  };
}

/**
 * The model's price, if one is given.
 *
 * @throws {CommandError} if it is given by half, or needed and missing.
 */
export function priceOf({ priceIn, priceOut, maxUsd }: RunFlags): Price | undefined {
  if (priceIn !== undefined && priceOut !== undefined) return { input: priceIn, output: priceOut };
  if (priceIn !== undefined || priceOut !== undefined) {
    throw new CommandError(
      'a price has two parts: give both --price-in and --price-out, in US dollars per million tokens',
    );
  }
  if (maxUsd === undefined) return undefined;
  throw new CommandError(
    '--max-usd needs to know what the model costs: give --price-in and --price-out, in US dollars per million tokens',
  );
}
