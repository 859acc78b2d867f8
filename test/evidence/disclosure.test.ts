import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  digestOf,
  digestsOf,
  disclosureDigest,
  encodeDisclosure,
  parseDisclosure,
} from '../../src/evidence/disclosure.ts';
import { canonicalJson, Verbatim, type JsonValue } from '../../src/transcript/index.ts';
import { vectors } from './vectors.ts';

const rfc = vectors('sd-jwt-disclosures.json') as {
  cases: { array: string[]; disclosure: string; digest: string }[];
  equivalentEncodings: string[];
};

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

describe('RFC 9901', () => {
  test.each(rfc.cases)('$array', ({ array, disclosure, digest }) => {
    const [salt, ...rest] = array;
    const [name, value] = rest.length === 1 ? [undefined, rest[0]] : rest;
    expect(parseDisclosure(disclosure)).toEqual({
      salt,
      value,
      ...(name === undefined ? {} : { name }),
    });
    expect(disclosureDigest(disclosure)).toBe(digest);
  });

  test.each(rfc.equivalentEncodings)('another spelling of the same: %s', (text) => {
    const [first] = rfc.cases;
    expect(parseDisclosure(text)).toEqual(parseDisclosure(first?.disclosure ?? ''));
  });
});

test('the example of docs/redaction.md is one', () => {
  const text = readFileSync(new URL('../../docs/redaction.md', import.meta.url), 'utf8');
  const [, disclosure = ''] = /`1 ([\w-]+)` says/.exec(text) ?? [];
  const { salt, name, value } = parseDisclosure(disclosure) ?? {};
  expect(text).toContain(`says \`${JSON.stringify([salt, name, value])}\``);
  expect(text).toContain(`"_sd":["${disclosureDigest(disclosure)}"]`);
});

const VALUE = fc.json({ maxDepth: 4 }).map((text): JsonValue => JSON.parse(text));
const NAME = fc.string({ unit: 'grapheme' }).filter((name) => name !== '_sd' && name !== '...');

test('what is encoded is read back, each number in its spelling', () => {
  const disclosure = fc.record(
    { salt: fc.string(), name: NAME, value: VALUE },
    { requiredKeys: ['salt', 'value'] },
  );
  fc.assert(
    fc.property(disclosure, (given) => {
      // JSON has no -0, and neither has the record.
      const value = JSON.parse(JSON.stringify(given.value));
      expect(parseDisclosure(encodeDisclosure(given))).toEqual({ ...given, value });
    }),
  );
  for (const spelling of ['1.0', '-0.0', '1e+16', '123456789012345678901234567890']) {
    const read = parseDisclosure(
      encodeDisclosure({ salt: 's', name: 'n', value: new Verbatim(spelling) }),
    );
    expect(canonicalJson(read?.value)).toBe(spelling);
  }
});

describe('what is no disclosure', () => {
  test.each([
    ['nothing', ''],
    ['no base64url', 'WyJhIiwgMV0='],
    ['base64 of another alphabet', 'Wy+/'],
    ['stray bits', 'WyJhIiwxXR'],
    ['no UTF-8', Buffer.from([0x5b, 0xff, 0x5d]).toString('base64url')],
    ['no JSON', encoded('["salt",]')],
    ['no array', encoded('{"salt":1}')],
    ['one element', encoded('["salt"]')],
    ['four elements', encoded('["salt","name",1,2]')],
    ['a salt that is no text', encoded('[1,"name",1]')],
    ['a name that is no text', encoded('["salt",1,1]')],
    ['the name of digests', encoded('["salt","_sd",1]')],
    ['the name of an element’s digest', encoded('["salt","...",1]')],
    ['a key twice', encoded('["salt",{"a":1,"a":2}]')],
    ['half a character', encoded('["salt","\\ud800"]')],
    ['a number beyond a double', encoded('["salt",1e999]')],
  ])('%s', (_, text) => {
    expect(parseDisclosure(text)).toBeUndefined();
  });

  test('any text is read without an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseDisclosure(text)));
    fc.assert(
      fc.property(
        fc.uint8Array(),
        (bytes) => void parseDisclosure(Buffer.from(bytes).toString('base64url')),
      ),
    );
    expect(
      parseDisclosure(encoded(`["s",${'['.repeat(100_000)}${']'.repeat(100_000)}]`)),
    ).toBeDefined();
  });
});

test('only lists of digests are taken for digests', () => {
  const digest = disclosureDigest('x');
  expect(digestsOf({ _sd: [digest] })).toEqual([digest]);
  expect(digestOf({ '...': digest })).toBe(digest);
  for (const other of [
    '',
    digest.slice(1),
    `${digest}A`,
    `${digest.slice(1)}=`,
    1,
    null,
    [digest],
  ]) {
    expect(digestsOf({ _sd: [digest, other] })).toEqual([]);
    expect(digestOf({ '...': other })).toBeUndefined();
  }
  expect(digestsOf({ _sd: digest })).toEqual([]);
  expect(digestOf({ '...': digest, more: 1 })).toBeUndefined();
  expect(digestsOf({})).toEqual([]);
});
