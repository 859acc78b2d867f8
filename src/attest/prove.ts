/**
 * Proves one record of a log: its line, its path to the root, and the signed checkpoint with that root, in one file.
 *
 * @module
 */
import { constants } from 'node:fs';
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import { fromHex, toHex } from '../evidence/hex.ts';
import {
  checkInclusion,
  checkNote,
  encodeTlogProof,
  leafHash,
  proveInclusion,
  type VerifierKey,
} from '../evidence/index.ts';
import { nodeFileSystem, type OpenFile } from '../store/filesystem.ts';
import { pathText, realPath } from '../store/place.ts';
import { shellPath } from '../store/shell-path.ts';
import { openError, readError } from '../store/store-errors.ts';
import { readCheckpoints, type CheckpointFile, type StoredCheckpoint } from './checkpoint-file.ts';
import { readClaims } from './claimed-hashes.ts';
import { originOf } from './log-identity.ts';
import { LogTree } from './log-tree.ts';
import { readLoneRecord } from './lone-record.ts';
import { Blocks, loadBlocks, saveBlocks } from './tree-cache.ts';

/** How to prove. */
export interface ProveOptions {
  /** The keys that whoever checks it knows: a checkpoint that one of them signed is taken rather than a newer one. */
  readonly keys?: readonly VerifierKey[] | undefined;
  /** The folder of what can be computed again; undefined to keep nothing. */
  readonly cache?: string | undefined;
  /** Is told how far the log was read. It must not throw. */
  readonly onProgress?: ((bytesRead: number, totalBytes: number) => void) | undefined;
}

/** A record can't be proven. The message says what to do about it. */
export class ProveError extends Error {
  override readonly name = 'ProveError';
}

/**
 * The text of a proof file (C2SP tlog-proof) of the record at `seq`, from 0, by the newest checkpoint beside the log
 * that covers it, one by a known key if there is one. The record's line is its extra data.
 *
 * The log isn't verified: the hashes that its records claim must lead to the checkpoint's root, and the record must
 * have its hash. Whether somebody known signed it is for `checkProof` to say.
 *
 * @throws {ProveError} if no checkpoint covers the record, or the log isn't what the checkpoint states.
 * @throws {StoreError} `missing` or `failed` if the log can't be read.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`.
 */
export async function proveRecord(
  path: string | URL,
  seq: number,
  options: ProveOptions = {},
): Promise<string> {
  const location = pathText(path);
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw new ProveError(`there is no record ${seq}: records are numbered from 0`);
  }
  const file = await opened(location);
  try {
    // Before the log is read: what a writer at work states later would not be in what was read.
    const stored = readCheckpoints(realPath(location));
    const log = await idOf(file, location);
    const covering = await newestOf(stored?.checkpoints ?? [], seq, options.keys ?? []);
    if (covering === undefined) throw uncovered(file, location, seq, stored);
    return await proveBy(covering, { file, location, log, seq }, options);
  } catch (error) {
    throw error instanceof ProveError ? error : readError(location, error);
  } finally {
    // A file that was only read has nothing to lose when closing it fails.
    await file.close().catch(() => undefined);
  }
}

/** The newest that covers a record; one by a known key, if there is one. */
async function newestOf(
  checkpoints: readonly StoredCheckpoint[],
  seq: number,
  keys: readonly VerifierKey[],
): Promise<StoredCheckpoint | undefined> {
  const covering = checkpoints.filter(({ checkpoint }) => checkpoint.size > seq).toReversed();
  for (const each of covering) {
    const { verified, wrong } = await checkNote(each.note, keys, nodeEd25519);
    const isKnown = verified.some(({ key }) => key.kind === 'ed25519');
    if (isKnown && wrong.length === 0) return each;
  }
  return covering[0];
}

async function opened(location: string): Promise<OpenFile> {
  try {
    // Opening a pipe could wait for ever.
    if (nodeFileSystem.stat(location)?.regular === false) {
      throw new ProveError(`${location}: it is no plain file; name a transcript`);
    }
    return await nodeFileSystem.open(location, constants.O_RDONLY);
  } catch (error) {
    throw error instanceof ProveError ? error : openError(location, error);
  }
}

/** The record that is wanted, and the log that it is in. */
interface Wanted {
  readonly file: OpenFile;
  readonly location: string;
  /** The log's id. */
  readonly log: string;
  readonly seq: number;
}

