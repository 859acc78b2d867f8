/**
 * The Python seed and hashtape read each other's transcripts, and where the seed is wrong hashtape is right.
 *
 * The seed's program is not part of this repository. Where it lies beside a checkout, it is run; elsewhere
 * those tests are skipped, and the files that it wrote stand in for it.
 *
 * @module
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  canonicalJson,
  CanonicalError,
  EMPTY_HEAD,
  encodeRecord,
  GENESIS,
  parseRecord,
  verifyTranscript,
  type JsonValue,
  type Reason,
  type Verdict,
} from '../../src/transcript/index.ts';
import { hasPython, python } from './python.ts';
import { drafts, Random } from './random.ts';
import { bytesOf, chain, hashed, hashOf, rehashed, SAMPLE } from './sample.ts';

const testdata = new URL('../testdata/seeds/', import.meta.url);

function fixture(name: string): Buffer {
  return readFileSync(new URL(`transcript_${name}.jsonl`, testdata));
}

/** The seed's program, cut out of the document that holds it; undefined where there is none. */
function seedProgram(): string | undefined {
  const folder = fileURLToPath(new URL('../../../shared/seeds/', import.meta.url));
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => file.startsWith('004'));
  if (name === undefined) return undefined;
  const document = readFileSync(join(folder, name), 'utf8');
  const start = document.indexOf('"""Append-only JSONL transcript');
  return start < 0 ? undefined : document.slice(start);
}

const program = seedProgram();
const NEEDS_SEED =
  program === undefined ? ' (skipped: the seed’s program is not beside this checkout)' : '';
const hasSeed = hasPython && program !== undefined;

interface Manifest {
  readonly transcript: readonly {
    readonly file: string;
    readonly note: string;
    readonly seed_verify_file: {
      readonly ok: boolean;
      readonly violations: readonly { readonly seq: number; readonly reason: string }[];
    };
  }[];
}

const manifest: Manifest = JSON.parse(readFileSync(new URL('manifest.json', testdata), 'utf8'));

/** Where our verdict is another one than the seed's: ours, and why. */
const STRICTER: Readonly<Record<string, readonly [seq: number, reason: Reason, why: string]>> = {
  'transcript_extra_field.jsonl': [1, 'extra_fields', 'no hash covers the field'],
  'transcript_duplicate_key.jsonl': [2, 'not_canonical', 'two readers would see two values'],
  'transcript_respelled.jsonl': [0, 'not_canonical', 'other bytes than were written'],
  'transcript_key_order.jsonl': [0, 'not_canonical', 'other bytes than were written'],
  'transcript_blank_lines.jsonl': [0, 'not_canonical', 'other bytes than were written'],
  'transcript_blank_only.jsonl': [0, 'not_canonical', 'other bytes than were written'],
  'transcript_ls_separator.jsonl': [0, 'torn_tail', 'only 0x0A ends a line, and there is none'],
  'transcript_no_final_newline.jsonl': [3, 'torn_tail', 'the next append would be glued to it'],
  'transcript_torn_tail.jsonl': [3, 'torn_tail', 'what a crash leaves has a name of its own'],
  'transcript_nan.jsonl': [0, 'bad_json', 'NaN is not JSON'],
  'transcript_unknown_kind.jsonl': [0, 'malformed_record', 'the payload is text'],
  'transcript_bom.jsonl': [0, 'not_canonical', 'the record behind the mark is a good one'],
};

/** Where the seed finds a fault and there is none. */
const LOOSER: Readonly<Record<string, string>> = {
  'transcript_u2028_payload.jsonl': 'the seed cuts its own line at U+2028, which JSON allows raw',
};

describe('the files of the seed', () => {
  test.each(manifest.transcript)('$file: $note', ({ file, seed_verify_file: seed }) => {
    const verdict = verifyTranscript(readFileSync(new URL(file, testdata)), { allowOpen: true });
    const ours = verdict.fault && { seq: verdict.fault.seq, reason: verdict.fault.reason };
    const [violation] = seed.violations;
    const theirs = violation && { seq: violation.seq, reason: violation.reason };
    const stricter = STRICTER[file];
    if (stricter !== undefined) {
      expect(ours).toEqual({ seq: stricter[0], reason: stricter[1] });
      expect(theirs).not.toEqual(ours);
    } else if (file in LOOSER) {
      expect(ours).toBe(undefined);
      expect(seed.ok).toBe(false);
    } else {
      expect(ours).toEqual(theirs);
    }
  });

  test('the tables name only files that are there', () => {
    const files = new Set(manifest.transcript.map(({ file }) => file));
    expect(files.size).toBe(28);
    for (const file of [...Object.keys(STRICTER), ...Object.keys(LOOSER)]) {
      expect(files).toContain(file);
    }
  });

  test('a file that holds is written again to the same bytes', () => {
    for (const { file } of manifest.transcript) {
      const bytes = readFileSync(new URL(file, testdata));
      if (!verifyTranscript(bytes, { allowOpen: true }).ok || bytes.length === 0) continue;
      const lines = bytes.toString('utf8').split('\n').slice(0, -1);
      expect(chain(lines.map((line) => parseRecord(line))).join('')).toBe(bytes.toString('utf8'));
    }
  });
});

