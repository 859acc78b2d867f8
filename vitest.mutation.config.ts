import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The tests of the pure core alone: they need no other process, so every mutant is judged in seconds. */
export default mergeConfig(base, {
  test: {
    include: ['test/transcript/**/*.test.ts', 'test/run/{decide,budget,repeats,loop,budgets}*.test.ts'],
    exclude: ['test/transcript/{seed,differential,browser}.test.ts'],
  },
});
