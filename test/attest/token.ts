/**
 * Builds answers of a timestamp authority part by part, so that each part can be wrong with a right signature.
 *
 * @module
 */
import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { parseCertificate } from '../../src/attest/certificate.ts';
import { der, TAG } from '../../src/evidence/der.ts';

/** Bytes of hex. */
export function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** An object identifier. */
export function oid(dotted: string): Uint8Array {
  const [a = 0, b = 0, ...rest] = dotted.split('.').map(Number);
  const digits = [40 * a + b, ...rest].flatMap((arc) => {
    const sevens = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      sevens.unshift(128 + (left % 128));
    }
    return sevens;
  });
  return der(TAG.oid, Uint8Array.from(digits));
}

/** A small integer. */
export function int(value: number): Uint8Array {
  return der(TAG.integer, Uint8Array.of(value));
}

/** An algorithm, without parameters unless given. */
export function algorithm(id: string, ...parameters: Uint8Array[]): Uint8Array {
  return der(TAG.sequence, oid(id), ...parameters);
}

export const NULL: Uint8Array = der(TAG.null);
export const SHA1 = '1.3.14.3.2.26';
export const SHA256 = '2.16.840.1.101.3.4.2.1';
export const SHA384 = '2.16.840.1.101.3.4.2.2';
export const SHA512 = '2.16.840.1.101.3.4.2.3';
export const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SIGNED_DATA = '1.2.840.113549.1.7.2';

const names: Readonly<Record<string, string>> = {
  [SHA1]: 'sha1',
  [SHA256]: 'sha256',
  [SHA384]: 'sha384',
  [SHA512]: 'sha512',
};

/** A digest by the hash's identifier. */
export function digest(hash: string, data: Uint8Array): Uint8Array {
  return createHash(names[hash]!).update(data).digest();
}

/** A signed attribute. */
export function attribute(id: string, ...values: Uint8Array[]): Uint8Array {
  return der(TAG.sequence, oid(id), der(TAG.set, ...values));
}

/** The hash of the signer's certificate as RFC 5035 has it; SHA-256 is not named. */
export function essV2(certificate: Uint8Array, hash = SHA256): Uint8Array {
  const named = hash === SHA256 ? [] : [algorithm(hash)];
  const id = der(TAG.sequence, ...named, der(TAG.octets, digest(hash, certificate)));
  return attribute('1.2.840.113549.1.9.16.2.47', der(TAG.sequence, der(TAG.sequence, id)));
}

/** The same as RFC 2634 has it. */
export function essV1(certificate: Uint8Array): Uint8Array {
  const id = der(TAG.sequence, der(TAG.octets, digest(SHA1, certificate)));
  return attribute('1.2.840.113549.1.9.16.2.12', der(TAG.sequence, der(TAG.sequence, id)));
}

/** A certificate and its key, in PEM. */
export interface Signer {
  readonly pem: string;
  readonly keyPem: string;
}

/** The parts, each with a default that is right. */
export interface Parts {
  status: Uint8Array;
  outerType: string;
  version: number;
  hashes: Uint8Array[];
  type: string;
  infoVersion: number;
  imprint: Uint8Array;
  serial: Uint8Array;
  time: Uint8Array;
  /** What stands after the time. */
  infoRest: Uint8Array[];
  content: Uint8Array;
  certificates: Uint8Array[];
  /** What stands after the certificates. */
  crls: Uint8Array[];
  signerVersion: number;
  signerId: Uint8Array;
  /** The hash for attributes and signature. */
  hash: string;
  contentType: Uint8Array[];
  messageDigest: Uint8Array[];
  ess: Uint8Array[];
  attributes: Uint8Array[];
  signatureAlgorithm: Uint8Array;
  signature: Uint8Array;
  unsigned: Uint8Array[];
  signers: number;
  trailing: Uint8Array;
}

/** The certificate's DER. */
export function certificateOf(pem: string): Uint8Array {
  return new Uint8Array(new X509Certificate(pem).raw);
}

/** What names a signer by issuer and serial number. */
export function issuerAndSerial(certificate: Uint8Array): Uint8Array {
  const { issuer, serial } = parseCertificate(certificate);
  return der(TAG.sequence, issuer, der(TAG.integer, serial));
}

/** GeneralizedTime. */
export function time(text: string): Uint8Array {
  return der(TAG.time, Buffer.from(text));
}

/** An answer for `data`, with some parts changed. */
export function token(signer: Signer, data: Uint8Array, change: Partial<Parts> = {}): Uint8Array {
  const { status = der(TAG.sequence, int(0)), outerType = SIGNED_DATA } = change;
  const signed = der(0xa0, signedData(signer, data, change));
  const response = der(TAG.sequence, status, der(TAG.sequence, oid(outerType), signed));
  return Buffer.concat([response, change.trailing ?? new Uint8Array(0)]);
}

function signedData(signer: Signer, data: Uint8Array, change: Partial<Parts>): Uint8Array {
  const certificate = certificateOf(signer.pem);
  const { version = 3, type = TST_INFO, certificates = [certificate], crls = [] } = change;
  const { hash = SHA256, hashes = [algorithm(hash)], signers = 1 } = change;
  const content = change.content ?? info(data, change);
  const one = signerInfo(signer, certificate, content, hash, change);
  return der(
    TAG.sequence,
    int(version),
    der(TAG.set, ...hashes),
    der(TAG.sequence, oid(type), der(0xa0, der(TAG.octets, content))),
    ...(certificates.length === 0 ? [] : [der(0xa0, ...certificates)]),
    ...crls,
    der(TAG.set, ...Array.from({ length: signers }, () => one)),
  );
}

function info(data: Uint8Array, change: Partial<Parts>): Uint8Array {
  const { infoVersion = 1, serial = int(7), infoRest = [int(9)] } = change;
  const { time: at = time('20260101000000Z') } = change;
  const {
    imprint = der(TAG.sequence, algorithm(SHA256, NULL), der(TAG.octets, digest(SHA256, data))),
  } = change;
  return der(TAG.sequence, int(infoVersion), oid('1.2.3.4.1'), imprint, serial, at, ...infoRest);
}

function signerInfo(
  signer: Signer,
  certificate: Uint8Array,
  content: Uint8Array,
  hash: string,
  change: Partial<Parts>,
): Uint8Array {
  const { signerVersion = 1, signerId = issuerAndSerial(certificate), unsigned = [] } = change;
  const { contentType = [attribute('1.2.840.113549.1.9.3', oid(TST_INFO))] } = change;
  const {
    messageDigest = [attribute('1.2.840.113549.1.9.4', der(TAG.octets, digest(hash, content)))],
  } = change;
  const { ess = [essV2(certificate)], attributes = [] } = change;
  const { signatureAlgorithm = algorithm(ECDSA_SHA256) } = change;
  // DER wants a set in the order of its bytes, and OpenSSL signs it so.
  const all = [...contentType, ...messageDigest, ...ess, ...attributes].toSorted((a, b) =>
    Buffer.compare(a, b),
  );
  const signed = der(TAG.set, ...all);
  const signature = change.signature ?? sign(names[hash], signed, createPrivateKey(signer.keyPem));
  return der(
    TAG.sequence,
    int(signerVersion),
    signerId,
    algorithm(hash),
    der(0xa0, ...all),
    signatureAlgorithm,
    der(TAG.octets, signature),
    ...unsigned,
  );
}
