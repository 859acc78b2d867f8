/**
 * A text that was taken out is found again, however it is spelled.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KnownTexts } from '../../src/run/known-texts.ts';
import { plainForm } from '../../src/run/plain-form.ts';
import { allEscaped, anySpelling, hex, percent } from './spellings.ts';

function finds(secret: string, text: string): boolean {
  const known = new KnownTexts();
  known.learn(secret);
  return known.isIn(text);
}

function address(query: string): string {
  const url = new URL('http://h/');
  url.search = `?k=${query}`;
  return url.href;
}

const ascii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (char) => `\\u${hex(char.charCodeAt(0))}`);

const KEY = 'wJalr/K7MD+bPx q';
const QUOTE = 's/p&ss "w\\örd"\n1é~<😀';

describe('spellings', () => {
  test.each<[string, string, string]>([
    ['as it is', KEY, `key=${KEY};`],
    ['a part of an address', KEY, encodeURIComponent(KEY)],
    ['an address', KEY, encodeURI(KEY)],
    ['a form', KEY, new URLSearchParams({ k: KEY }).toString()],
    ['Python quote, which leaves a slash', KEY, 'wJalr/K7MD%2BbPx%20q'],
    ['URL.href, which leaves a plus', KEY, address(KEY)],
    ['percent in lower case', KEY, 'wJalr%2fK7MD%2bbPx%20q'],
    ['percent all through', QUOTE, Array.from(Buffer.from(QUOTE), percent).join('')],
    ['percent twice', QUOTE, encodeURIComponent(encodeURIComponent(QUOTE))],
    ['JSON', QUOTE, JSON.stringify(QUOTE)],
    ['JSON of PHP', KEY, String.raw`"wJalr\/K7MD+bPx q"`],
    ['JSON of Python', 'pässword9', String.raw`{"k":"p\u00e4ssword9"}`],
    ['JSON in upper case', 'pässword9', String.raw`{"k":"p\u00E4ssword9"}`],
    ['JSON in ASCII', QUOTE, ascii(JSON.stringify(QUOTE))],
    ['JSON of Go', 'this&that', String.raw`"this\u0026that"`],
    ['JSON within JSON', QUOTE, JSON.stringify(JSON.stringify({ p: QUOTE }))],
    [
      'JSON within JSON within JSON, in ASCII',
      QUOTE,
      ascii(JSON.stringify(ascii(JSON.stringify(ascii(JSON.stringify(QUOTE)))))),
    ],
    ['JSON of JSON, with all escaped in both', QUOTE, allEscaped(allEscaped(QUOTE))],
    ['JSON of JSON of JSON, with all escaped', KEY, allEscaped(allEscaped(allEscaped(KEY)))],
    ['an escape whose letter is escaped', 'hunter2', String.raw`hun\\\u00750074er2`],
    ['an escape whose letter has a percent code', 'hunter2', String.raw`hun\\%750074er2`],
    [
      'an escape of whose letter the percent sign is escaped',
      'hunter2',
      String.raw`hun\\\u0025750074er2`,
    ],
    ['a newline as it is, beside other spellings', 'one\ntwo+', 'one\ntwo%2b'],
    ['a newline in JSON, beside other spellings', 'C:\\new\nline', String.raw`C:\\new\nlin%65`],
    ['a backslash before the text', 'nice one', String.raw`C:\\nice%20one`],
    ['JSON in an address', QUOTE, encodeURIComponent(JSON.stringify(QUOTE))],
    ['an address in JSON of PHP', KEY, String.raw`"http:\/\/h\/?k=wJalr%2FK7MD%2bbPx+q"`],
    ['backslashes at the end', 'C:\\new\\', JSON.stringify('C:\\new\\next')],
    ['backslashes before an escape', 'C:\\ärger', ascii(JSON.stringify('C:\\ärger'))],
    ['backslashes alone', '\\\\\\\\', '%5C%5C%5C%5C'],
    ['after a percent sign', '41 bcd', '%41%20bcd'],
    ['after a backslash', 'u0041 bcd', String.raw`\u0041%20bcd`],
    ['in the middle of an escape', '2541', '%2541'],
    ['a percent sign at the end', 'ab c%', 'ab+c%41'],
    ['the beginning of an escape at the end', 'ab c\\u00', String.raw`ab+c\u0041`],
    ['a percent code of its own', 'a%20b%2', JSON.stringify(encodeURIComponent('a%20b%2'))],
    ['a lone half of a pair', 'abc\ud800', '"abc\ud800"'],
  ])('%s', (_, secret, text) => {
    expect(finds(secret, text)).toBe(true);
    expect(finds(secret, `{"x":"${text}"}`)).toBe(true);
  });

  test.each<[string, string, string]>([
    ['another case', 'hunter2', 'Hunter2'],
    ['a part', 'hunter2', 'hunter'],
    ['base64', 'hunter2', btoa('hunter2')],
    ['separators in a number', '123456', '123,456'],
    ['names of characters in HTML', 'this&that', 'this&amp;that'],
    ['a combining accent', 'pässword9', 'pässword9'.normalize('NFD')],
    ['a last letter that an escape begins with', 'Honolulu', String.raw`Honolul\u0041`],
    ['a percent sign that is none', 'abcd%', 'abcd'],
    ['an escape of another character', 'pässword9', String.raw`p\u00e5ssword9`],
    ['an escape without its backslash', 'pässword9', 'pu00e4ssword9'],
    ['a newline for the letter n', 'nice', '100%\nice'],
    ['a tab for the letter t', 'true+', '1\true+'],
    ['half an escape', 'abcdA', 'abcd%4'],
    ['a short one', 'a b', 'a+b'],
  ])('but not %s', (_, secret, text) => {
    expect(finds(secret, text)).toBe(false);
  });
});

const HARD = [
  '%',
  '\\',
  'u',
  '0',
  '4',
  '1',
  '2',
  '5',
  'C',
  'n',
  '"',
  '/',
  '+',
  ' ',
  '\n',
  'ä',
  '😀',
];
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...HARD), maxLength: 12 }),
);
const spelled = anyText.chain(anySpelling);

describe('properties', () => {
  test('any mix of spellings of any text is found', () => {
    fc.assert(
      fc.property(spelled, ({ secret, text }) => {
        fc.pre(secret.length >= 4 && plainForm(secret, 'letters').bytes.length >= 4);
        expect(finds(secret, text)).toBe(true);
      }),
      { numRuns: 20000 },
    );
  });

  test('a text is found wherever it stands as it is, or as JSON and addresses have it', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (before, secret, after) => {
        fc.pre(secret.length >= 4);
        const whole = before + secret + after;
        for (const text of [whole, JSON.stringify(whole), encodeURIComponent(whole)])
          expect(finds(secret, text), text).toBe(true);
      }),
      { numRuns: 20000 },
    );
  });
});

describe('one look costs the length of the text, whatever was written to make it dear', () => {
  // Each of them would be compared hundreds of thousands of times with as many bytes, or be decoded as often.
  const N = 300_000;
  test.each<[string, string, string]>([
    ['one letter', `${'a'.repeat(N)}b`, 'a'.repeat(2 * N)],
    ['backslashes', `${'\\'.repeat(N)}b`, '\\'.repeat(2 * N)],
    ['percent signs', `${'%'.repeat(N)}b`, '%'.repeat(2 * N)],
    ['coded percent signs', `${'%25'.repeat(N)}b`, '%25'.repeat(2 * N)],
    ['a percent sign coded again and again', `${'25'.repeat(N)}b`, `%${'25'.repeat(2 * N)}`],
    ['codes within codes', `${'%3'.repeat(N)}5`, `${'%3'.repeat(2 * N)}6`],
    ['what begins in an escape', `61${'a'.repeat(N)}b`, '%61'.repeat(2 * N)],
    ['what ends in an escape', `${'a'.repeat(N)}%4`, '%61'.repeat(2 * N)],
    ['halves of pairs', `${'\\ud83d'.repeat(N)}b`, '\\ud83d'.repeat(N)],
    ['coded backslashes', `${'%5Cu0061'.repeat(N / 4)}b`, '%5Cu0061'.repeat(N)],
  ])('%s', (_, secret, text) => {
    expect(finds(secret, text)).toBe(false);
  });

  test('many that begin alike', () => {
    const known = new KnownTexts();
    for (let i = 4; i < 1000; i += 1) known.learn(`${'a'.repeat(i)}b%4`);
    const begun = performance.now();
    expect(known.isIn('a'.repeat(200_000))).toBe(false);
    expect(known.isIn('%61'.repeat(50_000))).toBe(false);
    const alike = performance.now() - begun;
    // It was a look at each length at each place, hundreds of times as long.
    expect(known.isIn(`${'a'.repeat(200_000)}b%41`)).toBe(true);
    expect(alike).toBeLessThan(20_000);
  });
});

test('of many that begin alike, end alike or hold another, each is found as if it were alone', () => {
  const unit = fc.constantFrom('a', 'b', '%', '2', '5', '\\');
  const few = fc.array(fc.string({ unit, minLength: 3, maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(few, few, fc.string({ unit, maxLength: 60 }), (first, more, text) => {
      const known = new KnownTexts(3);
      let expected = false;
      for (const learned of [first, more]) {
        for (const one of learned) {
          known.learn(one);
          const alone = new KnownTexts(3);
          alone.learn(one);
          expected ||= alone.isIn(text);
        }
        expect(known.isIn(text)).toBe(expected);
      }
    }),
    { numRuns: 2000 },
  );
});

test('names of members that are data are known too, and words are not', () => {
  const known = new KnownTexts();
  known.learn({ 'alice@bank.example': { sha256: [{ DE89370400440532013000: 'none' }] } });
  for (const text of ['alice@bank.example has 5', 'IBAN DE89370400440532013000'])
    expect(known.isIn(text), text).toBe(true);
  expect(known.isIn('its sha256')).toBe(false);
});
