/**
 * Names what is wrong with a line that is not exactly the expected record (docs/format.md §5).
 *
 * It runs at most once a file, so it favours precise words over speed.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, Verbatim, type JsonObject, type JsonValue } from './canonical.ts';
import { parseJson } from './parse.ts';
import { outlineOf } from './outline.ts';
import { FIELDS, isJsonArray, isJsonObject, MAX_LINE_BYTES } from './record.ts';

/** Why a transcript doesn't hold; docs/format.md §5 defines each. */
export type Reason =
  | 'unreadable'
  | 'torn_tail'
  | 'bad_utf8'
  | 'bad_json'
  | 'not_an_object'
  | 'missing_fields'
  | 'extra_fields'
  | 'malformed_record'
  | 'seq_gap'
  | 'prev_mismatch'
  | 'hash_mismatch'
  | 'not_canonical'
  | 'not_sealed'
  | 'count_mismatch'
  | 'head_mismatch';

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

type Finding = Omit<Fault, 'seq' | 'line'>;

/**
 * The longest line whose values are read to find its fault. Reading takes up to 140 times the line in
 * memory (measured on `[[],[],…]`), and it is seldom needed: an edited record is mostly canonical still.
 */
export const MAX_READ_BYTES: number = 256 * 1024;

/** Where a canonical record's hashed content begins, with `{` in the place of the comma that stands there. */
const CONTENT_AT = 74;

const HEX = /^[0-9a-f]{64}$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Judges a line (its bytes without the newline) that ends in one and is known to hold a fault. */
export function judgeLine(bytes: Uint8Array, expected: Expectation): Fault {
  return { seq: expected.seq, line: expected.line, ...findFault(bytes, expected) };
}

function findFault(bytes: Uint8Array, expected: Expectation): Finding {
  if (bytes.length > MAX_LINE_BYTES) {
    return { reason: 'malformed_record', detail: `a line over ${MAX_LINE_BYTES} bytes` };
  }
  if (bytes.length > MAX_READ_BYTES) return largeFault(bytes, expected);
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { reason: 'bad_utf8', detail: 'the line is not valid UTF-8' };
  }
  if (/^[ \t\r]*$/.test(text)) return { reason: 'not_canonical', detail: 'a blank line' };
  const hasBom = text.startsWith('\uFEFF');
  const parsed = parseJson(hasBom ? text.slice(1) : text);
  if (!parsed.ok) {
    return { reason: 'bad_json', detail: `column ${parsed.at + 1}: ${parsed.problem}` };
  }
  const shape = recordShape(parsed.value);
  if ('reason' in shape) return shape;
  return (
    linkFault(shape, expected) ??
    contentFault(shape, parsed.overflow) ?? {
      reason: 'not_canonical',
      detail: spellingDetail(text, parsed.value, parsed.duplicate, hasBom),
    }
  );
}

/**
 * Judges a long line without reading its values, so that hostile nesting can't take a hundred times the
 * line's size in memory. That it is canonical JSON is seen in one scan; if it isn't, no more is said.
 */
function largeFault(bytes: Uint8Array, expected: Expectation): Finding {
  // No JSON holds this byte, and a file system may fill with it what a crash cut off.
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { reason: 'bad_json', detail: `byte ${nul + 1}: NUL` };
  const outline = outlineOf(bytes);
  if (outline === null) {
    const detail = `a line over ${MAX_READ_BYTES} bytes that is not canonical JSON`;
    return { reason: 'not_canonical', detail };
  }
  const parsed = parseJson(outline);
  const shape = recordShape(parsed.ok ? parsed.value : null);
  if ('reason' in shape) return shape;
  const content = new Uint8Array(bytes.subarray(CONTENT_AT));
  content[0] = 0x7b;
  const actual = sha256Hex(content);
  return linkFault(shape, expected) ?? wrongHash(shape.hash, actual);
}

function wrongHash(hash: string, actual: string): Finding {
  return { reason: 'hash_mismatch', detail: `hash is ${hash}`, expected: actual };
}

interface Shape {
  readonly seq: string;
  readonly kind: string;
  readonly payload: JsonValue;
  readonly prev: string;
  readonly hash: string;
}

function recordShape(value: JsonValue): Shape | Finding {
  if (!isJsonObject(value)) {
    return { reason: 'not_an_object', detail: `the line is ${typeName(value)}` };
  }
  const missing = FIELDS.filter((field) => !Object.hasOwn(value, field));
  if (missing.length > 0) return { reason: 'missing_fields', detail: missing.join(', ') };
  const extra = Object.keys(value).filter((key) => !FIELDS.some((field) => field === key));
  if (extra.length > 0) {
    const names = extra.map((key) => JSON.stringify(key).slice(0, 80));
    return { reason: 'extra_fields', detail: names.slice(0, 8).join(', ') };
  }
  return fieldTypes(value);
}

function malformed(field: string, rule: string): Finding {
  return { reason: 'malformed_record', detail: `${field} must be ${rule}` };
}

function fieldTypes(value: JsonObject): Shape | Finding {
  const { seq, kind, payload, prev, hash } = value;
  if (typeof hash !== 'string' || !HEX.test(hash)) return malformed('hash', '64 lower-case hex');
  if (typeof kind !== 'string') return malformed('kind', 'a string');
  if (!isJsonObject(payload) && !isJsonArray(payload)) {
    return malformed('payload', 'an object or an array');
  }
  if (typeof prev !== 'string' || !HEX.test(prev)) return malformed('prev', '64 lower-case hex');
  // Only a number is spelled: an object here may be nested too deep, or hold a lone surrogate.
  const digits = typeof seq === 'number' || seq instanceof Verbatim ? canonicalJson(seq) : '';
  if (!/^-?\d+$/.test(digits)) return malformed('seq', 'an integer');
  return { seq: digits, kind, payload, prev, hash };
}

function linkFault(record: Shape, expected: Expectation): Finding | null {
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
function contentFault(record: Shape, overflow: string | null): Finding | null {
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

/** What makes a good record's spelling another one: the first cause that is found. */
function spellingDetail(
  text: string,
  value: JsonValue,
  duplicate: string | null,
  hasBom: boolean,
): string {
  if (hasBom) return 'a byte order mark';
  if (duplicate !== null) return `the key ${JSON.stringify(duplicate).slice(0, 80)} comes twice`;
  if (text.endsWith('\r')) return 'the line ends in \\r\\n';
  const right = canonicalJson(value, Infinity);
  let at = 0;
  while (at < right.length && right[at] === text[at]) at += 1;
  const shown = JSON.stringify(text.slice(at, at + 12));
  return `column ${at + 1}: ${shown} is written ${JSON.stringify(right.slice(at, at + 12))}`;
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`;
}
