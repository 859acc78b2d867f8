import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests of the pure core alone: they need no other process, so every mutant is judged in seconds. */
export default defineConfig({
  ...base,
  test: {
    include: [
      'test/transcript/{canonical,format,number,parse,record,scan,sha256,verify,verify-bytes}.test.ts',
      'test/run/{budget,budgets-hold,decide,repeats,seed-cases,outcome}.test.ts',
    ],
    testTimeout: 30_000,
  },
});
