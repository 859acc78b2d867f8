/**
 * src/evidence runs where there is no Node: what its entry reaches.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const entry = new URL('../../src/evidence/index.ts', import.meta.url);

/** Every file that the entry needs, with its source; `#sha256` as a browser gets it. */
function graph(): Map<string, string> {
  const files = new Map([[entry.href, '']]);
  for (const href of files.keys()) {
    const source = readFileSync(new URL(href), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
    files.set(href, source);
    for (const [, specifier = ''] of source.matchAll(/\bfrom '([^']+)'/g)) {
      const path = specifier === '#sha256' ? '../transcript/sha256.ts' : specifier;
      expect(path).toMatch(/^\.\.?\//);
      const target = new URL(path, href).href;
      if (!files.has(target)) files.set(target, '');
    }
  }
  return files;
}

test('the entry reaches its own folder and transcript’s, and no global of Node', () => {
  const files = graph();
  const names = [...files.keys()].map((href) => href.replace(/.*\/src\//, ''));
  expect(names).toContain('evidence/merkle.ts');
  expect(names).toContain('evidence/ed25519-web.ts');
  expect(names).not.toContain('evidence/ed25519-node.ts');
  expect(names.filter((name) => !/^(?:evidence|transcript)\//.test(name))).toEqual([]);
  for (const source of files.values()) {
    expect(source).not.toMatch(/\b(?:Buffer|process|require|__dirname|setImmediate)\b/);
  }
});
