/**
 * Reads the answer of a timestamp authority (RFC 3161 §2.4.2) and the signed message in it (RFC 5652 §5), in DER
 * only. What it says is checked in timestamp.ts.
 *
 * @module
 */
import { type DerElement, DerReader, TAG } from '../evidence/der.ts';
import { EvidenceError } from '../evidence/encoding.ts';
import { type Certificate, parseCertificate, readExtensions } from './certificate.ts';
import { shown } from './post.ts';

/** What the authority signed: TSTInfo. */
export interface TimestampInfo {
  /** The hash's object identifier. */
  readonly hash: string;
  readonly imprint: Uint8Array;
  /** Seconds of Unix time. */
  readonly time: number;
  /** The integer's bytes, if there is one. */
  readonly nonce: Uint8Array | undefined;
  /** The name of who signs, if it is there: the DER of a GeneralName of RFC 5280. */
  readonly authority: Uint8Array | undefined;
}

/** How it is signed: SignerInfo. */
export interface TimestampSignature {
  /** Who signed, as the certificate has it: the issuer's name and the serial number, or the key's ID. */
  readonly signer:
    | { readonly issuer: Uint8Array; readonly serial: Uint8Array }
    | { readonly keyId: Uint8Array };
  /** Object identifiers. */
  readonly hash: string;
  readonly algorithm: string;
  readonly signature: Uint8Array;
  /** What is signed: the attributes as a set. */
  readonly signed: Uint8Array;
  /** The attributes by their object identifier. */
  readonly attributes: ReadonlyMap<string, DerElement>;
}

/** A token. */
export interface TimestampToken {
  /** The DER of `info`, which the signature's attributes have the hash of. */
  readonly content: Uint8Array;
  readonly info: TimestampInfo;
  readonly signature: TimestampSignature;
  /** The certificates that came with it, for what they are worth. */
  readonly certificates: readonly Certificate[];
}

/** The type of what is signed. */
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';

/** Reads an answer. Throws an {@link EvidenceError} if the authority refused, or if it isn't one. */
export function parseTimestampResponse(bytes: Uint8Array): TimestampToken {
  const whole = new DerReader(bytes);
  const response = whole.inside();
  whole.end();
  requireGranted(response.inside());
  const token = response.inside();
  response.end();
  requireOid(token.oid(), '1.2.840.113549.1.7.2', 'signed data');
  const wrapper = token.inside(0xa0);
  token.end();
  const signedData = wrapper.inside();
  wrapper.end();
  return readSignedData(signedData);
}

const MAX_CERTIFICATES = 20;

/** Status 0 is "granted", 1 "granted with modifications"; the rest are refusals, best with words. */
function requireGranted(status: DerReader): void {
  const code = status.count();
  const texts = status.optional(TAG.sequence);
  status.optional(TAG.bitString);
  status.end();
  if (code <= 1) return;
  const words = texts === undefined ? [] : new DerReader(texts.content).all();
  const detail = words.map(({ content }) => shown(content)).join(' ');
  throw new EvidenceError(`timestamp: the authority refused (status ${code}): ${detail}`);
}

function readSignedData(data: DerReader): TimestampToken {
  const version = data.count();
  const hashes = data.inside(TAG.set).all();
  const encapsulated = data.inside();
  requireOid(encapsulated.oid(), TST_INFO, 'a timestamp');
  const content = encapsulated.inside(0xa0).read(TAG.octets).content;
  encapsulated.end();
  const certificates = readCertificates(data.optional(0xa0));
  data.optional(0xa1);
  const signers = data.inside(TAG.set);
  const signature = readSigner(signers.inside());
  signers.end();
  data.end();
  // RFC 5652 §5.1: 3 because of the type of the content. The hashes only announce what the signer says.
  const announced = hashes.map(({ whole }) => readAlgorithm(new DerReader(whole)));
  if (version !== 3 || !announced.includes(signature.hash)) {
    throw new EvidenceError('timestamp: the version or the hashes of the signed data are wrong');
  }
  return { content, info: readInfo(content), signature, certificates };
}

