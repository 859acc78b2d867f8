/**
 * Checks of what callers pass: a misspelt option would otherwise do the opposite of what was meant, such as
 * send a key to another server.
 *
 * @module
 */
import { checkPrice } from '../run/budget.ts';
import { type Price } from '../run/model.ts';

export type Test = (value: unknown) => boolean;
export type Members = Readonly<Record<string, unknown>>;

/** What a value must be: in words, and as a test. */
type Check = readonly [words: string, test: Test];

/** What the members of an object must be, by name. */
export type Shape = Readonly<Record<string, Check>>;

export const isString: Test = (value) => typeof value === 'string';

/** A test that undefined passes too. */
export function orAbsent(test: Test): Test {
  return (value) => value === undefined || test(value);
}

/** An option that is a flag, and one that counts something. */
export const FLAG: Check = ['true or false', orAbsent((value) => typeof value === 'boolean')];
export const COUNT: Check = [
  'an integer of at least 1',
  orAbsent((value) => Number.isInteger(value) && Number(value) >= 1),
];

/** The options that models share. */
export const MODEL_OPTIONS: Shape = {
  price: ['rates, as { input: 1, output: 2 }', orAbsent(isPrice)],
  clock: ['a clock, with now and timer', orAbsent((value) => isObject(value) && 'timer' in value)],
};

/**
 * Checks a caller's options.
 *
 * @param caller the function that takes them.
 * @throws {TypeError | RangeError} if one isn't known or isn't what it should be; the error names those that are.
 */
export function checkOptions(caller: string, options: unknown, shape: Shape): void {
  const known = Object.keys(shape).join(', ');
  if (!isObject(options)) {
    throw new TypeError(`${caller}: expected options (${known}), got ${shown(options)}`);
  }
  const other = Object.keys(options).find((name) => !Object.hasOwn(shape, name));
  if (other !== undefined) {
    throw new TypeError(`${caller}: unknown option '${other}'; the options are ${known}`);
  }
  checkMembers(options, shape);
}

/** {@link checkOptions} of what may have other members too. */
export function checkMembers(value: Members, shape: Shape): void {
  for (const [name, [words, test]] of Object.entries(shape)) {
    const found = value[name];
    if (test(found)) continue;
    const message = `${name}: expected ${words}, got ${shown(found)}`;
    throw typeof found === 'number' ? new RangeError(message) : new TypeError(message);
  }
}

/** `checkPrice` has its own words for what is wrong with a rate. */
function isPrice(value: unknown): boolean {
  if (isObject(value)) checkPrice(value as unknown as Price); // it looks at every member
  return isObject(value);
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an error shows it: short, and never its members. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return String(value);
  }
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
