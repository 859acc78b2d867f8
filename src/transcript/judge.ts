/**
 * Names what is wrong with a line that is not exactly the expected record (docs/format.md §5).
 *
 * It runs at most once a file, so it favours precise words over speed.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, type JsonValue } from './canonical.ts';
import {
  integerText,
  MAX_READ_BYTES,
  membersOf,
  readLine,
  readOutline,
  spellingFault,
  type Finding,
  type LineReason,
} from './read-line.ts';
import { FIELDS, isJsonArray, isJsonObject, MAX_LINE_BYTES } from './record.ts';

/** Why a transcript doesn't hold; docs/format.md §5 defines each. */
export type Reason = LineReason | 'malformed_record' | 'seq_gap' | 'hash_mismatch' | 'not_sealed';

/** The first fault of a transcript. */
export interface Fault {
  /** The record's place in the file, from 0; not what it claims. */
  readonly seq: number;
  /** The line's number, from 1, counting every 0x0A. */
  readonly line: number;
  readonly reason: Reason;
  /** What was found, in words. */
  readonly detail: string;
  /** What would have been right, where that is one value. */
  readonly expected?: string;
}

/** What must be true of the line that is judged. */
export interface Expectation {
  readonly seq: number;
  readonly line: number;
  readonly prev: string;
  /** `prev` and `hash` of the newest records, to tell forks and repeated records from other faults. */
  readonly recent: Recent;
}

/** Whether a recent record is known to have continued, or to be, a hash. */
export interface Recent {
  continued(prev: string): boolean;
  has(hash: string): boolean;
}

/** Where a canonical record's hashed content begins, with `{` in the place of the comma that stands there. */
const CONTENT_AT = 74;

const HEX = /^[0-9a-f]{64}$/;

/** Judges a line (its bytes without the newline) that ends in one and is known to hold a fault. */
export function judgeLine(bytes: Uint8Array, expected: Expectation): Fault {
  return { seq: expected.seq, line: expected.line, ...findFault(bytes, expected) };
}

function findFault(bytes: Uint8Array, expected: Expectation): Finding<Reason> {
  if (bytes.length > MAX_LINE_BYTES) {
    return { reason: 'malformed_record', detail: `a line over ${MAX_LINE_BYTES} bytes` };
  }
  if (bytes.length > MAX_READ_BYTES) return largeFault(bytes, expected);
  const line = readLine(bytes);
  if ('reason' in line) return line;
  const shape = recordShape(line.value);
  if ('reason' in shape) return shape;
  return linkFault(shape, expected) ?? contentFault(shape, line.overflow) ?? spellingFault(line);
}

/** Judges a long line by its outline. */
function largeFault(bytes: Uint8Array, expected: Expectation): Finding<Reason> {
  const outline = readOutline(bytes, FIELDS);
  if ('reason' in outline) return outline;
  const shape = recordShape(outline.value);
  if ('reason' in shape) return shape;
  const content = new Uint8Array(bytes.subarray(CONTENT_AT));
  content[0] = 0x7b;
  const actual = sha256Hex(content);
  return linkFault(shape, expected) ?? wrongHash(shape.hash, actual);
}

function wrongHash(hash: string, actual: string): Finding<Reason> {
  return { reason: 'hash_mismatch', detail: `hash is ${hash}`, expected: actual };
}

interface Shape {
  readonly seq: string;
  readonly kind: string;
  readonly payload: JsonValue;
  readonly prev: string;
  readonly hash: string;
}

function malformed(field: string, rule: string): Finding<Reason> {
  return { reason: 'malformed_record', detail: `${field} must be ${rule}` };
}

function recordShape(value: JsonValue): Shape | Finding<Reason> {
  const record = membersOf(value, FIELDS);
  if ('reason' in record) return record;
  const { seq, kind, payload, prev, hash } = record.members;
  if (typeof hash !== 'string' || !HEX.test(hash)) return malformed('hash', '64 lower-case hex');
  if (typeof kind !== 'string') return malformed('kind', 'a string');
  if (!isJsonObject(payload) && !isJsonArray(payload)) {
    return malformed('payload', 'an object or an array');
  }
  if (typeof prev !== 'string' || !HEX.test(prev)) return malformed('prev', '64 lower-case hex');
  const digits = integerText(seq);
  if (digits === null) return malformed('seq', 'an integer');
  return { seq: digits, kind, payload, prev, hash };
}

function linkFault(record: Shape, expected: Expectation): Finding<Reason> | null {
  const { recent } = expected;
  const forks = record.prev !== expected.prev && recent.continued(record.prev);
  const fork = forks ? '; fork: two writers' : '';
  if (record.seq !== String(expected.seq)) {
    const cause = recent.has(record.hash) ? '; the record stands here a second time' : fork;
    return {
      reason: 'seq_gap',
      detail: `seq is ${record.seq.slice(0, 40)}${cause}`,
      expected: String(expected.seq),
    };
  }
  if (record.prev !== expected.prev) {
    return {
      reason: 'prev_mismatch',
      detail: `prev is ${record.prev}${fork}`,
      expected: expected.prev,
    };
  }
  return null;
}

/** Whether the record's content, in canonical spelling, has the hash that the record claims. */
function contentFault(record: Shape, overflow: string | null): Finding<Reason> | null {
  const { kind, payload, prev, hash, seq } = record;
  if (overflow !== null) {
    return {
      reason: 'hash_mismatch',
      detail: `a number beyond the range of a double has no canonical form: ${overflow.slice(0, 40)}`,
    };
  }
  let content: string;
  try {
    content = `{"kind":${canonicalJson(kind)},"payload":${canonicalJson(payload, Infinity)},"prev":"${prev}","seq":${seq}}`;
  } catch {
    return { reason: 'hash_mismatch', detail: 'a lone surrogate has no canonical form' };
  }
  const actual = sha256Hex(content);
  if (actual === hash) return null;
  return wrongHash(hash, actual);
}
