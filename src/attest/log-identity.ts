/**
 * Which log a file holds: its first record tells, wherever the file is.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { isJsonObject, parseRecord, type TranscriptRecord } from '../transcript/index.ts';

/** A log, by its first record. */
export interface LogIdentity {
  /** The first record's hash, 64 hex digits. */
  readonly id: string;
  /** Whether no other log can begin so: the first record holds an id of the run. */
  readonly unique: boolean;
  /** Whether it is a folder's catalogue, whatever the file's name is. */
  readonly isCatalog: boolean;
}

/** The log that begins with this record. */
export function identityOf({ hash, kind, payload }: TranscriptRecord): LogIdentity {
  const isCatalog = kind === 'catalog';
  if (!isJsonObject(payload)) return { id: hash, unique: false, isCatalog };
  const { run, id } = payload;
  // Runs have it in their configuration, catalogues and logs whose first record was torn by themselves.
  const own = isJsonObject(run) ? run['id'] : id;
  return { id: hash, unique: typeof own === 'string' && own !== '', isCatalog };
}

/** The same for a line, with or without its newline; null if it isn't a record. */
export function identityOfLine(line: string): LogIdentity | null {
  try {
    return identityOf(parseRecord(line));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const PREFIX = 'hashtape/';

/** What checkpoints call a log. */
export function originOf(id: string): string {
  return `${PREFIX}${id}`;
}

/** The id of the audit log whose first entry has this digest: its format has no room for one. */
export function auditId(digest: string): string {
  return createHash('sha256').update(`audit log that begins with ${digest}`).digest('hex');
}
