/**
 * Anchors: what is said of a log in other places is bounded, found under whatever name, and never said twice.
 *
 * @module
 */
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsPath, noteAnchor } from '../../src/attest/anchors-file.ts';
import { findAnchors, type Anchors } from '../../src/attest/anchors.ts';
import { addToCopy, readCopy, type Copy } from '../../src/attest/copy-file.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { encodeCheckpoint, encodeNote, signNote, type Note } from '../../src/evidence/index.ts';
import { scratch } from '../store/helpers.ts';
import { signer } from './support.ts';

const newPath = scratch();
const ORIGIN = `hashtape/${'0123456789abcdef'.repeat(4)}`;

function noteOf(size: number, origin = ORIGIN): Note {
  const text = encodeCheckpoint({
    origin,
    size,
    root: new Uint8Array(32).fill(size),
    extensions: [],
  });
  return signNote({ text, signatures: [] }, signer(), nodeEd25519);
}

function find(path: string, copies: readonly Copy[] = []): Promise<Anchors> {
  return findAnchors(path, ORIGIN, { keys: [signer().verifier], copies });
}

/** A path beside which copies are named as anchors. */
function naming(...paths: readonly string[]): string {
  const path = newPath();
  const lines = paths.map((each) => `${JSON.stringify({ kind: 'file', path: each })}\n`);
  writeFileSync(anchorsPath(path), lines.join(''));
  return path;
}

describe('a file that is named many times', () => {
  test('is looked at once, whatever it is called', async () => {
    const copy = newPath('copy');
    writeFileSync(copy, encodeNote(noteOf(3)));
    const name = basename(copy);
    const links = [newPath('soft'), newPath('softer')];
    for (const link of links) symlinkSync(copy, link);
    const path = naming(
      copy,
      ...links,
      ...[1, 2, 3].map((n) => `${dirname(copy)}/${'./'.repeat(n)}${name}`),
    );
    const { anchors, notices } = await find(path);
    expect(anchors).toMatchObject([{ size: 3, isVouched: true, who: `the copy in ${copy}` }]);
    expect(notices).toEqual([]);
  });

  test('and is full of other logs’ notes: they are not kept', async () => {
    const copy = newPath('copy');
    const other = encodeNote(noteOf(1, 'example.com/other'));
    writeFileSync(copy, other.repeat(Math.floor((15 * 1024 * 1024) / other.length)));
    const path = naming(...Array.from({ length: 99 }, (_, n) => `${'./'.repeat(n)}${copy}`), copy);
    const before = process.memoryUsage().rss;
    const { anchors, notices } = await find(path);
    expect(anchors).toEqual([]);
    expect(notices).toContain(`the copy in ${copy} states nothing of this log`);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });
});

test('the same statement twice in a copy, and a copy that is given and named, are one anchor', async () => {
  const copy = newPath('copy');
  writeFileSync(copy, encodeNote(noteOf(3)).repeat(3));
  const given = readCopy(copy);
  if (given === null) throw new Error('no copy');
  expect((await find(naming(copy), [given])).anchors).toHaveLength(1);
  expect((await find(newPath(), [given])).anchors).toHaveLength(1);
});

/** A copy that holds a text. */
function copyOf(text: string): string {
  const copy = newPath('copy');
  writeFileSync(copy, text);
  return copy;
}

/** Looks at a copy that is given, and at git notes of this text. */
function findWith(copy: string, text: string): Promise<Anchors> {
  const given = readCopy(copy);
  if (given === null) throw new Error('no copy');
  return findAnchors(newPath(), ORIGIN, {
    keys: [signer().verifier],
    copies: [given],
    findGitNotes: async () => ({ notes: [{ commit: 'c'.repeat(40), text }] }),
  });
}

/** What is said of places in which there was too much. */
function limits({ notices }: Anchors): readonly string[] {
  return notices.filter((notice) => notice.startsWith('only'));
}

describe('what somebody writes to one place is not in the way of another', () => {
  const TOO_MUCH = 'only 10000 of its checkpoints in';
  const one = encodeNote(noteOf(1));
  /** As many statements that differ, each with a signature that seems to be of nobody. */
  const junk = Array.from({ length: 10_001 }, (_, i) =>
    one.replace('\n1\n', `\n${i + 10}\n`).replace(/key-1 \S+/, `x ${'A'.repeat(12)}`),
  ).join('\n');

  const whole = expect.objectContaining({ size: 9, isVouched: true });
  test('the same checkpoint again and again is one, whatever is signed below it', async () => {
    const again = `${one}\n`.repeat(100_001);
    // Keys that nobody knows: their signatures make other bytes, and no other statement.
    const below = Array.from({ length: 100_001 }, (_, i) => `${one}— x${i} ${'A'.repeat(12)}\n`);
    for (const text of [again, below.join('\n')]) {
      const found = await findWith(copyOf(encodeNote(noteOf(9))), text + encodeNote(noteOf(8)));
      expect(found.anchors).toContainEqual(whole);
      expect(found.anchors.filter(({ isVouched }) => isVouched)).toHaveLength(3);
      expect(limits(found)).toEqual([]);
    }
  });

  test('git notes that differ are too many, which is said, and the copy that was given is read', async () => {
    const found = await findWith(copyOf(encodeNote(noteOf(9))), junk);
    expect(found.anchors).toContainEqual(whole);
    expect(limits(found)).toEqual([`${TOO_MUCH} git notes were looked at`]);
  });

  test('the copies that its file of anchors names have a limit together, a copy that is given has none', async () => {
    const full = copyOf(junk);
    const last = copyOf(`${junk}\n${encodeNote(noteOf(9))}`);
    const named = await find(naming(full, last));
    expect(named.anchors).not.toContainEqual(whole);
    expect(limits(named)).toEqual([
      `${TOO_MUCH} the copies that its file of anchors names were looked at`,
    ]);
    const given = [full, last].flatMap((path) => readCopy(path) ?? []);
    const found = await find(naming(full, last), given);
    expect(found.anchors).toContainEqual(whole);
    expect(limits(found)).toEqual([]);
  });
});

