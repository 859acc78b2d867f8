/**
 * Reads a tool call's arguments as a model wrote them, and says what can't be taken at its word.
 *
 * @module
 */
import {
  canonicalJson,
  CanonicalError,
  isJsonArray,
  isJsonObject,
  parseJson,
  Verbatim,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';

/** What a call's arguments say. */
export interface ReadArguments {
  /** Frozen; `{}` where the text is not a JSON object. */
  readonly value: JsonObject;
  /** `value` in canonical JSON. */
  readonly text: string;
  /** The model's own text, where it isn't `text`. */
  readonly raw?: string;
  /** Why the tool can't be called with them; null if it can. */
  readonly problem: string | null;
}

const EMPTY: JsonObject = Object.freeze({});

/** Reads arguments that came as text, or as an object that a provider had parsed. */
export function readArguments(source: string | JsonObject): ReadArguments {
  if (typeof source !== 'string') return fromObject(source);
  return exact(source) ?? fromText(source);
}

/** Read as the text that it would have been, so that a record of it reads back as the same thing. */
function fromObject(source: JsonObject): ReadArguments {
  try {
    return readArguments(canonicalJson(source));
  } catch (error) {
    if (!(error instanceof CanonicalError)) throw error;
    return unsayable(source, error);
  }
}

/** An object that no JSON says. Its `raw` must be refused too where a record is read back. */
function unsayable(source: JsonObject, why: CanonicalError): ReadArguments {
  try {
    // JSON.stringify escapes lone surrogates, and so keeps what was wrong; NaN it turns into null.
    const read = readArguments(JSON.stringify(source));
    if (read.problem !== null) return read;
  } catch {
    // It throws where the object does.
  }
  return fromText(`not JSON: ${why.message}`);
}

/** The common case: the text is canonical JSON already, so nothing is lost in reading it. */
function exact(text: string): ReadArguments | null {
  if (!text.startsWith('{') || text.includes('__proto__')) return null;
  try {
    const value = parsePlain(text);
    return canonicalJson(value) === text ? { value, text, problem: null } : null;
  } catch {
    return null;
  }
}

function parsePlain(text: string): JsonObject {
  const value: JsonObject = JSON.parse(text);
  return deepFreeze(value);
}

function fromText(source: string): ReadArguments {
  // Lone surrogates can't be recorded; their place in text that is refused anyway can.
  const raw = source.toWellFormed();
  // Providers send nothing at all for a call without arguments.
  if (raw.trim() === '') return { value: EMPTY, text: '{}', raw, problem: null };
  const parsed = parseJson(raw);
  if (!parsed.ok) {
    return refused(raw, `not valid JSON (column ${parsed.at + 1}: ${parsed.problem})`);
  }
  if (!isJsonObject(parsed.value)) return refused(raw, 'expected a JSON object');
  if (parsed.overflow !== null)
    return refused(raw, `the number ${clip(parsed.overflow)} is out of range`);
  return fromParsed(parsed.value, raw, parsed.duplicate);
}

function fromParsed(parsed: JsonObject, raw: string, duplicate: string | null): ReadArguments {
  try {
    canonicalJson(parsed); // refuses what is nested too deep, and lone surrogates
  } catch (error) {
    if (error instanceof CanonicalError) return refused(raw, error.message);
    throw error;
  }
  const problem =
    duplicate === null ? inexact(parsed) : `the key ${JSON.stringify(clip(duplicate))} comes twice`;
  const value = deepFreeze(plainNumbers(parsed));
  const text = canonicalJson(value);
  return raw === text ? { value, text, problem } : { value, text, raw, problem };
}

function refused(raw: string, problem: string): ReadArguments {
  return { value: EMPTY, text: '{}', raw, problem };
}

/** What in a value would reach the tool as something else than the model wrote. */
function inexact(value: JsonValue): string | null {
  if (value instanceof Verbatim) {
    return /^-?\d+$/.test(value.text)
      ? `the integer ${clip(value.text)} can't be represented exactly; send it as a string`
      : null;
  }
  for (const [key, member] of Object.entries(
    isJsonArray(value) || isJsonObject(value) ? value : {},
  )) {
    if (key === '__proto__') return 'the key "__proto__" is not accepted';
    const problem = inexact(member);
    if (problem !== null) return problem;
  }
  return null;
}

/** The value with JavaScript numbers only, as canonical JSON has them (a zero without a sign), without `__proto__` keys. */
function plainNumbers(value: JsonObject): JsonObject;
function plainNumbers(value: JsonValue): JsonValue;
function plainNumbers(value: JsonValue): JsonValue {
  if (value instanceof Verbatim) return plainNumbers(Number(value.text));
  // -1e-400 is a negative zero, and so would be another number when the record is read.
  if (value === 0) return 0;
  if (isJsonArray(value)) return value.map((member) => plainNumbers(member));
  if (!isJsonObject(value)) return value;
  const plain: { [key: string]: JsonValue } = {};
  for (const [key, member] of Object.entries(value)) {
    if (key !== '__proto__') plain[key] = plainNumbers(member);
  }
  return plain;
}

/** Freezes a value and all that it holds. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

function clip(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text;
}
