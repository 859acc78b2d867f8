/**
 * Keys and notes that the tests of evidence share.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { toHex } from '../../src/evidence/hex.ts';
import { signerKey, type SignerKey } from '../../src/evidence/note-key.ts';
import { type Note } from '../../src/evidence/note.ts';
import { hex } from './vectors.ts';

/** The first key of RFC 8032 §7.1. */
export const KEY: SignerKey = signerKey(
  'example.com/log',
  hex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'),
  nodeEd25519,
);

/** The message with which `read` throws an EvidenceError. */
export function rejected(read: () => unknown): string {
  let thrown: unknown;
  try {
    read();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(EvidenceError);
  return thrown instanceof Error ? thrown.message : '';
}

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\0-\x1f]/g, ''));

/** Notes with any text and any signatures. */
export const arbitraryNote: fc.Arbitrary<Note> = fc.record({
  text: fc.array(line, { minLength: 1 }).map((lines) => `${lines.join('\n')}\n`),
  signatures: fc.uniqueArray(
    fc.record({
      name: fc
        .string({ unit: 'grapheme', minLength: 1 })
        .map((text) => `n${text.replaceAll(/[\0- \p{White_Space}+]/gu, '')}`),
      keyId: fc.uint8Array({ minLength: 4, maxLength: 4 }).map(toHex),
      signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
    }),
    { minLength: 1, maxLength: 5, selector: ({ name, keyId }) => `${name}+${keyId}` },
  ),
});
