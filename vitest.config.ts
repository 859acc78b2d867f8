import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

/** They drive processes of their own, in which no coverage is counted, or run the same few lines for long: half of the time. */
const COVERING_NOTHING = [
  'test/attest/{command,guide,kill}.test.ts',
  'test/cli/{attacks,checkpoint,demo,help,reading,scripts,seeds,terminal}.test.ts',
  'test/evidence/merkle-flips.test.ts',
  'test/journal/kill*.test.ts',
  'test/readme.test.ts',
];

export default defineConfig({
  resolve: {
    // Tests run from the sources: the package's own `#sha256` import points into `dist`.
    alias: {
      '#sha256': fileURLToPath(new URL('src/transcript/sha256-node.ts', import.meta.url)),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    // `.ci/run` says so for the second of its two runs of all tests.
    exclude: [
      ...configDefaults.exclude,
      ...(process.env['HASHTAPE_TESTED'] === undefined ? [] : COVERING_NOTHING),
    ],
    // Against hangs alone: a test of many processes takes minutes on a machine that is busy with something else.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    coverage: {
      include: ['src/**'],
      // The command is driven as a process of its own, and what looks at a page runs in the browser: neither is counted here.
      exclude: ['src/cli/**', 'src/computer/observe-page*.ts'],
      reporter: 'text',
      thresholds: { branches: 90, lines: 95 },
    },
  },
});
