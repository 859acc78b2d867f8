/**
 * A transcript in memory: for tests, and for runs whose record nobody keeps.
 *
 * @module
 */
import { EMPTY_HEAD, type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { encodeBatch } from './batch.ts';
import { StoreError, type TranscriptStore } from './store.ts';

/** An empty transcript in memory. Its `sync` has nothing to do. */
export function memoryStore(): TranscriptStore {
  return new MemoryStore();
}

/** Lines are joined to about this many UTF-16 units before they are encoded for a reader. */
const PIECE_LENGTH = 64 * 1024;

class MemoryStore implements TranscriptStore {
  readonly location = 'memory';
  head: Head = EMPTY_HEAD;
  readonly #lines: string[] = [];
  #closed = false;

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    this.#requireOpen();
    const batch = encodeBatch(this.head, drafts, this.location);
    for (const line of batch.lines) this.#lines.push(line.text);
    this.head = batch.head;
    return batch.lines;
  }

  async sync(): Promise<void> {
    this.#requireOpen();
  }

  async *read(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    // A reader sees the records that were there when it began, as with a file.
    const count = this.#lines.length;
    let piece = '';
    for (let i = 0; i < count; i += 1) {
      piece += this.#lines[i] ?? '';
      if (piece.length >= PIECE_LENGTH || i + 1 === count) {
        yield encoder.encode(piece);
        piece = '';
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #requireOpen(): void {
    if (this.#closed) throw new StoreError('closed', 'memory: the transcript was closed');
  }
}
