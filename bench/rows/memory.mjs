/**
 * The most memory that verifying a file takes, of the whole process.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI } from '../paths.mjs';
import { median } from '../measure.mjs';
import { transcriptFile } from '../records.mjs';
import { figure } from '../table.mjs';

const CHILD = fileURLToPath(new URL('../verify-child.mjs', import.meta.url));
const LIMIT_MB = 100;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function memoryRows(context) {
  const rows = [];
  for (const count of context.quick ? [20_000, 100_000] : [100_000, 1_000_000]) {
    for (const shape of ['text', 'nested']) {
      rows.push(await memoryRow(context, shape, count, rows.length < 2));
    }
  }
  return rows;
}

async function memoryRow(context, shape, count, withSeed) {
  const { path, bytes } = await transcriptFile(context.folder, shape, count);
  const samples = { ours: [], seed: [] };
  for (let round = 0; round < 3; round += 1) {
    samples.ours.push(oursMegabytes(context, path));
    if (withSeed && context.seed.missing === undefined && gnuTime()) {
      samples.seed.push(seedMegabytes(context, path, count));
    }
  }
  if (count > 100_000) rmSync(path);
  const ours = median(samples.ours);
  const row = {
    name: `memory of verify ${shape}, ${figure(bytes / 1e6)} MB`,
    ours: `${figure(ours)} MB`,
    target: `≤ ${LIMIT_MB} MB`,
    met: ours <= LIMIT_MB,
    samples,
  };
  if (samples.seed.length === 0) return row;
  const seed = median(samples.seed);
  return { ...row, other: `seed ${figure(seed)} MB`, ratio: seed / ours };
}

function oursMegabytes(context, path) {
  const command = existsSync(CLI) ? [CLI, 'verify', path] : [CHILD, path];
  if (gnuTime()) return timedMegabytes(context, process.execPath, command, '');
  const { stdout, status } = spawnSync(process.execPath, [CHILD, path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`verifying ${path} failed`);
  return (Number(stdout) * 1024) / 1e6;
}

function seedMegabytes(context, path, count) {
  const { command, args } = context.seed;
  const request = `${JSON.stringify({ job: 'verify', path, count })}\n`;
  return timedMegabytes(context, command, args, request);
}

/** GNU time starts the program from a small process: Linux counts the starter's own peak to a program. */
function timedMegabytes(context, command, args, input) {
  const report = join(context.folder, 'time.txt');
  const { status, stdout, stderr } = spawnSync(
    '/usr/bin/time',
    ['-f', '%M', '-o', report, command, ...args],
    { input, encoding: 'utf8' },
  );
  if (status !== 0 || stdout.includes('"error"')) {
    throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`);
  }
  return (Number(readFileSync(report, 'utf8')) * 1024) / 1e6;
}

function gnuTime() {
  const { error, stdout } = spawnSync('/usr/bin/time', ['--version'], { encoding: 'utf8' });
  return error === undefined && stdout.includes('GNU');
}
