/**
 * Verifies the file that its argument names, and prints the most memory that this took, in KiB. It stands
 * in for the command where GNU time isn't there.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { verifyFile } from '../dist/store/index.js';

const verdict = await verifyFile(process.argv[2]);
if (!verdict.ok) throw new Error(JSON.stringify(verdict));
// `maxRSS` may be the starting process's own peak (Linux keeps it over exec); VmHWM is this program's.
const status = '/proc/self/status';
const peak = existsSync(status)
  ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]
  : undefined;
console.log(peak ?? process.resourceUsage().maxRSS);
