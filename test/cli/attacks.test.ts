/**
 * What somebody may do to a record, and what the real command says of it afterwards.
 *
 * Each attack is done to a folder of two runs that ended and one that was cut off, written and verified by their
 * owner. What isn't caught has to stand in docs/threats.md, by the name that it has here.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAudit } from '../../src/computer/audit-log.ts';
import { editPayload } from '../../src/testing/tamper.ts';
import { encodeRecord, parseRecord, type Draft } from '../../src/transcript/index.ts';
import { bareEnv, execute, MAIN, type Executed } from './script.ts';

let base: string;
/** The world in which the attack is done: memory knows paths, so it is always at the same place. */
let world: string;
let kept: string;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hashtape-attack-'));
  world = join(base, 'world');
  kept = join(base, 'kept');
  mkdirSync(join(world, 'runs'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(world, name), text);
  await by('owner', ['run', ...MODEL, '--out', 'runs/a.jsonl', 'What is 2 + 40?']);
  await by('owner', ['run', ...MODEL, '--out', 'runs/b.jsonl', 'What is 2 + 40?']);
  await by('owner', ['run', ...MODEL, '--out', 'runs/cut.jsonl', 'What is 2 + 40?'], { DIE: '1' });
  cpSync(world, kept, { recursive: true });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

beforeEach(() => {
  rmSync(world, { recursive: true });
  cpSync(kept, world, { recursive: true });
});

const FILES = {
  's.json': JSON.stringify({
    turns: [
      { tool_calls: [{ name: 'add', arguments: { a: 2, b: 40 } }], usage: { input: 9, output: 9 } },
      { content: 'It is 42.', usage: { input: 9, output: 9 } },
    ],
  }),
  'tools.mjs': `export default { name: 'add', description: '', readOnly: true, input: { type: 'object' },
    execute: ({ a, b }) => (process.env.DIE ? process.kill(process.pid, 'SIGKILL') : a + b) };`,
};
const MODEL = ['--model', 'scripted:s.json', '--tools', 'tools.mjs'];

/** Runs the command as somebody: each has a home, and so a key and a memory, of their own. */
function by(
  who: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Executed> {
  const home = join(world, 'home', who);
  mkdirSync(home, { recursive: true });
  return execute(process.execPath, [MAIN, ...args], {
    cwd: world,
    env: { ...bareEnv(home), ...env },
  });
}

const at = (name: string): string => join(world, 'runs', name);
const CATALOG = ['hashtape-catalog.jsonl', 'hashtape-catalog.jsonl.checkpoint'];

function remove(...names: readonly string[]): void {
  for (const name of names) rmSync(at(name));
}

/** Keeps the first `n` lines. */
function cut(name: string, n: number): void {
  const lines = readFileSync(at(name), 'utf8').split('\n');
  writeFileSync(
    at(name),
    lines
      .slice(0, n)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

const edit = (payload: Draft['payload']): Draft['payload'] =>
  Object.assign({}, payload, { content: 'It is 43.' });

/** Changes what a record says and makes all hashes right again. */
function rewrite(name: string, seq: number): void {
  writeFileSync(at(name), editPayload(readFileSync(at(name)), seq, edit, { rehash: true }));
}

/** Adds a record that continues what is there. */
function addRecord(name: string): void {
  const text = readFileSync(at(name), 'utf8');
  const { seq, hash } = parseRecord(text.trimEnd().split('\n').at(-1) ?? '');
  const head = { count: seq + 1, hash, sealed: true };
  writeFileSync(at(name), text + encodeRecord(head, { kind: 'note', payload: {} }).text);
}

/** An audit log of four entries. */
const AUDIT = fileURLToPath(new URL('../testdata/seeds/audit_valid.jsonl', import.meta.url));

/** Another one, of one entry. */
async function writeAudit(path: string): Promise<void> {
  const audit = await openAudit(path, { durability: 'never' });
  const entry = {
    goal: 'another',
    screen: '0123456789abcdef',
    action: 'a',
    outcome: 'o',
    ok: true,
  };
  await audit.append(entry);
  await audit.release();
}

function swap(a: string, b: string): void {
  renameSync(at(a), at('swapped'));
  renameSync(at(b), at(a));
  renameSync(at('swapped'), at(b));
}

/** Swaps two runs, and what the catalogue says of them, as who can't make its hashes right. */
function swapListed(): void {
  swap('a.jsonl', 'b.jsonl');
  swap('a.jsonl.checkpoint', 'b.jsonl.checkpoint');
  const names: Record<string, string> = { 'a.jsonl': 'b.jsonl', 'b.jsonl': 'a.jsonl' };
  const text = readFileSync(at('hashtape-catalog.jsonl'), 'utf8');
  writeFileSync(
    at('hashtape-catalog.jsonl'),
    text.replaceAll(/[ab]\.jsonl/g, (name) => names[name] ?? name),
  );
}

/** An attack, what is verified then and by whom, and what that says: the reason of a fault, or that it holds. */
interface Attack {
  readonly name: string;
  readonly act: () => void | Promise<unknown>;
  readonly args: readonly string[];
  readonly who?: string;
  readonly says: string | RegExp;
}

const CAUGHT: readonly Attack[] = [
  {
    name: 'cut the tail after the seal',
    act: () => cut('a.jsonl', 4),
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'cut the tail before the seal, of a run that was cut off',
    act: async () => {
      await by('owner', ['verify', 'runs/cut.jsonl']);
      cut('cut.jsonl', 1);
    },
    args: ['runs/cut.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'cut within a record, as if a crash had done it',
    act: () => truncateSync(at('a.jsonl'), 1500),
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'cut everything',
    act: () => truncateSync(at('a.jsonl'), 0),
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'cut everything, and the checkpoints away',
    act: () => {
      truncateSync(at('a.jsonl'), 0);
      remove('a.jsonl.checkpoint');
    },
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'delete the file',
    act: () => remove('a.jsonl'),
    args: ['runs/a.jsonl'],
    says: 'missing',
  },
  {
    name: 'delete the file, seen from the folder',
    act: () => remove('a.jsonl', 'a.jsonl.checkpoint'),
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/a\.jsonl {2}missing: the catalogue/,
  },
  {
    name: 'delete the file and the catalogue',
    act: () => remove('a.jsonl', 'a.jsonl.checkpoint', ...CATALOG),
    args: ['runs', '--allow-open'],
    says: /^(?=[^]*FAULT {2}runs\/a\.jsonl {2}missing: by this machine's memory of heads, a log of 5 records was written here)(?=[^]*FAULT {2}runs\/hashtape-catalog\.jsonl {2}missing)/,
  },
  {
    name: 'take a run off the catalogue',
    act: () => {
      remove('a.jsonl', 'a.jsonl.checkpoint');
      cut('hashtape-catalog.jsonl', 1);
    },
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/hashtape-catalog\.jsonl .*rolled_back/,
  },
  {
    name: 'delete the sidecars, where a signature is required',
    act: () => remove('a.jsonl.checkpoint'),
    args: ['runs/a.jsonl', '--require', 'signed'],
    says: 'not_covered',
  },
  {
    name: 'restore an older copy of all of them',
    act: async () => {
      cpSync(join(world, 'runs'), join(base, 'older'), { recursive: true });
      await by('owner', ['resume', 'runs/cut.jsonl', ...MODEL]);
      rmSync(join(world, 'runs'), { recursive: true });
      renameSync(join(base, 'older'), join(world, 'runs'));
    },
    args: ['runs/cut.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'rewrite the chain with right hashes',
    act: () => rewrite('a.jsonl', 3),
    args: ['runs/a.jsonl'],
    says: /record 1 \(line 2\): root_mismatch: checkpoint 2 beside it states 5 records; one of records 1 to 4 is another now/,
  },
  {
    name: 'rewrite the last record alone, with its hash',
    act: () => rewrite('a.jsonl', 4),
    args: ['runs/a.jsonl'],
    says: 'root_mismatch',
  },
  {
    name: 'rewrite the chain, and the checkpoints away',
    act: () => {
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint');
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: 'rewrite the chain from the first record, and the checkpoints away',
    act: () => {
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint');
    },
    args: ['runs/a.jsonl'],
    says: /diverged: the catalogue of its folder says that another log/,
  },
  {
    name: 'rewrite the chain and sign it with another key',
    act: async () => {
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint');
      expect((await by('mallory', ['checkpoint', 'runs/a.jsonl'])).status).toBe(2);
      remove(...CATALOG);
      expect((await by('mallory', ['checkpoint', 'runs/a.jsonl'])).status).toBe(0);
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: 'sign it with another key, for a stranger who knows the right one',
    act: async () => {
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('mallory', ['checkpoint', 'runs/a.jsonl']);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--key', 'OWNER', '--require', 'signed'],
    says: 'unknown_key',
  },
  {
    name: 'swap two runs with all that lies beside them',
    act: () => {
      swap('a.jsonl', 'b.jsonl');
      swap('a.jsonl.checkpoint', 'b.jsonl.checkpoint');
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: "put run A's checkpoint beside B",
    act: () => cpSync(at('a.jsonl.checkpoint'), at('b.jsonl.checkpoint')),
    who: 'stranger',
    args: ['runs/b.jsonl'],
    says: /root_mismatch: checkpoint 1 beside it is of another log/,
  },
  {
    name: 'fork: two go on with one run',
    act: async () => {
      cpSync(at('cut.jsonl'), join(world, 'fork.jsonl'));
      await by('owner', ['resume', 'runs/cut.jsonl', ...MODEL]);
      await by('mallory', [
        'resume',
        'fork.jsonl',
        ...MODEL,
        '--max-steps',
        '9',
        '--allow',
        'budget',
      ]);
    },
    args: ['fork.jsonl'],
    says: 'diverged',
  },
  {
    name: 'damage the head memory, and cut the tail',
    act: () => {
      cut('a.jsonl', 4);
      const heads = join(world, 'home/owner/.local/state/hashtape/heads');
      for (const name of readdirSync(heads)) writeFileSync(join(heads, name), '{"size":1}\n');
    },
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'shrink, resume, seal: refused before anything is changed',
    act: async () => {
      cut('a.jsonl', 3);
      const before = readFileSync(at('a.jsonl'));
      const resumed = await by('owner', ['resume', 'runs/a.jsonl', ...MODEL]);
      expect(resumed).toMatchObject({ status: 2, stderr: expect.stringContaining('rolled_back') });
      expect(readFileSync(at('a.jsonl')).equals(before)).toBe(true);
    },
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'shrink, rename, resume, seal, where only the catalogue knows: refused',
    act: async () => {
      cut('a.jsonl', 3);
      renameSync(at('a.jsonl'), at('z.jsonl'));
      remove('a.jsonl.checkpoint');
      rmSync(join(world, 'home/owner/.local'), { recursive: true });
      const before = readFileSync(at('z.jsonl'));
      const resumed = await by('owner', ['resume', 'runs/z.jsonl', ...MODEL]);
      expect(resumed).toMatchObject({ status: 2, stderr: expect.stringContaining('rolled_back') });
      expect(readFileSync(at('z.jsonl')).equals(before)).toBe(true);
    },
    who: 'stranger',
    args: ['runs/z.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'delete a run, and put its first record in a folder within',
    act: () => {
      mkdirSync(at('sub'));
      renameSync(at('a.jsonl'), at('sub/z.jsonl'));
      cut('sub/z.jsonl', 1);
      remove('a.jsonl.checkpoint');
    },
    who: 'stranger',
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/sub\/z\.jsonl .*rolled_back: the catalogue of .*\/runs, where it is a\.jsonl, states 5 records/,
  },
  {
    name: 'delete a run, where a cut copy of it in a folder within has been seen',
    act: async () => {
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('stranger', ['verify', 'runs']);
      mkdirSync(at('sub'));
      cpSync(at('a.jsonl'), at('sub/x.jsonl'));
      cut('sub/x.jsonl', 2);
      await by('stranger', ['verify', 'runs', '--allow-open']);
      remove('a.jsonl');
    },
    who: 'stranger',
    args: ['runs', '--allow-open'],
    says: /^ok {5}runs\/sub\/x\.jsonl {2}2 records[^]*FAULT {2}runs\/a\.jsonl {2}missing: by this machine's memory of heads, a log of 5 records/m,
  },
  {
    name: 'delete a run, where a longer one that begins as it does has been seen',
    act: async () => {
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('stranger', ['verify', 'runs']);
      mkdirSync(at('sub'));
      cpSync(at('a.jsonl'), at('sub/x.jsonl'));
      rewrite('sub/x.jsonl', 3);
      addRecord('sub/x.jsonl');
      await by('stranger', ['verify', 'runs', '--allow-open']);
      remove('a.jsonl');
    },
    who: 'stranger',
    args: ['runs', '--allow-open'],
    says: /^ok {5}runs\/sub\/x\.jsonl {2}6 records[^]*FAULT {2}runs\/a\.jsonl {2}missing: /m,
  },
  {
    name: 'exchange a folder for a link to a cut copy of it, seen from the folder around both',
    act: async () => {
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('stranger', ['verify', 'runs']);
      mkdirSync(join(world, 'evil'));
      cpSync(at('a.jsonl'), join(world, 'evil/a.jsonl'));
      cut('../evil/a.jsonl', 3);
      await by('stranger', ['verify', 'evil', '--allow-open']);
      rmSync(join(world, 'runs'), { recursive: true });
      symlinkSync('evil', join(world, 'runs'));
    },
    who: 'stranger',
    args: ['.', '--allow-open'],
    says: /FAULT {2}evil\/a\.jsonl .*rolled_back: .* it had 5 records when it was verified here[^]*heads forget \/.*\/runs\/a\.jsonl/,
  },
  {
    name: 'cut a run whose folder was moved, and a link left in its place',
    act: async () => {
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('stranger', ['verify', 'runs/a.jsonl']);
      renameSync(join(world, 'runs'), join(world, 'big'));
      symlinkSync('big', join(world, 'runs'));
      cut('a.jsonl', 4);
    },
    who: 'stranger',
    args: ['big/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'exchange the folder of an audit log for a link to a cut copy of it that has been seen',
    act: async () => {
      mkdirSync(join(world, 'logs'));
      mkdirSync(join(world, 'evil'));
      cpSync(AUDIT, join(world, 'logs/a.jsonl'));
      await by('stranger', ['verify', 'logs']);
      cpSync(AUDIT, join(world, 'evil/a.jsonl'));
      cut('../evil/a.jsonl', 2);
      await by('stranger', ['verify', 'evil']);
      rmSync(join(world, 'logs'), { recursive: true });
      symlinkSync('evil', join(world, 'logs'));
    },
    who: 'stranger',
    args: ['logs'],
    says: /FAULT {2}logs\/a\.jsonl {2}audit log, rolled_back: .* it had 4 entries .* and it has 2/,
  },
  {
    name: 'exchange the folder of an audit log for a link to another one that has been seen',
    act: async () => {
      mkdirSync(join(world, 'logs'));
      mkdirSync(join(world, 'evil'));
      cpSync(AUDIT, join(world, 'logs/a.jsonl'));
      await writeAudit(join(world, 'evil/a.jsonl'));
      await by('stranger', ['verify', 'logs', 'evil']);
      rmSync(join(world, 'logs'), { recursive: true });
      symlinkSync('evil', join(world, 'logs'));
    },
    who: 'stranger',
    args: ['.', '--allow-open'],
    says: /FAULT {2}logs\/a\.jsonl {2}audit log, diverged: another log of 4 entries was read here/,
  },
  {
    name: 'move an audit log that has been seen over another one',
    act: async () => {
      cpSync(AUDIT, at('x.jsonl'));
      await writeAudit(at('y.jsonl'));
      await by('stranger', ['verify', 'runs/x.jsonl', 'runs/y.jsonl']);
      renameSync(at('y.jsonl'), at('x.jsonl'));
      expect((await by('stranger', ['verify', 'runs/x.jsonl'])).status).toBe(1);
    },
    who: 'stranger',
    args: ['runs', '--allow-open', '--require', 'remembered'],
    says: /FAULT {2}runs\/x\.jsonl {2}audit log, diverged: another log of 4 entries was read here(?![^]*y\.jsonl {2}missing)/,
  },
  {
    name: 'copy an audit log that has been seen over another one',
    act: async () => {
      cpSync(AUDIT, at('x.jsonl'));
      await writeAudit(at('y.jsonl'));
      await by('stranger', ['verify', 'runs/x.jsonl', 'runs/y.jsonl']);
      cpSync(at('y.jsonl'), at('x.jsonl'));
    },
    who: 'stranger',
    args: ['runs/x.jsonl', 'runs/y.jsonl'],
    says: /FAULT {2}runs\/x\.jsonl {2}audit log, diverged: [^]*heads forget \/.*\/runs\/x\.jsonl/,
  },
  {
    name: 'cut a run, and put its folder behind a link',
    act: async () => {
      await by('owner', ['run', ...MODEL, '--out', 'runs/sub/x.jsonl', 'What is 2 + 40?']);
      cut('sub/x.jsonl', 4);
      renameSync(at('sub'), join(world, 'elsewhere'));
      symlinkSync(join(world, 'elsewhere'), at('sub'));
    },
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/sub\/x\.jsonl .*rolled_back/,
  },
  {
    name: 'cut a run whose name ends otherwise, seen from the folder',
    act: async () => {
      await by('owner', ['run', ...MODEL, '--out', 'runs/y.log', 'What is 2 + 40?']);
      cut('y.log', 4);
    },
    who: 'stranger',
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/y\.log .*rolled_back/,
  },
  {
    name: 'rewrite a run behind a link to a file that is called as a catalogue',
    act: () => {
      rewrite('a.jsonl', 3);
      mkdirSync(at('sub'));
      renameSync(at('a.jsonl'), at('sub/hashtape-catalog.jsonl'));
      symlinkSync('sub/hashtape-catalog.jsonl', at('a.jsonl'));
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: 'roll the catalogue back, behind a link',
    act: () => {
      mkdirSync(at('sub'));
      cut('hashtape-catalog.jsonl', 4);
      renameSync(at('hashtape-catalog.jsonl'), at('sub/hashtape-catalog.jsonl'));
      symlinkSync('sub/hashtape-catalog.jsonl', at('hashtape-catalog.jsonl'));
      remove('hashtape-catalog.jsonl.checkpoint');
    },
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/hashtape-catalog\.jsonl .*rolled_back/,
  },
  {
    name: 'rewrite from the first record, with checkpoints and catalogue away',
    act: () => {
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    args: ['runs/a.jsonl'],
    says: /diverged: by this machine's memory of heads another log, hashtape\/[0-9a-f]{64}, of 5 records, was written here at/,
  },
  {
    name: 'exchange the whole folder for another, with its own catalogue',
    act: async () => {
      renameSync(join(world, 'runs'), join(base, 'aside'));
      await by('mallory', ['run', ...MODEL, '--out', 'runs/a.jsonl', 'What is 2 + 40?']);
      rmSync(join(base, 'aside'), { recursive: true });
    },
    args: ['runs'],
    says: /^(?=[^]*FAULT {2}runs\/a\.jsonl .*diverged)(?=[^]*FAULT {2}runs\/hashtape-catalog\.jsonl .*diverged)(?=[^]*FAULT {2}runs\/b\.jsonl {2}missing)/,
  },
  ...['cut', 'rewritten'].map((how): Attack => ({
    name: `verify a run that was killed, then show a copy that is ${how}`,
    act: async () => {
      await by('owner', ['verify', 'runs', '--allow-open']);
      mkdirSync(at('copies'));
      cpSync(at('cut.jsonl'), at('copies/cut.jsonl'));
      if (how === 'cut') cut('copies/cut.jsonl', 1);
      else rewrite('copies/cut.jsonl', 1);
    },
    args: ['runs/copies/cut.jsonl', '--allow-open'],
    says: how === 'cut' ? 'rolled_back' : 'diverged',
  })),
  {
    name: 'put a link to another run in the place of a deleted one',
    act: () => {
      remove('a.jsonl', 'a.jsonl.checkpoint', ...CATALOG);
      symlinkSync('b.jsonl', at('a.jsonl'));
    },
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/a\.jsonl .*diverged: by this machine's memory of heads another log[^]*FAULT {2}runs\/a\.jsonl {2}missing: /,
  },
  {
    name: 'swap two runs, and edit the catalogue, for who wrote them and verifies one alone',
    act: () => swapListed(),
    args: ['runs/a.jsonl'],
    says: /diverged: by this machine's memory of heads another log/,
  },
  {
    name: 'swap two runs, and edit the catalogue, seen from the folder',
    act: () => swapListed(),
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/hashtape-catalog\.jsonl .*hash_mismatch/,
  },
  {
    name: 'shrink, resume, seal, by somebody without the memory',
    act: async () => {
      cut('a.jsonl', 3);
      expect((await by('mallory', ['resume', 'runs/a.jsonl', ...MODEL])).status).toBe(2);
      remove('a.jsonl.checkpoint', ...CATALOG);
      const more = ['--max-steps', '9', '--allow', 'budget'];
      expect((await by('mallory', ['resume', 'runs/a.jsonl', ...MODEL, ...more])).status).toBe(0);
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: 'add a record behind the seal, with right hashes',
    act: () => {
      const bytes = readFileSync(at('a.jsonl'), 'utf8');
      const last = parseRecord(bytes.trimEnd().split('\n').at(-1) ?? '');
      const head = { count: last.seq + 1, hash: last.hash, sealed: true };
      const { text } = encodeRecord(head, { kind: 'final', payload: last.payload });
      writeFileSync(at('a.jsonl'), bytes + text);
    },
    args: ['runs/a.jsonl'],
    says: /record 5 \(line 6\): diverged: .* and was sealed with them; it has 6/,
  },
  {
    name: 'put a link to another run in the place of one',
    act: () => {
      remove('a.jsonl', 'a.jsonl.checkpoint');
      symlinkSync('b.jsonl', at('a.jsonl'));
    },
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
  {
    name: 'put a folder in the place of a run',
    act: () => {
      remove('a.jsonl', 'a.jsonl.checkpoint');
      mkdirSync(at('a.jsonl'));
    },
    args: ['runs', '--allow-open'],
    says: /FAULT {2}runs\/a\.jsonl {2}missing: /,
  },
  {
    name: 'put an audit log in the place of a run',
    act: () => {
      cpSync(AUDIT, at('a.jsonl'));
    },
    args: ['runs/a.jsonl'],
    says: /diverged: there was a transcript here, by the catalogue, and it is none/,
  },
  {
    name: 'shrink and rename, for a stranger who has the catalogue',
    act: () => {
      cut('a.jsonl', 4);
      renameSync(at('a.jsonl'), at('z.jsonl'));
      remove('a.jsonl.checkpoint');
    },
    who: 'stranger',
    args: ['runs/z.jsonl', '--allow-open'],
    says: /rolled_back: the catalogue of its folder, where it is a\.jsonl, states 5 records, and it has 4/,
  },
  {
    name: 'shrink and resume by a stranger who has the catalogue: refused',
    act: async () => {
      cut('a.jsonl', 2);
      remove('a.jsonl.checkpoint');
      const more = ['--max-steps', '9', '--allow', 'budget'];
      const resumed = await by('mallory', ['resume', 'runs/a.jsonl', ...MODEL, ...more]);
      expect(resumed).toMatchObject({ status: 2, stderr: expect.stringContaining('rolled_back') });
    },
    args: ['runs/a.jsonl', '--allow-open'],
    says: 'rolled_back',
  },
  {
    name: 'anchor it in a file that nobody known signed',
    act: async () => {
      remove(...CATALOG);
      rmSync(at('a.jsonl.checkpoint'));
      await by('mallory', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--require', 'anchored'],
    says: 'not_covered',
  },
  {
    name: 'settings of a repository that hide its notes, or run a program',
    act: async () => {
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'begin');
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--git'], GIT);
      cut('a.jsonl', 4);
      remove('a.jsonl.checkpoint', ...CATALOG);
      git('config', 'grep.lineNumber', 'true');
      git('config', 'core.fsmonitor', 'touch PWNED');
      writeFileSync(join(world, '.gitattributes'), '* -diff\n');
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--allow-open'],
    says: /rolled_back: the git note on commit/,
  },
  {
    name: 'replay an old checkpoint',
    act: () => {
      const path = at('a.jsonl.checkpoint');
      const notes = readFileSync(path, 'utf8').split(/^(?=hashtape\/)/m);
      writeFileSync(path, notes[0] ?? '');
    },
    args: ['runs/a.jsonl', '--require', 'signed'],
    says: /not_covered: record 1 and what follows it are not signed/,
  },
  {
    name: "change a checkpoint's root",
    act: () => {
      const path = at('a.jsonl.checkpoint');
      const text = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        text.replace(/^5\n./m, (found) => (found === '5\nA' ? '5\nB' : '5\nA')),
      );
    },
    args: ['runs/a.jsonl'],
    says: 'bad_signature',
  },
  {
    name: 'cut a log that was anchored in git, for a stranger',
    act: async () => {
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'begin');
      expect((await by('owner', ['checkpoint', 'runs/a.jsonl', '--git'], GIT)).status).toBe(0);
      cut('a.jsonl', 4);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--allow-open'],
    says: /rolled_back: the git note on commit [0-9a-f]{12} states 5 records, and it has 4/,
  },
  {
    name: 'rewrite a log that was copied elsewhere, for a stranger',
    act: async () => {
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: /root_mismatch: the copy in .*elsewhere states 5 records/,
  },
  {
    name: 'rewrite a log that was copied elsewhere, and where that is away, for a stranger who is told',
    act: async () => {
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', 'a.jsonl.anchors', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--copy', 'elsewhere'],
    says: /root_mismatch: the copy in elsewhere states 5 records/,
  },
  {
    name: 'rewrite a log that was copied elsewhere, and where that is away, where an anchor is required',
    act: async () => {
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', 'a.jsonl.anchors', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--require', 'anchored'],
    says: 'not_covered',
  },
  {
    name: 'rewrite from the first record what was copied elsewhere: the copy is of another log',
    act: async () => {
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint', 'a.jsonl.anchors', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--copy', 'elsewhere', '--require', 'anchored'],
    says: /not_covered: [^]*note {7}the copy in elsewhere states nothing of this log/,
  },
  {
    name: 'make the folder a repository of its own, to hide the notes of the one around it',
    act: async () => {
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'begin');
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--git'], GIT);
      cut('a.jsonl', 4);
      remove('a.jsonl.checkpoint', ...CATALOG);
      git('init', '-q', 'runs');
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--allow-open'],
    says: /rolled_back: the git note on commit/,
  },
  {
    name: 'put nonsense in the place of a repository, to hide the notes of the one around it',
    act: async () => {
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'begin');
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--git'], GIT);
      cut('a.jsonl', 4);
      remove('a.jsonl.checkpoint', ...CATALOG);
      writeFileSync(at('.git'), 'nonsense');
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--allow-open'],
    says: /rolled_back: the git note on commit[^]*git notes could not be looked at/,
  },
  {
    name: 'make the folder a repository whose notes are full of what the log once was, beside a copy that is given',
    act: async () => {
      await by('owner', ['checkpoint', 'runs/a.jsonl', '--copy', 'elsewhere']);
      const notes = readFileSync(at('a.jsonl.checkpoint'), 'utf8');
      const [first = ''] = /^[^]*?\n\n(?:— .*\n)+/.exec(notes) ?? [];
      // True, and signed by the owner: each time with another line below it, of a key that nobody knows.
      const below = (_: unknown, i: number): string => `${first}— x${i} ${'A'.repeat(12)}\n`;
      writeFileSync(join(world, 'note'), Array.from({ length: 100_001 }, below).join('\n'));
      cut('a.jsonl', 4);
      remove('a.jsonl.checkpoint', 'a.jsonl.anchors', ...CATALOG);
      git('init', '-q', 'runs');
      git('-C', 'runs', 'commit', '-q', '--allow-empty', '-m', 'begin');
      git('-C', 'runs', 'notes', '--ref', 'refs/notes/hashtape', 'add', '-F', '../note');
    },
    who: 'stranger',
    args: ['runs/a.jsonl', '--allow-open', '--copy', 'elsewhere', '--key', 'OWNER'],
    says: /rolled_back: the copy in elsewhere states 5 records/,
  },
  {
    name: 'have more copies verified than places are known of a log, and rewrite it',
    act: async () => {
      await by('stranger', ['verify', 'runs/a.jsonl']);
      mkdirSync(at('copies'));
      for (let i = 0; i < 257; i += 1) cpSync(at('a.jsonl'), at(`copies/${i}.jsonl`));
      const { status, stdout } = await by('stranger', ['verify', 'runs/copies']);
      expect({ status, stdout }).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(
          /not remembered: this log is known in 256 other places.*`hashtape heads forget FILE`/,
        ),
      });
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: 'diverged',
  },
];

const GIT = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function git(...args: readonly string[]): void {
  execFileSync('git', [...args], { cwd: world, env: { ...process.env, ...GIT } });
}

async function verify({ args, who = 'owner' }: Attack): Promise<Executed> {
  const { stdout } = await by('owner', ['key', 'show']);
  const given = args.map((arg) => (arg === 'OWNER' ? stdout.trim() : arg));
  return by(who, ['verify', ...given]);
}

describe('is caught', () => {
  test.each(CAUGHT)('$name', async (attack) => {
    await attack.act();
    const { status, stdout } = await verify(attack);
    if (typeof attack.says === 'string') expect(stdout).toContain(`${attack.says}: `);
    else expect(stdout).toMatch(attack.says);
    expect(status).toBe(1);
  });
});

test('a byte of a checkpoint is flipped, here or there: never is all of it signed', async () => {
  const path = at('a.jsonl.checkpoint');
  const bytes = readFileSync(path);
  // test/attest/signatures.test.ts flips every bit of every byte in process; here the command says what it finds.
  for (let i = 0; i < bytes.length; i += 19) {
    const flipped = Uint8Array.from(bytes);
    flipped[i] = (flipped[i] ?? 0) ^ 1;
    writeFileSync(path, flipped);
    const { status, stdout } = await by('owner', ['verify', 'runs/a.jsonl']);
    expect({ i, status, stdout }).toMatchObject({
      i,
      status: 1,
      stdout: expect.stringContaining(': bad_signature: '),
    });
  }
});

/** Proofs of the same record number of two runs, each in its two parts: of the record, and the checkpoint. */
async function proofs(seq: number): Promise<{ a: string[]; b: string[] }> {
  const proof = async (name: string): Promise<string[]> => {
    await by('owner', ['prove', `runs/${name}.jsonl`, String(seq), '--out', `${name}.proof`]);
    const text = readFileSync(join(world, `${name}.proof`), 'utf8');
    const end = text.indexOf('\n\n') + 2;
    return [text.slice(0, end), text.slice(end)];
  };
  return { a: await proof('a'), b: await proof('b') };
}

describe('a proof is caught', () => {
  test.each([
    [
      'for another index',
      ({ a: [part = '', note = ''] }) => part.replace('index 2', 'index 3') + note,
    ],
    ['for another tree', ({ a: [part = ''], b: [, note = ''] }) => part + note],
    ['of a record of another log', ({ a: [, note = ''], b: [part = ''] }) => part + note],
  ] satisfies [string, (both: Awaited<ReturnType<typeof proofs>>) => string][])(
    '%s',
    async (_, forge) => {
      const both = await proofs(2);
      writeFileSync(join(world, 'right'), both.a.join(''));
      expect(await by('owner', ['check', 'right'])).toMatchObject({ status: 0 });
      writeFileSync(join(world, 'forged'), forge(both));
      const { status, stdout } = await by('owner', ['check', 'forged']);
      expect({ status, stdout }).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(/^FAULT {2}forged {2}.*root_mismatch: /),
      });
    },
  );
});

/** What holds nevertheless, and what must be said then. */
const NOT_CAUGHT: readonly Attack[] = [
  {
    name: 'nothing was done',
    act: () => undefined,
    args: ['runs/a.jsonl'],
    says: /all 5 records, by hashtape-[^]*remembered all 5 records/,
  },
  {
    name: 'delete the checkpoints of a log that is remembered',
    act: () => remove('a.jsonl.checkpoint'),
    args: ['runs/a.jsonl'],
    says: /^(?![^]*signed {4})[^]*remembered all 5 records/,
  },
  {
    name: 'rewrite everything, for somebody who never saw it and knows no key',
    act: async () => {
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: /^(?![^]*(?:signed {4}|remembered {2}))[^]*no key that is\s+known\s+here signed all of them\.[^]*whoever\s+can write a file can make one anew/,
  },
  {
    name: 'sign a rewritten log with another key, for somebody who never saw it and knows no key',
    act: async () => {
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint', ...CATALOG);
      await by('mallory', ['checkpoint', 'runs/a.jsonl']);
    },
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: /^(?![^]*signed {4})[^]*note {7}signed by an unknown key/,
  },
  {
    name: 'rewrite from the first record what was only verified, with checkpoints and catalogue away',
    act: async () => {
      await by('stranger', ['verify', 'runs/a.jsonl']);
      rewrite('a.jsonl', 0);
      remove('a.jsonl.checkpoint', ...CATALOG);
    },
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: /note {7}another log was seen here at/,
  },
  {
    name: 'swap two runs, and edit the catalogue, for a stranger who verifies one of them alone',
    act: () => swapListed(),
    who: 'stranger',
    args: ['runs/a.jsonl'],
    says: /note {7}the catalogue of its folder is not believed: hash_mismatch/,
  },
  {
    name: 'write the key, the memory and the files beside the log anew',
    act: async () => {
      const home = join(world, 'home/owner');
      rewrite('a.jsonl', 3);
      remove('a.jsonl.checkpoint', ...CATALOG);
      rmSync(join(home, '.local'), { recursive: true });
      expect(existsSync(join(home, '.config/hashtape/key'))).toBe(true);
      await by('owner', ['checkpoint', 'runs/a.jsonl']);
    },
    args: ['runs/a.jsonl'],
    says: /against somebody who can\s+also write your key and your memory/,
  },
];

describe('is not caught, is not claimed to be, and stands in docs/threats.md', () => {
  const threats = readFileSync(
    fileURLToPath(new URL('../../docs/threats.md', import.meta.url)),
    'utf8',
  );
  test.each(NOT_CAUGHT)('$name', async (attack) => {
    await attack.act();
    const { status, stdout } = await verify(attack);
    expect(stdout).toMatch(attack.says);
    expect(status).toBe(0);
    if (attack.name !== 'nothing was done') {
      expect(threats.replaceAll(/\s+/g, ' ')).toContain(attack.name);
    }
  });
});
