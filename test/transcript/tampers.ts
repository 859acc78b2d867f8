/**
 * Ways to damage a transcript, each with the fault that must be named. The table is also written out, as
 * test vectors for other implementations, to test/testdata/format/verify.json.
 *
 * @module
 */
import { GENESIS, type Reason, type VerifyOptions } from '../../src/transcript/index.ts';
import { bytesOf, chain, hashed, hashOf, rehashed, restOf, SAMPLE, sha256 } from './sample.ts';

export interface Tamper {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly options?: VerifyOptions;
  /** Null if the transcript holds. */
  readonly fault: { readonly seq: number; readonly line: number; readonly reason: Reason } | null;
  /** What the detail must say too. */
  readonly detail?: string;
}

const lines: readonly string[] = chain(SAMPLE);
const good = lines.join('');

function line(seq: number): string {
  const found = lines[seq];
  if (found === undefined) throw new RangeError(`no line ${seq}`);
  return found;
}

/** A fault at the line of its own record, as it is unless blank lines were accepted. */
function tamper(
  name: string,
  content: string | Uint8Array,
  seq: number,
  reason: Reason,
  detail?: string,
): Tamper {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  const fault = { seq, line: seq + 1, reason };
  return detail === undefined ? { name, bytes, fault } : { name, bytes, fault, detail };
}

/** The transcript with some lines exchanged. */
function withLines(changes: Readonly<Record<number, string>>): string {
  return lines.map((text, seq) => changes[seq] ?? text).join('');
}

/** The transcript with one line changed. */
function changed(seq: number, change: (text: string) => string): string {
  return withLines({ [seq]: change(line(seq)) });
}

/** The first record with another content, well hashed. */
function first(rest: string): string {
  return hashed(rest) + lines.slice(1).join('');
}

