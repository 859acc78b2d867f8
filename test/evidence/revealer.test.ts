import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact } from '../../src/evidence/commit.ts';
import { disclosureDigest, encodeDisclosure } from '../../src/evidence/disclosure.ts';
import { openLine, parseOpenFile } from '../../src/evidence/open-file.ts';
import { Revealer, type Disclosed } from '../../src/evidence/revealer.ts';
import {
  advance,
  canonicalJson,
  EMPTY_HEAD,
  encodeRecord,
  parseRecord,
  type Draft,
  type JsonObject,
  type TranscriptRecord,
} from '../../src/transcript/index.ts';

const RULES = ['tools.login.arguments.password'];
const DRAFTS: readonly Draft[] = [
  { kind: 'user', payload: { content: 'Log in.', run: { redact: RULES } } },
  { kind: 'assistant', payload: { content: 'secret one', calls: ['secret two', 'open'] } },
  { kind: 'tool', payload: { value: 'open' } },
  { kind: 'tool', payload: { value: { a: 'secret three', b: ['secret four'] } } },
];

/** The records of drafts without their secrets, and the lines that disclose them. */
function written(drafts: readonly Draft[]): { records: TranscriptRecord[]; lines: string[] } {
  const records: TranscriptRecord[] = [];
  const lines: string[] = [];
  let head = EMPTY_HEAD;
  for (const { kind, payload } of drafts) {
    const redacted = redact(
      payload,
      (_, value) => typeof value === 'string' && value.startsWith('secret'),
      () => `salt-${lines.length}-${kind}`,
    );
    for (const text of redacted.disclosures) lines.push(openLine(head.count, text));
    const line = encodeRecord(head, { kind, payload: redacted.payload });
    records.push(parseRecord(line.text));
    head = advance(line);
  }
  return { records, lines };
}

const { records, lines } = written(DRAFTS);

function end(file: string, sealed: boolean, of: readonly TranscriptRecord[] = records): Disclosed {
  const revealer = new Revealer(parseOpenFile(file));
  for (const record of of) revealer.reveal(record);
  return revealer.end(sealed);
}

const WHOLE = { committed: 4, disclosed: 4, withheld: 0, unused: 0, faults: [] };

test('with all disclosures the records are what they were, in any order of the lines', () => {
  for (const file of [lines.join(''), lines.toReversed().join('')]) {
    const revealer = new Revealer(parseOpenFile(file));
    const payloads = records.map((record) => revealer.reveal(record).record.payload);
    expect(payloads).toEqual(DRAFTS.map(({ payload }) => payload));
    expect(revealer.end(true)).toEqual(WHOLE);
    expect([...revealer.values()].map(({ value }) => value)).toHaveLength(4);
  }
});

test('each that is gone is withheld, and no fault', () => {
  for (let left = 0; left < 2 ** lines.length; left += 1) {
    const kept = lines.filter((_, i) => (left >> i) % 2 === 1);
    const found = end(kept.join(''), true);
    const disclosed = kept.length;
    expect(found).toEqual({ ...WHOLE, disclosed, withheld: 4 - disclosed });
  }
});

/** Whether it is as good as all of it: every value disclosed, nothing said against it. */
function isWhole(found: Disclosed): boolean {
  return found.disclosed === 4 && found.faults.length === 0 && found.unused === 0;
}

describe('what was changed is found', () => {
  const file = lines.join('');
  test('each byte, in each of its bits', () => {
    const bytes = Buffer.from(file, 'latin1');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const copy = Buffer.from(bytes);
      copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const text = copy.toString('latin1');
      const sealed = end(text, true);
      expect(sealed.faults.length, `bit ${bit}: ${text}`).toBeGreaterThan(0);
      expect(sealed.disclosed).toBeLessThan(4);
      expect(isWhole(end(text, false)), `bit ${bit}: ${text}`).toBe(false);
    }
  });

  test('a cut after each byte', () => {
    for (let length = 0; length < file.length; length += 1) {
      const found = end(file.slice(0, length), true);
      const whole = file.slice(0, length).split('\n').length - 1;
      expect(found.disclosed).toBe(whole);
      const isBetween = length === 0 || file[length - 1] === '\n';
      expect(found.faults.length).toBe(isBetween ? 0 : 1);
    }
  });

  const other = encodeDisclosure({ salt: 's', name: 'content', value: 'a lie' });
  test.each([
    ['another value', openLine(1, other), 5, /matches nothing that record 1 committed to/],
    ['a line twice', lines[0] ?? '', 5, /it is line 1 again/],
    ['no disclosure', '1 WyJzIl0\n', 5, /no disclosure/],
    ['an empty line', '\n', 5, /no disclosure/],
    ['the line of a windows editor', openLine(1, other).replace('\n', '\r\n'), 5, /no disclosure/],
  ])('%s', (_, added, line, problem) => {
    for (const sealed of [true, false]) {
      const found = end(file + added, sealed);
      expect(found).toMatchObject({ disclosed: 4, withheld: 0, unused: 0 });
      expect(found.faults).toEqual([{ line, problem: expect.stringMatching(problem) }]);
    }
  });

  test('a disclosure of another record', () => {
    const moved = [lines[0]?.replace(/^1/, '3'), ...lines.slice(1)].join('');
    expect(end(moved, true)).toMatchObject({ disclosed: 3, withheld: 1 });
    expect(end(moved, true).faults).toEqual([
      { line: 1, problem: 'it names record 3, and belongs to record 1' },
    ]);
    // Not even as what a crash left.
    const next = [lines[0]?.replace(/^1/, '4'), ...lines.slice(1)].join('');
    expect(end(next, false).faults).toHaveLength(1);
  });

  test('a disclosure that can’t be put back', () => {
    const text = encodeDisclosure({ salt: 's', value: 'x' });
    const payload = { content: 'x', run: { redact: RULES }, _sd: [disclosureDigest(text)] };
    const line = encodeRecord(EMPTY_HEAD, { kind: 'user', payload });
    expect(end(openLine(0, text), true, [parseRecord(line.text)])).toEqual({
      committed: 1,
      disclosed: 0,
      withheld: 1,
      unused: 0,
      faults: [{ line: 1, problem: "what it discloses can't be where record 0 has its digest" }],
    });
  });
});

