/**
 * Transcript files: a new one, or one to go on with.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  createVerifier,
  EMPTY_HEAD,
  type Fault,
  type TranscriptRecord,
  type Verdict,
} from '../transcript/index.ts';
import { type Durability } from './append-file.ts';
import { FileStore } from './file-store.ts';
import { nodeFileSystem, type FileSystem, type OpenFile } from './filesystem.ts';
import { holding, newParents } from './hold.ts';
import { pieces } from './pieces.ts';
import { isTaken, pathText, realPath, removeParents } from './place.ts';
import { recordsIn } from './read.ts';
import { cutTornTail } from './recover.ts';
import { setSidecarsAside } from './sidecars.ts';
import { StoreError, type TranscriptStore } from './store.ts';

/** How a transcript file is written. */
export interface FileOptions {
  /** `turn` by default. */
  readonly durability?: Durability;
}

/** How a transcript file is opened. */
export interface OpenOptions extends FileOptions {
  /**
   * Repair a torn tail, which a crash leaves: the bytes of the unfinished last line are set aside in
   * `<path>.torn-<k>`, and a `recovered` record says so. No other fault is ever repaired.
   */
  readonly recover?: boolean;
  /**
   * Looks at the verified records before anything is changed, a torn tail left out. What it throws is thrown,
   * and the file is as it was.
   */
  readonly accept?: (records: AsyncIterable<TranscriptRecord>) => Promise<void>;
}

/**
 * Starts a transcript in a new file; an empty file may be used. Folders that are missing are created. If it
 * fails, what it created is removed again. What lies beside it is of another one that was there, and is set aside.
 *
 * @param system replaces the file system in tests.
 * @throws {StoreError} `exists`, `locked` or `failed`.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`.
 */
export async function createTranscript(
  path: string | URL,
  options: FileOptions = {},
  system: FileSystem = nodeFileSystem,
): Promise<TranscriptStore> {
  const location = pathText(path);
  checkFileOptions(options, ['durability']);
  const { durability = 'turn' } = options;
  // Before there is a file: one that a crash leaves empty would seem to be what is left of the other.
  const isFree = !isTaken(location);
  if (isFree) setSidecarsAside(location, location);
  const folders = newParents(location);
  const made = holding(location, constants.O_CREAT, system, async (held) => {
    if (held.file.stat().size > 0) {
      throw new StoreError(
        'exists',
        `${location}: there is a transcript already; go on with it by resuming it, choose another path, or delete it`,
      );
    }
    if (!isFree) setSidecarsAside(realPath(location), location);
    // fsync(2): syncing a file doesn't make its name in the folder durable.
    if (durability !== 'never') for (const folder of folders) await system.syncDirectory(folder);
    return new FileStore(held, durability, EMPTY_HEAD, 0);
  });
  return made.catch((error: unknown) => {
    removeParents(folders);
    throw error;
  });
}

/**
 * Opens the transcript in a file to go on with it. All of it is verified first.
 *
 * @param system replaces the file system in tests.
 * @throws {StoreError} `missing`, `sealed`, `locked` or `failed`; `broken` if it doesn't verify, with the
 * {@link Fault} as its `cause`. Whatever `accept` throws.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`.
 */
export async function openTranscript(
  path: string | URL,
  options: OpenOptions = {},
  system: FileSystem = nodeFileSystem,
): Promise<TranscriptStore> {
  const location = pathText(path);
  checkFileOptions(options, ['durability', 'recover', 'accept']);
  const { durability = 'turn', recover = false, accept } = options;
  let refusal: { readonly error: unknown } | undefined;
  const opened = holding(location, 0, system, async (held) => {
    const { verdict, size } = await verify(held.file);
    if (verdict.ok && verdict.sealed) {
      throw new StoreError(
        'sealed',
        `${location}: the run in it has ended (its last record is final); start a new transcript`,
      );
    }
    const { count, head: hash, fault } = verdict;
    const head = { count, hash, sealed: false };
    // A crash leaves nothing after a final record, as nothing is ever written there.
    const torn = fault?.reason === 'torn_tail' && !verdict.sealed;
    if (fault !== undefined && (!torn || !recover)) throw broken(location, fault, torn);
    try {
      await accept?.(firstRecords(held.file, count));
    } catch (error) {
      refusal = { error };
      throw error;
    }
    if (fault === undefined) return new FileStore(held, durability, head, size);
    const repair = await cutTornTail(held, size);
    const store = new FileStore(held, durability, head, repair.size);
    // As a first record it is what tells this log from any other.
    const id = count === 0 ? { id: randomUUID() } : {};
    await store.append([{ kind: 'recovered', payload: { ...id, ...repair.torn } }]);
    await store.sync();
    return store;
  });
  return opened.catch((error: unknown) => {
    throw refusal === undefined ? error : refusal.error;
  });
}

/** The first `count` records of a file that was verified as far. */
async function* firstRecords(file: OpenFile, count: number): AsyncGenerator<TranscriptRecord> {
  if (count === 0) return;
  let left = count;
  for await (const record of recordsIn(pieces((into, position) => file.read(into, position)))) {
    yield record;
    left -= 1;
    if (left === 0) return;
  }
}

/**
 * A misspelt option would be a promise that isn't kept.
 *
 * @throws {TypeError} if there is one that isn't known, or no such durability.
 */
export function checkFileOptions(options: FileOptions, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`unknown option '${unknown}'; the options are ${known.join(', ')}`);
  const { durability } = options;
  if (durability !== undefined && !DURABILITIES.includes(durability))
    throw new TypeError(`durability must be one of ${DURABILITIES.join(', ')}`);
}

const DURABILITIES: readonly Durability[] = ['always', 'turn', 'never'];

async function verify(file: OpenFile): Promise<{ verdict: Verdict; size: number }> {
  const verifier = createVerifier({ allowOpen: true });
  let size = 0;
  for await (const piece of pieces((into, position) => file.read(into, position))) {
    verifier.push(piece);
    size += piece.length;
    if (verifier.fault !== undefined) break;
  }
  return { verdict: verifier.end(), size };
}

function broken(location: string, fault: Fault, torn: boolean): StoreError {
  const advice = torn
    ? 'A crash leaves such a line: open it with `recover` to set the line aside and go on'
    : 'It is left as it is; start a new transcript';
  return new StoreError(
    'broken',
    `${location}: line ${fault.line} (record ${fault.seq}) doesn't verify: ${fault.reason}: ${fault.detail}. ${advice}`,
    { cause: fault },
  );
}
