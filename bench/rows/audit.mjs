/**
 * Audit logs of episodes: verification and appending, against the Python seed that they come from.
 *
 * @module
 */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAudit } from '../../dist/computer/audit-log.js';
import { interleave, median, pairRatio } from '../measure.mjs';
import { figure } from '../table.mjs';

const ELEMENTS = 500;
const LIMIT_SECONDS = 0.001;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function auditRows(context) {
  const ours = context.startOurs();
  const seed = context.seed.auditMissing === undefined ? context.startSeed() : undefined;
  const rows = [
    await verifyRow(context, ours, seed),
    ...(await appendRows(context, ours, seed)),
    await digestRow(context, ours),
  ];
  await ours.end();
  await seed?.end();
  return rows;
}

async function verifyRow(context, ours, seed) {
  const count = context.quick ? 20_000 : 100_000;
  const path = await logFile(context.folder, count);
  const job = { job: 'audit-verify', path, count };
  const samples = await interleave(context.quick ? 3 : 9, contenders(ours, seed, job));
  const size = Math.round(statSync(path).size / count);
  const name = `audit verify, ${count / 1000}k × ${size} B`;
  return { ...comparison(context, name, count, samples), target: '≥ 10×', ...met(samples, 10) };
}

/** The seed never syncs; `always` is what an episode uses. */
async function appendRows(context, ours, seed) {
  const rows = [];
  for (const [durability, count] of [
    ['never', context.quick ? 5000 : 20_000],
    ['always', context.quick ? 500 : 2000],
  ]) {
    const path = join(context.folder, `audit-append-${durability}.jsonl`);
    const job = { job: 'audit-append', path, count, durability, steps: stepFile(context.folder) };
    const samples = await interleave(context.quick ? 3 : 5, contenders(ours, seed, job));
    const name = `audit append${durability === 'always' ? ' + fdatasync each' : ''}`;
    rows.push(comparison(context, name, count, samples));
  }
  return rows;
}

async function digestRow(context, ours) {
  const count = 200;
  const job = { job: 'audit-digest', elements: ELEMENTS, count };
  const samples = await interleave(context.quick ? 3 : 9, { ours: () => ours.run(job) });
  const seconds = median(samples.ours) / count;
  return {
    name: `audit digest and entry, ${ELEMENTS} elements`,
    ours: `${figure(seconds * 1000)} ms`,
    target: '< 1 ms',
    met: seconds < LIMIT_SECONDS,
    samples,
  };
}

function contenders(ours, seed, job) {
  return {
    ours: () => ours.run(job),
    ...(seed === undefined ? {} : { seed: () => seed.run(job) }),
  };
}

function comparison(context, name, count, samples) {
  const rate = (seconds) => figure(count / median(seconds));
  const row = { name, ours: `${rate(samples.ours)} entries/s`, samples };
  if (samples.seed === undefined) {
    return { ...row, note: context.seed.missing ?? context.seed.auditMissing };
  }
  const ratio = pairRatio(samples.seed, samples.ours);
  return { ...row, other: `seed ${rate(samples.seed)} entries/s`, ratio };
}

function met({ seed, ours }, target) {
  return seed === undefined ? {} : { met: pairRatio(seed, ours) >= target };
}

/** Steps of an episode on a to-do list. */
const STEPS = Array.from({ length: 100 }, (_, i) => ({
  goal: 'add “buy milk” to the list and save it',
  screen: (i * 7919).toString(16).padStart(16, '0'),
  action: i % 3 === 0 ? `click "Save ${i}"` : `type "buy milk ${i}" into "New entry"`,
  outcome: i % 5 === 0 ? `nothing is labelled "Save ${i}" (there is "Add", "Clear")` : 'clicked',
  ok: i % 5 !== 0,
}));

function stepFile(folder) {
  const path = join(folder, 'audit-steps.json');
  writeFileSync(path, JSON.stringify(STEPS));
  return path;
}

async function logFile(folder, count) {
  const path = join(folder, `audit-${count}.jsonl`);
  let seconds = 1_767_225_600;
  // About one entry a second, as of an agent at work.
  const clock = { now: () => (seconds += 1) * 1000 };
  const audit = await openAudit(path, { clock, durability: 'never' });
  for (let i = 1; i < count; i += 1) await audit.append(STEPS[i % STEPS.length]);
  await audit.close({ goal: STEPS[0].goal, success: true, reason: 'verified' });
  await audit.release();
  return path;
}
