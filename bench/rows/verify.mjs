/**
 * Verification of a file, against the Python seed and against hashing alone.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { interleave, median, pairRatio } from '../measure.mjs';
import { SHAPES, transcriptFile } from '../records.mjs';
import { figure } from '../table.mjs';

const GIGABYTE = 1_000_000_000;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function verifyRows(context) {
  const rows = [];
  for (const shape of Object.keys(SHAPES)) rows.push(...(await ofShape(context, shape)));
  if (context.big) {
    for (const shape of Object.keys(SHAPES)) rows.push(await bigRow(context, shape));
  }
  return rows;
}

async function ofShape(context, shape) {
  const count = context.quick ? 20_000 : 100_000;
  const { path, bytes } = await transcriptFile(context.folder, shape, count);
  const ours = context.startOurs();
  const seed = context.startSeed();
  const job = { job: 'verify', path, count };
  const samples = await interleave(context.quick ? 3 : 9, {
    ours: () => ours.run(job),
    ...(seed === undefined ? {} : { seed: () => seed.run(job) }),
    ...(context.sha256sum ? { sha256sum: () => sha256sumSeconds(path) } : {}),
  });
  await ours.end();
  await seed?.end();
  const what = `verify ${shape}, ${count / 1000}k × ${Math.round(bytes / count)} B`;
  const mine = `${rate(count, samples.ours)}, ${speed(bytes, samples.ours)}`;
  return [
    seedRow(context, what, mine, count, samples),
    hashRow(context, what, mine, bytes, samples),
  ];
}

function seedRow(context, name, ours, count, samples) {
  const target = '≥ 20×';
  if (samples.seed === undefined)
    return { name, ours, target, note: context.seed.missing, samples };
  const ratio = pairRatio(samples.seed, samples.ours);
  const other = `seed ${rate(count, samples.seed)}`;
  return { name, ours, other, ratio, target, met: ratio >= 20, samples };
}

/** Without a target: a small file's hash takes too little time to be measured well. */
function hashRow(context, what, ours, bytes, samples) {
  const name = `${what}, hash`;
  if (samples.sha256sum === undefined) return { name, ours, note: "sha256sum isn't there" };
  const ratio = pairRatio(samples.sha256sum, samples.ours);
  return { name, ours, other: `sha256sum ${speed(bytes, samples.sha256sum)}`, ratio };
}

async function bigRow(context, shape) {
  const perRecord = (await transcriptFile(context.folder, shape, 1000)).bytes / 1000;
  const count = Math.ceil(GIGABYTE / perRecord / 1000) * 1000;
  const { path, bytes } = await transcriptFile(context.folder, shape, count);
  const ours = context.startOurs();
  const samples = await interleave(3, {
    ours: () => ours.run({ job: 'verify', path, count }),
    ...(context.sha256sum ? { sha256sum: () => sha256sumSeconds(path) } : {}),
  });
  await ours.end();
  rmSync(path);
  const row = {
    name: `verify ${shape}, ${figure(bytes / 1e9)} GB`,
    ours: `${figure(median(samples.ours))} s, ${speed(bytes, samples.ours)}`,
    target: 'moonshot ≥ 0.40×',
    samples,
  };
  if (samples.sha256sum === undefined) return { ...row, note: "sha256sum isn't there" };
  const ratio = pairRatio(samples.sha256sum, samples.ours);
  const other = `sha256sum ${figure(median(samples.sha256sum))} s`;
  return { ...row, other, ratio, met: ratio >= 0.4 };
}

/** The whole process, less what a process costs that hashes nothing. */
function sha256sumSeconds(path) {
  const nothing = processSeconds('/dev/null');
  return Math.max(processSeconds(path) - nothing, 1e-6);
}

function processSeconds(path) {
  const start = performance.now();
  const { status } = spawnSync('sha256sum', [path], { stdio: 'ignore' });
  if (status !== 0) throw new Error(`sha256sum ${path} failed`);
  return (performance.now() - start) / 1000;
}

function rate(count, seconds) {
  return `${figure(count / median(seconds))} records/s`;
}

function speed(bytes, seconds) {
  return `${figure(bytes / median(seconds) / 1e6)} MB/s`;
}
