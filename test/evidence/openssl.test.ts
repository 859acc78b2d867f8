/**
 * What `docs/verify-checkpoint.sh`, which knows nothing but OpenSSL, says of our signatures.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { nodeEd25519, publicKeyPem } from '../../src/evidence/ed25519-node.ts';
import { encodeVerifierKey, signerKey } from '../../src/evidence/note-key.ts';
import { signNote } from '../../src/evidence/note-signature.ts';
import { encodeNote } from '../../src/evidence/note.ts';
import { KEY } from './notes.ts';
import { vectors } from './vectors.ts';

const script = fileURLToPath(new URL('../../docs/verify-checkpoint.sh', import.meta.url));
const version = spawnSync('openssl', ['version']).stdout?.toString() ?? '';
const usable = /^OpenSSL [3-9]/.test(version);
const NEEDS = usable ? '' : ' (skipped: there is no OpenSSL 3 here)';
const folder = mkdtempSync(join(tmpdir(), 'hashtape-openssl-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function ask(note: string, vkey: string): { status: number | null; said: string } {
  const path = join(folder, 'note');
  writeFileSync(path, note);
  const { status, stdout, stderr } = spawnSync('sh', [script, path, vkey], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

describe.skipIf(!usable)(`openssl${NEEDS}`, () => {
  const root = Buffer.alloc(32, 7).toString('base64');
  const other = signerKey('other', nodeEd25519.generate(), nodeEd25519);
  const signed = signNote(
    { text: `example.com/log\n3\n${root}\n`, signatures: [] },
    KEY,
    nodeEd25519,
  );
  const note = encodeNote(signNote(signed, other, nodeEd25519));

  test.each([
    ['first', KEY],
    ['second', other],
  ])('verifies a checkpoint by its %s key', (_, key) => {
    const { status, said } = ask(note, encodeVerifierKey(key.verifier));
    expect(said).toContain('Signature Verified Successfully');
    expect(status).toBe(0);
  });

  test('verifies a text with blank lines and what looks like a signature', () => {
    const text = 'one\n\n— example.com/log AAAA\n\ntwo ü\n';
    const signedText = signNote({ text, signatures: [] }, KEY, nodeEd25519);
    expect(ask(encodeNote(signedText), encodeVerifierKey(KEY.verifier)).status).toBe(0);
  });

  test('verifies the last of several, as a file of checkpoints has them', () => {
    const older = encodeNote(
      signNote({ text: `example.com/log\n1\n${root}\n`, signatures: [] }, KEY, nodeEd25519),
    );
    const vkey = encodeVerifierKey(KEY.verifier);
    expect(ask(older + older + note, vkey).status).toBe(0);
    expect(ask(older + note.replace('\n3\n', '\n4\n'), vkey).status).not.toBe(0);
  });

  test('verifies the head of sum.golang.org', () => {
    const { open } = vectors('signed-note.json') as { open: { note: string; vkeys: string[] }[] };
    const real = open.find(({ note: text }) => text.startsWith('go.sum database tree'))!;
    expect(ask(real.note, real.vkeys[0]!).status).toBe(0);
  });

  test('refuses a changed text, a changed signature, another key, and no signature', () => {
    const vkey = encodeVerifierKey(KEY.verifier);
    const lone = encodeNote(signed);
    const at = lone.length - 12;
    const flipped = lone.slice(0, at) + (lone[at] === 'A' ? 'B' : 'A') + lone.slice(at + 1);
    const stranger = signerKey(KEY.verifier.name, nodeEd25519.generate(), nodeEd25519);
    for (const [text, key] of [
      [lone.replace('\n3\n', '\n4\n'), vkey],
      [flipped, vkey],
      [lone, encodeVerifierKey(stranger.verifier)],
      [lone, encodeVerifierKey(other.verifier)],
      ['', vkey],
    ] as const) {
      expect(ask(text, key).status).not.toBe(0);
    }
  });

  test('reads the PEM of a public key', () => {
    const pem = publicKeyPem(KEY.verifier.publicKey);
    const { status, stdout } = spawnSync('openssl', ['pkey', '-pubin', '-noout', '-text'], {
      input: pem,
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout).toContain('ED25519');
  });
});
