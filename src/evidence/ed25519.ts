/**
 * Ed25519 (RFC 8032) as the core needs it. Who calls passes one: ed25519-node.ts or, to verify in a browser,
 * ed25519-web.ts.
 *
 * @module
 */

/** Checks signatures; a browser can only promise to. */
export interface Ed25519Verifier {
  /** Whether the 64 bytes are a signature of the message by the 32-byte public key. It doesn't throw. */
  verify(
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean | Promise<boolean>;
}

/** Also makes keys and signatures. */
export interface Ed25519 extends Ed25519Verifier {
  /** 32 new secret bytes. */
  generate(): Uint8Array;
  /** The 32-byte public key of 32 secret bytes. */
  publicKey(seed: Uint8Array): Uint8Array;
  /** The 64-byte signature of a message. */
  sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
}
