/**
 * The Python seed, taken out of its founding document when the benchmark runs.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FIRST_LINE = '"""Append-only JSONL transcript';
const WORKER = fileURLToPath(new URL('seed.py', import.meta.url));

/**
 * The command that starts the seed's worker, or why there is none.
 *
 * @param {string} seeds the folder of the founding documents
 * @param {string} folder where the seed's source may be put
 * @returns {{ command: string, args: string[] } | { missing: string }}
 */
export function findSeed(seeds, folder) {
  if (!existsSync(seeds))
    return { missing: `no folder ${seeds}, so the Python seed isn't measured` };
  const name = readdirSync(seeds).find((file) => /^004.*\.txt$/.test(file));
  if (name === undefined) return { missing: `no 004*.txt in ${seeds}, so the seed isn't measured` };
  if (spawnSync('python3', ['--version']).status !== 0) {
    return { missing: "python3 isn't there, so the Python seed isn't measured" };
  }
  const text = readFileSync(join(seeds, name), 'utf8');
  const start = text.indexOf(FIRST_LINE);
  if (start === -1) return { missing: `${name} doesn't hold the seed's transcript module` };
  writeFileSync(join(folder, 'seed_transcript.py'), text.slice(start));
  return { command: 'python3', args: [WORKER, folder] };
}
