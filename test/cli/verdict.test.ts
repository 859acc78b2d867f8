/**
 * The words of a verdict.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { faultWords } from '../../src/cli/verdict.ts';

const differing = (claimed: string, expected: string): string =>
  faultWords({ seq: 2, line: 3, reason: 'hash_mismatch', detail: `hash is ${claimed}`, expected });

test('two hashes are told by their beginnings, and in full where these are the same', () => {
  const [a, b] = ['a'.repeat(64), `${'a'.repeat(63)}b`];
  expect(differing('c'.repeat(64), a)).toBe(
    'record 2 (line 3): hash_mismatch: the line claims hash cccccccccccccccc…, its content hashes to aaaaaaaaaaaaaaaa…',
  );
  expect(differing(a, b)).toBe(
    `record 2 (line 3): hash_mismatch: the line claims hash ${a}, its content hashes to ${b}`,
  );
});
