/**
 * Files that change, pipes, folders of odd things, and results that can't be written.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Io, type Output } from '../../src/cli/io.ts';
import { register } from '../../src/cli/show.ts';
import { advance, EMPTY_HEAD, encodeRecord } from '../../src/transcript/index.ts';
import { bareEnv, execute, MAIN, type Executed } from './script.ts';

const VALID = new URL('../testdata/seeds/transcript_valid.jsonl', import.meta.url);
const AUDIT_ENTRY =
  '{"action":"","at":"","digest":"","goal":"","index":0,"kind":"step","ok":true,"outcome":"","prev":"","screen":""}\n';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hashtape-reading-'));
  cpSync(VALID, join(folder, 'a.jsonl'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a shell command in which `hashtape` is the built command. */
function shell(command: string): Promise<Executed> {
  const definition = `hashtape() { '${process.execPath}' '${MAIN}' "$@"; }`;
  return execute('sh', ['-c', `${definition}; ${command}`], { cwd: folder, env: bareEnv(folder) });
}

const style = (_look: string, text: string): string => text;

test('what is shown is what was verified, also where the file is changed meanwhile', async () => {
  const file = join(folder, 'long.jsonl');
  const first = encodeRecord(EMPTY_HEAD, { kind: 'note', payload: {} });
  // Longer than what is read at once, so that the last is read after the first was shown.
  const filler = { kind: 'note', payload: { filler: 'x'.repeat(1_500_000) } };
  const second = encodeRecord(advance(first), filler);
  const last = encodeRecord(advance(second), { kind: 'final', payload: { a: 'true' } });
  const written = first.text + second.text + last.text;
  writeFileSync(file, written);
  let shown = '';
  const write = (text: string): void => {
    if (shown === '') writeFileSync(file, written.replace('true', 'fake'));
    shown += text;
  };
  // What `show` uses of an output.
  const out = { style, write, line: (text = '') => write(`${text}\n`) } as unknown as Output;
  let status: number | undefined;
  const command = new Command();
  register(
    command,
    { out, err: out, env: { HOME: folder } } as unknown as Io,
    (given) => (status = given),
  );
  await command.parseAsync([file], { from: 'user' });
  expect(status).toBe(1);
  expect(shown).toMatch(/^#0 note\n/);
  expect(shown).not.toMatch(/fake|intact/);
  expect(shown).toMatch(/^FAULT {2}record 2 \(line 3\): hash_mismatch/m);
});

describe('a pipe', () => {
  test('is shown and verified as a file is', async () => {
    const [file, pipe] = await Promise.all([
      shell('hashtape show a.jsonl'),
      shell('cat a.jsonl | hashtape show /dev/stdin'),
    ]);
    expect(file.stdout).toMatch(/^intact 4 records, sealed$/m);
    // Nothing is remembered of a pipe, so nothing is said of that.
    const bare = file.stdout.replace(/^ {7}note {7}not remembered: .*\n/m, '');
    expect(pipe).toEqual({ ...file, stdout: bare });
  });

  test('in pieces, up to a fault', async () => {
    const { status, stdout } = await shell(
      '{ head -c 100 a.jsonl; sleep 0.1; tail -c +101 a.jsonl; echo; } | hashtape show /dev/stdin',
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(/^#3 final$/m);
    expect(stdout).toMatch(/^FAULT {2}record 4 \(line 5\): not_canonical/m);
  });

  test('with an audit log is known by its first line, as a file is', async () => {
    writeFileSync(join(folder, 'audit'), AUDIT_ENTRY);
    const { status, stdout } = await shell(
      '{ head -c 9 audit; sleep 0.1; tail -c +10 audit; } | hashtape verify --json /dev/stdin',
    );
    expect(status).toBe(1);
    // It is one in shape alone: its digest is not that of what it says.
    expect(JSON.parse(stdout)).toMatchObject({ file: '/dev/stdin', log: 'audit', ok: false });
  });
});

test('an audit entry that is put into an edited transcript does not take it out of the grading', async () => {
  const edited = '{"hash":"00","kind":"user","payload":{},"prev":"00","seq":0}\n';
  writeFileSync(join(folder, 'a.jsonl'), edited + AUDIT_ENTRY);
  const { status, stdout } = await shell('hashtape verify a.jsonl');
  expect(status).toBe(1);
  expect(stdout).toMatch(/^FAULT {2}a\.jsonl {2}record 0 \(line 1\): malformed_record/);
});

describe('a folder', () => {
  test('regular files and links to them are taken, whatever else is called *.jsonl', async () => {
    mkdirSync(join(folder, 'sub'));
    expect(spawnSync('mkfifo', [join(folder, 'sub', 'pipe.jsonl')]).status).toBe(0);
    symlinkSync('pipe.jsonl', join(folder, 'sub', 'to-pipe.jsonl'));
    symlinkSync('/dev/zero', join(folder, 'sub', 'zero.jsonl'));
    symlinkSync('..', join(folder, 'sub', 'up.jsonl'));
    symlinkSync('../a.jsonl', join(folder, 'sub', 'to-file.jsonl'));
    const { status, stdout } = await shell('hashtape verify --json .');
    expect(status).toBe(0);
    const files = stdout.trim().split('\n');
    expect(files.map((line) => (JSON.parse(line) as { file: string }).file)).toEqual([
      'a.jsonl',
      'sub/to-file.jsonl',
    ]);
  });

  // Where names must be UTF-8 (macOS) there is no such folder to be made.
  test.skipIf(process.platform !== 'linux')(
    'names that are not UTF-8 are ungraded, and the other files are graded (only on Linux)',
    async () => {
      const odd = Buffer.concat([Buffer.from(`${folder}/b`), Buffer.of(0xff)]);
      mkdirSync(odd);
      writeFileSync(Buffer.concat([odd, Buffer.from('.jsonl')]), '');
      const { status, stdout } = await shell('hashtape verify .');
      expect(status).toBe(2);
      const why = 'not graded: there is no such file; rename it: its name is not UTF-8';
      expect(stdout.match(/^(ok|\?) .*/gm)).toEqual([
        'ok     a.jsonl  4 records, sealed',
        `?      b\ufffd  ${why}`,
        `?      b\ufffd.jsonl  ${why}`,
      ]);
    },
  );

  test.skipIf(process.getuid?.() === 0)(
    'what you may not read is ungraded, and the other files are graded (skipped: root may read all)',
    async () => {
      mkdirSync(join(folder, 'closed'));
      chmodSync(join(folder, 'closed'), 0);
      writeFileSync(join(folder, 'secret.jsonl'), '', { mode: 0 });
      const { status, stdout } = await shell('hashtape verify .');
      expect(status).toBe(2);
      expect(stdout.match(/^(ok|\?) .*/gm)).toEqual([
        'ok     a.jsonl  4 records, sealed',
        '?      closed  not graded: you may not read it',
        '?      secret.jsonl  not graded: you may not read it',
      ]);
    },
  );
});

test.skipIf(!existsSync('/dev/full'))(
  'a result that could not be written is no success (skipped where there is no /dev/full)',
  async () => {
    for (const command of ['verify a.jsonl', 'show a.jsonl', '--version']) {
      const { status, stderr } = await shell(`hashtape ${command} >/dev/full`);
      expect(status, command).toBe(2);
      expect(stderr, command).toMatch(/^hashtape: could not write the result: ENOSPC.*\n$/);
    }
  },
);
