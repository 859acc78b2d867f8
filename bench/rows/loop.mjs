/**
 * What the loop itself costs a step, against other frameworks' and none at all: one tool call a step, a
 * model and a tool in the same process that answer at once.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, median, pairRatio, startWorker } from '../measure.mjs';
import { PEERS } from '../paths.mjs';
import { figure } from '../table.mjs';

const SIZES = [100, 1000, 3000, 10_000];
const BARE = fileURLToPath(new URL('../loop-bare.mjs', import.meta.url));

/** `most`: the largest size; a step of these costs the more, the more came before it. */
const PEER_LOOPS = [
  { name: 'AI SDK', package: 'ai', script: 'ai-sdk.mjs', most: 3000 },
  { name: 'AI SDK', package: 'ai-6', script: 'ai-sdk.mjs', most: 1000 },
  { name: 'LangChain', package: 'langchain', script: 'langchain.mjs', most: 3000 },
  { name: 'OpenAI Agents', package: '@openai/agents', script: 'openai-agents.mjs', most: 1000 },
];

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function loopRows(context) {
  const peers = findPeers();
  const loops = {
    ours: { worker: context.startOurs(), most: Infinity },
    'bare loop': { worker: startWorker(process.execPath, [BARE]), most: Infinity },
    ...peers.loops,
  };
  const rows = [];
  const perStep = {};
  for (const { worker } of Object.values(loops)) await warmUp(worker, context.quick ? 0.5 : 3);
  for (const steps of SIZES) {
    if (context.quick && steps > 1000) break;
    perStep[steps] = await measure(context, loops, steps);
    rows.push(...sizeRows(steps, perStep[steps]));
  }
  for (const { worker } of Object.values(loops)) await worker.end();
  rows.push(flatRow(perStep));
  if (peers.missing !== undefined) rows[0].note = peers.missing;
  return rows;
}

function findPeers() {
  if (!existsSync(join(PEERS, 'node_modules'))) {
    return {
      loops: {},
      missing: "other frameworks aren't installed; for them: npm ci --prefix bench/peers",
    };
  }
  const loops = {};
  for (const peer of PEER_LOOPS) {
    const worker = startWorker(process.execPath, [join(PEERS, peer.script), peer.package], PEERS);
    loops[`${peer.name} ${versionOf(peer.package)}`] = { worker, most: peer.most };
  }
  return { loops };
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(PEERS, 'node_modules', name, 'package.json'), 'utf8'))
    .version;
}

/** A sample is made of as many runs as take this long: one short run says little. */
const SAMPLE_SECONDS = 0.25;

/** Seconds a step, of every loop that takes this size. */
async function measure(context, loops, steps) {
  const contenders = {};
  for (const [name, { worker, most }] of Object.entries(loops)) {
    if (steps <= most) contenders[name] = () => stepSeconds(worker, steps);
  }
  // The large sizes of the others take long.
  const rounds = context.quick || steps > 1000 ? 3 : 5;
  return interleave(rounds, contenders, { warmUp: false });
}

async function stepSeconds(worker, steps) {
  let seconds = 0;
  let runs = 0;
  for (; seconds < SAMPLE_SECONDS; runs += 1) seconds += await worker.run({ job: 'loop', steps });
  return seconds / runs / steps;
}

/** The same time for each, so that what is measured is the loop and not its compilation. */
async function warmUp(worker, atLeast) {
  for (let seconds = 0; seconds < atLeast;)
    seconds += await worker.run({ job: 'loop', steps: 100 });
}

function sizeRows(steps, samples) {
  const { ours, ...others } = samples;
  const mine = median(ours);
  const name = `loop, ${steps.toLocaleString('en')} steps`;
  const row = { name, ours: microseconds(mine) };
  const rows = Object.entries(others).map(([other, seconds]) => ({
    ...row,
    other: `${other} ${microseconds(median(seconds))}`,
    ratio: pairRatio(seconds, ours),
    samples: { ours, other: seconds },
  }));
  if (steps !== 1000) return rows;
  rows.push({ ...row, name: `${name}, on a quiet machine`, target: '≤ 25 µs', met: mine <= 25e-6 });
  const fastest = rows
    .slice(1, -1)
    .reduce(
      (best, next) => (best === undefined || next.ratio < best.ratio ? next : best),
      undefined,
    );
  if (fastest !== undefined) {
    fastest.target = '≥ 15× (fastest)';
    fastest.met = fastest.ratio >= 15;
  }
  return rows;
}

/** A step must cost the same however many came before it. */
function flatRow(perStep) {
  const sizes = Object.keys(perStep).map(Number);
  const most = Math.max(...sizes);
  const first = median(perStep[100].ours);
  const last = median(perStep[most].ours);
  return {
    name: `loop, flat from 100 to ${most.toLocaleString('en')} steps`,
    ours: `${microseconds(last)} at ${most.toLocaleString('en')}`,
    other: `at 100 ${microseconds(first)}`,
    ratio: first / last,
    target: '≥ 0.67×',
    met: first / last >= 2 / 3,
  };
}

function microseconds(seconds) {
  return `${figure(seconds * 1e6)} µs a step`;
}
