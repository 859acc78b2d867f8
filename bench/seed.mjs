/**
 * The Python seeds, taken out of their founding documents when the benchmark runs.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FIRST_LINE = '"""Append-only JSONL transcript';
const AUDIT_FIRST_LINE = '"""A run\'s record';
const WORKER = fileURLToPath(new URL('seed.py', import.meta.url));

/**
 * The command that starts the seed's worker, or why there is none.
 *
 * @param {string} seeds the folder of the founding documents
 * @param {string} folder where the seed's source may be put
 * @returns {{ command: string, args: string[], auditMissing?: string } | { missing: string }}
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
  const auditMissing = placeAudit(seeds, folder);
  return { command: 'python3', args: [WORKER, folder], ...(auditMissing && { auditMissing }) };
}

/** Puts the audit module where Python finds it, with all that it needs of a module that isn't there. */
function placeAudit(seeds, folder) {
  const name = readdirSync(seeds).find((file) => /^001.*\.txt$/.test(file));
  if (name === undefined) return `no 001*.txt in ${seeds}, so the audit seed isn't measured`;
  const text = readFileSync(join(seeds, name), 'utf8');
  const start = text.indexOf(AUDIT_FIRST_LINE);
  // The document holds it twice, the second time indented.
  const copy = text.indexOf(`\t${AUDIT_FIRST_LINE}`);
  if (start === -1 || copy === -1) return `${name} doesn't hold the seed's audit module`;
  const library = join(folder, 'tiny_computer_agent');
  mkdirSync(library);
  writeFileSync(join(library, '__init__.py'), '');
  writeFileSync(join(library, 'observe.py'), 'class Observation:\n    pass\n');
  writeFileSync(join(library, 'audit.py'), text.slice(start, copy));
  return undefined;
}
