/**
 * What Go's own `sumdb/note` and `sumdb/tlog` make of our notes and proofs, and we of theirs:
 * test/testdata/go/interop.go is built against them and asked.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCheckpoint, parseCheckpoint } from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import {
  checkConsistency,
  checkInclusion,
  leafHash,
  MerkleTree,
  proveConsistency,
  proveInclusion,
} from '../../src/evidence/merkle.ts';
import { encodeSignerKey, encodeVerifierKey, signerKey } from '../../src/evidence/note-key.ts';
import { checkNote, cosignNote, signNote } from '../../src/evidence/note-signature.ts';
import { encodeNote, parseNote } from '../../src/evidence/note.ts';
import { KEY } from './notes.ts';
import { base64 } from './vectors.ts';

/** Where Debian's package golang-golang-x-mod-dev puts it: it builds without a network. */
const GOPATH = '/usr/share/gocode';
const found = existsSync(join(GOPATH, 'src/golang.org/x/mod/sumdb/tlog'));
const usable = found && spawnSync('go', ['version']).status === 0;
const NEEDS = usable ? '' : ' (skipped: there is no Go with golang.org/x/mod here)';

test.skipIf(process.env['HASHTAPE_NO_SKIP'] !== '1')('Go is there (asked for in CI only)', () => {
  expect(usable).toBe(true);
});

const SIZE = 33;
const RECORDS = Array.from({ length: SIZE }, (_, i) => new Uint8Array(32).fill(i + 1));
const tree = new MerkleTree();
const roots = [tree.root()];
const leaves = RECORDS.map((record) => {
  const leaf = tree.append(record);
  roots.push(tree.root());
  return leaf;
});
const known = (level: number, i: number) => (level === 0 ? leaves[i] : undefined);
const text = encodeCheckpoint({
  origin: KEY.verifier.name,
  size: SIZE,
  root: tree.root(),
  extensions: [],
});
const ours = signNote({ text, signatures: [] }, KEY, nodeEd25519);
const other = signerKey('other.example', new Uint8Array(32).fill(8), nodeEd25519);
const stranger = signerKey('unknown.example', new Uint8Array(32).fill(7), nodeEd25519);
const witness = signerKey('w.example', new Uint8Array(32).fill(9), nodeEd25519, 'cosignature');

interface Claim {
  readonly IsRecord: boolean;
  readonly Old: number;
  readonly Size: number;
  readonly Hash: Uint8Array;
  readonly Root: Uint8Array;
  readonly Path: readonly Uint8Array[];
}

/** All that our proofs say of trees up to the size, and the same with something wrong. */
function claims(): Claim[] {
  const all: Claim[] = [];
  for (let size = 1; size <= SIZE; size += 1) {
    const Root = roots[size]!;
    for (let at = 0; at < size; at += 1) {
      const [Hash, old] = [leaves[at]!, at + 1];
      all.push(
        { IsRecord: true, Old: at, Size: size, Hash, Root, Path: proveInclusion(at, size, known) },
        {
          IsRecord: false,
          Old: old,
          Size: size,
          Hash: roots[old]!,
          Root,
          Path: proveConsistency(old, size, known),
        },
      );
    }
  }
  return all.flatMap((claim) => [claim, ...wrong(claim)]);
}

function wrong(claim: Claim): Claim[] {
  const { Old, Size, Hash, Root, Path } = claim;
  return [
    { ...claim, Old: Old + 1 },
    { ...claim, Size: Size + 1 },
    { ...claim, Hash: flip(Hash) },
    { ...claim, Root: flip(Root) },
    { ...claim, Path: [...Path, Root] },
    { ...claim, Path: Path.slice(1) },
    { ...claim, Path: Path.toReversed() },
    { ...claim, Path: Path.map((hash, i) => (i === Path.length - 1 ? flip(hash) : hash)) },
    { ...claim, IsRecord: !claim.IsRecord },
  ];
}

function flip(hash: Uint8Array): Uint8Array {
  return hash.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
}

function isRight({ IsRecord, Old, Size, Hash, Root, Path }: Claim): boolean {
  return IsRecord
    ? checkInclusion({ index: Old, size: Size, leaf: Hash, root: Root }, Path)
    : checkConsistency({ size1: Old, size2: Size, root1: Hash, root2: Root }, Path);
}

