/**
 * The verifier of audit logs: what it accepts, what it says of anything else, and that nothing gets past it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  encodeEntry,
  EMPTY_AUDIT,
  parseEntry,
  type AuditDraft,
} from '../../src/computer/audit-entry.ts';
import {
  renderAudit,
  unreadableAudit,
  type AuditVerdict,
} from '../../src/computer/audit-verdict.ts';
import { createAuditVerifier, verifyAudit } from '../../src/computer/audit-verify.ts';
import { type JsonObject } from '../../src/transcript/index.ts';
import {
  AT,
  digested,
  ended,
  log,
  logLines,
  membersOf,
  SAMPLE,
  SCREEN,
  step,
} from './audit-sample.ts';

const good = log();
const lines = logLines();
const bytes = Buffer.from(good);

/** A fault's entry and reason; undefined for an intact log. */
function named(content: string | Uint8Array): unknown {
  const { fault } = verifyAudit(content);
  return fault && [fault.entry, fault.reason];
}

/** Texts that formats have lost or changed. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .array(
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\r',
        '\t',
        '\0',
        '\u001f',
        '\u007f',
        '\u0085',
        '\u2028',
        '\ufeff',
        '😀',
        'é',
      ),
    )
    .map((parts) => parts.join('')),
);
const times = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}+00:00`);
const draft: fc.Arbitrary<AuditDraft> = fc.oneof(
  fc.record({
    kind: fc.constant('step' as const),
    at: times,
    goal: texts,
    screen: fc.string({
      unit: fc.constantFrom(...'0123456789abcdef'.split('')),
      minLength: 16,
      maxLength: 16,
    }),
    action: texts,
    outcome: texts,
    ok: fc.boolean(),
  }),
  fc
    .record({ at: times, goal: texts, why: texts, ok: fc.boolean() })
    .map(({ why, ...rest }) =>
      ended({ ...rest, outcome: `${rest.ok ? 'success' : 'failure'}: ${why}` }),
    ),
);
const drafts = fc.array(draft, { minLength: 1, maxLength: 6 });

describe('an intact log', () => {
  test('has a verdict that counts, in words, and says what it does not show', () => {
    const { unseen = '', ...rest } = verifyAudit(good);
    expect(rest).toEqual({
      log: 'audit',
      ok: true,
      count: 5,
      steps: 3,
      failed: 1,
      episodes: 2,
      closed: true,
      head: membersOf(lines[4] ?? '')['digest'],
      detail: '5 entries, chain intact',
    });
    expect(unseen).toContain('entries removed from the end');
    expect(unseen).toContain('written anew as a whole');
    expect(unseen).not.toContain('last entry is a step');
  });

  test('is open, and no worse, when its last entry is a step', () => {
    const verdict = verifyAudit(lines.slice(0, 2).join(''));
    expect(verdict).toMatchObject({ ok: true, closed: false, count: 2 });
    expect(verdict.unseen).toContain('the last entry is a step');
  });

  test('holds whatever its texts are, and reads back', () => {
    fc.assert(
      fc.property(drafts, (all) => {
        const written = logLines(all);
        expect(verifyAudit(written.join('')).fault).toBe(undefined);
        expect(verifyAudit(written.join(''))).toMatchObject({
          count: all.length,
          steps: all.filter(({ kind }) => kind === 'step').length,
          failed: all.filter(({ kind, ok }) => kind === 'step' && !ok).length,
        });
        const entries = written.map((line) => parseEntry(line));
        expect(entries).toMatchObject(all);
      }),
    );
  });

  test('is the same in pieces of any size, each lent for the call alone', () => {
    const whole = verifyAudit(good);
    for (let size = 1; size <= bytes.length; size += 1) {
      const verifier = createAuditVerifier();
      const lent = Buffer.alloc(size);
      for (let at = 0; at < bytes.length; at += size) {
        verifier.push(lent.subarray(0, bytes.copy(lent, 0, at, at + size)));
        lent.fill('?');
      }
      expect(verifier.end()).toEqual(whole);
    }
  });

  test('takes texts of megabytes', () => {
    const long = 'ä"\n😀'.repeat(300_000);
    const large = log([step({ action: long, outcome: long }), ended()]);
    expect(verifyAudit(large).ok).toBe(true);
    expect(named(large.replace('😀', '😁'))).toEqual([1, 'digest_mismatch']);
    expect(named(large.replace('"ok":true', '"ok":false'))).toEqual([1, 'digest_mismatch']);
    expect(named(large.replace('"ok":true', '"ok":null'))).toEqual([1, 'malformed_entry']);
    expect(named(large.replace('"ok":true', '"ok": true'))).toEqual([1, 'not_canonical']);
    expect(named(large.replace('{"action"', '{"a":[[]],"action"'))).toEqual([1, 'extra_fields']);
    expect(named(large.replace('"ok":true', '"ok":[[[{}]]]'))).toEqual([1, 'malformed_entry']);
  });
});

describe('any change is found', () => {
  test('every bit of every byte', () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const entry = bytes.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
      for (let bit = 1; bit < 256; bit *= 2) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ bit;
        const verdict = verifyAudit(changed);
        expect(verdict.fault?.entry, `byte ${at}, bit ${bit}`).toBe(entry);
        expect(verdict.count).toBe(entry - 1);
      }
    }
  });

  test('every byte taken out, put in twice, and every cut but between lines', () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
      expect(named(Buffer.concat([before, after])), `without byte ${at}`).not.toBe(undefined);
      const twice = Buffer.concat([before, bytes.subarray(at, at + 1), bytes.subarray(at)]);
      expect(named(twice), `byte ${at} twice`).not.toBe(undefined);
      const between = at > 0 && bytes[at - 1] === 0x0a;
      const { fault } = verifyAudit(before);
      expect(fault?.reason, `cut at ${at}`).toBe(
        between ? undefined : at === 0 ? 'empty' : 'torn_tail',
      );
    }
  });

  test('every line taken out, twice, and exchanged with another', () => {
    const last = lines.length - 1;
    lines.forEach((line, i) => {
      // Without the last line the log is a shorter one, which the format can't tell.
      if (i < last) expect(named(lines.toSpliced(i, 1).join(''))).toEqual([i + 1, 'index_gap']);
      expect(named(lines.toSpliced(i, 0, line).join(''))).toEqual([i + 2, 'index_gap']);
      for (let j = i + 1; j <= last; j += 1) {
        const swapped = lines
          .with(i, lines[j] ?? '')
          .with(j, line)
          .join('');
        expect(named(swapped)).toEqual([i + 1, 'index_gap']);
      }
    });
  });

  test('any piece put in the place of any other', () => {
    fc.assert(
      fc.property(
        drafts,
        fc.nat(),
        fc.nat({ max: 20 }),
        fc.uint8Array({ maxLength: 20 }),
        (all, start, length, piece) => {
          const before = Buffer.from(log(all));
          const at = start % before.length;
          const after = Buffer.concat([
            before.subarray(0, at),
            piece,
            before.subarray(at + length),
          ]);
          const cut =
            after.length < before.length && before.subarray(0, after.length).equals(after);
          fc.pre(!cut && !after.equals(before));
          expect(verifyAudit(after).ok).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('arbitrary bytes are judged, never thrown at', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        expect(verifyAudit(noise).ok).toBe(false);
        expect(verifyAudit(Buffer.concat([bytes, noise])).count).toBe(5);
      }),
    );
  });

  test('any other JSON, with any digest', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(verifyAudit(`${json}\n`).fault?.entry).toBe(1);
      }),
    );
  });
});

const first = membersOf(lines[0] ?? '');

/** The log with another second line. */
function second(line: string | Uint8Array): Buffer {
  const [before = '', , ...rest] = lines;
  return Buffer.concat([Buffer.from(before), Buffer.from(line), Buffer.from(rest.join(''))]);
}