function nested(depth: number): JsonValue {
  let value: JsonValue = 'x';
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { k: value };
  return value;
}

describe.skipIf(!hasSeed)(`the seed’s program${NEEDS_SEED}`, () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hashtape-seed-'));
    writeFileSync(join(folder, 'transcript.py'), program ?? '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function run(source: string, input = ''): string {
    const script = join(folder, 'main.py');
    writeFileSync(script, source);
    return python(['-B', script, folder], input).stdout;
  }

  test('accepts what we write, save where it cuts its own lines', () => {
    const random = new Random(7);
    const texts = Array.from({ length: 600 }, () => chain(drafts(random)).join(''));
    texts.push(chain([{ kind: 'final', payload: [nested(499)] }]).join(''), chain(SAMPLE).join(''));
    texts.push(chain([{ kind: 'user', payload: { a: 10n ** 4000n } }]).join(''));
    texts.forEach((text, i) => writeFileSync(join(folder, `ours-${i}.jsonl`), text));
    const answers = run(`
import sys, json
sys.path.insert(0, sys.argv[1])
from transcript import verify_file
print(json.dumps([verify_file("%s/ours-%d.jsonl" % (sys.argv[1], i)) for i in range(${texts.length})]))
`);
    const verdicts: [boolean, { reason: string }[], number][] = JSON.parse(answers);
    let cut = 0;
    verdicts.forEach(([ok, violations], i) => {
      const text = texts[i] ?? '';
      expect(verifyTranscript(text, { allowOpen: true }).ok).toBe(true);
      const cuts = /[\u2028\u2029\u0085]/.test(text);
      cut += cuts ? 1 : 0;
      expect(ok, `${text}: ${JSON.stringify(violations)}`).toBe(!cuts);
      if (cuts) expect(violations[0]?.reason).toBe('bad_json');
    });
    expect(cut).toBeGreaterThan(20);
    expect(texts.length - cut).toBeGreaterThan(100);
  });

  test('writes what we accept, and write again to the same bytes', () => {
    const count = 400;
    run(`
import sys, random, struct
sys.path.insert(0, sys.argv[1])
from transcript import Transcript
r = random.Random(42)
CHARACTERS = ["a", "Z", "0", '"', "\\\\", "/", "\\n", "\\t", "\\r", "\\b", "\\f", "\\0", "\\x0b", "\\x1f", "\\x7f", "\\x85",
  "\\xe9", "\\u2028", "\\u2029", "\\ud7ff", "\\ue000", "\\ufeff", "\\uffff", "\\U00010000", "\\U0001f600", "\\U0010ffff"]
def text():
    return "".join(r.choice(CHARACTERS) for _ in range(r.randrange(7)))
def number():
    k = r.randrange(6)
    if k == 0: return r.randrange(-100, 100)
    if k == 1: return r.randrange(-10**60, 10**60)
    if k == 2: return round(r.uniform(-1e6, 1e6), r.randrange(9))
    if k == 3: return r.choice([0.0, -0.0, 1.0, 1e16, 1e-5, 1e-4, 1e22, 5e-324, 1.7976931348623157e308, 2.0**53])
    if k == 4: return float(r.randrange(10**18))
    while True:
        x = struct.unpack(">d", struct.pack(">Q", r.getrandbits(64)))[0]
        if x == x and abs(x) != float("inf"): return x
def value(depth):
    k = r.randrange(8 if depth else 5)
    if k == 0: return r.choice([None, True, False])
    if k < 3: return number()
    if k < 5: return text()
    if k == 5: return [value(depth - 1) for _ in range(r.randrange(5))]
    return {text(): value(depth - 1) for _ in range(r.randrange(5))}
for i in range(${count}):
    t = Transcript()
    for _ in range(r.randrange(6)):
        t.append(r.choice(["user", "assistant", "tool"]), r.choice([{text(): value(4)}, [value(3), value(3)]]))
    if r.randrange(2): t.append("final", {"n": value(2)})
    t.save("%s/theirs-%d.jsonl" % (sys.argv[1], i))
`);
    for (let i = 0; i < count; i += 1) {
      const text = readFileSync(join(folder, `theirs-${i}.jsonl`), 'utf8');
      expect(verifyTranscript(text, { allowOpen: true }).fault, text).toBe(undefined);
      const records = text
        .split('\n')
        .slice(0, -1)
        .map((line) => parseRecord(line));
      expect(chain(records).join('')).toBe(text);
    }
  });
});

