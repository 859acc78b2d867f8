/**
 * Names what is wrong with a line that is not exactly the expected entry (docs/audit-log.md).
 *
 * It runs at most once a log, so it favours precise words over speed.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, MAX_LINE_BYTES } from '../transcript/index.ts';
import {
  MAX_READ_BYTES,
  readLine,
  readOutline,
  spellingFault,
  type Finding,
  type LineReason,
} from '../transcript/read-line.ts';
import {
  contentProblem,
  FIELDS,
  malformed,
  readFields,
  type AuditHead,
  type EntryFields,
} from './audit-entry.ts';

/** Why an audit log doesn't hold; docs/audit-log.md defines each. */
export type AuditReason =
  | LineReason
  | 'empty'
  | 'malformed_entry'
  | 'index_gap'
  | 'digest_mismatch';

/** The first fault of an audit log. */
export interface AuditFault {
  /** The entry's place in the file, from 1; not what it claims. It is its line's number too. */
  readonly entry: number;
  readonly reason: AuditReason;
  /** What was found, in words. */
  readonly detail: string;
  /** What would have been right, where that is one value. */
  readonly expected?: string;
}

/** Judges a line (its bytes without the newline) that is known not to be the entry that continues `head`. */
export function judgeEntry(bytes: Uint8Array, head: AuditHead): AuditFault {
  return { entry: head.count + 1, ...findFault(bytes, head) };
}

function findFault(bytes: Uint8Array, head: AuditHead): Finding<AuditReason> {
  if (bytes.length > MAX_LINE_BYTES) return malformed(`a line over ${MAX_LINE_BYTES} bytes`);
  if (bytes.length > MAX_READ_BYTES) {
    const outline = readOutline(bytes, FIELDS);
    if ('reason' in outline) return outline;
    const fields = readFields(outline.value);
    // Ten members that are no containers can't be hostile nesting, so the line may be read.
    if ('reason' in fields) return fields;
  }
  const line = readLine(bytes);
  if ('reason' in line) return line;
  const fields = readFields(line.value);
  if ('reason' in fields) return fields;
  const chained = linkFault(fields, head) ?? digestFault(fields, head.count + 1);
  if (chained !== null) return chained;
  const problem = contentProblem(fields);
  return problem === null ? spellingFault(line) : malformed(problem);
}

/** The sentences, here and below, are those of tiny_computer_agent. */
function linkFault(fields: EntryFields, { count, digest }: AuditHead): Finding<AuditReason> | null {
  const entry = count + 1;
  if (fields.index !== String(count)) {
    return {
      reason: 'index_gap',
      detail: `entry ${entry} is out of order (index ${fields.index.slice(0, 40)} where ${count} was expected): lines were removed or reordered`,
      expected: String(count),
    };
  }
  if (fields.prev !== digest) {
    return {
      reason: 'prev_mismatch',
      detail: `entry ${entry} does not follow entry ${count}: its link points at an entry that is not there`,
      expected: digest,
    };
  }
  return null;
}

/** Whether the nine fields, in canonical spelling, have the digest that the entry claims. */
function digestFault(
  { digest, index, ...fields }: EntryFields,
  entry: number,
): Finding<AuditReason> | null {
  const fault = {
    reason: 'digest_mismatch',
    detail: `entry ${entry} was edited after it was written`,
  } as const;
  let actual: string;
  try {
    actual = sha256Hex(canonicalJson({ ...fields, index: Number(index) }));
  } catch {
    // A lone surrogate has no canonical form.
    return fault;
  }
  return actual === digest ? null : { ...fault, expected: actual };
}
