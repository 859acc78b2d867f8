/**
 * `hashtape checkpoint` with others that are asked: a witness and a timestamp authority on loopback, and what `verify`
 * makes of their word afterwards.
 *
 * @module
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { encodeVerifierKey, parseVerifierKey, signerKey } from '../../src/evidence/index.ts';
import { CA, needs, usable, Workshop, type Issued } from '../attest/authority.ts';
import { serve, TestWitness, type TestServer } from '../attest/test-witness.ts';
import { snapshot } from '../attest/support.ts';
import { bareEnv, execute, MAIN, type Executed } from './script.ts';

let folder: string;
let vkey: string;
let origin: string;
let server: TestServer | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hashtape-checkpoint-'));
  writeFileSync(join(folder, 's.json'), '{"turns": ["done"]}');
  const { stderr } = await as(
    'owner',
    'run',
    '--model',
    'scripted:s.json',
    '--out',
    'a.jsonl',
    'task',
  );
  [origin = ''] = /hashtape\/[0-9a-f]{64}/.exec(stderr) ?? [];
  vkey = (await as('owner', 'key', 'show')).stdout.trim();
  return async () => {
    await server?.close();
    server = undefined;
    rmSync(folder, { recursive: true, force: true });
  };
});

function as(who: string, ...args: readonly string[]): Promise<Executed> {
  const home = join(folder, 'home', who);
  mkdirSync(home, { recursive: true });
  return execute(process.execPath, [MAIN, ...args], { cwd: folder, env: bareEnv(home) });
}

/** Keeps the first `n` lines of the log, as if nothing had ever been said of the others. */
function shrink(n: number): void {
  const path = join(folder, 'a.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, n);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  for (const name of ['a.jsonl.checkpoint', 'home/owner/.local', 'hashtape-catalog.jsonl']) {
    rmSync(join(folder, name), { recursive: true });
  }
  rmSync(join(folder, 'hashtape-catalog.jsonl.checkpoint'));
}

test('one by another key of the same name is no reason not to sign', async () => {
  const name = vkey.split('+')[0] ?? '';
  await as('mallory', 'key', 'new', '--name', name);
  rmSync(join(folder, 'a.jsonl.checkpoint'));
  rmSync(join(folder, 'hashtape-catalog.jsonl'));
  expect((await as('mallory', 'checkpoint', 'a.jsonl')).status).toBe(0);
  expect((await as('owner', 'checkpoint', 'a.jsonl')).status).toBe(0);
  expect((await as('owner', 'verify', 'a.jsonl', '--require', 'signed')).status).toBe(0);
});

test.skipIf(!usable)(
  `the guide's command checks a run's own file with OpenSSL${needs}`,
  async () => {
    const script = fileURLToPath(new URL('../../docs/verify-checkpoint.sh', import.meta.url));
    const check = (): Promise<Executed> =>
      execute('sh', [script, 'a.jsonl.checkpoint', vkey], { cwd: folder, env: bareEnv(folder) });
    expect((await check()).status).toBe(0);
    const path = join(folder, 'a.jsonl.checkpoint');
    const text = readFileSync(path, 'utf8');
    expect(text.match(/^hashtape\//gm)?.length).toBeGreaterThan(1);
    writeFileSync(path, text.replace(/\n3\n/, '\n4\n'));
    expect((await check()).status).not.toBe(0);
    const bare = await execute('sh', [script], { cwd: folder, env: bareEnv(folder) });
    expect(bare).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^usage: .* NOTE VKEY/),
    });
  },
);

test('the log is on the disk before it is signed, whoever wrote it', async () => {
  rmSync(at('a.jsonl.checkpoint'));
  writeFileSync(
    at('trace.mjs'),
    `import fs from 'node:fs/promises';
import { basename } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
const { open } = fs;
fs.open = async (path, ...how) => {
  const file = await open(path, ...how);
  const datasync = file.datasync.bind(file);
  file.datasync = () => (console.error('synced ' + basename(path)), datasync());
  return file;
};
syncBuiltinESMExports();
`,
  );
  const trace = ['--import', at('trace.mjs'), MAIN, 'checkpoint', 'a.jsonl'];
  const env = bareEnv(join(folder, 'home', 'mallory'));
  // Not through memory, which would have it on the disk too.
  rmSync(at('hashtape-catalog.jsonl'));
  writeFileSync(at('state'), '');
  const { status, stderr } = await execute(process.execPath, trace, {
    cwd: folder,
    env: { ...env, XDG_STATE_HOME: at('state') },
  });
  expect(status, stderr).toBe(0);
  const synced = stderr.match(/^synced a\.jsonl.*$/gm);
  expect(synced).toEqual(['synced a.jsonl', 'synced a.jsonl.checkpoint']);
});

