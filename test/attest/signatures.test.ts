/**
 * Checkpoints of which any byte was changed, and whose signatures are whose.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkpointPath, readCheckpoints } from '../../src/attest/checkpoint-file.ts';
import { type Examined, type Knowledge } from '../../src/attest/examine.ts';
import { checkSignatures } from '../../src/attest/signatures.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import {
  cosignNote,
  encodeNote,
  encodeVerifierKey,
  parsePolicy,
  signerKey,
  signNote,
  type SignerKey,
} from '../../src/evidence/index.ts';
import { scratch } from '../store/helpers.ts';
import { examine, signer, userIn, writeLog } from './support.ts';

const newPath = scratch();

/** A log with checkpoints of its first record and of all of them. */
async function signedLog(
  key = signer(),
  name = 'run.jsonl',
): Promise<{ path: string; bytes: Buffer }> {
  const path = newPath(name);
  await writeLog(path, { signer: key }, { count: 5 });
  return { path, bytes: readFileSync(checkpointPath(path)) };
}

function knowing(...keys: readonly SignerKey[]): Knowledge {
  return { keys: keys.map(({ verifier }) => verifier) };
}

/** How many records the signed coverage has. */
function signedRecords({ coverage }: Examined): number {
  return coverage.find(({ by }) => by === 'signed')?.records ?? 0;
}

test('untouched it covers all records', async () => {
  const { path } = await signedLog();
  const examined = await examine(path, knowing(signer()));
  expect(examined).toMatchObject({
    ok: true,
    count: 5,
    notices: [],
    coverage: [{ by: 'signed', records: 5, who: encodeVerifierKey(signer().verifier) }],
  });
});

describe('each byte of the file changed', () => {
  test('in each of its bits: it is a fault', async () => {
    const { path, bytes } = await signedLog();
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = changed[at]! ^ (1 << bit);
        writeFileSync(checkpointPath(path), changed);
        const { ok, fault } = await examine(path, knowing(signer()));
        const what = `byte ${at}, bit ${bit}: ${JSON.stringify(changed.toString('latin1').slice(at - 9, at + 9))}`;
        expect(ok, what).toBe(false);
        expect(fault?.reason, what).toBe('bad_signature');
      }
    }
  });

  test('to each other value, where its last line begins and ends: it is a fault, unless a loss of power leaves it', async () => {
    const { path, bytes } = await signedLog();
    const dash = bytes.lastIndexOf(Buffer.from('— '));
    const passed: number[] = [];
    for (const at of [dash, bytes.length - 1]) {
      for (let value = 0; value < 256; value += 1) {
        if (value === bytes[at]) continue;
        const changed = Buffer.from(bytes);
        changed[at] = value;
        writeFileSync(checkpointPath(path), changed);
        const examined = await examine(path, knowing(signer()));
        if (!examined.ok) continue;
        passed.push(at);
        // A zero in place of the last newline is what a disk may have kept of a file's length: then the
        // checkpoint counts for nothing, which is said, and only the one before it covers anything.
        expect([at, value]).toEqual([bytes.length - 1, 0]);
        expect(signedRecords(examined)).toBe(1);
        expect(examined.notices).toEqual([expect.stringContaining('unfinished')]);
      }
    }
    expect(passed).toHaveLength(1);
  });

  test('under two more signatures, of keys that are not known: a fault, or these are other unknown ones', async () => {
    const { path } = await signedLog();
    const last = readCheckpoints(path)!.checkpoints.at(-1)!.note;
    const witness = signerKey('w', new Uint8Array(32).fill(9), nodeEd25519, 'cosignature');
    const note = cosignNote(signNote(last, signer(7, 'x'), nodeEd25519), witness, 1e9, nodeEd25519);
    const bytes = Buffer.from(encodeNote(note));
    const others = bytes.indexOf(Buffer.from('\n— x')) + 1;
    let passed = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      for (const bit of [at % 8]) {
        const changed = Buffer.from(bytes);
        changed[at] = changed[at]! ^ (1 << bit);
        writeFileSync(checkpointPath(path), changed);
        const examined = await examine(path, knowing(signer()));
        const what = `byte ${at}, bit ${bit}`;
        if (!examined.ok) continue;
        // What was signed, and by the known key, is as it was: only what nobody here can check is another.
        expect(at, what).toBeGreaterThan(others);
        passed += 1;
        const [stored] = readCheckpoints(path)!.checkpoints;
        expect(stored?.note.text, what).toBe(note.text);
        expect(stored?.note.signatures[0], what).toEqual(note.signatures[0]);
        expect(examined.notices.join(), what).toContain('unknown key');
      }
    }
    expect(passed).toBeGreaterThan(0);
  });

  test('without the key, nothing is signed, and what is stated still binds', async () => {
    const { path, bytes } = await signedLog();
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      writeFileSync(checkpointPath(path), changed);
      const examined = await examine(path, knowing());
      expect(signedRecords(examined), `${at}`).toBe(0);
      // A changed signature is one of a key that isn't known, as the genuine one is.
      if (examined.ok) expect(readCheckpoints(path)?.checkpoints).toHaveLength(2);
    }
  });
});

