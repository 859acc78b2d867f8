/**
 * Streaming verification of an audit log: entry by entry, in constant memory, to the first fault.
 *
 * @module
 */
import { sha256Binary } from '#sha256';
import { ascii, BAD, matches } from '../transcript/bytes.ts';
import { LineVerifier, pushAll } from '../transcript/line-verifier.ts';
import { isHexOf, isSame, Joiner, standsIn, View, wordsOf } from '../transcript/words.ts';
import { advanceAudit, EMPTY_AUDIT, type AuditHead } from './audit-entry.ts';
import {
  after,
  afterEnd,
  afterNumber,
  afterScreen,
  hasNoEnd,
  isEnd,
  GOOD_STEP,
  resultAt,
  skip,
  string,
  type Result,
} from './audit-scan.ts';
import { isSeconds, isTime, SECONDS_AT, TIME_LENGTH, ZONE } from './audit-time.ts';
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
const ACTION = wordsOf('{"action":"');
const AT = ascii(',"at":"');
const DIGEST = wordsOf(`${ZONE}","digest":"`);
const GOAL = wordsOf('","goal":"');
const INDEX = wordsOf(',"index":');
const PREV = wordsOf(',"prev":"');
const SCREEN = wordsOf('","screen":"');
/** How far seconds and digest are from where the time's member begins. */
const TO_SECONDS: number = AT.length + SECONDS_AT;
const TO_DIGEST: number = AT.length + TIME_LENGTH + DIGEST.length;
const NOTHING: View = new View(new Uint8Array(0));

class EntryVerifier extends LineVerifier<AuditFault> implements AuditVerifier {
  readonly #expected: AuditExpectation;
  readonly #joiner = new Joiner();
  /** The head without its digest, which is made only when someone asks for it. */
  #tally: AuditHead = EMPTY_AUDIT;
  /** The bytes that are being looked at, and a view of them. */
  #bytes: Uint8Array | undefined;
  #view = NOTHING;
  /** The last entry from its time's member up to its link, and where in it index and kind stand. */
  #last = NOTHING;
  #lastAt = 0;
  #lastIndex = 0;
  #lastKind = 0;
  #lastEnd = 0;
  #result: Result = GOOD_STEP;

  constructor(expected: AuditExpectation) {
    super();
    this.#expected = expected;
  }

  get head(): AuditHead {
    if (this.#tally.count === 0) return EMPTY_AUDIT;
    const bytes = this.#last.part(this.#lastAt + TO_DIGEST, DIGEST_LENGTH);
    const digest = String.fromCharCode(...bytes);
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
    const time = string(bytes, action);
    const digest = this.#afterTime(bytes, view, time);
    const index = this.#afterGoal(bytes, view, skip(digest, DIGEST_LENGTH));
    const kind = afterNumber(bytes, index, this.#tally.count);
    const isKnown = this.#isSameResult(view, kind);
    const result = isKnown ? this.#result : resultAt(bytes, kind);
    const { isStep, isOk, words } = result;
    const prev = isKnown
      ? kind + this.#lastEnd - this.#lastKind
      : after(view, string(bytes, after(view, kind, words)), PREV);
    const screen = after(view, this.#afterLink(view, prev), SCREEN);
    const next = afterEnd(bytes, isStep ? afterScreen(bytes, screen) : screen);
    if (hasNoEnd(start, next)) return BAD;
    if (!isStep && !isEnd(view, time - action - 1, kind + words.length, isOk)) return BAD;
    if (!this.#isDigest(view, start, digest, next)) return BAD;
    this.#last = view;
    this.#lastAt = time;
    this.#lastIndex = index;
    this.#lastKind = kind;
    this.#lastEnd = prev;
    this.#result = result;
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
    const from = this.#lastAt;
    this.#last = new View(this.#last.part(from, this.#lastEnd - from).slice());
    this.#lastAt = 0;
    this.#lastIndex -= from;
    this.#lastKind -= from;
    this.#lastEnd -= from;
  }

  /** A new view costs nearly a tenth of an entry (measured), so one does for all entries in the same bytes. */
  #viewOf(bytes: Uint8Array): View {
    if (this.#bytes !== bytes) {
      this.#bytes = bytes;
      this.#view = new View(bytes);
    }
    return this.#view;
  }

  /** The time's member, up to the digest. Entries are often written in the same minute: then only the seconds are new. */
  #afterTime(bytes: Uint8Array, view: View, at: number): number {
    if (at === BAD) return BAD;
    const isKnown = this.#tally.count > 0 && isSame(view, at, this.#last, this.#lastAt, TO_SECONDS);
    const isGood = isKnown
      ? isSeconds(bytes, at + TO_SECONDS)
      : matches(bytes, at, AT) && isTime(bytes, at + AT.length);
    return isGood ? after(view, at + AT.length + TIME_LENGTH, DIGEST) : BAD;
  }

  /** The goal's member, and the name of the index after it: an episode's entries all have the same. */
  #afterGoal(bytes: Uint8Array, view: View, at: number): number {
    if (at === BAD) return BAD;
    const last = this.#lastAt + TO_DIGEST + DIGEST_LENGTH;
    const length = this.#lastIndex - last;
    const isKnown = this.#tally.count > 0 && isSame(view, at, this.#last, last, length);
    return isKnown ? at + length : after(view, string(bytes, after(view, at, GOAL)), INDEX);
  }

  /** Whether kind and outcome are the last entry's, up to the link, as most steps come to the same. */
  #isSameResult(view: View, at: number): boolean {
    const length = this.#lastEnd - this.#lastKind;
    return (
      at !== BAD && this.#tally.count > 0 && isSame(view, at, this.#last, this.#lastKind, length)
    );
  }

  /** The digest of the line before, which is still there as bytes; nothing in the first line. */
  #afterLink(view: View, at: number): number {
    if (this.#tally.count === 0 || at === BAD) return at;
    const isLink = isSame(view, at, this.#last, this.#lastAt + TO_DIGEST, DIGEST_LENGTH);
    return isLink ? at + DIGEST_LENGTH : BAD;
  }

  /** Whether the digest is that of the line's own bytes without `"digest":"…",` and the newline. */
  #isDigest(view: View, start: number, digest: number, next: number): boolean {
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