/** Proves by the cached tree if that leads to the root, else by one that is computed anew. */
async function proveBy(
  { note, number, checkpoint }: StoredCheckpoint,
  wanted: Wanted,
  { cache, onProgress }: ProveOptions,
): Promise<string> {
  const { file, log, location, seq: index } = wanted;
  if (checkpoint.origin !== originOf(log)) {
    throw broken(
      location,
      `checkpoint ${number} beside it is of another log, ${checkpoint.origin}`,
    );
  }
  const total = file.stat().size;
  const onBlock = (end: number): void => onProgress?.(end, total);
  const cached = cache === undefined ? new Blocks() : loadBlocks(cache, log);
  let problem = '';
  for (const blocks of cached.count === 0 ? [cached] : [cached, new Blocks()]) {
    const known = blocks.count;
    const found = await proveWith(blocks, wanted, checkpoint, onBlock);
    if ('problem' in found) {
      ({ problem } = found);
      continue;
    }
    if (cache !== undefined && blocks.count > known) await saveBlocks(cache, log, blocks);
    return encodeTlogProof({ index, path: found.path, note, extra: found.line });
  }
  const { size } = checkpoint;
  throw broken(location, `checkpoint ${number} beside it states ${size} records, and ${problem}`);
}

type Found =
  | { readonly path: readonly Uint8Array[]; readonly line: Uint8Array }
  | { readonly problem: string };

async function proveWith(
  blocks: Blocks,
  { file, location, seq }: Wanted,
  { size, root }: { readonly size: number; readonly root: Uint8Array },
  onBlock: (end: number) => void,
): Promise<Found> {
  const tree = new LogTree(file, { seq, size }, blocks);
  const problem = await tree.read(onBlock);
  if (problem !== undefined) return { problem };
  const { start, end } = tree.line;
  if (end - start > MAX_RECORD_BYTES) {
    const limit = `a proof file holds records of up to ${MAX_RECORD_BYTES}`;
    throw new ProveError(`${location}: record ${seq} has ${end - start} bytes, and ${limit}`);
  }
  const line = readAll(file, start, end);
  const lone = readLoneRecord(line);
  if ('reason' in lone) return { problem: `record ${seq} doesn't hold: ${lone.detail}` };
  if (lone.record.seq !== seq) return { problem: `record ${seq} says it is ${lone.record.seq}` };
  const path = proveInclusion(seq, size, tree.hashes);
  const leaf = leafHash(fromHex(lone.record.hash) ?? line);
  if (checkInclusion({ index: seq, size, leaf, root }, path)) return { path, line };
  return { problem: "its records' hashes have another root" };
}

/** In base64, and with all else that is in it, it must stay below the million bytes that a proof file may have. */
const MAX_RECORD_BYTES = 700_000;

function readAll(file: OpenFile, start: number, end: number): Uint8Array {
  const line = new Uint8Array(end - start);
  for (let done = 0; done < line.length;) {
    const got = file.read(line.subarray(done), start + done);
    if (got === 0) break;
    done += got;
  }
  return line;
}

/** The id of the log: what its first record claims. */
async function idOf(file: OpenFile, location: string): Promise<string> {
  let id: string | undefined;
  await readClaims(file, 0, (hash) => {
    id = hash === null ? undefined : toHex(hash);
    return false;
  });
  if (id !== undefined) return id;
  throw new ProveError(
    `${location}: it doesn't begin with a transcript's record; only records of transcripts can be proven`,
  );
}

function uncovered(
  file: OpenFile,
  location: string,
  seq: number,
  stored: CheckpointFile | null,
): ProveError {
  const { size } = file.stat();
  const tail = Buffer.from(readAll(file, Math.max(0, size - LAST_BYTES), size)).toString('latin1');
  const last = /"seq":(\d+)\}\n$/.exec(tail)?.[1];
  if (last !== undefined && Number(last) < seq) {
    return new ProveError(`${location}: there is no record ${seq}: the last is record ${last}`);
  }
  const bad = stored?.damage ?? stored?.problem;
  if (bad !== undefined) return broken(location, `its checkpoints can't be used (${bad})`);
  const torn = last === undefined ? '; its last line is unfinished, as a crash leaves it' : '';
  return new ProveError(
    `${location}: no checkpoint covers record ${seq}${torn}. \`hashtape checkpoint ${shellPath(location)}\` makes one`,
  );
}

/** As much of a file's end as holds the last record's number. */
const LAST_BYTES = 40;

function broken(location: string, problem: string): ProveError {
  return new ProveError(
    `${location}: ${problem}, so nothing can be proven. \`hashtape verify ${shellPath(location)}\` tells what is wrong`,
  );
}
