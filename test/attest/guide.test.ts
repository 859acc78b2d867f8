/**
 * The programs and commands in docs/evidence.md and docs/redaction.md, as they stand there.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hashtape-guide-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/hashtape'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The blocks of a guide in a language. */
function blocks(guide: string, language: string): string[] {
  const text = readFileSync(join(root, 'docs', guide), 'utf8');
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(fence)].map(([, block = '']) => block);
}

/** What a command of ours prints, however it ends. */
function inShell(command: string): string {
  const ours = `${process.execPath} ${root}dist/cli/main.js`;
  return execute(
    'bash',
    '-c',
    `${command.trim().replaceAll(/^(?:npx )?hashtape/gm, ours)} 2>&1 || true`,
  );
}

function execute(program: string, ...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  return execFileSync(program, args, { cwd: folder, env, stdio: 'pipe' }).toString();
}

test('evidence: it signs and remembers a run, and examines it; and again', () => {
  const [program = ''] = blocks('evidence.md', 'js');
  writeFileSync(join(folder, 'mine.mjs'), program);
  for (const time of ['once', 'again']) {
    expect(JSON.parse(execute(process.execPath, 'mine.mjs')), time).toMatchObject({
      ok: true,
      coverage: [
        { by: 'signed', records: 3 },
        { by: 'remembered', records: 3, as: 'written' },
      ],
    });
  }
  expect(existsSync(join(folder, 'runs/mine.jsonl.checkpoint'))).toBe(true);
});

/** Without what differs between any two runs; a hash that is cut short in the guide is any hash. */
function alike(printed: string): string {
  return printed
    .replaceAll(/hashtape-[0-9a-f]{8}\+[0-9a-f]{8}/g, 'KEY')
    .replaceAll(/\b[0-9a-f]{12}(?:…|[0-9a-f]{52}\b)/g, 'HASH')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(`${folder}/`, '/home/me/');
}

test('evidence: the commands print what it shows', () => {
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  const [session = '', afterwards = ''] = blocks('evidence.md', '');
  const [, ...shown] = `${session}${afterwards}`.split(/^\$ hashtape /m);
  expect(shown.length).toBe(3);
  for (const [i, block] of shown.entries()) {
    const path = join(folder, 'runs/a.jsonl');
    // What the guide says is done before the last.
    if (i === 2) writeFileSync(path, readFileSync(path, 'utf8').replace(/[^\n]*\n$/, ''));
    const [command = '', ...lines] = block.split('\n');
    const printed = alike(inShell(`hashtape ${command}`));
    for (const part of alike(lines.join('\n')).split('…\n')) expect(printed).toContain(part.trim());
  }
});

test('redaction: the program and the command take the password out', () => {
  const [program = '', tools = ''] = blocks('redaction.md', 'js');
  const [command = ''] = blocks('redaction.md', 'sh');
  const guide = readFileSync(join(root, 'docs/redaction.md'), 'utf8');
  const [, turns = ''] = /`turns\.json` that says `([^`]*)`/.exec(guide) ?? [];
  writeFileSync(join(folder, 'login.mjs'), program);
  writeFileSync(join(folder, 'tools.mjs'), tools);
  writeFileSync(join(folder, 'turns.json'), turns);
  expect(execute(process.execPath, 'login.mjs')).toMatch(/runs\/today\.jsonl\n$/);
  inShell(command);
  const names = readdirSync(join(folder, 'runs'));
  const transcripts = names.filter((name) => name.endsWith('.jsonl') && !name.includes('catalog'));
  expect(transcripts.length).toBe(2);
  for (const name of transcripts) {
    expect(readFileSync(join(folder, 'runs', name), 'utf8')).not.toContain('hunter2');
    const open = readFileSync(join(folder, 'runs', `${name}.open`), 'utf8');
    const values = open
      .split('\n')
      .map((line) => Buffer.from(line.split(' ')[1] ?? '', 'base64url'));
    expect(Buffer.concat(values).toString()).toContain('hunter2');
  }
});