const at = (name: string): string => join(folder, name);

function copied(): Promise<Executed> {
  return as('owner', 'checkpoint', 'a.jsonl', '--copy', 'copy.txt');
}

describe('a copy', () => {
  test('is made once, however often it is asked for, and so is a git note', async () => {
    const env = {
      ...bareEnv(join(folder, 'home', 'owner')),
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    };
    const git = (...args: readonly string[]): Promise<Executed> =>
      execute('git', args, { cwd: folder, env });
    await git('init', '-q');
    await git('commit', '-q', '--allow-empty', '-m', 'begin');
    const both = ['checkpoint', 'a.jsonl', '--copy', 'copy.txt', '--git'];
    const first = await execute(process.execPath, [MAIN, ...both], { cwd: folder, env });
    expect(first.stdout).toMatch(
      / {2}on commit [0-9a-f]+ as a git note;[^]* {2}in copy\.txt; keep/,
    );
    const again = await execute(process.execPath, [MAIN, ...both], { cwd: folder, env });
    expect(again.stdout).toMatch(/on commit [0-9a-f]+ already;[^]* {2}in copy\.txt already; keep/);
    expect(again.status).toBe(0);
    expect(readFileSync(at('copy.txt'), 'utf8').match(/^hashtape/gm)).toHaveLength(1);
    expect(readFileSync(at('a.jsonl.anchors'), 'utf8').match(/\n/g)).toHaveLength(1);
    expect((await git('notes', '--ref', 'hashtape', 'show')).stdout.match(/^— /gm)).toHaveLength(1);
    const { stdout } = await as('owner', 'verify', 'a.jsonl');
    expect(stdout.match(/anchored {3}all 3 records, in the/g)).toHaveLength(2);
  });

  test('as a git note is in the repository of its folder, whatever one git itself was started in', async () => {
    const git = (...args: readonly string[]): Promise<Executed> =>
      execute('git', args, { cwd: folder, env: bareEnv(join(folder, 'home', 'owner')) });
    const me = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    for (const place of ['.', 'other']) {
      await git('init', '-q', place);
      await git('-C', place, ...me, 'commit', '-q', '--allow-empty', '-m', 'begin');
    }
    // Whatever is of one repository, and while a push is received; settings may be the user's own.
    const { stdout: local } = await git('rev-parse', '--local-env-vars');
    const names = local.split('\n').filter((name) => /^GIT_(?!CONFIG)/.test(name));
    expect(names).toContain('GIT_OBJECT_DIRECTORY');
    const nonsense = [...names, 'GIT_QUARANTINE_PATH'].map((name) => [name, '/nonsense']);
    // As git sets some for the hooks of a linked work tree.
    const env = {
      ...bareEnv(join(folder, 'home', 'owner')),
      ...Object.fromEntries(nonsense),
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((who) => [
          [`GIT_${who}_NAME`, 'a'],
          [`GIT_${who}_EMAIL`, 'a@example.com'],
        ]),
      ),
      GIT_DIR: join(folder, 'other/.git'),
      GIT_WORK_TREE: join(folder, 'other'),
      GIT_INDEX_FILE: join(folder, 'other/.git/index'),
    };
    const run = (...args: readonly string[]): Promise<Executed> =>
      execute(process.execPath, [MAIN, ...args], { cwd: folder, env });
    expect(await run('checkpoint', 'a.jsonl', '--git')).toMatchObject({ status: 0 });
    expect((await git('for-each-ref', 'refs/notes')).stdout).toContain('refs/notes/hashtape');
    expect((await git('-C', 'other', 'for-each-ref', 'refs/notes')).stdout).toBe('');
    expect((await run('verify', 'a.jsonl')).stdout).toMatch(
      /anchored {3}all 3 records, in the git/,
    );
  });

  test('as a git note needs somebody who makes it', async () => {
    const env = { ...bareEnv(join(folder, 'home', 'owner')), GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: readonly string[]): Promise<Executed> =>
      execute('git', args, { cwd: folder, env });
    await git('init', '-q');
    await git('config', 'user.useConfigOnly', 'true');
    const me = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    await git(...me, 'commit', '-q', '--allow-empty', '-m', 'begin');
    const args = [MAIN, 'checkpoint', 'a.jsonl', '--git'];
    const made = await execute(process.execPath, args, { cwd: folder, env });
    expect(made.stderr).toMatch(/: set user\.name and user\.email with git config$/m);
    expect(made.status).toBe(2);
  });

  test('whose end was cut off is added to so that what is added counts', async () => {
    await copied();
    const text = readFileSync(at('copy.txt'));
    writeFileSync(at('copy.txt'), text.subarray(0, -10));
    expect((await copied()).status).toBe(0);
    const { stdout } = await as('owner', 'verify', 'a.jsonl', '--require', 'anchored');
    expect(stdout).toMatch(/anchored {3}all 3 records, in the copy in .*copy\.txt/);
  });

  test.each([
    ['a.jsonl', 'this is a file of the log itself'],
    ['./a.jsonl.checkpoint', 'this is a file of the log itself'],
    ['hashtape-catalog.jsonl', 'this is a file of the log itself'],
    ['link', 'this is a file of the log itself'],
    ['.', 'is no plain file'],
    ['no/such/folder/copy.txt', 'there is no folder '],
    ['bak/b.jsonl', 'has the name of a transcript'],
    ['new.jsonl', 'has the name of a transcript'],
    ['to-new', 'has the name of a transcript'],
    ['bak/b.jsonl.checkpoint', 'belongs to '],
    ['bak/b.jsonl.open', 'belongs to '],
    ['to-checkpoint', 'belongs to '],
    ['transcript', 'holds something else than checkpoints; name a new file'],
    ['text', 'holds something else than checkpoints; name a new file'],
  ])('at %s is refused, and nothing is written', async (name, words) => {
    symlinkSync('a.jsonl', at('link'));
    mkdirSync(at('bak'));
    for (const ending of ['', '.checkpoint'])
      copyFileSync(at(`a.jsonl${ending}`), at(`bak/b.jsonl${ending}`));
    copyFileSync(at('a.jsonl'), at('transcript'));
    writeFileSync(at('text'), 'Dear diary,\n\n— me\n');
    symlinkSync('new.jsonl', at('to-new'));
    symlinkSync('bak/b.jsonl.checkpoint', at('to-checkpoint'));
    rmSync(at('a.jsonl.checkpoint'));
    rmSync(at('home/owner/.config'), { recursive: true });
    const before = snapshot(folder);
    const { status, stderr } = await as('owner', 'checkpoint', 'a.jsonl', '--copy', name);
    expect(stderr).toMatch(`--copy ${name}: `);
    expect(stderr).toContain(words);
    expect(status).toBe(2);
    expect(snapshot(folder)).toEqual(before);
  });

  test('is added to behind notes of other logs, and whatever stands around them', async () => {
    const root = `${'A'.repeat(43)}=`;
    writeFileSync(at('copy.txt'), `# kept here\n\nexample.com/log\n7\n${root}\nmore\n\n— x AAAA\n`);
    expect(await copied()).toMatchObject({ status: 0, stderr: '' });
    expect((await as('owner', 'verify', 'a.jsonl', '--require', 'anchored')).status).toBe(0);
  });

  test('that can’t be read is an error of verify, and one of another log is said', async () => {
    const gone = await as('owner', 'verify', 'a.jsonl', '--copy', 'nowhere');
    expect(gone).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no such file'),
    });
    writeFileSync(at('other'), '');
    const other = await as('owner', 'verify', 'a.jsonl', '--copy', 'other');
    expect(other.stdout).toContain('the copy in other states nothing of this log');
    expect(other.status).toBe(0);
  });
});

