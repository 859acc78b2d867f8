/**
 * DER (ITU-T X.690 §10), as far as timestamps and certificates need it. Elements are read one after the other
 * and never deeper than the caller goes, so no nesting and no length of the input can hurt.
 *
 * @module
 */
import { concat, EvidenceError } from './encoding.ts';

/** The tags that are read and written here; those of context are 0x80 + n, 0xa0 + n where they hold elements. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One element. */
export interface DerElement {
  readonly tag: number;
  /** What is in it. */
  readonly content: Uint8Array;
  /** All of it: tag, length and content. */
  readonly whole: Uint8Array;
}

/** Reads elements that stand one after the other. Every method throws an {@link EvidenceError} if it can't. */
export class DerReader {
  #rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#rest = bytes;
  }

  /** The next element, which must have this tag. */
  read(tag: number): DerElement {
    if (this.has(tag)) return this.any();
    throw new EvidenceError(`DER: an element with tag ${hexByte(tag)} is missing`);
  }

  /** Whether the next element has this tag. */
  has(tag: number): boolean {
    return this.#rest[0] === tag;
  }

  /** The next element if it has this tag. */
  optional(tag: number): DerElement | undefined {
    return this.has(tag) ? this.any() : undefined;
  }

  /** The next element. */
  any(): DerElement {
    const bytes = this.#rest;
    const [tag = 0x1f, first = 0x80] = bytes;
    // Tags above 30 have more bytes; nothing that is read here has one.
    if (tag % 32 === 0x1f)
      throw new EvidenceError('DER: an element is cut short, or its tag is odd');
    const { start, length } = readLength(bytes, first);
    if (length > bytes.length - start) {
      throw new EvidenceError('DER: an element is longer than what holds it');
    }
    this.#rest = bytes.subarray(start + length);
    const whole = bytes.subarray(0, start + length);
    return { tag, content: whole.subarray(start), whole };
  }

  /** What is in the next element, a sequence or another one that holds elements. */
  inside(tag: number = TAG.sequence): DerReader {
    return new DerReader(this.read(tag).content);
  }

  /** All that is left. */
  all(): DerElement[] {
    const elements: DerElement[] = [];
    while (this.#rest.length > 0) elements.push(this.any());
    return elements;
  }

  /** Nothing may be left. */
  end(): void {
    if (this.#rest.length > 0) throw new EvidenceError('DER: more than was expected');
  }

  /** The next element, an object identifier, as numbers with dots. */
  oid(): string {
    return readOid(this.read(TAG.oid).content);
  }

  /** The next element, an integer, as its shortest bytes in two's complement. */
  integer(): Uint8Array {
    const { content } = this.read(TAG.integer);
    const [first, second = 0] = content;
    const isPadded = content.length > 1 && first === (second < 0x80 ? 0 : 0xff);
    if (first === undefined || isPadded)
      throw new EvidenceError('DER: an integer is badly written');
    return content;
  }

  /** The next element, an integer from 0 to 2^31 - 1. */
  count(): number {
    const bytes = this.integer();
    const [first = 0] = bytes;
    if (bytes.length > 4 || first >= 0x80) throw new EvidenceError('DER: a number is out of range');
    return bytes.reduce((value, byte) => value * 256 + byte, 0);
  }

  /** The next element if it is a boolean. */
  flag(): boolean {
    const content = this.optional(TAG.boolean)?.content;
    if (content === undefined) return false;
    if (content.length === 1 && (content[0] === 0 || content[0] === 0xff))
      return content[0] === 0xff;
    throw new EvidenceError('DER: a boolean is badly written');
  }

  /** The next element, a time as RFC 5280 §4.1.2.5 and RFC 3161 §2.4.2 write it, in seconds of Unix time. */
  time(): number {
    const { tag, content } = this.any();
    const text = String.fromCharCode(...content.subarray(0, MAX_TIME));
    const isShort = tag === TAG.utcTime && content.length === SHORT_TIME;
    // Two digits are a year from 1950 to 2049.
    const whole = isShort ? (text < '5' ? '20' : '19') + text : text;
    const seconds = isShort || tag === TAG.time ? readTime(whole) : undefined;
    if (seconds === undefined) throw new EvidenceError('DER: a time is badly written');
    return seconds;
  }
}

/** Writes one element. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = concat(...contents);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256))
    length.unshift(rest % 256);
  const isShort = content.length < 0x80;
  const head = isShort ? [content.length] : [0x80 + length.length, ...length];
  return concat(Uint8Array.of(tag, ...head), content);
}

const SHORT_TIME = 13;
const MAX_TIME = 40;
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d*[1-9])?Z$/;

function readTime(text: string): number | undefined {
  const [, year, month, day, hours, minutes, seconds, fraction] = TIME.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.000Z`;
  const ms = Date.parse(iso);
  // Date forgives a day that isn't in its month; the way back shows it.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== iso) return undefined;
  return ms / 1000 + Number(fraction ?? 0);
}

/** Where the content starts and how long it is. DER has one way to write a length: the shortest. */
function readLength(bytes: Uint8Array, first: number): { start: number; length: number } {
  if (first < 0x80) return { start: 2, length: first };
  const start = 2 + (first % 0x80);
  const length = bytes.subarray(2, start).reduce((value, byte) => value * 256 + byte, 0);
  // One without an end, or one that could be written shorter. Too long ones exceed what is there.
  if (length < 0x80 || bytes[2] === 0) {
    throw new EvidenceError('DER: a length is badly written');
  }
  return { start, length };
}

function readOid(content: Uint8Array): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    // A zero before the first digit would be a second way to write it; the last byte has no high bit.
    if ((number === 0 && byte === 0x80) || number > MAX_ARC) throw wrongOid();
    number = number * 128 + (byte % 128);
    if (byte >= 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [top, ...rest] = numbers;
  if (top === undefined || (content.at(-1) ?? 0) >= 0x80) throw wrongOid();
  const root = Math.min(Math.floor(top / 40), 2);
  return [root, top - 40 * root, ...rest].join('.');
}

/** Another digit still leaves a safe integer. */
const MAX_ARC = 2 ** 45;

function wrongOid(): EvidenceError {
  return new EvidenceError('DER: an object identifier is badly written');
}

function hexByte(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}
