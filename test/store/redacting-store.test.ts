/**
 * The store that takes values out: it keeps the contract, its disclosures are there before its records, and what a
 * disk does to either leaves both in step.
 *
 * @module
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { redact } from '../../src/evidence/commit.ts';
import { Revealer, type Disclosed } from '../../src/evidence/revealer.ts';
import { storeConformance } from '../../src/store/conformance.ts';
import { DisclosureFile, readDisclosures } from '../../src/store/disclosure-file.ts';
import { FileStore } from '../../src/store/file-store.ts';
import {
  createTranscript,
  openTranscript,
  type Durability,
  type TranscriptStore,
} from '../../src/store/index.ts';
import { RedactingStore, type RedactedDraft } from '../../src/store/redacting-store.ts';
import { canonicalJson, type Draft, type JsonValue } from '../../src/transcript/index.ts';
import { failing, failingLater, faultySystem, systemError, type Faults } from './faulty.ts';
import { FINAL, recordsOf, scratch, storeError, tool } from './helpers.ts';

const newPath = scratch();
let salts = 0;

const USER: Draft = { kind: 'user', payload: { content: 'hello', run: { redact: ['task'] } } };
const SECRET = tool('secret value');

function isSecret(value: JsonValue): boolean {
  return typeof value === 'string' && value.startsWith('secret');
}

/** @throws {CanonicalError} if it can't be recorded. */
function hide(draft: Draft): RedactedDraft {
  canonicalJson(draft.payload);
  const redacted = redact(
    draft.payload,
    (_, value) => isSecret(value),
    () => `salt-${(salts += 1)}`,
  );
  const { payload, disclosures } = redacted;
  return disclosures.length === 0
    ? { draft, disclosures }
    : { draft: { kind: draft.kind, payload }, disclosures };
}

/** The store of a transcript file with what it takes out. */
async function over(store: TranscriptStore, kept: number | null): Promise<RedactingStore> {
  if (!(store instanceof FileStore)) throw new Error('not a file');
  const file = await DisclosureFile.open(store.place, store.location, kept);
  return new RedactingStore(store, file, hide);
}

async function prepared(
  durability: Durability = 'turn',
): Promise<{ path: string; store: RedactingStore; faults: Faults }> {
  const path = newPath();
  const faults: Faults = {};
  const plain = await createTranscript(path, { durability }, faultySystem(faults));
  const store = await over(plain, null);
  await store.append([USER]);
  await store.sync();
  return { path, store, faults };
}

async function standing(path: string, sealed = false): Promise<Disclosed> {
  const revealer = new Revealer(await readDisclosures(path));
  for (const record of await recordsOf(path)) revealer.reveal(record);
  return revealer.end(sealed);
}

const GOOD = { withheld: 0, unused: 0, faults: [] };

describe.each<Durability>(['always', 'turn', 'never'])(
  'the contract, durability %s',
  (durability) => {
    const cases = storeConformance(async () => {
      const path = newPath();
      return {
        store: await over(await createTranscript(path, { durability }), null),
        reopen: async () => over(await openTranscript(path, { durability }), 0),
        dispose: () => rm(dirname(path), { recursive: true }),
      };
    });
    for (const { name, run } of cases) test(name, run);
  },
);

test('what is taken out is in no record, and in the file that its owner alone may read', async () => {
  const { path, store } = await prepared();
  await store.append([SECRET, tool('plain'), SECRET]);
  await store.append([FINAL]);
  await store.close();
  expect(readFileSync(path, 'utf8')).not.toContain('secret');
  expect(statSync(`${path}.open`).mode & 0o777).toBe(0o600);
  expect(await standing(path, true)).toEqual({ ...GOOD, committed: 2, disclosed: 2 });
  const open = await readDisclosures(path);
  expect([...open.lines.values()].map(({ seq, disclosure }) => [seq, disclosure.value])).toEqual([
    [1, 'secret value'],
    [3, 'secret value'],
  ]);
});

test('a draft that can’t be recorded leaves nothing in either file', async () => {
  const { path, store } = await prepared();
  for (const bad of [
    [SECRET, tool('\ud800')],
    [SECRET, FINAL, SECRET],
  ]) {
    await expect(store.append(bad)).rejects.toThrow();
    expect(readFileSync(`${path}.open`, 'utf8')).toBe('');
  }
  await store.append([SECRET]);
  await store.close();
  expect(await standing(path)).toEqual({ ...GOOD, committed: 1, disclosed: 1 });
});