test('a copy of over 16 MiB isn’t read, and that is said', async () => {
  const copy = newPath('copy');
  writeFileSync(copy, encodeNote(noteOf(3)));
  truncateSync(copy, 16 * 1024 * 1024 + 1);
  // However often it is named.
  const { anchors, notices } = await find(naming(copy, `${dirname(copy)}/./${basename(copy)}`));
  expect(anchors).toEqual([]);
  expect(notices).toEqual([expect.stringMatching(/can't be read: .* is too large: over 16 MiB/)]);
});

describe('the file that says where anchors are', () => {
  test('of over 16 MiB isn’t read, and that is said', async () => {
    const path = newPath();
    writeFileSync(anchorsPath(path), '');
    truncateSync(anchorsPath(path), 16 * 1024 * 1024 + 1);
    expect((await find(path)).notices).toEqual([
      expect.stringMatching(/where its anchors are can't be read: .* over 16 MiB/),
    ]);
  });

  test('of millions of lines is looked at as far as the first hundred that differ', async () => {
    const copy = newPath('copy');
    writeFileSync(copy, encodeNote(noteOf(3)));
    const path = naming(copy);
    const lines = readFileSync(anchorsPath(path), 'utf8');
    writeFileSync(anchorsPath(path), `\n\n${lines.repeat(3)}${'{}\n'.repeat(10)}`);
    expect((await find(path)).notices).toEqual([]);
    const many = Array.from({ length: 1_000_000 }, (_, i) => `[${i}]\n`).join('');
    writeFileSync(anchorsPath(path), lines + many);
    const start = performance.now();
    const { anchors, notices } = await find(path);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(anchors).toHaveLength(1);
    expect(notices).toEqual(['only 100 of its anchors were looked at']);
  });

  test('names each anchor once, also behind a line that was cut off', async () => {
    const [path, copy] = [newPath(), newPath('copy')];
    writeFileSync(copy, encodeNote(noteOf(3)));
    writeFileSync(anchorsPath(path), '{"kind":"fi');
    const anchor = { kind: 'file', path: copy };
    await noteAnchor(path, anchor);
    await noteAnchor(path, anchor);
    const line = JSON.stringify(anchor);
    expect(readFileSync(anchorsPath(path), 'utf8')).toBe(`{"kind":"fi\n${line}\n`);
    expect((await find(path)).anchors).toHaveLength(1);
  });

  test('isn’t written through a link', async () => {
    const path = newPath();
    symlinkSync(newPath('elsewhere'), anchorsPath(path));
    await expect(noteAnchor(path, { kind: 'file', path: 'x' })).rejects.toThrow(
      /\.anchors is a symbolic link: nothing is written through it/,
    );
  });
});

describe('a copy that is added to', () => {
  const whole = encodeNote(noteOf(3)) + encodeNote(noteOf(5));

  test('cut off at any byte has what is added, and what was whole', async () => {
    const path = newPath('copy');
    for (let size = 0; size <= whole.length; size += 1) {
      writeFileSync(path, Buffer.from(whole).subarray(0, size));
      expect(await addToCopy(path, noteOf(9)), `${size}`).toBe(true);
      expect(await addToCopy(path, noteOf(9)), `${size}`).toBe(false);
      const { anchors } = await find(naming(path));
      const sizes = anchors.filter(({ isVouched }) => isVouched).map((anchor) => anchor.size);
      const first = Buffer.from(encodeNote(noteOf(3))).length;
      // A newline alone may be all that was missing.
      const expected = size >= first - 1 ? [3, 9] : [9];
      expect(
        sizes.filter((each) => each !== 5),
        `${size}`,
      ).toEqual(expected);
      expect(
        readFileSync(path).subarray(0, size).equals(Buffer.from(whole).subarray(0, size)),
      ).toBe(true);
    }
  });

  test('is no folder, and not over 16 MiB', async () => {
    const folder = newPath('folder');
    mkdirSync(folder);
    await expect(addToCopy(folder, noteOf(9))).rejects.toThrow('is no plain file');
    const path = newPath('copy');
    writeFileSync(path, '');
    truncateSync(path, 16 * 1024 * 1024);
    await expect(addToCopy(path, noteOf(9))).rejects.toThrow('is full: begin another file');
  });
});
