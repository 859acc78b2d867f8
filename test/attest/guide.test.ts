/**
 * The library's program in docs/evidence.md, as it stands there.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('it signs and remembers a run, and examines it', () => {
  const guide = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
  const [, program = ''] = /^```js\n([^]*?)^```$/m.exec(guide) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-guide-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/hashtape'));
    const before = "import { scripted } from 'hashtape/models/scripted';\n";
    const given = "const [task, model, tools] = ['task', scripted(['done']), []];\n";
    const after = 'console.log(JSON.stringify({ ok, fault, coverage }));\n';
    writeFileSync(join(folder, 'program.mjs'), before + given + program + after);
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
    const printed = execFileSync(process.execPath, ['program.mjs'], { cwd: folder, env });
    expect(JSON.parse(printed.toString())).toMatchObject({
      ok: true,
      coverage: [
        { by: 'signed', records: 3 },
        { by: 'remembered', records: 3 },
      ],
    });
    expect(existsSync(join(folder, 'runs/mine.jsonl.checkpoint'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
