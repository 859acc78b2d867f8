/**
 * Recognises the audit logs of tiny_computer_agent, which are chained too, but are no transcripts.
 *
 * @module
 */
import { open } from 'node:fs/promises';
import { isJsonObject, parseJson } from '../transcript/index.ts';

/** How much of a file is looked at. */
const OPENING_BYTES = 65_536;
const LINES = 5;

/** Whether one of a file's first lines has the fields of an audit log. Any may be damaged, so not all must. */
export async function looksLikeAuditLog(path: string): Promise<boolean> {
  const opening = await readOpening(path);
  return opening.split('\n', LINES).some(isAuditLine);
}

async function readOpening(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      // A pipe has been read already, and may have no end.
      if (!(await file.stat()).isFile()) return '';
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(OPENING_BYTES),
        0,
        OPENING_BYTES,
        0,
      );
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    // It was read a moment ago; what it is can't be told now.
    return '';
  }
}

function isAuditLine(line: string): boolean {
  const parsed = parseJson(line);
  if (!parsed.ok || !isJsonObject(parsed.value)) return false;
  const { index, prev, digest, payload } = parsed.value;
  return (
    index !== undefined &&
    typeof prev === 'string' &&
    typeof digest === 'string' &&
    payload === undefined
  );
}
