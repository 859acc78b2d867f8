/**
 * The writer of an audit log.
 *
 * @module
 */
import { constants } from 'node:fs';
import { systemClock, type Clock } from '../run/clock.ts';
import { AppendFile, type Held } from '../store/append-file.ts';
import { checkFileOptions } from '../store/file.ts';
import { nodeFileSystem, type FileSystem } from '../store/filesystem.ts';
import { holding, newParents } from '../store/hold.ts';
import { pieces } from '../store/pieces.ts';
import { pathText, removeParents } from '../store/place.ts';
import { cutTornTail, type TornTail } from '../store/recover.ts';
import { StoreError } from '../store/store.ts';
import { feed } from '../store/verify-file.ts';
import {
  advanceAudit,
  EMPTY_AUDIT,
  encodeEntry,
  type AuditDraft,
  type AuditEntry,
  type AuditHead,
} from './audit-entry.ts';
import { type AuditFault } from './audit-judge.ts';
import { unreadableAudit, type AuditVerdict } from './audit-verdict.ts';
import { createAuditVerifier, type AuditExpectation } from './audit-verify.ts';

/** How an audit log is opened. */
export interface AuditOptions {
  /** Gives the entries' times; the machine's by default. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Set a torn tail, which a crash leaves, aside in `<path>.torn-<k>`. No other fault is ever repaired. */
  readonly recover?: boolean;
  /**
   * `always` by default: an entry is on disk before it is said to be written. With `never` the operating system
   * takes its time, and only a crash of the machine can lose entries.
   */
  readonly durability?: 'always' | 'never';
}

/** A step, as it is recorded. */
export interface AuditStep {
  readonly goal: string;
  /** The `observationDigest` of what the step was decided on. */
  readonly screen: string;
  readonly action: string;
  readonly outcome: string;
  readonly ok: boolean;
}

/** How an episode ended. */
export interface AuditEnd {
  readonly goal: string;
  readonly success: boolean;
  readonly reason: string;
}

/**
 * An audit log that is open for appending. Its entries are serial: a call may be made before the last resolved, and
 * they land in the order of the calls.
 */
export interface AuditLog {
  readonly location: string;
  /** Where the chain stands. */
  readonly head: AuditHead;
  /** The torn tail that was set aside when it was opened. */
  readonly torn?: TornTail;
  /** Rejects as `append` would now, and adds nothing. An episode asks before it calls itself verified. */
  ready?(): Promise<void>;
  /** Records a step. */
  append(step: AuditStep): Promise<AuditEntry>;
  /** Records how an episode ended. Another may begin after it. */
  close(end: AuditEnd): Promise<AuditEntry>;
  /** Gives the file up. It is idempotent. */
  release(): Promise<void>;
}

/**
 * Opens an audit log, or begins one. A log that is there is verified first. In texts, lone surrogates become U+FFFD, and
 * U+0085, U+2028 and U+2029, where tiny_computer_agent ends lines, become spaces.
 *
 * @param system replaces the file system in tests.
 * @throws {StoreError} `broken` if the log doesn't verify, with the {@link AuditFault} as its `cause`; `locked` or `failed`.
 * Its methods reject with `changed` if somebody else changed, deleted or replaced the file, with `failed` and `closed`.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`; of its methods, if what is to be
 * recorded is no text, no boolean or no digest.
 */
export async function openAudit(
  path: string | URL,
  options: AuditOptions = {},
  system: FileSystem = nodeFileSystem,
): Promise<AuditLog> {
  const location = pathText(path);
  checkFileOptions(options, ['clock', 'recover', 'durability']);
  const durability = options.durability === 'never' ? 'never' : 'always';
  const folders = newParents(location);
  const opened = holding(location, constants.O_CREAT, system, async (held) => {
    const { head, size, torn } = await readHead(held, options.recover === true);
    // fsync(2): syncing a file doesn't make its name in the folder durable.
    if (size === 0 && durability !== 'never') {
      for (const folder of folders) await system.syncDirectory(folder);
    }
    const file = new AppendFile(held, durability, head, size);
    return new FileAudit(file, options.clock ?? systemClock, torn);
  });
  return opened.catch((error: unknown) => {
    removeParents(folders);
    throw error;
  });
}