describe('what a crash leaves', () => {
  const next = openLine(4, encodeDisclosure({ salt: 's', name: 'content', value: 'x' }));

  const next2 = openLine(5, encodeDisclosure({ salt: 's', name: 'value', value: 'x' }));

  test.each([
    ['a disclosure whose record was not written', next, 1],
    ['two, of a batch of records', next + next2, 2],
    ['a part of one', next.slice(0, -5), 1],
    ['a part of its number', '4', 1],
    ['bytes that were lost', `4 ${'\0'.repeat(30)}`, 1],
  ])('%s is told, and no fault until the run has ended', (_, tail, unused) => {
    const file = lines.join('') + tail;
    expect(end(file, false)).toEqual({ ...WHOLE, unused });
    expect(end(file, true).faults.length).toBeGreaterThan(0);
  });

  test('an unfinished line of a record that is there is no crash’s doing: its record came after it', () => {
    const file = lines.join('').slice(0, -1);
    expect(end(file, false).faults).toEqual([{ line: 4, problem: 'it is unfinished' }]);
  });

  test('what records need ends where the next writer goes on', () => {
    const revealer = new Revealer(parseOpenFile(lines.join('') + next.slice(0, 9)));
    for (const record of records) revealer.reveal(record);
    expect(revealer.keptBytes).toBe(lines.join('').length);
  });
});

function resumedWith(run: JsonObject): Draft {
  return { kind: 'resumed', payload: { calls: [], run } };
}

describe('whose digests are digests', () => {
  const plain: Draft = {
    kind: 'tool',
    payload: { value: { _sd: [lines[0]?.slice(0, 43) ?? ''] } },
  };

  test('a record before any rules holds none, whatever it looks like', () => {
    const { records: all } = written([{ kind: 'user', payload: { content: 'x', run: {} } }]);
    expect(end('', true, all)).toEqual({ ...WHOLE, committed: 0, disclosed: 0 });
    const line = encodeRecord(EMPTY_HEAD, plain);
    expect(end('', true, [...all, parseRecord(line.text)]).committed).toBe(0);
  });

  test('rules that a resumed run brought, or dropped, hold from there on', () => {
    const secret: Draft = { kind: 'tool', payload: { value: 'secret' } };
    const began = written([
      { kind: 'user', payload: { content: 'x', run: {} } },
      secret,
      resumedWith({ redact: RULES }),
      secret,
      { kind: 'resumed', payload: { calls: [] } },
      secret,
      resumedWith({}),
      secret,
    ]);
    const revealer = new Revealer(parseOpenFile(began.lines.join('')));
    const found = began.records.map((record) => revealer.reveal(record).commitments.length);
    expect(found).toEqual([0, 0, 0, 1, 0, 1, 0, 0]);
  });
});

test('a record is redacted again as it was', () => {
  const revealer = new Revealer(parseOpenFile(lines.join('')));
  for (const [i, record] of records.entries()) {
    revealer.reveal(record);
    const again = revealer.redactAgain(DRAFTS[i]?.payload ?? {}, record);
    expect(canonicalJson(again)).toBe(canonicalJson(record.payload));
  }
});

test('any bytes are read without an error', () => {
  const part = fc.constantFrom(...lines, '1', ' ', '\n', '\0', '4 ', 'Wy', 'ÿ');
  fc.assert(
    fc.property(
      fc.array(fc.oneof(part, fc.string({ unit: 'binary' }))),
      fc.boolean(),
      (parts, sealed) => {
        const text = Buffer.from(parts.join(''), 'latin1').toString('latin1');
        const { committed, disclosed, withheld } = end(text, sealed);
        expect([committed, disclosed + withheld]).toEqual([4, 4]);
      },
    ),
  );
});

test('a hundred thousand lines that match nothing are told at once', () => {
  const stray = Array.from({ length: 100_000 }, (_, i) =>
    openLine(1, encodeDisclosure({ salt: `s${i}`, value: 1 })),
  );
  const start = performance.now();
  expect(end(stray.join(''), true).faults).toHaveLength(100_000);
  expect(performance.now() - start).toBeLessThan(10_000);
});
