/**
 * A plain verify of attested logs: while they are written, moved, copied, and of what can't be read.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import fs, {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { lookUp } from '../../src/attest/look-up.ts';
import { checkpointPath } from '../../src/attest/checkpoint-file.ts';
import { type Level } from '../../src/attest/coverage.ts';
import { Examination, type Examined } from '../../src/attest/examine.ts';
import { readKeyring } from '../../src/attest/key-file.ts';
import { openAttested } from '../../src/attest/open.ts';
import { encodeVerifierKey } from '../../src/evidence/index.ts';
import { unreadable } from '../../src/transcript/index.ts';
import { scratch } from '../store/helpers.ts';
import {
  attestChild,
  examine,
  requireBuiltAttest,
  signer,
  toolRecord,
  userIn,
  writeLog,
  type User,
} from './support.ts';

const newPath = scratch();

function newUser(): User {
  return userIn(newPath('state'));
}

/** How many records each evidence covers. */
function covered({ coverage }: Examined): Partial<Record<Level, number>> {
  return Object.fromEntries(coverage.map(({ by, records }) => [by, records]));
}

async function written(user: User, name = 'run.jsonl'): Promise<string> {
  const path = newPath(name);
  await writeLog(path, user.attesting);
  return path;
}

describe('while a process writes', () => {
  beforeAll(requireBuiltAttest);

  test('two hundred verifications find no fault, and remember what they see', async () => {
    const user = newUser();
    const path = newPath();
    const names = {
      'head-memory.js': '{ HeadMemory }',
      'open.js': '{ createAttested }',
      'catalog-notes.js': '{ noteRun }',
      'key-file.js': '{ openKeyring }',
    };
    const config = newPath('config');
    const writer = attestChild(
      path,
      names,
      `const { signer } = await openKeyring(${JSON.stringify(config)});
       const memory = new HeadMemory(${JSON.stringify(user.state)});
       const onProblem = (problem) => say('problem ' + problem);
       const plain = { signer, memory, onProblem };
       const store = await createAttested(path, { ...plain, onState: (now) => noteRun(now, plain) });
       await store.append([{ kind: 'user', payload: { run: { id: 'x' } } }]);
       await store.sync();
       say('begun ' + JSON.stringify(signer.verifier.name));
       let isOver = false;
       process.stdin.once('data', () => (isOver = true));
       while (!isOver && store.head.count < 3000) {
         // Turns of any size, synced now and then, so that checkpoints fall anywhere.
         await store.append(Array.from({ length: 1 + Math.floor(Math.random() * 9) }, (_, i) => tool(i)));
         if (Math.random() < 0.3) await store.sync();
         await new Promise((resolve) => setTimeout(resolve, 3));
       }
       await store.append([{ kind: 'final', payload: {} }]);
       await store.sync();
       await store.close();
       process.stdin.destroy();
       say('over');`,
    );
    expect(await writer.line()).toMatch(/^begun/);
    const { known: keys = [] } = (await readKeyring(config)) ?? {};
    const knowledge = { ...user.knowledge, keys, listed: lookUp() };
    let unseen = 0;
    const sizes = new Set<number>();
    let last = 0;
    for (let i = 0; i < 200; i += 1) {
      const examined = await examine(path, knowledge);
      const { count, fault, notices, remembered } = examined;
      // A record that is just being written is one that a crash could leave, too.
      expect([undefined, 'torn_tail'], JSON.stringify(fault)).toContain(fault?.reason);
      for (const notice of notices) expect(notice).toContain('unfinished');
      // The writer may have stated less meanwhile, which this verification hasn't compared: the next one will.
      if (!remembered) unseen += 1;
      expect(count).toBeGreaterThanOrEqual(last);
      last = count;
      sizes.add(covered(examined).remembered ?? 0);
    }
    writer.process.stdin?.end('over\n');
    expect(await writer.line()).toBe('over');
    await writer.ended;
    expect(last).toBeGreaterThan(300);
    expect(sizes.size).toBeGreaterThan(5);
    expect(unseen).toBeLessThan(100);
    const examined = await examine(path, { ...knowledge, listed: lookUp() }, {});
    const { count: records } = examined;
    expect(examined).toMatchObject({
      ok: true,
      sealed: true,
      coverage: [{ records }, { records }],
    });
  });
});

