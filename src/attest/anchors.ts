/**
 * Anchors: what was stated of a log in other places. Where they are is noted in `<transcript>.anchors`; git notes are
 * found without.
 *
 * @module
 */
import { appendFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { toHex } from '../evidence/hex.ts';
import { EvidenceError, parseCheckpoint, parseNote } from '../evidence/index.ts';
import { messageOf } from '../store/store-errors.ts';
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from '../transcript/index.ts';
import { bytesIfThere, readIfThere } from './atomic-file.ts';
import { type Claim } from './compare.ts';
import { type FindGitNotes } from './git.ts';
import { splitNotes } from './notes.ts';

/** A statement in another place. */
export interface Anchor extends Claim {
  /** Where it is, or who made it. */
  readonly who: string;
  /** When, as the place says, UTC. */
  readonly since?: string;
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

/** Looks for what was stated of a log elsewhere. */
export async function findAnchors(
  transcript: string,
  origin: string,
  findGitNotes: FindGitNotes,
): Promise<Anchors> {
  const notices: string[] = [];
  const anchors: Anchor[] = [];
  for (const { commit, text } of await findGitNotes(dirname(transcript))) {
    // Git puts a blank line between what is added to a note.
    const bytes = Buffer.from(text.replaceAll(/^(— .*\n)\n+/gm, '$1'));
    anchors.push(...statedIn(bytes, origin, `the git note on commit ${commit.slice(0, 12)}`));
  }
  for (const entry of entriesOf(transcript)) {
    const { kind, path } = entry;
    if (kind !== 'file' || typeof path !== 'string') continue;
    const place = resolve(dirname(transcript), path);
    try {
      const bytes = bytesIfThere(place);
      if (bytes === null) notices.push(`the copy of its checkpoints in ${path} is gone`);
      else anchors.push(...statedIn(bytes, origin, `the copy in ${path}`));
    } catch (error) {
      notices.push(`the copy of its checkpoints in ${path} can't be read: ${messageOf(error)}`);
    }
  }
  // One place may have the same statement several times.
  const distinct = new Map(anchors.map((anchor) => [canonicalJson({ ...anchor }), anchor]));
  return { anchors: [...distinct.values()], notices };
}

/** The entries of the file of anchors. What is no entry says nothing, as if the file weren't there. */
function entriesOf(transcript: string): readonly JsonObject[] {
  const lines = (readIfThere(anchorsPath(transcript)) ?? '').split('\n');
  return lines.flatMap((line) => {
    const parsed = parseJson(line);
    return parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : [];
  });
}

/** What the notes in a text state of a log. Other logs may have theirs in the same place. */
function statedIn(bytes: Uint8Array, origin: string, who: string): Anchor[] {
  const { notes } = splitNotes(bytes);
  return notes.flatMap((note) => {
    const checkpoint = checkpointIn(note);
    if (checkpoint?.origin !== origin) return [];
    const { size } = checkpoint;
    const words = `${who} states ${size} records`;
    return [{ size, root: toHex(checkpoint.root), words, reason: 'root_mismatch' as const, who }];
  });
}

function checkpointIn(note: Uint8Array): ReturnType<typeof parseCheckpoint> | undefined {
  try {
    return parseCheckpoint(parseNote(note).text);
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}
