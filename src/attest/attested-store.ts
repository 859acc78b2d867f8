/**
 * A transcript that is signed and remembered as it is written.
 *
 * The order is: records on the disk, checkpoint on the disk, memory. So a crash at any moment leaves a log that is
 * at least as large as what was stated of it.
 *
 * @module
 */
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import { fromHex } from '../evidence/hex.ts';
import { encodeCheckpoint, signNote, type SignerKey } from '../evidence/index.ts';
import { messageOf } from '../store/store-errors.ts';
import { type TranscriptStore } from '../store/store.ts';
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { CheckpointWriter } from './checkpoint-file.ts';
import { type HeadMemory, type KnownHead } from './head-memory.ts';
import { identityOfLine, originOf, type LogIdentity } from './log-identity.ts';
import { Roots } from './roots.ts';

/** With what a transcript is attested. */
export interface Attesting {
  /** The key that signs checkpoints; undefined to sign none. */
  readonly signer?: SignerKey | undefined;
  /** Where the head is remembered; undefined to remember none. */
  readonly memory?: HeadMemory | undefined;
  /** Is told, at most once, why the evidence can't be kept. The run goes on without. */
  readonly onProblem?: ((problem: string) => void) | undefined;
  /** Is told when the log is first attested, and when it is closed. */
  readonly onState?: ((state: AttestedState) => Promise<void>) | undefined;
}

/** Where an attested log stands. */
export interface AttestedState {
  readonly identity: LogIdentity;
  /** The file's real path. */
  readonly path: string;
  readonly size: number;
  /** The chain's head and the Merkle root of its records, 64 hex digits each. */
  readonly head: string;
  readonly root: string;
  readonly sealed: boolean;
  readonly closed: boolean;
}

/** What is already in a log that is gone on with. */
export interface Begun {
  readonly identity: LogIdentity;
  readonly roots: Roots;
  readonly known: KnownHead | null;
  /** The size of the newest checkpoint. */
  readonly signed: number;
}

/** So many records may be without a checkpoint. */
const EVERY = 256;

/** A store whose records are attested whenever they are made durable, a few hundred at a time. */
export class AttestedStore implements TranscriptStore {
  readonly #store: TranscriptStore;
  readonly #path: string;
  readonly #with: Attesting;
  readonly #checkpoints: CheckpointWriter;
  readonly #roots: Roots;
  #identity: LogIdentity | undefined;
  #known: KnownHead | null;
  /** The size that was last attested. */
  #attested: number;
  #isNew: boolean;
  #failed = false;
  #closing: Promise<void> | undefined;

  /** @param path the file's real path, beside which the checkpoints are kept. */
  constructor(store: TranscriptStore, path: string, attesting: Attesting, begun?: Begun) {
    this.#store = store;
    this.#path = path;
    this.#with = attesting;
    this.#checkpoints = new CheckpointWriter(path);
    this.#roots = begun?.roots ?? new Roots();
    this.#identity = begun?.identity;
    this.#known = begun?.known ?? null;
    this.#attested = begun?.signed ?? 0;
    this.#isNew = true;
  }

  get location(): string {
    return this.#store.location;
  }

  get head(): Head {
    return this.#store.head;
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    const lines = await this.#store.append(drafts);
    for (const { hash, text } of lines) {
      this.#identity ??= identityOfLine(text) ?? undefined;
      this.#roots.add(hash);
    }
    return lines;
  }

  async sync(): Promise<void> {
    await this.#store.sync();
    const { count, sealed } = this.#store.head;
    if (this.#isNew || sealed || count - this.#attested >= EVERY) await this.#attest(false);
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#store.read();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#store.sync();
      await this.#attest(true);
    } catch (error) {
      this.#problem(error);
    } finally {
      await this.#store.close();
    }
  }

  /** States the log's size and root, which are on the disk by now. */
  async #attest(closed: boolean): Promise<void> {
    const identity = this.#identity;
    if (this.#failed || identity === undefined) return;
    const { size, root } = this.#roots;
    try {
      if (size > this.#attested) {
        await this.#sign(identity, size, root);
        await this.#remember(identity, size, root);
        this.#attested = size;
      }
      const isNew = this.#isNew;
      this.#isNew = false;
      if (!isNew && !closed) return;
      const { hash: head, sealed } = this.#store.head;
      await this.#with.onState?.({ identity, path: this.#path, size, head, root, sealed, closed });
    } catch (error) {
      this.#problem(error);
    }
  }

  async #sign({ id }: LogIdentity, size: number, root: string): Promise<void> {
    const { signer } = this.#with;
    const hash = fromHex(root);
    if (signer === undefined || hash === undefined) return;
    const text = encodeCheckpoint({ origin: originOf(id), size, root: hash, extensions: [] });
    await this.#checkpoints.append(signNote({ text, signatures: [] }, signer, nodeEd25519));
  }

  async #remember({ id, unique }: LogIdentity, size: number, root: string): Promise<void> {
    const { memory } = this.#with;
    // Without an id of its own, another run may begin just so, and isn't this one.
    if (memory === undefined || !unique) return;
    const { sealed } = this.#store.head;
    const seen = { log: id, size, root, sealed, path: this.#path, by: 'writer' as const };
    let isKept = await memory.remember(seen, this.#known);
    // Somebody verified it meanwhile: this is the log's own writer, so what they saw is a part of it.
    for (let tries = 0; !isKept && tries < 3; tries += 1) {
      isKept = await memory.remember(seen, recalled(memory, id));
    }
    this.#known = recalled(memory, id);
  }

  #problem(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#with.onProblem?.(`${this.location}: no more evidence is kept: ${messageOf(error)}`);
  }
}

/** What is known of a log, as far as it can be read. */
export function recalled(memory: HeadMemory, log: string): KnownHead | null {
  const found = memory.recall(log);
  return found !== null && 'log' in found ? found : null;
}
