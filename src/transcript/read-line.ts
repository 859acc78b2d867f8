/**
 * Reads a line that is known to hold a fault, as far as what is wrong with it doesn't depend on what it should say.
 *
 * @module
 */
import { canonicalJson, Verbatim, type JsonObject, type JsonValue } from './canonical.ts';
import { outlineOf } from './outline.ts';
import { parseJson } from './parse.ts';
import { isJsonObject } from './record.ts';

/** What can be wrong with any line. */
export type LineReason =
  | 'unreadable'
  | 'torn_tail'
  | 'bad_utf8'
  | 'bad_json'
  | 'not_an_object'
  | 'missing_fields'
  | 'extra_fields'
  | 'prev_mismatch'
  | 'not_canonical'
  | 'count_mismatch'
  | 'head_mismatch';

/** What was found, before it has a place. */
export interface Finding<R extends string = LineReason> {
  readonly reason: R;
  readonly detail: string;
  readonly expected?: string;
}

/**
 * The longest line whose values are read to find its fault. Reading takes up to 140 times the line in
 * memory (measured on `[[],[],…]`), and it is seldom needed: an edited line is mostly canonical still.
 */
export const MAX_READ_BYTES: number = 256 * 1024;

/** A line that is JSON. */
export interface ReadLine {
  readonly text: string;
  readonly value: JsonValue;
  /** The first key that came twice in one object. */
  readonly duplicate: string | null;
  /** The first number too large for a double, which has no canonical form. */
  readonly overflow: string | null;
  readonly hasBom: boolean;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a line as JSON. A byte order mark before it is passed over, and told. */
export function readLine(bytes: Uint8Array): ReadLine | Finding {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { reason: 'bad_utf8', detail: 'the line is not valid UTF-8' };
  }
  if (/^[ \t\r]*$/.test(text)) return { reason: 'not_canonical', detail: 'a blank line' };
  const hasBom = text.startsWith('\uFEFF');
  const parsed = parseJson(hasBom ? text.slice(1) : text);
  if (!parsed.ok) {
    return { reason: 'bad_json', detail: `column ${parsed.at + 1}: ${parsed.problem}` };
  }
  const { value, duplicate, overflow } = parsed;
  return { text, value, duplicate, overflow, hasBom };
}

/**
 * Reads a long line without its values, so that hostile nesting can't take a hundred times the line's size in
 * memory. That it is canonical JSON is seen in one scan; if it isn't, no more is said.
 */
export function readOutline(
  bytes: Uint8Array,
  fields: readonly string[],
): { readonly value: JsonValue } | Finding {
  // No JSON holds this byte, and a file system may fill with it what a crash cut off.
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { reason: 'bad_json', detail: `byte ${nul + 1}: NUL` };
  const outline = outlineOf(bytes, fields);
  if (outline === null) {
    const detail = `a line over ${MAX_READ_BYTES} bytes that is not canonical JSON`;
    return { reason: 'not_canonical', detail };
  }
  const parsed = parseJson(outline);
  return { value: parsed.ok ? parsed.value : null };
}

/** The members of a line that must be an object with exactly these. */
export function membersOf(
  value: JsonValue,
  fields: readonly string[],
): { readonly members: JsonObject } | Finding {
  if (!isJsonObject(value)) {
    return { reason: 'not_an_object', detail: `the line is ${typeName(value)}` };
  }
  const missing = fields.filter((field) => !Object.hasOwn(value, field));
  if (missing.length > 0) return { reason: 'missing_fields', detail: missing.join(', ') };
  const extra = Object.keys(value).filter((key) => !fields.includes(key));
  if (extra.length === 0) return { members: value };
  const names = extra.map((key) => JSON.stringify(key).slice(0, 80));
  return { reason: 'extra_fields', detail: names.slice(0, 8).join(', ') };
}

/** The spelling of an integer of any size; null for any other value. */
export function integerText(value: JsonValue | undefined): string | null {
  // Only a number is spelled: an object here may be nested too deep, or hold a lone surrogate.
  const digits = typeof value === 'number' || value instanceof Verbatim ? canonicalJson(value) : '';
  return /^-?\d+$/.test(digits) ? digits : null;
}

/** What makes a good line's spelling another one: the first cause that is found. */
export function spellingFault({ text, value, duplicate, hasBom }: ReadLine): Finding {
  return { reason: 'not_canonical', detail: spellingDetail(text, value, duplicate, hasBom) };
}

function spellingDetail(
  text: string,
  value: JsonValue,
  duplicate: string | null,
  hasBom: boolean,
): string {
  if (hasBom) return 'a byte order mark';
  if (duplicate !== null) return `the key ${JSON.stringify(duplicate).slice(0, 80)} comes twice`;
  if (text.endsWith('\r')) return 'the line ends in \\r\\n';
  const right = canonicalJson(value, Infinity);
  let at = 0;
  while (at < right.length && right[at] === text[at]) at += 1;
  const shown = JSON.stringify(text.slice(at, at + 12));
  return `column ${at + 1}: ${shown} is written ${JSON.stringify(right.slice(at, at + 12))}`;
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`;
}
