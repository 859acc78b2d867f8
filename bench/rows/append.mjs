/**
 * Appending records, to a file and to memory, against the Python seed's append to a file.
 *
 * @module
 */
import { join } from 'node:path';
import { interleave, median, pairRatio } from '../measure.mjs';
import { payloadFile, SHAPES } from '../records.mjs';
import { figure } from '../table.mjs';

const WAYS = {
  'file, one by one': { file: true, batch: 1, durability: 'never', target: 300_000 },
  'file, by 100': { file: true, batch: 100, durability: 'never', target: 300_000 },
  'file, by 1,000 + fdatasync': {
    file: true,
    batch: 1000,
    durability: 'turn',
    sync: true,
    target: 100_000,
  },
  'memory, one by one': { file: false, batch: 1 },
};

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function appendRows(context) {
  const rows = [];
  for (const shape of Object.keys(SHAPES)) rows.push(...(await ofShape(context, shape)));
  return rows;
}

async function ofShape(context, shape) {
  const count = context.quick ? 20_000 : 100_000;
  const ours = context.startOurs();
  const seed = context.startSeed();
  const contenders = {};
  for (const [name, { file, batch, durability, sync }] of Object.entries(WAYS)) {
    const job = { job: 'append', shape, count, batch, durability, sync };
    if (file) job.path = join(context.folder, `append-${shape}.jsonl`);
    contenders[name] = () => ours.run(job);
  }
  if (seed !== undefined) {
    const { kind } = SHAPES[shape];
    const path = join(context.folder, 'append-seed.jsonl');
    const job = { job: 'append', payloads: payloadFile(context.folder, shape), kind, count, path };
    contenders.seed = () => seed.run(job);
  }
  const samples = await interleave(context.quick ? 3 : 7, contenders);
  await ours.end();
  await seed?.end();
  return Object.entries(WAYS).map(([name, { target }]) =>
    appendRow(`append ${shape}, ${name}`, target, count, samples[name], samples.seed),
  );
}

function appendRow(name, target, count, ours, seed) {
  const rate = count / median(ours);
  return {
    name,
    ours: `${figure(rate)} records/s`,
    ...(seed === undefined
      ? {}
      : { other: `seed ${figure(count / median(seed))}`, ratio: pairRatio(seed, ours) }),
    ...(target === undefined
      ? {}
      : { target: `≥ ${target.toLocaleString('en')}/s`, met: rate >= target }),
    samples: { ours, seed },
  };
}
