/**
 * Proofs of single records: made of a log, with and without the cached tree, against a tree that is computed whole.
 *
 * @module
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkpointPath } from '../../src/attest/checkpoint-file.ts';
import { checkProof } from '../../src/attest/check-proof.ts';
import { originOf } from '../../src/attest/log-identity.ts';
import { ProveError, proveRecord } from '../../src/attest/prove.ts';
import { BLOCK } from '../../src/attest/tree-cache.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { fromHex } from '../../src/evidence/hex.ts';
import {
  encodeCheckpoint,
  encodeNote,
  MerkleTree,
  parseNote,
  parseTlogProof,
  proveInclusion,
  signNote,
} from '../../src/evidence/index.ts';
import { createTranscript, type StoreErrorCode } from '../../src/store/index.ts';
import { type Draft } from '../../src/transcript/index.ts';
import { scratch, storeError } from '../store/helpers.ts';
import { FINAL, signer, toolRecord, userIn, userRecord, writeLog } from './support.ts';

const newPath = scratch();
const KEYS = [signer().verifier];

/** A log that is made once, and what is in it. */
interface Log {
  readonly path: string;
  readonly lines: readonly string[];
  readonly hashes: readonly string[];
}

async function newLog(drafts: readonly Draft[], path = newPath()): Promise<Log> {
  const store = await createTranscript(path, { durability: 'never' });
  const lines = await store.append(drafts);
  await store.close();
  return {
    path,
    lines: lines.map(({ text }) => text.trimEnd()),
    hashes: lines.map(({ hash }) => hash),
  };
}

/** Puts one checkpoint of a size beside a log, whatever was there. */
function sign({ path, hashes }: Log, size: number, origin = originOf(hashes[0]!)): void {
  const tree = new MerkleTree();
  for (const hash of hashes.slice(0, size)) tree.appendHex(hash);
  const text = encodeCheckpoint({ origin, size, root: tree.root(), extensions: [] });
  const note = signNote({ text, signatures: [] }, signer(), nodeEd25519);
  writeFileSync(checkpointPath(path), encodeNote(note));
}

/** The message with which a proof is refused. */
async function refused(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => 'it was made',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProveError);
  return error instanceof Error ? error.message : '';
}

describe('each record of logs of all small sizes, and of sizes around whole blocks', () => {
  let log: Log;
  let leaves: Uint8Array[];
  beforeAll(async () => {
    log = await newLog([userRecord(), ...Array.from({ length: 520 }, (_, i) => toolRecord(i))]);
    const tree = new MerkleTree();
    leaves = log.hashes.map((hash) => tree.append(fromHex(hash)!));
  });

  const sizes = [...Array.from({ length: 18 }, (_, i) => i + 1), 255, 256, 257, 511, 512, 513];
  test.each(sizes)('%i', async (size) => {
    sign(log, size);
    const cache = newPath('cache');
    const step = size > 100 ? 17 : 1;
    for (let seq = 0; seq < size; seq += seq > 250 && seq < 258 ? 1 : step) {
      const text = await proveRecord(log.path, seq, { cache });
      const proof = parseTlogProof(text);
      expect(proof.index).toBe(seq);
      expect(Buffer.from(proof.extra!).toString()).toBe(log.lines[seq]);
      expect(proof.path).toEqual(
        proveInclusion(seq, size, (level, i) => (level === 0 ? leaves[i] : undefined)),
      );
      expect(await checkProof(text, KEYS)).toMatchObject({ ok: true, size, record: { seq } });
    }
    expect(await refused(proveRecord(log.path, size))).toMatch(
      `no checkpoint covers record ${size}. \`hashtape checkpoint ${log.path}\` makes one`,
    );
    // So small a log isn't worth it.
    expect(existsSync(cache)).toBe(false);
  });
});