test('a new transcript doesn’t take the disclosures of another for its own', async () => {
  const path = newPath();
  const store = await createTranscript(path);
  writeFileSync(`${path}.open`, '0 Wy\n');
  const error = await storeError(over(store, null), 'exists');
  expect(error.message).toContain(`${path}.open: there is such a file already`);
  expect(readFileSync(`${path}.open`, 'utf8')).toBe('0 Wy\n');
  // Whoever made an empty one could read what is written to it; and so could whoever made a link.
  writeFileSync(`${path}.open`, '');
  await storeError(over(store, null), 'exists');
  rmSync(`${path}.open`);
  symlinkSync(newPath('elsewhere'), `${path}.open`);
  await storeError(over(store, null), 'exists');
  rmSync(`${path}.open`);
  await (await over(store, null)).close();
});

test('through a link nothing is written, nor cut off, when a run goes on', async () => {
  const { path, store } = await prepared();
  await store.close();
  rmSync(`${path}.open`);
  const elsewhere = newPath('elsewhere');
  symlinkSync(elsewhere, `${path}.open`);
  for (const there of [null, 'keep']) {
    if (there !== null) writeFileSync(elsewhere, there);
    const plain = await openTranscript(path);
    const error = await storeError(over(plain, 0), 'failed');
    expect(error.message).toContain('.open is a symbolic link: nothing is written through it');
    await plain.close();
    expect(existsSync(elsewhere) ? readFileSync(elsewhere, 'utf8') : null).toBe(there);
  }
});

test.each<[string, (path: string) => void, string]>([
  ['bytes', (path) => truncateSync(path, 129 * 1024 * 1024), 'has over 134217728 bytes'],
  ['lines', (path) => writeFileSync(path, '\n'.repeat(500_001)), 'has over 500000 lines'],
])('a file of too many %s isn’t read, and what to do is said', async (_, make, words) => {
  const { path, store } = await prepared();
  await store.close();
  make(`${path}.open`);
  const error = await storeError(readDisclosures(path), 'failed');
  expect(error.message).toContain(words);
  expect(error.message).toContain('move it away');
});

test('a file that nothing belongs to is made anew: whoever made it may read it', async () => {
  const path = newPath();
  const store = await createTranscript(path);
  if (!(store instanceof FileStore)) throw new Error('not a file');
  writeFileSync(`${path}.open`, '');
  chmodSync(`${path}.open`, 0o666);
  const reader = openSync(`${path}.open`, 'r');
  const file = await DisclosureFile.open(store.place, store.location, 0);
  await file.append('0 Wy\n');
  await file.close();
  await store.close();
  expect(readFileSync(reader, 'utf8')).toBe('');
  closeSync(reader);
  expect(statSync(`${path}.open`).mode & 0o777).toBe(0o600);
});

test('nothing is written that could not be read again', async () => {
  const path = newPath();
  const store = await createTranscript(path);
  if (!(store instanceof FileStore)) throw new Error('not a file');
  writeFileSync(`${path}.open`, '');
  const full = 128 * 1024 * 1024;
  truncateSync(`${path}.open`, full);
  const file = await DisclosureFile.open(store.place, store.location, full);
  await expect(file.append('0 Wy\n')).rejects.toThrow('it is full');
  await file.close();
  await store.close();
  expect(statSync(`${path}.open`).size).toBe(full);
});

test('disclosures that are gone while a run goes on end it: nothing more could be revealed', async () => {
  const { path, store } = await prepared();
  await store.append([SECRET]);
  rmSync(`${path}.open`);
  await storeError(store.append([SECRET]), 'changed');
  expect(store.head.count).toBe(2);
  await storeError(store.sync(), 'changed');
  await store.close();
});

test('what a crash left behind the last record is cut off by the next writer', async () => {
  const { path, store } = await prepared();
  await store.append([SECRET]);
  await store.close();
  const kept = readFileSync(`${path}.open`);
  for (const tail of ['2 WyJzIiwidmFsdWUiLCJ4Il0\n', '2 Wy', '2 WyJzIiwidmFsdWUiLCJ4Il0\n2 Wy']) {
    writeFileSync(`${path}.open`, Buffer.concat([kept, Buffer.from(tail)]));
    const found = await standing(path);
    expect(found).toMatchObject({ disclosed: 1, withheld: 0, faults: [] });
    expect(found.unused).toBeGreaterThan(0);
    const again = await over(await openTranscript(path), kept.length);
    expect(readFileSync(`${path}.open`)).toEqual(kept);
    await again.close();
  }
});

/** `leaves`: whether bytes are on the disk when it fails. */
const WRITE_FAULTS: readonly [string, () => NonNullable<Faults['write']>][] = [
  ['the disk is full', () => failing('ENOSPC')],
  ['it takes nothing', () => () => 0],
  [
    'all is written, and then it fails',
    () => (real, length) => {
      real(length);
      throw systemError('EIO');
    },
  ],
  [
    'half is written, and then it fails',
    () => (real, length) => {
      real(length >> 1);
      throw systemError('EIO');
    },
  ],
];

