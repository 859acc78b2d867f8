/**
 * X.509 certificates (RFC 5280), as far as a timestamp's chain needs them. OpenSSL checks their signatures; what
 * Node doesn't tell of them (the raw names, the dates, which extensions are critical) is read here.
 *
 * @module
 */
import { X509Certificate } from 'node:crypto';
import { type DerElement, DerReader, TAG } from '../evidence/der.ts';
import { EvidenceError, sameBytes } from '../evidence/encoding.ts';

/** An extension of a certificate or of a timestamp. */
export interface Extension {
  readonly critical: boolean;
  /** The DER of its value. */
  readonly value: Uint8Array;
}

/** A certificate that was read. Nothing says yet that it is to be trusted. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly der: Uint8Array;
  readonly serial: Uint8Array;
  /** The DER of its issuer's name. */
  readonly issuer: Uint8Array;
  /** The DER of the name that it is for. */
  readonly subject: Uint8Array;
  /** Seconds of Unix time, both included. */
  readonly valid: { readonly from: number; readonly to: number };
  /** The object identifier of its issuer's signature. */
  readonly signedWith: string;
  readonly extensions: ReadonlyMap<string, Extension>;
}

/** Trusted certificates, and others that help to lead to them. */
export interface TrustStore {
  readonly roots: readonly Certificate[];
  readonly others: readonly Certificate[];
}

/**
 * Reads a file of certificates in PEM. As for `openssl -CAfile`, those that signed themselves are trusted; others
 * only help to lead to one that is. Throws an {@link EvidenceError} if none is trusted.
 */
export function readTrustStore(pem: string): TrustStore {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const certificates = blocks.map((block) => parseCertificate(openssl(block).raw));
  const roots = certificates.filter(({ x509 }) => x509.subject === x509.issuer && isBy(x509, x509));
  if (roots.length === 0) {
    throw new EvidenceError(
      'trusted certificates: the PEM has no root, a certificate that signed itself; add the root of the authority',
    );
  }
  return { roots, others: certificates.filter((certificate) => !roots.includes(certificate)) };
}

/** Reads a certificate in DER. Throws an {@link EvidenceError} if it can't. */
export function parseCertificate(der: Uint8Array): Certificate {
  const whole = new DerReader(der);
  const outer = whole.inside();
  whole.end();
  const body = outer.inside();
  const signedWith = outer.inside().oid();
  body.optional(0xa0);
  const serial = body.integer();
  body.read(TAG.sequence);
  const issuer = body.read(TAG.sequence).whole;
  const validity = body.inside();
  const valid = { from: validity.time(), to: validity.time() };
  const subject = body.read(TAG.sequence).whole;
  body.read(TAG.sequence);
  const wrapped = body.all().find(({ tag }) => tag === 0xa3);
  const extensions = readExtensions(
    wrapped === undefined ? [] : new DerReader(wrapped.content).inside().all(),
  );
  return { x509: openssl(der), der, serial, issuer, subject, valid, signedWith, extensions };
}

/** Reads extensions by their object identifier. */
export function readExtensions(elements: readonly DerElement[]): Map<string, Extension> {
  const extensions = new Map<string, Extension>();
  for (const { content } of elements) {
    const reader = new DerReader(content);
    const id = reader.oid();
    if (extensions.has(id)) throw new EvidenceError('certificate: an extension is there twice');
    extensions.set(id, { critical: reader.flag(), value: reader.read(TAG.octets).content });
    reader.end();
  }
  return extensions;
}

/** Whether one may have issued the other by its name and use, and its key has signed it. */
export function isIssuer(issuer: Certificate, certificate: Certificate): boolean {
  return certificate.x509.checkIssued(issuer.x509) && isBy(issuer.x509, certificate.x509);
}

/** Whether it is the same certificate, byte for byte. */
export function isSame(left: Certificate, right: Certificate): boolean {
  return sameBytes(left.der, right.der);
}

/**
 * Whether two names are the same but for capitals, spaces at the ends, and the type of their strings: RFC 5280 §7.1
 * says this and more.
 */
export function isSameName(left: Uint8Array, right: Uint8Array): boolean {
  return spell(left) === spell(right);
}

/** Whom it is for, on one line. */
export function subjectName({ x509 }: Certificate): string {
  // Node's types don't say that an empty name is undefined.
  const name: string | undefined = x509.subject;
  return name?.replaceAll('\n', ', ') ?? 'a certificate without a name';
}

function spell(name: Uint8Array): string {
  const sets = new DerReader(name).inside().all();
  const parts = sets.map(({ content }) => new DerReader(content).all().map(spellPart));
  return JSON.stringify(parts);
}

function spellPart({ content }: DerElement): string {
  const part = new DerReader(content);
  return `${part.oid()}=${new TextDecoder().decode(part.any().content).trim().toLowerCase()}`;
}

function isBy(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A key of a kind that OpenSSL doesn't know.
    return false;
  }
}

function openssl(certificate: string | Uint8Array): X509Certificate {
  try {
    return new X509Certificate(certificate);
  } catch {
    throw new EvidenceError('certificate: OpenSSL can not read it');
  }
}
