/**
 * Where a transcript lives: the interface that every store implements, and its contract.
 *
 * @module
 */
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { type Durability } from './append-file.ts';
import { type FileSystem } from './filesystem.ts';

/** Where the files beside a transcript file go, and how they are written. */
export interface Place {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly system: FileSystem;
  readonly durability: Durability;
}

/**
 * An append-only transcript with one writer.
 *
 * Contract:
 * - **Order.** `append` calls are serial: a caller awaits one before the next. Records continue `head`.
 * - **Atomicity.** `append` writes all of its drafts or none of them. When it rejects, `head` and what
 *   `read` yields are as they were before, and the next `append` may be tried.
 * - **Visibility.** When `append` resolves, `read` yields the records' exact bytes, and so does any other
 *   reader of the place: what `head` says is never ahead of it.
 * - **Durability.** When `sync` resolves, everything appended before survives a crash of the machine, as
 *   far as the store's durability setting promises. The loop calls it before anything depends on a record.
 * - **Strictness.** `append` rejects with `CanonicalError` if a draft can't be recorded, and with
 *   `StoreError` if the place failed, is closed, is sealed, or was changed by somebody else.
 *
 * `storeConformance` in `hashtape/testing` checks all of this for any implementation.
 */
export interface TranscriptStore {
  /** Where it is, in words, for messages: a path, or `memory`. */
  readonly location: string;
  /** The file that it is in; undefined for what is no file. */
  readonly place?: Place | undefined;
  /** Where the chain stands. */
  readonly head: Head;
  /** Writes records that continue the head; see the contract above. */
  append(drafts: readonly Draft[]): Promise<readonly RecordLine[]>;
  /** Makes what was appended durable. */
  sync(): Promise<void>;
  /** The exact bytes, from the first record, in pieces of any size. They are only borrowed. */
  read(): AsyncIterable<Uint8Array>;
  /** Releases the place. It is idempotent; afterwards only `head` and `read` may be used. */
  close(): Promise<void>;
}

/** Why a store refused or failed. */
export type StoreErrorCode =
  /** A transcript is there already, and a new one was asked for. */
  | 'exists'
  /** There is no transcript at the place. */
  | 'missing'
  /** Another writer holds it. */
  | 'locked'
  /** Its last record is `final`; nothing may follow. */
  | 'sealed'
  /** It doesn't verify, so it can't be continued. */
  | 'broken'
  /** Somebody else wrote to it, cut it or deleted it while it was open. */
  | 'changed'
  /** The disk or the database failed; `cause` has its error. */
  | 'failed'
  /** It was closed. */
  | 'closed';

/** A store can't do what was asked. The message says what to do about it. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
