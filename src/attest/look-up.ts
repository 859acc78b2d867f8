/**
 * Looks files up in catalogues: in that of their folder, by name and by log, and in others by log.
 *
 * @module
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../store/store-errors.ts';
import { isFileItself } from './place-of.ts';
import { catalogPath, isCatalog, readCatalog, type Listed } from './catalog.ts';
import { type Covered } from './coverage.ts';

/** What a catalogue says of a file, and which does. */
export interface Statement extends Omit<Listed, 'file'> {
  /** The file that it says this of: the log may be in another one now. */
  readonly file: string;
  /** Who says so, as the beginning of a sentence. */
  readonly who: string;
  /** Whether it is of the file by its name; else it is of its log alone. */
  readonly isNamed: boolean;
  /** What covers the catalogue as far as it says this, where that is out of the reach of who writes it. */
  readonly through: readonly Covered[];
}

/** What a catalogue's own verification came to. */
export interface Believed {
  /** Why it isn't believed. */
  readonly problem?: string;
  /** What covers which of its records. */
  readonly coverage: readonly Covered[];
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
  /** Verifies a catalogue before it is believed. */
  readonly check?: (catalog: string) => Promise<Believed>;
}

/** Makes a look-up that reads, and checks, each catalogue once. */
export function lookUp({ others = [], check }: LookUpOptions = {}): LookUp {
  const index = new Index(check);
  const everywhere = new Set(others);
  let readAll: Promise<void> | undefined;
  return async (path, id) => {
    if (isCatalog(path)) return { statements: [] };
    const own = catalogPath(path);
    const { files, problem, coverage } = await index.read(own);
    readAll ??= index.readEach(others);
    await readAll;
    const named = files.get(basename(path));
    const same = id === undefined ? [] : index.of(id);
    const statements = [
      ...(named === undefined ? [] : [statement(named, own, { own, coverage })]),
      ...same
        .filter(({ listed, catalog }) => catalog === own || isMoved(listed, catalog, everywhere))
        .filter(({ listed }) => listed !== named)
        .map(({ listed, catalog, coverage: its }) =>
          statement(listed, catalog, { own, coverage: its, isElsewhere: true }),
        ),
    ];
    return problem === undefined ? { statements } : { statements, problem };
  };
}

/** Whether a file that another folder's catalogue lists isn't there any more: then it may be this one. */
function isMoved({ file }: Listed, catalog: string, asked: ReadonlySet<string>): boolean {
  return asked.has(catalog) && !isFileItself(join(dirname(catalog), file));
}

interface Read extends Believed {
  readonly files: ReadonlyMap<string, Listed>;
}

/** What a catalogue says of a log. */
interface Entry {
  readonly listed: Listed;
  readonly catalog: string;
  readonly coverage: readonly Covered[];
}

/** What catalogues say of logs, by log: a run that was renamed is still the same, and so is one that was gone on with as another file. */
class Index {
  readonly #check: LookUpOptions['check'];
  readonly #reads = new Map<string, Promise<Read>>();
  readonly #byLog = new Map<string, Entry[]>();

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

  of(log: string): readonly Entry[] {
    return this.#byLog.get(log) ?? [];
  }

  async #take(path: string): Promise<Read> {
    const read = await readChecked(path, this.#check);
    for (const listed of read.files.values()) {
      const known = this.#byLog.get(listed.log) ?? [];
      known.push({ listed, catalog: path, coverage: read.coverage });
      this.#byLog.set(listed.log, known);
    }
    return read;
  }
}

async function readChecked(path: string, check: LookUpOptions['check']): Promise<Read> {
  const nothing: Read = { files: new Map<string, Listed>(), coverage: [] };
  try {
    const catalog = await readCatalog(path);
    if (catalog === null) return nothing;
    const { problem: wrong, coverage } = (await check?.(path)) ?? nothing;
    if (wrong === undefined) return { files: catalog.files, coverage };
    return { ...nothing, problem: `the catalogue of its folder is not believed: ${wrong}` };
  } catch (error) {
    const problem = `the catalogue of its folder can't be read: ${messageOf(error)}`;
    return { ...nothing, problem };
  }
}

function statement(
  listed: Listed,
  catalog: string,
  { own, coverage, isElsewhere = false }: Asked,
): Statement {
  const folder = dirname(catalog);
  const of = `the catalogue of ${catalog === own ? 'its folder' : folder}`;
  const who = isElsewhere ? `${of}, where it is ${listed.file},` : of;
  const through = coverage.filter(
    ({ by, records }) =>
      (by === 'anchored' || by === 'witnessed') && records > (listed.end?.seq ?? Infinity),
  );
  return { ...listed, file: join(folder, listed.file), who, isNamed: !isElsewhere, through };
}

/** How a catalogue came to be asked. */
interface Asked {
  /** That of the file's own folder. */
  readonly own: string;
  readonly coverage: readonly Covered[];
  readonly isElsewhere?: boolean;
}
