/**
 * The backslashes before a character, as JSON within JSON reads them: each reading takes one of two.
 *
 * A backslash that is spelled as an escape or a percent code is there after that was decoded only, so each has a level:
 * how often something is decoded until it can be seen. `\\\u0075` is read as `\u`, by the two backslashes that belonged to no escape.
 *
 * @module
 */

/** Backslashes side by side, those of one level. */
export interface Backslashes {
  /** One or more. */
  readonly count: number;
  readonly level: number;
  /** Those before them, all of higher levels. */
  readonly before: Backslashes | undefined;
}

/** JSON within JSON is hardly nested deeper than this. */
const DEEP = 64;

/** The level of what percent codes stand for: they may have been decoded after JSON was, however often that was. */
export function levelBehind(level: number): number {
  return (Math.floor(level / DEEP) + 1) * DEEP;
}

/** As they are with some more behind them; 0 for none. */
export function withMore(
  those: Backslashes | undefined,
  count: number,
  level: number,
): Backslashes | undefined {
  let [all, at, before] = [0, 0, those];
  // The last ones are of the lowest level: they are read until they are beside those before them.
  for (; before !== undefined && before.level <= level; before = before.before) {
    all = raised(all, before.level - at) + before.count;
    at = before.level;
  }
  all = raised(all, level - at) + count;
  return all === 0 ? before : { count: all, level, before };
}

/** How many are left of so many after some readings. None vanishes: it belongs to something. */
function raised(count: number, readings: number): number {
  return count === 0 ? 0 : Math.max(1, Math.ceil(count / 2 ** readings));
}

/** What is before a character that was an escape, and on which level the character is. */
export interface Unescaped {
  readonly before: Backslashes | undefined;
  readonly level: number;
}

/** Takes the one away that belongs to an escape which stands behind them, on a level. */
export function unescape(those: Backslashes, from: number): Unescaped {
  let left = withMore(those, 0, from) ?? those;
  while (left.count % 2 === 0) {
    const { count, level, before } = left;
    left = withMore(before, count / 2, level + 1) ?? left;
  }
  const level = left.level + 1;
  return { before: withMore(left.before, (left.count - 1) / 2, level), level };
}
