/**
 * Whether a certificate may sign timestamps, and leads to a trusted one: RFC 5280 §6 and RFC 3161 §2.3, as strict
 * as OpenSSL or stricter. Revocation isn't asked for.
 *
 * @module
 */
import { DerReader, TAG } from '../evidence/der.ts';
import { type Certificate, isIssuer, isSame, subjectName, type TrustStore } from './certificate.ts';

/** Why a certificate may not sign timestamps, or undefined. */
export function signerFault({ extensions }: Certificate): string | undefined {
  const purposes = extensions.get(ID.extendedKeyUsage);
  if (purposes?.critical !== true || readPurposes(purposes.value).join() !== TIME_STAMPING) {
    return 'its certificate is not for timestamps, and timestamps only (a critical extension must say so)';
  }
  const usage = keyUsage(extensions);
  // Bits 0 and 1, and no other: to sign data.
  const signs = usage === undefined || (usage !== 0 && (usage & ~0xc000) === 0);
  return signs ? undefined : 'the key of its certificate is not for signatures only';
}

/** Why a certificate doesn't lead to a trusted one that was valid at `time`, in seconds of Unix time; or undefined. */
export function chainFault(
  certificate: Certificate,
  { roots, others }: TrustStore,
  time: number,
): string | undefined {
  const candidates = [...roots, ...others];
  const tried = new Set<Certificate>();
  let fault = `nothing that is trusted leads to the issuer of ${subjectName(certificate)}`;
  // Each is tried once, so certificates that were made to issue each other don't make it long.
  const leads = (from: Certificate, below: number): boolean => {
    const own = linkFault(from, time);
    if (own !== undefined) {
      fault = own;
      return false;
    }
    if (roots.some((root) => isSame(root, from))) return true;
    if (!SIGNATURES.has(from.signedWith)) {
      fault = `${subjectName(from)} is signed with an algorithm that is weak or unknown`;
      return false;
    }
    return candidates.some((issuer) => {
      if (tried.has(issuer) || !isIssuer(issuer, from)) return false;
      tried.add(issuer);
      const notCa = caFault(issuer, below);
      if (notCa !== undefined) fault = notCa;
      return notCa === undefined && leads(issuer, below + 1);
    });
  };
  return leads(certificate, 0) ? undefined : fault;
}

const ID = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  certificatePolicies: '2.5.29.32',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** What may be critical: the rest isn't understood here, and RFC 5280 §4.2 forbids to go on then. */
const UNDERSTOOD: ReadonlySet<string> = new Set(Object.values(ID));
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/** How a certificate may be signed: RSA and ECDSA with SHA-2, RSASSA-PSS, Ed25519, Ed448. Not with MD5 or SHA-1. */
const SIGNATURES: ReadonlySet<string> = new Set([
  ...['10', '11', '12', '13'].map((last) => `1.2.840.113549.1.1.${last}`),
  ...['2', '3', '4'].map((last) => `1.2.840.10045.4.3.${last}`),
  '1.3.101.112',
  '1.3.101.113',
]);

/** The value of the extension that names a key by its hash. */
export function subjectKeyId({ extensions }: Certificate): Uint8Array | undefined {
  const extension = extensions.get(ID.subjectKeyId);
  return extension && new DerReader(extension.value).read(TAG.octets).content;
}

/** What is wrong with any certificate of a chain. */
function linkFault(certificate: Certificate, time: number): string | undefined {
  const name = subjectName(certificate);
  if (time < certificate.valid.from) return `${name} was not valid yet at that time`;
  if (time > certificate.valid.to) return `${name} was no longer valid at that time`;
  const strange = [...certificate.extensions].find(
    ([id, { critical }]) => critical && !UNDERSTOOD.has(id),
  );
  if (strange === undefined) return undefined;
  return `${name} has a critical extension that isn't understood here: ${strange[0]}`;
}

/** What is wrong with an issuer that has `below` others between itself and the signer. */
function caFault(certificate: Certificate, below: number): string | undefined {
  const extension = certificate.extensions.get(ID.basicConstraints);
  const name = subjectName(certificate);
  const usage = keyUsage(certificate.extensions) ?? KEY_CERT_SIGN;
  if (extension === undefined || (usage & KEY_CERT_SIGN) === 0) return `${name} may not issue`;
  const constraints = new DerReader(extension.value).inside();
  if (!constraints.flag()) return `${name} may not issue`;
  const [limit] = constraints.all();
  const longest = limit === undefined ? Infinity : new DerReader(limit.whole).count();
  return below > longest ? `${name} may not issue that deep` : undefined;
}

/** Bit 5, where bit 0 is the highest of 16. */
const KEY_CERT_SIGN = 0x0400;

/** The bits of the extension, bit 0 the highest of 16; undefined without it, which allows everything. */
function keyUsage(extensions: Certificate['extensions']): number | undefined {
  const extension = extensions.get(ID.keyUsage);
  if (extension === undefined) return undefined;
  const [, high = 0, low = 0] = new DerReader(extension.value).read(TAG.bitString).content;
  return high * 256 + low;
}

function readPurposes(value: Uint8Array): string[] {
  const reader = new DerReader(value);
  const purposes = reader.inside().all();
  reader.end();
  return purposes.map(({ whole }) => new DerReader(whole).oid());
}
