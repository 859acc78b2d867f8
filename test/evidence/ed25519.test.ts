/**
 * Ed25519 by Node and by WebCrypto, against Wycheproof.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeEd25519, publicKeyPem } from '../../src/evidence/ed25519-node.ts';
import { webEd25519 } from '../../src/evidence/ed25519-web.ts';
import { hex, vectors } from './vectors.ts';

interface Group {
  publicKey: { pk: string };
  publicKeyPem: string;
  tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[];
}

const { testGroups } = vectors('wycheproof-ed25519.json') as { testGroups: Group[] };

describe.each([
  ['Node', nodeEd25519],
  ['WebCrypto', webEd25519],
])('Ed25519 by %s', (_, ed25519) => {
  test('judges all 151 cases of Wycheproof as they say', async () => {
    let count = 0;
    for (const { publicKey, tests } of testGroups) {
      for (const { tcId, comment, msg, sig, result } of tests) {
        const answer = await ed25519.verify(hex(publicKey.pk), hex(msg), hex(sig));
        expect([tcId, comment, answer]).toEqual([tcId, comment, result === 'valid']);
        count += 1;
      }
    }
    expect(count).toBe(151);
  });

  test('says no to keys and signatures of other lengths, and to keys that are no point', async () => {
    const [group] = testGroups;
    const [valid] = group!.tests;
    const key = hex(group!.publicKey.pk);
    const signature = hex(valid!.sig);
    expect(await ed25519.verify(key, hex(valid!.msg), signature)).toBe(true);
    for (const length of [0, 1, 31, 33, 64]) {
      const other = new Uint8Array(length);
      other.set(key.subarray(0, length));
      expect(await ed25519.verify(other, hex(valid!.msg), signature)).toBe(false);
    }
    for (const length of [0, 1, 63, 65, 128]) {
      const other = new Uint8Array(length);
      other.set(signature.subarray(0, length));
      expect(await ed25519.verify(key, hex(valid!.msg), other)).toBe(false);
    }
    expect(await ed25519.verify(new Uint8Array(32).fill(0xff), hex(valid!.msg), signature)).toBe(
      false,
    );
  });
});

describe('keys by Node', () => {
  test('the PEM of a public key is the one that Wycheproof has', () => {
    for (const { publicKey, publicKeyPem: pem } of testGroups) {
      expect(publicKeyPem(hex(publicKey.pk)).trim()).toBe(pem.trim());
    }
  });

  test('RFC 8032 §7.1, tests 1 and 2', () => {
    const seed = hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
    expect(nodeEd25519.publicKey(seed)).toEqual(
      hex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c'),
    );
    const signature = nodeEd25519.sign(seed, Uint8Array.of(0x72));
    expect(Buffer.from(signature).toString('hex')).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    );
  });

  test('a new key signs what it alone verifies', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (message) => {
        const [seed, other] = [nodeEd25519.generate(), nodeEd25519.generate()];
        const signature = nodeEd25519.sign(seed, message);
        const verify = (key: Uint8Array) => nodeEd25519.verify(key, message, signature);
        expect(verify(nodeEd25519.publicKey(seed))).toBe(true);
        expect(verify(nodeEd25519.publicKey(other))).toBe(false);
      }),
      { numRuns: 20 },
    );
  });
});
