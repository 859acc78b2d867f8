/**
 * A store that takes chosen values out of what is appended to it, and keeps them in disclosures.
 *
 * @module
 */
import { openLine } from '../evidence/open-file.ts';
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { encodeBatch } from './batch.ts';
import { type DisclosureFile } from './disclosure-file.ts';
import { type TranscriptStore } from './store.ts';

/** A draft without the values that were taken out of it. */
export interface RedactedDraft {
  readonly draft: Draft;
  readonly disclosures: readonly string[];
}

/**
 * Writes the disclosures of a record before the record. A crash in between leaves disclosures that no record
 * needs, which the next writer cuts off, and never a record without its disclosures.
 */
export class RedactingStore implements TranscriptStore {
  readonly #store: TranscriptStore;
  readonly #file: DisclosureFile;
  readonly #redact: (draft: Draft) => RedactedDraft;

  /** @param redact says what is taken out. @throws {CanonicalError} for a draft that can't be recorded. */
  constructor(
    store: TranscriptStore,
    file: DisclosureFile,
    redact: (draft: Draft) => RedactedDraft,
  ) {
    this.#store = store;
    this.#file = file;
    this.#redact = redact;
  }

  get location(): string {
    return this.#store.location;
  }

  get head(): Head {
    return this.#store.head;
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    const { count } = this.head;
    const redacted = drafts.map((draft) => this.#redact(draft));
    const lines = redacted
      .flatMap(({ disclosures }, i) => disclosures.map((text) => openLine(count + i, text)))
      .join('');
    const written = redacted.map(({ draft }) => draft);
    if (lines === '' && !this.#file.isPending) return this.#store.append(written);
    // What can't be recorded is refused before anything is written.
    encodeBatch(this.head, written, this.location);
    if (this.#file.isPending) {
      // Only a store that could take its own failed write back may be written to; any other says so here.
      await this.#store.append([]);
      this.#file.takeBack();
    }
    if (lines !== '') await this.#file.append(lines);
    const records = await this.#store.append(written);
    this.#file.settled();
    return records;
  }

  async sync(): Promise<void> {
    await this.#file.sync();
    await this.#store.sync();
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#store.read();
  }

  /** Closes the disclosures, and the store too. */
  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      await this.#store.close();
    }
  }
}
