/**
 * Files of notes: cut at every byte, and changed at every byte.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCutOff, notesOf, splitNotes } from '../../src/attest/notes.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import {
  cosignNote,
  encodeCheckpoint,
  encodeNote,
  parseCheckpoint,
  parseNote,
  signerKey,
  signNote,
} from '../../src/evidence/index.ts';
import { signer } from './support.ts';

const ORIGIN = `hashtape/${'0123456789abcdef'.repeat(4)}`;
/** Its name has more bytes than characters. */
const WITNESS = signerKey(
  'wïtness.example/w',
  new Uint8Array(32).fill(9),
  nodeEd25519,
  'cosignature',
);

/** A checkpoint with one to three signatures: of a key, of another, and of a witness. */
function noteOf(size: number, signatures: number): Buffer {
  const root = new Uint8Array(32).fill(size % 256);
  const text = encodeCheckpoint({ origin: ORIGIN, size, root, extensions: [] });
  let note = signNote({ text, signatures: [] }, signer(1), nodeEd25519);
  if (signatures > 1) note = signNote(note, signer(2, 'zweïte'), nodeEd25519);
  if (signatures > 2) note = cosignNote(note, WITNESS, 1_700_000_000, nodeEd25519);
  return Buffer.from(encodeNote(note));
}

const NOTES = [noteOf(1, 1), noteOf(256, 3), noteOf(1000, 2), noteOf(12_345, 1)];
const FILE = Buffer.concat(NOTES);

/** The ends of signature lines in a note: where it may be cut and is one still. */
function ends(note: Buffer): number[] {
  const all: number[] = [];
  let at = 0;
  for (const line of note.toString('latin1').split('\n').slice(0, -1)) {
    const isSignature = line.startsWith(Buffer.from('— ').toString('latin1'));
    at += line.length + 1;
    if (isSignature) all.push(at);
  }
  return all;
}

test('a whole file is its notes', () => {
  const { notes, rest } = splitNotes(FILE);
  expect(notes.map((note) => Buffer.from(note))).toEqual(NOTES);
  expect(rest).toHaveLength(0);
});

test('nothing is no note', () => {
  expect(splitNotes(new Uint8Array(0))).toEqual({ notes: [], rest: new Uint8Array(0) });
});

test('cut at every byte: what is whole before the cut stays, and the rest is seen to be cut off', () => {
  let whole = 0;
  for (let size = 0; size <= FILE.length; size += 1) {
    const cut = FILE.subarray(0, size);
    const { notes, rest } = splitNotes(cut);
    expect(Buffer.concat([...notes, rest]).equals(cut), `${size}`).toBe(true);
    // A note that lacks only some of its signatures is one still.
    let start = 0;
    const expected: Buffer[] = [];
    for (const note of NOTES) {
      const end = ends(note).findLast((each) => start + each <= size);
      if (end !== undefined) expected.push(note.subarray(0, end));
      start += note.length;
    }
    expect(
      notes.map((note) => Buffer.from(note).toString('latin1')),
      `${size}`,
    ).toEqual(expected.map((note) => note.toString('latin1')));
    for (const note of notes) parseCheckpoint(parseNote(note).text);
    expect(isCutOff(rest), `${size}: ${Buffer.from(rest).toString()}`).toBe(true);
    // Where a loss of power kept the length, there are zeros.
    expect(isCutOff(Buffer.concat([rest, Buffer.alloc(17)]))).toBe(true);
    whole = Math.max(whole, notes.length);
  }
  expect(whole).toBe(NOTES.length);
});

test('any bytes: nothing is lost, no note is empty, and what follows the last holds no whole signature', () => {
  const piece = fc.oneof(
    fc.constantFrom('— a b\n', '— ', '\n', '\n\n', 'text\n', '—', '\xe2', '\0'),
    fc.string(),
  );
  const bytes = fc.oneof(
    fc.array(piece).map((pieces) => Buffer.from(pieces.join(''))),
    fc.uint8Array(),
  );
  fc.assert(
    fc.property(bytes, (file) => {
      const { notes, rest } = splitNotes(file);
      expect(Buffer.concat([...notes, rest]).equals(Buffer.from(file))).toBe(true);
      for (const note of notes) {
        const lines = Buffer.from(note).toString().split('\n');
        expect(lines.pop()).toBe('');
        expect(lines.at(-1)?.startsWith('— ')).toBe(true);
        // Split again it is one note: no signature stands before a line that isn't one.
        expect(splitNotes(note).notes).toHaveLength(1);
      }
      expect(splitNotes(rest).notes).toEqual([]);
      isCutOff(rest);
    }),
  );
});

