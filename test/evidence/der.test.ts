/**
 * DER: one way to write each value.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { der, DerReader, TAG } from '../../src/evidence/der.ts';
import { EvidenceError, utf8 } from '../../src/evidence/encoding.ts';
import { toHex } from '../../src/evidence/hex.ts';
import { rejected } from './notes.ts';
import { hex } from './vectors.ts';

function reader(bytes: string): DerReader {
  return new DerReader(hex(bytes));
}

describe('elements', () => {
  test.each([
    [0, '0400'],
    [1, '040100'],
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [65_536, '0483010000'],
  ])('with %i bytes are written and read', (length, start) => {
    const written = der(TAG.octets, new Uint8Array(length));
    expect(toHex(written.subarray(0, start.length / 2))).toBe(start);
    const read = new DerReader(written).read(TAG.octets);
    expect(read.content).toHaveLength(length);
    expect(read.whole).toEqual(written);
  });

  test('are read one after the other and inside each other', () => {
    const outer = new DerReader(der(TAG.sequence, der(TAG.null), der(TAG.set, hex('020107'))));
    const inner = outer.inside();
    outer.end();
    expect(inner.has(TAG.null)).toBe(true);
    expect(inner.has(TAG.set)).toBe(false);
    expect(inner.optional(TAG.set)).toBeUndefined();
    expect(inner.optional(TAG.null)?.content).toHaveLength(0);
    expect(inner.inside(TAG.set).count()).toBe(7);
    inner.end();
    expect(inner.all()).toEqual([]);
    expect(reader('05000500').all()).toHaveLength(2);
    expect(rejected(() => reader('0500').read(TAG.set))).toMatch(/tag 0x31 is missing/);
    expect(rejected(() => reader('').read(TAG.null))).toMatch(/tag 0x05 is missing/);
    expect(rejected(() => reader('0500').end())).toMatch(/more than was expected/);
  });

  test.each([
    ['nothing', ''],
    ['a tag only', '04'],
    ['fewer bytes than it says', '0402ff'],
    ['no bytes of a long length', '0481'],
    ['half a long length', '048201'],
    ['an open length', '0480'],
    ['an open length, closed', '30800000'],
    ['an open length with enough bytes', '3080'.padEnd(4 + 256, '0')],
    ['a short length written long', '04817f'.padEnd(6 + 254, '0')],
    ['a length with a zero before it', '04820080'.padEnd(8 + 256, '0')],
    ['a length of five bytes', '04850000000001ff'],
    ['a huge length', '0484ffffffff'],
    ['a length of very many bytes', '04ff'.padEnd(300, 'f')],
    ['a tag with more bytes', '1f0100'],
    ['another tag with more bytes', 'bf8101'],
  ])('that are %s are refused', (_, bytes) => {
    rejected(() => reader(bytes).any());
    rejected(() => reader(bytes).all().length || reader(bytes).any());
  });
});

describe('values', () => {
  test.each([
    ['2a864886f70d010702', '1.2.840.113549.1.7.2'],
    ['608648016503040201', '2.16.840.1.101.3.4.2.1'],
    ['00', '0.0'],
    ['27', '0.39'],
    ['28', '1.0'],
    ['4f', '1.39'],
    ['50', '2.0'],
    ['813403', '2.100.3'],
    ['8837', '2.999'],
    ['2a818000', '1.2.16384'],
  ])('object identifier %s', (bytes, dotted) => {
    expect(new DerReader(der(TAG.oid, hex(bytes))).oid()).toBe(dotted);
  });

  test.each(['', '80', '2a80', '2a8001', '2a8180', '8001', '2a86', `2a${'ff'.repeat(8)}7f`])(
    'object identifier %j is refused',
    (bytes) => {
      const written = new DerReader(der(TAG.oid, hex(bytes)));
      expect(rejected(() => written.oid())).toMatch(/object identifier/);
    },
  );

  test.each([
    ['00', 0],
    ['7f', 127],
    ['0080', 128],
    ['0100', 256],
    ['7fffffff', 2 ** 31 - 1],
  ])('number %s', (bytes, value) => {
    expect(new DerReader(der(TAG.integer, hex(bytes))).count()).toBe(value);
  });

  test.each(['ff', '80', '0080000000', '0100000000'])('number %s is out of range', (bytes) => {
    const read = () => new DerReader(der(TAG.integer, hex(bytes)));
    expect(read().integer()).toEqual(hex(bytes));
    expect(rejected(() => read().count())).toMatch(/out of range/);
  });

  test.each(['', '0000', '007f', 'ffff', 'ff80'])('integer %j is badly written', (bytes) => {
    expect(rejected(() => new DerReader(der(TAG.integer, hex(bytes))).integer())).toMatch(/badly/);
  });

  test('flags', () => {
    expect(reader('0101ff').flag()).toBe(true);
    expect(reader('010100').flag()).toBe(false);
    expect(reader('0500').flag()).toBe(false);
    for (const bytes of ['010101', '0100', '0102ffff']) rejected(() => reader(bytes).flag());
  });

  test.each([
    [TAG.utcTime, '491231235959Z', '2049-12-31T23:59:59.000Z'],
    [TAG.utcTime, '500101000000Z', '1950-01-01T00:00:00.000Z'],
    [TAG.time, '20240229120000Z', '2024-02-29T12:00:00.000Z'],
    [TAG.time, '20240229120000.5Z', '2024-02-29T12:00:00.500Z'],
    [TAG.time, '20240229120000.025Z', '2024-02-29T12:00:00.025Z'],
    [TAG.time, '00010101000000Z', '0001-01-01T00:00:00.000Z'],
  ])('time %i %s', (tag, text, iso) => {
    expect(new DerReader(der(tag, utf8(text))).time() * 1000).toBe(Date.parse(iso));
  });

  test.each([
    [TAG.utcTime, '20240229120000Z'],
    [TAG.utcTime, '2402291200Z'],
    [TAG.utcTime, '240229120000'],
    [TAG.utcTime, '240229120000.5Z'],
    [TAG.utcTime, '240229120000+0000'],
    [TAG.time, '240229120000Z'],
    [TAG.time, '20230229120000Z'],
    [TAG.time, '20240229240000Z'],
    [TAG.time, '20240229120060Z'],
    [TAG.time, '20241301000000Z'],
    [TAG.time, '20240229120000'],
    [TAG.time, '20240229120000z'],
    [TAG.time, '20240229120000.Z'],
    [TAG.time, '20240229120000.50Z'],
    [TAG.time, '20240229120000,5Z'],
    [TAG.time, ' 20240229120000Z'],
    [TAG.time, '20240229120000Z '],
    [TAG.time, '20240229120000Z\n'],
    [TAG.time, `20240229120000.${'1'.repeat(100_000)}Z`],
    [TAG.octets, '20240229120000Z'],
    [TAG.time, ''],
  ])('time %i %.40j is refused', (tag, text) => {
    expect(rejected(() => new DerReader(der(tag, utf8(text))).time())).toMatch(/time/);
  });
});

test('what is read is written again byte for byte, and no other error comes', () => {
  const content = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 12 }),
        content.map((c) => der(48, c)),
      ),
      (bytes) => {
        try {
          const { tag, content: read, whole } = new DerReader(bytes).any();
          expect(der(tag, read)).toEqual(whole);
          expect(whole).toEqual(bytes.subarray(0, whole.length));
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      },
    ),
    { numRuns: 5000 },
  );
  for (const method of [
    'oid',
    'integer',
    'count',
    'flag',
    'time',
    'all',
    'end',
    'inside',
  ] as const) {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, 6, 23, 24, 48),
        fc.uint8Array({ maxLength: 20 }),
        (tag, bytes) => {
          try {
            new DerReader(der(tag, bytes))[method]();
          } catch (error) {
            expect(error).toBeInstanceOf(EvidenceError);
          }
        },
      ),
    );
  }
});
