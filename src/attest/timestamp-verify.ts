/**
 * Checks an authority's timestamp (RFC 3161): that these bytes existed at a time that the authority says, to the
 * accuracy of its clock. It doesn't show who had them, or that they weren't older.
 *
 * @module
 */
import { createHash, verify } from 'node:crypto';
import { type DerElement, DerReader, TAG } from '../evidence/der.ts';
import { EvidenceError, sameBytes } from '../evidence/encoding.ts';
import {
  type Certificate,
  isSameName,
  readTrustStore,
  subjectName,
  type TrustStore,
} from './certificate.ts';
import { chainFault, signerFault, subjectKeyId } from './certificate-chain.ts';
import {
  parseTimestampResponse,
  readAlgorithm,
  type TimestampSignature,
  type TimestampToken,
  TST_INFO,
} from './timestamp-token.ts';

/** What is trusted, and what was asked. */
export interface TimestampExpectation {
  /**
   * Certificates in PEM. Those that signed themselves are trusted; the others only help to lead to one, as the
   * certificates in the token do.
   */
  readonly trusted: string;
  /** The query's nonce. Without it a token that was made before the query would do, which is right for a kept one. */
  readonly nonce?: Uint8Array;
}

/** What a timestamp shows. */
export type TimestampVerdict =
  | {
      readonly ok: true;
      /** When the authority says that it saw the data, in seconds of Unix time. */
      readonly time: number;
      /** Whom its certificate is for. */
      readonly authority: string;
    }
  | { readonly ok: false; readonly detail: string };

/**
 * Checks an authority's answer: that it is of `data`, and signed by a certificate for timestamps that leads to a
 * trusted one and was valid then. Nothing that is passed makes it throw, but `trusted` without a root.
 *
 * RSA (PKCS #1 v1.5) and ECDSA with SHA-256, SHA-384 or SHA-512 are known. Revocation isn't looked up.
 */
export function verifyTimestamp(
  response: Uint8Array,
  data: Uint8Array,
  { trusted, nonce }: TimestampExpectation,
): TimestampVerdict {
  const store = readTrustStore(trusted);
  try {
    const token = parseTimestampResponse(response);
    const signer = findSigner(token, store);
    const fault =
      infoFault(token, data, nonce) ??
      nameFault(token, signer) ??
      signatureFault(token, signer) ??
      signerFault(signer) ??
      chainFault(signer, withThose(store, token), token.info.time);
    if (fault !== undefined) return { ok: false, detail: `timestamp: ${fault}` };
    return { ok: true, time: token.info.time, authority: subjectName(signer) };
  } catch (error) {
    if (error instanceof EvidenceError) return { ok: false, detail: error.message };
    throw error;
  }
}

const ID = {
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  subjectAltName: '2.5.29.17',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

const HASHES: Readonly<Record<string, string>> = {
  [ID.sha256]: 'sha256',
  [ID.sha384]: 'sha384',
  [ID.sha512]: 'sha512',
};

/** The kind of key, and the hash if the identifier has one. */
const ALGORITHMS: Readonly<Record<string, { readonly key: string; readonly hash?: string }>> = {
  '1.2.840.113549.1.1.1': { key: 'rsa' },
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: ID.sha256 },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: ID.sha384 },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: ID.sha512 },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: ID.sha256 },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: ID.sha384 },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: ID.sha512 },
};

/** The certificate that the signature names and, by a signed hash, means. */
function findSigner({ signature, certificates }: TimestampToken, store: TrustStore): Certificate {
  const named = [...certificates, ...store.others, ...store.roots].filter((certificate) =>
    isNamed(signature, certificate),
  );
  if (named.length === 0) {
    throw new EvidenceError(
      "timestamp: the authority's certificate is neither in it nor among those given",
    );
  }
  const meant = named.find((certificate) => isMeant(signature, certificate));
  if (meant !== undefined) return meant;
  throw new EvidenceError("timestamp: the signed hash of the authority's certificate is wrong");
}

function isNamed({ signer }: TimestampSignature, certificate: Certificate): boolean {
  if ('keyId' in signer) {
    const keyId = subjectKeyId(certificate);
    return keyId !== undefined && sameBytes(keyId, signer.keyId);
  }
  return (
    sameBytes(certificate.issuer, signer.issuer) && sameBytes(certificate.serial, signer.serial)
  );
}

