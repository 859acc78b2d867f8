/**
 * Streaming verification of an audit log: entry by entry, in constant memory, to the first fault.
 *
 * @module
 */
import { sha256Binary } from '#sha256';
import { ascii, BAD } from '../transcript/bytes.ts';
import { MAX_LINE_BYTES } from '../transcript/index.ts';
import { LineVerifier, pushAll } from '../transcript/line-verifier.ts';
import { scanString } from '../transcript/scan.ts';
import {
  isHexOf,
  isSame,
  Joiner,
  standsIn,
  viewOf,
  wordsOf,
  type Words,
} from '../transcript/words.ts';
import { advanceAudit, EMPTY_AUDIT, type AuditHead } from './audit-entry.ts';
import { judgeEntry, type AuditFault, type AuditReason } from './audit-judge.ts';
import { verdictOf, type AuditVerdict } from './audit-verdict.ts';

/** What the caller knows from elsewhere. */
export interface AuditExpectation {
  /** How many entries there must be. */
  readonly count?: number;
  /** The digest that the last entry must have, as 64 hexadecimal digits in any case. */
  readonly head?: string;
}

/** Verifies bytes as they come. */
export interface AuditVerifier {
  /** Takes the next bytes. They are only borrowed: they may be reused afterwards. */
  push(bytes: Uint8Array): void;
  /** Where the good part of the chain stands so far. */
  readonly head: AuditHead;
  /** The fault that was found, if any; nothing after it is looked at. */
  readonly fault: AuditFault | undefined;
  /** Ends the input. */
  end(): AuditVerdict;
}

/** Starts a verification. Nothing it returns throws, whatever the bytes are. */
export function createAuditVerifier(expected: AuditExpectation = {}): AuditVerifier {
  return new EntryVerifier(expected);
}

/** Verifies a whole audit log that is in memory. */
export function verifyAudit(
  bytes: Uint8Array | string,
  expected: AuditExpectation = {},
): AuditVerdict {
  const verifier = createAuditVerifier(expected);
  pushAll(verifier, bytes);
  return verifier.end();
}

const DIGEST_LENGTH = 64;
/** `"digest":"`; and `",` after the digest. */
const MEMBER_OPENING = 10;
const MEMBER_CLOSING = 2;
const TIME_LENGTH = 25;
const SCREEN_LENGTH = 16;
const ACTION = wordsOf('{"action":"');
const AT = wordsOf(',"at":"');
const DIGEST = wordsOf('","digest":"');
const GOAL = wordsOf('","goal":"');
const INDEX = wordsOf(',"index":');
const GOOD_STEP = resultOf('step', true);
const BAD_STEP = resultOf('step', false);
const GOOD_EPISODE = resultOf('episode', true);
const BAD_EPISODE = resultOf('episode', false);
/** Where the first letters of the kind and of `ok` stand in what says them. */
const KIND_AT = 9;
const STEP_OK_AT = 20;
const EPISODE_OK_AT = 23;
const SUCCESS = wordsOf('success: ');
const FAILURE = wordsOf('failure: ');
const PREV = wordsOf(',"prev":"');
const SCREEN = wordsOf('","screen":"');
/** How far a digest is from its entry's time. */
const DIGEST_AT: number = TIME_LENGTH + DIGEST.length;
const NOTHING: DataView = viewOf(new Uint8Array(0));

class EntryVerifier extends LineVerifier<AuditFault> implements AuditVerifier {
  readonly #expected: AuditExpectation;
  readonly #joiner = new Joiner();
  /** The head without its digest, which is made only when someone asks for it. */
  #tally: AuditHead = EMPTY_AUDIT;
  /** The bytes that are being looked at, and a view of them. */
  #bytes: Uint8Array | undefined;
  #view = NOTHING;
  /** Where the last entry's time, digest and goal stand, one after the other, up to its index. */
  #last = NOTHING;
  #lastAt = 0;
  #lastEnd = 0;

  constructor(expected: AuditExpectation) {
    super();
    this.#expected = expected;
  }

