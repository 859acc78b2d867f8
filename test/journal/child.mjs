/**
 * A process that carries the run of `task.mjs`, in a new transcript or one that is there, and kills itself with
 * SIGKILL at one of the operations that it counts: calls of the file system, of the model and of the tools.
 *
 * The argument is JSON: `path`; `effects`; `at`, how the operation's name begins; `nth` of those, from 1; `bytes`,
 * the share of a write's that is written first; `power`, whether what was not yet synced is lost as well; `redact`,
 * what is taken out of the record. It
 * prints the outcome and the names of its operations in order.
 *
 * @module
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { run } from '../../dist/run/run.js';
import { nodeFileSystem } from '../../dist/store/filesystem.js';
import { taskWith } from './task.mjs';

const {
  path,
  effects,
  at = '',
  bytes = 0,
  power = false,
  redact,
  ...given
} = JSON.parse(process.argv[2]);
const { nth = at === '' ? Infinity : 1 } = given;
const { truncateSync, statSync } = fs;
const names = [];
let count = 0;
/** How much of the transcript is on the disk for certain. */
let durable = statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Counts an operation that is about to happen; dies before it if it is the one. */
function operation(name, before = () => undefined) {
  names.push(name);
  if (!name.startsWith(at)) return;
  count += 1;
  if (count < nth) return;
  before();
  if (power && fs.existsSync(path)) truncateSync(path, Math.min(durable, statSync(path).size));
  process.kill(process.pid, 'SIGKILL');
}

watchFiles();
watchLocks();
const outcome = await run({
  ...taskWith(effects, operation),
  transcript: path,
  resume: true,
  redact,
});
process.stdout.write(JSON.stringify({ outcome, names }));

/** Transcripts, and what stands beside them. */
function watchFiles() {
  const real = { ...nodeFileSystem };
  nodeFileSystem.syncDirectory = (folder) => {
    operation('sync of a folder');
    return real.syncDirectory(folder);
  };
  nodeFileSystem.open = async (name, ...how) => {
    const beside = /\.torn-\d+$/.test(name) ? 'a torn tail' : null;
    const what = name.endsWith('.open') ? 'disclosures' : beside;
    operation(what === null ? 'open' : `open of ${what}`);
    return watched(await real.open(name, ...how), what);
  };
}

/** @param beside what the file is, if it isn't the transcript. */
function watched(file, beside) {
  const what = beside ?? 'the transcript';
  return {
    read: (...how) => file.read(...how),
    stat: () => file.stat(),
    close: () => file.close(),
    write(all, from) {
      const kind = /"kind":"(\w+)"/.exec(Buffer.from(all).toString('latin1'))?.[1];
      operation(`write of ${beside ?? kind}`, () => {
        // A part of them, as when a process dies in the middle of write(2).
        const end = from + Math.floor((all.length - from) * bytes);
        if (end > from) file.write(all.subarray(from, end), 0);
      });
      return file.write(all, from);
    },
    truncate(size) {
      operation(`truncation of ${what}`);
      file.truncate(size);
      if (beside === null) durable = Math.min(durable, size);
    },
    async datasync() {
      operation(`sync of ${what}`);
      const { size } = file.stat();
      await file.datasync();
      if (beside === null) durable = size;
    },
  };
}

/** Locks are written with node:fs itself. */
function watchLocks() {
  for (const name of ['openSync', 'writeFileSync', 'linkSync', 'unlinkSync']) {
    const real = fs[name];
    fs[name] = (...how) => {
      const isLock = how.some((part) => typeof part === 'string' && part.includes('.lock'));
      if (isLock || typeof how[0] === 'number') operation(`lock: ${name}`);
      return real(...how);
    };
  }
  syncBuiltinESMExports();
}
