/**
 * A record: one line of a transcript, and the hash that binds it to the line before.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, CanonicalError, type JsonObject, type JsonValue } from './canonical.ts';
import { parseJson } from './parse.ts';

/** `prev` of the first record: 64 zeros. */
export const GENESIS: string = '0'.repeat(64);

/**
 * The longest record line, in bytes without its newline (64 MiB). A longer one is neither written nor
 * accepted, so that a verifier's memory has a bound.
 */
export const MAX_LINE_BYTES: number = 64 * 1024 * 1024;

/** The members of a record, in their order. */
export const FIELDS = ['hash', 'kind', 'payload', 'prev', 'seq'] as const;

/** One record of a transcript. */
export interface TranscriptRecord {
  readonly seq: number;
  /** The loop writes `user`, `assistant`, `tool`, `final`; other kinds are allowed. */
  readonly kind: string;
  readonly payload: JsonObject | readonly JsonValue[];
  /** The previous record's hash; {@link GENESIS} for the first. */
  readonly prev: string;
  /** Lower-case hex SHA-256 of the canonical JSON of `{kind, payload, prev, seq}`. */
  readonly hash: string;
}

/** Where a chain stands: what the next record must continue. */
export interface Head {
  /** How many records there are; also the next record's `seq`. */
  readonly count: number;
  /** The last record's hash; {@link GENESIS} when there is none. */
  readonly hash: string;
  /** Whether the last record is `final`. */
  readonly sealed: boolean;
}

/** The head of a transcript without records. */
export const EMPTY_HEAD: Head = { count: 0, hash: GENESIS, sealed: false };

/** What a record says, before it has a place in a chain. */
export interface Draft {
  readonly kind: string;
  readonly payload: JsonObject | readonly JsonValue[];
}

/** A record as it is written. */
export interface RecordLine {
  readonly seq: number;
  readonly kind: string;
  readonly hash: string;
  /** The whole line with its newline. */
  readonly text: string;
}

/**
 * The line that continues `head` with `draft`.
 *
 * @throws {CanonicalError} if the draft has no canonical form, isn't an object or array with a kind, or
 * is longer than {@link MAX_LINE_BYTES}.
 */
export function encodeRecord(head: Head, draft: Draft): RecordLine {
  const { kind, payload } = draft;
  if (typeof kind !== 'string') throw new CanonicalError('$.kind', 'not a string');
  if (typeof payload !== 'object' || payload === null) {
    throw new CanonicalError('$.payload', 'not an object or an array');
  }
  const rest = contentText(head, kind, payload);
  // A UTF-16 unit is one to three bytes of UTF-8, so the exact length matters only near the limit.
  const tooLong =
    rest.length * 3 > MAX_LINE_BYTES &&
    (rest.length > MAX_LINE_BYTES || utf8Length(rest) + 75 > MAX_LINE_BYTES);
  if (tooLong) throw new CanonicalError('$.payload', `a record over ${MAX_LINE_BYTES} bytes`);
  const hash = sha256Hex(`{${rest}`);
  return { seq: head.count, kind, hash, text: `{"hash":"${hash}",${rest}\n` };
}

/** What is hashed, without its opening brace. */
function contentText(head: Head, kind: string, payload: object): string {
  try {
    const text = canonicalJson(payload);
    if (text[0] !== '{' && text[0] !== '[') {
      throw new CanonicalError('$.payload', 'not an object or an array');
    }
    return `"kind":${canonicalJson(kind)},"payload":${text},"prev":"${head.hash}","seq":${head.count}}`;
  } catch (error) {
    // The engine's limit on the length of a string, which is far above ours.
    if (!(error instanceof RangeError)) throw error;
    throw new CanonicalError('$.payload', `a record over ${MAX_LINE_BYTES} bytes`);
  }
}

/** The head after a record was written. */
export function advance(line: RecordLine): Head {
  return { count: line.seq + 1, hash: line.hash, sealed: line.kind === 'final' };
}

/**
 * Reads a record from a line (with or without its newline) that verification has accepted. Numbers
 * that JavaScript would spell otherwise come as `Verbatim`, so re-writing gives the same bytes.
 *
 * @throws {SyntaxError} if the line is not a record at all.
 */
export function parseRecord(line: string): TranscriptRecord {
  const parsed = parseJson(line);
  const record = parsed.ok ? asRecord(parsed.value) : null;
  if (record === null) throw new SyntaxError('not a transcript record; verify the file first');
  return record;
}

function asRecord(value: JsonValue): TranscriptRecord | null {
  if (!isJsonObject(value)) return null;
  const { seq, kind, payload, prev, hash } = value;
  if (typeof seq !== 'number' || typeof kind !== 'string') return null;
  if (typeof prev !== 'string' || typeof hash !== 'string') return null;
  if (!isJsonObject(payload) && !isJsonArray(payload)) return null;
  return { seq, kind, payload, prev, hash };
}

/** Whether a value is an object with members. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  // `Verbatim` is the only other object among JSON values, and the only one with a class.
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Whether a value is an array. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