  get head(): AuditHead {
    if (this.#tally.count === 0) return EMPTY_AUDIT;
    const { buffer, byteOffset } = this.#last;
    const at = byteOffset + this.#lastAt + DIGEST_AT;
    const digest = String.fromCharCode(...new Uint8Array(buffer, at, DIGEST_LENGTH));
    return { ...this.#tally, digest };
  }

  end(): AuditVerdict {
    this.endLines();
    this.fault ??= this.#endFault();
    return verdictOf(this.head, this.fault);
  }

  protected accept(bytes: Uint8Array, start: number): number {
    const view = this.#viewOf(bytes);
    // A line may begin at 0, which is no place for what follows.
    if (!standsIn(view, start, ACTION)) return BAD;
    const action = start + ACTION.length;
    const actionEnd = string(bytes, action);
    const time = after(view, actionEnd, AT);
    const digest = after(view, this.#afterTime(bytes, view, time), DIGEST);
    const index = this.#afterGoal(bytes, view, skip(digest, DIGEST_LENGTH));
    const kind = afterNumber(bytes, index, this.#tally.count);
    const { isStep, isOk, words } = resultAt(bytes, kind);
    const outcome = after(view, kind, words);
    const prev = after(view, string(bytes, outcome), PREV);
    const screen = after(view, this.#afterLink(view, prev), SCREEN);
    const next = afterEnd(bytes, isStep ? afterScreen(bytes, screen) : screen);
    if (hasNoEnd(start, next)) return BAD;
    if (!isStep && !isEnd(view, actionEnd - action - 1, outcome, isOk)) return BAD;
    if (!this.#isDigest(view, start, digest, next)) return BAD;
    this.#last = view;
    this.#lastAt = time;
    this.#lastEnd = index;
    this.#tally = advanceAudit(this.#tally, isStep, isOk, '');
    return next;
  }

  protected judge(line: Uint8Array): AuditFault {
    return judgeEntry(line, this.head);
  }

  protected lineFault(reason: 'torn_tail' | 'too_long', detail: string): AuditFault {
    return this.#here(reason === 'too_long' ? 'malformed_entry' : reason, detail);
  }

  /** Keeps what the next entry is compared with. */
  protected letGo(): void {
    this.#bytes = undefined;
    this.#view = NOTHING;
    if (this.#tally.count === 0) return;
    const { buffer, byteOffset } = this.#last;
    const length = this.#lastEnd - this.#lastAt;
    this.#last = viewOf(new Uint8Array(buffer, byteOffset + this.#lastAt, length).slice());
    this.#lastAt = 0;
    this.#lastEnd = length;
  }

  /** A new view costs nearly a tenth of an entry (measured), so one does for all entries in the same bytes. */
  #viewOf(bytes: Uint8Array): DataView {
    if (this.#bytes !== bytes) {
      this.#bytes = bytes;
      this.#view = viewOf(bytes);
    }
    return this.#view;
  }

  /** Entries are often written in the same minute: then only the seconds are new. */
  #afterTime(bytes: Uint8Array, view: DataView, at: number): number {
    if (at === BAD) return BAD;
    const isKnown = this.#tally.count > 0 && isSame(view, at, this.#last, this.#lastAt, SECONDS_AT);
    const isGood = isKnown ? isSeconds(bytes, view, at + SECONDS_AT) : isTime(bytes, at);
    return isGood ? at + TIME_LENGTH : BAD;
  }

  /** The goal's member, and the name of the index after it: an episode's entries all have the same. */
  #afterGoal(bytes: Uint8Array, view: DataView, at: number): number {
    if (at === BAD) return BAD;
    const last = this.#lastAt + DIGEST_AT + DIGEST_LENGTH;
    const length = this.#lastEnd - last;
    const isKnown = this.#tally.count > 0 && isSame(view, at, this.#last, last, length);
    return isKnown ? at + length : after(view, string(bytes, after(view, at, GOAL)), INDEX);
  }

  /** The digest of the line before, which is still there as bytes; nothing in the first line. */
  #afterLink(view: DataView, at: number): number {
    if (this.#tally.count === 0 || at === BAD) return at;
    const isLink = isSame(view, at, this.#last, this.#lastAt + DIGEST_AT, DIGEST_LENGTH);
    return isLink ? at + DIGEST_LENGTH : BAD;
  }

  /** Whether the digest is that of the line's own bytes without `"digest":"…",` and the newline. */
  #isDigest(view: DataView, start: number, digest: number, next: number): boolean {
    const rest = digest + DIGEST_LENGTH + MEMBER_CLOSING;
    const content = this.#joiner.join(view, start, digest - MEMBER_OPENING, rest, next - 1);
    return isHexOf(view, digest, sha256Binary(content));
  }

  #endFault(): AuditFault | undefined {
    const { count, digest } = this.head;
    const { count: wanted, head } = this.#expected;
    if (count === 0) return this.#here('empty', 'the log is empty');
    if (wanted !== undefined && wanted !== count) {
      return this.#here('count_mismatch', `${count} entries`, String(wanted));
    }
    const wantedHead = head?.toLowerCase();
    if (wantedHead !== undefined && wantedHead !== digest) {
      return this.#here('head_mismatch', `the head is ${digest}`, wantedHead);
    }
    return undefined;
  }

  #here(reason: AuditReason, detail: string, expected?: string): AuditFault {
    const place = { entry: this.#tally.count + 1, reason, detail };
    return expected === undefined ? place : { ...place, expected };
  }
}

// Each takes a place or BAD, and gives the place after what it expects there, or BAD.

function after(view: DataView, at: number, expected: Words): number {
  return at !== BAD && standsIn(view, at, expected) ? at + expected.length : BAD;
}

/** What kind of entry this is and how it went, with the words that say so. */
interface Result {
  readonly isStep: boolean;
  readonly isOk: boolean;
  readonly words: Words;
}

function resultOf(kind: 'step' | 'episode', isOk: boolean): Result {
  const words = wordsOf(`,"kind":"${kind}","ok":${isOk},"outcome":"`);
  return { isStep: kind === 'step', isOk, words };
}

/** The only result that can be said at `at`, by the letters in which they differ. */
function resultAt(bytes: Uint8Array, at: number): Result {
  if (bytes[at + KIND_AT] === 0x73) {
    return bytes[at + STEP_OK_AT] === 0x74 ? GOOD_STEP : BAD_STEP;
  }
  return bytes[at + EPISODE_OK_AT] === 0x74 ? GOOD_EPISODE : BAD_EPISODE;
}

function afterNumber(bytes: Uint8Array, start: number, expected: number): number {
  let i = start;
  let value = 0;
  for (let byte = bytes[i] ?? 0; byte >= 0x30 && byte <= 0x39; byte = bytes[i] ?? 0) {
    value = value * 10 + byte - 0x30;
    i += 1;
  }
  // A number in other digits than its own begins with 0.
  const isPlain = i === start + 1 || (i > start && bytes[start] !== 0x30);
  return start !== BAD && isPlain && value === expected ? i : BAD;
}

/** `0` stands for a digit, up to the zone. */
const TIME = ascii('0000-00-00T00:00:00+00:00');
const SECONDS_AT = 17;
const ZONE_AT = 19;
const ZONE = wordsOf('+00:00');
/** Where a time's parts stand, and their least and greatest values. */
const PARTS = [
  [5, 1, 12],
  [8, 1, 31],
  [11, 0, 23],
  [14, 0, 59],
  [17, 0, 59],
] as const;

function isTime(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < TIME_LENGTH; i += 1) {
    const byte = bytes[at + i];
    const isPlace = TIME[i] === 0x30 && i < ZONE_AT;
    if (isPlace ? !isDigit(byte, 0x39) : byte !== TIME[i]) return false;
  }
  for (const part of PARTS) if (!isWithin(bytes, at, part)) return false;
  return true;
}

/** Whether seconds and zone end a time at `at`. */
function isSeconds(bytes: Uint8Array, view: DataView, at: number): boolean {
  return isDigit(bytes[at], 0x35) && isDigit(bytes[at + 1], 0x39) && standsIn(view, at + 2, ZONE);
}

function isDigit(byte: number | undefined, most: number): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= most;
}

function isWithin(
  bytes: Uint8Array,
  time: number,
  [at, least, most]: (typeof PARTS)[number],
): boolean {
  const value = ((bytes[time + at] ?? 0) - 0x30) * 10 + (bytes[time + at + 1] ?? 0) - 0x30;
  return value >= least && value <= most;
}

function string(bytes: Uint8Array, at: number): number {
  return at === BAD ? BAD : scanString(bytes, at);
}

/** Whether an episode has an empty action, and the outcome that `ok` asks for. */
function isEnd(view: DataView, actionLength: number, outcome: number, ok: boolean): boolean {
  return actionLength === 0 && standsIn(view, outcome, ok ? SUCCESS : FAILURE);
}

/** Whether the line's end is missing, or too far away. */
function hasNoEnd(start: number, next: number): boolean {
  return next === BAD || next - 1 - start > MAX_LINE_BYTES;
}

function skip(at: number, length: number): number {
  return at === BAD ? BAD : at + length;
}

/** 1 for each lower-case hexadecimal digit. */
const IS_HEX: Uint8Array = new Uint8Array(256);
for (const byte of ascii('0123456789abcdef')) IS_HEX[byte] = 1;

function afterScreen(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  for (let i = at; i < at + SCREEN_LENGTH; i += 1) {
    if (IS_HEX[bytes[i] ?? 0] !== 1) return BAD;
  }
  return at + SCREEN_LENGTH;
}

/** `"}` and the newline. */
function afterEnd(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  return bytes[at] === 0x22 && bytes[at + 1] === 0x7d && bytes[at + 2] === 0x0a ? at + 3 : BAD;
}
