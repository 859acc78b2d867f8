/**
 * Streaming verification of an audit log: entry by entry, in constant memory, to the first fault.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { ascii, BAD, matches, standsAt } from '../transcript/bytes.ts';
import { MAX_LINE_BYTES } from '../transcript/index.ts';
import { LineVerifier, pushAll } from '../transcript/line-verifier.ts';
import { scanString } from '../transcript/scan.ts';
import { advanceAudit, EMPTY_AUDIT, type AuditHead } from './audit-entry.ts';
import { judgeEntry, type AuditFault, type AuditReason } from './audit-judge.ts';

/** What verification found: the log holds, or its first fault. It is plain data. */
export interface AuditVerdict {
  /** Tells it from a transcript's verdict. */
  readonly log: 'audit';
  readonly ok: boolean;
  /** How many entries hold, from the first. */
  readonly count: number;
  /** How many of them are steps, steps that failed, and ends of episodes. */
  readonly steps: number;
  readonly failed: number;
  readonly episodes: number;
  /** The digest of the last entry that holds; empty if none does. */
  readonly head: string;
  /** Whether the last entry that holds ends an episode. A log that is open is no fault. */
  readonly closed: boolean;
  /** `4 entries, chain intact`, or what the fault is. */
  readonly detail: string;
  /** What an intact log doesn't show. */
  readonly unseen?: string;
  readonly fault?: AuditFault;
}

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

/** The verdict on a log whose bytes could not be had. */
export function unreadableAudit(detail: string): AuditVerdict {
  return verdictOf(EMPTY_AUDIT, { entry: 1, reason: 'unreadable', detail });
}

/**
 * One line in the words of tiny_computer_agent: `audit: 3 entries (2 steps, 1 failed, 1 ok) | chain intact: 3 entries,
 * chain intact`. Of a broken log it counts the entries before the fault.
 */
export function renderAudit({ ok, count, steps, failed, detail }: AuditVerdict): string {
  const tally = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(steps > failed ? [`${steps - failed} ok`] : []),
  ];
  const words = steps === 0 ? 'no steps' : tally.join(', ');
  return `audit: ${count} entries (${steps} steps, ${words}) | chain ${ok ? 'intact' : 'BROKEN'}: ${detail}`;
}

const UNSEEN =
  'entries removed from the end, and a log that was written anew as a whole, look intact; a count and a head kept elsewhere show them';
const UNSEEN_OPEN = `the last entry is a step, so its episode is under way, crashed, or its end was removed; ${UNSEEN}`;

function verdictOf(head: AuditHead, fault: AuditFault | undefined): AuditVerdict {
  const { digest, ...counts } = head;
  const standing = { log: 'audit', ok: fault === undefined, ...counts, head: digest } as const;
  if (fault !== undefined) return { ...standing, detail: sentence(fault), fault };
  const detail = `${head.count} entries, chain intact`;
  return { ...standing, detail, unseen: head.closed ? UNSEEN : UNSEEN_OPEN };
}

/** Faults whose detail says all by itself: it names the entry, or is about the whole log. */
const WHOLE: ReadonlySet<AuditReason> = new Set([
  'index_gap',
  'prev_mismatch',
  'digest_mismatch',
  'empty',
  'unreadable',
  'count_mismatch',
  'head_mismatch',
]);

function sentence({ entry, reason, detail }: AuditFault): string {
  return WHOLE.has(reason) ? detail : `entry ${entry}: ${reason}: ${detail}`;
}

const DIGEST_LENGTH = 64;
/** `"digest":"`, and all of the member with its comma. */
const MEMBER_OPENING = 10;
const MEMBER_LENGTH: number = MEMBER_OPENING + DIGEST_LENGTH + 2;
const SCREEN_LENGTH = 16;
const ACTION = ascii('{"action":"');
const AT = ascii(',"at":"');
const DIGEST = ascii('","digest":"');
const GOAL = ascii('","goal":"');
const INDEX = ascii(',"index":');
const STEP = ascii(',"kind":"step","ok":');
const EPISODE = ascii(',"kind":"episode","ok":');
const TRUE = ascii('true,"outcome":"');
const FALSE = ascii('false,"outcome":"');
const SUCCESS = ascii('success: ');
const FAILURE = ascii('failure: ');
const PREV = ascii(',"prev":"');
const SCREEN = ascii('","screen":"');
const END = ascii('"}\n');

class EntryVerifier extends LineVerifier<AuditFault> implements AuditVerifier {
  head: AuditHead = EMPTY_AUDIT;
  readonly #expected: AuditExpectation;
  /** The newest line's member `digest`, with its comma. */
  readonly #member = ascii(`"digest":"${' '.repeat(DIGEST_LENGTH)}",`);

  constructor(expected: AuditExpectation) {
    super();
    this.#expected = expected;
  }

  end(): AuditVerdict {
    this.endLines();
    this.fault ??= this.#endFault();
    return verdictOf(this.head, this.fault);
  }