function readCertificates(element: DerElement | undefined): Certificate[] {
  const elements = element === undefined ? [] : new DerReader(element.content).all();
  // Other tags are certificates of attributes.
  const certificates = elements.filter(({ tag }) => tag === TAG.sequence);
  if (certificates.length > MAX_CERTIFICATES) {
    throw new EvidenceError(`timestamp: over ${MAX_CERTIFICATES} certificates`);
  }
  return certificates.map(({ whole }) => parseCertificate(whole));
}

function readInfo(content: Uint8Array): TimestampInfo {
  const whole = new DerReader(content);
  const info = whole.inside();
  whole.end();
  const version = info.count();
  info.oid();
  const imprint = info.inside();
  const hash = readAlgorithm(imprint);
  const digest = imprint.read(TAG.octets).content;
  imprint.end();
  info.integer();
  const time = info.time();
  info.optional(TAG.sequence);
  info.flag();
  const nonce = info.has(TAG.integer) ? info.integer() : undefined;
  const authority = info.optional(0xa0)?.content;
  const extensions = info.optional(0xa1)?.content ?? new Uint8Array(0);
  info.end();
  const isStrange = [...readExtensions(new DerReader(extensions).all()).values()].some(
    ({ critical }) => critical,
  );
  if (version !== 1 || isStrange) {
    throw new EvidenceError("timestamp: a version or an extension that isn't understood here");
  }
  return { hash, imprint: digest, time, nonce, authority };
}

function readSigner(info: DerReader): TimestampSignature {
  const version = info.count();
  const keyId = info.optional(0x80)?.content;
  const signer = keyId === undefined ? readIssuerAndSerial(info.inside()) : { keyId };
  const hash = readAlgorithm(info);
  const attributes = info.read(0xa0);
  const algorithm = readAlgorithm(info);
  const signature = info.read(TAG.octets).content;
  // Attributes that nobody signed.
  info.optional(0xa1);
  info.end();
  // RFC 5652 §5.3.
  if (version !== (keyId === undefined ? 1 : 3)) {
    throw new EvidenceError("timestamp: the signer's version is wrong");
  }
  const signed = Uint8Array.from(attributes.whole);
  // RFC 5652 §5.4: signed as the set that they are, not with the tag that they have here.
  signed[0] = TAG.set;
  const read = readAttributes(new DerReader(attributes.content));
  return { signer, hash, algorithm, signature, signed, attributes: read };
}

function readIssuerAndSerial(reader: DerReader): { issuer: Uint8Array; serial: Uint8Array } {
  const issuer = reader.read(TAG.sequence).whole;
  const serial = reader.integer();
  reader.end();
  return { issuer, serial };
}

function readAttributes(reader: DerReader): Map<string, DerElement> {
  const attributes = new Map<string, DerElement>();
  for (const { content } of reader.all()) {
    const attribute = new DerReader(content);
    const id = attribute.oid();
    const [value, ...more] = attribute.inside(TAG.set).all();
    attribute.end();
    if (value === undefined || more.length > 0 || attributes.has(id)) {
      throw new EvidenceError('timestamp: a signed attribute has not one value');
    }
    attributes.set(id, value);
  }
  return attributes;
}

/** An algorithm without parameters, which may be written as null. */
export function readAlgorithm(reader: DerReader): string {
  const algorithm = reader.inside();
  const id = algorithm.oid();
  const [parameters, ...more] = algorithm.all();
  if (parameters === undefined) return id;
  const isNull = parameters.tag === TAG.null && parameters.content.length === 0;
  if (isNull && more.length === 0) return id;
  throw new EvidenceError(`timestamp: algorithm ${id} with parameters isn't known here`);
}

function requireOid(id: string, needed: string, what: string): void {
  if (id !== needed) throw new EvidenceError(`timestamp: it is not ${what}`);
}
