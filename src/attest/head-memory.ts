/**
 * What this user has seen of each log: its largest size at each place and the root at that size, as SSH keeps known hosts.
 *
 * A file a log, named by the log's id, so that runs that end at the same time don't wait for each other; and a
 * file a path, which says what log was last seen there.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../store/store-errors.ts';
import {
  canonicalJson,
  compareCodePoints,
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { alone, privateFolder, readIfThere, replaceFile } from './atomic-file.ts';

/** A state of a log that was seen. */
export interface SeenHead {
  /** The log's id: its first record's hash, or `auditId`. */
  readonly log: string;
  readonly kind: 'transcript' | 'audit';
  /** How many records it had. */
  readonly size: number;
  /** The root of their Merkle tree, 64 hex digits; of an audit log, its last digest. */
  readonly root: string;
  readonly sealed: boolean;
  /** Where: an absolute path. */
  readonly path: string;
  /** Who saw it: the program that wrote it, or one that verified it. */
  readonly by: 'writer' | 'verifier';
}

/** How it was seen, in a word. */
export function seenAs(by: SeenHead['by']): 'written' | 'verified' {
  return by === 'writer' ? 'written' : 'verified';
}

/** Its size in words: an audit log has entries. */
export function sizeWords({ kind, size }: Pick<SeenHead, 'kind' | 'size'>): string {
  const [one, many] = kind === 'audit' ? ['entry', 'entries'] : ['record', 'records'];
  return `${size} ${size === 1 ? one : many}`;
}

/** The largest size that a log was seen with at one place, by its writer or by those who verified it. */
export interface KnownHead extends SeenHead {
  /** When this size was first seen there, in UTC as ISO 8601. */
  readonly time: string;
}

/** What is known of a log, the largest first, or that what was known can't be read any more. */
export type Recalled = readonly KnownHead[] | { readonly problem: string };

/** Which logs were seen at a path. */
interface PathLogs {
  /** The one that is there; null if none is any more, or none was. */
  readonly log: string | null;
  /** Those that were there before, the last one first. */
  readonly before: readonly string[];
}

/**
 * So many logs are known of a path beside the one that is there, the last ones. This is for what is said: what is known of
 * a log itself stays where it is, and bears on its file when that comes back.
 */
const MAX_BEFORE = 64;

/** The memory in a folder. Nothing is written before something is seen. */
export class HeadMemory {
  readonly #heads: string;
  readonly #paths: string;
  readonly #now: () => Date;

  /** @param state the folder of the user's state; it need not be there. */
  constructor(state: string, now: () => Date = () => new Date()) {
    this.#heads = join(state, 'heads');
    this.#paths = join(state, 'paths');
    this.#now = now;
  }

  /** What is known of a log, at all places. */
  recall(log: string): Recalled {
    const path = this.#headPath(log);
    const advice = `Delete ${path} to begin anew`;
    try {
      const text = readIfThere(path);
      if (text === null) return [];
      const heads = headsIn(parse(text));
      if (heads?.every((head) => head.log === log) === true) return heads;
      return { problem: `what was known of this log is damaged. ${advice}` };
    } catch (error) {
      return problem("what was known of this log can't be read", error, advice);
    }
  }

  /** What is known of the log that was last seen at a path, as it was seen there. */
  at(path: string): Recalled {
    const { log } = this.#place(path);
    const recalled = log === null ? [] : this.recall(log);
    return 'problem' in recalled ? recalled : recalled.filter((head) => head.path === path);
  }

