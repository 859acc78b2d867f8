import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const manifest: {
  exports: Record<string, string>;
  bin: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
} = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

describe('the package', () => {
  test.each(Object.keys(manifest.exports))('%s can be imported by its name', (subpath) => {
    const target = manifest.exports[subpath] ?? '';
    expect(existsSync(new URL(target, root))).toBe(true);
    if (!target.endsWith('.js')) return;
    const name = `hashtape${subpath.slice(1)}`;
    const script = `const m = await import('${name}'); console.log(Object.keys(m).length)`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(Number(printed)).toBeGreaterThan(0);
  });

  test('no module needs an optional package to be loaded', () => {
    const optional = Object.keys(manifest.peerDependenciesMeta);
    expect(optional.length).toBeGreaterThan(2);
    const dist = new URL('dist/', root);
    const names = readdirSync(dist, { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((file) => file.endsWith('.js'))) {
      const text = readFileSync(new URL(name, dist), 'utf8');
      for (const peer of optional)
        expect(text, `${name} imports ${peer}`).not.toMatch(new RegExp(`^import .*'${peer}'`, 'm'));
    }
  });

  test('its command is there and starts with a shebang', () => {
    const target = new URL(manifest.bin['hashtape'] ?? '', root);
    expect(readFileSync(target, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('what is packed is the built code, the format and the verifier, and no test', () => {
    const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    });
    const [pack]: { files: { path: string }[] }[] = JSON.parse(printed);
    const paths = (pack?.files ?? []).map((file) => file.path);
    expect(paths).toContain('dist/index.js');
    expect(paths).toContain('dist/index.d.ts');
    expect(paths).toContain('docs/format.md');
    expect(paths).toContain('docs/verify.py');
    expect(paths.filter((path) => /^(test|bench|src)\//.test(path))).toEqual([]);
  });

  test('provider SDKs are optional', () => {
    for (const name of ['openai', '@anthropic-ai/sdk']) {
      expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
    }
  });
});
