/**
 * What only a live process shows: signals, closed pipes, and a pseudo-terminal (made by util-linux `script`).
 *
 * @module
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyTranscript } from '../../src/transcript/index.ts';
import { bareEnv, MAIN } from './script.ts';

const hasScript = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '',
);
const onTerminal = describe.skipIf(!hasScript);
const why = hasScript ? '' : ' (skipped: there is no util-linux `script` here)';

let folder: string;
let child: Running | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hashtape-terminal-'));
  writeFileSync(join(folder, 'tools.mjs'), TOOLS);
});

afterEach(() => {
  child?.process.kill('SIGKILL');
  child = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const TOOLS = `export default [
  {
    name: 'hang',
    description: '',
    input: { type: 'object' },
    execute: () => new Promise(() => setInterval(() => undefined, 1000)),
  },
  { name: 'press', description: '', input: { type: 'object' }, execute: () => 'pressed' },
];`;

const script = (...turns: unknown[]): string => {
  writeFileSync(join(folder, 's.json'), JSON.stringify({ turns }));
  return 'scripted:s.json';
};
const call = (name: string, args: object = {}): object => ({
  content: '',
  tool_calls: [{ name, arguments: args }],
});

/** A process, what it printed so far, and waiting for more of it. */
class Running {
  readonly process: ChildProcess;
  stdout = '';
  stderr = '';
  over = false;
  readonly ended: Promise<number | string>;
  #changed: () => void = () => undefined;

