// Runs all tests and counts what they cover. `.ci/run` has its tests counted as it runs them: once is enough there.
import { spawnSync } from 'node:child_process';

if (process.env.HASHTAPE_TESTED === '1') {
  console.log('coverage: counted by the tests that ran before');
} else {
  for (const command of ['npm run --silent build', 'npx vitest run --coverage']) {
    const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}
