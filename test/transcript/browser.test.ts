/**
 * src/transcript runs where there is no Node: what it imports, and that it works with the other SHA-256.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyTranscript } from '../../src/transcript/index.ts';
import { chain, SAMPLE } from './sample.ts';

const root = new URL('../../', import.meta.url);
const entry = new URL('dist/transcript/index.js', root);
const built = existsSync(entry);
const NEEDS_BUILD = built ? '' : ' (skipped: run `npm run build` first)';

const packageJson: { imports: Record<string, { default: string }> } = JSON.parse(
  readFileSync(new URL('package.json', root), 'utf8'),
);

/** Where a specifier leads in a browser; null where it leads out of the package. */
function resolve(specifier: string, from: URL): URL | null {
  if (specifier.startsWith('./') || specifier.startsWith('../')) return new URL(specifier, from);
  const target = packageJson.imports[specifier]?.default;
  return target === undefined ? null : new URL(target, root);
}

/** The specifiers of a compiled module. */
function imports(file: URL): string[] {
  const source = readFileSync(file, 'utf8');
  const pattern = /\b(?:from\s*|import\s*\(\s*|import\s+)(['"])([^'"]+)\1/g;
  return [...source.matchAll(pattern)].map(([, , specifier = '']) => specifier);
}

/** Every module that the entry needs, and every specifier that leads out of the package. */
function graph(): { files: string[]; outside: string[] } {
  const files = new Set([entry.href]);
  const outside: string[] = [];
  for (const href of files) {
    for (const specifier of imports(new URL(href))) {
      const target = resolve(specifier, new URL(href));
      if (target === null) outside.push(`${href}: ${specifier}`);
      else files.add(target.href);
    }
  }
  return { files: [...files], outside };
}

describe.skipIf(!built)(`the transcript entry in a browser${NEEDS_BUILD}`, () => {
  test('imports nothing from outside its folder', () => {
    const { files, outside } = graph();
    expect(outside).toEqual([]);
    const folder = new URL('dist/transcript/', root).href;
    expect(files.filter((file) => !file.startsWith(folder))).toEqual([]);
    const names = files.map((file) => file.slice(folder.length)).toSorted();
    expect(names).toContain('sha256.js');
    expect(names).not.toContain('sha256-node.js');
  });

  test('names no global of Node', () => {
    for (const file of graph().files) {
      const source = readFileSync(new URL(file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
      expect(source).not.toMatch(/\b(?:Buffer|process|require|__dirname|setImmediate)\b/);
    }
  });

  test('verifies with the SHA-256 in JavaScript', () => {
    const good = chain(SAMPLE).join('');
    for (const text of [good, good.replace('"sum":42', '"sum":43')]) {
      expect(verifyAsInBrowser(text)).toEqual(verifyTranscript(text));
    }
  });
});

/** Verifies in another process, with `#sha256` replaced by what a browser resolves it to. */
function verifyAsInBrowser(text: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-browser-'));
  try {
    for (const file of graph().files) {
      const source = readFileSync(new URL(file), 'utf8').replaceAll("'#sha256'", "'./sha256.js'");
      writeFileSync(join(folder, file.slice(file.lastIndexOf('/') + 1)), source);
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const program = `import { verifyTranscript } from './index.js';
      process.stdin.setEncoding('utf8');
      let text = '';
      for await (const piece of process.stdin) text += piece;
      console.log(JSON.stringify(verifyTranscript(text)));`;
    writeFileSync(join(folder, 'main.js'), program);
    const child = spawnSync(process.execPath, ['main.js'], { cwd: folder, input: text });
    return JSON.parse(child.stdout.toString());
  } finally {
    rmSync(folder, { recursive: true });
  }
}