/** The fault from the `nth` call on: the first write is of disclosures, the second of records. */
function fromCall(nth: number, fault: NonNullable<Faults['write']>): NonNullable<Faults['write']> {
  let calls = 0;
  return (real, length) => {
    calls += 1;
    return calls < nth ? real(length) : fault(real, length);
  };
}

describe.each([
  ['disclosures', 1],
  ['records', 2],
])('a write of %s fails', (_, nth) => {
  test.each(WRITE_FAULTS)(
    '%s: the next append works, and both files are in step',
    async (__, make) => {
      const { path, store, faults } = await prepared();
      const head = store.head;
      const before = readFileSync(path);
      faults.write = fromCall(nth, make());
      await storeError(store.append([SECRET, SECRET]), 'failed');
      expect(store.head).toEqual(head);
      expect(readFileSync(path)).toEqual(before);
      // As if the process had ended here.
      expect(await standing(path)).toMatchObject({ committed: 0, withheld: 0, faults: [] });
      delete faults.write;
      await store.append([tool('plain')]);
      expect(await standing(path)).toEqual({ ...GOOD, committed: 0, disclosed: 0 });
      await store.append([SECRET, FINAL]);
      await store.close();
      expect(await standing(path, true)).toEqual({ ...GOOD, committed: 1, disclosed: 1 });
    },
  );

  test('and can’t be taken back: nothing more is written, and no record is without its disclosures', async () => {
    const { path, store, faults } = await prepared();
    faults.write = fromCall(nth, (real, length) => {
      real(length);
      throw systemError('EIO');
    });
    faults.truncate = failing('EIO');
    await storeError(store.append([SECRET, SECRET]), 'failed');
    delete faults.write;
    delete faults.truncate;
    await storeError(store.append([SECRET]), 'failed');
    await store.close();
    // The bytes stayed: of disclosures that nothing needs, or of records that have theirs.
    const found = await standing(path);
    expect(found).toMatchObject({ withheld: 0, faults: [] });
    expect([found.committed, found.unused]).toEqual(nth === 1 ? [0, 2] : [2, 0]);
  });
});

test('a sync of disclosures that fails keeps their records from being written', async () => {
  const { path, store, faults } = await prepared();
  const before = readFileSync(path);
  faults.datasync = failingLater;
  await storeError(store.append([SECRET]), 'failed');
  expect(readFileSync(path)).toEqual(before);
  delete faults.datasync;
  const error = await storeError(store.append([SECRET]), 'failed');
  expect(error.message).toContain('.open: the disk failed to keep what was written');
  await store.close();
  expect(await standing(path)).toMatchObject({ withheld: 0, faults: [] });
});

test.each([
  ['turn', ['sync open', 'write record']],
  ['always', ['sync open', 'write record', 'sync record']],
  ['never', ['write record']],
] as const)(
  'durability %s: disclosures are durable before their record is written',
  async (durability, expected) => {
    const path = newPath();
    const seen: string[] = [];
    let watched = false;
    const faults: Faults = {
      write(real, length) {
        const before = readFileSync(path).length;
        const taken = real(length);
        if (watched && readFileSync(path).length > before) seen.push('write record');
        return taken;
      },
      async datasync(real) {
        await real();
        if (watched) seen.push(seen.includes('write record') ? 'sync record' : 'sync open');
      },
    };
    const store = await over(
      await createTranscript(path, { durability }, faultySystem(faults)),
      null,
    );
    watched = true;
    await store.append([SECRET]);
    expect(seen).toEqual(expected);
    await store.close();
  },
);

test.each<[string, Faults]>([
  ['open', { open: (real, path) => (path.endsWith('.open') ? failingLater() : real()) }],
  ['sync', { datasync: failingLater }],
  ['the sync of the folder', { syncDirectory: failingLater }],
])('%s fails when the file is made: it says so', async (_, fault) => {
  const path = newPath();
  const faults: Faults = {};
  const plain = await createTranscript(path, {}, faultySystem(faults));
  Object.assign(faults, fault);
  const error = await storeError(over(plain, null), 'failed');
  expect(error.message).toContain(`${path}.open: it can't be created`);
  // Nothing stays behind that would be in the way of another try.
  for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
  await (await over(plain, null)).close();
});

test('disclosures that can’t be read are no reason to call values withheld', async () => {
  const { path, store } = await prepared();
  await store.close();
  rmSync(`${path}.open`);
  expect((await readDisclosures(path)).lines.size).toBe(0);
  mkdirSync(`${path}.open`);
  await storeError(readDisclosures(path), 'failed');
});
