/**
 * A record by itself, as a proof holds it: its line, which must be exactly what was hashed.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import {
  canonicalJson,
  CanonicalError,
  isJsonArray,
  isJsonObject,
  parseJson,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';

/** A record whose line holds by itself, or what is wrong with it. */
export type LoneRecord =
  | { readonly record: TranscriptRecord }
  | { readonly reason: 'bad_record' | 'hash_mismatch' | 'not_canonical'; readonly detail: string };

/** Reads a record's line, without its newline: it must be canonical, and its content must have the hash it claims. */
export function readLoneRecord(line: Uint8Array): LoneRecord {
  const text = textOf(line);
  const parsed = text === null ? null : parseJson(text);
  // A number beyond a double's range has no canonical form.
  if (text === null || parsed?.ok !== true || parsed.overflow !== null) return NO_RECORD;
  const record = shaped(parsed.value);
  const content = record === null ? null : contentOf(record);
  if (record === null || content === null) return NO_RECORD;
  const hash = sha256Hex(`{${content}`);
  if (hash !== record.hash) {
    const detail = `the record claims hash ${record.hash}, its content hashes to ${hash}`;
    return { reason: 'hash_mismatch', detail };
  }
  if (text === `{"hash":"${hash}",${content}`) return { record };
  return { reason: 'not_canonical', detail: "the record's line isn't spelled as it was hashed" };
}

const NO_RECORD = { reason: 'bad_record', detail: 'what it holds is no record' } as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(line: Uint8Array): string | null {
  try {
    return decoder.decode(line);
  } catch {
    return null;
  }
}

const HEX = /^[0-9a-f]{64}$/;

function shaped(value: JsonValue): TranscriptRecord | null {
  if (!isJsonObject(value)) return null;
  const { seq, kind, payload, prev, hash } = value;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return null;
  if (typeof kind !== 'string' || typeof prev !== 'string' || typeof hash !== 'string') return null;
  if (!HEX.test(prev) || !HEX.test(hash)) return null;
  if (!isJsonObject(payload) && !isJsonArray(payload)) return null;
  return { seq, kind, payload, prev, hash };
}

/** What is hashed, without its opening brace; null if a lone surrogate in it has no canonical form. */
function contentOf({ kind, payload, prev, seq }: TranscriptRecord): string | null {
  try {
    return `"kind":${canonicalJson(kind)},"payload":${canonicalJson(payload, Infinity)},"prev":"${prev}","seq":${seq}}`;
  } catch (error) {
    if (error instanceof CanonicalError) return null;
    throw error;
  }
}
