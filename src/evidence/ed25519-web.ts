/**
 * Ed25519 verification by WebCrypto, for browsers.
 *
 * @module
 */
import { type Ed25519Verifier } from './ed25519.ts';

/** Checks signatures with `crypto.subtle`. It rejects where the browser knows no Ed25519. */
export const webEd25519: Ed25519Verifier = {
  async verify(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const { subtle } = globalThis.crypto;
    // Copies: WebCrypto refuses views on memory that could be shared.
    const raw = new Uint8Array(publicKey);
    const key = await subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']);
    return subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(message));
  },
};
