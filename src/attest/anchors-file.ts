/**
 * The file that says where the anchors of a transcript are: `<transcript>.anchors`, an object a line.
 *
 * @module
 */
import { constants } from 'node:fs';
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from '../transcript/index.ts';
import { SIDECAR } from '../store/sidecars.ts';
import { appendText } from './append-text.ts';
import { bytesIfThere } from './atomic-file.ts';

/** The name of the file that says where the anchors of a transcript are. */
export function anchorsPath(transcript: string): string {
  return transcript + SIDECAR.anchors;
}

/** Notes where an anchor is, unless that stands there already. */
export async function noteAnchor(transcript: string, anchor: JsonObject): Promise<void> {
  const path = anchorsPath(transcript);
  const line = canonicalJson(anchor);
  const there = bytesIfThere(path, MAX_BYTES);
  if (there !== null && linesOf(there).includes(line)) return;
  await appendText(path, `${line}\n`, constants.O_NOFOLLOW);
}

/** What such a file holds, as far as it is looked at. */
export interface AnchorEntries {
  readonly entries: readonly JsonObject[];
  /** Whether there are more lines. */
  readonly hasMore: boolean;
}

/**
 * The entries of the file of anchors, each once. What is no entry says nothing, as if the file weren't there.
 *
 * @throws {StoreError} if it can't be read.
 */
export function readAnchorEntries(transcript: string): AnchorEntries {
  const bytes = bytesIfThere(anchorsPath(transcript), MAX_BYTES);
  const lines = bytes === null ? [] : linesOf(bytes, MAX_ENTRIES + 1);
  const entries = lines.slice(0, MAX_ENTRIES).flatMap((line) => {
    const parsed = parseJson(line);
    return parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : [];
  });
  return { entries, hasMore: lines.length > MAX_ENTRIES };
}

/** So many are looked at: each may be a file to read. */
export const MAX_ENTRIES = 100;
/** A hundred timestamps with all their certificates take a twentieth of it. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The first lines that aren't empty, each once. */
function linesOf(bytes: Buffer, most = Infinity): readonly string[] {
  const lines = new Set<string>();
  for (let start = 0; start < bytes.length && lines.size < most;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) lines.add(bytes.toString('utf8', start, end));
    start = end + 1;
  }
  return [...lines];
}

const NEWLINE = 0x0a;
