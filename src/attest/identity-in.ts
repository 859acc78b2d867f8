/**
 * Reads which log a file holds.
 *
 * @module
 */
import { readRecords } from '../store/read.ts';
import { identityOf, type LogIdentity } from './log-identity.ts';

/** Which log it is; null if its first line doesn't say. */
export async function identityIn(path: string): Promise<LogIdentity | null> {
  try {
    for await (const record of readRecords(path)) return identityOf(record);
  } catch {
    // Verification will say what is wrong with it.
  }
  return null;
}
