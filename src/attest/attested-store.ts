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
import { StoreError, type Place, type TranscriptStore } from '../store/store.ts';
import { type Draft, type Head, type RecordLine } from '../transcript/index.ts';
import { CheckpointWriter } from './checkpoint-file.ts';
import { headAt, headsOf, type HeadMemory, type KnownHead } from './head-memory.ts';
import { identityOfLine, originOf, type LogIdentity } from './log-identity.ts';
import { Roots } from './roots.ts';

/** With what a transcript is attested. */
export interface Attesting {
  /** The key that signs checkpoints; undefined to sign none. */
  readonly signer?: SignerKey | undefined;
  /** Where the head is remembered; undefined to remember none. */
  readonly memory?: HeadMemory | undefined;
  /** Is told, once for each kind of evidence, why it can't be kept. The run goes on without. */
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
  /** What is remembered of it where it is. */
  readonly known: KnownHead | undefined;
  /** The size of the newest checkpoint. */
  readonly signed: number;
}

/** So many records may be without a checkpoint. */
const EVERY = 256;
/**
 * … or more, where they come by the thousand: a statement takes several milliseconds and syncs, so there is one a
 * second in the long run, and up to four at once.
 */
const PAUSE_MS = 1000;
const AHEAD_MS = 4000;

/** So many hashes of records wait for a sync. */
const MAX_FRESH = 4096;

/** A store whose records are attested whenever they are made durable, a few hundred at a time. */
export class AttestedStore implements TranscriptStore {
  readonly #store: TranscriptStore;
  readonly #path: string;
  readonly #with: Attesting;
  readonly #checkpoints: CheckpointWriter;
  readonly #roots: Roots;
  /** Hashes of records that aren't in the tree yet. */
  #fresh: string[] = [];
  #identity: LogIdentity | undefined;
  #known: KnownHead | undefined;
  /** The size that was last attested. */
  #attested: number;
  #isNew = true;
  #signed = 0;
  /** So many records are on the disk. */
  #durable: number;
  /** Whether the store has failed, and its caller knows. */
  #hasFailed = false;
  /** The kinds of evidence that can't be kept. */
  readonly #lost = new Set<string>();
  /** One statement after the other: syncs may overlap. It never rejects. */
  #stating: Promise<void> = Promise.resolve();
  /** When the next would be due if there were one each second. */
  #next = 0;
  /** Runs until then, while what is on the disk waits to be stated: a tool may take an hour. */
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  /** @param path the file's real path, beside which the checkpoints are kept. */
  constructor(store: TranscriptStore, path: string, attesting: Attesting, begun?: Begun) {
    this.#store = store;
    this.#path = path;
    this.#with = attesting;
    this.#checkpoints = new CheckpointWriter(path);
    this.#roots = begun?.roots ?? new Roots();
    this.#identity = begun?.identity;
    this.#known = begun?.known;
    this.#attested = begun?.signed ?? 0;
    this.#durable = store.head.count;
  }

  get location(): string {
    return this.#store.location;
  }

  /** How many records the newest checkpoint that it wrote states; 0 if it wrote none. */
  get signed(): number {
    return this.#signed;
  }

  /** Where the files beside it go. */
  get place(): Place | undefined {
    return this.#store.place;
  }

  get head(): Head {
    return this.#store.head;
  }

  async append(drafts: readonly Draft[]): Promise<readonly RecordLine[]> {
    const lines = await this.#watched(() => this.#store.append(drafts));
    for (const { hash, text } of lines) {
      this.#identity ??= identityOfLine(text) ?? undefined;
      this.#fresh.push(hash);
    }
    if (this.#fresh.length > MAX_FRESH) this.#grow();
    return lines;
  }

  async sync(): Promise<void> {
    const { count } = this.#store.head;
    const syncing = this.#watched(() => this.#store.sync());
    // At once: what is appended meanwhile may not be on the disk afterwards. And the disk is waited for anyway.
    const state = this.#due(false);
    await syncing;
    this.#durable = Math.max(this.#durable, count);
    if (state === undefined) this.#later();
    else await this.#state(state);
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#store.read();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    const state = this.#due(true);
    const wasKnown = this.#hasFailed;
    try {
      if (this.#store.head.count > this.#durable) await this.#watched(() => this.#store.sync());
      if (state !== undefined) await this.#state(state);
    } catch (error) {
      // Closing the store itself wouldn't tell it again.
      if (!wasKnown) throw error;
    } finally {
      await this.#stating;
      await this.#store.close();
    }
  }

  async #watched<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      this.#hasFailed ||= error instanceof StoreError;
      throw error;
    }
  }