function open(content: string | Uint8Array): Verdict {
  return verifyTranscript(content, { allowOpen: true });
}

/** A fault's place and reason. */
function named(content: string | Uint8Array): unknown {
  const { fault } = open(content);
  return fault && [fault.seq, fault.line, fault.reason];
}

function refusal(payload: unknown): string {
  try {
    // A caller in JavaScript can pass anything.
    return encodeRecord(EMPTY_HEAD, { kind: 'user', payload: payload as JsonValue[] }).text;
  } catch (error) {
    if (!(error instanceof CanonicalError)) throw error;
    return error.message;
  }
}

const lines = chain(SAMPLE);
const good = lines.join('');
const PREV = `"prev":"${GENESIS}","seq":0}`;

/** The faults that were confirmed in the seed, by the numbers of their list. */
describe('the seed’s faults', () => {
  test('A1: U+2028, U+2029 and U+0085 are written raw and read back', () => {
    expect(named(fixture('u2028_payload'))).toBe(undefined);
    const text = chain([{ kind: 'user', payload: { a: '\u2028\u2029\u0085' } }]).join('');
    expect(text).toContain('"\u2028\u2029\u0085"');
    expect(open(text).ok).toBe(true);
    expect(parseRecord(text).payload).toEqual({ a: '\u2028\u2029\u0085' });
  });

  test('A2: integer-like keys are text, before they are sorted', () => {
    expect(canonicalJson({ 1: 'a', 2: 'b', 10: 'c' })).toBe('{"1":"a","10":"c","2":"b"}');
  });

  test('A3: changing a payload after it was written changes nothing', () => {
    const payload = { list: [1] };
    const line = encodeRecord(EMPTY_HEAD, { kind: 'final', payload });
    payload.list.push(2);
    expect(open(line.text).ok).toBe(true);
    expect(line.text).toContain('[1]');
  });

  test('A5: a torn last line has its own name, and what is before it stands', () => {
    const verdict = open(fixture('torn_tail'));
    expect(verdict).toMatchObject({ ok: false, count: 3, fault: { seq: 3, reason: 'torn_tail' } });
    expect(open(good.slice(0, -9))).toMatchObject({ count: 5, head: hashOf(lines[4] ?? '') });
  });

  test('A6: a last line without its newline is a fault before anything is glued to it', () => {
    expect(named(good.slice(0, -1))).toEqual([5, 6, 'torn_tail']);
    expect(named(`${lines[0]?.trimEnd()}${lines[1]}${lines[2]}`)).toEqual([0, 1, 'bad_json']);
  });

  test('A7: two writers are named as such', () => {
    const other = rehashed(lines[3] ?? '', (rest) => rest.replace('It is', 'It was'));
    const verdict = open(`${lines.slice(0, 4).join('')}${other}`);
    expect(verdict.fault).toMatchObject({ seq: 4, line: 5, reason: 'seq_gap' });
    expect(verdict.fault?.detail).toContain('fork: two writers');
  });

  test('B1: a field that no hash covers', () => {
    expect(named(fixture('extra_field'))).toEqual([1, 2, 'extra_fields']);
    expect(named(good.replace('{"hash"', '{"approved_by":"alice","hash"'))).toEqual([
      0,
      1,
      'extra_fields',
    ]);
  });

  test('B2: a key twice, in the payload and at the top', () => {
    expect(named(fixture('duplicate_key'))).toEqual([2, 3, 'not_canonical']);
    expect(named(good.replace('"kind":"user"', '"kind":"evil","kind":"user"'))).toEqual([
      0,
      1,
      'not_canonical',
    ]);
  });

  test.each<[string, string, unknown]>([
    ['a space', good.replace('"kind":', '"kind": '), [0, 1, 'not_canonical']],
    [
      'key order',
      good.replace(`"kind":"user",`, '').replace('"prev"', '"kind":"user","prev"'),
      [0, 1, 'not_canonical'],
    ],
    ['an escaped letter', good.replace('What', '\\u0057hat'), [0, 1, 'not_canonical']],
    ['\\r\\n', good.replaceAll('\n', '\r\n'), [0, 1, 'not_canonical']],
    ['a blank line', good.replace('\n', '\n\n'), [1, 2, 'not_canonical']],
    ['lines parted by a form feed', good.replace('\n', '\f'), [0, 1, 'bad_json']],
    ['lines parted by U+2028', good.replace('\n', '\u2028'), [0, 1, 'bad_json']],
    [
      '1.00e0',
      hashed(`"kind":"a","payload":[1.0],${PREV}`).replace('1.0', '1.00e0'),
      [0, 1, 'not_canonical'],
    ],
    [
      '1e999',
      hashed(`"kind":"a","payload":[Infinity],${PREV}`).replace('Infinity', '1e999'),
      [0, 1, 'hash_mismatch'],
    ],
  ])('B3: other bytes are another file: %s', (_, text, fault) => {
    expect(named(text)).toEqual(fault);
  });

  test('B4: a byte that is no UTF-8 is not U+FFFD', () => {
    const text = chain([
      { kind: 'user', payload: { a: '\ufffd' } },
      { kind: 'final', payload: {} },
    ]).join('');
    const bytes = bytesOf(text);
    const at = bytes.indexOf(0xef);
    const changed = Buffer.concat([
      bytes.subarray(0, at),
      Uint8Array.of(0xff),
      bytes.subarray(at + 3),
    ]);
    expect(open(bytes).ok).toBe(true);
    expect(named(changed)).toEqual([0, 1, 'bad_utf8']);
  });

  test.each(['"kind":null,"payload":{}', '"kind":"a","payload":"text"', '"kind":"a","payload":3'])(
    'B5: %s is malformed, however well hashed',
    (fields) => {
      expect(named(hashed(`${fields},${PREV}`))).toEqual([0, 1, 'malformed_record']);
    },
  );

  test.each(['false', '0.0', '0e0', '"0"', 'null'])('B6: seq %s is malformed', (seq) => {
    const record = hashed(`"kind":"a","payload":{},"prev":"${GENESIS}","seq":${seq}}`);
    expect(named(record)).toEqual([0, 1, 'malformed_record']);
  });

  test('B7: a cut tail is not sealed, and a known count or head shows the cut', () => {
    for (const cut of [lines.slice(0, 5).join(''), lines[0] ?? '', '']) {
      expect(verifyTranscript(cut).fault?.reason).toBe('not_sealed');
      expect(verifyTranscript(cut, { allowOpen: true, count: 6 }).fault?.reason).toBe(
        'count_mismatch',
      );
      const head = hashOf(lines[5] ?? '');
      expect(verifyTranscript(cut, { allowOpen: true, head }).fault?.reason).toBe('head_mismatch');
    }
    expect(named('\n\n')).toEqual([0, 1, 'not_canonical']);
  });

  test('B8: a rewritten end holds alone, and not against a known head', () => {
    const last = rehashed(lines[5] ?? '', (rest) =>
      rest.replace('"content":"42"', '"content":"43"'),
    );
    const rewritten = lines.slice(0, 5).join('') + last;
    expect(verifyTranscript(rewritten).ok).toBe(true);
    const head = hashOf(lines[5] ?? '');
    expect(verifyTranscript(rewritten, { head }).fault?.reason).toBe('head_mismatch');
  });

  test('B9: NaN and the infinities are neither written nor read', () => {
    expect(named(fixture('nan'))).toEqual([0, 1, 'bad_json']);
    for (const value of [NaN, Infinity, -Infinity]) expect(refusal([value])).toBe(`$[0]: ${value}`);
  });

  test('C1: an edited record 2 is named, though line 8 is no JSON', () => {
    const longer = chain([...SAMPLE, { kind: 'a', payload: {} }]);
    const text = `${longer.join('').replace('"sum":42', '"sum":43')}not JSON\n${longer[0]}`;
    expect(named(text)).toEqual([2, 3, 'hash_mismatch']);
  });

  test('C2: 100,000 levels are judged, and 501 are not written', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const line = hashed(`"kind":"a","payload":${deep},${PREV}`);
    expect(named(line)).toBe(undefined);
    expect(named(line.replace('[]', '[0]'))).toEqual([0, 1, 'hash_mismatch']);
    let payload: unknown[] = [1];
    for (let i = 0; i < 5000; i += 1) payload = [payload];
    expect(refusal(payload)).toContain('nested deeper than 500 levels');
  });

  test('C3: a lone surrogate is refused when writing, and named when reading', () => {
    expect(refusal({ a: '\ud800' })).toBe('$.a: a string with a lone surrogate');
    const line = hashed(`"kind":"a","payload":["\\ud800"],${PREV}`);
    expect(named(line)).toEqual([0, 1, 'hash_mismatch']);
  });

  test('C4: an integer of 5,000 digits is JSON', () => {
    const line = hashed(`"kind":"a","payload":[${'9'.repeat(5000)}],${PREV}`);
    expect(named(line)).toBe(undefined);
    expect(named(line.replace('99', '98'))).toEqual([0, 1, 'hash_mismatch']);
  });

  test('C5: a byte order mark is called one', () => {
    const verdict = open(fixture('bom'));
    expect(verdict.fault).toMatchObject({ seq: 0, line: 1, reason: 'not_canonical' });
    expect(verdict.fault?.detail).toBe('a byte order mark');
  });
});
