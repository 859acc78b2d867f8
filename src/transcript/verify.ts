/**
 * Streaming verification of a transcript: record by record, in constant memory, to the first fault.
 *
 * A good line is scanned once and its own bytes are hashed; only a line that isn't exactly the expected
 * record is looked at again, by `judge.ts`, to say why.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { judgeLine, type Fault, type Reason, type Recent } from './judge.ts';
import { EMPTY_HEAD, GENESIS, MAX_LINE_BYTES, type Head } from './record.ts';
import { ascii, BAD, matches } from './bytes.ts';
import { scanString, ValueScanner } from './scan.ts';

/** What verification found: the transcript holds, or its first fault. It is plain data. */
export interface Verdict {
  readonly ok: boolean;
  /** How many records hold, from the first. */
  readonly count: number;
  /** The hash of the last record that holds. */
  readonly head: string;
  /** Whether the last record that holds is `final`. */
  readonly sealed: boolean;
  readonly fault?: Fault;
}

/** What the caller knows from elsewhere. */
export interface VerifyOptions {
  /** How many records there must be. */
  readonly count?: number;
  /** The hash that the last record must have, as 64 hexadecimal digits in any case. */
  readonly head?: string;
  /** Accept a transcript without a `final` record: a run in progress. */
  readonly allowOpen?: boolean;
}

/** Verifies bytes as they come. */
export interface Verifier {
  /** Takes the next bytes. They are only borrowed: they may be reused afterwards. */
  push(bytes: Uint8Array): void;
  /** Where the good part of the chain stands so far. */
  readonly head: Head;
  /** The fault that was found, if any; nothing after it is looked at. */
  readonly fault: Fault | undefined;
  /** Ends the input. */
  end(): Verdict;
}

/** Starts a verification. Nothing it returns throws, whatever the bytes are. */
export function createVerifier(options: VerifyOptions = {}): Verifier {
  return new ChainVerifier(options);
}

/** Verifies a whole transcript that is in memory. */
export function verifyTranscript(bytes: Uint8Array | string, options: VerifyOptions = {}): Verdict {
  const verifier = createVerifier(options);
  if (typeof bytes === 'string') pushText(verifier, bytes);
  else verifier.push(bytes);
  return verifier.end();
}

/**
 * A lone surrogate is pushed as 0xFF, which UTF-8 never holds: TextEncoder would write U+FFFD in its
 * place, and the text would verify as what it isn't.
 */
function pushText(verifier: Verifier, text: string): void {
  const encoder = new TextEncoder();
  const pieces = text.isWellFormed() ? [text] : text.split(/\p{Surrogate}/u);
  pieces.forEach((piece, i) => {
    if (i > 0) verifier.push(Uint8Array.of(0xff));
    verifier.push(encoder.encode(piece));
  });
}

/** The verdict on a transcript whose bytes could not be had. */
export function unreadable(detail: string): Verdict {
  const fault: Fault = { seq: 0, line: 1, reason: 'unreadable', detail };
  return { ok: false, count: 0, head: GENESIS, sealed: false, fault };
}

const NEWLINE = 0x0a;
/** The most bytes that are looked at as one buffer: the scanner keeps places in 32 bits. */
const PIECE = 2 ** 30;
const HASH_AT = 9;
const HASH_LENGTH = 64;
const REST_AT = 74; // the comma after the hash: with `{` in its place, the hashed content begins here
const OPENING = ascii('{"hash":"');
const KIND = ascii('","kind":"');
const PAYLOAD = ascii(',"payload":');
const PREV = ascii(',"prev":"');
const SEQ = ascii('","seq":');
const FINAL = ascii('final"');

/**
 * The newest records' hashes. Two writers' records lie near each other, so a bounded memory will do; and
 * as this only words a fault that was found without it, the first 64 bits of each are enough.
 */
class RecentLinks implements Recent {
  static readonly #SIZE = 1024;
  static readonly #DIGITS = 16;
  readonly #digits = new Uint8Array(RecentLinks.#SIZE * RecentLinks.#DIGITS);

