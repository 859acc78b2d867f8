/**
 * Canonical JSON: the one spelling of a value that is hashed and written.
 *
 * The form is what CPython's `json.dumps(v, sort_keys=True, separators=(',', ':'), ensure_ascii=False)`
 * writes for values that JSON can hold; docs/format.md §3 is its specification.
 *
 * @module
 */
import { numberText } from './number.ts';

/**
 * A value that keeps its own canonical spelling, because a JavaScript value would not give it back:
 * `1.0`, `-0.0`, `1e+16`, integers of any size, or JSON text that was made canonical before.
 */
export class Verbatim {
  /** Canonical JSON text; the constructor trusts it. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that can be recorded. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Verbatim
  | readonly JsonValue[]
  | JsonObject;

/** An object that can be recorded. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A value has no canonical form. `path` is where, as `$.a[0].b`; `problem` says what was there. */
export class CanonicalError extends TypeError {
  override readonly name = 'CanonicalError';
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/**
 * Values nested deeper than this are not written: CPython's decoder, which must be able to read what
 * we write, gives up near 1,000 levels.
 */
export const MAX_DEPTH = 500;

/** A container whose members are being written; `keys` is null for an array. */
interface Frame {
  readonly container: object;
  readonly keys: readonly string[] | null;
  readonly length: number;
  index: number;
}

/** The containers that are being written, outermost first. */
class OpenContainers {
  /** So many are compared one by one, which is faster; with more, that would cost the depth squared. */
  static readonly #FEW = 32;
  readonly frames: Frame[] = [];
  /** The containers after the first few. */
  #deep: Set<object> | null = null;

  holds(container: object): boolean {
    const few = Math.min(this.frames.length, OpenContainers.#FEW);
    for (let i = 0; i < few; i += 1) if (this.frames[i]?.container === container) return true;
    return this.#deep?.has(container) === true;
  }

  push(frame: Frame): void {
    if (this.frames.length >= OpenContainers.#FEW) (this.#deep ??= new Set()).add(frame.container);
    this.frames.push(frame);
  }

  pop(): void {
    const frame = this.frames.pop();
    if (frame !== undefined) this.#deep?.delete(frame.container);
  }
}

/**
 * The canonical JSON of `value`.
 *
 * Like `JSON.stringify`, it doesn't see members whose key is a symbol, those that are not enumerable, and those
 * of an array beside its elements: looking for them would cost a fifth of the encoding (measured).
 *
 * @param maxDepth how deep containers may nest; {@link MAX_DEPTH} when writing.
 * @throws {CanonicalError} if some value in it can't be said: `undefined`, NaN, infinities, functions,
 * symbols, lone surrogates, cycles, class instances, objects with `toJSON`, getters that throw.
 */
export function canonicalJson(value: unknown, maxDepth: number = MAX_DEPTH): string {
  const stack = new OpenContainers();
  const { frames } = stack;
  let out = begin(value, stack, maxDepth);
  for (let top = frames.at(-1); top !== undefined; top = frames.at(-1)) {
    if (top.index === top.length) {
      out += top.keys === null ? ']' : '}';
      stack.pop();
    } else {
      out += memberPrefix(top, frames);
      out += begin(member(top, frames), stack, maxDepth);
    }
  }
  return out;
}

/** A scalar or an empty container whole; any other container is entered and only opened. */
function begin(value: unknown, stack: OpenContainers, maxDepth: number): string {
  const { frames } = stack;
  const frame = typeof value === 'object' && value !== null ? enter(value, stack) : null;
  if (frame === null) return scalarText(value, frames);
  if (frame.length === 0) return frame.keys === null ? '[]' : '{}';
  if (frames.length >= maxDepth) throw refusal(frames, `nested deeper than ${maxDepth} levels`);
  stack.push(frame);
  return frame.keys === null ? '[' : '{';
}

/** Moves a frame to its next member: the comma before it, and its key. */
function memberPrefix(frame: Frame, stack: readonly Frame[]): string {
  const comma = frame.index > 0 ? ',' : '';
  frame.index += 1;
  if (frame.keys === null) return comma;
  return `${comma}${stringText(frame.keys[frame.index - 1] ?? '', stack)}:`;
}

/** The frame of a container, or null for a {@link Verbatim}, which is written like a scalar. */
function enter(value: object, stack: OpenContainers): Frame | null {
  const { frames } = stack;
  if (stack.holds(value)) throw refusal(frames, 'a cycle: it holds itself');
  try {
    // Inside the try: a revoked Proxy throws even when it is asked for its class.
    if (value instanceof Verbatim) return null;
    const problem = containerProblem(value);
    if (problem !== null) throw refusal(frames, problem);
    if (Array.isArray(value)) {
      return { container: value, keys: null, length: value.length, index: 0 };
    }
    const keys = sortedKeys(value);
    return { container: value, keys, length: keys.length, index: 0 };
  } catch (error) {
    if (error instanceof CanonicalError) throw error;
    throw refusal(frames, 'an object that throws when it is read');
  }
}

/** Why a container can't be written as its own members, or null if it can. */
function containerProblem(value: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    const name: unknown = Reflect.get(value, 'constructor');
    const known = typeof name === 'function' && name.name !== '' && name.name !== 'Object';
    return known ? `a ${name.name}, not plain data` : 'an object of a class, not plain data';
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return 'an object with toJSON';
  return null;
}

/** The member that a frame has moved to. */
function member(frame: Frame, stack: readonly Frame[]): unknown {
  const key = frame.keys === null ? frame.index - 1 : (frame.keys[frame.index - 1] ?? '');
  try {
    return Reflect.get(frame.container, key);
  } catch {
    throw refusal(stack, 'a getter that throws');
  }
}

function scalarText(value: unknown, stack: readonly Frame[]): string {
  switch (typeof value) {
    case 'string':
      return stringText(value, stack);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(stack, String(value));
      return numberText(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      return value instanceof Verbatim ? value.text : 'null';
    case 'undefined':
      throw refusal(stack, 'undefined');
    default:
      throw refusal(stack, `a ${typeof value}`);
  }
}

/** Printable ASCII without `"` and `\`: what stands for itself, as most keys and words do. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * JSON.stringify escapes exactly what the canonical form does (ECMA-262 QuoteJSONString), but would
 * write a lone surrogate as an escape, which UTF-8 can't hold.
 */
function stringText(value: string, stack: readonly Frame[]): string {
  if (value.length < 64 && PLAIN.test(value)) return `"${value}"`;
  if (!value.isWellFormed()) throw refusal(stack, 'a string with a lone surrogate');
  return JSON.stringify(value);
}

function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i += 1) {
    if (compareCodePoints(keys[i - 1] ?? '', keys[i] ?? '') > 0)
      return keys.toSorted(compareCodePoints);
  }
  return keys;
}

/**
 * Orders strings by Unicode code point, as Python does. JavaScript's own order is by UTF-16 unit and
 * puts U+E000–U+FFFF after the astral characters.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates, the units of astral characters, above every other unit. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function refusal(stack: readonly Frame[], problem: string): CanonicalError {
  let path = '$';
  for (const frame of stack) {
    if (frame.index === 0) break;
    if (frame.keys === null) path += `[${frame.index - 1}]`;
    else {
      const key = frame.keys[frame.index - 1] ?? '';
      path += /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    }
  }
  return new CanonicalError(path, problem);
}
