/**
 * A transcript's records, with what verification says of them.
 *
 * @module
 */
import { pathText } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { type TranscriptStore } from '../store/store.ts';
import { verifyFile } from '../store/verify-file.ts';
import { createVerifier, type TranscriptRecord, type Verdict } from '../transcript/index.ts';

/** A transcript that was read. */
export interface ReadTranscript {
  /** For messages. */
  readonly location: string;
  readonly verdict: Verdict;
  /** Those that verify, in order. */
  readonly records: readonly TranscriptRecord[];
}

/**
 * Verifies a transcript and reads the records before its first fault. It need not be sealed.
 *
 * @throws {StoreError} `failed` if the file was changed in between.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`.
 */
export async function readVerified(
  transcript: string | URL | TranscriptStore,
): Promise<ReadTranscript> {
  const isPath = typeof transcript === 'string' || transcript instanceof URL;
  const location = isPath ? pathText(transcript) : transcript.location;
  const verdict = isPath
    ? await verifyFile(transcript, { allowOpen: true })
    : await verifyStore(transcript);
  const records: TranscriptRecord[] = [];
  if (verdict.count === 0) return { location, verdict, records };
  for await (const record of readRecords(transcript)) {
    records.push(record);
    // What follows is faulty, or was written since.
    if (records.length === verdict.count) break;
  }
  return { location, verdict, records };
}

async function verifyStore(store: TranscriptStore): Promise<Verdict> {
  const verifier = createVerifier({ allowOpen: true });
  for await (const piece of store.read()) verifier.push(piece);
  return verifier.end();
}
