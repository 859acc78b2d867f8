/**
 * The writer of a transcript file.
 *
 * What `head` says is never ahead of the file, and a failed write leaves both where they were.
 *
 * @module
 */
import { constants } from 'node:fs';
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { encodeBatch } from './batch.ts';
import { identityOf, writeAll, type FileSystem, type OpenFile } from './filesystem.ts';
import { type Lock } from './lock.ts';
import { pieces } from './pieces.ts';
import { messageOf, openError, readError } from './store-errors.ts';
import { StoreError, type TranscriptStore } from './store.ts';

/**
 * When records reach the disk:
 * - `always`: before `append` resolves;
 * - `turn`: before `sync` resolves, which the loop calls before anything depends on a record;
 * - `never`: when the operating system gets to it. A crash of the process loses nothing even so.
 */
export type Durability = 'always' | 'turn' | 'never';

/** A file that was opened, locked and verified for appending. */
export interface Held {
  /** The path as the caller wrote it, for messages. */
  readonly location: string;
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly system: FileSystem;
  readonly file: OpenFile;
  readonly lock: Lock;
}

/** Where the file stands after a write. */
interface State {
  /** Counts the changes of the file, so that a sync knows what it covered. */
  readonly change: number;
  readonly head: Head;
  /** In bytes. */
  readonly size: number;
}

/** A transcript file that is open for appending. `file.ts` makes them. */
export class FileStore implements TranscriptStore {
  readonly location: string;
  readonly #held: Held;
  readonly #durability: Durability;
  #now: State;
  /** The newest state that is known to be on disk. */
  #durable: State;
  /** Why nothing more may be written: after this failure nobody knows what the file holds. */
  #poison: StoreError | undefined;
  #closing: Promise<void> | undefined;
  readonly #identity: string;
  /** Whether the path was seen to lead to the file since the last sync. */
  #placed = false;

  constructor(held: Held, durability: Durability, head: Head, size: number) {
    this.location = held.location;
    this.#held = held;
    this.#durability = durability;
    this.#now = { change: 0, head, size };
    this.#durable = this.#now;
    this.#identity = identityOf(held.file.stat());
  }