/** One record that has the hash of its canonical spelling and is spelled otherwise. */
function respelled(canonicalRest: string, spelled: (hash: string) => string): string {
  return `${spelled(sha256(`{${canonicalRest}`))}\n`;
}

const PREV = `"prev":"${GENESIS}","seq":0}`;

const content: readonly Tamper[] = [
  tamper(
    'a payload edited',
    changed(2, (text) => text.replace('42', '43')),
    2,
    'hash_mismatch',
  ),
  tamper(
    'the kind edited',
    changed(1, (text) => text.replace('assistant', 'user')),
    1,
    'hash_mismatch',
  ),
  tamper(
    'a hash edited',
    changed(3, (text) => text.replace(hashOf(text), 'f'.repeat(64))),
    3,
    'hash_mismatch',
  ),
  tamper(
    'a payload edited and its hash made anew',
    changed(2, (text) => rehashed(text, (rest) => rest.replace('42', '43'))),
    3,
    'prev_mismatch',
  ),
  tamper(
    'the first payload exchanged and its hash made anew',
    first(`"kind":"user","payload":{"content":"2 + 41?"},${PREV}`),
    1,
    'prev_mismatch',
  ),
  tamper(
    'U+FFFD, written where another character was',
    changed(1, (text) => text.replace('é', '\ufffd')),
    1,
    'hash_mismatch',
  ),
  tamper(
    'record 2 edited, and line 8 no JSON',
    `${changed(2, (text) => text.replace('42', '43'))}${line(5)}not JSON\n`,
    2,
    'hash_mismatch',
  ),
];

const order: readonly Tamper[] = [
  tamper('a record dropped', withLines({ 2: '' }), 2, 'seq_gap'),
  tamper('the first record dropped', withLines({ 0: '' }), 0, 'seq_gap'),
  tamper('two records swapped', withLines({ 2: line(3), 3: line(2) }), 2, 'seq_gap'),
  tamper(
    'two records swapped and renumbered',
    withLines({
      2: rehashed(line(3), (rest) => rest.replace('"seq":3', '"seq":2')),
      3: rehashed(line(2), (rest) => rest.replace('"seq":2', '"seq":3')),
    }),
    2,
    'prev_mismatch',
  ),
  tamper('the last record twice', good + line(5), 6, 'seq_gap', 'a second time'),
  tamper('an earlier record again', good + line(2), 6, 'seq_gap', 'a second time'),
  tamper(
    'another run’s record',
    withLines({ 2: chain([...SAMPLE].toReversed())[2] ?? '' }),
    2,
    'prev_mismatch',
  ),
  tamper('two transcripts in one file', good + good, 6, 'seq_gap'),
  tamper('two writers', fork(), 4, 'seq_gap', 'fork: two writers'),
  tamper(
    'two writers, the second counting on',
    good + hashed(`"kind":"tool","payload":{},"prev":"${hashOf(line(3))}","seq":6}`),
    6,
    'prev_mismatch',
    'fork: two writers',
  ),
];

/** Two writers that both read four records, and then appended one each, in turn. */
function fork(): string {
  const head = SAMPLE.slice(0, 3);
  const mine = chain([...head, { kind: 'tool', payload: { from: 1 } }]);
  const other = chain([...head, { kind: 'tool', payload: { from: 2 } }]);
  return [...mine, other[3]].join('');
}

const end: readonly Tamper[] = [
  tamper('an empty file', '', 0, 'not_sealed'),
  tamper('the final record removed', lines.slice(0, 5).join(''), 5, 'not_sealed'),
  {
    name: 'the same, where an open run is accepted',
    bytes: bytesOf(lines.slice(0, 5).join('')),
    options: { allowOpen: true },
    fault: null,
  },
  {
    name: 'an empty file, where an open run is accepted',
    bytes: new Uint8Array(0),
    options: { allowOpen: true },
    fault: null,
  },
  tamper('cut in the middle of the last line', good.slice(0, -20), 5, 'torn_tail'),
  tamper('only the last newline missing', good.slice(0, -1), 5, 'torn_tail'),
  tamper(
    'cut in the middle of a character',
    bytesOf(good).slice(0, lines.slice(0, 1).join('').length + 115),
    1,
    'torn_tail',
  ),
  tamper('NUL bytes after the end', `${good}${'\0'.repeat(50)}`, 6, 'torn_tail'),
  tamper(
    'a last line of NUL bytes',
    `${withLines({ 5: '\0'.repeat(line(5).length - 1) })}\n`,
    5,
    'torn_tail',
  ),
  tamper('the last line cut, and a newline after it', `${good.slice(0, -20)}\n`, 5, 'torn_tail'),
  tamper(
    'a last line that is no UTF-8',
    Buffer.concat([bytesOf(good), Uint8Array.of(0xff, 0x0a)]),
    6,
    'torn_tail',
  ),
  tamper('spaces after the end', `${good}  `, 6, 'torn_tail'),
  tamper(
    'NUL bytes in the middle',
    withLines({ 3: `${'\0'.repeat(line(3).length - 1)}\n` }),
    3,
    'bad_json',
  ),
  tamper(
    'a line cut in the middle',
    changed(3, (text) => `${text.slice(0, 100)}\n`),
    3,
    'bad_json',
  ),
  tamper(
    'a line cut, and the next glued to it',
    changed(3, (text) => text.slice(0, 100)),
    3,
    'bad_json',
  ),
  tamper(
    'two records on one line',
    changed(3, (text) => text.slice(0, -1)),
    3,
    'bad_json',
  ),
  tamper('a byte that is no UTF-8', withByte(1, 'é', 0xff), 1, 'bad_utf8'),
  tamper(
    'a torn line before the last',
    `${lines.slice(0, 3).join('')}{"hash":"\n${line(3)}`,
    3,
    'bad_json',
  ),
  { name: 'the right count', bytes: bytesOf(good), options: { count: 6 }, fault: null },
  {
    name: 'another count',
    bytes: bytesOf(good),
    options: { count: 7 },
    fault: { seq: 6, line: 7, reason: 'count_mismatch' },
  },
  {
    name: 'the right head',
    bytes: bytesOf(good),
    options: { head: hashOf(line(5)), count: 6 },
    fault: null,
  },
  {
    name: 'another head',
    bytes: bytesOf(good),
    options: { head: GENESIS },
    fault: { seq: 6, line: 7, reason: 'head_mismatch' },
  },
  {
    name: 'a cut tail, the count known',
    bytes: bytesOf(lines.slice(0, 4).join('')),
    options: { count: 6, allowOpen: true },
    fault: { seq: 4, line: 5, reason: 'count_mismatch' },
  },
];

/** The transcript with the first byte of a character of one line exchanged. */
function withByte(seq: number, character: string, byte: number): Uint8Array {
  const bytes = bytesOf(good);
  const before = lines.slice(0, seq).join('') + line(seq).slice(0, line(seq).indexOf(character));
  bytes[bytesOf(before).length] = byte;
  return bytes;
}

const shape: readonly Tamper[] = [
  tamper('an array as a line', withLines({ 2: '[]\n' }), 2, 'not_an_object'),
  tamper('a number as a line', withLines({ 2: '1e999\n' }), 2, 'not_an_object'),
  tamper('null as a line', withLines({ 2: 'null\n' }), 2, 'not_an_object'),
  tamper(
    'an empty object',
    withLines({ 0: '{}\n' }),
    0,
    'missing_fields',
    'hash, kind, payload, prev, seq',
  ),
  tamper(
    'no kind',
    changed(1, (text) => text.replace('"kind":"assistant",', '')),
    1,
    'missing_fields',
    'kind',
  ),
  tamper(
    'no hash',
    changed(4, (text) => `{${restOf(text)}\n`),
    4,
    'missing_fields',
    'hash',
  ),
  tamper(
    'a field that the hash doesn’t cover',
    changed(1, (text) => text.replace('{"hash"', '{"approved_by":"alice","hash"')),
    1,
    'extra_fields',
    '"approved_by"',
  ),
  tamper(
    'a field __proto__',
    changed(1, (text) => text.replace('{', '{"__proto__":{},')),
    1,
    'extra_fields',
  ),
  tamper('kind null', first(`"kind":null,"payload":{},${PREV}`), 0, 'malformed_record', 'kind'),
  tamper(
    'a payload of text',
    first(`"kind":"user","payload":"x",${PREV}`),
    0,
    'malformed_record',
    'payload',
  ),
  tamper(
    'a payload of a number',
    first(`"kind":"user","payload":3,${PREV}`),
    0,
    'malformed_record',
    'payload',
  ),
  tamper(
    'a payload null',
    first(`"kind":"user","payload":null,${PREV}`),
    0,
    'malformed_record',
    'payload',
  ),
  ...['false', '1.0', '0.0', '1e0', '"0"', 'null', '[]', '{"x":"\\ud800"}', '-0.0', '1e999'].map(
    (seq) =>
      tamper(
        `seq ${seq}`,
        first(`"kind":"user","payload":{},"prev":"${GENESIS}","seq":${seq}}`),
        0,
        'malformed_record',
        'seq',
      ),
  ),
  tamper(
    'seq a deep array',
    first(
      `"kind":"user","payload":{},"prev":"${GENESIS}","seq":${'['.repeat(600)}${']'.repeat(600)}}`,
    ),
    0,
    'malformed_record',
    'seq',
  ),
  tamper(
    'seq of 60 digits',
    first(`"kind":"user","payload":{},"prev":"${GENESIS}","seq":${'9'.repeat(60)}}`),
    0,
    'seq_gap',
  ),
  tamper('seq -1', first(`"kind":"user","payload":{},"prev":"${GENESIS}","seq":-1}`), 0, 'seq_gap'),
  tamper(
    'an upper-case hash',
    changed(0, (text) => text.replace(hashOf(text), hashOf(text).toUpperCase())),
    0,
    'malformed_record',
    'hash',
  ),
  tamper(
    'a short prev',
    first(`"kind":"user","payload":{},"prev":"00","seq":0}`),
    0,
    'malformed_record',
    'prev',
  ),
  tamper(
    'prev a number',
    first(`"kind":"user","payload":{},"prev":0,"seq":0}`),
    0,
    'malformed_record',
    'prev',
  ),
];

const TWICE = `"kind":"user","payload":{"a":2},${PREV}`;
const ONE = `"kind":"final","payload":{"a":1},${PREV}`;

const spelling: readonly Tamper[] = [
  tamper('a blank line first', `\n${good}`, 0, 'not_canonical', 'a blank line'),
  tamper(
    'a blank line in the middle',
    changed(2, (text) => `\n${text}`),
    2,
    'not_canonical',
    'a blank line',
  ),
  tamper('a blank line last', `${good}\n`, 6, 'not_canonical', 'a blank line'),
  tamper('only blank lines', ' \t\r\n\n', 0, 'not_canonical', 'a blank line'),
  tamper('\\r\\n', good.replaceAll('\n', '\r\n'), 0, 'not_canonical', '\\r\\n'),
  tamper(
    '\\r\\n once',
    changed(3, (text) => text.replace('\n', '\r\n')),
    3,
    'not_canonical',
    '\\r\\n',
  ),
  tamper('a byte order mark', `\ufeff${good}`, 0, 'not_canonical', 'a byte order mark'),
  tamper(
    'a byte order mark on line 2',
    changed(1, (text) => `\ufeff${text}`),
    1,
    'not_canonical',
    'a byte order mark',
  ),
  tamper('only a byte order mark', '\ufeff\n', 0, 'torn_tail'),
  tamper('lines parted by U+2028', good.replaceAll('\n', '\u2028'), 0, 'torn_tail'),
  tamper(
    'two lines parted by U+2028',
    changed(1, (text) => text.replace('\n', '\u2028')),
    1,
    'bad_json',
  ),
  tamper(
    'fields in another order',
    changed(0, (text) => text.replace(/,"seq":0\}/, '}').replace('{', '{"seq":0,')),
    0,
    'not_canonical',
  ),
  tamper(
    'keys of the payload in another order',
    respelled(
      `"kind":"user","payload":{"a":1,"b":2},${PREV}`,
      (hash) => `{"hash":"${hash}","kind":"user","payload":{"b":2,"a":1},${PREV}`,
    ),
    0,
    'not_canonical',
  ),
  tamper(
    'a space',
    changed(4, (text) => text.replace('[true,', '[true, ')),
    4,
    'not_canonical',
    'column',
  ),
  tamper(
    'an escape for a letter',
    changed(0, (text) => text.replace('What', '\\u0057hat')),
    0,
    'not_canonical',
  ),
  tamper(
    'an escape for a character',
    changed(1, (text) => text.replace('é', '\\u00e9')),
    1,
    'not_canonical',
  ),
  tamper(
    'an escaped pair',
    changed(1, (text) => text.replace('\u{1F600}', '\\ud83d\\ude00')),
    1,
    'not_canonical',
  ),
  tamper(
    '\\u000a for \\n',
    changed(3, (text) => text.replace('\\n', '\\u000a')),
    3,
    'not_canonical',
  ),
  tamper(
    'an escaped slash',
    changed(0, (text) => text.replace('hashtape/1', 'hashtape\\/1')),
    0,
    'not_canonical',
  ),
  tamper(
    '2.5e-1 for 0.25',
    changed(2, (text) => text.replace('0.25', '2.5e-1')),
    2,
    'not_canonical',
  ),
  tamper(
    '0.250 for 0.25',
    changed(2, (text) => text.replace('0.25', '0.250')),
    2,
    'not_canonical',
  ),
  tamper(
    '1E-7 for 1e-07',
    changed(4, (text) => text.replace('1e-07', '1E-7')),
    4,
    'not_canonical',
  ),
  tamper(
    '42.0 for 42, which is another value',
    changed(2, (text) => text.replace('42', '42.0')),
    2,
    'hash_mismatch',
  ),
  tamper(
    'seq -0',
    respelled(ONE, (hash) => `{"hash":"${hash}",${ONE.replace('"seq":0', '"seq":-0')}`),
    0,
    'not_canonical',
  ),
  tamper(
    'a key twice in the payload',
    respelled(TWICE, (hash) => `{"hash":"${hash}",${TWICE.replace('{"a":2}', '{"a":1,"a":2}')}`),
    0,
    'not_canonical',
    'the key "a" comes twice',
  ),
  tamper(
    'a key twice, the second time escaped',
    respelled(
      TWICE,
      (hash) => `{"hash":"${hash}",${TWICE.replace('{"a":2}', '{"a":1,"\\u0061":2}')}`,
    ),
    0,
    'not_canonical',
    'the key "a" comes twice',
  ),
  tamper(
    'a field twice',
    respelled(TWICE, (hash) => `{"hash":"${hash}","kind":"evil",${TWICE}`),
    0,
    'not_canonical',
    'the key "kind" comes twice',
  ),
  tamper(
    'a key twice, hashed as it stands',
    hashed(TWICE.replace('{"a":2}', '{"a":1,"a":2}')),
    0,
    'hash_mismatch',
  ),
  tamper('NaN', hashed(ONE.replace('1', 'NaN')) + line(1), 0, 'bad_json'),
  tamper(
    'a number over a double’s range',
    hashed(ONE.replace('1', '1e999')),
    0,
    'hash_mismatch',
    '1e999',
  ),
  tamper(
    'an escaped lone surrogate',
    hashed(ONE.replace('1', '"\\ud800"')),
    0,
    'hash_mismatch',
    'lone surrogate',
  ),
  tamper(
    'a lone surrogate as kind',
    hashed(ONE.replace('final', '\\udc00')),
    0,
    'hash_mismatch',
    'lone surrogate',
  ),
  tamper(
    'a raw surrogate',
    Buffer.concat([bytesOf('"'), Uint8Array.of(0xed, 0xa0, 0x80), bytesOf('"\n'), bytesOf(good)]),
    0,
    'bad_utf8',
  ),
  tamper(
    'an overlong form',
    Buffer.concat([bytesOf('"'), Uint8Array.of(0xc0, 0xaf), bytesOf('"\n'), bytesOf(good)]),
    0,
    'bad_utf8',
  ),
  tamper(
    'a raw control character',
    changed(3, (text) => text.replace('\\n', '\t')),
    3,
    'bad_json',
  ),
];

