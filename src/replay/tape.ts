/**
 * A transcript that is played again: whatever the loop writes must be what is on it.
 *
 * @module
 */
import { type RecordWriter } from '../run/context.ts';
import { StoreError } from '../store/store.ts';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  parseRecord,
  type Draft,
  type Head,
  type JsonObject,
  type RecordLine,
  type TranscriptRecord,
} from '../transcript/index.ts';

/** The first record that did not come out the same. */
export interface Divergence {
  readonly seq: number;
  /** What is on the tape; null if it ends before. */
  readonly recorded: Draft | null;
  /** What the loop wrote; null if it wrote nothing there. */
  readonly replayed: Draft | null;
  readonly detail: string;
}

/** The kinds that the loop itself writes, but for `resumed`, which is about the process and not the run. */
const LOOP_KINDS: ReadonlySet<string> = new Set(['user', 'assistant', 'tool', 'final']);

/** The records of a transcript, and how far the loop has written them again. */
export class Tape implements RecordWriter {
  readonly location: string;
  readonly records: readonly TranscriptRecord[];
  head: Head = EMPTY_HEAD;
  divergence: Divergence | undefined;
  readonly #asWritten: (draft: Draft, seq: number) => Draft;

  /** @param asWritten what stands in the file of what its writer had to write: values may be taken out of it. */
  constructor(
    location: string,
    records: readonly TranscriptRecord[],
    asWritten: (draft: Draft, seq: number) => Draft = (draft) => draft,
  ) {
    this.location = location;
    this.records = records;
    this.#asWritten = asWritten;
  }

  /** The record that has to come next; undefined at the end. */
  get next(): TranscriptRecord | undefined {
    return this.records[this.head.count];
  }

  /** The payload of the next record. Journals hold objects; another program's array has no members. */
  get payload(): JsonObject {
    return membersOf(this.next);
  }

  /** The record that has to come next, which must be one of the loop's. */
  get own(): TranscriptRecord {
    const { next } = this;
    if (next === undefined || isForeign(next))
      throw new StoreError('closed', 'the record of this process ends here');
    return next;
  }

  /** Takes the records over that are not the loop's, up to the next that is. */
  *foreign(): Generator<TranscriptRecord> {
    for (let { next } = this; next !== undefined && isForeign(next); { next } = this) {
      this.head = advance(this.#encode(next));
      yield next;
    }
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    return drafts.map((draft) => {
      const line = this.#write(draft);
      this.head = advance(line);
      return line;
    });
  }

  async sync(): Promise<void> {}

  /** The error that ends a replay: the loop does something else than the record says. */
  diverged(detail: string, replayed: Draft | null = null): StoreError {
    const { next, head } = this;
    const recorded = next === undefined ? null : { kind: next.kind, payload: next.payload };
    this.divergence ??= { seq: head.count, recorded, replayed, detail };
    return new StoreError('failed', `record ${head.count} came out otherwise: ${detail}`);
  }

  /** The same for the record before: it was taken over, and should not be there as it is. */
  divergedBefore(detail: string): StoreError {
    const seq = this.head.count - 1;
    const { kind = '', payload = {} } = this.records[seq] ?? {};
    this.divergence ??= { seq, recorded: { kind, payload }, replayed: null, detail };
    return new StoreError('failed', `record ${seq} came out otherwise: ${detail}`);
  }

  #write(draft: Draft): RecordLine {
    const next = this.own;
    const line = this.#encode(draft);
    // A hash covers the whole line, and verification has compared it with the line's own bytes.
    if (line.hash === next.hash) return line;
    const { kind } = draft;
    const instead =
      kind === next.kind ? `another ${kind} record` : `${kind} in place of ${next.kind}`;
    // Read back, so that both sides are in one form.
    const { payload } = parseRecord(encodeRecord(this.head, draft).text);
    throw this.diverged(`the loop writes ${instead}`, { kind, payload });
  }

  #encode(draft: Draft): RecordLine {
    return encodeRecord(this.head, this.#asWritten(draft, this.head.count));
  }
}

/** Whether a record isn't the loop's own: between two of its own, it says that a process ended there. */
export function isForeign({ kind }: TranscriptRecord): boolean {
  return !LOOP_KINDS.has(kind);
}

/** The members of a record's payload. */
export function membersOf(record: TranscriptRecord | undefined): JsonObject {
  const payload = record?.payload;
  // An array has no members by name, which reads as an object without them.
  return payload === undefined ? {} : (payload as JsonObject);
}
