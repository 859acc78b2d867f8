/**
 * Anchors: what was stated of a log in other places. Where they are is noted in `<transcript>.anchors`; git notes are
 * found without.
 *
 * @module
 */
import { dirname } from 'node:path';
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import { fromHex, toHex } from '../evidence/hex.ts';
import { HASH_BYTES } from '../evidence/merkle.ts';
import {
  checkNote,
  encodeCheckpoint,
  EvidenceError,
  parseCheckpoint,
  parseNote,
  type Checkpoint,
  type Note,
  type VerifierKey,
} from '../evidence/index.ts';
import { encodeSignatureLines } from '../evidence/note.ts';
import { meantPath, realPath } from '../store/place.ts';
import { messageOf } from '../store/store-errors.ts';
import { type JsonObject } from '../transcript/index.ts';
import { MAX_ENTRIES, readAnchorEntries } from './anchors-file.ts';
import { checkpointPath } from './checkpoint-file.ts';
import { type Claim } from './compare.ts';
import { onceEach } from './check-once.ts';
import { fileId, readCopy, type Copy } from './copy-file.ts';
import { type FindGitNotes, type GitNotes } from './git.ts';
import { notesOf } from './notes.ts';
import { placeOf } from './place-of.ts';
import { verifyTimestamp } from './timestamp-verify.ts';

/** A statement in another place. */
export interface Anchor extends Claim {
  /** Where it is, or who made it. */
  readonly who: string;
  /** When, as the place says, UTC. */
  readonly since?: string;
  /** Whether somebody who is known vouches for it: else it may show what is wrong, and covers nothing. */
  readonly isVouched: boolean;
}

/** What was found. */
export interface Anchors {
  readonly anchors: readonly Anchor[];
  /** What could not be looked at. */
  readonly notices: readonly string[];
}

/** Where anchors are looked for, and what is believed of them. */
export interface AnchorKnowledge {
  /** The keys whose word on a checkpoint counts. */
  readonly keys: readonly VerifierKey[];
  /** Finds git notes; undefined to look at none. */
  readonly findGitNotes?: FindGitNotes | undefined;
  /** Files of notes, beside those that the file of anchors names. */
  readonly copies?: readonly Copy[] | undefined;
  /** Certificates of timestamp authorities, in PEM; undefined to believe none. */
  readonly authorities?: string | undefined;
}

/**
 * So many checkpoints of the log are looked at in all git notes, and in all copies that the file of anchors names: each has
 * signatures to check, and whoever can write there can make more. Of a copy that the user gives all are: its size bounds them.
 */
const MAX_NOTES = 10_000;

/** What was taken from one source: what somebody writes to one must not be in the way of another. */
class Source {
  /** What it is called when there is too much in it. */
  readonly name: string;
  readonly #most: number;
  readonly #seen = new Set<string>();

  constructor(name: string, most: number) {
    this.name = name;
    this.#most = most;
  }

