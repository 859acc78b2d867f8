/**
 * Looks files up in catalogues: in that of their folder, by name and by log, and in others by log.
 *
 * @module
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../store/store-errors.ts';
import { isFileItself } from './place-of.ts';
import { catalogPath, isCatalog, readCatalog, type Listed } from './catalog.ts';

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
  const index = new Index(check);
  const everywhere = new Set(others);
  let readAll: Promise<void> | undefined;
  return async (path, id) => {
    if (isCatalog(path)) return { statements: [] };
    const own = catalogPath(path);
    const { files, problem } = await index.read(own);
    readAll ??= index.readEach(others);
    await readAll;
    const named = files.get(basename(path));
    const same = id === undefined ? [] : index.of(id);
    const statements = [
      ...(named === undefined ? [] : [statement(named, own, own)]),
      ...same
        .filter(({ listed, catalog }) => catalog === own || isMoved(listed, catalog, everywhere))
        .filter(({ listed }) => listed !== named)
        .map(({ listed, catalog }) => statement(listed, catalog, own, true)),
    ];
    return problem === undefined ? { statements } : { statements, problem };
  };
}

/** Whether a file that another folder's catalogue lists isn't there any more: then it may be this one. */
function isMoved({ file }: Listed, catalog: string, asked: ReadonlySet<string>): boolean {
  return asked.has(catalog) && !isFileItself(join(dirname(catalog), file));
}

interface Read {
  readonly files: ReadonlyMap<string, Listed>;
  readonly problem?: string;
}

/** What catalogues say of logs, by log: a run that was renamed is still the same, and so is one that was gone on with as another file. */
class Index {
  readonly #check: LookUpOptions['check'];
  readonly #reads = new Map<string, Promise<Read>>();
  readonly #byLog = new Map<string, { listed: Listed; catalog: string }[]>();

  constructor(check: LookUpOptions['check']) {
    this.#check = check;
  }

  /** Reads a catalogue once. It never rejects. */
  read(catalog: string): Promise<Read> {
    const reading = this.#reads.get(catalog) ?? this.#take(catalog);
    this.#reads.set(catalog, reading);
    return reading;
  }

  /** Reads them one after the other: a system lets a process open only so many files. */
  async readEach(catalogs: readonly string[]): Promise<void> {
    for (const catalog of catalogs) await this.read(catalog);
  }

  of(log: string): readonly { readonly listed: Listed; readonly catalog: string }[] {
    return this.#byLog.get(log) ?? [];
  }

  async #take(path: string): Promise<Read> {
    const read = await readChecked(path, this.#check);
    for (const listed of read.files.values()) {
      const known = this.#byLog.get(listed.log) ?? [];
      known.push({ listed, catalog: path });
      this.#byLog.set(listed.log, known);
    }
    return read;
  }
}

async function readChecked(path: string, check: LookUpOptions['check']): Promise<Read> {
  const nothing = new Map<string, Listed>();
  try {
    const catalog = await readCatalog(path);
    const wrong = catalog === null ? null : ((await check?.(path)) ?? null);
    if (wrong === null) return { files: catalog?.files ?? nothing };
    return { files: nothing, problem: `the catalogue of its folder is not believed: ${wrong}` };
  } catch (error) {
    const problem = `the catalogue of its folder can't be read: ${messageOf(error)}`;
    return { files: nothing, problem };
  }
}

function statement(listed: Listed, catalog: string, own: string, isElsewhere = false): Statement {
  const folder = dirname(catalog);
  const of = `the catalogue of ${catalog === own ? 'its folder' : folder}`;
  const who = isElsewhere ? `${of}, where it is ${listed.file},` : of;
  return { ...listed, file: join(folder, listed.file), who, isNamed: !isElsewhere };
}
