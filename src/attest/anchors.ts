/**
 * Anchors: what was stated of a log in other places. Where they are is noted in `<transcript>.anchors`; git notes are
 * found without.
 *
 * @module
 */
import { appendFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fromHex, toHex } from '../evidence/hex.ts';
import { HASH_BYTES } from '../evidence/merkle.ts';
import { EvidenceError, encodeCheckpoint, parseCheckpoint, parseNote } from '../evidence/index.ts';
import { messageOf } from '../store/store-errors.ts';
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from '../transcript/index.ts';
import { bytesIfThere, readIfThere } from './atomic-file.ts';
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
  /** Finds git notes; undefined to look at no anchors. */
  readonly findGitNotes?: FindGitNotes | undefined;
  /** Certificates of timestamp authorities, in PEM; undefined to believe none. */
  readonly authorities?: string | undefined;
}

/** Looks for what was stated of a log elsewhere. */
export async function findAnchors(
  transcript: string,
  origin: string,
  { findGitNotes, authorities }: AnchorKnowledge,
): Promise<Anchors> {
  const anchors: Anchor[] = [];
  const notices: string[] = [];
  for (const { commit, text } of (await findGitNotes?.(dirname(transcript))) ?? []) {
    // Git puts a blank line between what is added to a note.
    const bytes = Buffer.from(text.replaceAll(/^(— .*\n)\n+/gm, '$1'));
    anchors.push(...statedIn(bytes, origin, `the git note on commit ${commit.slice(0, 12)}`));
  }
  for (const entry of entriesOf(transcript)) {
    const found =
      entry['kind'] === 'file'
        ? copied(entry, origin, transcript)
        : stamped(entry, origin, authorities);
    if (typeof found === 'string') notices.push(found);
    else anchors.push(...found);
  }
  // One place may have the same statement several times.
  const distinct = new Map(anchors.map((anchor) => [canonicalJson({ ...anchor }), anchor]));
  return { anchors: [...distinct.values()], notices };
}

/** What a copy of the checkpoints states, or why it can't be read. */
function copied({ path }: JsonObject, origin: string, transcript: string): Anchor[] | string {
  if (typeof path !== 'string') return [];
  try {
    const bytes = bytesIfThere(resolve(dirname(transcript), path));
    if (bytes === null) return `the copy of its checkpoints in ${path} is gone`;
    return statedIn(bytes, origin, `the copy in ${path}`);
  } catch (error) {
    return `the copy of its checkpoints in ${path} can't be read: ${messageOf(error)}`;
  }
}

/** What a timestamp authority states, or why it isn't believed. */
function stamped(
  entry: JsonObject,
  origin: string,
  authorities: string | undefined,
): Anchor[] | string {
  const { kind, size, root, response } = entry;
  if (kind !== 'timestamp' || typeof root !== 'string' || typeof response !== 'string') return [];
  const hash = fromHex(root);
  if (typeof size !== 'number' || hash?.length !== HASH_BYTES) return [];
  if (authorities === undefined) {
    return 'a timestamp beside it is not checked: --tsa-roots gives the certificates to trust';
  }
  const text = encodeCheckpoint({ origin, size, root: hash, extensions: [] });
  const verdict = verifyTimestamp(Buffer.from(response, 'base64'), Buffer.from(text), {
    trusted: authorities,
  });
  if (!verdict.ok) return `a timestamp beside it doesn't hold: ${verdict.detail}`;
  const who = `a timestamp of ${verdict.authority}`;
  const since = new Date(verdict.time * 1000).toISOString();
  const words = `${who} states ${size} records`;
  return [{ size, root, words, reason: 'root_mismatch', who, since }];
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