  /** Takes the records into the tree, which is best done while the disk is at work. */
  #grow(): void {
    for (const hash of this.#fresh) this.#roots.add(hash);
    this.#fresh = [];
  }

  /** What is to be stated of the log as it is now, once it is on the disk. */
  #due(closed: boolean): AttestedState | undefined {
    const identity = this.#identity;
    const { count, hash: head, sealed } = this.#store.head;
    this.#grow();
    const { size } = this.#roots;
    const now = performance.now();
    const isMuch = size - this.#attested >= EVERY && now > this.#next - AHEAD_MS;
    const isLate = size > this.#attested && now > this.#next;
    const isDue = closed || this.#isNew || sealed || isMuch || isLate;
    // An append that isn't done yet has moved the head, and may be taken back.
    if (!isDue || identity === undefined || size !== count) return undefined;
    return { identity, path: this.#path, size, root: this.#roots.root, head, sealed, closed };
  }

  /** States what is on the disk when the next statement is due, if nobody makes more durable until then. */
  #later(): void {
    if (this.#timer !== undefined || this.#closing !== undefined) return;
    if (this.#roots.size <= this.#attested) return;
    const left = Math.max(0, this.#next - performance.now());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        // What isn't on the disk yet has its own sync, which states it.
        const isDurable = this.#store.head.count === this.#durable;
        const state = isDurable && !this.#hasFailed ? this.#due(false) : undefined;
        if (state !== undefined) void this.#state(state);
      },
      Math.ceil(left) + 1,
    );
    // A program may end meanwhile.
    this.#timer.unref();
  }

  /** States what is on the disk by now. */
  #state(state: AttestedState): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = Math.max(this.#next, performance.now()) + PAUSE_MS;
    this.#stating = this.#stating.then(() => this.#attest(state));
    return this.#stating;
  }

  async #attest(state: AttestedState): Promise<void> {
    if (state.size > this.#attested) {
      this.#attested = state.size;
      await this.#try('its checkpoints are not written', () => this.#sign(state));
      await this.#try('its head is not remembered', () => this.#remember(state));
    }
    if (!this.#isNew && !state.closed) return;
    this.#isNew = false;
    await this.#try('where it stands is not noted', async () => this.#with.onState?.(state));
  }

  /** What fails once isn't tried again: nobody knows what a failed sync has left. */
  async #try(what: string, act: () => Promise<void>): Promise<void> {
    if (this.#lost.has(what)) return;
    try {
      await act();
    } catch (error) {
      this.#lost.add(what);
      this.#with.onProblem?.(`${this.location}: ${what}: ${messageOf(error)}`);
    }
  }

  async #sign({ identity: { id }, size, root }: AttestedState): Promise<void> {
    const { signer } = this.#with;
    const hash = fromHex(root);
    if (signer === undefined || hash === undefined) return;
    const text = encodeCheckpoint({ origin: originOf(id), size, root: hash, extensions: [] });
    await this.#checkpoints.append(signNote({ text, signatures: [] }, signer, nodeEd25519));
    this.#signed = size;
  }

  async #remember({ identity, size, root, sealed, path }: AttestedState): Promise<void> {
    const { memory } = this.#with;
    // Without an id of its own, another run may begin just so, and isn't this one.
    if (memory === undefined || !identity.unique) return;
    const { id: log } = identity;
    const seen = { log, kind: 'transcript', size, root, sealed, path, by: 'writer' } as const;
    const known = (): KnownHead | undefined => headAt(headsOf(memory.recall(log)), path);
    let isKept = await memory.remember(seen, this.#known);
    // Somebody verified it meanwhile: this is the log's own writer, so what they saw is a part of it.
    for (let tries = 0; !isKept && tries < 3; tries += 1) {
      isKept = await memory.remember(seen, known());
    }
    this.#known = known();
  }
}
