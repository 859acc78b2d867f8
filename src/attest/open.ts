/**
 * Opens transcripts so that they are attested: a new one, or one to go on with.
 *
 * @module
 */
import { statSync } from 'node:fs';
import {
  createTranscript,
  openTranscript,
  type FileOptions,
  type OpenOptions,
} from '../store/file.ts';
import { isTaken, pathText, realPath } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { type TranscriptRecord } from '../transcript/index.ts';
import { AttestedStore, type Attesting, type Begun } from './attested-store.ts';
import { bearingOn, seenAt } from './bearing.ts';
import { readCheckpoints, type CheckpointFile } from './checkpoint-file.ts';
import { compare, wantRoots, type EvidenceFault } from './compare.ts';
import {
  headAt,
  headsOf,
  seenAs,
  sizeWords,
  type HeadMemory,
  type KnownHead,
} from './head-memory.ts';
import { identityIn } from './identity-in.ts';
import { identityOf, type LogIdentity } from './log-identity.ts';
import { lookUp, type Statement } from './look-up.ts';
import { placesOf } from './place-of.ts';
import { replacedBy } from './replaced.ts';
import { Roots } from './roots.ts';

/**
 * Starts an attested transcript in a new file.
 *
 * @throws {StoreError} as `createTranscript` does; `broken` if the file is what is left of a log that is remembered.
 */
export async function createAttested(
  path: string | URL,
  attesting: Attesting,
  options: FileOptions = {},
): Promise<AttestedStore> {
  refuseUnsynced(options);
  const location = pathText(path);
  const { memory } = attesting;
  // Before there is a file: one that a crash leaves empty would seem to be what is left of another log.
  const isFree = !isTaken(location);
  const places = placesOf(location);
  if (!isFree) refuseEmptied(location, headsOf(seenAt(memory, places)));
  for (const place of isFree ? places : []) await memory?.leave(place);
  const store = await createTranscript(path, options);
  return orClosed(store, async () => {
    const real = realPath(location);
    if (!isFree) await memory?.leave(real);
    return new AttestedStore(store, real, attesting);
  });
}

/** Who empties a log may not have a new one cover it up: one that is begun anew on purpose is removed first. */
function refuseEmptied(location: string, known: readonly KnownHead[]): void {
  const was = known.find(({ size }) => size > 0);
  if (was === undefined || !isEmpty(location)) return;
  throw new StoreError(
    'broken',
    `${location}: rolled_back: by this machine's memory of heads a log of ${sizeWords(was)} was ${seenAs(was.by)} here at ${was.time}, and the file is empty. Put it back, or, if it was emptied on purpose, remove the file`,
  );
}

function isEmpty(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 0;
}

/**
 * Opens an attested transcript to go on with it. Before anything is changed, a torn tail included, it is compared
 * with its checkpoints and with what is remembered of it: a log that was cut isn't sealed at its new size.
 *
 * @throws {StoreError} as `openTranscript` does; `broken` if the evidence says otherwise.
 */
export async function openAttested(
  path: string | URL,
  attesting: Attesting,
  options: OpenOptions = {},
): Promise<AttestedStore> {
  refuseUnsynced(options);
  const location = pathText(path);
  let begun: Begun | undefined;
  const accept = async (records: AsyncIterable<TranscriptRecord>): Promise<void> => {
    begun = await compared(records, location, attesting, options.accept);
  };
  const store = await openTranscript(path, { ...options, accept });
  return orClosed(store, async () => {
    // A repair has added a record, after what was there had been compared.
    if (store.head.count > (begun?.roots.size ?? 0)) begun = await withAll(store, begun);
    return new AttestedStore(store, realPath(location), attesting, begun);
  });
}