/** RFC 5816: without the hash another certificate for the same key could take the place of the signer's. */
function isMeant({ attributes }: TimestampSignature, { der }: Certificate): boolean {
  const [older, newer] = [ID.signingCertificate, ID.signingCertificateV2].map((id) =>
    attributes.get(id),
  );
  const isRight = (value: DerElement | undefined, hash: string): boolean =>
    value === undefined ||
    isHashOf(der, new DerReader(value.whole).inside().inside().inside(), hash);
  if (older === undefined && newer === undefined) return false;
  return isRight(older, ID.sha1) && isRight(newer, ID.sha256);
}

/** An ESSCertID of RFC 2634, always SHA-1, or one of RFC 5035, which may name another hash. */
function isHashOf(der: Uint8Array, id: DerReader, hash: string): boolean {
  const named = hash === ID.sha256 && id.has(TAG.sequence) ? readAlgorithm(id) : hash;
  const name = named === ID.sha1 && hash === ID.sha1 ? 'sha1' : HASHES[named];
  return name !== undefined && sameBytes(id.read(TAG.octets).content, digest(name, der));
}

function infoFault(
  { info }: TimestampToken,
  data: Uint8Array,
  nonce: Uint8Array | undefined,
): string | undefined {
  const hash = HASHES[info.hash];
  if (hash === undefined) return `its hash, ${info.hash}, is none of SHA-256, SHA-384 and SHA-512`;
  if (!sameBytes(info.imprint, digest(hash, data))) return 'it is of other data';
  if (nonce === undefined) return undefined;
  const isAnswer = info.nonce !== undefined && sameBytes(info.nonce, nonce);
  return isAnswer ? undefined : 'it does not answer this query: the nonce is not the same';
}

/** RFC 3161 §2.4.2: a name that is there must be one of the certificate's. */
function nameFault({ info }: TimestampToken, certificate: Certificate): string | undefined {
  const { authority } = info;
  if (authority === undefined) return undefined;
  const reader = new DerReader(authority);
  const name = reader.has(DIRECTORY_NAME) ? reader.inside(DIRECTORY_NAME).any().whole : undefined;
  if (name !== undefined && isSameName(name, certificate.subject)) return undefined;
  const others = certificate.extensions.get(ID.subjectAltName);
  const isOther =
    others !== undefined &&
    new DerReader(others.value)
      .inside()
      .all()
      .some(({ whole }) => sameBytes(whole, authority));
  return isOther ? undefined : 'it names another authority than its certificate does';
}

const DIRECTORY_NAME = 0xa4;

function signatureFault(
  { content, signature }: TimestampToken,
  signer: Certificate,
): string | undefined {
  const { attributes } = signature;
  const algorithm = ALGORITHMS[signature.algorithm];
  const hash = HASHES[signature.hash];
  // RFC 8933: the content and the attributes are hashed alike.
  if (
    algorithm === undefined ||
    hash === undefined ||
    (algorithm.hash ?? signature.hash) !== signature.hash
  ) {
    return `its signature is of a kind that isn't known here: ${signature.algorithm} with ${signature.hash}`;
  }
  if (attributeOid(attributes.get(ID.contentType)) !== TST_INFO) {
    return 'the signed type is not that of a timestamp';
  }
  const signed = attributes.get(ID.messageDigest);
  if (signed?.tag !== TAG.octets || !sameBytes(signed.content, digest(hash, content))) {
    return 'the signed hash is not that of its content';
  }
  const isRight = isSignature(hash, signature, algorithm.key, signer);
  return isRight ? undefined : 'its signature is wrong';
}

function attributeOid(value: DerElement | undefined): string | undefined {
  return value && new DerReader(value.whole).oid();
}

function isSignature(
  hash: string,
  { signed, signature }: TimestampSignature,
  kind: string,
  { x509 }: Certificate,
): boolean {
  try {
    const key = x509.publicKey;
    return key.asymmetricKeyType === kind && verify(hash, signed, key, signature);
  } catch {
    // A key that OpenSSL can't use.
    return false;
  }
}

function digest(hash: string, bytes: Uint8Array): Uint8Array {
  return createHash(hash).update(bytes).digest();
}

function withThose({ roots, others }: TrustStore, { certificates }: TimestampToken): TrustStore {
  return { roots, others: [...others, ...certificates] };
}
