/**
 * A strict JSON reader (RFC 8259) that keeps what `JSON.parse` loses: the spelling of numbers, and
 * whether a key came twice. It holds its own stack, so nesting can't overflow it.
 *
 * @module
 */
import { Verbatim, type JsonValue } from './canonical.ts';
import { floatText, numberText } from './number.ts';

/** What reading found. A key that came twice has its last value, as in Python and JavaScript. */
export type Parsed =
  | {
      readonly ok: true;
      readonly value: JsonValue;
      /** The first key that came twice in one object. */
      readonly duplicate: string | null;
      /** The first number too large for a double, which has no canonical form. */
      readonly overflow: string | null;
    }
  | {
      readonly ok: false;
      /** Offset in UTF-16 units. */
      readonly at: number;
      readonly problem: string;
    };

const WHITE_SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// A plain run of characters, then what ends it.
const STRING_RUN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LITERALS: ReadonlyMap<string, null | boolean> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
]);

type Container = JsonValue[] | { [key: string]: JsonValue };

class Syntax extends Error {
  readonly at: number;

  constructor(at: number, problem: string) {
    super(problem);
    this.at = at;
  }
}

/** Reads one JSON text. Never throws. */
export function parseJson(text: string): Parsed {
  try {
    const reader = new Reader(text);
    const value = reader.document();
    return { ok: true, value, duplicate: reader.duplicate, overflow: reader.overflow };
  } catch (error) {
    if (error instanceof Syntax) return { ok: false, at: error.at, problem: error.message };
    // The engine's own limit on strings is the only other way to fail.
    return { ok: false, at: 0, problem: 'too long to read' };
  }
}

class Reader {
  duplicate: string | null = null;
  overflow: string | null = null;
  readonly #text: string;
  #at = 0;
  readonly #stack: { readonly container: Container; key: string }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    for (;;) {
      const opened = this.#open();
      if (opened !== null) {
        this.#stack.push(opened);
        continue;
      }
      let value = this.#value();
      // A value has ended: hand it to its container, and close every container that ends here.
      for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) {
        this.#put(frame, value);
        if (this.#separator(frame)) break;
        value = frame.container;
        this.#stack.pop();
      }
      if (this.#stack.length > 0) continue;
      this.#skip(WHITE_SPACE);
      if (this.#at < this.#text.length) throw this.#syntax('data after the end');
      return value;
    }
  }

  /** Enters a container that has members; an empty one is a value. */
  #open(): { container: Container; key: string } | null {
    this.#skip(WHITE_SPACE);
    const start = this.#at;
    const opener = this.#text[start];
    if (opener !== '{' && opener !== '[') return null;
    this.#at += 1;
    this.#skip(WHITE_SPACE);
    if (this.#text[this.#at] === (opener === '{' ? '}' : ']')) {
      this.#at = start;
      return null;
    }
    return opener === '[' ? { container: [], key: '' } : { container: {}, key: this.#key() };
  }

  #value(): JsonValue {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') {
      this.#at += 1;
      this.#skip(WHITE_SPACE);
      this.#at += 1;
      return first === '{' ? {} : [];
    }
    if (first !== undefined && (first === '-' || (first >= '0' && first <= '9'))) {
      return this.#number();
    }
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    throw this.#syntax('expected a value');
  }

  #put(frame: { readonly container: Container; readonly key: string }, value: JsonValue): void {
    const { container, key } = frame;
    if (Array.isArray(container)) container.push(value);
    else {
      if (Object.hasOwn(container, key)) this.duplicate ??= key;
      // Assigning to `__proto__` would set the prototype.
      if (key === '__proto__') {
        Object.defineProperty(container, key, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else container[key] = value;
    }
  }

  /** After a member: true if another follows (its key is read), false if the container ends. */
  #separator(frame: { readonly container: Container; key: string }): boolean {
    this.#skip(WHITE_SPACE);
    const isArray = Array.isArray(frame.container);
    const mark = this.#text[this.#at];
    this.#at += 1;
    if (mark === (isArray ? ']' : '}')) return false;
    if (mark !== ',') {
      this.#at -= 1;
      throw this.#syntax(isArray ? 'expected , or ]' : 'expected , or }');
    }
    if (!isArray) {
      this.#skip(WHITE_SPACE);
      frame.key = this.#key();
    }
    return true;
  }

  #key(): string {
    if (this.#text[this.#at] !== '"') throw this.#syntax('expected a key in double quotes');
    const key = this.#string();
    this.#skip(WHITE_SPACE);
    if (this.#text[this.#at] !== ':') throw this.#syntax('expected :');
    this.#at += 1;
    return key;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      this.#skip(STRING_RUN);
      const mark = this.#text[this.#at];
      if (mark === '"') break;
      if (mark !== '\\' || !this.#skip(ESCAPE))
        throw this.#syntax('a string that does not end well');
    }
    this.#at += 1;
    // The token is a valid JSON string, so the engine's decoder says the same as RFC 8259 §7.
    const decoded: unknown = JSON.parse(this.#text.slice(start, this.#at));
    return String(decoded);
  }

  #number(): number | Verbatim {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#syntax('expected a number');
    this.#at = NUMBER.lastIndex;
    const text = match[0];
    const value = Number(text);
    if (match[1] === undefined && match[2] === undefined) {
      if (text === '-0') return 0;
      return Number.isFinite(value) && numberText(value) === text ? value : new Verbatim(text);
    }
    if (!Number.isFinite(value)) {
      this.overflow ??= text;
      return new Verbatim(text);
    }
    const spelled = floatText(value);
    return numberText(value) === spelled ? value : new Verbatim(spelled);
  }

  /** Moves past a sticky pattern; false if it doesn't match here. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #syntax(problem: string): Syntax {
    return new Syntax(this.#at, problem);
  }
}
