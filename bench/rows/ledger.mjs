/**
 * The repeat ledger over many distinct calls.
 *
 * @module
 */
import { interleave, median } from '../measure.mjs';
import { figure } from '../table.mjs';

const CALLS = 16_000;
const LIMIT_SECONDS = 0.2;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function ledgerRows(context) {
  const ours = context.startOurs();
  const samples = await interleave(context.quick ? 3 : 9, {
    ours: () => ours.run({ job: 'ledger', calls: CALLS }),
  });
  await ours.end();
  const seconds = median(samples.ours);
  return [
    {
      name: `repeat ledger, ${CALLS.toLocaleString('en')} distinct calls`,
      ours: `${seconds.toFixed(3)} s, ${figure((seconds / CALLS) * 1e6)} µs a call`,
      target: `< ${LIMIT_SECONDS} s`,
      met: seconds < LIMIT_SECONDS,
      samples,
    },
  ];
}
