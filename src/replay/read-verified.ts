/**
 * A transcript's records, with what verification says of them.
 *
 * @module
 */
import { revealerFor } from '../store/disclosure-file.ts';
import { pathText } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { type TranscriptStore } from '../store/store.ts';
import { verifyFile } from '../store/verify-file.ts';
import {
  createVerifier,
  type Draft,
  type TranscriptRecord,
  type Verdict,
} from '../transcript/index.ts';

/** A transcript that was read. */
export interface ReadTranscript {
  /** For messages. */
  readonly location: string;
  readonly verdict: Verdict;
  /** Those that verify, in order, with what is disclosed of the values that were taken out of them. */
  readonly records: readonly TranscriptRecord[];
  /** The first record of which a value is withheld; undefined if there is none. */
  readonly withheldFrom: number | undefined;
  /** What the writer of record `seq` wrote, given what it had to write. */
  readonly asWritten: (draft: Draft, seq: number) => Draft;
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
  /** As they stand in the file, of those that differ. */
  const redacted = new Map<number, TranscriptRecord>();
  let withheldFrom: number | undefined;
  const revealer = await revealerFor(transcript);
  const asWritten = (draft: Draft, seq: number): Draft => {
    const recorded = redacted.get(seq);
    if (recorded === undefined) return draft;
    return { kind: draft.kind, payload: revealer.redactAgain(draft.payload, recorded) };
  };
  const read = { location, verdict, records, asWritten };
  if (verdict.count === 0) return { ...read, withheldFrom };
  for await (const recorded of readRecords(transcript)) {
    const { record, commitments } = revealer.reveal(recorded);
    if (commitments.length > 0) redacted.set(records.length, recorded);
    if (commitments.some(({ state }) => state !== 'disclosed')) withheldFrom ??= records.length;
    records.push(record);
    // What follows is faulty, or was written since.
    if (records.length === verdict.count) break;
  }
  return { ...read, withheldFrom };
}

async function verifyStore(store: TranscriptStore): Promise<Verdict> {
  const verifier = createVerifier({ allowOpen: true });
  for await (const piece of store.read()) verifier.push(piece);
  return verifier.end();
}
