import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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