describe('where a log is', () => {
  test('moved, copied, linked: it is still recognised', async () => {
    const user = newUser();
    const path = await written(user);
    const places = [
      newPath('moved.jsonl'),
      newPath('copied.jsonl'),
      newPath('hard.jsonl'),
      newPath('soft.jsonl'),
    ];
    const [moved = '', copied = '', hard = '', soft = ''] = places;
    renameSync(path, moved);
    copyFileSync(moved, copied);
    linkSync(moved, hard);
    symlinkSync(moved, soft);
    for (const place of places) {
      expect(covered(await examine(place, user.knowledge)), place).toEqual({ remembered: 5 });
      const lines = readFileSync(place, 'utf8').split(/(?<=\n)/);
      writeFileSync(newPath('cut.jsonl'), lines.slice(0, 3).join(''));
    }
    // Cut, wherever it is.
    const lines = readFileSync(copied, 'utf8').split(/(?<=\n)/);
    writeFileSync(copied, lines.slice(0, 3).join(''));
    expect(await examine(copied, user.knowledge)).toMatchObject({
      fault: { reason: 'rolled_back', seq: 3 },
    });
    expect(user.memory.at(moved)).toMatchObject([{ size: 5 }]);
  });

  test('two runs never are one, whatever they have in common', async () => {
    const user = newUser();
    const origins = new Set<string | undefined>();
    for (let i = 0; i < 5; i += 1)
      origins.add((await examine(await written(user), user.knowledge)).origin);
    expect(origins.size).toBe(5);
    expect(user.memory.list()).toHaveLength(5);
  });

  test('another log in its place is noted by who has seen the first, and a fault for who wrote that', async () => {
    const writer = newUser();
    const { knowledge } = newUser();
    const [path, other] = [await written(writer), await written(writer)];
    const { origin } = await examine(path, knowledge);
    copyFileSync(other, path);
    copyFileSync(checkpointPath(other), checkpointPath(path));
    const examined = await examine(path, knowledge);
    expect(examined).toMatchObject({ ok: true });
    const notice = expect.stringMatching(`another log was seen here at .*: ${origin}, 5 records`);
    expect(examined.notices).toContainEqual(notice);
    // As long as it is remembered.
    expect((await examine(path, knowledge)).notices).toContainEqual(notice);
    // However often it is verified.
    for (const _ of ['once', 'again'])
      expect(await examine(path, writer.knowledge)).toMatchObject({
        ok: false,
        fault: {
          seq: 0,
          reason: 'diverged',
          detail: expect.stringMatching(`another log, ${origin}, of 5 records, was written here`),
          undo: expect.stringContaining('heads forget'),
        },
      });
  });

  test('another log in its place is noted by its writer too, where that lies in another', async () => {
    const user = newUser();
    const [path, other] = [await written(user), await written(user)];
    const moved = newPath();
    renameSync(path, moved);
    rmSync(checkpointPath(path));
    copyFileSync(other, path);
    expect(await examine(path, user.knowledge)).toMatchObject({ fault: { reason: 'diverged' } });
    expect(await examine(moved, user.knowledge)).toMatchObject({ ok: true });
    expect(await examine(path, user.knowledge)).toMatchObject({
      ok: true,
      notices: [expect.stringContaining('another log was written here at ')],
    });
  });

  test('what was verified counts at another place where another log took the first', async () => {
    const writer = newUser();
    const { knowledge } = newUser();
    const [path, other] = [await written(writer), await written(writer)];
    for (const each of [path, other])
      expect(await examine(each, knowledge)).toMatchObject({ ok: true });
    const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
    renameSync(other, path);
    const cut = newPath('cut.jsonl');
    writeFileSync(cut, lines.slice(0, 3).join(''));
    expect(await examine(cut, knowledge)).toMatchObject({
      fault: { reason: 'rolled_back', seq: 3 },
    });
  });

  test('a log of no record has nothing that can be required', async () => {
    const user = newUser();
    const path = newPath();
    writeFileSync(path, '');
    for (const level of ['signed', 'remembered', 'anchored', 'witnessed'] as const)
      expect(await examine(path, { ...user.knowledge, required: [level] })).toMatchObject({
        ok: false,
        fault: { reason: 'not_covered' },
      });
  });

  test('with its checkpoints deleted, memory still covers it; with both, nothing does', async () => {
    const user = newUser();
    const path = await written(user);
    rmSync(checkpointPath(path));
    expect(covered(await examine(path, user.knowledge))).toEqual({ remembered: 5 });
    rmSync(user.state, { recursive: true });
    const examined = await examine(path, user.knowledge);
    expect(examined).toMatchObject({ ok: true, coverage: [], remembered: true });
  });
});

