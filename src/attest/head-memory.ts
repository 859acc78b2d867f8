/**
 * What this user has seen of each log: its largest size and the root at that size, as SSH keeps known hosts.
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
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { alone, privateFolder, readIfThere, replaceFile } from './atomic-file.ts';

/** A state of a log that was seen. */
export interface SeenHead {
  /** The log's id: its first record's hash. */
  readonly log: string;
  /** How many records it had. */
  readonly size: number;
  /** The root of their Merkle tree, 64 hex digits. */
  readonly root: string;
  readonly sealed: boolean;
  /** Where: an absolute path. */
  readonly path: string;
  /** Who saw it: the program that wrote it, or one that verified it. */
  readonly by: 'writer' | 'verifier';
}

/** What is known of a log. */
export interface KnownHead extends SeenHead {
  /** When this size was first seen, in UTC as ISO 8601. */
  readonly time: string;
  /** When the log was first seen. */
  readonly since: string;
}

/** What is known, or that what was known can't be read any more. */
export type Recalled = KnownHead | null | { readonly problem: string };

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

  /** What is known of a log. */
  recall(log: string): Recalled {
    const path = this.#headPath(log);
    const advice = `Delete ${path} to begin anew`;
    try {
      const text = readIfThere(path);
      if (text === null) return null;
      const head = headIn(parse(text));
      if (head?.log === log) return head;
      return { problem: `what was known of this log is damaged. ${advice}` };
    } catch (error) {
      return {
        problem: `what was known of this log can't be read: ${messageOf(error)}. ${advice}`,
      };
    }
  }

  /** What is known of the log that was last seen at a path. */
  at(path: string): Recalled {
    const log = this.#logAt(path);
    if (log === null) return null;
    const recalled = this.recall(log);
    const known = knownOf(recalled);
    // Since then it may have been seen elsewhere.
    return known === null ? recalled : { ...known, path };
  }

  /**
   * Remembers a state, unless as large a one is known.
   *
   * @param known what was recalled when the state was compared with it.
   * @returns false if something else has been remembered meanwhile: compare again.
   * @throws {Error} if it can't be kept, or what is known can't be read: it isn't written over.
   */
  async remember(seen: SeenHead, known: KnownHead | null): Promise<boolean> {
    const isOld = known !== null && known.size >= seen.size;
    const isPlaced = known?.path === seen.path && this.#logAt(seen.path) === seen.log;
    if (isOld && isPlaced) return true;
    const path = this.#headPath(seen.log);
    privateFolder(path);
    return alone(path, async () => {
      const current = this.recall(seen.log);
      if (current !== null && 'problem' in current) throw new Error(current.problem);
      if (current !== null && !isSame(current, known)) return false;
      const time = this.#now().toISOString();
      const head = isOld
        ? { ...known, path: seen.path }
        : { ...seen, time, since: known?.since ?? time };
      await replaceFile(path, `${canonicalJson({ ...head, version: VERSION })}\n`);
      // Most often it says so already, and a write is two syncs.
      if (this.#logAt(seen.path) !== seen.log) {
        const place = canonicalJson({ log: seen.log, path: seen.path });
        await replaceFile(this.#pathPath(seen.path), `${place}\n`);
      }
      return true;
    });
  }

  /** Says that a new log begins at a path, where no other is any more. */
  leave(path: string): void {
    try {
      rmSync(this.#pathPath(path), { force: true });
    } catch {
      // The first head that is remembered there will say so.
    }
  }

  /** All logs that are known. */
  list(): readonly KnownHead[] {
    return this.#names().flatMap((name) => knownOf(this.recall(name.slice(0, 64))) ?? []);
  }

  /** Forgets a log; tells whether it was known. What is known of paths leads nowhere then. */
  async forget(log: string): Promise<boolean> {
    const path = this.#headPath(log);
    if (readIfThere(path) === null) return false;
    return alone(path, () => {
      rmSync(path, { force: true });
      return true;
    });
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#heads)
        .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
        .toSorted();
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
      throw error;
    }
  }

  #logAt(path: string): string | null {
    try {
      const { log } = parse(readIfThere(this.#pathPath(path)) ?? '');
      return isHash(log) ? log : null;
    } catch {
      // It is an index: what is known of the log itself is elsewhere.
      return null;
    }
  }

  #headPath(log: string): string {
    return join(this.#heads, `${log}.json`);
  }

  #pathPath(path: string): string {
    return join(this.#paths, `${createHash('sha256').update(path).digest('hex')}.json`);
  }
}

/** What is known, if it is. */
export function knownOf(recalled: Recalled | undefined): KnownHead | null {
  return recalled && 'log' in recalled ? recalled : null;
}

const VERSION = 1;

function parse(text: string): JsonObject {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

function headIn(value: JsonObject): KnownHead | null {
  const { log, size, root, sealed, by, version } = value;
  const [path, time, since] = [value['path'], value['time'], value['since']].filter(isText);
  if (version !== VERSION || !isHash(log) || !isHash(root) || !isSize(size)) return null;
  if (typeof sealed !== 'boolean' || (by !== 'writer' && by !== 'verifier')) return null;
  if (path === undefined || time === undefined || since === undefined) return null;
  return { log, size, root, sealed, path, by, time, since };
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

function isSame(left: KnownHead, right: KnownHead | null): boolean {
  return right !== null && left.size === right.size && left.root === right.root;
}
