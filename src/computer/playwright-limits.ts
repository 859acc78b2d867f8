/**
 * How much of a page is observed, and how long it is waited for.
 *
 * @module
 */

/** How much of a page is observed. Texts are counted in code points. */
export interface PageLimits {
  /** Of the page and its frames together; a brain is shown the first 8,000. Default 1,000,000. */
  readonly text: number;
  /** Default 200. */
  readonly label: number;
  /** Default 2,000. */
  readonly value: number;
  /** Default 10,000. */
  readonly elements: number;
  /** Options of one list. The others can still be chosen. Default 100. */
  readonly options: number;
}

/** Limits of a screen; times are in milliseconds. */
export interface ScreenLimits extends PageLimits {
  /** A page that loads is waited for so long before it is looked at as it is. Default 5,000. */
  readonly loadMs: number;
  /** After an action, the page is taken to be done when it hasn't changed for so long. Default 300. */
  readonly quietMs: number;
  /** A page that keeps changing after an action is waited for no longer. Default 1,000. */
  readonly settleMs: number;
  /** An action's own time: until the element is there, still, enabled and not covered. Default 5,000. */
  readonly actionMs: number;
  /** The time for an address to answer, whether it was asked by an action or by the page. Default 30,000. */
  readonly navigateMs: number;
  /** A page that doesn't answer for so long beyond that, as its script keeps it from it, is gone. Default 15,000. */
  readonly answerMs: number;
  /** The longest `wait`. Default 60,000. */
  readonly waitMs: number;
}

export const DEFAULT_LIMITS: ScreenLimits = {
  text: 1_000_000,
  label: 200,
  value: 2000,
  elements: 10_000,
  options: 100,
  loadMs: 5000,
  quietMs: 300,
  settleMs: 1000,
  actionMs: 5000,
  navigateMs: 30_000,
  answerMs: 15_000,
  waitMs: 60_000,
};
