/**
 * The writer of a file of chained lines.
 *
 * What `head` says is never ahead of the file, and a failed write leaves both where they were.
 *
 * @module
 */
import { constants } from 'node:fs';
import { identityOf, writeAll, type FileSystem, type OpenFile } from './filesystem.ts';
import { type Lock } from './lock.ts';
import { pieces } from './pieces.ts';
import { messageOf, openError, readError } from './store-errors.ts';
import { StoreError } from './store.ts';

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
interface State<H> {
  /** Counts the changes of the file, so that a sync knows what it covered. */
  readonly change: number;
  readonly head: H;
  /** In bytes. */
  readonly size: number;
}

/** A file that is open for appending. `H` says where the chain in it stands. */
export class AppendFile<H> {
  readonly location: string;
  readonly #held: Held;
  readonly #durability: Durability;
  #now: State<H>;
  /** The newest state that is known to be on disk. */
  #durable: State<H>;
  /** Why nothing more may be written: after this failure nobody knows what the file holds. */
  #poison: StoreError | undefined;
  #closing: Promise<void> | undefined;
  readonly #identity: string;
  /** Whether the path was seen to lead to the file since the last sync. */
  #placed = false;

  constructor(held: Held, durability: Durability, head: H, size: number) {
    this.location = held.location;
    this.#held = held;
    this.#durability = durability;
    this.#now = { change: 0, head, size };
    this.#durable = this.#now;
    this.#identity = identityOf(held.file.stat());
  }

  get head(): H {
    return this.#now.head;
  }

  /** Writes bytes, all or none, after which the chain stands at `head`. */
  async append(bytes: Uint8Array, head: H): Promise<void> {
    this.requireUsable();
    this.#requireUnchanged();
    this.#write(bytes);
    const { change, size } = this.#now;
    this.#now = { change: change + 1, head, size: size + bytes.length };
    if (this.#durability === 'always') await this.#flush();
  }

  /**
   * Looks whether the file is where it was left, and writes nothing.
   *
   * @throws {StoreError} as `append` does.
   */
  requireReady(): void {
    this.requireUsable();
    this.#placed = false;
    this.#requireUnchanged();
    // What is true now may not be when something is appended.
    this.#placed = false;
  }

  async sync(): Promise<void> {
    this.requireUsable();
    this.#requirePlace();
    await this.#flush();
  }

  /** Takes back what was written since the chain stood at `head`, `size` bytes into the file. */
  cutBack(head: H, size: number): void {
    this.requireUsable();
    this.#requireUnchanged();
    try {
      this.#held.file.truncate(size);
      if (this.#held.file.stat().size !== size) throw new Error('the cut had no effect');
    } catch (error) {
      throw this.#poisoned('what was written in vain could not be taken back', error);
    }
    this.#now = { change: this.#now.change + 1, head, size };
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

  /** @throws {StoreError} if nothing may be written any more: `closed`, or `failed` for good. */
  requireUsable(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('closed', `${this.location}: it was closed`);
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

  /** Lines in a file that its path doesn't lead to any more are lost to whoever looks for them. */
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
        'nothing could be written, and what was begun was taken back. Make room or mend the disk, then append again',
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
    // The next append looks again.
    this.#placed = false;
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