  /** Remembers the hash that stands at a place. */
  add(seq: number, bytes: Uint8Array, at: number): void {
    const slot = (seq % RecentLinks.#SIZE) * RecentLinks.#DIGITS;
    for (let i = 0; i < RecentLinks.#DIGITS; i += 1) this.#digits[slot + i] = bytes[at + i] ?? 0;
  }

  has(hash: string): boolean {
    const start = hash.slice(0, RecentLinks.#DIGITS);
    for (let slot = 0; slot < this.#digits.length; slot += RecentLinks.#DIGITS) {
      if (standsAt(this.#digits, slot, start)) return true;
    }
    return false;
  }

  continued(prev: string): boolean {
    return prev === GENESIS || this.has(prev);
  }
}

class ChainVerifier implements Verifier {
  head: Head = EMPTY_HEAD;
  fault: Fault | undefined;
  readonly #options: VerifyOptions;
  readonly #scanner = new ValueScanner();
  readonly #recent = new RecentLinks();
  /** The head's hash as ASCII, which the next line's `prev` must equal: 64 bytes at `#prevAt`. */
  #prev = ascii(GENESIS);
  #prevAt = 0;
  #line = 1;
  /** A line whose end hasn't come yet: the first `#carried` bytes of `#carry`. */
  #carry: Uint8Array = new Uint8Array(0);
  #carried = 0;
  /** A fault that becomes `torn_tail` if its line turns out to be the last. */
  #suspect: Fault | undefined;

  constructor(options: VerifyOptions) {
    this.#options = options;
  }

  push(borrowed: Uint8Array): void {
    const { buffer, byteOffset, length } = borrowed;
    for (let at = 0; at < length; at += PIECE) {
      // A plain view: a Buffer's `subarray` costs twice as much (measured).
      this.#piece(new Uint8Array(buffer, byteOffset + at, Math.min(PIECE, length - at)));
    }
  }

  #piece(bytes: Uint8Array): void {
    if (this.fault !== undefined) return;
    this.#settle();
    if (this.fault !== undefined) return;
    let start = 0;
    if (this.#carried > 0) {
      start = bytes.indexOf(NEWLINE) + 1;
      this.#keep(start === 0 ? bytes : bytes.subarray(0, start));
      if (start === 0 || this.fault !== undefined) return;
      const length = this.#carried;
      this.#carried = 0;
      this.#lines(this.#carry, 0, length, start < bytes.length);
    }
    const last = bytes.lastIndexOf(NEWLINE) + 1;
    this.#lines(bytes, start, last, last < bytes.length);
    if (this.fault === undefined && last < bytes.length) this.#keep(bytes.subarray(last));
  }

  end(): Verdict {
    if (this.fault === undefined) this.#suspectIsTail();
    if (this.fault === undefined && this.#carried > 0) {
      this.fault = this.#tail('the last line has no newline');
    }
    this.fault ??= this.#endFault();
    const { count, hash, sealed } = this.head;
    const verdict = { ok: this.fault === undefined, count, head: hash, sealed };
    return this.fault === undefined ? verdict : { ...verdict, fault: this.fault };
  }

  /** Checks the complete lines in `bytes[from, end)`; `more` says that bytes follow. */
  #lines(bytes: Uint8Array, from: number, end: number, more: boolean): void {
    if (this.fault !== undefined) return;
    let start = from;
    while (start < end) {
      const next = this.#record(bytes, start);
      if (next === BAD) {
        this.#judge(bytes, start, end, more);
        break;
      }
      start = next;
      this.#line += 1;
    }
    // The bytes are only borrowed: keep what the next line's `prev` is compared with.
    this.#prev = new Uint8Array(this.#prev.subarray(this.#prevAt, this.#prevAt + HASH_LENGTH));
    this.#prevAt = 0;
  }

  /** Checks one line; returns where the next begins, or BAD if it isn't exactly the expected record. */
  #record(bytes: Uint8Array, start: number): number {
    const kind = start + REST_AT + KIND.length - 1;
    const payload = openRecord(bytes, start, kind);
    if (payload === BAD) return BAD;
    const end = this.#closeRecord(bytes, this.#scanner.scan(bytes, payload, 1));
    if (end === BAD || end - start > MAX_LINE_BYTES) return BAD;
    const hash = hashContent(bytes, start + REST_AT, end);
    if (!standsAt(bytes, start + HASH_AT, hash)) return BAD;
    this.#prev = bytes;
    this.#prevAt = start + HASH_AT;
    this.#recent.add(this.head.count, bytes, start + HASH_AT);
    this.head = { count: this.head.count + 1, hash, sealed: matches(bytes, kind, FINAL) };
    return end + 1;
  }

  /** After the payload: the expected `prev` and `seq`; returns the newline's place. */
  #closeRecord(bytes: Uint8Array, payloadEnd: number): number {
    if (payloadEnd === BAD || !matches(bytes, payloadEnd, PREV)) return BAD;
    const prev = payloadEnd + PREV.length;
    const seq = prev + HASH_LENGTH;
    if (!this.#continues(bytes, prev) || !matches(bytes, seq, SEQ)) return BAD;
    return this.#sequence(bytes, seq + SEQ.length);
  }

  /** The expected number, `}` and the newline; returns the newline's place. */
  #sequence(bytes: Uint8Array, start: number): number {
    const digits = String(this.head.count);
    let i = start;
    for (let k = 0; k < digits.length; k += 1, i += 1) {
      if (bytes[i] !== digits.charCodeAt(k)) return BAD;
    }
    return bytes[i] === 0x7d && bytes[i + 1] === NEWLINE ? i + 1 : BAD;
  }

  #continues(bytes: Uint8Array, at: number): boolean {
    for (let i = 0; i < HASH_LENGTH; i += 1) {
      if (bytes[at + i] !== this.#prev[this.#prevAt + i]) return false;
    }
    return true;
  }

  #judge(bytes: Uint8Array, start: number, end: number, more: boolean): void {
    const newline = bytes.indexOf(NEWLINE, start);
    const { count, hash } = this.head;
    const fault = judgeLine(bytes.subarray(start, newline), {
      seq: count,
      line: this.#line,
      prev: hash,
      recent: this.#recent,
    });
    const couldBeTorn = fault.reason === 'bad_json' || fault.reason === 'bad_utf8';
    if (couldBeTorn && newline + 1 === end && !more) this.#suspect = fault;
    else this.fault = fault;
  }

