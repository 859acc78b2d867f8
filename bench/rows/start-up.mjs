/**
 * How long the command takes to say its version, against a Node process that does nothing.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { CLI } from '../paths.mjs';
import { interleave, median, pairRatio } from '../measure.mjs';

const LIMIT_MS = 100;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function startUpRows(context) {
  const name = 'start-up, hashtape --version';
  const target = `< ${LIMIT_MS} ms`;
  if (!existsSync(CLI)) return [{ name, ours: '–', target, note: "dist/cli/main.js isn't there" }];
  const samples = await interleave(context.quick ? 5 : 15, {
    ours: () => milliseconds([CLI, '--version']),
    node: () => milliseconds(['-e', '0']),
  });
  const ours = median(samples.ours);
  return [
    {
      name,
      ours: `${ours.toFixed(0)} ms`,
      other: `node -e 0 ${median(samples.node).toFixed(0)} ms`,
      ratio: pairRatio(samples.node, samples.ours),
      target,
      met: ours < LIMIT_MS,
      samples,
    },
  ];
}

function milliseconds(args) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
  return performance.now() - start;
}
