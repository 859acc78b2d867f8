/**
 * What a benchmark found, as text.
 *
 * @module
 */
import { cpus, freemem, loadavg, totalmem } from 'node:os';

/**
 * One line of the result.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} ours
 * @property {string} [other] what it is compared with, and its figure
 * @property {number} [ratio] above 1 is better for us, whatever is measured
 * @property {string} [target]
 * @property {boolean} [met]
 * @property {string} [note] why something is missing, or what to know
 * @property {object} [samples] what was measured, unrounded
 */

const COLUMNS = ['name', 'ours', 'other', 'ratio', 'target', 'met?'];

/** @param {readonly Row[]} rows */
export function tableText(rows) {
  const cells = [COLUMNS, ...rows.map(cellsOf)];
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const lines = cells.map((line) => line.map((cell, i) => cell.padEnd(widths[i])).join('  '));
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  const notes = rows.filter((row) => row.note !== undefined);
  if (notes.length > 0) lines.push('', ...notes.map((row) => `${row.name}: ${row.note}`));
  return lines.map((line) => line.trimEnd()).join('\n');
}

function cellsOf(row) {
  const met = row.met === undefined ? '' : row.met ? 'yes' : 'NO';
  const ratio = row.ratio === undefined ? '' : `${figure(row.ratio)}×`;
  return [row.name, row.ours, row.other ?? '', ratio, row.target ?? '', met];
}

/** Three digits, with thousands apart. */
export function figure(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** What the figures hold for. */
export function machineLine() {
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  return `node ${process.version} on ${process.platform} ${process.arch}, ${cpu?.model.trim() ?? 'unknown cpu'}, ${cpus().length} cores, ${gigabytes(totalmem())} GB of memory (${gigabytes(freemem())} free), load ${load.join(' ')}`;
}

function gigabytes(bytes) {
  return (bytes / 2 ** 30).toFixed(0);
}
