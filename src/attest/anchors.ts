/**
 * Anchors: what was stated of a log in other places. Where they are is noted in `<transcript>.anchors`; git notes are
 * found without.
 *
 * @module
 */
import { appendFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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
import { messageOf } from '../store/store-errors.ts';
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from '../transcript/index.ts';
import { bytesIfThere, readIfThere } from './atomic-file.ts';
import { checkpointPath } from './checkpoint-file.ts';
import { type Claim } from './compare.ts';
import { type FindGitNotes } from './git.ts';
import { splitNotes } from './notes.ts';
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

/** The name of the file that says where the anchors of a transcript are. */
export function anchorsPath(transcript: string): string {
  return `${transcript}.anchors`;
}

/** Notes where an anchor is. */
export function noteAnchor(transcript: string, anchor: JsonObject): void {
  appendFileSync(anchorsPath(transcript), `${canonicalJson(anchor)}\n`, { flush: true });
}

/** Where anchors are looked for, and what is believed of them. */
export interface AnchorKnowledge {
  /** The keys whose word on a checkpoint counts. */
  readonly keys: readonly VerifierKey[];
  /** Finds git notes; undefined to look at none. */
  readonly findGitNotes?: FindGitNotes | undefined;
  /** Certificates of timestamp authorities, in PEM; undefined to believe none. */
  readonly authorities?: string | undefined;
}

/** So many entries of the file of anchors are looked at: each may be a file to read. */
const MAX_ENTRIES = 100;

/** Looks for what was stated of a log elsewhere. */
export async function findAnchors(
  transcript: string,
  origin: string,
  knowledge: AnchorKnowledge,
): Promise<Anchors> {
  const looked = new Looked(origin, knowledge);
  const folder = dirname(transcript);
  const { notes = [], problem } = (await knowledge.findGitNotes?.(folder)) ?? {};
  if (problem !== undefined) looked.notices.add(problem);
  for (const { commit, text } of notes) {
    // Git puts a blank line between what is added to a note.
    const bytes = Buffer.from(text.replaceAll(/^(— .*\n)\n+/gm, '$1'));
    await looked.take(bytes, `the git note on commit ${commit.slice(0, 12)}`);
  }
  try {
    const entries = entriesOf(transcript);
    if (entries.length > MAX_ENTRIES)
      looked.notices.add(`only ${MAX_ENTRIES} of its anchors were looked at`);
    for (const entry of entries.slice(0, MAX_ENTRIES)) {
      if (entry['kind'] === 'file') await looked.copied(entry, transcript);
      else looked.stamped(entry);
    }
  } catch (error) {
    looked.notices.add(`where its anchors are can't be read: ${messageOf(error)}`);
  }
  return { anchors: looked.anchors, notices: [...looked.notices] };
}

/** The entries of the file of anchors. What is no entry says nothing, as if the file weren't there. */
function entriesOf(transcript: string): readonly JsonObject[] {
  const lines = new Set((readIfThere(anchorsPath(transcript)) ?? '').split('\n'));
  return [...lines].flatMap((line) => {
    const parsed = parseJson(line);
    return parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : [];
  });
}

/** What was looked at so far. */
class Looked {
  readonly anchors: Anchor[] = [];
  readonly notices = new Set<string>();
  readonly #origin: string;
  readonly #knowledge: AnchorKnowledge;
  readonly #seen = new Set<string>();

  constructor(origin: string, knowledge: AnchorKnowledge) {
    this.#origin = origin;
    this.#knowledge = knowledge;
  }

  /** Takes what the notes in a text state of the log. Other logs may have theirs in the same place. */
  async take(bytes: Uint8Array, who: string): Promise<void> {
    for (const each of splitNotes(bytes).notes) {
      const key = `${who}\n${Buffer.from(each).toString('latin1')}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      const { note, checkpoint } = checkpointIn(each) ?? {};
      if (note === undefined || checkpoint?.origin !== this.#origin) continue;
      const { ok } = await checkNote(note, this.#knowledge.keys, nodeEd25519);
      // Anybody can write a file, and a note: it counts for the log if somebody known signed it.
      if (!ok) this.notices.add(`what ${who} states is signed by no key that is known here`);
      this.#add(checkpoint.size, toHex(checkpoint.root), who, { isVouched: ok });
    }
  }

  /** Looks at a copy of the checkpoints. */
  async copied({ path }: JsonObject, transcript: string): Promise<void> {
    if (typeof path !== 'string') return;
    const copy = resolve(dirname(transcript), path);
    try {
      const bytes = bytesIfThere(copy);
      if (bytes !== null && isSameFile(copy, checkpointPath(transcript))) {
        this.notices.add(`${path} is no copy of its checkpoints: it is their own file`);
      } else if (bytes !== null) await this.take(bytes, copyWords(path, copy, transcript));
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
    const words = `${who} states ${size} records`;
    this.anchors.push({ size, root, words, reason: 'root_mismatch', who, ...more });
  }
}

/** Whether two paths lead to one file, by whatever links. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

/** Who can write a log can write what lies beside it. */
function copyWords(path: string, copy: string, transcript: string): string {
  const isBeside = dirname(realpathSync(copy)) === dirname(realpathSync(transcript));
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