describe('keys of one name', () => {
  test('are two keys: who knows one takes the other for unknown, not for forged', async () => {
    const { path } = await signedLog(signer(2, 'me'));
    const examined = await examine(path, knowing(signer(1, 'me')));
    expect(examined).toMatchObject({ ok: true, coverage: [] });
    expect(examined.notices).toEqual([expect.stringMatching(/unknown key: me\+/)]);
    const both = await examine(path, knowing(signer(1, 'me'), signer(2, 'me')));
    expect(both).toMatchObject({ ok: true, coverage: [{ by: 'signed', records: 5 }], notices: [] });
  });

  test('one whose ID was changed is the known one still: it is forged', async () => {
    const { path, bytes } = await signedLog(signer(1, 'me'));
    const text = bytes.toString();
    const [, base64 = ''] = /— me (\S+)\n/.exec(text) ?? [];
    const signature = Buffer.from(base64, 'base64');
    for (let i = 0; i < 4; i += 1) {
      const other = Buffer.from(signature);
      other[i] = other[i]! ^ 0xff;
      writeFileSync(checkpointPath(path), text.replace(base64, other.toString('base64')));
      expect(await examine(path, knowing(signer(1, 'me')))).toMatchObject({
        ok: false,
        fault: { reason: 'bad_signature', detail: expect.stringContaining('checkpoint 1') },
      });
    }
  });

  test('a checkpoint that says it is of a known key, and isn’t', async () => {
    const { path } = await signedLog(signer(2, 'me'));
    const { verifier } = signer(1, 'me');
    const { checkpoints } = readCheckpoints(path)!;
    const forged = checkpoints.map(({ note: { text, signatures } }) =>
      encodeNote({
        text,
        signatures: signatures.map((each) => ({ ...each, keyId: verifier.keyId })),
      }),
    );
    writeFileSync(checkpointPath(path), forged.join(''));
    const examined = await examine(path, { keys: [verifier] });
    expect(examined).toMatchObject({ ok: false, fault: { reason: 'bad_signature', seq: 0 } });
    expect(examined.coverage).toEqual([]);
  });
});

test('a cosignature alone signs nothing: its maker only saw the log', async () => {
  const { path } = await signedLog();
  const witness = signerKey('w', new Uint8Array(32).fill(9), nodeEd25519, 'cosignature');
  const notes = readCheckpoints(path)!.checkpoints.map(({ note: { text } }) =>
    encodeNote(cosignNote({ text, signatures: [] }, witness, 1e9, nodeEd25519)),
  );
  writeFileSync(checkpointPath(path), notes.join(''));
  const since = '2001-09-09T01:46:40.000Z';
  expect(await examine(path, knowing(witness))).toMatchObject({
    ok: true,
    coverage: [{ by: 'witnessed', records: 5, who: 'w', since }],
  });
});

