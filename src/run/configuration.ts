/**
 * The configuration of a run: what its first record binds beside the task, so that its decisions can be taken
 * again, and a later process can tell what differs.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { checkBudget, checkPrice, type Budget } from './budget.ts';
import { type Price } from './model.ts';
import { DEFAULT_MAX_RESULT_BYTES } from './tool.ts';
import { codePoints } from './usage.ts';

/** What bounds a run. */
export interface Rules {
  readonly budget: Budget;
  readonly price: Price | undefined;
  readonly sentinel: string | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Repeats without anything new that stop the run; undefined if they only warn. */
  readonly stopAfterRepeats: number | undefined;
}

/** The configuration of a run. */
export interface Configuration extends Rules {
  /** The model's id. */
  readonly model: string;
  /** SHA-256 of the canonical JSON of the manifest, hex. */
  readonly tools: string;
  /** What a model or a resumed run depends on of each tool; null where only its hash was recorded. */
  readonly manifest: readonly JsonObject[] | null;
  readonly system: string | undefined;
  readonly runId: string | undefined;
  /** The rules by which values are taken out of the record, sorted. */
  readonly redact: readonly string[] | undefined;
  /** Whether there is a success check, and a policy: a resume that forgets one must not go unnoticed. */
  readonly checked: boolean;
  readonly permitted: boolean;
}

/** Code points of the manifest, which every request carries. */
export function manifestPoints({ manifest }: Configuration): number {
  return manifest === null ? 0 : codePoints(canonicalJson(manifest));
}

/** Whether a tool's repeats are judged by the arguments alone. */
export function comparedBy(configuration: Configuration, tool: string): 'result' | 'arguments' {
  const entry = toolNamed(configuration, tool);
  return entry?.['repeated_when'] === 'arguments' ? 'arguments' : 'result';
}

/** Whether a tool runs alone. */
export function isSerial(configuration: Configuration, tool: string): boolean {
  return toolNamed(configuration, tool)?.['parallel'] === false;
}

/** Whether a successful call of a tool ends the run. */
export function endsRun(configuration: Configuration, tool: string): boolean {
  return toolNamed(configuration, tool)?.['ends'] === true;
}

/** Whether a tool is the same under two configurations. */
export function isSameTool(a: Configuration, b: Configuration, tool: string): boolean {
  if (a.tools === b.tools) return true;
  const [one, other] = [toolNamed(a, tool), toolNamed(b, tool)];
  if (one === undefined || other === undefined) return false;
  return canonicalJson(one) === canonicalJson(other);
}

/** Runs look tools up at every call, and their manifest never changes. */
const ENTRIES = new WeakMap<readonly JsonObject[], ReadonlyMap<unknown, JsonObject>>();

/** A tool's entry in the manifest. */
export function toolNamed({ manifest }: Configuration, tool: string): JsonObject | undefined {
  if (manifest === null) return undefined;
  let entries = ENTRIES.get(manifest);
  if (entries === undefined) {
    entries = new Map(manifest.map((entry) => [entry['name'], entry]));
    ENTRIES.set(manifest, entries);
  }
  return entries.get(tool);
}

/** What a model or a resumed run depends on of each tool, as recorded. */
export type Manifest = readonly JsonObject[];

/** The configuration with a manifest that fulfils its hash, where it holds only the hash. */
export function withManifest(configuration: Configuration, known: Manifest | null): Configuration {
  const fits =
    configuration.manifest === null &&
    known !== null &&
    manifestHash(known) === configuration.tools;
  return fits ? { ...configuration, manifest: known } : configuration;
}

/** The limits of a tool, by its entry. */
export function toolLimits(tool: JsonObject): { readonly maxResultBytes: number } {
  const limit = tool['max_result_bytes'];
  return { maxResultBytes: typeof limit === 'number' ? limit : DEFAULT_MAX_RESULT_BYTES };
}

/** The hash that stands for a manifest. */
export function manifestHash(manifest: readonly JsonObject[]): string {
  return sha256Hex(canonicalJson(manifest));
}

