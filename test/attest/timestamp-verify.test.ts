/**
 * Tokens that hold and tokens that don't, each wrong in one thing; and what OpenSSL says of every one.
 *
 * @module
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCertificate, readTrustStore } from '../../src/attest/certificate.ts';
import { type TimestampVerdict, verifyTimestamp } from '../../src/attest/timestamp-verify.ts';
import { der, TAG } from '../../src/evidence/der.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { flips } from '../evidence/vectors.ts';
import {
  CA,
  type Issued,
  needs,
  P384,
  RSA,
  TSA,
  type Traits,
  usable,
  Workshop,
} from './authority.ts';
import {
  algorithm,
  attribute,
  bytes,
  certificateOf,
  digest,
  ECDSA_SHA256,
  essV1,
  essV2,
  int,
  NULL,
  oid,
  type Parts,
  SHA1,
  SHA256,
  SHA384,
  SHA512,
  type Signer,
  time,
  token,
} from './token.ts';

const folder = new URL('../testdata/vectors/rfc3161/', import.meta.url);
const DATA = Buffer.from('a checkpoint\n');
/** When the built tokens say that they were made. */
const MADE = Date.UTC(2026, 0, 1) / 1000;

function detail(verdict: TimestampVerdict): string {
  return verdict.ok ? 'ok' : verdict.detail;
}

function part(id: string, text: string): Uint8Array {
  return der(TAG.set, der(TAG.sequence, oid(id), der(0x0c, Buffer.from(text))));
}

/** The name of an authority as the token has it: a sequence of sets of attributes. */
function directoryName(commonName: string): Uint8Array {
  const name = der(TAG.sequence, part('2.5.4.10', 'hashtape'), part('2.5.4.3', commonName));
  return der(0xa0, der(0xa4, name));
}

function dnsName(name: string): Uint8Array {
  return der(0x82, Buffer.from(name));
}

/** An extension of what the authority signs. */
function extension(...parts: Uint8Array[]): Uint8Array[] {
  return [der(0xa1, der(TAG.sequence, oid('1.2.3'), ...parts, der(TAG.octets, NULL)))];
}

function issuerOf({ pem }: Signer): Uint8Array {
  return parseCertificate(certificateOf(pem)).issuer;
}

/** A certificate whose key is of a kind that doesn't exist. */
function strange({ pem }: { pem: string }): Buffer {
  const copy = Buffer.from(certificateOf(pem));
  copy[copy.indexOf(bytes('2a8648ce3d0201')) + 6] = 9;
  return copy;
}

/** Where a change of one bit, of every bit or of every ninth, leaves a token that holds. */
function uncovered(response: Uint8Array, trusted: string, step: number): number[] {
  const found = new Set<number>();
  let bit = -1;
  for (const copy of flips(response)) {
    bit += 1;
    if (bit % step > 0) continue;
    const verdict = verifyTimestamp(copy, DATA, { trusted, nonce: bytes('09') });
    if (verdict.ok) {
      found.add(Math.floor(bit / 8));
      expect(verdict).toEqual({ ok: true, time: MADE, authority: 'O=hashtape, CN=authority' });
    }
  }
  return [...found];
}

describe('the tokens of sigstore-conformance', () => {
  test.each([
    ['rekor2-happy-path', 1_749_729_740],
    ['rekor2-timestamp-with-embedded-cert', 1_754_506_296],
    ['rekor2-timestamp-payload-mismatch_fail', undefined],
  ])('%s', (name, made) => {
    const read = (end: string) => readFileSync(new URL(name + end, folder));
    const trusted = read('.tsa-chain.pem').toString();
    const verdict = verifyTimestamp(read('.tsr'), read('.data'), { trusted });
    expect(verdict).toEqual(
      made === undefined
        ? { ok: false, detail: 'timestamp: it is of other data' }
        : { ok: true, time: made, authority: 'O=sigstore.dev, CN=sigstore-tsa' },
    );
    if (usable) {
      const shop = new Workshop();
      expect(shop.verify(read('.tsr'), read('.data'), trusted, made ?? 1.76e9)).toBe(verdict.ok);
      shop.remove();
    }
  });
});