describe('a right cosignature of a log that a known key signed', () => {
  const witnesses = [8, 9].map((byte) =>
    signerKey(`w${byte}`, new Uint8Array(32).fill(byte), nodeEd25519, 'cosignature'),
  );
  const [one, two] = witnesses.map(({ verifier }) => encodeVerifierKey(verifier));
  const named = [`witness one ${one}`, `witness two ${two}`, 'group both all one two'];

  /** What a policy makes of it. */
  async function byPolicy(...lines: readonly string[]): Promise<Examined> {
    const { path, bytes } = await signedLog();
    const { note } = readCheckpoints(path)!.checkpoints.at(-1)!;
    const cosigned = cosignNote(note, witnesses[0]!, 1e9, nodeEd25519);
    writeFileSync(checkpointPath(path), bytes + encodeNote(cosigned));
    const policy = parsePolicy(`${[...named, ...lines].join('\n')}\n`);
    return examine(path, { ...knowing(signer(), ...witnesses), policy });
  }

  test('counts by a policy that names no log: the known keys are', async () => {
    const { coverage, notices } = await byPolicy('quorum one');
    expect(coverage).toContainEqual(
      expect.objectContaining({ by: 'witnessed', records: 5, who: 'w8' }),
    );
    expect(notices).toEqual([]);
  });

  test.each([
    [
      ['quorum both'],
      /^cosigned by w8 at 5 records, which doesn't count by the policy: the quorum "both" isn't reached: cosigned by one$/,
    ],
    [
      ['quorum one', `log ${encodeVerifierKey(signer(3).verifier)}`],
      /^cosigned by w8 .*: none of its log lines has the key that signed it, key-1\+[0-9a-f]{8}$/,
    ],
  ])('that a policy of %j does not accept is said, with why', async (lines, words) => {
    const { ok, coverage, notices } = await byPolicy(...lines);
    expect(ok).toBe(true);
    expect(coverage.map(({ by }) => by)).toEqual(['signed']);
    expect(notices).toEqual([expect.stringMatching(words)]);
  });
});

test('checkpoints in another order cover as much as the largest', async () => {
  const { path } = await signedLog();
  const notes = readCheckpoints(path)!.checkpoints.map(({ note }) => encodeNote(note));
  writeFileSync(checkpointPath(path), notes.toReversed().join(''));
  expect(await examine(path, knowing(signer()))).toMatchObject({
    ok: true,
    coverage: [{ by: 'signed', records: 5 }],
  });
});

test('one that was taken from another log is told from its own', async () => {
  const [one, two] = [await signedLog(), await signedLog()];
  writeFileSync(checkpointPath(one.path), two.bytes);
  expect(await examine(one.path, knowing(signer()))).toMatchObject({
    ok: false,
    fault: { reason: 'root_mismatch', seq: 0 },
  });
});

test('every unknown key is named once', async () => {
  const { path } = await signedLog(signer(3, 'three'));
  const file = readCheckpoints(path)!;
  expect(file.checkpoints).toHaveLength(2);
  const { unknown, signed, fault } = await checkSignatures(file, []);
  expect(unknown).toEqual([`three+${signer(3, 'three').verifier.keyId}`]);
  expect(signed).toEqual([]);
  expect(fault).toBeUndefined();
});

test('any number of made-up keys of a known one’s name: some are tried, and some are named', async () => {
  const { path, bytes } = await signedLog();
  const { name } = signer().verifier;
  const { text } = readCheckpoints(path)!.checkpoints.at(-1)!.note;
  const made = (ids: readonly number[], from = name): string => {
    const signatures = ids.map((id) => ({
      name: from,
      keyId: (id * 0x1000 + 0x0a).toString(16).padStart(8, '0'),
      signature: new Uint8Array(64).fill(id % 256),
    }));
    return encodeNote({ text, signatures });
  };
  const notes = Array.from({ length: 40 }, (_, n) =>
    made(Array.from({ length: 90 }, (__, k) => n * 90 + k)),
  );
  writeFileSync(checkpointPath(path), bytes + notes.join(''));
  const examined = await examine(path, knowing(signer()));
  expect(examined).toMatchObject({ ok: true, coverage: [{ by: 'signed', records: 5 }] });
  const [unknown = '', more] = examined.notices;
  expect(unknown).toMatch(/^signed by an unknown key: (key-1\+[0-9a-f]{8}, ){5}and 3595 more$/);
  expect(more).toMatch(/^so many unknown keys .* that not all were tried/);
  const lacking = await examine(path, { keys: [], required: ['signed'] });
  expect(lacking.fault?.reason).toBe('unknown_key');
  expect(lacking.fault?.detail.length).toBeLessThan(300);

  // The same ones in each note are tried once, and a long name is cut short.
  const long = 'x'.repeat(50_000);
  writeFileSync(
    checkpointPath(path),
    bytes + made([1, 2]).repeat(2) + made([1, 2, 3]) + made([4], long),
  );
  const { notices } = await examine(path, knowing(signer()));
  expect(notices).toHaveLength(1);
  expect(notices[0]?.length).toBeLessThan(300);
});

test('what a user remembers is not needed for it', async () => {
  const { path } = await signedLog();
  const user = userIn(join(newPath(), 'state'));
  expect(await examine(path, user.knowledge)).toMatchObject({ ok: true, remembered: true });
});
