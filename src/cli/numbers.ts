/**
 * Numbers as options give them.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';

/**
 * A whole number of at least 0; `20_000` and `20000` are the same.
 *
 * @throws {InvalidArgumentError} which commander reports.
 */
export function wholeNumber(text: string): number {
  const n = decimal(text, /^\d+(_\d+)*$/);
  if (!Number.isSafeInteger(n))
    throw new InvalidArgumentError('It must be a whole number of at least 0.');
  return n;
}

/** A whole number of at least 1. */
export function positiveNumber(text: string): number {
  const n = wholeNumber(text);
  if (n < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return n;
}

/** A number of at least 0, as `0.05`. */
export function amount(text: string): number {
  const n = decimal(text, /^(\d+(_\d+)*)?(\.\d+)?$/);
  if (!Number.isFinite(n)) throw new InvalidArgumentError('It must be a number of at least 0.');
  return n;
}

function decimal(text: string, form: RegExp): number {
  return text !== '' && form.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
}
