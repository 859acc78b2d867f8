/**
 * How two configurations differ, named one by one. Pure.
 *
 * @module
 */
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { configurationPayload, type Configuration } from './configuration.ts';

/** The parts of a configuration that may be allowed to differ. */
export const CONFIGURATION_PARTS = [
  'model',
  'tools',
  'budget',
  'system',
  'sentinel',
  'maxOutputTokens',
  'price',
  'watchdog',
  'runId',
  'check',
  'permit',
  'redact',
] as const;

export type ConfigurationPart = (typeof CONFIGURATION_PARTS)[number];

/** One thing that isn't as it was. */
export interface Difference {
  readonly part: ConfigurationPart | 'task';
  /** Where, in the record's words: `budget.steps`, `tools.add.input_schema`. */
  readonly name: string;
  /** As it was; undefined if it was not there. */
  readonly was: JsonValue | undefined;
  readonly is: JsonValue | undefined;
}

/** The member of a record's `run` for each part that has one name there. */
const MEMBERS: readonly (readonly [ConfigurationPart, string])[] = [
  ['model', 'model'],
  ['budget', 'budget'],
  ['system', 'system'],
  ['sentinel', 'sentinel'],
  ['maxOutputTokens', 'max_output_tokens'],
  ['price', 'price'],
  ['watchdog', 'stop_after_repeats'],
  ['runId', 'id'],
  ['check', 'check'],
  ['permit', 'permit'],
  ['redact', 'redact'],
];

/** What differs, in the order of the parts. */
export function differences(was: Configuration, is: Configuration): Difference[] {
  const [before, now] = [configurationPayload(was), configurationPayload(is)];
  return [
    ...MEMBERS.flatMap(([part, name]) => compare(part, name, before[name], now[name])),
    ...(was.tools === is.tools ? [] : toolDifferences(was, is)),
  ];
}

/** The difference between two tasks, if there is one. */
export function taskDifference(was: string, is: string): Difference[] {
  return was === is ? [] : [{ part: 'task', name: 'task', was, is }];
}

/** Compares two values; objects member by member, all the way down. */
function compare(
  part: ConfigurationPart,
  name: string,
  was: JsonValue | undefined,
  is: JsonValue | undefined,
): Difference[] {
  if (isJsonObject(was) && isJsonObject(is)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return keys.flatMap((key) => compare(part, `${name}.${key}`, was[key], is[key]));
  }
  return same(was, is) ? [] : [{ part, name, was, is }];
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

function toolDifferences(was: Configuration, is: Configuration): Difference[] {
  const [before, now] = [byName(was), byName(is)];
  const found =
    before === null || now === null
      ? []
      : [...new Set([...before.keys(), ...now.keys()])].flatMap((name) =>
          compare('tools', `tools.${name}`, before.get(name), now.get(name)),
        );
  // An old record holds the hash alone; and the same tools in another order are another manifest.
  const name = found.length > 0 || before === null ? 'tools' : 'tools (their order)';
  return found.length > 0 ? found : [{ part: 'tools', name, was: was.tools, is: is.tools }];
}

function byName({ manifest }: Configuration): Map<string, JsonObject> | null {
  if (manifest === null) return null;
  return new Map(
    manifest.map((tool) => [typeof tool['name'] === 'string' ? tool['name'] : '', tool]),
  );
}

/** `budget.steps was 8 and is 12`. */
export function differenceText({ name, was, is }: Difference): string {
  // What a tool is takes more than a line to say.
  const isTool = /^tools\.[^.]+$/.test(name);
  if (was === undefined && isTool) return `${name} was not there and is there now`;
  if (is === undefined && isTool) return `${name} was there and is not there now`;
  if (was === undefined) return `${name} was not there and is ${shown(is)}`;
  if (is === undefined) return `${name} was ${shown(was)} and is not there`;
  return `${name} was ${shown(was)} and is ${shown(is)}`;
}

const SHOWN_LENGTH = 60;

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? '' : canonicalJson(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text;
}
