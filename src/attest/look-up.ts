/**
 * Looks files up in catalogues: in that of their folder, by name and by log, and in others by log.
 *
 * @module
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../store/store-errors.ts';
import { catalogPath, isCatalog, readCatalog, type Catalog, type Listed } from './catalog.ts';

/** What a catalogue says of a file, and which does. */
export interface Statement extends Omit<Listed, 'file'> {
  /** The file that it says this of: the log may be in another one now. */
  readonly file: string;
  /** Who says so, as the beginning of a sentence. */
  readonly who: string;
  /** Whether it is of the file by its name; else it is of its log alone. */
  readonly isNamed: boolean;
}

/** What was found. */
export interface Statements {
  readonly statements: readonly Statement[];
  /** Why the catalogue of its folder couldn't be asked. */
  readonly problem?: string;
}

/** Tells what catalogues say of the file at a path, which holds the log with this id. */
export type LookUp = (path: string, id: string | undefined) => Promise<Statements>;

/** How to look up. */
export interface LookUpOptions {
  /** Catalogues that are asked beside that of the file's folder. */
  readonly others?: readonly string[];
  /** Verifies a catalogue before it is believed: tells what is wrong with it, or null. */
  readonly check?: (catalog: string) => Promise<string | null>;
}

/** Makes a look-up that reads, and checks, each catalogue once. */
export function lookUp({ others = [], check }: LookUpOptions = {}): LookUp {
  const catalogs = new Map<string, Promise<Read>>();
  const read = (path: string): Promise<Read> => {
    const reading = catalogs.get(path) ?? readChecked(path, check);
    catalogs.set(path, reading);
    return reading;
  };
  return async (path, id) => {
    if (isCatalog(path)) return { statements: [] };
    const own = catalogPath(path);
    const { problem, catalog } = await read(own);
    const statements = statedBy(catalog, id, { catalog: own, name: basename(path) });
    for (const other of others) {
      if (other === own) continue;
      statements.push(...statedBy((await read(other)).catalog, id, { catalog: other }));
    }
    return problem === undefined ? { statements } : { statements, problem };
  };
}

interface Read {
  readonly catalog: Indexed | null;
  readonly problem?: string;
}

interface Indexed extends Pick<Catalog, 'files'> {
  readonly byLog: ReadonlyMap<string, readonly Listed[]>;
}

async function readChecked(path: string, check: LookUpOptions['check']): Promise<Read> {
  try {
    const catalog = await readCatalog(path);
    const wrong = catalog === null ? null : ((await check?.(path)) ?? null);
    if (wrong === null) return { catalog: catalog === null ? null : indexed(catalog) };
    return { catalog: null, problem: `the catalogue of its folder is not believed: ${wrong}` };
  } catch (error) {
    const problem = `the catalogue of its folder can't be read: ${messageOf(error)}`;
    return { catalog: null, problem };
  }
}

function indexed({ files }: Catalog): Indexed {
  const byLog = new Map<string, Listed[]>();
  for (const listed of files.values()) {
    byLog.set(listed.log, [...(byLog.get(listed.log) ?? []), listed]);
  }
  return { files, byLog };
}

/** By name, and by log: a run that was renamed is still the same, and so is one that was gone on with as another file. */
function statedBy(
  read: Indexed | null,
  id: string | undefined,
  { catalog, name }: { readonly catalog: string; readonly name?: string },
): Statement[] {
  if (read === null) return [];
  const folder = dirname(catalog);
  const named = name === undefined ? undefined : read.files.get(name);
  const same = id === undefined ? [] : (read.byLog.get(id) ?? []);
  const who = `the catalogue of ${name === undefined ? folder : 'its folder'}`;
  const others = same.filter((listed) => listed !== named);
  return [
    ...(named === undefined
      ? []
      : [{ ...named, file: join(folder, named.file), who, isNamed: true }]),
    ...others.map((listed) => ({
      ...listed,
      file: join(folder, listed.file),
      who: `${who}, where it is ${listed.file},`,
      isNamed: false,
    })),
  ];
}
