/**
 * Policy files, and what they make of who signed.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeCheckpoint } from '../../src/evidence/checkpoint.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError, utf8 } from '../../src/evidence/encoding.ts';
import { encodeVerifierKey, signerKey, verifierKey } from '../../src/evidence/note-key.ts';
import {
  checkNote,
  cosignNote,
  signNote,
  type Verified,
} from '../../src/evidence/note-signature.ts';
import { checkPolicy, parsePolicy, policyKeys } from '../../src/evidence/policy.ts';
import { KEY, rejected } from './notes.ts';

const ORIGIN = KEY.verifier.name;
const LOG = `log ${encodeVerifierKey(KEY.verifier)}\n`;
/** Keys that nobody signs with: a policy looks at what was verified only. */
const KEYS = Array.from({ length: 6 }, (_, i) =>
  verifierKey(`witness.example/${i}`, new Uint8Array(32).fill(i + 1), 'cosignature'),
);
const VKEYS = KEYS.map(encodeVerifierKey);
const signed: Verified = { key: KEY.verifier };

/** Lines for the first witnesses, named w0, w1, … */
function witnesses(count: number): string {
  return VKEYS.slice(0, count)
    .map((vkey, i) => `witness w${i} ${vkey}\n`)
    .join('');
}

/** The cosignatures whose bit is set. */
function cosigned(bits: number): Verified[] {
  return KEYS.filter((_, i) => (bits >> i) % 2 === 1).map((key) => ({ key, time: 7 }));
}

function isMet(policy: string, bits: number): boolean {
  return checkPolicy(parsePolicy(LOG + policy), ORIGIN, [signed, ...cosigned(bits)]).ok;
}

function ones(bits: number): number {
  return bits.toString(2).replaceAll('0', '').length;
}