test('a log as the command writes it: by the newest checkpoint that covers the record', async () => {
  const path = newPath();
  const user = userIn(newPath('state'));
  await writeLog(path, user.attesting, { count: 40 });
  for (const seq of [0, 20, 39]) {
    const checked = await checkProof(await proveRecord(path, seq), KEYS);
    expect(checked).toMatchObject({ ok: true, size: 40, record: { seq } });
  }
  const file = new URL(`file://${path}`);
  expect(await proveRecord(file, 3)).toBe(await proveRecord(path, 3));
});

test('lines longer than what is read at once', async () => {
  const long = [1, 300_000, 524_000, 524_288, 40, 800_000, 7].map((n) => 'ü'.repeat(n / 2));
  const drafts = [userRecord(), ...long.map(toolRecord), FINAL];
  const log = await newLog(drafts);
  sign(log, drafts.length);
  for (const seq of [0, 1, 5, 7, 8]) {
    expect(await checkProof(await proveRecord(log.path, seq), KEYS)).toMatchObject({ ok: true });
  }
  const words = 'bytes, and a proof file holds records of up to 700000';
  expect(await refused(proveRecord(log.path, 6))).toContain(words);
});

describe('the cached tree', () => {
  const COUNT = 40 * BLOCK + 7;
  let log: Log;
  let cache: string;
  let cached: string;

  beforeAll(async () => {
    log = await newLog([
      userRecord(),
      ...Array.from({ length: COUNT - 1 }, (_, i) => toolRecord(i)),
    ]);
  });

  /** A cache in which the log is, and a log from which a record's claim has gone. */
  async function begin(): Promise<Log> {
    cache = newPath('cache');
    const copy = { ...log, path: newPath() };
    writeFileSync(copy.path, readFileSync(log.path));
    sign(copy, COUNT);
    await proveRecord(copy.path, 5, { cache });
    cached = join(cache, 'trees', log.hashes[0]!);
    expect(statSync(cached).size).toBe(40 * 40);
    return copy;
  }

  /** Changes what record 1000 claims, which is in block 3. */
  function spoil({ path }: Log): void {
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(log.hashes[1000]!, '0'.repeat(64)));
  }

  async function holds(path: string, seq: number): Promise<void> {
    const text = await proveRecord(path, seq, { cache });
    expect(await checkProof(text, KEYS)).toMatchObject({ ok: true, record: { seq } });
  }

  test('stands for what isn’t read again', async () => {
    const copy = await begin();
    spoil(copy);
    for (const seq of [0, 255, 256, 767, 1024, 40 * BLOCK - 1, 40 * BLOCK, COUNT - 1]) {
      await holds(copy.path, seq);
    }
    // Where it is read, or without the cache, it shows.
    for (const seq of [768, 1000, 1023]) {
      await expect(proveRecord(copy.path, seq, { cache })).rejects.toThrow(ProveError);
    }
    expect(await refused(proveRecord(copy.path, 0))).toMatch(
      `states ${COUNT} records, and its records' hashes have another root, so nothing can be proven. \`hashtape verify`,
    );
  });

  test('goes on with a log that has grown', async () => {
    const copy = await begin();
    sign(copy, 36 * BLOCK + 3);
    cache = newPath('cache');
    await proveRecord(copy.path, 5, { cache });
    cached = join(cache, 'trees', log.hashes[0]!);
    expect(statSync(cached).size).toBe(36 * 40);
    sign(copy, COUNT);
    spoil(copy);
    for (const seq of [3, 36 * BLOCK, 38 * BLOCK + 1, COUNT - 1]) await holds(copy.path, seq);
    expect(statSync(cached).size).toBe(40 * 40);
    // And one that covers more than the checkpoint does no harm.
    sign(copy, 33 * BLOCK + 1);
    for (const seq of [3, 32 * BLOCK, 33 * BLOCK]) await holds(copy.path, seq);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['with another hash', (bytes) => bytes.fill(7, 8 + 40 * 20, 40 * 21)],
    ['with other places', (bytes) => bytes.fill(1, 40, 48).fill(255, 80, 88)],
    ['with places beyond the file', (bytes) => (bytes.writeDoubleLE(1e15, 40), bytes)],
    ['with places before the file', (bytes) => (bytes.writeDoubleLE(-5, 40), bytes)],
    ['cut', (bytes) => bytes.subarray(0, 40 * 30 + 11)],
    ['empty', () => Buffer.alloc(0)],
    ['of another log, and longer', () => Buffer.alloc(40 * 200, 3)],
    ['far too large', () => Buffer.alloc(5_000_000)],
  ])('%s is never believed', async (_, damage) => {
    const copy = await begin();
    writeFileSync(cached, damage(readFileSync(cached)));
    for (const seq of [2, 300, 511, 600, 20 * BLOCK, COUNT - 1]) await holds(copy.path, seq);
    // It is mended.
    expect(statSync(cached).size).toBe(40 * 40);
    spoil(copy);
    await holds(copy.path, 2);
  });

  test('that can’t be read or written is no error', async () => {
    const copy = await begin();
    for (const make of [
      (path: string) => writeFileSync(path, 'a file'),
      (path: string) => mkdirSync(join(path, 'trees', log.hashes[0]!), { recursive: true }),
    ]) {
      cache = newPath('cache');
      make(cache);
      await holds(copy.path, 9);
    }
  });

  test('is kept of sixteen logs, the newest', async () => {
    await begin();
    const copy = { ...log, path: newPath() };
    writeFileSync(copy.path, readFileSync(log.path));
    sign(copy, COUNT);
    const trees = dirname(cached);
    for (let i = 0; i < 30; i += 1) {
      const path = join(trees, String(i).padStart(64, '0'));
      writeFileSync(path, '');
      utimesSync(path, i + 1, i + 1);
    }
    truncateSync(cached, 0);
    await holds(copy.path, 1);
    const left = readdirSync(trees);
    expect(left).toHaveLength(16);
    expect(left).toContain(log.hashes[0]);
    expect(left).toContain('29'.padStart(64, '0'));
    expect(left).not.toContain('14'.padStart(64, '0'));
  });
});

