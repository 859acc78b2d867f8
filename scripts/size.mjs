// Prints how large the sources are: size is a feature, and CI shows it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

let total = 0;
let largest = { path: '', lines: 0 };
for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
  const path = join(entry.parentPath, entry.name);
  const lines = readFileSync(path, 'utf8').split('\n').length - 1;
  total += lines;
  if (lines > largest.lines) largest = { path, lines };
}
console.log(`src: ${total} lines; the longest file is ${largest.path} with ${largest.lines}`);