  /** More bytes came: a suspect line was not the last. */
  #settle(): void {
    this.fault = this.#suspect;
    this.#suspect = undefined;
  }

  #suspectIsTail(): void {
    if (this.#suspect !== undefined)
      this.fault = this.#tail(`the last line is cut: ${this.#suspect.detail}`);
  }

  /** Adds bytes to the unfinished line; the buffer doubles, so that many small pushes stay linear. */
  #keep(bytes: Uint8Array): void {
    const length = this.#carried + bytes.length;
    if (length > MAX_LINE_BYTES + 1) {
      this.fault = this.#here('malformed_record', `a line over ${MAX_LINE_BYTES} bytes`);
      return;
    }
    if (length > this.#carry.length) {
      const larger = new Uint8Array(Math.max(length, this.#carry.length * 2, 4096));
      larger.set(this.#carry.subarray(0, this.#carried));
      this.#carry = larger;
    }
    this.#carry.set(bytes, this.#carried);
    this.#carried = length;
  }

  #endFault(): Fault | undefined {
    const { count, hash, sealed } = this.head;
    const wanted = this.#options;
    if (!sealed && wanted.allowOpen !== true) {
      const known = wanted.count === undefined ? '' : `; ${wanted.count} were expected`;
      return this.#here('not_sealed', `${count} records and no final one after them${known}`);
    }
    if (wanted.count !== undefined && wanted.count !== count) {
      return this.#here('count_mismatch', `${count} records`, String(wanted.count));
    }
    const wantedHead = wanted.head?.toLowerCase();
    if (wantedHead !== undefined && wantedHead !== hash) {
      return this.#here('head_mismatch', `the head is ${hash}`, wantedHead);
    }
    return undefined;
  }

  #tail(detail: string): Fault {
    return this.#here('torn_tail', detail);
  }

  #here(reason: Reason, detail: string, expected?: string): Fault {
    const place = { seq: this.head.count, line: this.#line, reason, detail };
    return expected === undefined ? place : { ...place, expected };
  }
}

/** The fixed opening of a line and its kind; returns where the payload, a container, begins. */
function openRecord(bytes: Uint8Array, start: number, kind: number): number {
  if (!matches(bytes, start, OPENING) || !matches(bytes, kind - KIND.length, KIND)) return BAD;
  const afterKind = scanString(bytes, kind);
  if (afterKind === BAD || !matches(bytes, afterKind, PAYLOAD)) return BAD;
  const payload = afterKind + PAYLOAD.length;
  return bytes[payload] === 0x7b || bytes[payload] === 0x5b ? payload : BAD;
}

/** Whether an ASCII text stands at a place. */
function standsAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (bytes[at + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}

/** Hashes a line's own bytes with the leading `"hash":"…",` taken out; the borrowed byte is put back. */
function hashContent(bytes: Uint8Array, start: number, end: number): string {
  bytes[start] = 0x7b;
  const hash = sha256Hex(bytes.subarray(start, end));
  bytes[start] = 0x2c;
  return hash;
}
