/**
 * Reading what records claim, in pieces of every size.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { readClaims } from '../../src/attest/claimed-hashes.ts';
import { toHex } from '../../src/evidence/hex.ts';
import { type OpenFile } from '../../src/store/filesystem.ts';

function unused(): never {
  throw new Error('not used');
}

/** A file of which each read gives so many bytes at most. */
function fileOf(text: string, atMost: number): OpenFile {
  const bytes = Buffer.from(text);
  return {
    read(into, position) {
      const piece = bytes.subarray(position, position + Math.min(atMost, into.length));
      into.set(piece);
      return piece.length;
    },
    write: unused,
    truncate: unused,
    stat: unused,
    datasync: unused,
    close: unused,
  };
}

async function claims(text: string, atMost: number, from = 0): Promise<unknown[]> {
  const all: unknown[] = [];
  await readClaims(fileOf(text, atMost), from, (hash, start, end) => {
    all.push([hash === null ? null : toHex(hash), start, end]);
    return true;
  });
  return all;
}

const HASHES = ['0123456789abcdef'.repeat(4), 'f'.repeat(64), '0'.repeat(64)];
const LINES = HASHES.map((hash, i) => `{"hash":"${hash}","kind":"${'é'.repeat(i * 30)}"}`);
const TEXT = LINES.map((line) => `${line}\n`).join('');
const SIZES = LINES.map((line) => Buffer.byteLength(line));

function expected(): unknown[] {
  let at = 0;
  return HASHES.map((hash, i) => {
    const start = at;
    at += SIZES[i]! + 1;
    return [hash, start, at - 1];
  });
}

describe('the claims of a file', () => {
  test('are the same however it is read', async () => {
    for (let atMost = 1; atMost <= Buffer.byteLength(TEXT); atMost += 1) {
      expect(await claims(TEXT, atMost), `${atMost}`).toEqual(expected());
    }
  });

  test('from a line on', async () => {
    for (const atMost of [1, 9, 74, 1000]) {
      expect(await claims(TEXT, atMost, SIZES[0]! + 1)).toEqual(expected().slice(1));
    }
  });

  test('leave an unfinished line out, and end when there is enough', async () => {
    expect(await claims(TEXT.slice(0, -1), 7)).toEqual(expected().slice(0, 2));
    let told = 0;
    await readClaims(fileOf(TEXT, 50), 0, () => {
      told += 1;
      return told < 2;
    });
    expect(told).toBe(2);
  });

  test.each([
    ['an empty line', ''],
    ['a short line', '{"hash":"'],
    ['a hash that is cut', LINES[0]!.slice(0, 72)],
    ['no quotation mark after it', LINES[0]!.slice(0, 73)],
    ['a longer hash', LINES[0]!.replace('",', '0",')],
    ['a capital', LINES[0]!.replace('a', 'A')],
    ['a character after f', LINES[0]!.replace('f', 'g')],
    ['another key', LINES[0]!.replace('hash', 'haſh')],
    ['a space', ` ${LINES[0]}`],
    ['a byte order mark', `\uFEFF${LINES[0]}`],
  ])('are none for %s', async (_, line) => {
    for (const atMost of [1, 5, 72, 73, 74, 75, 1000]) {
      const [first, second, ...rest] = await claims(`${line}\n${TEXT}`, atMost);
      expect(first).toEqual([null, 0, Buffer.byteLength(line)]);
      expect(second).toContain(HASHES[0]);
      expect(rest).toHaveLength(2);
    }
  });
});
