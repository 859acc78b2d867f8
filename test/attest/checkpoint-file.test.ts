/**
 * The file of checkpoints: what a crash leaves of it is taken away, what was changed is not, and a disk that
 * fails loses nothing that was there.
 *
 * @module
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  checkpointPath,
  CheckpointWriter,
  readCheckpoints,
} from '../../src/attest/checkpoint-file.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { encodeCheckpoint, encodeNote, signNote, type Note } from '../../src/evidence/index.ts';
import { nodeFileSystem } from '../../src/store/filesystem.ts';
import { failing, failingLater, faultySystem, systemError, type Faults } from '../store/faulty.ts';
import { scratch } from '../store/helpers.ts';
import { signer } from './support.ts';

const newPath = scratch();
const ORIGIN = `hashtape/${'0123456789abcdef'.repeat(4)}`;

function noteOf(size: number, ...keys: number[]): Note {
  const root = new Uint8Array(32).fill(size % 256);
  const text = encodeCheckpoint({ origin: ORIGIN, size, root, extensions: [] });
  return (keys.length === 0 ? [1] : keys).reduce<Note>(
    (note, key) => signNote(note, signer(key), nodeEd25519),
    { text, signatures: [] },
  );
}

function bytesOf(...notes: readonly Note[]): Buffer {
  return Buffer.from(notes.map(encodeNote).join(''));
}

const [FIRST, SECOND, THIRD] = [noteOf(1), noteOf(300, 1, 2), noteOf(9000)];

function sizesIn(path: string): number[] {
  return (readCheckpoints(path)?.checkpoints ?? []).map(({ checkpoint }) => checkpoint.size);
}

test('no file is no checkpoint, an empty one holds none', () => {
  const path = newPath();
  expect(readCheckpoints(path)).toBeNull();
  writeFileSync(checkpointPath(path), '');
  expect(readCheckpoints(path)).toEqual({ checkpoints: [], torn: false });
});

test('one after the other is appended, on the disk before it is said, its name too', async () => {
  const path = newPath();
  const steps: string[] = [];
  const system = faultySystem({
    write: (real, length) => (steps.push('write'), real(length)),
    datasync: (real) => (steps.push('sync'), real()),
    syncDirectory: (real, folder) => {
      expect(folder).toBe(dirname(path));
      steps.push('sync folder');
      return real();
    },
  });
  const writer = new CheckpointWriter(path, system);
  for (const note of [FIRST, SECOND, THIRD]) await writer.append(note);
  expect(readFileSync(checkpointPath(path))).toEqual(bytesOf(FIRST, SECOND, THIRD));
  expect(readCheckpoints(path)).toMatchObject({
    checkpoints: [{ number: 1, note: FIRST }, { number: 2, note: SECOND }, { number: 3 }],
    torn: false,
  });
  expect(steps).toEqual(['write', 'sync', 'sync folder', 'write', 'sync', 'write', 'sync']);
});

describe('cut at every byte of its last two notes', () => {
  const whole = bytesOf(FIRST, SECOND, THIRD);
  const start = bytesOf(FIRST).length;

  test('it is read as far as it is whole, and another is appended to what is whole', async () => {
    for (let size = start; size < whole.length; size += 1) {
      const path = newPath();
      writeFileSync(checkpointPath(path), whole.subarray(0, size));
      const read = readCheckpoints(path);
      expect(read?.damage, `${size}`).toBeUndefined();
      const sizes = sizesIn(path);
      expect(sizes, `${size}`).toEqual([1, 300, 9000].slice(0, sizes.length));
      expect(sizes.length, `${size}`).toBe(
        size < whole.length - bytesOf(THIRD).length ? sizes.length : 2,
      );
      await new CheckpointWriter(path).append(THIRD);
      expect(readCheckpoints(path), `${size}`).toMatchObject({ torn: false });
      expect(readCheckpoints(path)?.damage, `${size}`).toBeUndefined();
      expect(sizesIn(path), `${size}`).toEqual([...sizes, 9000]);
      // What was whole is there byte for byte.
      const kept = readFileSync(checkpointPath(path)).subarray(0, -bytesOf(THIRD).length);
      expect(kept.equals(whole.subarray(0, kept.length)), `${size}`).toBe(true);
    }
  });

  test('with zeros after the cut, as a loss of power may leave, the same', async () => {
    for (let size = start; size < whole.length; size += 7) {
      const path = newPath();
      writeFileSync(
        checkpointPath(path),
        Buffer.concat([whole.subarray(0, size), Buffer.alloc(99)]),
      );
      const before = sizesIn(path);
      expect(readCheckpoints(path), `${size}`).toMatchObject({ torn: true });
      expect(readCheckpoints(path)?.damage, `${size}`).toBeUndefined();
      await new CheckpointWriter(path).append(THIRD);
      expect(sizesIn(path)).toEqual([...before, 9000]);
      expect(readCheckpoints(path)).toMatchObject({ torn: false });
    }
  });
});

describe('what no crash leaves is damage, as far as which the others count', () => {
  test.each<[string, Buffer, number]>([
    ['text after the last', Buffer.concat([bytesOf(FIRST), Buffer.from('garbage\n')]), 1],
    ['text before the first', Buffer.concat([Buffer.from('garbage\n'), bytesOf(FIRST)]), 0],
    [
      'a blank line between two',
      Buffer.concat([bytesOf(FIRST), Buffer.from('\n'), bytesOf(SECOND)]),
      1,
    ],
    ['another line end', Buffer.from(bytesOf(FIRST).toString().replaceAll('\n', '\r\n')), 0],
    ['bytes that are no text', Buffer.concat([bytesOf(FIRST), Buffer.from([0xff, 0xfe])]), 1],
    [
      'bytes that are no text in a name',
      Buffer.from(bytesOf(FIRST).toString('latin1').replace('key-1', 'key-\xff'), 'latin1'),
      0,
    ],
    [
      'a note of something else',
      Buffer.from(encodeNote(signNote({ text: 'hello\n', signatures: [] }, signer(), nodeEd25519))),
      0,
    ],
  ])('%s', (_, bytes, count) => {
    const path = newPath();
    writeFileSync(checkpointPath(path), bytes);
    const read = readCheckpoints(path);
    expect(read?.damage).toMatch(new RegExp(`^checkpoint ${count + 1}: `));
    expect(read?.checkpoints).toHaveLength(count);
    expect(read?.torn).toBe(false);
  });

  test('a folder in its place is told as a problem, not as damage', () => {
    const path = newPath();
    mkdirSync(checkpointPath(path));
    expect(readCheckpoints(path)).toEqual({
      checkpoints: [],
      torn: false,
      problem: expect.stringContaining('is no plain file'),
    });
  });
});

describe('a disk that fails', () => {
  const FAULTS: readonly [string, Faults][] = [
    ['no room', { write: failing('ENOSPC') }],
    [
      'no room for more than a part of it',
      {
        write: (real) => {
          real(40);
          throw systemError('ENOSPC');
        },
      },
    ],
    ['a sync that fails', { datasync: failingLater }],
    ['a file that can’t be opened', { open: failingLater }],
  ];

  test.each(FAULTS)(
    '%s: it is told, what was there stays, and another writer goes on',
    async (_, faults) => {
      const path = newPath();
      await new CheckpointWriter(path).append(FIRST);
      await expect(new CheckpointWriter(path, faultySystem(faults)).append(SECOND)).rejects.toThrow(
        /ENOSPC|EIO/,
      );
      const sizes = sizesIn(path);
      expect(sizes[0]).toBe(1);
      expect(readCheckpoints(path)?.damage).toBeUndefined();
      await new CheckpointWriter(path).append(THIRD);
      expect(sizesIn(path)).toEqual([...sizes, 9000]);
    },
  );

  test.each(FAULTS)('%s, the first time: the same', async (_, faults) => {
    const path = newPath();
    const writer = new CheckpointWriter(path, faultySystem(faults));
    await expect(writer.append(FIRST)).rejects.toThrow(/ENOSPC|EIO/);
    expect(readCheckpoints(path)?.damage).toBeUndefined();
    const sizes = sizesIn(path);
    await new CheckpointWriter(path).append(THIRD);
    expect(sizesIn(path)).toEqual([...sizes, 9000]);
  });

  test('a writer whose write failed cuts off what is left of it by itself', async () => {
    const path = newPath();
    const faults: Faults = {};
    const writer = new CheckpointWriter(path, faultySystem(faults));
    await writer.append(FIRST);
    faults.write = (real) => {
      real(40);
      throw systemError('ENOSPC');
    };
    await expect(writer.append(SECOND)).rejects.toThrow('ENOSPC');
    expect(readCheckpoints(path)?.torn).toBe(true);
    delete faults.write;
    await writer.append(THIRD);
    expect(readFileSync(checkpointPath(path))).toEqual(bytesOf(FIRST, THIRD));
  });

  test('write(2) that takes few bytes at a time loses none', async () => {
    const path = newPath();
    const system = faultySystem({ write: (real, length) => real(Math.min(length, 11)) });
    await new CheckpointWriter(path, system).append(SECOND);
    expect(readFileSync(checkpointPath(path))).toEqual(bytesOf(SECOND));
  });
});

test('what was appended by somebody else is not cut', async () => {
  const path = newPath();
  const writer = new CheckpointWriter(path, nodeFileSystem);
  await writer.append(FIRST);
  appendFileSync(checkpointPath(path), bytesOf(SECOND));
  await writer.append(THIRD);
  expect(sizesIn(path)).toEqual([1, 300, 9000]);
  expect(existsSync(`${checkpointPath(path)}.lock`)).toBe(false);
});

describe('a file of 16 MiB', () => {
  const most = 16 * 1024 * 1024;

  test('is as much as is read', () => {
    const path = newPath();
    writeFileSync(checkpointPath(path), bytesOf(FIRST));
    truncateSync(checkpointPath(path), most + 1);
    expect(readCheckpoints(path)).toEqual({
      checkpoints: [],
      torn: false,
      problem: expect.stringContaining('is too large: over 16 MiB'),
    });
  });

  test('of another log is read no further than its first', () => {
    const path = newPath();
    writeFileSync(checkpointPath(path), bytesOf(FIRST, SECOND));
    expect(readCheckpoints(path, 'hashtape/other')?.checkpoints).toHaveLength(1);
    expect(readCheckpoints(path, ORIGIN)?.checkpoints).toHaveLength(2);
  });

  test('doesn’t grow: every second of the older ones is left out, but for what others cosigned', async () => {
    const path = newPath();
    const [one, two] = [bytesOf(FIRST), bytesOf(SECOND)];
    const many = Math.floor((most - two.length) / one.length) - 1;
    const bytes = Buffer.concat([...Array.from({ length: many }, () => one), two, one]);
    writeFileSync(checkpointPath(path), bytes);
    chmodSync(checkpointPath(path), 0o640);
    const writer = new CheckpointWriter(path);
    for (let size = bytes.length; size + bytesOf(THIRD).length <= most;) {
      await writer.append(THIRD);
      size += bytesOf(THIRD).length;
    }
    await writer.append(noteOf(9999));
    const { size: after, mode } = statSync(checkpointPath(path));
    expect(mode & 0o777).toBe(0o640);
    expect(after).toBeLessThan(most / 2 + 2000);
    expect(after).toBeGreaterThan(most / 2 - 2000);
    const sizes = sizesIn(path);
    expect(sizes.filter((size) => size === 300)).toHaveLength(1);
    expect(sizes.at(-1)).toBe(9999);
    expect(sizes.toSorted((a, b) => a - b).at(0)).toBe(1);
    expect(readCheckpoints(path)).toMatchObject({ torn: false });
  });

  test('that others have cosigned throughout is said to be full, and stays', async () => {
    const path = newPath();
    const two = bytesOf(SECOND);
    const bytes = Buffer.concat(Array.from({ length: Math.floor(most / two.length) }, () => two));
    writeFileSync(checkpointPath(path), bytes);
    await expect(new CheckpointWriter(path).append(noteOf(9000, 1, 2))).rejects.toThrow(
      /is full: move it away/,
    );
    expect(readFileSync(checkpointPath(path)).equals(bytes)).toBe(true);
  });
});

test('through a link nothing is written', async () => {
  for (const isThere of [false, true]) {
    const path = newPath();
    const elsewhere = newPath('elsewhere');
    if (isThere) writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, checkpointPath(path));
    await expect(new CheckpointWriter(path).append(FIRST)).rejects.toThrow(
      /\.checkpoint is a symbolic link: nothing is written through it; move it away/,
    );
    expect(existsSync(elsewhere)).toBe(isThere);
    if (isThere) expect(statSync(elsewhere).size).toBe(0);
  }
});
