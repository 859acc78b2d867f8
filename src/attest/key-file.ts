/**
 * The user's signing key in a file, made on first use, and the keys that came before it.
 *
 * @module
 */
import { linkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { nodeEd25519 } from '../evidence/ed25519-node.ts';
import {
  checkNote,
  encodeNote,
  encodeSignerKey,
  encodeVerifierKey,
  EvidenceError,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  signerKey,
  signNote,
  type SignerKey,
  type VerifierKey,
} from '../evidence/index.ts';
import { toHex } from '../evidence/hex.ts';
import { nodeFileSystem } from '../store/filesystem.ts';
import { codeOf, messageOf } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';
import { alone, bytesIfThere, privateFolder, readIfThere, replaceFile } from './atomic-file.ts';
import { splitNotes } from './notes.ts';

/** The keys of a user. */
export interface Keyring {
  /** The key that signs now. */
  readonly signer: SignerKey;
  /** It and those that it replaced: their signatures still count. */
  readonly known: readonly VerifierKey[];
}

/** The file of the key in the folder of the configuration. */
export function keyPath(config: string): string {
  return join(config, 'key');
}

/**
 * The keys in a folder; null if there is none yet.
 *
 * @throws {EvidenceError} if the key's file can't be used: others may read it, or it isn't a key.
 */
export async function readKeyring(config: string): Promise<Keyring | null> {
  const path = keyPath(config);
  const text = readKey(path);
  if (text === null) return null;
  let signer: SignerKey;
  try {
    signer = parseSignerKey(text.trimEnd(), nodeEd25519);
  } catch (error) {
    throw new EvidenceError(`${path} holds no signing key (${messageOf(error)}). ${MEND}`);
  }
  return { signer, known: [signer.verifier, ...(await earlierKeys(config, signer.verifier))] };
}

/** The keys in a folder; makes the first where there is none. */
export async function openKeyring(config: string): Promise<Keyring> {
  const found = await readKeyring(config);
  return found ?? newKey(config);
}

/**
 * Makes the first key. It is called `hashtape-` and the first digits of its public key, unless a name is given.
 *
 * @throws {EvidenceError} if the name isn't one.
 */
export async function newKey(config: string, name?: string): Promise<Keyring> {
  const signer = generate(name);
  const path = keyPath(config);
  try {
    privateFolder(path);
    await place(path, `${encodeSignerKey(signer)}\n`);
  } catch (error) {
    throw notKept(config, error);
  }
  const made = await readKeyring(config);
  if (made === null) throw new EvidenceError(`${path} was deleted while it was made; try again`);
  return made;
}

/**
 * Replaces the key by a new one. Both sign that, in `rotations` beside it: the old one so that whoever knows it
 * can follow, the new one so that nobody else passes a key off as an earlier one. The old secret is gone afterwards.
 *
 * @throws {EvidenceError} if there is no key yet.
 */
export async function rotateKey(config: string, name?: string): Promise<Keyring> {
  const path = keyPath(config);
  const none = `there is no key in ${config} yet: make one first`;
  if ((await readKeyring(config)) === null) throw new EvidenceError(none);
  return alone(path, async () => {
    const old = await readKeyring(config);
    if (old === null) throw new EvidenceError(none);
    const signer = generate(name);
    const text = rotationText(old.signer.verifier, signer.verifier);
    const half = signNote({ text, signatures: [] }, old.signer, nodeEd25519);
    const note = signNote(half, signer, nodeEd25519);
    const before = Buffer.concat(rotations(config)).toString('utf8');
    // First that the new key is vouched for: a crash in between leaves the old one in use.
    await replaceFile(rotationsPath(config), before + encodeNote(note), 0o644);
    await replaceFile(path, `${encodeSignerKey(signer)}\n`);
    return { signer, known: [signer.verifier, ...old.known] };
  });
}

/** Whoever comes second takes the first one's key: a link is never made over a file. */
async function place(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, path);
    await nodeFileSystem.syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function notKept(config: string, error: unknown): EvidenceError {
  const problem = `no key can be kept in ${config} (${messageOf(error)})`;
  return new EvidenceError(`${problem}: see that ${FOLDER}`, { cause: error });
}

/** Where it is told which key replaced which. */
export function rotationsPath(config: string): string {
  return join(config, 'rotations');
}

const MEND =
  'Move it away and a new key is made; what the old one signed is then by an unknown key';

const FOLDER = 'XDG_CONFIG_HOME, or HOME, names a folder that you can read and write';

function readKey(path: string): string | null {
  const text = usable(() => readIfThere(path), MEND);
  if (text === null) return null;
  const mode = statSync(path).mode & 0o777;
  // Windows has no such bits.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new EvidenceError(
      `${path} is not used: others may read it (mode ${mode.toString(8).padStart(4, '0')}), and then they can sign as you. Run chmod 600 on it if nobody has read it; else move it away, and a new one is made`,
    );
  }
  return text;
}

/** @throws {EvidenceError} what can't be read, and what to do about it. */
function usable<T>(read: () => T, advice: string): T {
  try {
    return read();
  } catch (error) {
    // What is there is no file of ours, or the system doesn't let us read it.
    const next = error instanceof StoreError ? advice : `See that ${FOLDER}`;
    throw new EvidenceError(`${messageOf(error)}. ${next}`, { cause: error });
  }
}

function generate(name?: string): SignerKey {
  const seed = nodeEd25519.generate();
  const digits = toHex(nodeEd25519.publicKey(seed).subarray(0, 4));
  return signerKey(name ?? `hashtape-${digits}`, seed, nodeEd25519);
}

const ROTATION = 'hashtape key rotation';

function rotationText(old: VerifierKey, next: VerifierKey): string {
  return `${ROTATION}\n${encodeVerifierKey(old)}\n${encodeVerifierKey(next)}\n`;
}

/** The keys from which signed steps lead to the one in use. A step that isn't right leads nowhere. */
async function earlierKeys(config: string, current: VerifierKey): Promise<VerifierKey[]> {
  const earlier: VerifierKey[] = [];
  let wanted = current;
  // The newest step is the last.
  for (const step of rotations(config).toReversed()) {
    const old = await rotatedFrom(step, wanted);
    if (old === undefined) continue;
    earlier.push(old);
    wanted = old;
  }
  return earlier;
}

function rotations(config: string): readonly Uint8Array[] {
  const bytes = usable(
    () => bytesIfThere(rotationsPath(config)),
    'Move it away to go on without; what earlier keys signed is then by unknown ones',
  );
  return splitNotes(bytes ?? new Uint8Array(0)).notes;
}

/** The key that a step replaced, if the step leads to `next` and both signed it. */
async function rotatedFrom(step: Uint8Array, next: VerifierKey): Promise<VerifierKey | undefined> {
  try {
    const note = parseNote(step);
    const old = parseVerifierKey(note.text.split('\n')[1] ?? '');
    if (note.text !== rotationText(old, next)) return undefined;
    const { verified } = await checkNote(note, [old, next], nodeEd25519);
    return verified.length === 2 ? old : undefined;
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}