describe('what is remembered', () => {
  test('only what holds: a file that isn’t what its user expects is not', async () => {
    const genuine = newUser();
    const path = await written(genuine);
    const head = 'f'.repeat(64);
    for (const options of [{ head }, { count: 9 }, { head, allowOpen: true }]) {
      const user = newUser();
      expect(await examine(path, user.knowledge, options)).toMatchObject({
        ok: false,
        remembered: false,
      });
      expect(existsSync(user.state)).toBe(false);
    }
    const user = newUser();
    const required = { ...user.knowledge, keys: [], required: ['signed'] } as const;
    expect(await examine(path, required)).toMatchObject({
      fault: { reason: 'unknown_key' },
      remembered: false,
    });
    expect(existsSync(user.state)).toBe(false);
  });

  test('also what isn’t sealed yet, and the whole records before a torn one', async () => {
    const user = newUser();
    const path = newPath();
    await writeLog(path, {}, { sealed: false });
    expect(await examine(path, user.knowledge, {})).toMatchObject({
      fault: { reason: 'not_sealed' },
      remembered: true,
    });
    const store = await openAttested(path, {});
    await store.append([toolRecord(1)]);
    await store.close();
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"ha`);
    expect(await examine(path, user.knowledge, {})).toMatchObject({
      fault: { reason: 'torn_tail' },
      remembered: true,
    });
    expect(user.memory.list()).toMatchObject([{ size: 6, by: 'verifier' }]);
  });

  test('only once the log itself is on the disk', async () => {
    const user = newUser();
    const path = newPath();
    await writeLog(path, {});
    const steps: string[] = [];
    const { open } = fs.promises;
    fs.promises.open = async (name, ...how) => {
      const file = await open(name, ...how);
      const datasync = file.datasync.bind(file);
      if (name === path) file.datasync = () => (steps.push('sync'), datasync());
      return file;
    };
    const remember = user.memory.remember.bind(user.memory);
    user.memory.remember = (...how) => (steps.push('remember'), remember(...how));
    syncBuiltinESMExports();
    try {
      expect(await examine(path, user.knowledge)).toMatchObject({ remembered: true });
    } finally {
      fs.promises.open = open;
      syncBuiltinESMExports();
    }
    expect(steps).toEqual(['sync', 'remember']);
  });

  test('a memory that is damaged is told each time, and left as it is', async () => {
    const user = newUser();
    const path = await written(user);
    const [known] = user.memory.list();
    const file = join(user.state, 'heads', `${known?.log}.json`);
    writeFileSync(file, 'garbage');
    for (let i = 0; i < 2; i += 1) {
      expect(await examine(path, user.knowledge)).toMatchObject({
        ok: true,
        remembered: false,
        coverage: [{ by: 'signed' }],
        notices: [expect.stringContaining(`Delete ${file}`)],
      });
    }
    expect(readFileSync(file, 'utf8')).toBe('garbage');
    rmSync(file);
    expect(await examine(path, user.knowledge)).toMatchObject({ remembered: true, notices: [] });
  });

  test('a memory that can’t be written is noted', async () => {
    const user = newUser();
    const path = newPath();
    await writeLog(path, {});
    mkdirSync(user.state);
    writeFileSync(join(user.state, 'heads'), '');
    const examined = await examine(path, user.knowledge);
    expect(examined).toMatchObject({ ok: true, remembered: false });
    expect(examined.notices).not.toEqual([]);
  });

  test('a run without an id is not, and it is said', async () => {
    const user = newUser();
    const path = newPath();
    await writeLog(path, {}, { id: '' });
    expect(await examine(path, user.knowledge)).toMatchObject({
      ok: true,
      remembered: false,
      notices: [expect.stringContaining('the run has no id')],
    });
    expect(existsSync(user.state)).toBe(false);
  });
});

