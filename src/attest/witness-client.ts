/**
 * Asks a witness (C2SP tlog-witness) to cosign a checkpoint. What it says is believed only with its signature.
 *
 * @module
 */
import { parseCheckpoint } from '../evidence/checkpoint.ts';
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import { EvidenceError } from '../evidence/encoding.ts';
import { type VerifierKey } from '../evidence/note-key.ts';
import { checkNote } from '../evidence/note-signature.ts';
import { type Note, type NoteSignature } from '../evidence/note.ts';
import { encodeAddCheckpoint, parseCosignatures, parseTreeSize } from '../evidence/witness.ts';
import { post, type PostOptions, refusal, shown } from './post.ts';

/** Who is asked. */
export interface WitnessAddress {
  /** The submission prefix: what stands before `/add-checkpoint`. */
  readonly url: string;
  /** The key that must have made the cosignature. */
  readonly key: VerifierKey;
}

/** What is to be cosigned. */
export interface CosignRequest extends PostOptions {
  /** The checkpoint, signed by the log. */
  readonly note: Note;
  /** The size that this witness cosigned last, as far as is known; 0 if nothing is. */
  readonly oldSize: number;
  /** The proof that the log continues itself at `oldSize`, a size above 0 and below the checkpoint's. */
  consistency(oldSize: number): readonly Uint8Array[] | Promise<readonly Uint8Array[]>;
}

/** What came of it. */
export type CosignOutcome =
  | {
      readonly outcome: 'ok';
      /** The checkpoint with the cosignature added, or put in the place of an older one by the same key. */
      readonly note: Note;
      /** When the witness says that it signed, in seconds of Unix time. */
      readonly time: number;
    }
  | {
      readonly outcome: 'refused';
      /** The status of HTTP; 200 where the answer is no cosignature by the key. */
      readonly status: number;
      /** Why, in words. */
      readonly detail: string;
      /**
       * The size that the witness says it has seen, with status 409. If it isn't below the checkpoint's, the log
       * went back or was told otherwise to the witness; but nobody signed this number.
       */
      readonly size?: number;
    }
  | { readonly outcome: 'unreachable'; readonly detail: string };

/**
 * Asks once, and once more if the witness has another size than `oldSize`. Throws only for a note that is no
 * signed checkpoint, an `oldSize` that isn't up to its size, and what `consistency` throws.
 */
export async function cosign(
  witness: WitnessAddress,
  request: CosignRequest,
): Promise<CosignOutcome> {
  const first = await ask(witness, request, request.oldSize);
  if (first.outcome !== 'refused' || first.size === undefined) return first;
  const { size } = parseCheckpoint(request.note.text);
  if (first.size > size) return first;
  // The same size again: what the witness minds is the root, and asking again won't change that.
  return first.size === request.oldSize ? first : ask(witness, request, first.size);
}

async function ask(
  { url, key }: WitnessAddress,
  request: CosignRequest,
  oldSize: number,
): Promise<CosignOutcome> {
  const { note } = request;
  const { size } = parseCheckpoint(note.text);
  const proves = oldSize > 0 && oldSize < size;
  const consistency = proves ? await request.consistency(oldSize) : [];
  const body = encodeAddCheckpoint({ oldSize, consistency, note });
  const target = `${url.replace(/\/+$/, '')}/add-checkpoint`;
  const answer = await post(target, 'text/plain; charset=utf-8', body, request);
  if (answer.status === undefined) return { outcome: 'unreachable', detail: answer.detail };
  if (answer.status === 200) return accept(note, key, answer.body);
  if (answer.status === 409) return conflict(answer.body, oldSize, size);
  const { status } = answer;
  return { outcome: 'refused', status, detail: refusal(status, answer.body) };
}

async function accept(note: Note, key: VerifierKey, body: Uint8Array): Promise<CosignOutcome> {
  const isIts = ({ name, keyId }: NoteSignature) => name === key.name && keyId === key.keyId;
  let signatures: NoteSignature[];
  try {
    signatures = parseCosignatures(body).filter(isIts);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return refused(`its answer is no list of cosignatures: ${error.message}`);
  }
  const { verified } = await checkNote({ ...note, signatures }, [key], nodeEd25519);
  const time = verified[0]?.time;
  if (time === undefined) return refused(`its answer has no right cosignature by ${key.name}`);
  const others = note.signatures.filter((signature) => !isIts(signature));
  return { outcome: 'ok', note: { ...note, signatures: [...others, ...signatures] }, time };
}

function refused(detail: string): CosignOutcome {
  return { outcome: 'refused', status: 200, detail };
}

function conflict(body: Uint8Array, oldSize: number, size: number): CosignOutcome {
  const known = parseTreeSize(new TextDecoder().decode(body));
  const status = 409;
  if (known === undefined) {
    return { outcome: 'refused', status, detail: shown(body) || 'it said no size' };
  }
  return { outcome: 'refused', status, detail: conflictDetail(known, oldSize, size), size: known };
}

function conflictDetail(known: number, oldSize: number, size: number): string {
  if (known > size) return `it has seen ${known} records of this log, and here are only ${size}`;
  if (known !== oldSize) return `it has seen ${known} records of this log, not ${oldSize}`;
  if (known === size) return `it has seen another log of ${known} records by this name`;
  return `it says that it has seen ${known} records, as it was told, and refuses all the same`;
}
