/**
 * The key's file: who may read it, who makes it, what replaces it, and what a damaged one comes to.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  keyPath,
  newKey,
  openKeyring,
  readKeyring,
  rotateKey,
  rotationsPath,
} from '../../src/attest/key-file.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import {
  encodeNote,
  encodeSignerKey,
  encodeVerifierKey,
  EvidenceError,
  parseNote,
  signNote,
  type SignerKey,
} from '../../src/evidence/index.ts';
import { scratch } from '../store/helpers.ts';
import {
  attestChild,
  atOnce,
  requireBuiltAttest,
  signer,
  snapshot,
  whenAllReady,
} from './support.ts';

const newPath = scratch();
const POSIX = process.platform !== 'win32';

function newConfig(): string {
  return newPath('config');
}

/** Puts a key there by hand. */
function putKey(config: string, text: string | Buffer, mode = 0o600): string {
  mkdirSync(config, { recursive: true });
  writeFileSync(keyPath(config), text, { mode });
  chmodSync(keyPath(config), mode);
  return keyPath(config);
}

function names(keys: readonly { name: string }[]): string[] {
  return keys.map(({ name }) => name);
}

describe('the first key', () => {
  test('is made once, and is the same from then on', async () => {
    const config = newConfig();
    expect(await readKeyring(config)).toBeNull();
    expect(existsSync(config)).toBe(false);
    const made = await openKeyring(config);
    expect(made.signer.verifier.name).toBe(
      `hashtape-${Buffer.from(made.signer.verifier.publicKey).toString('hex').slice(0, 8)}`,
    );
    expect(await openKeyring(config)).toEqual(made);
    expect(await readKeyring(config)).toEqual(made);
    expect(made.known).toEqual([made.signer.verifier]);
    expect(readdirSync(config)).toEqual(['key']);
    expect(readFileSync(keyPath(config), 'utf8')).toBe(`${encodeSignerKey(made.signer)}\n`);
  });

  test('two users have two keys', async () => {
    const [one, two] = await Promise.all([openKeyring(newConfig()), openKeyring(newConfig())]);
    expect(one.signer.seed).not.toEqual(two.signer.seed);
  });

  test.skipIf(!POSIX)('is for its owner alone, whatever the umask (needs modes)', async () => {
    const before = process.umask(0);
    try {
      const config = join(newConfig(), 'deep', 'er');
      await openKeyring(config);
      expect(statSync(keyPath(config)).mode & 0o777).toBe(0o600);
      expect(statSync(config).mode & 0o777).toBe(0o700);
      expect(statSync(join(config, '..')).mode & 0o777).toBe(0o700);
      await rotateKey(config);
      expect(statSync(keyPath(config)).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  test('a second one is never made over it', async () => {
    const config = newConfig();
    const first = await newKey(config, 'first');
    expect(await newKey(config, 'second')).toEqual(first);
  });

  test.each(['', ' ', 'a b', 'a+b', 'a\tb', 'a\nb', 'a\u00a0b', '\u2028', '\ud800'])(
    'the name %j is refused, and nothing is made',
    async (name) => {
      const config = newConfig();
      await expect(newKey(config, name)).rejects.toThrow(EvidenceError);
      expect(existsSync(config)).toBe(false);
    },
  );

  test('names of any other characters may be chosen', async () => {
    for (const name of ['a', 'example.com/log', 'größe-😀', '=', '__proto__']) {
      const config = newConfig();
      const { signer: made } = await newKey(config, name);
      expect(made.verifier.name).toBe(name);
      expect(await readKeyring(config)).toMatchObject({ signer: made });
    }
  });
});

describe('processes at first use', () => {
  beforeAll(requireBuiltAttest);

  test('eight get one key', async () => {
    for (let round = 0; round < 2; round += 1) {
      const config = newConfig();
      const act = `const { signer } = await openKeyring(path);
        say(Buffer.from(signer.seed).toString('hex'));`;
      const children = Array.from({ length: 8 }, () =>
        attestChild(config, { 'key-file.js': '{ openKeyring }' }, whenAllReady(act)),
      );
      const seeds = new Set(await atOnce(children));
      const ring = await readKeyring(config);
      expect([...seeds]).toEqual([Buffer.from(ring!.signer.seed).toString('hex')]);
      expect(readdirSync(config)).toEqual(['key']);
    }
  });
});

describe('a key that others may read', () => {
  test.skipIf(!POSIX).each([0o640, 0o604, 0o644, 0o660, 0o666, 0o601, 0o610, 0o620, 0o602])(
    'mode %o is refused, and told what to do (needs modes)',
    async (mode) => {
      const config = newConfig();
      const path = putKey(config, `${encodeSignerKey(signer())}\n`, mode);
      const octal = `0${mode.toString(8)}`;
      for (const act of [readKeyring, openKeyring, newKey, rotateKey]) {
        await expect(act(config)).rejects.toThrow(
          `${path} is not used: others may read it (mode ${octal})`,
        );
        await expect(act(config)).rejects.toThrow('chmod 600');
      }
      expect(snapshot(config)).toEqual({ key: `${encodeSignerKey(signer())}\n` });
      chmodSync(path, 0o600);
      expect(await readKeyring(config)).toMatchObject({ signer: signer() });
    },
  );

  test.skipIf(!POSIX)('a narrower mode is fine (needs modes)', async () => {
    const config = newConfig();
    putKey(config, encodeSignerKey(signer()), 0o400);
    expect(await readKeyring(config)).toMatchObject({ signer: signer() });
  });
});

describe('a file that is no key', () => {
  const whole = encodeSignerKey(signer());
  const cases: [string, string | Buffer][] = [
    ['an empty one', ''],
    ['a line end', '\n'],
    ['garbage', Buffer.from([0xff, 0, 0xfe])],
    ['zeros', Buffer.alloc(200)],
    ['a key that only checks', `${encodeVerifierKey(signer().verifier)}\n`],
    ['two keys', `${whole}\n${whole}\n`],
    ['one with a space before it', ` ${whole}\n`],
  ];

  test.each(cases)('%s is refused, kept, and its secret not told', async (_, text) => {
    const config = newConfig();
    const path = putKey(config, text);
    for (const act of [readKeyring, openKeyring, newKey, rotateKey]) {
      const error: unknown = await act(config).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(EvidenceError);
      expect(String(error)).toContain(path);
      expect(String(error)).toContain('Move it away');
      expect(String(error)).not.toContain(whole.slice(-20));
    }
    expect(readFileSync(path)).toEqual(Buffer.from(text));
    expect(readdirSync(config)).toEqual(['key']);
  });

  test('cut at any byte it is none', async () => {
    const config = newConfig();
    for (let length = 0; length < whole.length; length += 1) {
      putKey(config, whole.slice(0, length));
      await expect(readKeyring(config), `${length}`).rejects.toThrow('holds no signing key');
    }
  });

  test('with any character changed it is none', async () => {
    const config = newConfig();
    for (let at = 0; at < whole.length; at += 1) {
      const other = whole[at] === 'A' ? 'B' : 'A';
      putKey(config, whole.slice(0, at) + other + whole.slice(at + 1));
      await expect(readKeyring(config), `${at}`).rejects.toThrow('holds no signing key');
    }
  });

  test('a folder in its place is said to be none', async () => {
    const config = newConfig();
    mkdirSync(keyPath(config), { recursive: true, mode: 0o700 });
    await expect(openKeyring(config)).rejects.toThrow('is no plain file');
  });
});

function step(old: SignerKey, next: SignerKey, ...by: readonly SignerKey[]): string {
  const text = `hashtape key rotation\n${encodeVerifierKey(old.verifier)}\n${encodeVerifierKey(next.verifier)}\n`;
  const note = by.reduce((signed, key) => signNote(signed, key, nodeEd25519), {
    text,
    signatures: [] as never[],
  } as Parameters<typeof signNote>[0]);
  return encodeNote(note);
}

/** Three keys, one after the other. */
async function rotated(): Promise<{ config: string; keys: SignerKey[] }> {
  const config = newConfig();
  const keys = [(await newKey(config, 'one')).signer];
  for (const name of ['two', 'three']) keys.push((await rotateKey(config, name)).signer);
  return { config, keys };
}

describe('rotation', () => {
  test('those that were replaced still count, and their secrets are gone', async () => {
    const { config, keys } = await rotated();
    const ring = await readKeyring(config);
    expect(ring?.signer).toEqual(keys[2]);
    expect(names(ring?.known ?? [])).toEqual(['three', 'two', 'one']);
    const files = Object.values(snapshot(config)).join();
    for (const [i, key] of keys.entries())
      expect(files.includes(encodeSignerKey(key))).toBe(i === 2);
    expect(readdirSync(config).toSorted()).toEqual(['key', 'rotations']);
  });

  test('the same name may be kept', async () => {
    const config = newConfig();
    const { signer: old } = await newKey(config, 'me');
    const ring = await rotateKey(config, 'me');
    expect(ring.known).toEqual([ring.signer.verifier, old.verifier]);
    expect(await readKeyring(config)).toEqual(ring);
  });

  test('without a key there is nothing to replace', async () => {
    const config = newConfig();
    await expect(rotateKey(config)).rejects.toThrow('there is no key in');
    expect(existsSync(config)).toBe(false);
  });

  test.each(['a b', 'a+b', ''])('to the name %j is refused, and nothing changes', async (name) => {
    const { config } = await rotated();
    const before = snapshot(config);
    await expect(rotateKey(config, name)).rejects.toThrow(EvidenceError);
    expect(snapshot(config)).toEqual(before);
  });

  test('two at once come one after the other', async () => {
    const config = newConfig();
    await newKey(config, 'one');
    const rings = await Promise.all([rotateKey(config, 'a'), rotateKey(config, 'b')]);
    const ring = await readKeyring(config);
    expect(ring?.known).toHaveLength(3);
    expect(names(ring?.known ?? []).toSorted()).toEqual(['a', 'b', 'one']);
    expect(rings.map(({ signer: each }) => each)).toContainEqual(ring?.signer);
  });

  test('a crash after the note and before the key leaves the old one in use, and does no harm', async () => {
    const { config, keys } = await rotated();
    const key = readFileSync(keyPath(config));
    await rotateKey(config, 'lost');
    writeFileSync(keyPath(config), key);
    expect(names((await readKeyring(config))?.known ?? [])).toEqual(['three', 'two', 'one']);
    await rotateKey(config, 'four');
    const ring = await readKeyring(config);
    expect(names(ring?.known ?? [])).toEqual(['four', 'three', 'two', 'one']);
    expect(ring?.known.slice(1)).toEqual(keys.toReversed().map(({ verifier }) => verifier));
  });

  test('a crash while a file is written leaves the old one', async () => {
    const { config } = await rotated();
    const before = await readKeyring(config);
    writeFileSync(`${keyPath(config)}.0e2f`, 'PRIVATE+KEY+dra');
    writeFileSync(`${rotationsPath(config)}.0e2f`, 'hashtape key rot');
    expect(await readKeyring(config)).toEqual(before);
    await rotateKey(config, 'four');
    expect((await readKeyring(config))?.known).toHaveLength(4);
  });

  test('the file cut at any byte: earlier keys are lost one by one, and none is made up', async () => {
    const { config, keys } = await rotated();
    const bytes = readFileSync(rotationsPath(config));
    const expected = keys.map(({ verifier }) => encodeVerifierKey(verifier)).toReversed();
    for (let length = 0; length <= bytes.length; length += 1) {
      writeFileSync(rotationsPath(config), bytes.subarray(0, length));
      const known = (await readKeyring(config))?.known.map(encodeVerifierKey) ?? [];
      expect(known).toEqual(length === bytes.length ? expected : expected.slice(0, 1));
    }
  });

  test('any byte of the file changed: none is made up', async () => {
    const { config, keys } = await rotated();
    const bytes = readFileSync(rotationsPath(config));
    const expected = keys.map(({ verifier }) => encodeVerifierKey(verifier)).toReversed();
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      writeFileSync(rotationsPath(config), changed);
      const known = (await readKeyring(config))?.known.map(encodeVerifierKey) ?? [];
      expect(expected.slice(0, known.length), `byte ${at}`).toEqual(known);
      expect(known.length, `byte ${at}`).toBeLessThan(3);
    }
  });

  test('what follows a file without a last newline is not lost', async () => {
    const { config } = await rotated();
    writeFileSync(rotationsPath(config), `${readFileSync(rotationsPath(config), 'utf8')}garbage`);
    await rotateKey(config, 'four');
    expect((await readKeyring(config))?.known).toHaveLength(4);
  });

  test('a file that is gone takes only the earlier keys along', async () => {
    const { config, keys } = await rotated();
    rmSync(rotationsPath(config));
    expect((await readKeyring(config))?.known).toEqual([keys[2]?.verifier]);
  });

  describe('a forged step leads nowhere', () => {
    const enemy = signer(66, 'enemy');

    test('which only who wants to be an earlier key signed', async () => {
      const { config, keys } = await rotated();
      const genuine = readFileSync(rotationsPath(config), 'utf8');
      const now = keys[2]!;
      const before = await readKeyring(config);
      for (const forged of [
        step(enemy, now, enemy),
        step(enemy, now, enemy, keys[1]!),
        step(enemy, keys[0]!, enemy),
        step(keys[0]!, enemy, keys[0]!),
        step(keys[2]!, enemy, keys[2]!, enemy),
        step(enemy, enemy, enemy),
      ]) {
        for (const text of [genuine + forged, forged + genuine]) {
          writeFileSync(rotationsPath(config), text);
          expect(await readKeyring(config), forged).toEqual(before);
        }
      }
    });

    test('which carries the signatures of a genuine one', async () => {
      const { config, keys } = await rotated();
      const genuine = readFileSync(rotationsPath(config), 'utf8');
      const [, last = ''] = genuine.split(/(?<=\n)(?=hashtape key rotation\n)/);
      const { signatures } = parseNote(last);
      const text = parseNote(step(enemy, keys[2]!, enemy)).text;
      writeFileSync(rotationsPath(config), encodeNote({ text, signatures }));
      expect((await readKeyring(config))?.known).toEqual([keys[2]?.verifier]);
    });

    test('of which another key in use knows nothing', async () => {
      const { config } = await rotated();
      const other = newConfig();
      const { signer: own } = await newKey(other, 'own');
      renameSync(rotationsPath(config), rotationsPath(other));
      expect((await readKeyring(other))?.known).toEqual([own.verifier]);
    });
  });
});

describe('what is no plain file is said, and what to do about it', () => {
  const ACTS: readonly [string, (config: string) => Promise<unknown>][] = [
    ['read', readKeyring],
    ['opened', openKeyring],
    ['made', newKey],
    ['rotated', rotateKey],
  ];

  test.each(ACTS)('a folder in the place of the key, when it is %s', async (_, act) => {
    const config = newConfig();
    mkdirSync(keyPath(config), { recursive: true });
    const error = await act(config).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EvidenceError);
    expect(String(error)).toMatch(/key is no plain file\. Move it away and a new key is made/);
  });

  test.skipIf(!POSIX)('a pipe isn’t waited for', async () => {
    const config = newConfig();
    mkdirSync(config, { recursive: true });
    execFileSync('mkfifo', [keyPath(config)]);
    await expect(readKeyring(config)).rejects.toThrow(/is no plain file\. Move it away/);
  });

  test.each(ACTS)('a folder in the place of the rotations, when it is %s', async (_, act) => {
    const config = newConfig();
    await newKey(config);
    mkdirSync(rotationsPath(config));
    const error = await act(config).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EvidenceError);
    expect(String(error)).toMatch(/rotations is no plain file\. Move it away to go on without/);
  });

  test('a folder that can’t be made', async () => {
    await expect(newKey('/dev/null/config')).rejects.toThrow(
      /no key can be kept in .*: see that XDG_CONFIG_HOME, or HOME, names a folder/,
    );
  });
});