describe('what is required', () => {
  const LEVELS: readonly Level[] = ['signed', 'remembered', 'anchored', 'witnessed'];

  test.each(LEVELS)('%s: a log without any evidence is not covered', async (required) => {
    const path = newPath();
    await writeLog(path, {});
    const examined = await examine(path, { ...newUser().knowledge, required: [required] });
    expect(examined).toMatchObject({
      ok: false,
      fault: { reason: 'not_covered', seq: 0, line: 1, detail: `no record is ${required}` },
    });
  });

  test('what is signed and remembered is enough for these levels alone', async () => {
    const user = newUser();
    const path = await written(user);
    for (const required of LEVELS) {
      const { ok } = await examine(path, { ...user.knowledge, required: [required] });
      expect(ok, required).toBe(required === 'signed' || required === 'remembered');
    }
  });

  test('records after the last checkpoint are not signed', async () => {
    const user = newUser();
    const path = newPath();
    await writeLog(path, user.attesting, { sealed: false });
    const store = await openAttested(path, {});
    await store.append([toolRecord(1)]);
    await store.close();
    for (const required of ['signed', 'remembered'] as const) {
      // Not yet known: the one who verifies remembers it only after it was compared.
      const fresh = userIn(user.state);
      const examined = await examine(path, { ...fresh.knowledge, required: [required] });
      expect(examined.fault, required).toMatchObject({
        reason: 'not_covered',
        seq: 5,
        detail: `record 5 and what follows it are not ${required}`,
      });
    }
  });

  test.each<[readonly Level[]]>([
    [['remembered']],
    [['remembered', 'remembered']],
    [['signed', 'remembered']],
    [['remembered', 'signed']],
  ])('what must be remembered is so from its first sight on: %j', async (required) => {
    // Another user, who knows the key.
    const author = newUser();
    const path = await written(author);
    const knowledge = { ...userIn(newPath('state'), author.signer).knowledge, required };
    expect(await examine(path, knowledge)).toMatchObject({ ok: false, remembered: true });
    expect(await examine(path, knowledge)).toMatchObject({ ok: true });
  });

  test('but not while something else that is required is not there', async () => {
    const path = newPath();
    await writeLog(path, {});
    const { knowledge } = newUser();
    const required = ['remembered', 'signed'] as const;
    for (const time of ['first', 'second'])
      expect(await examine(path, { ...knowledge, required }), time).toMatchObject({
        ok: false,
        remembered: false,
      });
  });

  test('a fault of the chain, and of the evidence, come first', async () => {
    const user = newUser();
    const path = await written(user);
    const knowledge = { ...user.knowledge, required: ['witnessed'] } as const;
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text
        .split(/(?<=\n)/)
        .slice(0, 2)
        .join(''),
    );
    expect(await examine(path, knowledge)).toMatchObject({ fault: { reason: 'rolled_back' } });
    writeFileSync(path, text.replace('"ok":true', '"ok":null'));
    expect(await examine(path, knowledge)).toMatchObject({ fault: { reason: 'hash_mismatch' } });
  });

  test('a known key counts, an unknown one is named', async () => {
    const user = newUser();
    const path = newPath();
    const other = signer(4, 'other');
    await writeLog(path, { signer: other });
    const name = `other+${other.verifier.keyId}`;
    expect(await examine(path, { ...user.knowledge, required: ['signed'] })).toMatchObject({
      fault: { reason: 'unknown_key', detail: expect.stringContaining(name) },
    });
    expect(await examine(path, user.knowledge)).toMatchObject({
      ok: true,
      notices: [`signed by an unknown key: ${name}`],
    });
    const keys = [...user.knowledge.keys, other.verifier];
    expect(await examine(path, { ...user.knowledge, keys, required: ['signed'] })).toMatchObject({
      ok: true,
      coverage: [{ by: 'signed', who: encodeVerifierKey(other.verifier) }, { by: 'remembered' }],
    });
  });
});