  constructor(program: string, args: readonly string[], env: Record<string, string> = {}) {
    this.process = spawn(program, args, { cwd: folder, env: { ...bareEnv(folder), ...env } });
    for (const name of ['stdout', 'stderr'] as const) {
      this.process[name]!.setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
        this.#changed();
      });
    }
    this.ended = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        this.over = true;
        resolve(code ?? signal ?? '');
        this.#changed();
      });
    });
  }

  /** Resolves when a text was printed; fails if the process ends without it. */
  async printed(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.stdout + this.stderr)) {
      if (this.over) throw new Error(`${pattern} was not in:\n${this.stdout}\n${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

const run = (...args: string[]): Running =>
  (child = new Running(process.execPath, [MAIN, 'run', ...args, '--out', 'a.jsonl', 'task']));

/** In a pseudo-terminal, where stdout and stderr are one. */
function onPty(args: readonly string[], env: Record<string, string> = {}): Running {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
  const options = ['--quiet', '--return', '--flush', '--command', `stty cols 70; exec ${command}`];
  return (child = new Running('script', [...options, '/dev/null'], {
    TERM: 'xterm',
    SHELL: '/bin/sh',
    ...env,
  }));
}

const asking = (model: string): string[] => [
  'run',
  '--model',
  model,
  '--tools',
  'tools.mjs',
  '--ask',
  '-o',
  'a.jsonl',
  'x',
];

const transcript = (): string => readFileSync(join(folder, 'a.jsonl'), 'utf8');

describe('signals', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s seals the transcript with aborted',
    async (name) => {
      const running = run('--model', script(call('hang')), '--tools', 'tools.mjs');
      await running.printed(/→ hang/);
      running.process.kill(name);
      await expect(running.ended).resolves.toBe(1);
      expect(running.stderr).toContain(`${name}: ending the run and sealing its transcript`);
      expect(running.stderr).toMatch(/^stopped +it was aborted \(aborted\)$/m);
      expect(running.stderr).toMatch(/^check it +npx hashtape verify a\.jsonl$/m);
      expect(verifyTranscript(transcript())).toMatchObject({ ok: true, sealed: true });
      expect(transcript()).toContain('"reason":"aborted"');
    },
  );

  test('also while the model answers, and when quiet', async () => {
    const running = run('--model', script({ content: 'late', delay: 60_000 }), '--json');
    await running.printed(/step 1/);
    running.process.kill('SIGINT');
    await expect(running.ended).resolves.toBe(1);
    expect(JSON.parse(running.stdout)).toMatchObject({ reason: 'aborted', check: null });
  });

  test('the second leaves at once with 130, and kills what runs', async () => {
    // The check ignores SIGTERM, so the run is still at its end when the second signal comes.
    const check = 'trap "" TERM; echo $$ > pid; echo up >&2; while :; do sleep 0.05; done';
    const running = run('--model', script('done'), '--check', check);
    await running.printed(/step 1/);
    const pid = await fileText(running, 'pid');
    running.process.kill('SIGINT');
    await running.printed(/again to leave at once/);
    running.process.kill('SIGINT');
    await expect(running.ended).resolves.toBe(130);
    await gone(pid);
  });

  test('a shell command ends with the run', async () => {
    const command = 'echo $$ > pid; sleep 60 & wait';
    const running = run('--model', script(call('run_command', { command })), '--with', 'shell');
    const pid = await fileText(running, 'pid');
    running.process.kill('SIGINT');
    await expect(running.ended).resolves.toBe(1);
    await gone(pid);
    expect(transcript()).toContain('"failure":"abandoned"');
  });
});

describe('a reader that goes away', () => {
  test('stdout closed: quiet, and the exit status is still the verdict', async () => {
    writeFileSync(join(folder, 'bad.jsonl'), '{}\n');
    const command = `'${process.execPath}' '${MAIN}' verify bad.jsonl ghost.jsonl bad.jsonl; echo $? >&2`;
    const running = new Running('sh', ['-c', `{ ${command}; } | true`]);
    await running.ended;
    expect(running.stderr).toBe('2\n');
  });

  test('a run goes on to its end and its seal', async () => {
    const model = script(call('press'), { content: 'a' }, 'b');
    const command = `'${process.execPath}' '${MAIN}' run --model ${model} --tools tools.mjs --out a.jsonl x; echo $? >&2`;
    const running = new Running('sh', ['-c', `{ ${command}; } | true`]);
    await running.ended;
    expect(running.stderr).toMatch(/\n0\n$/);
    expect(verifyTranscript(transcript())).toMatchObject({ ok: true, sealed: true });
  });
});

onTerminal(`on a terminal${why}`, () => {
  test('a status line, erased in the end; streamed text and colours', async () => {
    const model = script(
      { content: 'Looking.', tool_calls: [{ name: 'press', arguments: {} }], delay: 300 },
      { content: 'Done.', delay: 300 },
    );
    const running = onPty([
      'run',
      '--model',
      model,
      '--tools',
      'tools.mjs',
      '--max-steps',
      '4',
      '-o',
      'a.jsonl',
      'x',
    ]);
    await expect(running.ended).resolves.toBe(0);
    const { stdout } = running;
    expect(stdout).toMatch(
      /step 1\/4 · waiting for the model · \d+\.\d s · tokens 0 · tool calls 0/,
    );
    expect(stdout).toContain('\r\u001b[2KLooking.\r\n');
    expect(stdout).toContain('\u001b[32mok\u001b[39m');
    expect(screen(stdout)).toEqual([
      'model scripted:s.json, transcript a.jsonl',
      'Looking.',
      '  → press {}',
      '  ✓ press {} ok pressed',
      'Done.',
      '',
      'stopped   the model asked for no more tools (no_tool_calls)',
      'claimed   Done.',
      'verified  not checked (there was no --check)',
      expect.stringMatching(/^spent +2 steps, 1 tool call, \d+ tokens/),
      'record    a.jsonl, 5 records, sealed',
      expect.stringMatching(/^head +[0-9a-f]{64}$/),
      'check it  npx hashtape verify a.jsonl',
      expect.stringMatching(
        /^evidence  hashtape\/[0-9a-f]{64} 5 [0-9a-f]{64} signed by hashtape-[0-9a-f]{8}\+[0-9a-f]{8}$/,
      ),
      '',
    ]);
  });

  test('sentences of verify break between words, below the words, and digests stay whole', async () => {
    const made = run('--model', script('done'));
    await expect(made.ended).resolves.toBe(0);
    const path = join(folder, 'a.jsonl');
    writeFileSync(path, transcript().split(/^/m).slice(0, -1).join(''));
    const running = onPty(['verify', 'a.jsonl', '--allow-open'], { NO_COLOR: '1' });
    await expect(running.ended).resolves.toBe(1);
    const lines = running.stdout.split('\r\n');
    expect(lines.filter((line) => line.length > 70)).toEqual([]);
    expect(lines.slice(0, 3)).toEqual([
      'FAULT  a.jsonl  at the end, after record 1: rolled_back: by this',
      "       machine's memory of heads it had 3 records when it was written",
      expect.stringMatching(/^       here at 20[-\d]+ [:\d]+ UTC, and it has 2$/),
    ]);
    // Not on a terminal: one line a fact.
    const piped = new Running(process.execPath, [MAIN, 'verify', 'a.jsonl', '--allow-open']);
    await piped.ended;
    expect(piped.stdout).toMatch(
      /^FAULT .* and it has 2\n {7}Records that were there .*\n {7}signed /,
    );
  });

  test('a status line that is too long loses whole parts, and never wraps', async () => {
    const name = 'press_'.repeat(8);
    writeFileSync(
      join(folder, 'tools.mjs'),
      `export default { name: '${name}', description: '', input: { type: 'object' }, execute: () => new Promise((r) => setTimeout(r, 300)) };`,
    );
    const running = onPty([
      'run',
      '--model',
      script(call(name), 'x'),
      '--tools',
      'tools.mjs',
      '-o',
      'a.jsonl',
      'x',
    ]);
    await running.ended;
    const lines = running.stdout.match(/step \d[^\u001b\r]*/g) ?? [];
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThan(70);
    expect(running.stdout).toContain(`step 1/50 · running ${name}\u001b`);
  });

  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }, /\u001b\[\d+m/],
    ['TERM=dumb', { TERM: 'dumb' }, /\u001b/],
  ])('%s is respected', async (_name, env, never) => {
    const running = onPty(['run', '--model', script('hi'), '-o', 'a.jsonl', 'x'], env);
    await expect(running.ended).resolves.toBe(0);
    expect(running.stdout).not.toMatch(never);
    expect(running.stdout).toContain('no_tool_calls');
  });

  test('hostile text is shown, not obeyed', async () => {
    const running = onPty([
      'run',
      '--model',
      script('\u001b[2J\u202e\u009b1A\rx'),
      '-o',
      'a.jsonl',
      'x',
    ]);
    await running.ended;
    expect(running.stdout).toContain(String.raw`\u001b[2J\u202e\u009b1A\rx`);
    expect(running.stdout).not.toMatch(/\u001b\[2J|\u202e|\u009b/);
    const shown = onPty(['show', 'a.jsonl']);
    await shown.ended;
    expect(shown.stdout).not.toMatch(/\u001b\[2J|\u202e|\u009b/);
  });

  test.each([
    ['y', 'pressed', 'allow'],
    ['n', 'denied: the user said no', 'deny'],
    ['', 'denied: the user said no', 'deny'],
  ])('--ask answered %j', async (answer, result, decision) => {
    const running = onPty([
      'run',
      '--model',
      script(call('press'), 'x'),
      '--tools',
      'tools.mjs',
      '--ask',
      '-o',
      'a.jsonl',
      'x',
    ]);
    await running.printed(/May press run\?\r\n {2}\{\}\r\n.*a always for this tool: $/);
    running.process.stdin!.write(`${answer}\n`);
    await running.ended;
    expect(running.stdout).toContain(result);
    expect(transcript()).toContain(`"permit":{"asked":true,"decision":"${decision}"`);
  });

  test('--ask: anything else is asked again, and the end of the input is a no', async () => {
    const running = onPty(asking(script(call('press'), 'x')));
    await running.printed(/for this tool: $/);
    running.process.stdin!.write('yess\n');
    await running.printed(/That is none of the answers\.\r\n.*for this tool: $/);
    expect(running.stdout.match(/May press run/g)).toHaveLength(1);
    running.process.stdin!.write('\u0004');
    await expect(running.ended).resolves.toBe(0);
    expect(running.stdout).toContain('denied: the user said no');
  });

  test.each([
    ['differs', '1', /^\{"a":"1","b":"\\u202e"\}$/, /^\{"a":"1","b":"2"\}$/],
    // Of the same length, so that only the part that is cut tells them apart.
    ['differs behind the cut', 'x'.repeat(5000), /x… \(1,016 more/, /x… \(1,016 more/],
  ])('--ask shows what the tool gets, and what the model wrote: it %s', async (_, a, got, said) => {
    writeFileSync(
      join(folder, 'tools.mjs'),
      `const change = (value) => ({ value: { ...value, b: '\\u202e' } });
      const standard = { version: 1, vendor: 'x', validate: change, jsonSchema: { input: () => ({ type: 'object' }) } };
      export default { name: 'press', description: '', input: { '~standard': standard }, execute: () => 'pressed' };`,
    );
    const running = onPty(asking(script(call('press', { a, b: '2' }), 'x')));
    await running.printed(/for this tool: $/);
    const [, gets, wrote] =
      /run\?\r\n  (.*)\r\n  \(the model wrote (.*)\)\r\n/.exec(running.stdout) ?? [];
    expect(gets).toMatch(got);
    expect(wrote).toMatch(said);
    running.process.stdin!.write('y\n');
    await expect(running.ended).resolves.toBe(0);
  });

  test('a line typed while a status is shown leaves nothing of it on the screen', async () => {
    const running = onPty(asking(script({ content: 'late', delay: 500 })));
    await running.printed(/waiting for the model/);
    running.process.stdin!.write('y\n');
    await running.ended;
    expect(running.stdout).toMatch(/y\r\n(\r\u001b\[2K[^\r]*)*\r\u001b\[2K\u001b\[1A\r\u001b\[2K/);
  });

  test('--ask: always asks once a tool; keys pressed before a question answer nothing', async () => {
    const model = script(
      { content: 'wait', tool_calls: call('press')['tool_calls' as never], delay: 500 },
      call('press'),
      'x',
    );
    const running = onPty(asking(model));
    await running.printed(/waiting for the model/);
    running.process.stdin!.write('y\n');
    await running.printed(/for this tool: $/);
    running.process.stdin!.write('a\n');
    await expect(running.ended).resolves.toBe(0);
    expect(running.stdout.match(/May press run/g)).toHaveLength(1);
    expect(running.stdout.match(/press .*pressed/g)).toHaveLength(2);
  });

  test('--ask: Ctrl-C at the question aborts', async () => {
    const running = onPty([
      'run',
      '--model',
      script(call('press'), 'x'),
      '--tools',
      'tools.mjs',
      '--ask',
      '-o',
      'a.jsonl',
      'x',
    ]);
    await running.printed(/for this tool: $/);
    running.process.stdin!.write('\u0003');
    await expect(running.ended).resolves.toBe(1);
    expect(verifyTranscript(transcript())).toMatchObject({ ok: true, sealed: true });
    expect(transcript()).toContain('"reason":"aborted"');
  });
});

/** What a screen shows in the end: erased lines are gone, colours too. */
function screen(output: string): string[] {
  return output.split('\r\n').map((line) => {
    const shown = line.split('\r\u001b[2K').at(-1) ?? '';
    return shown.replaceAll(/\u001b\[\d+m/g, '');
  });
}

/** The text of a file, as soon as there is some; fails if the process ends without it. */
async function fileText(running: Running, name: string): Promise<string> {
  while (!running.over) {
    try {
      const text = readFileSync(join(folder, name), 'utf8').trim();
      if (text !== '') return text;
    } catch {
      // It isn't there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it wrote no ${name}:\n${running.stderr}`);
}

/** Resolves when a process is gone. */
async function gone(pid: string): Promise<void> {
  for (;;) {
    try {
      process.kill(Number(pid), 0);
      if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
