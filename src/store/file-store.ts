/**
 * A transcript in a file.
 *
 * @module
 */
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { AppendFile, type Durability, type Held } from './append-file.ts';
import { encodeBatch } from './batch.ts';
import { type Place, type TranscriptStore } from './store.ts';

/** A transcript file that is open for appending. `file.ts` makes them. */
export class FileStore implements TranscriptStore {
  readonly location: string;
  readonly place: Place;
  readonly #file: AppendFile<Head>;

  constructor(held: Held, durability: Durability, head: Head, size: number) {
    this.location = held.location;
    this.place = { path: held.path, system: held.system, durability };
    this.#file = new AppendFile(held, durability, head, size);
  }

  get head(): Head {
    return this.#file.head;
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    this.#file.requireUsable();
    const { lines, head } = encodeBatch(this.head, drafts, this.location);
    if (lines.length === 0) return lines;
    // Joining the text would meet the engine's limit on strings, 512 MiB.
    const bytes = Buffer.concat(lines.map((line) => Buffer.from(line.text)));
    await this.#file.append(bytes, head);
    return lines;
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#file.read();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