describe.skipIf(!usable)(`tokens made with OpenSSL${needs}`, () => {
  let shop: Workshop;
  let root: Issued;
  let authority: Issued;
  let signer: Signer;

  beforeAll(() => {
    shop = new Workshop();
    root = shop.issue('root', undefined, { extensions: CA });
    authority = shop.issue('authority', root, {
      extensions: `${TSA}\nsubjectKeyIdentifier=hash\nsubjectAltName=DNS:a.example,DNS:tsa.example`,
    });
    signer = withKey(authority);
  });

  afterAll(() => shop.remove());

  function withKey({ pem, key }: Issued): Signer {
    return { pem, keyPem: shop.read(key).toString() };
  }

  /** Our verdict; OpenSSL's must be the same, or, where ours is said to be stricter, not worse. */
  function check(response: Uint8Array, trusted = root.pem, stricter = false): TimestampVerdict {
    const verdict = verifyTimestamp(response, DATA, { trusted });
    expect(shop.verify(response, DATA, trusted, MADE)).toBe(stricter || verdict.ok);
    return verdict;
  }

  describe('with parts that may be otherwise', () => {
    test.each<[string, () => Partial<Parts>]>([
      ['all as usual', () => ({})],
      ['a status that grants with changes', () => ({ status: der(TAG.sequence, int(1)) })],
      ['no nonce', () => ({ infoRest: [] })],
      [
        'an accuracy, an ordering, a nonce, a name and an extension',
        () => ({
          infoRest: [
            der(TAG.sequence, int(1)),
            der(TAG.boolean, Uint8Array.of(0xff)),
            int(9),
            directoryName('authority'),
            der(0xa1, der(TAG.sequence, oid('1.2.3'), der(TAG.octets, NULL))),
          ],
        }),
      ],
      ['its name in capitals', () => ({ infoRest: [directoryName('Authority ')] })],
      ['one of its other names', () => ({ infoRest: [der(0xa0, dnsName('tsa.example'))] })],
      ['an ordering that is false', () => ({ infoRest: [der(TAG.boolean, Uint8Array.of(0))] })],
      ['a long serial number', () => ({ serial: der(TAG.integer, new Uint8Array(20).fill(0x55)) })],
      ['a negative serial number', () => ({ serial: int(0xff) })],
      ['parameters that are null', () => ({ signatureAlgorithm: algorithm(ECDSA_SHA256, NULL) })],
      ['a SHA-1 of the certificate', () => ({ ess: [essV1(certificateOf(signer.pem))] })],
      ['a SHA-512 of the certificate', () => ({ ess: [essV2(certificateOf(signer.pem), SHA512)] })],
      [
        'two hashes of the certificate',
        () => ({ ess: [essV1(certificateOf(signer.pem)), essV2(certificateOf(signer.pem))] }),
      ],
      ['another attribute', () => ({ attributes: [attribute('1.2.3', NULL)] })],
      [
        'attributes that nobody signed',
        () => ({ unsigned: [der(0xa1, attribute('1.2.3', NULL))] }),
      ],
      ['more hashes announced', () => ({ hashes: [algorithm(SHA512, NULL), algorithm(SHA256)] })],
      ['its root sent along', () => ({ certificates: [signer.pem, root.pem].map(certificateOf) })],
      ['its root sent first', () => ({ certificates: [root.pem, signer.pem].map(certificateOf) })],
      ['SHA-384', () => ({ hash: SHA384, signatureAlgorithm: algorithm('1.2.840.10045.4.3.3') })],
      ['SHA-512', () => ({ hash: SHA512, signatureAlgorithm: algorithm('1.2.840.10045.4.3.4') })],
      ...[SHA384, SHA512].map((hash): [string, () => Partial<Parts>] => [
        `a digest ${hash}`,
        () => ({
          imprint: der(TAG.sequence, algorithm(hash), der(TAG.octets, digest(hash, DATA))),
        }),
      ]),
    ])('holds: %s', (_, change) => {
      expect(check(token(signer, DATA, change()))).toEqual({
        ok: true,
        time: MADE,
        authority: 'O=hashtape, CN=authority',
      });
    });

    test('holds: a fraction of a second', () => {
      const verdict = check(token(signer, DATA, { time: time('20260101000000.123Z') }));
      expect(verdict).toMatchObject({ ok: true, time: MADE + 0.123 });
    });

    test('holds: without its certificate, if that is given', () => {
      const response = token(signer, DATA, { certificates: [] });
      expect(check(response, root.pem + signer.pem)).toMatchObject({ ok: true });
      expect(detail(check(response))).toMatch(/neither in it nor among those given/);
    });

    test('holds: with attribute certificates, and lists of revocations', () => {
      const certificates = [certificateOf(signer.pem), der(0xa1, NULL)];
      // OpenSSL's reader of PKCS #7 knows neither.
      for (const change of [{ certificates }, { crls: [der(0xa1)] }]) {
        const response = token(signer, DATA, change);
        expect(verifyTimestamp(response, DATA, { trusted: root.pem }).ok).toBe(true);
      }
    });

    test('holds: a signer named by the ID of its key', () => {
      const hash = new X509Certificate(signer.pem);
      const id = shop
        .openssl('x509', '-in', authority.certificate, '-noout', '-ext', 'subjectKeyIdentifier')
        .split('\n')[1]!
        .replaceAll(/[ :]/g, '');
      expect(hash.raw.toString('hex')).toContain(id.toLowerCase());
      const parts = { signerVersion: 3, signerId: der(0x80, bytes(id)) };
      const verdict = (change: Partial<Parts>) =>
        verifyTimestamp(token(signer, DATA, { ...parts, ...change }), DATA, { trusted: root.pem });
      expect(detail(verdict({}))).toBe('ok');
      expect(detail(verdict({ signerVersion: 1 }))).toMatch(/version/);
      expect(detail(verdict({ signerId: der(0x80, bytes('00')) }))).toMatch(/neither in it/);
    });
  });

  describe('with one part wrong and a right signature', () => {
    test.each<[string, () => Partial<Parts>, RegExp, ('stricter' | '')?]>([
      ['a refusal', () => ({ status: der(TAG.sequence, int(2)) }), /refused \(status 2\): $/],
      [
        'a refusal with words',
        () => ({
          status: der(TAG.sequence, int(5), der(TAG.sequence, der(0x0c, Buffer.from('no\u001b!')))),
        }),
        /refused \(status 5\): no !$/,
      ],
      ['a negative status', () => ({ status: der(TAG.sequence, int(0xff)) }), /out of range/],
      ['another type outside', () => ({ outerType: '1.2.840.113549.1.7.1' }), /not signed data/],
      ['another type inside', () => ({ type: '1.2.840.113549.1.7.1' }), /not a timestamp/],
      ['another version', () => ({ version: 1 }), /version or the hashes/, 'stricter'],
      ['no hash announced', () => ({ hashes: [] }), /version or the hashes/],
      ['another hash announced', () => ({ hashes: [algorithm(SHA512)] }), /version or the hashes/],
      ['another version inside', () => ({ infoVersion: 2 }), /a version or an extension/],
      [
        'a digest of other data',
        () => ({
          imprint: der(
            TAG.sequence,
            algorithm(SHA256),
            der(TAG.octets, digest(SHA256, bytes('00'))),
          ),
        }),
        /it is of other data/,
      ],
      [
        'a short digest',
        () => ({
          imprint: der(
            TAG.sequence,
            algorithm(SHA256),
            der(TAG.octets, digest(SHA256, DATA).subarray(0, 31)),
          ),
        }),
        /it is of other data/,
      ],
      [
        'a digest by SHA-1',
        () => ({
          imprint: der(TAG.sequence, algorithm(SHA1), der(TAG.octets, digest(SHA1, DATA))),
        }),
        /1\.3\.14\.3\.2\.26, is none of SHA-256/,
        'stricter',
      ],
      ['another name', () => ({ infoRest: [directoryName('other')] }), /names another authority/],
      [
        'another name of another kind',
        () => ({ infoRest: [der(0xa0, dnsName('tsb.example'))] }),
        /names another authority/,
      ],
      [
        'an extension that must be understood',
        () => ({ infoRest: extension(der(TAG.boolean, Uint8Array.of(0xff))) }),
        /a version or an extension/,
        'stricter',
      ],
      [
        'more after the extensions',
        () => ({ infoRest: [...extension(), NULL] }),
        /more than was expected/,
      ],
      ['no time', () => ({ time: NULL }), /a time is badly written/],
      [
        'a time without seconds',
        () => ({ time: time('202601010000Z') }),
        /badly written/,
        'stricter',
      ],
      ['a time of no day', () => ({ time: time('20260230000000Z') }), /badly written/, 'stricter'],
      [
        'a time elsewhere',
        () => ({ time: time('20260101000000+0100') }),
        /badly written/,
        'stricter',
      ],
      [
        'a fraction of zero',
        () => ({ time: time('20260101000000.0Z') }),
        /badly written/,
        'stricter',
      ],
      ['no content type', () => ({ contentType: [] }), /signed type is not/, 'stricter'],
      [
        'another content type',
        () => ({ contentType: [attribute('1.2.840.113549.1.9.3', oid('1.2.840.113549.1.7.1'))] }),
        /signed type is not/,
        'stricter',
      ],
      [
        'two content types',
        () => ({
          contentType: [1, 2].map(() =>
            attribute('1.2.840.113549.1.9.3', oid('1.2.840.113549.1.9.16.1.4')),
          ),
        }),
        /has not one value/,
        'stricter',
      ],
      [
        'two values of an attribute',
        () => ({ attributes: [attribute('1.2.3', NULL, NULL)] }),
        /has not one value/,
        'stricter',
      ],
      ['no hash of the content', () => ({ messageDigest: [] }), /signed hash is not that of/],
      [
        'the hash of other content',
        () => ({
          messageDigest: [attribute('1.2.840.113549.1.9.4', der(TAG.octets, digest(SHA256, DATA)))],
        }),
        /signed hash is not that of/,
      ],
      ['no hash of the certificate', () => ({ ess: [] }), /hash of the authority's certificate/],
      [
        'the hash of another certificate',
        () => ({ ess: [essV2(certificateOf(root.pem))] }),
        /hash of the authority's certificate/,
      ],
      [
        'the SHA-1 of another certificate',
        () => ({ ess: [essV1(certificateOf(root.pem))] }),
        /hash of the authority's certificate/,
      ],
      [
        'a right and a wrong hash of the certificate',
        () => ({ ess: [essV1(certificateOf(root.pem)), essV2(certificateOf(signer.pem))] }),
        /hash of the authority's certificate/,
      ],
      [
        'a SHA-1 of the certificate where a better one should be',
        () => ({ ess: [essV2(certificateOf(signer.pem), SHA1)] }),
        /hash of the authority's certificate/,
        'stricter',
      ],
      [
        'another serial number of the certificate',
        () => ({ signerId: der(TAG.sequence, issuerOf(signer), int(3)) }),
        /neither in it nor among/,
      ],
      [
        'another version of the signer',
        () => ({ signerVersion: 3 }),
        /version is wrong/,
        'stricter',
      ],
      [
        'an unknown signature algorithm',
        () => ({ signatureAlgorithm: algorithm('1.2.840.10045.4.1') }),
        /of a kind that isn't known here: 1\.2\.840\.10045\.4\.1 with 2\.16/,
        'stricter',
      ],
      [
        'a signature algorithm with another hash',
        () => ({ signatureAlgorithm: algorithm('1.2.840.10045.4.3.3') }),
        /of a kind that isn't known/,
        'stricter',
      ],
      [
        'a signature algorithm for other keys',
        () => ({ signatureAlgorithm: algorithm('1.2.840.113549.1.1.11') }),
        /its signature is wrong/,
        'stricter',
      ],
      [
        'attributes hashed with SHA-1',
        () => ({ hash: SHA1, signatureAlgorithm: algorithm('1.2.840.10045.4.1') }),
        /of a kind that isn't known/,
        'stricter',
      ],
      [
        'a signature algorithm with parameters',
        () => ({ signatureAlgorithm: algorithm('1.2.840.113549.1.1.10', der(TAG.sequence)) }),
        /1\.2\.840\.113549\.1\.1\.10 with parameters isn't known here/,
        'stricter',
      ],
      [
        'a null that is not empty',
        () => ({ signatureAlgorithm: algorithm(ECDSA_SHA256, bytes('050100')) }),
        /with parameters isn't known/,
      ],
      [
        'two parameters',
        () => ({ signatureAlgorithm: algorithm(ECDSA_SHA256, NULL, NULL) }),
        /with parameters isn't known/,
      ],
      [
        'a hash that is not known, by an algorithm that names none',
        () => ({ hash: SHA1, signatureAlgorithm: algorithm('1.2.840.113549.1.1.1') }),
        /of a kind that isn't known here/,
        'stricter',
      ],
      ['an empty signature', () => ({ signature: new Uint8Array(0) }), /its signature is wrong/],
      ['another signature', () => ({ signature: new Uint8Array(70).fill(0x30) }), /is wrong/],
      ['no signer', () => ({ signers: 0 }), /tag 0x30 is missing/],
      ['two signers', () => ({ signers: 2 }), /more than was expected/],
      ['something after it', () => ({ trailing: NULL }), /more than was expected/, 'stricter'],
      [
        'a certificate that is none',
        () => ({ certificates: [certificateOf(signer.pem), der(TAG.sequence)] }),
        /DER/,
      ],
      [
        'very many certificates',
        () => ({ certificates: Array.from({ length: 21 }, () => certificateOf(signer.pem)) }),
        /over 20 certificates/,
        'stricter',
      ],
    ])('does not hold: %s', (_, change, words, stricter = '') => {
      const verdict = check(token(signer, DATA, change()), root.pem, stricter === 'stricter');
      expect(detail(verdict)).toMatch(/^(?:timestamp|DER|certificate): /);
      expect(detail(verdict)).toMatch(words);
    });
  });

  /** Our verdict alone. */
  function own(change: Partial<Parts>): string {
    return detail(verifyTimestamp(token(signer, DATA, change), DATA, { trusted: root.pem }));
  }

  test('with an extension twice, or an attribute without a value, does not hold', () => {
    const one = der(TAG.sequence, oid('1.2.3'), der(TAG.octets, NULL));
    expect(own({ infoRest: [der(0xa1, one)] })).toBe('ok');
    expect(own({ infoRest: [der(0xa1, one, one)] })).toMatch(/an extension is there twice/);
    expect(own({ attributes: [attribute('1.2.3')] })).toMatch(/has not one value/);
  });

  test('by a certificate with one name only must be in that name', () => {
    const plain = withKey(shop.issue('plain', root));
    const named = (name: string) => token(plain, DATA, { infoRest: [directoryName(name)] });
    expect(detail(check(named('plain')))).toBe('ok');
    expect(detail(check(named('other')))).toMatch(/names another authority/);
  });

  test('a nonce must be the one of the query, if one is given', () => {
    const trusted = root.pem;
    const asked = token(signer, DATA, { infoRest: [int(9)] });
    expect(verifyTimestamp(asked, DATA, { trusted, nonce: bytes('09') }).ok).toBe(true);
    const other = verifyTimestamp(asked, DATA, { trusted, nonce: bytes('0a') });
    expect(detail(other)).toMatch(/the nonce is not the same/);
    const without = token(signer, DATA, { infoRest: [] });
    expect(detail(verifyTimestamp(without, DATA, { trusted, nonce: bytes('09') }))).toMatch(
      /nonce/,
    );
    expect(verifyTimestamp(without, DATA, { trusted }).ok).toBe(true);
  });

  describe('of a certificate', () => {
    let made = 0;

    /** The verdict on a token by a new certificate for an authority. */
    function by(issuer: Issued | undefined, traits: Traits, trusted = root.pem, stricter = false) {
      made += 1;
      const issued = shop.issue(`signer${made}`, issuer, traits);
      const certificates = [issued, ...(issuer === undefined ? [] : [issuer])];
      const response = token(withKey(issued), DATA, {
        certificates: certificates.map(({ pem }) => certificateOf(pem)),
      });
      return detail(check(response, trusted === '' ? issued.pem : trusted, stricter));
    }

    const EKU = 'extendedKeyUsage=critical,timeStamping';

    test.each([
      ['no key usage', EKU],
      ['non-repudiation', `keyUsage=nonRepudiation\n${EKU}`],
      ['two usages', `keyUsage=digitalSignature,nonRepudiation\n${EKU}`],
      ['policies that are critical', `certificatePolicies=critical,1.2.3\n${TSA}`],
    ])('with %s holds', (_, extensions) => {
      expect(by(root, { extensions })).toBe('ok');
    });

    test.each([
      ['no purpose', 'keyUsage=critical,digitalSignature', /not for timestamps/],
      ['the purpose not critical', 'extendedKeyUsage=timeStamping', /not for timestamps/],
      ['another purpose', 'extendedKeyUsage=critical,codeSigning', /not for timestamps/],
      ['two purposes', `${EKU},codeSigning`, /not for timestamps/],
      ['any purpose', 'extendedKeyUsage=critical,anyExtendedKeyUsage', /not for timestamps/],
      ['a key for encryption', `keyUsage=keyEncipherment\n${EKU}`, /not for signatures only/],
      ['a key for both', `keyUsage=digitalSignature,keyEncipherment\n${EKU}`, /not for signatures/],
      ['a key for issuing', `keyUsage=keyCertSign\n${EKU}`, /not for signatures only/],
      [
        'a key for nothing else',
        `keyUsage=digitalSignature,decipherOnly\n${EKU}`,
        /not for signatures/,
      ],
      [
        'a strange critical extension',
        `1.2.3.4=critical,DER:0500\n${TSA}`,
        /isn't understood here: 1\.2\.3\.4/,
      ],
    ])('with %s does not hold', (_, extensions, words) => {
      expect(by(root, { extensions })).toMatch(words);
    });

    test('that was not valid then does not hold', () => {
      expect(by(root, { from: '20260101000001Z' })).toMatch(/was not valid yet at that time/);
      expect(by(root, { to: '20251231235959Z' })).toMatch(/was no longer valid at that time/);
      const [from, to] = ['20260101000000Z', '20260101000000Z'];
      expect(by(root, { from })).toBe('ok');
      // RFC 5280 §4.1.2.5 includes the last second; OpenSSL leaves it out.
      const issued = shop.issue('moment', root, { from, to });
      const response = token(withKey(issued), DATA);
      expect(detail(verifyTimestamp(response, DATA, { trusted: root.pem }))).toBe('ok');
    });

    test('by a root that was not valid then, or is another by the same name, does not hold', () => {
      const early = shop.issue('early', undefined, { extensions: CA, to: '20251231235959Z' });
      expect(by(early, {}, early.pem)).toMatch(/CN=early was no longer valid/);
      const twin = shop.issue('twin', undefined, {
        extensions: CA,
        subject: '/O=hashtape/CN=root',
      });
      expect(by(twin, {}, root.pem)).toMatch(/nothing that is trusted leads to the issuer/);
      expect(by(twin, {}, root.pem + twin.pem)).toBe('ok');
      expect(by(twin, {}, twin.pem + root.pem)).toBe('ok');
    });

    test('that is its own root holds, if trusted', () => {
      expect(by(undefined, {}, '')).toBe('ok');
      expect(by(undefined, {}, root.pem)).toMatch(/nothing that is trusted/);
    });

    test('by one between is found in the token or among those given', () => {
      const middle = shop.issue('middle', root, { extensions: CA });
      expect(by(middle, {})).toBe('ok');
      const last = shop.issue('last', middle);
      const alone = token(withKey(last), DATA);
      expect(detail(check(alone, root.pem + middle.pem))).toBe('ok');
      expect(detail(check(alone))).toMatch(
        /nothing that is trusted leads to the issuer of .*CN=last/,
      );
      // One between isn't trusted for itself.
      expect(() => verifyTimestamp(alone, DATA, { trusted: middle.pem })).toThrow(EvidenceError);
    });

    test.each([
      ['no CA', 'basicConstraints=CA:FALSE', /CN=between may not issue$/],
      ['nothing said', 'subjectKeyIdentifier=hash', /may not issue$/],
      [
        'no usage for it',
        `basicConstraints=critical,CA:TRUE\nkeyUsage=digitalSignature`,
        /(?:may not issue|nothing that)/,
      ],
      [
        'a limit of names',
        `${CA}\nnameConstraints=critical,permitted;DNS:a.example`,
        /isn't understood here: 2\.5\.29\.30/,
        'stricter',
      ],
    ])('by one between with %s does not hold', (_, extensions, words, stricter = '') => {
      const between = shop.issue('between', root, { extensions });
      expect(by(between, {}, root.pem, stricter === 'stricter')).toMatch(words);
    });

    test('by one between with no usage said at all, or by a root of version 1', () => {
      const between = shop.issue('between', root, {
        extensions: 'basicConstraints=critical,CA:TRUE',
      });
      expect(by(between, {})).toBe('ok');
      const { key } = shop.issue('old', undefined, { extensions: CA });
      shop.openssl(
        'req',
        '-new',
        '-config',
        'req.cnf',
        '-key',
        key,
        '-subj',
        '/CN=v1',
        '-out',
        'req',
      );
      shop.openssl(...`x509 -req -in req -signkey ${key} -days 9 -out v1.pem`.split(' '));
      const v1 = { name: 'v1', key, certificate: 'v1.pem', pem: shop.read('v1.pem').toString() };
      const last = shop.issue('last', v1);
      const verdict = verifyTimestamp(token(withKey(last), DATA), DATA, { trusted: v1.pem });
      expect(detail(verdict)).toMatch(/CN=v1 may not issue$/);
    });

    test('by one between that was not valid then does not hold', () => {
      const between = shop.issue('between', root, { extensions: CA, to: '20251231235959Z' });
      expect(by(between, {})).toMatch(/CN=between was no longer valid/);
    });

    test('deeper than its issuers allow does not hold', () => {
      const limited = `keyUsage=keyCertSign\nbasicConstraints=critical,CA:TRUE,pathlen:`;
      const flat = shop.issue('flat', undefined, { extensions: `${limited}0` });
      expect(by(flat, {}, flat.pem)).toBe('ok');
      const below = shop.issue('below', flat, { extensions: CA });
      expect(by(below, {}, flat.pem)).toMatch(/CN=flat may not issue that deep/);
      const one = shop.issue('one', undefined, { extensions: `${limited}1` });
      const under = shop.issue('under', one, { extensions: `${limited}0` });
      expect(by(under, {}, one.pem)).toBe('ok');
    });

    test('signed with SHA-1 does not hold', () => {
      expect(by(root, { hash: 'sha1' }, root.pem, true)).toMatch(/weak or unknown/);
      // Nobody has to believe a root's signature of itself.
      const old = shop.issue('old', undefined, { extensions: CA, hash: 'sha1' });
      expect(by(old, {}, old.pem)).toBe('ok');
    });

    test('signed with RSA, ECDSA on P-384 and Ed25519 holds', () => {
      for (const [name, key] of [
        ['rsa', RSA],
        ['p384', P384],
        ['ed25519', ['-algorithm', 'ED25519']],
      ] as const) {
        const ca = shop.issue(`root-${name}`, undefined, {
          extensions: CA,
          key,
          hash: name === 'ed25519' ? 'default' : 'sha384',
        });
        const hash = name === 'ed25519' ? 'default' : 'sha384';
        expect(by(ca, { hash }, ca.pem)).toBe('ok');
      }
    });

    test('with a key that is neither RSA nor ECDSA does not hold', () => {
      const issued = shop.issue('edwards', root, { key: ['-algorithm', 'ED25519'] });
      const signature = new Uint8Array(64);
      const response = token(withKey(issued), DATA, { signature });
      expect(detail(check(response))).toMatch(/its signature is wrong/);
    });

    test('without a name holds, and one may be among those that lead to it', () => {
      const { key } = shop.issue('nameless', root);
      shop.openssl('req', '-new', '-config', 'req.cnf', '-key', key, '-subj', '/', '-out', 'req');
      shop.write('ext', `${TSA}\nsubjectAltName=critical,DNS:tsa.example\n`);
      const signing = `x509 -req -in req -CA ${root.certificate} -CAkey ${root.key} -days 9 -extfile ext`;
      shop.openssl(...signing.split(' '), '-out', 'nameless.pem');
      const nameless = {
        pem: shop.read('nameless.pem').toString(),
        keyPem: shop.read(key).toString(),
      };
      const now = new Date(Date.now() + 60_000);
      const at = time(`${now.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`);
      const response = token(nameless, DATA, { time: at });
      const verdict = verifyTimestamp(response, DATA, { trusted: root.pem });
      expect(verdict).toMatchObject({ ok: true, authority: 'a certificate without a name' });
      expect(shop.verify(response, DATA, root.pem, now.getTime() / 1000)).toBe(true);
      expect(readTrustStore(root.pem + nameless.pem).others).toHaveLength(1);
    });

    test('with a key of a kind that nobody knows does not hold, nor what it would lead to', () => {
      const middle = shop.issue('between', root, { extensions: CA });
      const last = shop.issue('last', middle);
      const certificates = [certificateOf(last.pem), strange(middle)];
      expect(detail(check(token(withKey(last), DATA, { certificates })))).toMatch(
        /nothing that is/,
      );
      const changed = strange(signer);
      const parts = { certificates: [changed], ess: [essV2(changed)] };
      expect(detail(check(token(signer, DATA, parts)))).toMatch(/its signature is wrong/);
      const pem = `-----BEGIN CERTIFICATE-----\n${strange(root).toString('base64')}\n-----END CERTIFICATE-----\n`;
      expect(() => readTrustStore(pem)).toThrow(EvidenceError);
    });

    test('in circles is not followed for ever', () => {
      const a = shop.issue('a', undefined, { extensions: CA });
      const b = shop.issue('b', a, { extensions: CA });
      shop.write('a.pem', a.pem);
      const last = shop.issue('c', b);
      const certificates = [last, b, a].map(({ pem }) => certificateOf(pem));
      expect(detail(check(token(withKey(last), DATA, { certificates })))).toMatch(
        /nothing that is/,
      );
    });
  });

  describe('by openssl ts', () => {
    const now = Date.now() / 1000;
    const chains = {} as Record<'RSA' | 'ECDSA', { middle: Issued; issued: Issued }>;

    beforeAll(() => {
      for (const [kind, key] of [
        ['RSA', RSA],
        ['ECDSA', P384],
      ] as const) {
        const middle = shop.issue(`ca-${kind}`, root, { extensions: CA, key });
        chains[kind] = { middle, issued: shop.issue(kind, middle, { key, subject: '/CN=tsa' }) };
      }
    });

    test.each(
      (['RSA', 'ECDSA'] as const).flatMap((kind) =>
        ['sha256', 'sha384', 'sha512'].flatMap((hash) =>
          ['sha1', 'sha512'].map((ess) => [kind, hash, ess] as const),
        ),
      ),
    )('with %s, %s and %s hold', (kind, hash, ess) => {
      const { middle, issued } = chains[kind];
      shop.write('data', DATA);
      for (const nonce of [[], ['-no_nonce']]) {
        shop.openssl(
          'ts',
          '-query',
          '-data',
          'data',
          `-${hash}`,
          '-cert',
          ...nonce,
          '-out',
          'asked',
        );
        const response = shop.reply(shop.read('asked'), issued, { hash, ess, chain: middle.pem });
        const verdict = verifyTimestamp(response, DATA, { trusted: root.pem });
        if (!verdict.ok) throw new Error(verdict.detail);
        expect(verdict.authority).toBe('CN=tsa');
        expect(Math.abs(verdict.time - now)).toBeLessThan(3600);
        expect(shop.verify(response, DATA, root.pem, now)).toBe(true);
        const other = verifyTimestamp(response, Buffer.from('b'), { trusted: root.pem });
        expect(detail(other)).toMatch(/of other data/);
      }
    });
  });

  describe('with a bit changed', () => {
    test('do not hold, but for the status: it says no more than "granted, maybe otherwise than asked"', () => {
      const response = token(signer, DATA);
      expect(uncovered(response, root.pem, 1).map((at) => [at, response[at]])).toEqual([[8, 0]]);
    });

    test('do not hold, but for what nobody has to believe: the root and the attributes that are not signed', () => {
      const sent = certificateOf(root.pem);
      const unsigned = der(0xa1, attribute('1.2.3', der(TAG.octets, new Uint8Array(20))));
      const certificates = [certificateOf(signer.pem), sent];
      const response = Buffer.from(token(signer, DATA, { certificates, unsigned: [unsigned] }));
      const ranges = [sent, unsigned].map((bytesOf) => {
        const at = response.indexOf(bytesOf);
        expect(at).toBeGreaterThan(0);
        return [at, at + bytesOf.length] as const;
      });
      const others = uncovered(response, root.pem, 9);
      expect(others.length).toBeGreaterThan(150);
      const isIn = (at: number) => ranges.some(([from, to]) => at >= from && at < to);
      expect(others.filter((at) => !isIn(at))).toEqual([]);
    });
  });

  test('cut short anywhere do not hold', () => {
    const response = token(signer, DATA);
    for (let length = 0; length < response.length; length += 1) {
      const verdict = verifyTimestamp(response.subarray(0, length), DATA, { trusted: root.pem });
      expect(detail(verdict)).toMatch(/^DER: /);
    }
  });

  test('changed anyhow, nested deeply or endless on paper never throw', () => {
    const trusted = root.pem;
    const response = token(signer, DATA);
    const changes = fc.array(
      fc.tuple(fc.nat(response.length - 1), fc.nat(4), fc.uint8Array({ maxLength: 6 })),
      { minLength: 1, maxLength: 4 },
    );
    const changed = changes.map((list) =>
      list.reduce<Uint8Array>(
        (copy, [at, cut, added]) =>
          Buffer.concat([copy.subarray(0, at), added, copy.subarray(at + cut)]),
        response,
      ),
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 40 })), (input) => {
        const verdict = verifyTimestamp(input, DATA, { trusted });
        if (!verdict.ok) refused += 1;
        else if (input[8] === 0) expect(Buffer.from(input)).toEqual(Buffer.from(response));
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(2900);
    let nested: Uint8Array = NULL;
    for (let depth = 0; depth < 5000; depth += 1) nested = der(TAG.sequence, nested);
    for (const input of [
      nested,
      Buffer.alloc(1_000_000, '30'),
      Buffer.alloc(1_000_000, '3080', 'hex'),
      bytes('3084ffffffff'),
      bytes('3088ffffffffffffffff'),
      bytes('30847fffffff00'),
    ]) {
      expect(detail(verifyTimestamp(input, DATA, { trusted }))).toMatch(/^DER: /);
    }
    const deep = token(signer, DATA, { attributes: [attribute('1.2.3', nested)] });
    expect(detail(verifyTimestamp(deep, DATA, { trusted }))).toBe('ok');
  });

  test('and nothing to trust is a fault of who asks', () => {
    for (const trusted of ['', 'hello', signer.pem, root.pem.replace('MII', 'MIX')]) {
      expect(() => verifyTimestamp(token(signer, DATA), DATA, { trusted })).toThrow(EvidenceError);
    }
    expect(readTrustStore(`# a comment\n${signer.pem}${root.pem}`)).toMatchObject({
      roots: [{}],
      others: [{}],
    });
  });
});