/**
 * The member `run` of a record. Whether repeats are noted isn't part of it, as a run without repeats is the
 * same either way.
 */
export function configurationPayload(configuration: Configuration): JsonObject {
  const { manifest, runId, system, sentinel, maxOutputTokens, price } = configuration;
  const { stopAfterRepeats } = configuration;
  return {
    format: 'hashtape/1',
    model: configuration.model,
    tools: configuration.tools,
    ...(manifest === null ? {} : { manifest }),
    budget: snakeCase(configuration.budget),
    ...(runId === undefined ? {} : { id: runId }),
    ...(system === undefined ? {} : { system }),
    ...(sentinel === undefined ? {} : { sentinel }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(price === undefined ? {} : { price: snakeCase(price) }),
    ...(stopAfterRepeats === undefined ? {} : { stop_after_repeats: stopAfterRepeats }),
    ...(configuration.checked ? { check: true } : {}),
    ...(configuration.permitted ? { permit: true } : {}),
    ...(configuration.redact === undefined ? {} : { redact: configuration.redact }),
  };
}

/**
 * Reads the member `run` of a record back.
 *
 * @throws {TypeError | RangeError} if it isn't one that the loop writes.
 */
export function readConfiguration(run: JsonValue | undefined): Configuration {
  if (!isJsonObject(run)) throw new TypeError('it holds no configuration (`run`)');
  const { format, model, tools, manifest, price } = run;
  if (format !== 'hashtape/1')
    throw new TypeError(`its format is ${JSON.stringify(format)}, and only "hashtape/1" is known`);
  if (typeof model !== 'string' || model === '' || typeof tools !== 'string')
    throw new TypeError('its configuration names no model and no tools');
  return {
    model,
    tools,
    manifest: readManifest(manifest, tools),
    budget: readBudget(run),
    runId: text(run['id']),
    system: text(run['system']),
    sentinel: text(run['sentinel']),
    maxOutputTokens: whole(run['max_output_tokens']),
    price: price === undefined ? undefined : readPrice(price),
    stopAfterRepeats: whole(run['stop_after_repeats']),
    checked: run['check'] === true,
    permitted: run['permit'] === true,
    redact: readRules(run['redact']),
  };
}

function readManifest(manifest: JsonValue | undefined, hash: string): Configuration['manifest'] {
  if (manifest === undefined) return null;
  if (!isJsonArray(manifest) || !manifest.every(isJsonObject))
    throw new TypeError('its manifest is not a list of tools');
  if (manifestHash(manifest) !== hash)
    throw new TypeError('its manifest is not the one whose hash it holds');
  return manifest;
}

function readRules(rules: JsonValue | undefined): readonly string[] | undefined {
  if (rules === undefined) return rules;
  const texts = isJsonArray(rules) ? rules.filter((rule) => typeof rule === 'string') : [];
  if (texts.length > 0 && isJsonArray(rules) && texts.length === rules.length) return texts;
  throw new TypeError('its rules for what is taken out (`redact`) are not a list of texts');
}

function readBudget({ budget: given, price }: JsonObject): Budget {
  const budget = checkBudget(camelCase(given));
  if (budget.usd !== undefined && price === undefined)
    throw new TypeError('it has a usd budget, and no price of the model');
  return budget;
}

function readPrice(given: JsonValue): Price {
  // The check says whether it is one.
  const price = camelCase(given) as Price;
  checkPrice(price);
  return price;
}

function text(value: JsonValue | undefined): string | undefined {
  // An option that is empty is refused, so none was ever recorded.
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TypeError(`its configuration has ${JSON.stringify(value)} where a text belongs`);
}

function whole(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`its configuration has ${JSON.stringify(value)} where a number belongs`);
}

function snakeCase(object: object): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

function camelCase(value: JsonValue | undefined): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replaceAll(/_[a-z]/g, (match) => match.slice(1).toUpperCase()),
      member,
    ]),
  );
}
