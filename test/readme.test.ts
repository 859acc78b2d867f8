import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

function block(language: string, index = 0): string {
  const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))];
  return blocks[index]?.[1] ?? '';
}

describe('README', () => {
  test('its program is the example, to the letter', () => {
    expect(block('js')).toBe(readFileSync(new URL('examples/first-run.mjs', root), 'utf8'));
  });

  test('its output is what the program prints', () => {
    const printed = execFileSync(process.execPath, ['examples/first-run.mjs'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(block('text')).toBe(printed);
  });

  test('a run that is killed goes on, as it says', () => {
    rmSync(new URL('runs/kill.jsonl', root), { force: true });
    // Each line, with the status of its command after it.
    const script = block('sh')
      .replaceAll('npx hashtape', 'node dist/cli/main.js')
      .replaceAll(/^(?=.)(.*)$/gm, '$1\necho "status $?"');
    // Not the key and the memory of whoever runs the tests.
    const home = mkdtempSync(join(tmpdir(), 'hashtape-readme-'));
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
    const { stdout } = spawnSync('bash', ['-s'], {
      cwd: root,
      encoding: 'utf8',
      input: script,
      env,
    });
    rmSync(home, { recursive: true });
    const statuses = [...stdout.matchAll(/^status (\d+)$/gm)].map((match) => match[1]);
    expect(statuses).toEqual(['0', '137', '1', '0', '0']);
    expect(stdout).toMatch(/^FAULT {2}runs\/kill\.jsonl .*not_sealed/m);
    expect(stdout).toMatch(/^1 to 4 add up to 10\.$/m);
    expect(stdout).toMatch(/^ok {5}runs\/kill\.jsonl {2}\d+ records came out the same, sealed$/m);
  });

  test('the dependencies are as many as it says', () => {
    const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual([
      '@standard-schema/spec', // the package of types
      'ajv',
      'commander',
    ]);
    expect(readme).toContain('Two runtime dependencies and a package of types');
    expect(manifest.engines.node).toBe('>=20.19');
    expect(readme).toContain('Node 20.19 or newer');
  });

  test('it installs as many packages as it says', () => {
    const lock: {
      packages: Record<string, { dev?: boolean; devOptional?: boolean; peer?: boolean }>;
    } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
    const needed = Object.entries(lock.packages).filter(
      ([path, { dev, devOptional, peer }]) =>
        path !== '' && dev !== true && devOptional !== true && peer !== true,
    );
    expect(readme).toContain(`installs as ${needed.length + 1} packages`);
  });

  test('its figures are those of the table in bench/README.md', () => {
    const bench = readFileSync(new URL('bench/README.md', root), 'utf8');
    const row = (name: string, other: string): string =>
      bench.split('\n').find((line) => line.startsWith(name) && line.includes(other)) ?? '';
    const said = /## How fast\n([^]*?)\n## /.exec(readme)?.[1] ?? '';
    const claims: [string, string, string, string][] = [
      ['verify text, 100k', 'seed', '1,049,937 records/s', '1.05 million records of 371 bytes'],
      ['verify text, 100k', 'seed', '8.41×', '8.4 times the Python program'],
      ['verify text, 1.01 GB', 'sha256sum', '2.69 s', '1 GB in 2.7 s'],
      ['verify text, 1.01 GB', 'sha256sum', '0.70×', '0.70 times the speed'],
      ['loop, 1,000 steps', 'AI SDK 7', '20.9 µs', '21 µs to a step'],
      ['loop, 1,000 steps', 'AI SDK 7', '13.8×', '14 times less than AI SDK 7'],
      ['loop, 1,000 steps', 'LangChain', '65.6×', '66 times less than'],
      ['loop, 1,000 steps', 'OpenAI Agents', '433×', '433 times less than OpenAI Agents'],
      ['package, installed', '', '8 packages, 2.27 MB', '8 packages, 2.3 MB'],
    ];
    for (const [name, other, figure, words] of claims) {
      expect(row(name, other)).toContain(figure);
      expect(said.replaceAll(/\s+/g, ' ')).toContain(words);
    }
  });

  test('every link to a file leads to one', () => {
    const targets = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1] ?? '');
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets) {
      expect(() => readFileSync(new URL(target, root)), target).not.toThrow(/ENOENT/);
    }
  });

  test('every command it shows exists', () => {
    const shown = /## The command\n\n.*\n\n```\n([^]*?)```/.exec(readme)?.[1] ?? '';
    const commands = [...shown.matchAll(/^hashtape (\w+)/gm)].map((match) => match[1]);
    expect(commands.length).toBeGreaterThan(3);
    const files = readdirSync(new URL('src/cli', root));
    for (const command of commands) expect(files).toContain(`${command}.ts`);
  });
});