/** What is made of a store; if it can't be, the store is given up. */
async function orClosed<T>(store: TranscriptStore, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

async function withAll(
  store: TranscriptStore,
  begun: Begun | undefined,
): Promise<Begun | undefined> {
  let all = begun;
  for await (const record of readRecords(store)) {
    all ??= { identity: identityOf(record), roots: new Roots(), known: undefined, signed: 0 };
    if (record.seq >= all.roots.size) all.roots.add(record.hash);
  }
  return all;
}

/** A log that isn't on the disk must not be stated: losing it would look as if somebody had cut it. */
function refuseUnsynced({ durability }: FileOptions): void {
  if (durability !== 'never') return;
  throw new TypeError(
    "an attested transcript can't have durability 'never': take 'turn' or 'always'",
  );
}

async function compared(
  records: AsyncIterable<TranscriptRecord>,
  location: string,
  { memory, onProblem }: Attesting,
  accept: OpenOptions['accept'],
): Promise<Begun | undefined> {
  const path = realPath(location);
  const stored = readCheckpoints(path);
  const listed = await listedFor(path, (problem) => onProblem?.(`${location}: ${problem}`));
  const log = new Log(memory, placesOf(location));
  wantRoots(log.roots, { stored, listed });
  await readAll(records, log, accept);
  const { roots, identity, known } = log;
  const { places } = log;
  const replaced = replacedBy(identity?.id, places, memory);
  const stated = { places, id: identity?.id ?? null, stored, known, listed, replaced };
  refuseUnfit(location, compare(roots, stated), stored);
  if (identity === undefined) return undefined;
  const signed = stored?.checkpoints.at(-1)?.checkpoint.size ?? 0;
  return { identity, roots, known: headAt(known, path), signed };
}

function refuseUnfit(
  location: string,
  fault: EvidenceFault | undefined,
  stored: CheckpointFile | null,
): void {
  if (fault !== undefined) throw refused(location, fault);
  const unfit = stored?.damage ?? stored?.problem;
  if (unfit !== undefined) throw damaged(location, unfit);
}

/** What the folder's catalogue says of the log. */
async function listedFor(
  path: string,
  onProblem: (problem: string) => void,
): Promise<readonly Statement[]> {
  const identity = await identityIn(path);
  const { statements, problem } = await lookUp()(path, identity?.id);
  if (problem !== undefined) onProblem(problem);
  return statements;
}

/** Lets `accept` look at the records. Whoever stops looking can't end it: the rest is compared all the same. */
async function readAll(
  records: AsyncIterable<TranscriptRecord>,
  log: Log,
  accept: OpenOptions['accept'],
): Promise<void> {
  const iterator = records[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<TranscriptRecord>> => {
    const result = await iterator.next();
    if (result.done !== true) log.add(result.value);
    return result;
  };
  await accept?.({ [Symbol.asyncIterator]: () => ({ next }) });
  while ((await next()).done !== true);
}

/** A log as its records come. */
class Log {
  readonly roots = new Roots();
  readonly #memory: HeadMemory | undefined;
  /** All paths of the file. */
  places: readonly string[];
  identity: LogIdentity | undefined;
  /** What was known at its first record, as others may verify it meanwhile; of an empty one, what was there. */
  known: readonly KnownHead[];

  /** @param places those that its name comes to. */
  constructor(memory: HeadMemory | undefined, places: readonly string[]) {
    this.#memory = memory;
    this.places = places;
    this.known = headsOf(seenAt(memory, places));
  }

  add(record: TranscriptRecord): void {
    if (this.identity === undefined) {
      this.identity = identityOf(record);
      const heads = headsOf(this.#memory?.recall(this.identity.id));
      const bearing = bearingOn(this.places, heads, this.identity);
      this.places = bearing.places;
      this.known = bearing.heads;
      wantRoots(this.roots, { known: this.known });
    }
    this.roots.add(record.hash);
  }
}

function refused(location: string, { reason, detail, undo }: EvidenceFault): StoreError {
  const purpose =
    undo === undefined ? ', or go on there' : `; or, if it was done on purpose, ${undo}`;
  return new StoreError(
    'broken',
    `${location}: ${reason}: ${detail}. It is left as it is: to go on with it would hide that. Put back the whole file${purpose}`,
  );
}

function damaged(location: string, damage: string): StoreError {
  return new StoreError(
    'broken',
    `${location}: its checkpoints can't be used: ${damage}. Move ${location}.checkpoint away to go on without them`,
  );
}
