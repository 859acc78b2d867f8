/**
 * Opens transcripts so that they are attested: a new one, or one to go on with.
 *
 * @module
 */
import { existsSync, renameSync } from 'node:fs';
import {
  createTranscript,
  openTranscript,
  type FileOptions,
  type OpenOptions,
} from '../store/file.ts';
import { pathText, realPath } from '../store/place.ts';
import { readRecords } from '../store/read.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { type TranscriptRecord } from '../transcript/index.ts';
import { AttestedStore, recalled, type Attesting, type Begun } from './attested-store.ts';
import { anchorsPath } from './anchors.ts';
import { checkpointPath, readCheckpoints } from './checkpoint-file.ts';
import { compare, wantRoots, type EvidenceFault } from './compare.ts';
import { identityOf, type LogIdentity } from './log-identity.ts';
import { Roots } from './roots.ts';

/**
 * Starts an attested transcript in a new file.
 *
 * @throws {StoreError} as `createTranscript` does.
 */
export async function createAttested(
  path: string | URL,
  attesting: Attesting,
  options: FileOptions = {},
): Promise<AttestedStore> {
  refuseUnsynced(options);
  const store = await createTranscript(path, options);
  try {
    const real = realPath(pathText(path));
    for (const old of [checkpointPath(real), anchorsPath(real)]) setAside(old);
    return new AttestedStore(store, real, attesting);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Keeps under another name what was said of the log that was here before: it would be wrong of the new one. */
function setAside(path: string): void {
  if (!existsSync(path)) return;
  let k = 1;
  while (existsSync(`${path}.old-${k}`)) k += 1;
  renameSync(path, `${path}.old-${k}`);
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
  // A repair has added a record, after what was there had been compared.
  if (store.head.count > (begun?.roots.size ?? 0)) begun = await withAll(store, begun);
  return new AttestedStore(store, realPath(location), attesting, begun);
}

async function withAll(
  store: TranscriptStore,
  begun: Begun | undefined,
): Promise<Begun | undefined> {
  let all = begun;
  for await (const record of readRecords(store)) {
    all ??= { identity: identityOf(record), roots: new Roots(), known: null, signed: 0 };
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
  { memory }: Attesting,
  accept: OpenOptions['accept'],
): Promise<Begun | undefined> {
  const path = realPath(location);
  const stored = readCheckpoints(path);
  const roots = new Roots();
  wantRoots(roots, { stored, known: null });
  let identity: LogIdentity | undefined;
  const iterator = records[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<TranscriptRecord>> => {
    const result = await iterator.next();
    if (result.done === true) return result;
    if (identity === undefined) {
      identity = identityOf(result.value);
      const known = memory === undefined ? null : recalled(memory, identity.id);
      wantRoots(roots, { stored: null, known });
    }
    roots.add(result.value.hash);
    return result;
  };
  // Whoever stops looking can't end it: what wasn't looked at is compared all the same.
  await accept?.({ [Symbol.asyncIterator]: () => ({ next }) });
  while ((await next()).done !== true);
  if (identity === undefined) return undefined;
  const known = memory === undefined ? null : recalled(memory, identity.id);
  const fault = compare(roots, { id: identity.id, stored, known });
  if (fault !== undefined) throw refused(location, fault);
  if (stored?.damage !== undefined) throw damaged(location, stored.damage);
  const signed = stored?.checkpoints.at(-1)?.checkpoint.size ?? 0;
  return { identity, roots, known, signed };
}

function refused(location: string, { reason, detail }: EvidenceFault): StoreError {
  return new StoreError(
    'broken',
    `${location}: ${reason}: ${detail}. It is left as it is: to go on with it would hide that. Put back the whole file, or start a new transcript`,
  );
}

function damaged(location: string, damage: string): StoreError {
  return new StoreError(
    'broken',
    `${location}: its checkpoints are damaged: ${damage}. Move ${location}.checkpoint away to go on without them`,
  );
}
