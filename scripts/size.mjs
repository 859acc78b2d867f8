// Prints how large the sources are: size is a feature, and CI shows it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

let total = 0;
let code = 0;
let largest = { path: '', lines: 0 };
for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
  const path = join(entry.parentPath, entry.name);
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n').length - 1;
  total += lines;
  code += text.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;
  if (lines > largest.lines) largest = { path, lines };
}
console.log(
  `src: ${total} lines, ${code} of them code; the longest file is ${largest.path} with ${largest.lines}`,
);
