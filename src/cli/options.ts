/**
 * The values of options: numbers, and those that are not given.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';

/** A whole number of at least 0; `20_000` and `20000` are the same. */
export function wholeNumber(text: string): number {
  const n = /^\d+(_\d+)*$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
  if (Number.isSafeInteger(n)) return n;
  throw new InvalidArgumentError('It must be a whole number of at least 0.');
}

/** A number of at least 0, as `0.05`. */
export function amount(text: string): number {
  const isDecimal = /^(\d+(_\d+)*)?(\.\d+)?$/.test(text) && text !== '';
  const n = isDecimal ? Number(text.replaceAll('_', '')) : Number.NaN;
  if (Number.isFinite(n)) return n;
  throw new InvalidArgumentError('It must be a number of at least 0.');
}

/** The parser of a repeatable option that takes any value. */
export function repeated(value: string, list: readonly string[]): readonly string[] {
  return [...list, value];
}

/** The parser of a repeatable option that takes these values. */
export function oneOf<T extends string>(
  choices: readonly T[],
): (value: string, list: readonly T[]) => readonly T[] {
  return (value, list) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return [...list, found];
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  };
}

/** The members that are given: an option that isn't has no value, not even `undefined`. */
export function given<T extends object>(
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  // Only the undefined members are gone, which the type says.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