/** Notes for Go to open with our key and another one. */
const NOTES = {
  ours: encodeNote(ours),
  both: encodeNote(signNote(ours, other, nodeEd25519)),
  cosigned: encodeNote(cosignNote(ours, witness, 1_700_000_000, nodeEd25519)),
  blank: encodeNote(signNote({ text: 'ü\n\n— a AAAA\n\n', signatures: [] }, KEY, nodeEd25519)),
  changed: encodeNote(ours).replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`),
  strange: encodeNote(signNote({ text, signatures: [] }, stranger, nodeEd25519)),
} as const;

interface Answer {
  readonly Note: string;
  readonly Opened: { Error: string; Text: string; Verified: string[]; Unverified: string[] }[];
  readonly Roots: string[];
  readonly Inclusion: string[][][];
  readonly Continues: string[][][];
  readonly Right: boolean[];
}

function opened(Text: string, Verified: string[], Unverified: string[]) {
  return { Error: '', Text, Verified, Unverified };
}

function unopened(words: RegExp) {
  return {
    Error: expect.stringMatching(words) as unknown,
    Text: '',
    Verified: null,
    Unverified: null,
  };
}

describe.skipIf(!usable)(`Go${NEEDS}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-go-'));
  const asked = claims();
  let answer: Answer;

  beforeAll(() => {
    const program = join(folder, 'interop');
    const source = fileURLToPath(new URL('../testdata/go/interop.go', import.meta.url));
    const env = {
      ...process.env,
      GO111MODULE: 'off',
      GOFLAGS: '',
      GOPATH,
      GOCACHE: join(folder, 'cache'),
      CGO_ENABLED: '0',
    };
    const built = spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' });
    if (built.status !== 0) throw new Error(`go build: ${built.stderr}`);
    const input = JSON.stringify(
      {
        SignerKey: encodeSignerKey(KEY),
        Text: text,
        VerifierKeys: [KEY, other].map(({ verifier }) => encodeVerifierKey(verifier)),
        Notes: Object.values(NOTES),
        Records: RECORDS,
        Claims: asked,
      },
      // Go reads bytes as base64.
      (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    );
    const ran = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (ran.status !== 0) throw new Error(`interop: ${ran.stderr}`);
    answer = JSON.parse(ran.stdout) as Answer;
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('opens our notes, and only those that are right', () => {
    const [name, second] = [KEY.verifier.name, other.verifier.name];
    const named = Object.keys(NOTES).map((key, i) => [key, answer.Opened[i]] as const);
    expect(Object.fromEntries(named)).toEqual({
      ours: opened(text, [name], []),
      both: opened(text, [name, second], []),
      cosigned: opened(text, [name], [witness.verifier.name]),
      blank: opened('ü\n\n— a AAAA\n\n', [name], []),
      changed: unopened(/invalid signature/),
      strange: unopened(/no verifiable/),
    });
  });

  test('signs with our key what we sign, and we open it', async () => {
    expect(answer.Note).toBe(NOTES.ours);
    const theirs = parseNote(answer.Note);
    expect((await checkNote(theirs, [KEY.verifier], nodeEd25519)).ok).toBe(true);
    const { size, root } = parseCheckpoint(theirs.text);
    expect(answer.Roots[size]).toBe(Buffer.from(root).toString('base64'));
  });

  test('has our roots, and our proofs byte for byte, and ours hold theirs to be right', () => {
    // Old versions of Go's package have zeros for the tree without records, and not what RFC 6962 says.
    expect(answer.Roots.slice(1).map(base64)).toEqual(roots.slice(1));
    let checked = 0;
    for (let size = 1; size <= SIZE; size += 1) {
      for (let at = 0; at < size; at += 1) {
        const root = roots[size]!;
        const path = answer.Inclusion[size]![at]!.map(base64);
        expect(path).toEqual(proveInclusion(at, size, known));
        const leaf = leafHash(RECORDS[at]!);
        expect(checkInclusion({ index: at, size, leaf, root }, path)).toBe(true);
        const older = answer.Continues[size]![at + 1]!.map(base64);
        expect(older).toEqual(proveConsistency(at + 1, size, known));
        const claim = { size1: at + 1, size2: size, root1: roots[at + 1]!, root2: root };
        expect(checkConsistency(claim, older)).toBe(true);
        checked += 1;
      }
    }
    expect(checked).toBe((SIZE * (SIZE + 1)) / 2);
  });

  test('holds our proofs to be right, and agrees on what is wrong', () => {
    const verdicts = asked.map(isRight);
    expect(answer.Right).toHaveLength(asked.length);
    expect(asked.filter((_, i) => answer.Right[i] !== verdicts[i])).toEqual([]);
    // Each of our proofs is followed by nine that are changed; a change may change nothing.
    expect(verdicts.filter((_, i) => i % 10 === 0)).toEqual(
      asked.filter((_, i) => i % 10 === 0).map(() => true),
    );
    expect(verdicts.filter((right) => !right).length).toBeGreaterThan(asked.length / 2);
  });
});
