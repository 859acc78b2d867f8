/**
 * Turns what a tool gave back, or threw, into what can be recorded and shown to a model.
 *
 * @module
 */
import { canonicalJson, CanonicalError, type JsonValue } from '../transcript/index.ts';
import { type Failure } from './payloads.ts';

/** A tool's result: canonical JSON of its value, or why there is none. */
export type ToolResult =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly failure: Failure;
      readonly error: string;
      /** The whole result's canonical JSON where it was too large: repeats compare it. */
      readonly text?: string;
    };

/** Text given to a model is cut here: an error is a sentence, not a log. */
const MAX_ERROR_LENGTH = 2000;
/** No more of a text is looked at: what follows is cut anyway, and patterns take their time. */
const MAX_READ_LENGTH = 4 * MAX_ERROR_LENGTH;

/** Records a value, or refuses it: what can't be recorded isn't a result. `undefined` counts as null. */
export function toResult(tool: string, value: unknown, maxBytes: number): ToolResult {
  let text: string;
  try {
    text = value === undefined ? 'null' : canonicalJson(value);
  } catch (error) {
    if (!(error instanceof CanonicalError)) throw error;
    return {
      ok: false,
      failure: 'unrecordable',
      error: `tool '${tool}' returned what can't be recorded: ${error.message}`,
    };
  }
  // A UTF-16 unit is 1 to 3 bytes of UTF-8, so most results need no counting.
  if (text.length * 3 <= maxBytes) return { ok: true, text };
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= maxBytes) return { ok: true, text };
  return {
    ok: false,
    failure: 'too_large',
    error: `the result of tool '${tool}' is ${bytes} bytes, over its limit of ${maxBytes}; ask for less at a time`,
    text,
  };
}

/** What a model reads for a recorded value: a string as it is, anything else as JSON. */
export function contentOf(text: string): string {
  if (!text.startsWith('"')) return text;
  const decoded: unknown = JSON.parse(text);
  return String(decoded);
}

/** `tool 'fail' raised RuntimeError: …`, whatever was thrown. */
export function raised(tool: string, error: unknown): string {
  return `tool '${tool}' raised ${describeError(error)}`;
}

/** A thrown value in words that hold no stack and no path of this machine. Never throws. */
export function describeError(error: unknown): string {
  try {
    if (isError(error)) return publicText(`${error.name}: ${error.message}`);
    if (typeof error === 'string') return publicText(`Error: ${error}`);
    if (typeof error === 'object' && error !== null)
      return publicText(`object ${withPublicTexts(canonicalJson(withoutStack(error)))}`);
    return typeof error === 'function' ? 'a function' : publicText(String(error));
  } catch (problem) {
    return problem instanceof CanonicalError ? problem.problem : 'an object that throws when read';
  }
}

/** A thrown object as it is, but for the stack that serialised errors carry. */
function withoutStack(error: object): object {
  if (Array.isArray(error) || !Object.hasOwn(error, 'stack')) return error;
  return Object.fromEntries(Object.entries(error).filter(([key]) => key !== 'stack'));
}

/** JSON whose texts hold no path: escaped, a newline's `n` would stand before one like a letter. */
function withPublicTexts(json: string): string {
  const value: JsonValue = JSON.parse(json, (_key, part: JsonValue) =>
    typeof part === 'string' ? publicText(part) : part,
  );
  return canonicalJson(value);
}

/** By its members, not its class: errors come from other realms too, as from `node:vm`. */
function isError(error: unknown): error is { name: string; message: string } {
  return (
    typeof error === 'object' &&
    error !== null &&
    'name' in error &&
    typeof error.name === 'string' &&
    'message' in error &&
    typeof error.message === 'string'
  );
}

/**
 * Text without stack frames and absolute paths, which would tell a model (and its provider) about the
 * machine and make equal runs differ. A path keeps its last part: `…/notes.txt`.
 */
export function publicText(text: string): string {
  const clean = text
    .slice(0, MAX_READ_LENGTH)
    .toWellFormed()
    .replace(/(?:\n|\\n)[ \t]+at (?:(?!\\n)[^\n])*/g, '') // also where JSON has escaped the newlines
    .replace(/file:\/\/\S*\/([^\s/:'")]+)(:\d+)*/g, '…/$1')
    .replace(
      /(^|[^\p{L}\p{N}_.~/\\])(?:[A-Za-z]:)?\\?(?:[\\/][\p{L}\p{N}_.@+~ -]*[\p{L}\p{N}_])*[\\/]([\p{L}\p{N}_.@+~-]+)(?::\d+)*/gu,
      redactPath,
    )
    .replace(
      // These scripts put no space before a path.
      /([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}])(?:\/[A-Za-z0-9_.@+~-]+)*\/([A-Za-z0-9_.@+~-]+)/gu,
      redactPath,
    );
  return clean.length > MAX_ERROR_LENGTH || text.length > MAX_READ_LENGTH
    ? `${clean.slice(0, MAX_ERROR_LENGTH).toWellFormed()}… (cut)`
    : clean;
}

/** Replaces a path of two or more parts; `/etc` alone or a fraction like `1/2` isn't one. */
function redactPath(match: string, before: string, last: string): string {
  const parts = match.slice(before.length).split(/[\\/]/).length;
  return parts > 2 ? `${before}…/${last}` : match;
}
