/**
 * Where two values of JSON first differ, and what each has there, cut short. Pure.
 *
 * @module
 */
import {
  canonicalJson,
  compareCodePoints,
  isJsonArray,
  isJsonObject,
  MAX_DEPTH,
  parseJson,
  Verbatim,
  type JsonValue,
} from '../transcript/index.ts';

/** A place where two values differ. */
export interface FirstDifference {
  /** From the outermost value on: `.items[0].name`; empty if it is that value itself. */
  readonly path: string;
  /** JSON of what is there, cut short, or `nothing`; of two long texts, from shortly before they part. */
  readonly a: string;
  readonly b: string;
}

/** The first difference; null if the values are the same, each number's spelling included. */
export function firstDifference(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
): FirstDifference | null {
  return within(expanded(a), expanded(b), '', 0);
}

function within(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
  path: string,
  depth: number,
): FirstDifference | null {
  const steps = depth < MAX_DEPTH ? stepsInto(a, b) : null;
  // What another program nested deeper is compared as a whole, which needs no stack.
  if (steps === null) return whole(a) === whole(b) ? null : { path, ...excerpts(a, b) };
  for (const [step, inA, inB] of steps) {
    const found = within(expanded(inA), expanded(inB), path + step, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** JSON text may stand for an array or an object. */
function expanded(value: JsonValue | undefined): JsonValue | undefined {
  if (!(value instanceof Verbatim) || !/^[[{]/.test(value.text)) return value;
  const parsed = parseJson(value.text);
  return parsed.ok ? parsed.value : value;
}

type Step = readonly [step: string, a: JsonValue | undefined, b: JsonValue | undefined];

/** What is inside of two arrays, or two objects; null for any other two values. */
function stepsInto(a: JsonValue | undefined, b: JsonValue | undefined): Step[] | null {
  if (isJsonArray(a) && isJsonArray(b))
    return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [`[${i}]`, a[i], b[i]]);
  if (!isJsonObject(a) || !isJsonObject(b)) return null;
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted(compareCodePoints);
  const isCommon = (key: string): boolean => Object.hasOwn(a, key) && Object.hasOwn(b, key);
  // A changed member is named rather than a new one. Inherited members are none.
  return [...keys.filter(isCommon), ...keys.filter((key) => !isCommon(key))].map((key) => [
    stepTo(key),
    Object.hasOwn(a, key) ? a[key] : undefined,
    Object.hasOwn(b, key) ? b[key] : undefined,
  ]);
}

/** Longer names are cut. */
const NAME_LENGTH = 40;

function stepTo(key: string): string {
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) && key.length <= NAME_LENGTH
    ? `.${key}`
    : `[${JSON.stringify(shortened(key, NAME_LENGTH))}]`;
}

function whole(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : canonicalJson(value, Infinity);
}

/** So much of a value is told. */
const LENGTH = 100;
/** So much of what two long texts have in common is told before the place where they part. */
const LEAD = 20;

function excerpts(
  a: JsonValue | undefined,
  b: JsonValue | undefined,
): { readonly a: string; readonly b: string } {
  if (typeof a !== 'string' || typeof b !== 'string') return { a: told(a), b: told(b) };
  const start = Math.max(a.length, b.length) > LENGTH ? commonLength(a, b) - LEAD : 0;
  return { a: told(textFrom(a, start)), b: told(textFrom(b, start)) };
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function textFrom(text: string, start: number): string {
  return start <= 0 ? text : `…${text.slice(start).replace(/^[\udc00-\udfff]/, '')}`;
}

function told(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(shortened(value, LENGTH));
  return shortened(canonicalJson(value, Infinity), LENGTH);
}

/** Text of at most `length` UTF-16 units and a sign that there is more; it halves no character. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
