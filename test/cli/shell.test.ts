/**
 * Shell commands: capped output, and process groups that end as a whole.
 *
 * @module
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CappedText } from '../../src/cli/tools/shell.ts';
import { commandsEnded } from '../../src/cli/tools/shell.ts';
import { Root } from '../../src/cli/tools/root.ts';
import { shellTool } from '../../src/cli/tools/shell.ts';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hashtape-shell-')));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function shell(
  command: string,
  seconds?: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const { execute } = shellTool(new Root(folder));
  const args = { command, ...(seconds === undefined ? {} : { timeout_seconds: seconds }) };
  // The loop has checked the arguments against the schema.
  return Promise.resolve(execute(args as never, { signal, callId: 'c', idempotencyKey: 'k' }));
}

/** Waits until a command has written its file. */
async function written(name: string): Promise<string> {
  const path = join(folder, name);
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return readFileSync(path, 'utf8').trim();
}

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    // A zombie whose parent doesn't care is dead too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function dead(pid: string): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('run_command', () => {
  test.each([
    ['printf out; printf err >&2', { exit_code: 0, stdout: 'out', stderr: 'err' }],
    ['exit 7', { exit_code: 7, stdout: '', stderr: '' }],
    ['kill -9 $$', { exit_code: null, signal: 'SIGKILL', stdout: '', stderr: '' }],
    ['cat', { exit_code: 0, stdout: '', stderr: '' }],
    ['no-such-program 2>/dev/null', { exit_code: 127, stdout: '', stderr: '' }],
    ["printf '\\377'", { exit_code: 0, stdout: '\ufffd', stderr: '' }],
  ])('%s', async (command, result) => {
    await expect(shell(command)).resolves.toEqual(result);
  });

  test('starts in the root', async () => {
    await expect(shell('pwd')).resolves.toMatchObject({ stdout: `${folder}\n` });
  });

  test('a time-out ends the whole group, and the result says so', async () => {
    const result = shell('echo begun; sleep 60 & echo $! > pid; wait', 1);
    await expect(result).resolves.toEqual({
      exit_code: null,
      signal: 'SIGTERM',
      timed_out_after_seconds: 1,
      stdout: 'begun\n',
      stderr: '',
    });
    await dead(await written('pid'));
  });

  test('an abort ends the whole group', async () => {
    const controller = new AbortController();
    const result = shell(
      'sh -c "echo \\$\\$ > pid; sleep 60" & wait',
      undefined,
      controller.signal,
    );
    const pid = await written('pid');
    expect(isAlive(pid)).toBe(true);
    controller.abort();
    await expect(result).resolves.toMatchObject({ exit_code: null });
    await commandsEnded();
    await dead(pid);
  });

  test('what ignores SIGTERM is killed', async () => {
    const controller = new AbortController();
    const result = shell(
      'trap "" TERM; echo $$ > pid; while :; do sleep 0.05; done',
      undefined,
      controller.signal,
    );
    const pid = await written('pid');
    controller.abort();
    await expect(result).resolves.toMatchObject({ signal: 'SIGKILL' });
    await dead(pid);
  });

  test('a process left in the background ends with the command', async () => {
    await expect(shell('sleep 60 & echo $! > pid; echo done')).resolves.toMatchObject({
      exit_code: 0,
      stdout: 'done\n',
    });
    await dead(await written('pid'));
  });

  test('… also if it holds no output open', async () => {
    await shell('sleep 60 >/dev/null 2>&1 & echo $! > pid');
    await dead(await written('pid'));
  });

  test('a process that left the group is not waited for', async () => {
    await expect(shell('setsid sleep 3 & echo done')).resolves.toMatchObject({ stdout: 'done\n' });
  });

  test('long output keeps its beginning and its end, and counts the rest', async () => {
    const result = await shell('echo BEGIN; yes 0123456789 | head -c 100000; echo; echo END');
    const { stdout, stdout_bytes_left_out: left } = result as {
      stdout: string;
      stdout_bytes_left_out: number;
    };
    expect(left).toBe(100_000 + 6 + 5 - 32_768);
    expect(stdout).toMatch(/^BEGIN\n/);
    expect(stdout).toContain(`\n[… ${left} bytes left out …]\n`);
    expect(stdout).toMatch(/END\n$/);
  });
});

describe('CappedText', () => {
  test('the same whatever the pieces, and no character is halved', () => {
    const bytes = Buffer.from('é'.repeat(40_000));
    const texts = [7, 4096, 100_000].map((size) => {
      const capped = new CappedText();
      capped.add(Buffer.from('x'));
      for (let at = 0; at < bytes.length; at += size) capped.add(bytes.subarray(at, at + size));
      return capped.text();
    });
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).not.toContain('\ufffd');
  });
});
