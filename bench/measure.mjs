/**
 * Contenders and how they are compared: turn by turn, so that a machine that speeds up or slows down
 * meanwhile does it to all of them.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Processes that were started and not ended yet. */
const open = new Set();

/**
 * Starts a process that speaks the protocol of `worker.mjs`. Each job is awaited before the next.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [cwd] where its packages are looked for
 * @returns {{ run: (request: object) => Promise<number>, end: () => Promise<void> }}
 */
export function startWorker(command, args, cwd) {
  const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  open.add(child);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-2000);
  });
  // That it ended is told below; writing to it then fails too.
  child.stdin.on('error', () => undefined);
  let waiting;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('=> ')) return;
    const { seconds, error } = JSON.parse(line.slice(3));
    if (error === undefined) waiting?.resolve(seconds);
    else waiting?.reject(new Error(error));
  });
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(`it ended with code ${code}. ${errors}`));
  });
  let over;
  void ended.then((why) => {
    over = new Error(`${command} ${args.join(' ')}: ${why}`);
    waiting?.reject(over);
  });
  return {
    run(request) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (over !== undefined) reject(over);
        child.stdin.write(`${JSON.stringify(request)}\n`);
      });
    },
    async end() {
      child.stdin.end();
      await ended;
      open.delete(child);
    },
  };
}

/** Ends what a failure has left running. */
export function endWorkers() {
  for (const child of open) child.kill();
  open.clear();
}

/**
 * Measures contenders in turn, in several rounds after one warm-up; every second round goes backwards.
 *
 * @template {string} K
 * @param {number} rounds
 * @param {Record<K, () => Promise<number> | number>} contenders what each gives is one sample
 * @param {{ warmUp?: boolean }} options
 * @returns {Promise<Record<K, number[]>>}
 */
export async function interleave(rounds, contenders, { warmUp = true } = {}) {
  const names = Object.keys(contenders);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  if (warmUp) for (const name of names) await contenders[name]();
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) samples[name].push(await contenders[name]());
  }
  return samples;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * How many times larger `a` is than `b`: the median over the rounds, each taken for itself.
 *
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
export function pairRatio(a, b) {
  return median(a.map((value, round) => value / b[round]));
}