describe('each fault has its name and its entry', () => {
  const line = lines[1] ?? '';
  const members = membersOf(line);

  test.each<[string, string | Uint8Array, string, string]>([
    ['a blank line', `\n${line}`, 'not_canonical', 'a blank line'],
    ['CRLF', line.replace('\n', '\r\n'), 'not_canonical', '\\r\\n'],
    ['a byte order mark', `\uFEFF${line}`, 'not_canonical', 'byte order mark'],
    ['a space', line.replace(':', ': '), 'not_canonical', 'column'],
    ['an escaped letter', line.replace('click', '\\u0063lick'), 'not_canonical', 'column 12'],
    [
      'a key twice',
      line.replace('"ok"', '"kind":"step","ok"'),
      'not_canonical',
      '"kind" comes twice',
    ],
    ['other bytes', Buffer.from(line.replace('é', 'e')).fill(0xff, 20, 21), 'bad_utf8', 'UTF-8'],
    ['half a line', `${line.slice(0, 50)}\n`, 'bad_json', 'column'],
    ['two on one line', `${line.trimEnd()}${line}`, 'bad_json', 'data after the end'],
    ['NUL', `${'\0'.repeat(40)}\n`, 'bad_json', 'column 1'],
    ['NUL, a lot', `${'\0'.repeat(400_000)}\n`, 'bad_json', 'NUL'],
    ['an array', '[]\n', 'not_an_object', 'an array'],
    ['a number', '3\n', 'not_an_object', 'a number'],
    ['null', 'null\n', 'not_an_object', 'null'],
    ['a string', '"x"\n', 'not_an_object', 'a string'],
    ['no goal', digested(without(members, 'goal')), 'missing_fields', 'goal'],
    ['no digest', line.replace(/"digest":"\w+",/, ''), 'missing_fields', 'digest'],
    ['one more', digested({ ...members, approved_by: 'alice' }), 'extra_fields', 'approved_by'],
    ['ok as text', digested({ ...members, ok: 'false' }), 'malformed_entry', 'ok must be'],
    ['ok as a list', digested({ ...members, ok: [] }), 'malformed_entry', 'ok must be'],
    ['goal null', digested({ ...members, goal: null }), 'malformed_entry', 'goal must be a string'],
    [
      'digest null',
      line.replace(/"digest":"\w+"/, '"digest":null'),
      'malformed_entry',
      'digest must',
    ],
    ['index as text', digested({ ...members, index: '1' }), 'malformed_entry', 'index must be'],
    ['index 1.0', line.replace('"index":1', '"index":1.0'), 'malformed_entry', 'index must be'],
    ['index 1e999', line.replace('"index":1', '"index":1e999'), 'malformed_entry', 'index must be'],
    [
      'another kind',
      digested({ ...members, kind: 'evil' }),
      'malformed_entry',
      "kind must be 'step'",
    ],
    ['another date', digested({ ...members, at: 'yesterday' }), 'malformed_entry', 'at must be'],
    [
      'month 13',
      digested({ ...members, at: AT.replace('01-01', '13-01') }),
      'malformed_entry',
      'at must',
    ],
    [
      'a time elsewhere',
      digested({ ...members, at: AT.replace('+00', '+02') }),
      'malformed_entry',
      'at must',
    ],
    [
      'screen of no step',
      digested({ ...members, screen: '' }),
      'malformed_entry',
      'screen must be',
    ],
    [
      'screen in capitals',
      digested({ ...members, screen: SCREEN.toUpperCase() }),
      'malformed_entry',
      'screen',
    ],
    [
      'an action in an episode',
      digested({ ...members, kind: 'episode', screen: '' }),
      'malformed_entry',
      'must be empty',
    ],
    [
      'an episode that says otherwise than ok',
      digested({
        ...members,
        kind: 'episode',
        screen: '',
        action: '',
        outcome: 'success: x',
        ok: false,
      }),
      'malformed_entry',
      "outcome must begin with 'failure: '",
    ],
    [
      'an edit',
      line.replace('click', 'press'),
      'digest_mismatch',
      'entry 2 was edited after it was written',
    ],
    [
      'a step made an episode',
      line.replace('"step"', '"episode"'),
      'digest_mismatch',
      'entry 2 was edited',
    ],
    [
      'an escaped surrogate',
      line.replace('click', '\\ud800'),
      'digest_mismatch',
      'entry 2 was edited',
    ],
    [
      'a digest in capitals',
      line.replace(/"digest":"\w+"/, (found) => found.toUpperCase().replace('DIGEST', 'digest')),
      'digest_mismatch',
      'entry 2 was edited',
    ],
    [
      'another index',
      digested({ ...members, index: 7 }),
      'index_gap',
      'entry 2 is out of order (index 7 where 1 was expected): lines were removed or reordered',
    ],
    [
      'a huge index',
      line.replace('"index":1', `"index":${'9'.repeat(99)}`),
      'index_gap',
      '(index 9999',
    ],
    ['index -1', digested({ ...members, index: -1 }), 'index_gap', '(index -1 where 1'],
    [
      'another link',
      digested({ ...members, prev: '' }),
      'prev_mismatch',
      'entry 2 does not follow entry 1: its link points at an entry that is not there',
    ],
  ])('%s', (_, changed, reason, words) => {
    const verdict = verifyAudit(second(changed));
    expect(verdict.fault).toMatchObject({ entry: 2, reason });
    expect(verdict.fault?.detail).toContain(words);
    expect(verdict).toMatchObject({ ok: false, count: 1, steps: 1, head: first['digest'] });
    expect(verdict.detail).toContain('entry 2');
    expect(verdict.unseen).toBe(undefined);
  });

  test('an edit, with its digest put right, shows in the next link', () => {
    const verdict = verifyAudit(second(digested({ ...members, ok: true })));
    expect(verdict.detail).toBe(
      'entry 3 does not follow entry 2: its link points at an entry that is not there',
    );
  });

  test('the first in the file is told, whatever comes after', () => {
    const edited = lines.with(1, (lines[1] ?? '').replace('click', 'press'));
    expect(named(`${edited.join('')}not JSON\n\xff`)).toEqual([2, 'digest_mismatch']);
  });

  test('a line that is too long is no entry, whether its end comes or not', () => {
    const verifier = createAuditVerifier();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 65; i += 1) verifier.push(piece);
    expect(verifier.end().fault).toMatchObject({ entry: 1, reason: 'malformed_entry' });
    const long = Buffer.alloc(64 * 1024 * 1024 + 2, 'x').fill('\n', 64 * 1024 * 1024 + 1);
    expect(named(long)).toEqual([1, 'malformed_entry']);
  });

  test('nesting of any depth is judged', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(named(`${deep}\n`)).toEqual([1, 'not_an_object']);
    expect(named(second(line.replace('"ok":false', `"ok":${deep}`)))).toEqual([
      2,
      'malformed_entry',
    ]);
  });

  test('a lone surrogate in a text that is verified is no UTF-8', () => {
    expect(named(good.replace('click', '\ud800'))).toEqual([1, 'bad_utf8']);
  });

  test('what is at the end', () => {
    expect(verifyAudit('')).toMatchObject({ ok: false, detail: 'the log is empty' });
    expect(named(good.slice(0, -1))).toEqual([5, 'torn_tail']);
    expect(named(`${good}{"action":`)).toEqual([6, 'torn_tail']);
    expect(named(`${good}{"action":\n`)).toEqual([6, 'torn_tail']);
    expect(named(`${good}{"action":\n\n`)).toEqual([6, 'bad_json']);
    expect(verifyAudit(good, { count: 6 }).fault).toMatchObject({
      reason: 'count_mismatch',
      expected: '6',
    });
    const head = verifyAudit(good).head;
    expect(verifyAudit(good, { count: 5, head: head.toUpperCase() }).ok).toBe(true);
    expect(verifyAudit(lines.slice(0, 3).join(''), { head }).fault).toMatchObject({
      reason: 'head_mismatch',
      expected: head,
    });
    expect(unreadableAudit('no such file').fault).toMatchObject({ reason: 'unreadable' });
  });
});

