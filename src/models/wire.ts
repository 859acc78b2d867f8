/**
 * Reading what a provider sent: JSON of any shape, none of it trusted.
 *
 * @module
 */
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  Verbatim,
  type JsonValue,
} from '../transcript/index.ts';

/** A member of an object, at any depth; undefined where there is none. */
export function member(value: JsonValue | undefined, ...path: string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** A list's members; none where it is null, absent or something else. */
export function members(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

/**
 * A string as it is, '' for anything else. A lone surrogate, which no UTF-8 file can hold, becomes U+FFFD.
 */
export function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}

/** An id, which some servers send as a number. */
export function identifier(value: JsonValue | undefined): string {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : text(value);
}

/** Text that some servers send as a list of parts. */
export function textOfParts(value: JsonValue | undefined): string {
  if (typeof value === 'string') return text(value);
  return members(value)
    .map((part) => (typeof part === 'string' ? text(part) : text(member(part, 'text'))))
    .join('');
}

/** A number, also one whose spelling our reader kept (`12.0`). */
export function number(value: JsonValue | undefined): unknown {
  return value instanceof Verbatim ? Number(value.text) : value;
}

/**
 * A JSON value as plain data for a request body, with its keys sorted: so a live run and a resumed one,
 * which reads its values back from canonical JSON, send the same bytes. Numbers outside the range of a
 * double are rounded, as the SDKs write bodies with JSON.stringify.
 */
export function plain(value: JsonValue): unknown {
  return JSON.parse(canonicalJson(value));
}

/** Output without the reasoning that it includes; both unknown if that can't be. */
export function outputParts(
  total: number | null,
  reasoning: number | null,
): { readonly output: number | null; readonly reasoning: number | null } {
  if (total === null || reasoning === null) return { output: total, reasoning };
  return reasoning <= total
    ? { output: total - reasoning, reasoning }
    : { output: null, reasoning: null };
}
