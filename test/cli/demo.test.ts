/**
 * What `hashtape demo` says to do next does what it says.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bareEnv, execute, MAIN } from './script.ts';

test('verify finds the faults that are announced, and no others', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hashtape-demo-test-'));
  const options = { cwd: home, env: { ...bareEnv(home), TMPDIR: home } };
  try {
    const { stdout } = await execute(process.execPath, [MAIN, 'demo'], options);
    const next = /^ {2}npx hashtape verify (\S+) {3}\((.*)\)$/m.exec(stdout);
    const [, folder = '', words = ''] = next ?? [];
    const announced = words.match(/\w+\.jsonl/g) ?? [];
    const verified = await execute(process.execPath, [MAIN, 'verify', folder], options);
    const faults = [...verified.stdout.matchAll(/^FAULT {2}\S*\/(\w+\.jsonl) /gm)].map(
      ([, name]) => name,
    );
    expect(new Set(faults)).toEqual(new Set(announced));
    expect([faults.length, announced.length]).toEqual([2, 2]);
    expect(words).toContain(`exit ${verified.status}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