  get head(): Head {
    return this.#now.head;
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    this.#requireUsable();
    const batch = encodeBatch(this.head, drafts, this.location);
    if (batch.lines.length === 0) return batch.lines;
    this.#requireUnchanged();
    // Joining the text would meet the engine's limit on strings, 512 MiB.
    const bytes = Buffer.concat(batch.lines.map((line) => Buffer.from(line.text)));
    this.#write(bytes);
    const { change, size } = this.#now;
    this.#now = { change: change + 1, head: batch.head, size: size + bytes.length };
    if (this.#durability === 'always') await this.#flush();
    return batch.lines;
  }

  async sync(): Promise<void> {
    this.#requireUsable();
    this.#requirePlace();
    // The next append looks again.
    this.#placed = false;
    await this.#flush();
  }

  async *read(): AsyncGenerator<Uint8Array> {
    // Its own handle, so that a reader neither depends on the writer's nor keeps it from closing.
    const { path, system } = this.#held;
    const { size } = this.#now;
    const file = await system.open(path, constants.O_RDONLY).catch((error: unknown) => {
      throw openError(this.location, error);
    });
    try {
      if (identityOf(file.stat()) !== this.#identity) {
        throw this.#changed('another file has its name');
      }
      let left = size;
      for await (const piece of pieces((into, position) => file.read(into, position), size)) {
        left -= piece.length;
        yield piece;
      }
      if (left > 0) throw this.#changed(`it is ${left} bytes shorter than what was written`);
    } catch (error) {
      throw readError(this.location, error);
    } finally {
      // A file that was only read has nothing to lose when closing it fails.
      await file.close().catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    try {
      if (this.#poison === undefined) await this.#flush();
    } finally {
      try {
        await this.#held.file.close().catch((error: unknown) => {
          throw this.#failure('it could not be closed', error);
        });
      } finally {
        this.#held.lock.release();
      }
    }
  }

  #requireUsable(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('closed', `${this.location}: the transcript was closed`);
    }
    const cause = this.#poison;
    if (cause !== undefined) throw new StoreError('failed', cause.message, { cause });
  }

  /** Somebody who ignores the lock may have written, cut or deleted the file. */
  #requireUnchanged(): void {
    let found;
    try {
      found = this.#held.file.stat();
    } catch (error) {
      throw this.#failure('it could not be looked at; nothing was written', error);
    }
    if (found.links === 0) throw this.#changed('it was deleted or replaced');
    if (!this.#placed) this.#requirePlace();
    if (found.size !== this.#now.size) {
      throw this.#changed(`it has ${found.size} bytes instead of ${this.#now.size}`);
    }
  }

  /** Records in a file that its path doesn't lead to any more are lost to whoever looks for them. */
  #requirePlace(): void {
    let found;
    try {
      found = this.#held.system.stat(this.#held.path);
    } catch (error) {
      throw this.#failure('its path could not be looked at; nothing was written', error);
    }
    this.#placed = found !== null && identityOf(found) === this.#identity;
    if (!this.#placed) throw this.#changed('it was deleted, renamed or replaced');
  }

  /** Writes all of the bytes or, as far as the disk lets us, none. */
  #write(bytes: Uint8Array): void {
    try {
      writeAll(this.#held.file, bytes);
    } catch (error) {
      this.#takeBack(bytes.length);
      throw this.#failure(
        'the records could not be written and were taken back. Make room or mend the disk, then append again',
        error,
      );
    }
  }

  /** After a failed write of up to `length` bytes: cuts the file where it was good. */
  #takeBack(length: number): void {
    const { file } = this.#held;
    const { change, head, size } = this.#now;
    try {
      const found = file.stat().size;
      if (found < size || found > size + length) throw new Error('somebody else changed its size');
      if (found > size) file.truncate(size);
      if (file.stat().size !== size) throw new Error('the cut had no effect');
      this.#now = { change: change + 1, head, size };
    } catch (error) {
      throw this.#poisoned('a failed write could not be taken back', error);
    }
  }

  /** Makes what was written so far durable, as far as the setting asks for it. */
  async #flush(): Promise<void> {
    const covered = this.#now;
    if (this.#durability === 'never' || covered.change === this.#durable.change) return;
    try {
      await this.#held.file.datasync();
    } catch (error) {
      // Linux drops the pages it couldn't write and reports it once: a second fsync that succeeds proves
      // nothing (PostgreSQL's "fsyncgate" of 2018; Rebello et al., USENIX ATC 2020).
      const poison = this.#poisoned('the disk failed to keep what was written', error);
      if (this.#durability === 'always') this.#rollBack();
      throw poison;
    }
    if (covered.change > this.#durable.change) this.#durable = covered;
  }

  /** Under `always`, what isn't durable was never promised: it is taken out of head and, if possible, file. */
  #rollBack(): void {
    this.#now = this.#durable;
    try {
      this.#held.file.truncate(this.#now.size);
    } catch {
      // The store is poisoned already; `read` stops at the head whatever follows it in the file.
    }
  }

  #poisoned(what: string, cause: unknown): StoreError {
    const repair = 'Nothing more is written. Verify the file, then open it again';
    this.#poison = this.#failure(`${what}. ${repair}`, cause);
    return this.#poison;
  }

  #failure(what: string, cause: unknown): StoreError {
    return new StoreError('failed', `${this.location}: ${what} (${messageOf(cause)})`, { cause });
  }

  #changed(what: string): StoreError {
    return new StoreError(
      'changed',
      `${this.location}: ${what}: somebody else changed it while it was open, so nothing is written. Verify it, and keep other writers away`,
    );
  }
}
