/**
 * Ed25519 by Node's OpenSSL, and public keys as PEM for other tools.
 *
 * @module
 */
import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { type Ed25519 } from './ed25519.ts';

/** What RFC 8410 puts before the raw bytes: DER of a public key (SPKI) and of a secret one (PKCS #8). */
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const SECRET_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Ed25519 by `node:crypto`. */
export const nodeEd25519: Ed25519 = {
  generate: () => new Uint8Array(randomBytes(32)),
  publicKey(seed) {
    const der = createPublicKey(secretKey(seed)).export({ format: 'der', type: 'spki' });
    return new Uint8Array(der.subarray(PUBLIC_PREFIX.length));
  },
  sign: (seed, message) => new Uint8Array(sign(null, message, secretKey(seed))),
  verify(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    return verify(null, message, publicKeyObject(publicKey), signature);
  },
};

/** A public key as PEM, which `openssl` reads. */
export function publicKeyPem(publicKey: Uint8Array): string {
  return publicKeyObject(publicKey).export({ format: 'pem', type: 'spki' }).toString();
}

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const key = Buffer.concat([PUBLIC_PREFIX, publicKey]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

function secretKey(seed: Uint8Array): KeyObject {
  const key = Buffer.concat([SECRET_PREFIX, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}
