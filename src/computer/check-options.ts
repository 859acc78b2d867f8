/**
 * The options of an episode, checked before anything happens.
 *
 * @module
 */
import { basename, dirname, join } from 'node:path';
import { meantPath, pathText, realPath } from '../store/place.ts';
import { type EpisodeOptions, type EpisodeWatchdog } from './episode-options.ts';
import { type Alert } from './watch.ts';

const OPTIONS: { readonly [K in keyof Required<EpisodeOptions>]: true } = {
  goal: true,
  screen: true,
  brain: true,
  check: true,
  budget: true,
  audit: true,
  transcript: true,
  watchdog: true,
  secrets: true,
  screenshot: true,
  on: true,
  signal: true,
  clock: true,
  system: true,
  runId: true,
  maxOutputTokens: true,
  permit: true,
  ask: true,
};

const WATCHDOG: { readonly [K in keyof Required<EpisodeWatchdog>]: true } = {
  unchangedAfter: true,
  alternatingAfter: true,
  sameFailureAfter: true,
  modelSeconds: true,
  actionSeconds: true,
  stop: true,
};

const ALERTS: { readonly [K in Alert['kind']]: true } = {
  unchanged_screen: true,
  alternating_screens: true,
  same_failure: true,
  silent_model: true,
  hung_action: true,
  screen_gone: true,
};

/** What an option has to be. Those of a run are checked by the run. */
const KINDS: readonly (readonly [keyof EpisodeOptions, string, (value: unknown) => boolean])[] = [
  ['goal', 'a text, and not empty', (value) => typeof value === 'string' && value.trim() !== ''],
  ['screen', 'a screen: { observe, act }, not a promise of one', isScreen],
  ['brain', 'a model, or a function (observation, goal, history) => action', isFunction],
  ['check', 'a function', orAbsent(isFunction)],
  ['on', 'a function', orAbsent(isFunction)],
  ['screenshot', 'a path', orAbsent((value) => typeof value === 'string' && value !== '')],
  ['audit', 'a path, a URL or an audit log that is open', orAbsent(isAudit)],
  ['secrets', 'texts by name, none of them empty', orAbsent(isTexts)],
  ['watchdog', 'an object, as { stop: true }', orAbsent(isPlain)],
  ['signal', 'an AbortSignal', orAbsent((value) => value instanceof AbortSignal)],
];

/** Streaks are counted, not measured. */
const COUNTS: ReadonlySet<string> = new Set([
  'unchangedAfter',
  'alternatingAfter',
  'sameFailureAfter',
]);

/** @throws {TypeError | RangeError} with what is wrong and what would be right. */
export function checkEpisodeOptions(options: EpisodeOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('episode takes one object, as { goal, screen, brain, check }');
  requireKnown('option', options, OPTIONS);
  for (const [name, wanted, is] of KINDS)
    if (!is(options[name])) throw new TypeError(`${name} must be ${wanted}`);
  checkWatchdog(options);
  checkPlaces(options);
}

/** Each file has a writer of its own: one would write over the other. */
function checkPlaces({ transcript, audit, screenshot }: EpisodeOptions): void {
  const places = Object.entries({ transcript, audit, screenshot }).flatMap(([name, at]) => {
    const path = pathOf(at);
    return path === undefined ? [] : [{ name, path: placeOf(path) }];
  });
  for (const [at, { name, path }] of places.entries()) {
    const other = places.slice(0, at).find((before) => before.path === path);
    if (other !== undefined)
      throw new TypeError(`${name} must be another file than ${other.name}: both are ${path}`);
  }
}

/** The file of an option: a path, or what is open there. */
function pathOf(at: EpisodeOptions['transcript'] | EpisodeOptions['audit']): string | undefined {
  if (typeof at === 'string' || at instanceof URL) return pathText(at);
  const { location }: { location?: unknown } = Object(at);
  return typeof location === 'string' ? location : undefined;
}

/** Links followed, as far as they are there. */
function placeOf(path: string): string {
  const meant = meantPath(path);
  const folder = realOf(dirname(meant));
  return realOf(meant) ?? (folder === undefined ? meant : join(folder, basename(meant)));
}

function realOf(path: string): string | undefined {
  try {
    return realPath(path);
  } catch {
    return undefined; // it isn't there yet
  }
}

function checkWatchdog({ watchdog = {} }: EpisodeOptions): void {
  requireKnown('watchdog setting', watchdog, WATCHDOG);
  const { stop = false, ...limits } = watchdog;
  for (const [name, value] of Object.entries(limits)) {
    if (!(typeof value === 'number' && value > 0))
      throw new RangeError(`watchdog.${name} must be a number above 0`);
    if (COUNTS.has(name) && value !== Infinity && !Number.isInteger(value))
      throw new RangeError(`watchdog.${name} must be a whole number`);
  }
  const kinds: unknown = typeof stop === 'boolean' ? [] : stop;
  if (!Array.isArray(kinds) || kinds.some((kind) => !Object.hasOwn(ALERTS, String(kind))))
    throw new TypeError(
      `watchdog.stop must be true, false or a list of ${Object.keys(ALERTS).join(', ')}`,
    );
}

function requireKnown(what: string, given: object, known: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined)
    throw new TypeError(`unknown ${what} '${unknown}'; they are ${Object.keys(known).join(', ')}`);
}

function orAbsent(is: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || is(value);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function isScreen(value: unknown): boolean {
  const { observe, act }: { observe?: unknown; act?: unknown } = Object(value);
  return isFunction(observe) && isFunction(act);
}

function isAudit(value: unknown): boolean {
  const { append, close }: { append?: unknown; close?: unknown } = Object(value);
  const isPath = (typeof value === 'string' && value !== '') || value instanceof URL;
  return isPath || (isFunction(append) && isFunction(close));
}

/** A list, a map or a date is an object too, without the members that are meant. An object of another realm is plain. */
function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function isTexts(value: unknown): boolean {
  if (!isPlain(value)) return false;
  return Object.values(value).every((text) => typeof text === 'string' && text !== '');
}
