/**
 * Signs notes and checks who signed them: C2SP signed-note (Ed25519) and tlog-cosignature v1.
 *
 * @module
 */
import { parseCheckpoint } from './checkpoint.ts';
import { type Ed25519, type Ed25519Verifier } from './ed25519.ts';
import { concat, EvidenceError, utf8 } from './encoding.ts';
import { type Note, type NoteSignature } from './note.ts';
import { type SignatureKind, type SignerKey, type VerifierKey } from './note-key.ts';

/** Adds a signature of the text. It replaces one by the same key. */
export function signNote(note: Note, key: SignerKey, ed25519: Ed25519): Note {
  requireKind(key, 'ed25519');
  return withSignature(note, key, ed25519.sign(key.seed, utf8(note.text)));
}

/**
 * Adds a cosignature: that its signer saw no larger state of the log before `time`, in whole seconds of Unix
 * time, and that this one continues what it saw. Only who checked that may call it.
 */
export function cosignNote(note: Note, key: SignerKey, time: number, ed25519: Ed25519): Note {
  requireKind(key, 'cosignature');
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new RangeError('a cosignature needs a time in whole seconds since 1970');
  }
  parseCheckpoint(note.text);
  const signature = ed25519.sign(key.seed, cosignedMessage(note.text, time));
  const stamp = new DataView(new ArrayBuffer(TIME_BYTES));
  stamp.setBigUint64(0, BigInt(time));
  return withSignature(note, key, concat(new Uint8Array(stamp.buffer), signature));
}

/** A signature that was checked and is right. */
export interface Verified {
  readonly key: VerifierKey;
  /** When a cosigner says that it signed, in seconds of Unix time. */
  readonly time?: number;
}

/** Who signed a note. */
export interface NoteVerdict {
  /** Whether a known key signed, and no known key's signature is wrong. Without it the text counts for nothing. */
  readonly ok: boolean;
  readonly verified: readonly Verified[];
  /** Signatures of keys that weren't given: neither right nor wrong. */
  readonly unknown: readonly NoteSignature[];
  /** Signatures that a known key did not make. */
  readonly wrong: readonly NoteSignature[];
}

/** Checks a note's signatures by the known keys. Throws only if two of these have one name and ID, and it is used. */
export async function checkNote(
  note: Note,
  keys: readonly VerifierKey[],
  ed25519: Ed25519Verifier,
): Promise<NoteVerdict> {
  const verified: Verified[] = [];
  const unknown: NoteSignature[] = [];
  const wrong: NoteSignature[] = [];
  for (const signature of note.signatures) {
    const key = findKey(keys, signature);
    if (key === undefined) {
      unknown.push(signature);
      continue;
    }
    const found = await verifyOne(note.text, signature.signature, key, ed25519);
    if (found === undefined) wrong.push(signature);
    else verified.push(found);
  }
  return { ok: verified.length > 0 && wrong.length === 0, verified, unknown, wrong };
}

const TIME_BYTES = 8;

function requireKind({ verifier }: SignerKey, kind: SignatureKind): void {
  if (verifier.kind === kind) return;
  throw new EvidenceError(`key: ${verifier.name} is no ${kind} key, so it can't sign this`);
}

function withSignature(note: Note, { verifier }: SignerKey, signature: Uint8Array): Note {
  const { name, keyId } = verifier;
  const others = note.signatures.filter((other) => !isBy(other, verifier));
  return { text: note.text, signatures: [...others, { name, keyId, signature }] };
}

function isBy(signature: NoteSignature, { name, keyId }: VerifierKey): boolean {
  return signature.name === name && signature.keyId === keyId;
}

function findKey(keys: readonly VerifierKey[], signature: NoteSignature): VerifierKey | undefined {
  const [key, another] = keys.filter((candidate) => isBy(signature, candidate));
  if (another === undefined) return key;
  throw new EvidenceError(`key: ${another.name}+${another.keyId} is given twice; give it once`);
}

async function verifyOne(
  text: string,
  signature: Uint8Array,
  key: VerifierKey,
  ed25519: Ed25519Verifier,
): Promise<Verified | undefined> {
  if (key.kind === 'ed25519') {
    return (await ed25519.verify(key.publicKey, utf8(text), signature)) ? { key } : undefined;
  }
  if (signature.length < TIME_BYTES) return undefined;
  const time = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  const message = cosignedMessage(text, time);
  const right = await ed25519.verify(key.publicKey, message, signature.subarray(TIME_BYTES));
  return right ? { key, time: Number(time) } : undefined;
}

function cosignedMessage(text: string, time: number | bigint): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}
