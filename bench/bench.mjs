/**
 * The benchmark: `npm run bench -- [options]`. It measures what DESIGN's targets name and prints one table.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endWorkers, startWorker } from './measure.mjs';
import { ROOT } from './paths.mjs';
import { machineLine, tableText } from './table.mjs';

const HELP = `Usage: npm run bench -- [options]

  --only ROWS    comma-separated: verify, memory, append, audit, evidence, loop, ledger,
                 start-up, package, observe
  --quick        smaller sizes and fewer rounds: to see that it works, not to quote
  --big          also verify files of 1 GB, which are made in the temporary folder and removed
  --json FILE    also write the rows, with every sample, to FILE
  --seeds DIR    the founding documents, which hold the Python seed (default ../shared/seeds)
  --help         this text

The files that are written and verified lie in the temporary folder (TMPDIR).
`;

/** Each row's module is loaded when it is asked for, so that one that can't be keeps no other from it. */
const ROWS = {
  verify: async (context) => (await import('./rows/verify.mjs')).verifyRows(context),
  memory: async (context) => (await import('./rows/memory.mjs')).memoryRows(context),
  append: async (context) => (await import('./rows/append.mjs')).appendRows(context),
  audit: async (context) => (await import('./rows/audit.mjs')).auditRows(context),
  evidence: async (context) => (await import('./rows/evidence.mjs')).evidenceRows(context),
  loop: async (context) => (await import('./rows/loop.mjs')).loopRows(context),
  ledger: async (context) => (await import('./rows/ledger.mjs')).ledgerRows(context),
  'start-up': async (context) => (await import('./rows/start-up.mjs')).startUpRows(context),
  package: async (context) => (await import('./rows/package.mjs')).packageRows(context),
  observe: async (context) => (await import('./rows/observe.mjs')).observeRows(context),
};

const options = readOptions();
if (options !== undefined) process.exitCode = await main(options);

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', default: Object.keys(ROWS).join(',') },
        quick: { type: 'boolean', default: false },
        big: { type: 'boolean', default: false },
        json: { type: 'string' },
        seeds: { type: 'string', default: join(ROOT, '../shared/seeds') },
        help: { type: 'boolean', default: false },
      },
    });
    const rows = values.only.split(',');
    const unknown = rows.find((row) => !Object.hasOwn(ROWS, row));
    if (unknown !== undefined) throw new TypeError(`--only: there is no row '${unknown}'`);
    if (!values.help) return { ...values, rows };
    process.stdout.write(HELP);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
  }
  return undefined;
}

async function main({ rows: wanted, quick, big, json, seeds }) {
  if (!existsSync(join(ROOT, 'dist/index.js'))) {
    process.stderr.write('dist/ is missing; build first: npm run build\n');
    return 2;
  }
  const machine = machineLine();
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-bench-'));
  const rows = [];
  let failed = false;
  try {
    const context = await contextFor(folder, { quick, big, seeds });
    for (const name of wanted) {
      process.stderr.write(`measuring ${name} …\n`);
      try {
        rows.push(...(await ROWS[name](context)));
      } catch (error) {
        failed = true;
        rows.push({ name, ours: '–', note: `not measured: ${error.message}` });
        endWorkers();
      }
    }
  } finally {
    endWorkers();
    rmSync(folder, { recursive: true, force: true });
  }
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');
  const date = new Date().toISOString().slice(0, 10);
  process.stdout.write(`${tableText(rows)}\n\n${date}, ${machine}\n${command}\n`);
  if (json !== undefined) {
    writeFileSync(json, `${JSON.stringify({ date, machine, command, rows }, null, 2)}\n`);
  }
  return failed ? 1 : 0;
}

async function contextFor(folder, { quick, big, seeds }) {
  const { findSeed } = await import('./seed.mjs');
  const seed = findSeed(relative(process.cwd(), resolve(seeds)), folder);
  const ours = fileURLToPath(new URL('ours.mjs', import.meta.url));
  return {
    folder,
    quick,
    big,
    seed,
    sha256sum: spawnSync('sha256sum', ['/dev/null']).status === 0,
    startOurs: () => startWorker(process.execPath, [ours]),
    startSeed: () =>
      seed.missing === undefined ? startWorker(seed.command, seed.args) : undefined,
  };
}