const holds: readonly Tamper[] = (
  [
    ['the sample', good],
    ['U+2028, U+2029, U+0085 and DEL, raw', one('{"a":"\u2028\u2029\u0085\u007f"}')],
    ['an integer of 5,000 digits', one(`[${'7'.repeat(5000)}]`)],
    ['Python’s numbers', one('[1.0,-0.0,1e+16,1e-07,123456789012345678901234567890]')],
    ['keys by code point', one('{"\uffff":1,"\u{10000}":2}')],
    ['a key __proto__', one('{"__proto__":{"a":1}}')],
    ['empty containers', one('[[],{},""]')],
    ['another kind, with escapes', hashed(`"kind":"\\n\\u0000é","payload":[],${PREV}`)],
  ] satisfies [string, string][]
).map(([name, text]) => {
  const options = text.includes('"kind":"final"') ? {} : { allowOpen: true };
  return { name, bytes: bytesOf(text), options, fault: null };
});

function one(payload: string): string {
  return hashed(`"kind":"final","payload":${payload},${PREV}`);
}

/** Small enough to be written out as test vectors. */
export const TAMPERS: readonly Tamper[] = [
  ...holds,
  ...content,
  ...order,
  ...end,
  ...shape,
  ...spelling,
];

const DEEP = 50_000;
const deep = `${'{"a":['.repeat(DEEP)}1${']}'.repeat(DEEP)}`;

/** Too large to be written out. */
export const LARGE_TAMPERS: readonly Tamper[] = [
  { name: '100,000 levels, good', bytes: bytesOf(one(deep)), fault: null },
  tamper('100,000 levels, edited', one(deep).replace('[1]', '[2]'), 0, 'hash_mismatch'),
  tamper('100,000 levels, respelled', one(deep).replace('[1]', '[1 ]'), 0, 'not_canonical'),
  tamper('100,000 levels, broken', `${one(deep.slice(0, -1))}${good}`, 0, 'not_canonical'),
  tamper('100,000 levels, never closed', `${one('['.repeat(DEEP))}${good}`, 0, 'bad_json'),
  tamper('a line of 100,000 levels', `${deep}\n`, 0, 'missing_fields'),
];
