/**
 * What `--help` prints, for every command: it fits a terminal of 80 columns.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bareEnv, execute, MAIN } from './script.ts';

/** The commands' names, as the file that knows them has them. */
const main = readFileSync(new URL('../../src/cli/main.ts', import.meta.url), 'utf8');
const names = [...main.matchAll(/import\('\.\/(\w+)\.ts'\)/g)].flatMap(([, name = '']) => [name]);

const SUBCOMMANDS = ['key show', 'key new', 'key rotate', 'heads list', 'heads forget'];

test('every command is looked at', () => {
  expect(names).toEqual(expect.arrayContaining(['run', 'verify', 'show', 'key', 'heads', 'check']));
});

describe.each(['', ...names, ...SUBCOMMANDS])('hashtape %s', (name) => {
  test('its help has no line of more than 80 columns', async () => {
    const args = [MAIN, ...name.split(' ').filter((word) => word !== ''), '--help'];
    const env = bareEnv('/nowhere-at-all');
    const { status, stdout } = await execute(process.execPath, args, { cwd: '.', env });
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});