  /**
   * Remembers a state, unless as large a one is known of its place. What a writer says is kept beside what a verifier does:
   * it bears on all places, and nobody who verifies may take that away.
   *
   * @param known the largest that was known of the log at this place when the state was compared with it.
   * @returns false if something else has been remembered there meanwhile: compare again.
   * @throws {Error} if it can't be kept, or what is known can't be read: it isn't written over.
   */
  async remember(seen: SeenHead, known: KnownHead | undefined): Promise<boolean> {
    const isOld = known !== undefined && saysAll(known, seen);
    if (isOld && this.#place(seen.path).log === seen.log) return true;
    const path = this.#headPath(seen.log);
    this.#makeFolder(path);
    return alone(path, async () => {
      const current = this.recall(seen.log);
      if ('problem' in current) throw new Error(current.problem);
      if (!isSame(headAt(current, seen.path), known)) return false;
      if (!current.some((head) => saysAll(head, seen))) {
        refuseMore(current, seen);
        await replaceFile(path, textOf(current, { ...seen, time: this.#time() }));
      }
      // Most often it says so already, and a write is two syncs.
      const place = this.#place(seen.path);
      if (place.log !== seen.log) await this.#write(seen.path, seen.log, place);
      return true;
    });
  }

  /** All logs that were seen at a path, the one that was there last first. */
  everAt(path: string): readonly KnownHead[] {
    const { log, before } = this.#place(path);
    return [...(log === null ? [] : [log]), ...before].flatMap(
      (each) => headAt(headsOf(this.recall(each)), path) ?? [],
    );
  }

  /** Whether a log is the last one that was seen where this head was. */
  isLast({ log, path }: KnownHead): boolean {
    return this.#place(path).log === log;
  }

  /** Says that a new log begins at a path, where no other is any more. */
  async leave(path: string): Promise<void> {
    const place = this.#place(path);
    try {
      if (place.log !== null) await this.#write(path, null, place);
    } catch {
      // The first head that is remembered there will say so.
    }
  }

  /** Says which log is at a path now, after those that were there. */
  async #write(path: string, log: string | null, { log: last, before }: PathLogs): Promise<void> {
    const all = [...(last === null ? [] : [last]), ...before];
    const others = [...new Set(all)].filter((each) => each !== log).slice(0, MAX_BEFORE);
    const text = canonicalJson({ before: others, log, path });
    await replaceFile(this.#pathPath(path), `${text}\n`);
  }

  /** All that is known, of all logs at all places. */
  list(): readonly KnownHead[] {
    const names = this.#names();
    return 'problem' in names ? [] : names.flatMap((log) => headsOf(this.recall(log)));
  }

  /** What was known and can't be read any more. */
  problems(): readonly string[] {
    const names = this.#names();
    if ('problem' in names) return [names.problem];
    return names.flatMap((log) => {
      const recalled = this.recall(log);
      return 'problem' in recalled ? [recalled.problem] : [];
    });
  }

  /** Forgets a log, or what is known of it at a path; tells whether there was something. */
  async forget(log: string, at?: string): Promise<boolean> {
    const path = this.#headPath(log);
    if (readIfThere(path) === null) return false;
    return alone(path, async () => {
      const heads = headsOf(this.recall(log));
      const kept = at === undefined ? [] : heads.filter((head) => head.path !== at);
      const [first, ...others] = kept;
      if (first === undefined) rmSync(path, { force: true });
      else if (kept.length < heads.length) await replaceFile(path, textOf(others, first));
      return kept.length < heads.length || heads.length === 0;
    });
  }

  #time(): string {
    return this.#now().toISOString();
  }

  #names(): readonly string[] | { readonly problem: string } {
    try {
      return readdirSync(this.#heads)
        .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
        .map((name) => name.slice(0, 64))
        .toSorted();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      return problem("what is remembered can't be listed", error, FOLDER);
    }
  }

  #makeFolder(path: string): void {
    try {
      privateFolder(path);
    } catch (error) {
      throw new Error(`${messageOf(error)}. ${FOLDER}`, { cause: error });
    }
  }

  #place(path: string): PathLogs {
    try {
      const { log, before } = parse(readIfThere(this.#pathPath(path)) ?? '');
      const others = Array.isArray(before) ? before.filter(isHash) : [];
      return { log: isHash(log) ? log : null, before: others };
    } catch {
      // It is an index: what is known of the logs themselves is elsewhere.
      return { log: null, before: [] };
    }
  }

  #headPath(log: string): string {
    return join(this.#heads, `${log}.json`);
  }

  #pathPath(path: string): string {
    return join(this.#paths, `${createHash('sha256').update(path).digest('hex')}.json`);
  }
}

const FOLDER = 'See that XDG_STATE_HOME, or HOME, names a folder that you can read and write';

/** What couldn't be done, and what to do: deleting a file doesn't help where there is no folder, or it is somebody else's. */
function problem(what: string, error: unknown, advice: string): { readonly problem: string } {
  const isFolder = ['ENOTDIR', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '');
  return { problem: `${what}: ${messageOf(error)}. ${isFolder ? FOLDER : advice}` };
}

/** What is known, if it can be read. */
export function headsOf(recalled: Recalled | undefined): readonly KnownHead[] {
  return recalled === undefined || 'problem' in recalled ? [] : recalled;
}

/** The largest that is known of one place. */
export function headAt(heads: readonly KnownHead[], path: string): KnownHead | undefined {
  return heads.find((head) => head.path === path);
}

const VERSION = 2;
/**
 * A log is known in so many places where it was only verified: whoever has copies verified makes them. What is known isn't
 * given up for more, or those copies could have it forgotten. That holds also of a place where no file is any more: the file
 * may be put back there, rewritten, and what is known of it in another place doesn't bear on it while that one is there.
 */
const MAX_PLACES = 256;

/**
 * What the log's own writer says is always remembered: nobody else can add to that.
 *
 * @throws {Error} if it was verified in one place too many.
 */
function refuseMore(heads: readonly KnownHead[], { by, path }: SeenHead): void {
  if (by === 'writer' || headAt(heads, path) !== undefined) return;
  if (heads.filter((head) => head.by === 'verifier').length < MAX_PLACES) return;
  throw new Error(
    `this log is known in ${MAX_PLACES} other places, and what is known isn't given up: \`hashtape heads forget FILE\` for those that you don't need`,
  );
}

/** Whether a head says of its place what another does, and more or as much. */
function saysAll(head: SeenHead, { path, size, by }: SeenHead): boolean {
  return head.path === path && head.size >= size && (by === 'verifier' || head.by === 'writer');
}

/** The file that keeps these heads, with `head` in the place of those of which it says all. */
function textOf(heads: readonly KnownHead[], head: KnownHead): string {
  const others = heads.filter((other) => !saysAll(head, other));
  const all = [head, ...others].map((each) => ({ ...each }));
  return `${canonicalJson({ heads: all, version: VERSION })}\n`;
}

function parse(text: string): JsonObject {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

/** Undefined if it isn't what is written. */
function headsIn({ heads, version }: JsonObject): readonly KnownHead[] | undefined {
  if (version !== VERSION || !Array.isArray(heads) || heads.length === 0) return undefined;
  const all = heads.flatMap((each) => headIn(isJsonObject(each) ? each : {}) ?? []);
  if (all.length < heads.length) return undefined;
  return all.toSorted(
    (a, b) => b.size - a.size || compareCodePoints(b.by, a.by) || compareCodePoints(a.time, b.time),
  );
}

function headIn(value: JsonObject): KnownHead | undefined {
  const { log, kind, size, root, sealed, by } = value;
  const [path, time] = [value['path'], value['time']].filter(isText);
  if (!isHash(log) || !isHash(root) || !isSize(size)) return undefined;
  if (typeof sealed !== 'boolean' || (by !== 'writer' && by !== 'verifier')) return undefined;
  if (path === undefined || time === undefined || !isKind(kind)) return undefined;
  return { log, kind, size, root, sealed, path, by, time };
}

function isKind(value: JsonValue | undefined): value is SeenHead['kind'] {
  return value === 'transcript' || value === 'audit';
}

function isSize(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string';
}

function isHash(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isSame(left: KnownHead | undefined, right: KnownHead | undefined): boolean {
  return left?.size === right?.size && left?.root === right?.root;
}