/** Verifies the audit log at `path`. It never rejects: a file that can't be read has the verdict `unreadable`. */
export async function verifyAuditFile(
  path: string | URL,
  expected: AuditExpectation = {},
): Promise<AuditVerdict> {
  const verifier = createAuditVerifier(expected);
  const problem = await feed(path, verifier);
  return problem === null ? verifier.end() : unreadableAudit(problem);
}

interface Standing {
  readonly head: AuditHead;
  readonly size: number;
  readonly torn?: TornTail;
}

async function readHead(held: Held, recover: boolean): Promise<Standing> {
  const verifier = createAuditVerifier();
  let size = 0;
  for await (const piece of pieces((into, position) => held.file.read(into, position))) {
    verifier.push(piece);
    size += piece.length;
    if (verifier.fault !== undefined) break;
  }
  if (size === 0) return { head: EMPTY_AUDIT, size };
  const { fault, detail } = verifier.end();
  const { head } = verifier;
  if (fault === undefined) return { head, size };
  const isTorn = fault.reason === 'torn_tail';
  if (isTorn && recover) return { head, ...(await cutTornTail(held, size)) };
  throw broken(held.location, detail, fault, isTorn);
}

function broken(location: string, detail: string, fault: AuditFault, isTorn: boolean): StoreError {
  const advice = isTorn
    ? 'A crash leaves such a line: open it with `recover` to set the line aside and go on'
    : 'It is left as it is; start a new log';
  return new StoreError(
    'broken',
    `${location}: the audit log doesn't verify: ${detail}. ${advice}`,
    { cause: fault },
  );
}

class FileAudit implements AuditLog {
  readonly torn?: TornTail;
  readonly #file: AppendFile<AuditHead>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(file: AppendFile<AuditHead>, clock: Pick<Clock, 'now'>, torn?: TornTail) {
    this.#file = file;
    this.#clock = clock;
    if (torn !== undefined) this.torn = torn;
  }

  get location(): string {
    return this.#file.location;
  }

  get head(): AuditHead {
    return this.#file.head;
  }

  async append({ goal, screen, action, outcome, ok }: AuditStep): Promise<AuditEntry> {
    const said = { goal: readable(goal), action: readable(action), outcome: readable(outcome) };
    return this.#write({ kind: 'step', screen, ok, ...said });
  }

  async close({ goal, success, reason }: AuditEnd): Promise<AuditEntry> {
    const outcome = `${success ? 'success' : 'failure'}: ${readable(reason)}`;
    return this.#write({
      kind: 'episode',
      goal: readable(goal),
      outcome,
      ok: success,
      screen: '',
      action: '',
    });
  }

  async ready(): Promise<void> {
    this.#file.requireReady();
  }

  release(): Promise<void> {
    return this.#file.close();
  }

  async #write(draft: Omit<AuditDraft, 'at'>): Promise<AuditEntry> {
    this.#file.requireUsable();
    const { entry, text } = encodeEntry(this.head, { ...draft, at: timeText(this.#clock.now()) });
    const head = advanceAudit(this.head, entry.kind === 'step', entry.ok, entry.digest);
    await this.#file.append(Buffer.from(text), head);
    return entry;
  }
}

/** Where Python's `splitlines` ends lines, though JSON lets these stand: its reader would find cut lines. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

function readable(text: string): string {
  if (typeof text !== 'string')
    throw new TypeError(`an audit entry holds text, not ${typeof text}`);
  return text.toWellFormed().replaceAll(LINE_ENDS, ' ');
}

/** As Python's `isoformat(timespec='seconds')` spells a time in UTC. */
function timeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`;
}