describe('what can’t be read', () => {
  test('a missing file and a folder have no evidence', async () => {
    const user = newUser();
    for (const path of [newPath(), dirname(newPath())]) {
      const examination = await Examination.of(path, user.knowledge);
      expect(await examination.end(unreadable('no'))).toEqual({
        ...unreadable('no'),
        fault: { ...unreadable('no').fault, line: 1 },
        coverage: [],
        remembered: false,
        notices: [],
      });
    }
  });

  test('checkpoints that are a folder, or a pipe, are noted, and never waited for', async () => {
    const made: ((path: string) => unknown)[] = [(path) => mkdirSync(path)];
    if (process.platform !== 'win32') made.push((path) => spawnSync('mkfifo', [path]));
    for (const make of made) {
      const user = newUser();
      const path = await written(user);
      rmSync(checkpointPath(path));
      make(checkpointPath(path));
      expect(await examine(path, user.knowledge)).toMatchObject({
        ok: true,
        coverage: [{ by: 'remembered' }],
        notices: [expect.stringContaining("its checkpoints can't be read")],
      });
    }
  });

  test.skipIf(process.platform === 'win32')(
    'a pipe is verified, and nothing is known or remembered of it (needs mkfifo)',
    async () => {
      const user = newUser();
      const path = newPath();
      spawnSync('mkfifo', [path]);
      const examination = await Examination.of(path, user.knowledge);
      const examined = await examination.end({
        ok: true,
        count: 0,
        head: '0'.repeat(64),
        sealed: false,
      });
      expect(examined).toMatchObject({ ok: true, coverage: [], remembered: false });
      expect(existsSync(user.state)).toBe(false);
    },
  );

  test('an emptied log is known by its place', async () => {
    const user = newUser();
    const path = await written(user);
    rmSync(checkpointPath(path));
    for (const text of ['', '{"hash":']) {
      writeFileSync(path, text);
      expect(await examine(path, user.knowledge)).toMatchObject({
        ok: false,
        fault: {
          reason: 'rolled_back',
          seq: 0,
          detail: expect.stringContaining('it had 5 records'),
        },
      });
    }
    truncateSync(path);
    expect(await examine(path, newUser().knowledge)).toMatchObject({ ok: true, count: 0 });
  });

  test('a log that is broken is compared no further, and not remembered', async () => {
    const user = newUser();
    const path = await written(user);
    const other = newUser();
    writeFileSync(path, readFileSync(path, 'utf8').replace('"value":1', '"value":7'));
    expect(await examine(path, other.knowledge)).toMatchObject({
      fault: { reason: 'hash_mismatch', seq: 2 },
      coverage: [{ by: 'signed', records: 1 }],
      remembered: false,
    });
    expect(existsSync(other.state)).toBe(false);
  });
});