describe('nothing is proven', () => {
  let log: Log;
  beforeAll(async () => {
    log = await newLog([userRecord(), ...Array.from({ length: 10 }, (_, i) => toolRecord(i))]);
  });

  /** A copy of the log, with a checkpoint of all of it. */
  function copied(change: (text: string) => string = (text) => text): string {
    const path = newPath();
    writeFileSync(path, change(readFileSync(log.path, 'utf8')));
    sign({ ...log, path }, 11);
    return path;
  }

  test.each([-1, 1.5, NaN, Infinity, 2 ** 53])('of record %d', async (seq) => {
    expect(await refused(proveRecord(copied(), seq))).toContain('records are numbered from 0');
  });

  test('of a record that isn’t there', async () => {
    const message = await refused(proveRecord(copied(), 11));
    expect(message).toContain('there is no record 11: the last is record 10');
    expect(await refused(proveRecord(log.path, 11))).toContain('there is no record 11');
  });

  test('without a checkpoint, or by one that is damaged', async () => {
    expect(await refused(proveRecord(log.path, 3))).toContain('no checkpoint covers record 3. ');
    const path = copied();
    writeFileSync(checkpointPath(path), 'x\n\n— a AAAAAAA=\n');
    expect(await refused(proveRecord(path, 3))).toContain("its checkpoints can't be used (");
  });

  test('of the unfinished end of a log', async () => {
    const path = copied();
    appendFileSync(path, '{"hash":"');
    expect(await refused(proveRecord(path, 11))).toContain(
      'no checkpoint covers record 11; its last line is unfinished, as a crash leaves it',
    );
    // The others are as they were.
    expect(await checkProof(await proveRecord(path, 10), KEYS)).toMatchObject({ ok: true });
  });

  test.each<[string, (text: string) => string, string]>([
    ['that was cut', (text) => text.split('\n').slice(0, 9).join('\n') + '\n', 'it has 9 whole'],
    ['cut within a line', (text) => text.slice(0, -20), 'it has 10 whole records'],
    ['with an edited record', (text) => text.replace('"value":4', '"value":5'), "record 5 doesn't"],
    ['with exchanged records', exchanged, 'another root'],
    [
      'with a record put in',
      (text) => text.replace('\n', `\n${text.split('\n')[4]}\n`),
      'says it is 4',
    ],
    ['with a line that is none', (text) => text.replace('\n', '\n\n'), 'line 2 doesn'],
    ['with a hash in capitals', (text) => text.replace(/(?<=\n{"hash":")\w+/, upper), 'line 2 d'],
    ['with a longer hash', (text) => text.replace(/(?<=\n{"hash":"\w+)"/, '0"'), 'line 2 d'],
  ])('of a log %s', async (_, change, words) => {
    const path = copied(change);
    const message = await refused(proveRecord(path, 5));
    expect(message).toContain(`checkpoint 1 beside it states 11 records, and `);
    expect(message).toContain(words);
    expect(message).toContain(`\`hashtape verify ${path}\` tells what is wrong`);
  });

  test('of a log that was written anew, by the old one’s checkpoint', async () => {
    const other = await newLog([
      userRecord(),
      ...Array.from({ length: 10 }, (_, i) => toolRecord(i)),
    ]);
    writeFileSync(checkpointPath(other.path), readFileSync(checkpointPath(copied())));
    expect(await refused(proveRecord(other.path, 5))).toContain(
      `checkpoint 1 beside it is of another log, ${originOf(log.hashes[0]!)}`,
    );
  });

  test.each([
    ['an audit log', readFileSync(new URL('../testdata/seeds/audit_valid.jsonl', import.meta.url))],
    ['an empty file', ''],
    ['prose', 'Dear reader,\n'],
    ['half a record', '{"hash":"00'],
  ])('of %s', async (_, content) => {
    const path = newPath();
    writeFileSync(path, content);
    expect(await refused(proveRecord(path, 0))).toContain(
      "it doesn't begin with a transcript's record",
    );
  });

  test('of what is no file', async () => {
    const codes: [string, StoreErrorCode][] = [
      [newPath('nothing'), 'missing'],
      [join(copied(), 'below-a-file'), 'failed'],
    ];
    for (const [path, code] of codes) await storeError(proveRecord(path, 0), code);
    expect(await refused(proveRecord(dirname(newPath()), 0))).toContain('it is no plain file');
    await expect(proveRecord('', 0)).rejects.toThrow(TypeError);
  });
});

function upper(text: string): string {
  return text.replaceAll(/[0-9]/g, 'A').toUpperCase();
}

function exchanged(text: string): string {
  const lines = text.split('\n');
  return [...lines.slice(0, 7), lines[8], lines[7], ...lines.slice(9)].join('\n');
}

test('a checkpoint by a known key is taken rather than a newer one by another', async () => {
  const log = await newLog([userRecord(), toolRecord(1), FINAL]);
  sign(log, 2);
  const known = readFileSync(checkpointPath(log.path), 'utf8');
  sign(log, 3);
  const newer = parseNote(readFileSync(checkpointPath(log.path)));
  const strange = signNote({ text: newer.text, signatures: [] }, signer(7), nodeEd25519);
  writeFileSync(checkpointPath(log.path), known + encodeNote(strange));
  const proof = await proveRecord(log.path, 1, { keys: KEYS });
  expect(await checkProof(proof, KEYS)).toMatchObject({ ok: true, size: 2 });
  // Where none that is known covers it, or no key is known, the newest is.
  for (const [seq, keys] of [
    [2, KEYS],
    [1, []],
  ] as const) {
    expect(await checkProof(await proveRecord(log.path, seq, { keys }), KEYS)).toMatchObject({
      ok: false,
      size: 3,
      fault: { reason: 'unknown_key' },
    });
  }
});