test('one of a log that grows meanwhile states no less than was stated before', async () => {
  writeFileSync(
    join(folder, 'slow.mjs'),
    `export default { name: 'wait', description: '', readOnly: true, input: { type: 'object' },
      execute: () => new Promise((done) => setTimeout(() => done(1), 300)) };`,
  );
  const calls = Array.from({ length: 6 }, () => ({
    tool_calls: [{ name: 'wait', arguments: {} }],
  }));
  writeFileSync(join(folder, 'long.json'), JSON.stringify({ turns: [...calls, 'done'] }));
  const model = ['--model', 'scripted:long.json', '--tools', 'slow.mjs'];
  const running = as('owner', 'run', ...model, '--out', 'b.jsonl', 'task');
  while (!existsSync(join(folder, 'b.jsonl.checkpoint'))) await pause(20);
  await Promise.all([1, 2].map(() => as('owner', 'checkpoint', 'b.jsonl')));
  expect((await running).status).toBe(0);
  const text = readFileSync(join(folder, 'b.jsonl.checkpoint'), 'utf8');
  const sizes = [...text.matchAll(/^hashtape\/.*\n(\d+)$/gm)].map(([, size]) => Number(size));
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(new Set(sizes).size).toBe(sizes.length);
});

test('of a log that was cut it says what is wrong, and what next', async () => {
  const lines = readFileSync(join(folder, 'a.jsonl'), 'utf8').split('\n').slice(0, 2);
  writeFileSync(join(folder, 'a.jsonl'), `${lines.join('\n')}\n`);
  const { status, stderr } = await as('owner', 'checkpoint', 'a.jsonl');
  expect(stderr).toMatch(
    /it doesn't hold, so it isn't signed: .*rolled_back.*`hashtape verify a\.jsonl` says what that means/,
  );
  expect(status).toBe(2);
});

