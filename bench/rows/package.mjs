/**
 * What an installation brings: packages and bytes.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.mjs';
import { figure } from '../table.mjs';

const FEW_PACKAGES = 12;
const FEW_MEGABYTES = 5;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function packageRows(context) {
  const folder = join(context.folder, 'install');
  mkdirSync(folder, { recursive: true });
  // Without its scripts: one of them builds anew, and the other rows are measured on this build.
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const omit = ['--omit=dev', '--omit=optional', '--omit=peer', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...omit, join(folder, packed.filename)], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).filter((path) => path !== '').length;
  const installed = bytesBelow(join(folder, 'node_modules')) / 1e6;
  return [
    {
      name: 'package, installed',
      ours: `${packages} packages, ${figure(installed)} MB`,
      target: `≤ ${FEW_PACKAGES}, ≤ ${FEW_MEGABYTES} MB`,
      met: packages <= FEW_PACKAGES && installed <= FEW_MEGABYTES,
    },
    {
      name: 'package, tarball',
      ours: `${figure(packed.size / 1e3)} kB, ${packed.entryCount} files, unpacked ${figure(packed.unpackedSize / 1e3)} kB`,
    },
  ];
}

function bytesBelow(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath ?? entry.path, entry.name)).size;
  }
  return bytes;
}