  protected accept(bytes: Uint8Array, start: number): number {
    // A line may begin at 0, which is no place for what follows.
    if (!matches(bytes, start, ACTION)) return BAD;
    const action = start + ACTION.length;
    const actionEnd = string(bytes, action);
    const time = after(bytes, actionEnd, AT);
    const digest = after(bytes, afterTime(bytes, time), DIGEST);
    const goal = after(bytes, skip(digest, DIGEST_LENGTH), GOAL);
    const index = after(bytes, string(bytes, goal), INDEX);
    const kind = afterNumber(bytes, index, this.head.count);
    const isStep = after(bytes, kind, STEP) !== BAD;
    const ok = after(bytes, kind, isStep ? STEP : EPISODE);
    const isOk = bytes[ok] === 0x74;
    const outcome = after(bytes, ok, isOk ? TRUE : FALSE);
    const prev = after(bytes, string(bytes, outcome), PREV);
    const screen = after(bytes, this.#afterLink(bytes, prev), SCREEN);
    const next = after(bytes, isStep ? afterScreen(bytes, screen) : screen, END);
    if (hasNoEnd(start, next)) return BAD;
    if (!isStep && !isEnd(bytes, actionEnd - action - 1, outcome, isOk)) return BAD;
    const hash = this.#hash(bytes, start, digest, next);
    if (!standsAt(bytes, digest, hash)) return BAD;
    this.head = advanceAudit(this.head, isStep, isOk, hash);
    return next;
  }

  protected judge(line: Uint8Array): AuditFault {
    return judgeEntry(line, this.head);
  }

  protected lineFault(reason: 'torn_tail' | 'too_long', detail: string): AuditFault {
    return this.#here(reason === 'too_long' ? 'malformed_entry' : reason, detail);
  }

  protected letGo(): void {
    // Nothing of the bytes is kept.
  }

  /** The digest of the line before, which is still there as bytes; nothing in the first line. */
  #afterLink(bytes: Uint8Array, at: number): number {
    if (this.head.count === 0 || at === BAD) return at;
    for (let i = 0; i < DIGEST_LENGTH; i += 1) {
      if (bytes[at + i] !== this.#member[MEMBER_OPENING + i]) return BAD;
    }
    return at + DIGEST_LENGTH;
  }

  /**
   * Hashes a line's own bytes without `"digest":"…",` and its newline: what is before that member is moved up to what is
   * after it, and back. The digest that stands there is kept in `#member`.
   */
  #hash(bytes: Uint8Array, start: number, digest: number, next: number): string {
    const at = digest - MEMBER_OPENING;
    const moved = start + MEMBER_LENGTH;
    for (let i = 0; i < DIGEST_LENGTH; i += 1) {
      this.#member[MEMBER_OPENING + i] = bytes[digest + i] ?? 0;
    }
    bytes.copyWithin(moved, start, at);
    const hash = sha256Hex(bytes.subarray(moved, next - 1));
    bytes.copyWithin(start, moved, at + MEMBER_LENGTH);
    bytes.set(this.#member, at);
    return hash;
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
    const place = { entry: this.head.count + 1, reason, detail };
    return expected === undefined ? place : { ...place, expected };
  }
}

// Each takes a place or BAD, and gives the place after what it expects there, or BAD.

function after(bytes: Uint8Array, at: number, expected: Uint8Array): number {
  return at !== BAD && matches(bytes, at, expected) ? at + expected.length : BAD;
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
const ZONE_AT = 19;
/** Where a time's parts stand, and their least and greatest values. */
const PARTS = [
  [5, 1, 12],
  [8, 1, 31],
  [11, 0, 23],
  [14, 0, 59],
  [17, 0, 59],
] as const;

function afterTime(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  for (let i = 0; i < TIME.length; i += 1) {
    const byte = bytes[at + i] ?? 0;
    const isDigit = TIME[i] === 0x30 && i < ZONE_AT && byte >= 0x30 && byte <= 0x39;
    if (!isDigit && byte !== TIME[i]) return BAD;
  }
  return PARTS.every((part) => isWithin(bytes, at, part)) ? at + TIME.length : BAD;
}

function isWithin(
  bytes: Uint8Array,
  time: number,
  [at, least, most]: (typeof PARTS)[number],
): boolean {
  const [tens = 0, ones = 0] = [bytes[time + at], bytes[time + at + 1]];
  const value = (tens - 0x30) * 10 + ones - 0x30;
  return value >= least && value <= most;
}

function string(bytes: Uint8Array, at: number): number {
  return at === BAD ? BAD : scanString(bytes, at);
}

/** Whether an episode has an empty action, and the outcome that `ok` asks for. */
function isEnd(bytes: Uint8Array, actionLength: number, outcome: number, ok: boolean): boolean {
  return actionLength === 0 && matches(bytes, outcome, ok ? SUCCESS : FAILURE);
}

/** Whether the line's end is missing, or too far away. */
function hasNoEnd(start: number, next: number): boolean {
  return next === BAD || next - 1 - start > MAX_LINE_BYTES;
}

function skip(at: number, length: number): number {
  return at === BAD ? BAD : at + length;
}

function afterScreen(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  for (let i = at; i < at + SCREEN_LENGTH; i += 1) {
    const byte = bytes[i] ?? 0;
    if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))) return BAD;
  }
  return at + SCREEN_LENGTH;
}