describe('a witness', () => {
  const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
  const [one, two] = seeds.map((seed, i) =>
    signerKey(`w${i + 1}`, seed, nodeEd25519, 'cosignature'),
  );
  const witnessKey = (signer: typeof one): string =>
    signer ? encodeVerifierKey(signer.verifier) : '';

  async function policyOf(quorum: string): Promise<void> {
    if (one === undefined) throw new Error('no key');
    const witness = new TestWitness(one, { [origin]: [parseVerifierKey(vkey)] });
    server ??= await serve((body) => witness.answer(body));
    const lines = [
      `log ${vkey}`,
      `witness first ${witnessKey(one)} ${server.url}`,
      `witness second ${witnessKey(two)}`,
      'group both all first second',
      `quorum ${quorum}`,
    ];
    writeFileSync(join(folder, 'policy'), `${lines.join('\n')}\n`);
  }

  test('cosigns, and verify says so, by a policy or by its key', async () => {
    await policyOf('first');
    const asked = await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    expect(asked).toMatchObject({ status: 0, stderr: '' });
    expect(asked.stdout).toContain('cosigned by first');
    const by = ['verify', 'a.jsonl', '--require', 'witnessed'];
    for (const known of [
      ['--policy', 'policy'],
      ['--key', witnessKey(one)],
    ]) {
      const { status, stdout } = await as('stranger', ...by, ...known);
      expect(stdout).toMatch(/witnessed {2}all 3 records, by w1, at 2023-11-14 22:13:20 UTC/);
      expect(stdout).toMatch(/\ba\s+witness\s+saw\s+no\s+other\s+history/);
      expect(stdout).toMatch(
        /\bNor\s+that\s+the\s+witness\s+is\s+somebody\s+else\s+than\s+who\s+wrote\s+it\./,
      );
      expect(status).toBe(0);
    }
    expect(await as('stranger', ...by)).toMatchObject({ status: 1 });
  });

  test('is not enough where a policy asks for more', async () => {
    await policyOf('both');
    await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    const { status, stdout } = await as(
      'owner',
      'verify',
      'a.jsonl',
      '--require',
      'witnessed',
      '--policy',
      'policy',
    );
    expect(stdout).toContain('not_covered: no record is witnessed');
    expect(status).toBe(1);
  });

  test('refuses a log that is smaller than it was, by whoever has key and memory', async () => {
    await policyOf('first');
    await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    shrink(2);
    const { status, stderr } = await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    expect(stderr).toMatch(/witness first: refused: .*3/);
    expect(status).toBe(1);
  });

  test('that answers when the log has grown: what it cosigned is not stated behind that', async () => {
    if (one === undefined) throw new Error('no key');
    const path = join(folder, 'a.jsonl.checkpoint');
    const witness = new TestWitness(one, { [origin]: [parseVerifierKey(vkey)] });
    server = await serve((body) => {
      // As if somebody had gone on with it, and stated so.
      const text = readFileSync(path, 'utf8');
      const last = text.slice(text.lastIndexOf('hashtape/'));
      writeFileSync(path, text + last.replace(/\n3\n/, '\n4\n'));
      return witness.answer(body);
    });
    await policyOf('first');
    const { status, stderr } = await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    expect(stderr).toContain('the log has 4 records by now');
    expect(status).toBe(1);
    const sizes = [...readFileSync(path, 'utf8').matchAll(/^hashtape\/.*\n(\d+)$/gm)];
    expect(sizes.at(-1)?.[1]).toBe('4');
  });

  test('that is not there is said', async () => {
    await policyOf('first');
    await server?.close();
    server = undefined;
    const { status, stderr } = await as('owner', 'checkpoint', 'a.jsonl', '--policy', 'policy');
    expect(stderr).toMatch(/witness first: unreachable: /);
    expect(status).toBe(1);
  });

  test('a policy that is none is refused with its line', async () => {
    writeFileSync(join(folder, 'policy'), 'log nonsense\n');
    const { status, stderr } = await as('owner', 'verify', 'a.jsonl', '--policy', 'policy');
    expect(stderr).toMatch(/policy line 1: /);
    expect(status).toBe(2);
  });
});

