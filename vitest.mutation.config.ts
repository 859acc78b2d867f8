import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Exhaustive tests that take long: what they find, others find sooner. */
const LONG = [
  'as any other value',
  'with any bit flipped',
  'every number of up to six',
  'every single-byte change',
  'nesting of any depth',
  '200,000 levels',
  '64 MiB of',
  'no UTF-8',
  'a million levels',
];

/** The tests of the pure core alone: they need no other process, so every mutant is judged in seconds. */
export default defineConfig({
  ...base,
  test: {
    include: [
      'test/transcript/{canonical,format,number,judge,parse,record,scan,sha256,verify,verify-bytes}.test.ts',
      'test/run/{budget,decide,decide-words,repeats}.test.ts',
    ],
    testNamePattern: new RegExp(`^(?!.*(${LONG.join('|')}))`),
    testTimeout: 30_000,
  },
});
