/**
 * Encodes the drafts of one append, all or none.
 *
 * @module
 */
import {
  advance,
  encodeRecord,
  type Draft,
  type Head,
  type RecordLine,
} from '../transcript/index.ts';
import { StoreError } from './store.ts';

/** Records that are ready to be written, and the head once they are. */
export interface Batch {
  readonly lines: readonly RecordLine[];
  readonly head: Head;
}

/**
 * The lines that continue `head` with `drafts`. Nothing is changed by it, so an error leaves a store as it was.
 *
 * @throws {CanonicalError} if a draft can't be recorded.
 * @throws {StoreError} `sealed` if a draft would follow a `final` record.
 */
export function encodeBatch(head: Head, drafts: readonly Draft[], location: string): Batch {
  const lines: RecordLine[] = [];
  let at = head;
  for (const draft of drafts) {
    if (at.sealed) {
      throw new StoreError(
        'sealed',
        `${location}: nothing may follow the final record; start a new transcript`,
      );
    }
    const line = encodeRecord(at, draft);
    lines.push(line);
    at = advance(line);
  }
  return { lines, head: at };
}
