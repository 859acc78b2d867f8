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
import { ascii, BAD, matches, standsAt } from './bytes.ts';
import { LineVerifier, pushAll } from './line-verifier.ts';
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

/** Is told of each record that holds, in order: its hash, as 64 lower-case hex digits. It must not throw. */
export type OnRecord = (hash: string) => void;

/** Starts a verification. Nothing it returns throws, whatever the bytes are. */
export function createVerifier(options: VerifyOptions = {}, onRecord?: OnRecord): Verifier {
  return new ChainVerifier(options, onRecord);
}

/** Verifies a whole transcript that is in memory. */
export function verifyTranscript(bytes: Uint8Array | string, options: VerifyOptions = {}): Verdict {
  const verifier = createVerifier(options);
  pushAll(verifier, bytes);
  return verifier.end();
}

/** The verdict on a transcript whose bytes could not be had. */
export function unreadable(detail: string): Verdict {
  const fault: Fault = { seq: 0, line: 1, reason: 'unreadable', detail };
  return { ok: false, count: 0, head: GENESIS, sealed: false, fault };
}

const NEWLINE = 0x0a;
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

class ChainVerifier extends LineVerifier<Fault> implements Verifier {
  head: Head = EMPTY_HEAD;
  readonly #options: VerifyOptions;
  readonly #onRecord: OnRecord | undefined;
  readonly #scanner = new ValueScanner();
  readonly #recent = new RecentLinks();
  /** The head's hash as ASCII, which the next line's `prev` must equal: 64 bytes at `#prevAt`. */
  #prev = ascii(GENESIS);
  #prevAt = 0;

  constructor(options: VerifyOptions, onRecord?: OnRecord) {
    super();
    this.#options = options;
    this.#onRecord = onRecord;
  }

  end(): Verdict {
    this.endLines();
    this.fault ??= this.#endFault();
    const { count, hash, sealed } = this.head;
    const verdict = { ok: this.fault === undefined, count, head: hash, sealed };
    return this.fault === undefined ? verdict : { ...verdict, fault: this.fault };
  }

  /** Keeps what the next line's `prev` is compared with. */
  protected letGo(): void {
    this.#prev = new Uint8Array(this.#prev.subarray(this.#prevAt, this.#prevAt + HASH_LENGTH));
    this.#prevAt = 0;
  }

  protected accept(bytes: Uint8Array, start: number): number {
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
    this.#onRecord?.(hash);
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

  protected judge(line: Uint8Array): Fault {
    const { count, hash } = this.head;
    const place = { seq: count, line: count + 1, prev: hash, recent: this.#recent };
    return judgeLine(line, place);
  }

  protected lineFault(reason: 'torn_tail' | 'too_long', detail: string): Fault {
    return this.#here(reason === 'too_long' ? 'malformed_record' : reason, detail);
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

  #here(reason: Reason, detail: string, expected?: string): Fault {
    const { count: seq } = this.head;
    const place = { seq, line: seq + 1, reason, detail };
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

/** Hashes a line's own bytes with the leading `"hash":"…",` taken out; the borrowed byte is put back. */
function hashContent(bytes: Uint8Array, start: number, end: number): string {
  bytes[start] = 0x7b;
  const hash = sha256Hex(bytes.subarray(start, end));
  bytes[start] = 0x2c;
  return hash;
}