describe.skipIf(!usable)(`a timestamp authority${needs}`, () => {
  let shop: Workshop;
  let root: Issued;
  let signer: Issued;

  beforeAll(() => {
    shop = new Workshop();
    root = shop.issue('root', undefined, { extensions: CA });
    signer = shop.issue('clock', root);
  });

  afterAll(() => shop.remove());

  async function stamped(): Promise<Executed> {
    server = await serve((body) => ({
      status: 200,
      type: 'application/timestamp-reply',
      body: shop.reply(body, signer),
    }));
    writeFileSync(join(folder, 'roots.pem'), root.pem);
    return as('owner', 'checkpoint', 'a.jsonl', '--tsa', server.url, '--tsa-roots', 'roots.pem');
  }

  test('stamps, and verify says when, to whoever trusts it', async () => {
    const asked = await stamped();
    expect(asked.stdout).toMatch(/stamped 20\d\d-.* by .*clock/);
    expect(asked.status).toBe(0);
    const trusting = await as(
      'stranger',
      'verify',
      'a.jsonl',
      '--require',
      'anchored',
      '--tsa-roots',
      'roots.pem',
    );
    expect(trusting.stdout).toMatch(
      /anchored {3}all 3 records, in a timestamp of .*clock.*, at 20\d\d-/,
    );
    expect(trusting.status).toBe(0);
    const other = await as('stranger', 'verify', 'a.jsonl');
    expect(other.stdout).toContain('a timestamp beside it is not checked: --tsa-roots gives');
    writeFileSync(
      join(folder, 'other.pem'),
      shop.issue('other', undefined, { extensions: CA }).pem,
    );
    const wrong = await as('stranger', 'verify', 'a.jsonl', '--tsa-roots', 'other.pem');
    expect(wrong.stdout).toContain("a timestamp beside it doesn't hold: ");
    expect(wrong.stdout).not.toContain('anchored ');
  });

  test('shows a log that was cut by whoever has key and memory', async () => {
    await stamped();
    shrink(2);
    const { status, stdout } = await as(
      'owner',
      'verify',
      'a.jsonl',
      '--allow-open',
      '--tsa-roots',
      'roots.pem',
    );
    expect(stdout).toMatch(/rolled_back: a timestamp of .* states 3 records, and it has 2/);
    expect(status).toBe(1);
  });

  test('without certificates it is not asked', async () => {
    const { status, stderr } = await as(
      'owner',
      'checkpoint',
      'a.jsonl',
      '--tsa',
      'http://127.0.0.1:9',
    );
    expect(stderr).toContain('--tsa needs --tsa-roots FILE');
    expect(status).toBe(2);
  });
});