describe('what no crash leaves of a checkpoint', () => {
  const note = NOTES[3]!;

  test('is the whole of it with any one byte of its end changed', () => {
    const last = note.length - 1;
    for (let byte = 1; byte < 256; byte += 1) {
      if (byte === 0x0a) continue;
      const changed = Buffer.from(note);
      changed[last] = byte;
      const { notes, rest } = splitNotes(changed);
      expect(notes).toEqual([]);
      expect(isCutOff(rest), `the last newline became ${byte}`).toBe(false);
    }
  });

  test('is the whole of it with any bit of the dash before the signature, or of the blank line, flipped', () => {
    const dash = note.indexOf(Buffer.from('— '));
    for (const at of [dash - 1, dash, dash + 1, dash + 2, dash + 3]) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(note);
        changed[at] = changed[at]! ^ (1 << bit);
        const { notes, rest } = splitNotes(changed);
        const isNote = notes.length === 1 && rest.length === 0 && isReadable(notes[0]!);
        expect(isNote || (notes.length === 0 && isCutOff(rest)), `${at}, bit ${bit}`).toBe(false);
      }
    }
  });

  test.each([
    ['other text', 'hello'],
    ['another origin', 'example.com/log\n'],
    ['an origin in capitals', `hashtape/${'A'.repeat(64)}\n`],
    ['an origin that is too long', `hashtape/${'a'.repeat(65)}`],
    ['a size that is none', `${ORIGIN}\n01`],
    ['a root that is none', `${ORIGIN}\n1\n!`],
    ['a root that is too long', `${ORIGIN}\n1\n${'A'.repeat(43)}=A`],
    ['a line more', `${ORIGIN}\n1\n${'A'.repeat(43)}=\nmore`],
    ['a signature that is none', `${ORIGIN}\n1\n${'A'.repeat(43)}=\n\n— name !`],
    ['padding in the midst of a signature', '— name AAA=A'],
    ['a blank line', '\n'],
    ['a signature of two names', '— one two three'],
  ])('%s', (_, text) => {
    expect(isCutOff(Buffer.from(text))).toBe(false);
  });
});

describe('bytes by the megabyte are judged at once', () => {
  const long = 5_000_000;
  test.each<[string, Buffer]>([
    ['a signature that is cut', Buffer.from(`— n ${'A'.repeat(long)}`)],
    ['a name that is cut', Buffer.from(`— ${'n'.repeat(long)}`)],
    ['zeros alone', Buffer.alloc(long)],
    ['zeros and one byte more', Buffer.concat([Buffer.alloc(long), Buffer.from('x')])],
    ['zeros that a byte divides', Buffer.alloc(long).fill(1, long / 2, long / 2 + 1)],
    ['empty lines', Buffer.alloc(long, '\n')],
  ])('%s', (_, bytes) => {
    const start = performance.now();
    // A crash leaves a part of one note, and none is so long.
    expect(isCutOff(bytes)).toBe(false);
    expect(isCutOff(bytes.subarray(0, 999_999))).toBeTypeOf('boolean');
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe('the notes of one log in a file', () => {
  const other = encodeNote(
    signNote(
      {
        text: encodeCheckpoint({
          origin: 'example.com/log',
          size: 7,
          root: new Uint8Array(32),
          extensions: [],
        }),
        signatures: [],
      },
      signer(1),
      nodeEd25519,
    ),
  );

  test.each<[string, string]>([
    ['alone', ''],
    ['among those of another', other],
    ['with blank lines between, as git puts them', '\n\n'],
    ['behind one that was cut off in its root', `${noteOf(9, 1).toString().slice(0, 90)}\n`],
    ['behind one that was cut off in its signature', `${noteOf(9, 1).toString().slice(0, -9)}\n`],
    ['behind any text', 'hello\n— a b c\n'],
  ])('%s', (_, between) => {
    const file = NOTES.map((note) => between + note.toString()).join('') + between;
    const found = [...notesOf(ORIGIN, Buffer.from(file))].map((note) => Buffer.from(note));
    for (const note of NOTES) expect(found).toContainEqual(note);
    for (const note of found) expect(note.toString().startsWith(ORIGIN)).toBe(true);
    expect([...notesOf('hashtape/other', Buffer.from(file))]).toEqual([]);
  });

  test('of a file of nothing but origins take no longer than they are', () => {
    const start = performance.now();
    const file = Buffer.from(`${ORIGIN}\n`.repeat(100_000));
    expect([...notesOf(ORIGIN, file)]).toEqual([]);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

function isReadable(note: Uint8Array): boolean {
  try {
    parseCheckpoint(parseNote(note).text);
    return true;
  } catch {
    return false;
  }
}
