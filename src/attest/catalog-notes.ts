/**
 * Writes a folder's catalogue, which is attested like any transcript.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { isLink } from '../store/place.ts';
import { linkError } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';
import { type JsonObject } from '../transcript/index.ts';
import { inTurn } from './atomic-file.ts';
import { type AttestedState, type AttestedStore, type Attesting } from './attested-store.ts';
import { catalogPath, readCatalog } from './catalog.ts';
import { createAttested, openAttested } from './open.ts';
import { placeOf } from './place-of.ts';

/** Notes in its folder's catalogue that a log was begun, or how it stands when it is closed. */
export async function noteRun(state: AttestedState, attesting: Attesting): Promise<void> {
  const { identity, path, size, root, sealed, closed } = state;
  const run = { file: basename(path), log: identity.id };
  const payload = closed ? { ...run, end: { size, root, sealed } } : run;
  await note(catalogPath(path), { kind: 'run', payload }, attesting);
}

/** Notes, before a new log is begun at a path, that the one that was listed there is gone. */
export async function noteReplaced(file: string, attesting: Attesting): Promise<void> {
  if (!existsSync(file)) await noteRemoval(placeOf(file), attesting);
}

/** Notes that a file is gone, or another now, because somebody wanted that. False if it isn't in the catalogue. */
export async function noteRemoval(file: string, attesting: Attesting): Promise<boolean> {
  const path = catalogPath(file);
  const listed = (await readCatalog(path))?.files.get(basename(file));
  if (listed === undefined) return false;
  await note(path, { kind: 'removed', payload: { file: listed.file, log: listed.log } }, attesting);
  return true;
}

async function note(
  path: string,
  { kind, payload }: { kind: string; payload: JsonObject },
  { signer, memory, onProblem }: Attesting,
): Promise<void> {
  const at = new Date().toISOString();
  const store = await inTurn(() => openCatalog(path, { signer, memory, onProblem }));
  try {
    // New, or a crash came before this record.
    if (store.head.count === 0) {
      const head = { at, format: 'hashtape/1', id: randomUUID() };
      await store.append([{ kind: 'catalog', payload: head }]);
    }
    await store.append([{ kind, payload: { ...payload, at } }]);
  } finally {
    await store.close();
  }
}

async function openCatalog(path: string, attesting: Attesting): Promise<AttestedStore> {
  // Nobody has named it, so it doesn't lead elsewhere.
  if (isLink(path)) throw linkError(path);
  try {
    if (!existsSync(path)) return await createAttested(path, attesting);
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (!(error instanceof StoreError) || error.code !== 'exists') throw error;
  }
  return openAttested(path, attesting, { recover: true });
}
