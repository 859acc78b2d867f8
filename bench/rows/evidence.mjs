/**
 * What evidence costs: appending with checkpoints, verifying with a Merkle root, and proving one record of a million.
 *
 * @module
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, median, pairRatio } from '../measure.mjs';
import { attestedFile } from '../records.mjs';
import { figure } from '../table.mjs';

const MOST_COST = 0.05;
const VERIFY_RATE = 400_000;
const LIMIT_MB = 100;

/** How records come: as the loop appends a turn, and in bulk; each batch is synced. */
const WAYS = {
  '2 or 3 a sync': { batches: [2, 3], count: 5000, quick: 500 },
  '256 a sync': { batches: [256], count: 256 * 1500, quick: 256 * 20 },
};

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function evidenceRows(context) {
  const rows = [];
  for (const [name, way] of Object.entries(WAYS)) rows.push(await appendRow(context, name, way));
  rows.push(await verifyRow(context));
  rows.push(...(await proofRows(context)));
  return rows;
}

/** Checkpoints, the memory of heads and the tree, against the transcript alone. */
async function appendRow(context, name, { batches, count: full, quick }) {
  const count = context.quick ? quick : full;
  const ours = context.startOurs();
  const job = { job: 'evidence-append', folder: context.folder, batches, count };
  const samples = await interleave(context.quick ? 3 : 9, {
    attested: () => ours.run({ ...job, attested: true }),
    plain: () => ours.run({ ...job, attested: false }),
  });
  await ours.end();
  const ratio = pairRatio(samples.plain, samples.attested);
  return {
    name: `append, attested, ${name}`,
    ours: `${figure(count / median(samples.attested))} records/s`,
    other: `without evidence ${figure(count / median(samples.plain))}`,
    ratio,
    target: `≥ ${1 - MOST_COST}×`,
    met: ratio >= 1 - MOST_COST,
    samples,
  };
}

async function verifyRow(context) {
  const count = context.quick ? 20_000 : 100_000;
  const path = await attestedFile(context.folder, count);
  const ours = context.startOurs();
  const samples = await interleave(context.quick ? 3 : 9, {
    evidence: () => ours.run({ job: 'evidence-verify', path, count }),
    chain: () => ours.run({ job: 'verify', path, count }),
  });
  await ours.end();
  const rate = count / median(samples.evidence);
  return {
    name: `verify with evidence, ${count / 1000}k`,
    ours: `${figure(rate)} records/s`,
    other: `chain alone ${figure(count / median(samples.chain))}`,
    ratio: pairRatio(samples.chain, samples.evidence),
    target: `≥ ${VERIFY_RATE.toLocaleString('en')}/s`,
    met: rate >= VERIFY_RATE,
    samples,
  };
}

async function proofRows(context) {
  const count = context.quick ? 100_000 : 1_000_000;
  const path = await attestedFile(context.folder, count);
  const cache = join(context.folder, 'cache');
  const job = { job: 'evidence-prove', path, cache };
  const seqs = [0, 0.2, 0.4, 0.6, 0.8, 1].map((part) => Math.floor(part * (count - 1)));
  const samples = { first: [], second: [], firstPeak: [], secondPeak: [], verifyPeak: [] };
  for (let round = 0; round < (context.quick ? 1 : 3); round += 1) {
    rmSync(cache, { recursive: true, force: true });
    // A process of its own each: a command proves one record.
    const once = context.startOurs();
    samples.first.push(await once.run({ ...job, seq: seqs[2] }));
    samples.firstPeak.push(await once.run({ job: 'peak-memory' }));
    await once.end();
    const again = context.startOurs();
    for (const seq of seqs) samples.second.push(await again.run({ ...job, seq }));
    samples.secondPeak.push(await again.run({ job: 'peak-memory' }));
    await again.end();
    const verifier = context.startOurs();
    await verifier.run({ job: 'evidence-verify', path, count });
    samples.verifyPeak.push(await verifier.run({ job: 'peak-memory' }));
    await verifier.end();
  }
  const of = count === 1_000_000 ? 'a million' : `${count / 1000}k`;
  const slowest = Math.max(...samples.second);
  return [
    {
      name: `proof from ${of} records, first`,
      ours: `${figure(median(samples.first))} s`,
      target: '< 2 s',
      met: median(samples.first) < 2,
      samples,
    },
    {
      name: `proof from ${of} records, again`,
      ours: `${figure(median(samples.second) * 1000)} ms, slowest ${figure(slowest * 1000)} ms`,
      target: '< 50 ms',
      met: median(samples.second) < 0.05,
    },
    memoryRow('first proof', samples.firstPeak),
    memoryRow('proof again', samples.secondPeak),
    memoryRow('verify with evidence', samples.verifyPeak),
  ];
}

function memoryRow(what, peaks) {
  const megabytes = median(peaks);
  return {
    name: `memory of ${what}`,
    ours: `${figure(megabytes)} MB`,
    target: `≤ ${LIMIT_MB} MB`,
    met: megabytes <= LIMIT_MB,
  };
}
