/**
 * Where a run's values go that are taken out of its record: the file of disclosures beside the transcript.
 *
 * @module
 */
import { type Revealer } from '../evidence/revealer.ts';
import { DisclosureFile } from '../store/disclosure-file.ts';
import { RedactingStore } from '../store/redacting-store.ts';
import { type TranscriptStore } from '../store/store.ts';
import { type TranscriptRecord } from '../transcript/index.ts';
import { JournalError } from './journal.ts';
import { Redactor } from './redactor.ts';

/**
 * Uses a store through the rules of a run; the store itself if it has none.
 *
 * @param revealer has read the records that are there; undefined for a transcript that begins.
 * @throws {TypeError} if there is no place for disclosures.
 * @throws {StoreError} `exists` or `failed` if their file can't be written.
 */
export async function redacting<T>(
  store: TranscriptStore,
  rules: readonly string[] | undefined,
  revealer: Revealer | undefined,
  use: (store: TranscriptStore) => Promise<T>,
): Promise<T> {
  // Where rules were dropped, what a crash left is cut off all the same.
  const isOver = rules === undefined && (revealer === undefined || revealer.isEmpty);
  if (isOver) return use(store);
  const { place } = store;
  if (place === undefined) {
    throw new TypeError(
      'redact keeps what it takes out in a file beside the transcript, so the transcript must be a file: give its path',
    );
  }
  const file = await DisclosureFile.open(place, store.location, revealer?.keptBytes ?? null);
  try {
    if (rules === undefined) return await use(store);
    const redactor = new Redactor(rules);
    for (const { value } of revealer?.values() ?? []) redactor.learn(value);
    return await use(new RedactingStore(store, file, (draft) => redactor.redact(draft)));
  } finally {
    // Every line was durable before its record.
    await file.close().catch(() => undefined);
  }
}

/**
 * Records with everything put back that was taken out of them.
 *
 * @throws {JournalError} `unusable` at the first that can't be put together whole; in the end, if a disclosure is
 * wrong.
 */
export async function* revealedWhole(
  records: AsyncIterable<TranscriptRecord>,
  revealer: Revealer,
  location: string,
): AsyncGenerator<TranscriptRecord> {
  for await (const recorded of records) {
    const { record, commitments } = revealer.reveal(recorded);
    if (commitments.some(({ state }) => state !== 'disclosed'))
      throw withheld(location, record.seq);
    yield record;
  }
  // What a crash left is no fault, and is cut off; anything else is somebody's, and is left alone.
  const [fault] = revealer.end(false).faults;
  if (fault !== undefined) {
    const problem = `${location}.open: line ${fault.line}: ${fault.problem}; take that line out, or put the file back as it was written`;
    throw new JournalError('unusable', problem);
  }
}

/** Values of a record that are needed are withheld. */
export function withheld(location: string, seq: number): JournalError {
  return new JournalError(
    'unusable',
    `${location}: record ${seq} committed to values that are withheld: ${location}.open doesn't disclose them. They are needed here; put that file back as it was written`,
  );
}
