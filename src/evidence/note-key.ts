/**
 * The keys of signed notes as text (C2SP signed-note, "Verifier keys", and Go's `sumdb/note` for those that sign).
 *
 * @module
 */
import { sha256 } from '#sha256';
import { type Ed25519 } from './ed25519.ts';
import { concat, decodeBase64, encodeBase64, EvidenceError, utf8 } from './encoding.ts';
import { toHex } from './hex.ts';
import { KEY_NAME } from './note.ts';

/** What a key signs: a note's text, or a checkpoint with the time of signing (C2SP tlog-cosignature v1). */
export type SignatureKind = 'ed25519' | 'cosignature';

/** The byte that stands for each kind. */
const TYPE: Readonly<Record<SignatureKind, number>> = { ed25519: 0x01, cosignature: 0x04 };
const KEY_BYTES = 32;

/** A key that checks signatures. */
export interface VerifierKey {
  readonly name: string;
  /** 8 lower-case hex digits, made of the rest: a short name, not a fingerprint to trust. */
  readonly keyId: string;
  readonly kind: SignatureKind;
  /** 32 bytes, as RFC 8032 §5.1.5 writes them. */
  readonly publicKey: Uint8Array;
}

/** A key that signs. */
export interface SignerKey {
  /** The key that checks what it signs. */
  readonly verifier: VerifierKey;
  /** The 32 secret bytes that RFC 8032 §5.1.5 begins with. */
  readonly seed: Uint8Array;
}

/** Names a public key. */
export function verifierKey(
  name: string,
  publicKey: Uint8Array,
  kind: SignatureKind = 'ed25519',
): VerifierKey {
  if (!name.isWellFormed() || !KEY_NAME.test(name)) {
    throw new EvidenceError("key: a name isn't empty, and has no space, plus or control character");
  }
  if (publicKey.length !== KEY_BYTES) throw new EvidenceError('key: Ed25519 keys have 32 bytes');
  const id = sha256(concat(utf8(`${name}\n`), Uint8Array.of(TYPE[kind]), publicKey));
  return { name, keyId: toHex(id.subarray(0, 4)), kind, publicKey };
}

/** Names a secret key. */
export function signerKey(
  name: string,
  seed: Uint8Array,
  ed25519: Ed25519,
  kind: SignatureKind = 'ed25519',
): SignerKey {
  if (seed.length !== KEY_BYTES) throw new EvidenceError('key: Ed25519 keys have 32 bytes');
  return { verifier: verifierKey(name, ed25519.publicKey(seed), kind), seed };
}

/** Writes a key that checks signatures: `name+id+base64`. It may be shown to everybody. */
export function encodeVerifierKey({ name, keyId, kind, publicKey }: VerifierKey): string {
  return `${name}+${keyId}+${encodeKey(kind, publicKey)}`;
}

/** Reads what {@link encodeVerifierKey} writes, and nothing else. */
export function parseVerifierKey(text: string): VerifierKey {
  const { name, kind, bytes } = parseKey(text);
  const key = verifierKey(name, bytes, kind);
  if (encodeVerifierKey(key) !== text) throw wrongId(key);
  return key;
}

/** Writes a key that signs: `PRIVATE+KEY+name+id+base64`. It is a secret. */
export function encodeSignerKey({ verifier, seed }: SignerKey): string {
  const { name, keyId, kind } = verifier;
  return `${SECRET}${name}+${keyId}+${encodeKey(kind, seed)}`;
}

/** Reads what {@link encodeSignerKey} writes, and nothing else. No message repeats the secret. */
export function parseSignerKey(text: string, ed25519: Ed25519): SignerKey {
  if (!text.startsWith(SECRET)) throw new EvidenceError(`key: one that signs begins ${SECRET}`);
  const { name, kind, bytes } = parseKey(text.slice(SECRET.length));
  const key = signerKey(name, bytes, ed25519, kind);
  if (encodeSignerKey(key) !== text) throw wrongId(key.verifier);
  return key;
}

const SECRET = 'PRIVATE+KEY+';

function encodeKey(kind: SignatureKind, bytes: Uint8Array): string {
  return encodeBase64(concat(Uint8Array.of(TYPE[kind]), bytes));
}

function parseKey(text: string): { name: string; kind: SignatureKind; bytes: Uint8Array } {
  // Base64 has plus signs of its own: only the first two divide.
  const [, name, base64 = ''] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/s.exec(text) ?? [];
  const bytes = decodeBase64(base64);
  if (name === undefined || bytes === undefined) {
    throw new EvidenceError('key: it must be name+id+base64, the id of 8 lower-case hex digits');
  }
  return { name, kind: kindOf(bytes[0]), bytes: bytes.slice(1) };
}

function kindOf(type: number | undefined): SignatureKind {
  if (type === TYPE.ed25519) return 'ed25519';
  if (type === TYPE.cosignature) return 'cosignature';
  throw new EvidenceError('key: only Ed25519 keys, of notes or of cosignatures, can be used');
}

function wrongId({ name, keyId }: VerifierKey): EvidenceError {
  return new EvidenceError(
    `key: the id doesn't belong to this name and key: ${name}+${keyId} does`,
  );
}