describe('an entry', () => {
  test.each<[string, Partial<Record<keyof AuditDraft, unknown>>]>([
    ['ok must be', { ok: 1 }],
    ['goal must be', { goal: null }],
    ['outcome must be', { outcome: undefined }],
    ['screen must be', { screen: 'abc' }],
    ['at must be', { at: '2026-01-01' }],
    ['kind must be', { kind: 'evil' }],
  ])('that may not be is not written: %s', (words, members) => {
    // A caller in JavaScript can pass anything.
    const wrong = { ...step(), ...members } as AuditDraft;
    expect(() => encodeEntry(EMPTY_AUDIT, wrong)).toThrow(TypeError);
    expect(() => encodeEntry(EMPTY_AUDIT, wrong)).toThrow(words);
  });

  test('with a lone surrogate, or too long, is not written', () => {
    expect(() => encodeEntry(EMPTY_AUDIT, step({ goal: '\ud800' }))).toThrow('lone surrogate');
    const action = 'x'.repeat(64 * 1024 * 1024);
    expect(() => encodeEntry(EMPTY_AUDIT, step({ action }))).toThrow('an entry over');
  });

  test('has a time in one form, for the writer and for the verifier', () => {
    const inForm = fc
      .tuple(...[9999, 19, 39, 29, 69, 69].map((max) => fc.nat({ max })))
      .map((parts) => parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')))
      .map(([y, mo, d, h, mi, s]) => `${y}-${mo}-${d}T${h}:${mi}:${s}+00:00`);
    const touched = fc
      .tuple(
        inForm,
        fc.nat({ max: 24 }),
        fc.constantFrom('0', '9', ':', '-', ' ', 'T', '\u0130', ''),
      )
      .map(([time, i, other]) => time.slice(0, i) + other + time.slice(i + 1));
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof(inForm, touched), (at) => {
        const { digest: _, ...members } = first;
        const isIn = verifyAudit(digested({ ...members, at })).ok;
        let isWritten = true;
        try {
          encodeEntry(EMPTY_AUDIT, step({ at }));
        } catch {
          isWritten = false;
        }
        expect(isIn, at).toBe(isWritten);
        taken += isIn ? 1 : 0;
      }),
      { numRuns: 2000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  test('is looked at as closely where it begins like the entry before', () => {
    const [before = '', after = ''] = logLines([step(), step()]);
    const { digest: _, ...members } = membersOf(after);
    const isIn = (other: JsonObject): boolean =>
      verifyAudit(before + digested({ ...members, ...other })).ok;
    let taken = 0;
    for (let i = 0; i < AT.length; i += 1) {
      for (const other of ['0', '1', '5', '6', '9', ':', '-', '+', ' ', 'T', 'Z', '\u0130', '']) {
        const at = AT.slice(0, i) + other + AT.slice(i + 1);
        let isWritten = true;
        try {
          encodeEntry(EMPTY_AUDIT, step({ at }));
        } catch {
          isWritten = false;
        }
        expect(isIn({ at }), at).toBe(isWritten);
        taken += isWritten ? 1 : 0;
      }
    }
    expect(taken).toBeGreaterThan(40);
    const spelled = after.replace('"goal":"save"', String.raw`"goal":"s\u0061ve"`);
    expect(named(before + spelled)).toEqual([2, 'not_canonical']);
  });

  test('has a goal of its own, however much it is like the one before', () => {
    const goals = ['', 's', 'sa', 'save', 'saves', 'save"', 'save\\', 'säve', 'save","index":'];
    const triples = goals.flatMap((a) => goals.flatMap((b) => goals.map((c) => [a, b, c])));
    for (const triple of triples) {
      const content = Buffer.from(log(triple.map((goal) => step({ goal }))));
      for (const size of [content.length, 200]) {
        const verifier = createAuditVerifier();
        for (let at = 0; at < content.length; at += size) {
          verifier.push(content.subarray(at, at + size));
        }
        expect(verifier.end().fault, triple.join()).toBe(undefined);
      }
    }
  });

  test('is read strictly', () => {
    expect(parseEntry(lines[0] ?? '')).toEqual(first);
    for (const bad of [
      '',
      '{}',
      '[]',
      '3',
      digested({ ...first, kind: 'evil' }),
      digested({ ...first, index: -1 }),
    ]) {
      expect(() => parseEntry(bad)).toThrow(SyntaxError);
    }
  });

  test('has the seed’s bytes', () => {
    const vectors = JSON.parse(
      readFileSync(new URL('../testdata/seeds/vectors.json', import.meta.url), 'utf8'),
    );
    const golden: AuditDraft[] = vectors.audit.entries;
    expect(logLines(golden).map((line) => JSON.parse(line))).toEqual(golden);
    expect(golden.length).toBe(4);
  });
});

test.each<[string, AuditVerdict]>([
  [
    'audit: 3 entries (2 steps, 1 failed, 1 ok) | chain intact: 3 entries, chain intact',
    verifyAudit(lines.slice(0, 3).join('')),
  ],
  [
    'audit: 1 entries (1 steps, 1 ok) | chain intact: 1 entries, chain intact',
    verifyAudit(log([step()])),
  ],
  [
    'audit: 1 entries (0 steps, no steps) | chain intact: 1 entries, chain intact',
    verifyAudit(log([ended()])),
  ],
  [
    'audit: 2 entries (2 steps, 2 failed) | chain intact: 2 entries, chain intact',
    verifyAudit(log([step({ ok: false }), step({ ok: false })])),
  ],
  [
    'audit: 1 entries (1 steps, 1 ok) | chain BROKEN: entry 2 was edited after it was written',
    verifyAudit(good.replace('nothing', 'something')),
  ],
  [
    'audit: 5 entries (3 steps, 1 failed, 2 ok) | chain intact: 5 entries, chain intact',
    verifyAudit(log(SAMPLE)),
  ],
])('renders as the seed does: %s', (words, verdict) => {
  expect(renderAudit(verdict)).toBe(words);
});

function without(members: Readonly<Record<string, unknown>>, name: string): never {
  // What is left is JSON still.
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name)) as never;
}
