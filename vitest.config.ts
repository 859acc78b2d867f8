import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // Tests run from the sources: the package's own `#sha256` import points into `dist`.
    alias: {
      '#sha256': fileURLToPath(new URL('src/transcript/sha256-node.ts', import.meta.url)),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
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