describe('a policy file', () => {
  test('is read with comments, tabs, blank lines and URLs', () => {
    const text = [
      '# who we trust',
      '#one-word',
      '',
      ' \t ',
      `\tlog  ${encodeVerifierKey(KEY.verifier)}\thttps://log.example/ `,
      '  # ü',
      `witness α ${VKEYS[0]} https://w.example/x`,
      `witness b\u00a0c ${VKEYS[1]}`,
      'group all any α b\u00a0c',
      'quorum all',
    ].join('\n');
    const read = parsePolicy(`${text}\n`);
    expect(read).toStrictEqual({
      logs: [{ key: KEY.verifier, url: 'https://log.example/' }],
      witnesses: [
        { name: 'α', key: KEYS[0], url: 'https://w.example/x' },
        { name: 'b\u00a0c', key: KEYS[1] },
      ],
      groups: [{ name: 'all', threshold: 1, members: ['α', 'b\u00a0c'] }],
      quorum: 'all',
    });
    expect(parsePolicy(utf8(`${text}\n`))).toStrictEqual(read);
    expect(policyKeys(read)).toEqual([KEY.verifier, KEYS[0], KEYS[1]]);
    expect(rejected(() => parsePolicy(text))).toMatch(/cut short/);
  });

  test('needs nothing but a quorum, and may define what it does not use, in any order', () => {
    expect(parsePolicy('quorum none\n')).toEqual({
      logs: [],
      witnesses: [],
      groups: [],
      quorum: undefined,
    });
    const late = parsePolicy(`${witnesses(1)}quorum w0\n${LOG}witness w1 ${VKEYS[1]}\n`);
    expect(late.quorum).toBe('w0');
    expect(late.witnesses).toHaveLength(2);
  });

  const [v0 = '', v1 = ''] = VKEYS;
  const sameKey = encodeVerifierKey(verifierKey('other', KEYS[0]!.publicKey, 'cosignature'));
  const sameLog = encodeVerifierKey(verifierKey('other', KEY.verifier.publicKey));
  test.each([
    ['', /no line "quorum"/],
    ['logs x\n', /^policy line 1: it must begin with log, witness, group, quorum or #/],
    ['quorum none\r\n', /^policy line 1: a control character/],
    ['#\0\n', /^policy line 1: a control character/],
    ['#\n#\x7f\n', /^policy line 2: a control character/],
    ['\u00a0quorum none\n', /^policy line 1: it must begin/],
    ['log\n', /^policy line 1: write: log <vkey>/],
    [`${LOG.trimEnd()} a b\n`, /write: log/],
    ['log abc\n', /^policy line 1: key: it must be name\+id/],
    [`${LOG}log ${sameLog}\n`, /^policy line 2: the public key of other is given twice/],
    [`log ${v0}\n`, /is a key that cosigns; this line needs one that signs/],
    ['witness a\n', /write: witness/],
    [`witness a ${v0} b c\n`, /write: witness/],
    [
      `witness a ${encodeVerifierKey(KEY.verifier)}\n`,
      /is a key that signs; this line needs one that cosigns/,
    ],
    [`witness a ${v0}\nwitness a ${v1}\n`, /^policy line 2: "a" is defined twice/],
    [`witness a ${v0}\nwitness b ${sameKey}\n`, /the public key of other is given twice/],
    [`witness none ${v0}\n`, /"none" is for/],
    [`witness a ${v0}\ngroup none any a\n`, /"none" is for/],
    [`witness a ${v0}\ngroup a any a\n`, /"a" is defined twice/],
    ['group g any\n', /write: group/],
    ['group g\n', /write: group/],
    ['group g any g\n', /no line before this one defines "g"/],
    ['group g any none\n', /no line before this one defines "none"/],
    [`group g any a\nwitness a ${v0}\n`, /^policy line 1: no line before/],
    [`witness a ${v0}\ngroup g any a a\n`, /"a" is a member already/],
    [`witness a ${v0}\ngroup g any a\ngroup h any a\n`, /^policy line 3: "a" is a member already/],
    [`witness a ${v0}\ngroup g 0 a\n`, /a number from 1 to 1/],
    [`witness a ${v0}\ngroup g 2 a\n`, /a number from 1 to 1/],
    [`witness a ${v0}\ngroup g 01 a\n`, /a number from 1 to 1/],
    [`witness a ${v0}\ngroup g -1 a\n`, /a number from 1 to 1/],
    [`witness a ${v0}\ngroup g ALL a\n`, /a number from 1 to 1/],
    ['quorum\n', /write: quorum/],
    ['quorum none none\n', /write: quorum/],
    ['quorum none\nquorum none\n', /^policy line 2: a policy has one quorum only/],
    [`quorum a\nwitness a ${v0}\n`, /^policy line 1: no line before this one defines "a"/],
    ['Quorum none\n', /must begin with/],
    ['\ufeffquorum none\n', /must begin with/],
    ['# \ud800\nquorum none\n', /not valid Unicode/],
    ['#'.repeat(1_000_001), /over 1000000 bytes/],
  ])('%# is refused', (text, words) => {
    expect(rejected(() => parsePolicy(text))).toMatch(words);
  });

  test('that is no UTF-8 is refused', () => {
    expect(rejected(() => parsePolicy(Uint8Array.of(0x23, 0xff, 0x0a)))).toMatch(/UTF-8/);
  });

  test('never makes the reader throw anything else', () => {
    const word = fc.oneof(
      fc.constantFrom(
        'log',
        'witness',
        'group',
        'quorum',
        'none',
        'all',
        'any',
        '1',
        '2',
        '#',
        ' ',
      ),
      fc.constantFrom('a', 'b', '\t', '\n', '\n', '\n', ...VKEYS, encodeVerifierKey(KEY.verifier)),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const text = fc.array(word, { maxLength: 40 }).map((words) => `${words.join(' ')}\n`);
    fc.assert(
      fc.property(fc.oneof(text, fc.uint8Array()), (input) => {
        try {
          const { logs, witnesses: some, groups } = parsePolicy(input);
          expect([...logs, ...some, ...groups].length).toBeLessThan(40);
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('with a long chain of groups is read and judged', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `group g${i + 1} all g${i}\n`);
    const text = `${witnesses(1)}group g0 all w0\n${names.join('')}quorum g20000\n`;
    expect(isMet(text, 1)).toBe(true);
    expect(isMet(text, 0)).toBe(false);
  });
});

describe('a quorum', () => {
  test('of any group of up to 5 witnesses counts its members, in every case', () => {
    let cases = 0;
    for (let n = 1; n <= 5; n += 1) {
      const members = KEYS.slice(0, n).map((_, i) => `w${i}`);
      for (const count of ['all', 'any', ...members.map((_, i) => String(i + 1))]) {
        const enough = count === 'all' ? n : count === 'any' ? 1 : Number(count);
        const policy = `${witnesses(6)}group g ${count} ${members.join(' ')}\nquorum g\n`;
        for (let bits = 0; bits < 64; bits += 1) {
          // The sixth witness is in no group.
          expect(isMet(policy, bits)).toBe(ones(bits % 2 ** n) >= enough);
          cases += 1;
        }
      }
    }
    expect(cases).toBe(64 * (15 + 10));
  });

  test('of one witness, and of none', () => {
    for (let bits = 0; bits < 64; bits += 1) {
      expect(isMet(`${witnesses(6)}quorum w2\n`, bits)).toBe((bits & 4) === 4);
      expect(isMet(`${witnesses(6)}quorum none\n`, bits)).toBe(true);
    }
  });

  test('of groups in a group: the example of C2SP tlog-policy, in all 64 cases', () => {
    const [x, y] = [0b000111, 0b111000];
    const policy = `${witnesses(6)}group X 2 w0 w1 w2\ngroup Y any w3 w4 w5\ngroup X-and-Y all X Y\nquorum X-and-Y\n`;
    for (let bits = 0; bits < 64; bits += 1) {
      expect(isMet(policy, bits)).toBe(ones(bits & x) >= 2 && (bits & y) !== 0);
    }
  });

  interface Tree {
    readonly threshold: number;
    readonly members: readonly (number | Tree)[];
  }

  /** Trees over witnesses `from`, … to before `to`, each in one place. */
  function trees(from: number, to: number): fc.Arbitrary<number | Tree> {
    if (to - from === 1) return fc.oneof(fc.constant(from), group(fc.constant([from])));
    return fc
      .integer({ min: from + 1, max: to - 1 })
      .chain((at) => group(fc.tuple(trees(from, at), trees(at, to))));
  }

  function group(members: fc.Arbitrary<readonly (number | Tree)[]>): fc.Arbitrary<Tree> {
    return members.chain((list) =>
      fc.record({
        threshold: fc.integer({ min: 1, max: list.length }),
        members: fc.constant(list),
      }),
    );
  }

  function reached(tree: number | Tree, bits: number): boolean {
    if (typeof tree === 'number') return ((bits >> tree) & 1) === 1;
    return tree.members.filter((member) => reached(member, bits)).length >= tree.threshold;
  }

  /** Writes a tree's groups, inner ones first; returns its name. */
  function write(tree: number | Tree, lines: string[]): string {
    if (typeof tree === 'number') return `w${tree}`;
    const members = tree.members.map((member) => write(member, lines));
    const name = `g${lines.length}`;
    lines.push(`group ${name} ${tree.threshold} ${members.join(' ')}\n`);
    return name;
  }

  test('of any tree of groups is what its definition says, and more cosignatures never hurt', () => {
    fc.assert(
      fc.property(trees(0, 6), (tree) => {
        const lines: string[] = [];
        const top = write(tree, lines);
        const policy = `${witnesses(6)}${lines.join('')}quorum ${top}\n`;
        const met = Array.from({ length: 64 }, (_, bits) => isMet(policy, bits));
        for (const [bits, is] of met.entries()) {
          expect(is).toBe(reached(tree, bits));
          for (let i = 0; i < 6; i += 1) if (is) expect(met[bits | (1 << i)]).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('a checkpoint', () => {
  const policy = parsePolicy(`${LOG}${witnesses(2)}group g all w0 w1\nquorum g\n`);

  test('needs the log itself, under its own name', () => {
    const all = cosigned(3);
    expect(checkPolicy(policy, ORIGIN, [signed, ...all])).toEqual({
      ok: true,
      log: policy.logs[0],
      witnesses: policy.witnesses,
    });
    for (const [origin, verified] of [
      [ORIGIN, all],
      ['example.com/other', [signed, ...all]],
    ] as const) {
      const verdict = checkPolicy(policy, origin, verified);
      expect(verdict).toMatchObject({ ok: false, witnesses: policy.witnesses });
      expect(verdict.detail).toMatch(/no known log "example.com\/.*" signed/);
    }
    const unknown = parsePolicy('quorum none\n');
    expect(checkPolicy(unknown, ORIGIN, [signed]).ok).toBe(false);
    const known = { ...unknown, logs: [{ key: KEY.verifier }] };
    expect(checkPolicy(known, ORIGIN, [signed]).ok).toBe(true);
  });

  test('says who cosigned when they are too few', () => {
    expect(checkPolicy(policy, ORIGIN, [signed, ...cosigned(2)])).toEqual({
      ok: false,
      detail: 'the quorum "g" isn\'t reached: cosigned by w1',
      log: policy.logs[0],
      witnesses: [policy.witnesses[1]],
    });
    expect(checkPolicy(policy, ORIGIN, [signed]).detail).toMatch(/by no known witness$/);
    const three = parsePolicy(`${LOG}${witnesses(3)}group g all w0 w1 w2\nquorum g\n`);
    const { detail } = checkPolicy(three, ORIGIN, [signed, ...cosigned(5)]);
    expect(detail).toMatch(/cosigned by w0, w2$/);
  });

  test('counts keys, not names: neither a stranger called like a witness, nor a signature of another kind', () => {
    const { name, publicKey } = KEYS[0]!;
    const stranger = verifierKey(name, new Uint8Array(32).fill(99), 'cosignature');
    const note = verifierKey(name, publicKey, 'ed25519');
    for (const key of [{ ...stranger, keyId: KEYS[0]!.keyId }, note]) {
      expect(checkPolicy(policy, ORIGIN, [signed, { key }]).witnesses).toEqual([]);
    }
    const asLog = verifierKey(ORIGIN, KEY.verifier.publicKey, 'cosignature');
    expect(checkPolicy(policy, ORIGIN, [{ key: asLog, time: 1 }]).log).toBeUndefined();
  });

  test('passes from its note to the verdict', async () => {
    const real = [8, 9].map((i) =>
      signerKey(`w.example/${i}`, new Uint8Array(32).fill(i), nodeEd25519, 'cosignature'),
    );
    const lines = real.map(({ verifier }, i) => `witness w${i} ${encodeVerifierKey(verifier)}\n`);
    const file = parsePolicy(`${LOG}${lines.join('')}group g 2 w0 w1\nquorum g\n`);
    const root = new Uint8Array(32);
    const text = encodeCheckpoint({ origin: ORIGIN, size: 3, root, extensions: [] });
    let note = signNote({ text, signatures: [] }, KEY, nodeEd25519);
    for (const [i, key] of real.entries()) {
      const { verified } = await checkNote(note, policyKeys(file), nodeEd25519);
      expect(checkPolicy(file, ORIGIN, verified)).toMatchObject({ ok: false });
      note = cosignNote(note, key, 100 + i, nodeEd25519);
    }
    const { verified } = await checkNote(note, policyKeys(file), nodeEd25519);
    expect(checkPolicy(file, ORIGIN, verified).ok).toBe(true);
  });
});