  /** Takes a statement: tells whether it is new, or too much. */
  take(statement: string): 'new' | 'seen' | 'too much' {
    if (this.#seen.has(statement)) return 'seen';
    if (this.#seen.size >= this.#most) return 'too much';
    this.#seen.add(statement);
    return 'new';
  }
}

/** Looks for what was stated of a log elsewhere. */
export async function findAnchors(
  transcript: string,
  origin: string,
  knowledge: AnchorKnowledge,
): Promise<Anchors> {
  const looked = new Looked(origin, transcript, knowledge);
  const folder = dirname(transcript);
  for (const copy of knowledge.copies ?? []) await looked.given(copy);
  const noted = await knowledge.findGitNotes?.(folder);
  if (noted !== undefined) await looked.noted(noted);
  try {
    const { entries, hasMore } = readAnchorEntries(transcript);
    if (hasMore) looked.notices.add(`only ${MAX_ENTRIES} of its anchors were looked at`);
    for (const entry of entries) {
      if (entry['kind'] === 'file') await looked.copied(entry);
      else looked.stamped(entry);
    }
  } catch (error) {
    looked.notices.add(`where its anchors are can't be read: ${messageOf(error)}`);
  }
  return { anchors: looked.anchors, notices: [...looked.notices] };
}

/** What was looked at so far. */
class Looked {
  readonly anchors: Anchor[] = [];
  readonly notices = new Set<string>();
  readonly #origin: string;
  readonly #transcript: string;
  readonly #knowledge: AnchorKnowledge;
  /** What was stated where, each once. */
  readonly #seen = new Set<string>();
  /** The files of notes: one may be called many names. */
  readonly #files = new Set<string>();
  readonly #named = new Source('the copies that its file of anchors names', MAX_NOTES);
  /** The names and IDs of the known keys. */
  readonly #known: ReadonlySet<string>;
  readonly #ed25519 = onceEach(nodeEd25519);

  constructor(origin: string, transcript: string, knowledge: AnchorKnowledge) {
    this.#origin = origin;
    this.#transcript = transcript;
    this.#knowledge = knowledge;
    this.#known = new Set(knowledge.keys.map(({ name, keyId }) => `${name}+${keyId}`));
  }

  /** Takes what the notes in a text state of the log, if any do. Other logs may have theirs in the same place. */
  async take(bytes: Uint8Array, who: string, source: Source): Promise<boolean> {
    let isOfIt = false;
    for (const each of notesOf(this.#origin, bytes)) {
      const { note, checkpoint } = checkpointIn(each) ?? {};
      if (note === undefined || checkpoint?.origin !== this.#origin) continue;
      isOfIt = true;
      const taken = source.take(`${who}\n${this.#statement(note)}`);
      if (taken === 'seen') continue;
      if (taken === 'too much') {
        this.notices.add(`only ${MAX_NOTES} of its checkpoints in ${source.name} were looked at`);
        break;
      }
      const { ok } = await checkNote(note, this.#knowledge.keys, this.#ed25519);
      // Anybody can write a file, and a note: it counts for the log if somebody known signed it.
      if (!ok) this.notices.add(`what ${who} states is signed by no key that is known here`);
      this.#add(checkpoint.size, toHex(checkpoint.root), who, { isVouched: ok });
    }
    return isOfIt;
  }

  /** What a note says as far as it counts: anybody can add signatures of unknown keys to it, each time others. */
  #statement({ text, signatures }: Note): string {
    const known = signatures.filter(({ name, keyId }) => this.#known.has(`${name}+${keyId}`));
    return `${text}\n${encodeSignatureLines(known)}`;
  }

  /** Looks at git notes. */
  async noted({ notes, problem }: GitNotes): Promise<void> {
    if (problem !== undefined) this.notices.add(problem);
    const source = new Source('git notes', MAX_NOTES);
    for (const { commit, text } of notes) {
      const who = `the git note on commit ${commit.slice(0, 12)}`;
      // Most are of other logs.
      if (text.includes(this.#origin)) await this.take(Buffer.from(text), who, source);
    }
  }

  /** Looks at a copy that the user gave. */
  given(copy: Copy): Promise<void> {
    return this.#copy(copy, copy.path, new Source(copy.path, Infinity));
  }

  /** Looks at a copy of checkpoints, which was read from `place`. */
  async #copy({ path, id, bytes }: Copy, place: string, source: Source): Promise<void> {
    this.#files.add(id);
    if (id === fileId(checkpointPath(this.#transcript))) {
      this.notices.add(`${path} is no copy of its checkpoints: it is their own file`);
      return;
    }
    if (await this.take(bytes, copyWords(path, place, this.#transcript), source)) return;
    // As if it had been cut, or the log been begun anew.
    this.notices.add(`the copy in ${path} states nothing of this log`);
  }

  /** Looks at a copy that the file of anchors names, if it wasn't looked at under another name. */
  async copied({ path }: JsonObject): Promise<void> {
    if (typeof path !== 'string') return;
    try {
      const place = meantPath(path, dirname(this.#transcript));
      const id = fileId(place) ?? place;
      if (this.#files.has(id)) return;
      this.#files.add(id);
      const copy = readCopy(place, path);
      if (copy !== null) await this.#copy(copy, place, this.#named);
      else this.notices.add(`the copy of its checkpoints in ${path} is gone`);
    } catch (error) {
      this.notices.add(`the copy of its checkpoints in ${path} can't be read: ${messageOf(error)}`);
    }
  }

  /** Looks at what an authority stamped. */
  stamped({ kind, size, root, response }: JsonObject): void {
    if (kind !== 'timestamp' || typeof root !== 'string' || typeof response !== 'string') return;
    const hash = fromHex(root);
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return;
    if (hash?.length !== HASH_BYTES) return;
    const { authorities: trusted } = this.#knowledge;
    if (trusted === undefined) {
      this.notices.add(
        'a timestamp beside it is not checked: --tsa-roots gives the certificates to trust',
      );
      return;
    }
    const text = encodeCheckpoint({ origin: this.#origin, size, root: hash, extensions: [] });
    const answer = Buffer.from(response, 'base64');
    const verdict = verifyTimestamp(answer, Buffer.from(text), { trusted });
    if (!verdict.ok) {
      this.notices.add(`a timestamp beside it doesn't hold: ${verdict.detail}`);
      return;
    }
    const since = new Date(verdict.time * 1000).toISOString();
    this.#add(size, root, `a timestamp of ${verdict.authority}`, { isVouched: true, since });
  }

  #add(
    size: number,
    root: string,
    who: string,
    more: { readonly isVouched: boolean; readonly since?: string },
  ): void {
    const key = `${size} ${root} ${more.isVouched} ${more.since ?? ''} ${who}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const words = `${who} states ${size} records`;
    this.anchors.push({ size, root, words, reason: 'root_mismatch', who, ...more });
  }
}

/** Who can write a log can write what lies beside it. */
function copyWords(path: string, copy: string, transcript: string): string {
  const isBeside = dirname(realPath(copy)) === dirname(placeOf(transcript));
  return `the copy in ${path}${isBeside ? ", in the log's own folder" : ''}`;
}

function checkpointIn(bytes: Uint8Array): { note: Note; checkpoint: Checkpoint } | undefined {
  try {
    const note = parseNote(bytes);
    return { note, checkpoint: parseCheckpoint(note.text) };
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}
