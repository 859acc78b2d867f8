/**
 * `hashtape verify` around a run, as its user meets it: without an option, without a network.
 *
 * @module
 */
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bareEnv, execute, MAIN, type Executed } from '../cli/script.ts';
import { scratch } from '../store/helpers.ts';
import { requireBuiltAttest } from './support.ts';

const newPath = scratch();
beforeAll(requireBuiltAttest);

/** A user's home and work. */
interface Desk {
  readonly home: string;
  readonly cwd: string;
  hashtape(...args: readonly string[]): Promise<Executed>;
}

function newDesk(): Desk {
  const home = newPath('home');
  const cwd = join(home, 'work');
  mkdirSync(join(cwd, 'runs'), { recursive: true });
  writeFileSync(join(cwd, 'hello.json'), '{"turns": ["hello"]}');
  const env = bareEnv(home);
  const hashtape = (...args: readonly string[]): Promise<Executed> =>
    execute(process.execPath, [MAIN, ...args], { cwd, env });
  return { home, cwd, hashtape };
}

async function run(desk: Desk, out: string): Promise<void> {
  const args = ['run', '--model', 'scripted:hello.json', '--out', out, 'task'];
  expect(await desk.hashtape(...args)).toMatchObject({ status: 0 });
}

/** What `verify` says of each file: its fault's reason, or `ok`. */
async function verify(desk: Desk, ...args: readonly string[]): Promise<Record<string, string>> {
  const { stdout, status } = await desk.hashtape('verify', '--json', ...args);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const said = Object.fromEntries(
    lines.map(({ file, fault }) => [file, fault?.reason ?? 'ok'] as [string, string]),
  );
  expect(status, stdout).toBe(Object.values(said).every((reason) => reason === 'ok') ? 0 : 1);
  return said;
}

const CATALOG = 'runs/hashtape-catalog.jsonl';

/** What is done to a folder with the runs `a` and `b`, and what a plain verify says of it. */
const CASES: readonly [string, (cwd: string) => void, Record<string, string>][] = [
  ['nothing', () => undefined, { 'runs/a.jsonl': 'ok', 'runs/b.jsonl': 'ok', [CATALOG]: 'ok' }],
  [
    'a run is cut',
    (cwd) => {
      const path = join(cwd, 'runs/a.jsonl');
      const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
      writeFileSync(path, lines.slice(0, 1).join(''));
    },
    { 'runs/a.jsonl': 'rolled_back', 'runs/b.jsonl': 'ok', [CATALOG]: 'ok' },
  ],
  [
    'a run is deleted, with its checkpoints',
    (cwd) => {
      rmSync(join(cwd, 'runs/a.jsonl'));
      rmSync(join(cwd, 'runs/a.jsonl.checkpoint'));
    },
    { 'runs/a.jsonl': 'missing', 'runs/b.jsonl': 'ok', [CATALOG]: 'ok' },
  ],
  [
    'a run has another name',
    (cwd) => renameSync(join(cwd, 'runs/a.jsonl'), join(cwd, 'runs/c.jsonl')),
    { 'runs/b.jsonl': 'ok', 'runs/c.jsonl': 'ok', [CATALOG]: 'ok' },
  ],
  [
    'one run is put over another',
    (cwd) => copyFileSync(join(cwd, 'runs/b.jsonl'), join(cwd, 'runs/a.jsonl')),
    { 'runs/a.jsonl': 'root_mismatch', 'runs/b.jsonl': 'ok', [CATALOG]: 'ok' },
  ],
  [
    'all checkpoints are deleted',
    (cwd) => {
      for (const name of ['a.jsonl', 'b.jsonl', 'hashtape-catalog.jsonl'])
        rmSync(join(cwd, 'runs', `${name}.checkpoint`));
    },
    { 'runs/a.jsonl': 'ok', 'runs/b.jsonl': 'ok', [CATALOG]: 'ok' },
  ],
  [
    'the catalogue is deleted',
    (cwd) => rmSync(join(cwd, CATALOG)),
    { 'runs/a.jsonl': 'ok', 'runs/b.jsonl': 'ok', [CATALOG]: 'missing' },
  ],
];

describe('a folder of two runs', () => {
  test.each(CASES)('%s', async (_, act, expected) => {
    const desk = newDesk();
    await run(desk, 'runs/a.jsonl');
    await run(desk, 'runs/b.jsonl');
    act(desk.cwd);
    expect(await verify(desk, 'runs')).toEqual(expected);
  });

  test('cut, rewritten and with its sidecars deleted, before its user’s memory is deleted too', async () => {
    const desk = newDesk();
    await run(desk, 'runs/a.jsonl');
    const path = join(desk.cwd, 'runs/a.jsonl');
    const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
    writeFileSync(path, lines.slice(0, 1).join(''));
    for (const sidecar of ['runs/a.jsonl.checkpoint', CATALOG, `${CATALOG}.checkpoint`])
      rmSync(join(desk.cwd, sidecar));
    expect(await verify(desk, '--allow-open', 'runs/a.jsonl')).toEqual({
      'runs/a.jsonl': 'rolled_back',
    });
    // What is needed to hide it: everything that anybody has seen.
    rmSync(join(desk.home, '.local'), { recursive: true });
    expect(await verify(desk, '--allow-open', 'runs/a.jsonl')).toEqual({ 'runs/a.jsonl': 'ok' });
  });

  test('a copy elsewhere is recognised, and needs no more than it', async () => {
    const desk = newDesk();
    await run(desk, 'runs/a.jsonl');
    mkdirSync(join(desk.cwd, 'else'));
    copyFileSync(join(desk.cwd, 'runs/a.jsonl'), join(desk.cwd, 'else/copy.jsonl'));
    const { status } = await desk.hashtape('verify', '--require', 'remembered', 'else/copy.jsonl');
    expect(status).toBe(0);
    const signed = await desk.hashtape('verify', '--require', 'signed', 'else/copy.jsonl');
    expect(signed.status).toBe(1);
  });

  test('begun again where a run was deleted', async () => {
    const desk = newDesk();
    for (let i = 0; i < 2; i += 1) {
      await run(desk, 'runs/a.jsonl');
      expect(await verify(desk, 'runs')).toEqual({ 'runs/a.jsonl': 'ok', [CATALOG]: 'ok' });
      rmSync(join(desk.cwd, 'runs/a.jsonl'));
    }
  });

  test('a broken catalogue ends no run, and is said', async () => {
    const desk = newDesk();
    writeFileSync(join(desk.cwd, CATALOG), 'hello\nworld\n');
    const args = ['run', '--model', 'scripted:hello.json', '--out', 'runs/a.jsonl', 'task'];
    const { status, stderr } = await desk.hashtape(...args);
    expect(status).toBe(0);
    expect(stderr).toContain('not in the catalogue of its folder: ');
    expect(dirname(CATALOG)).toBe('runs');
  });

  test('a home that can’t be written ends no run, and is said', async () => {
    const desk = newDesk();
    writeFileSync(join(desk.home, '.local'), '');
    writeFileSync(join(desk.home, '.config'), '');
    const args = ['run', '--model', 'scripted:hello.json', '--out', 'runs/a.jsonl', 'task'];
    const { status, stderr } = await desk.hashtape(...args);
    expect(status).toBe(0);
    expect(stderr).toContain('not signed: ');
    expect(stderr).toContain('its head is not remembered: ');
    expect(await verify(desk, 'runs')).toEqual({ 'runs/a.jsonl': 'ok', [CATALOG]: 'ok' });
  });
});
