/**
 * Opening an attested log: one that isn't what was stated of it is refused before anything is changed.
 *
 * @module
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AttestedState } from '../../src/attest/attested-store.ts';
import { catalogPath } from '../../src/attest/catalog.ts';
import { noteRun } from '../../src/attest/catalog-notes.ts';
import { checkpointPath, readCheckpoints } from '../../src/attest/checkpoint-file.ts';
import { createAttested, openAttested } from '../../src/attest/open.ts';
import { type StoreErrorCode } from '../../src/store/index.ts';
import { recordsOf, scratch, storeError } from '../store/helpers.ts';
import {
  examine,
  FINAL,
  snapshot,
  toolRecord,
  userIn,
  userRecord,
  writeLog,
  type User,
} from './support.ts';

const newPath = scratch();

function newUser(): User {
  return userIn(newPath('state'));
}

/** An open log of five records, and its bytes. */
async function openLog(): Promise<{ path: string; user: User; lines: string[] }> {
  const [path, user] = [newPath(), newUser()];
  await writeLog(path, user.attesting, { sealed: false });
  return { path, user, lines: readFileSync(path, 'utf8').split(/(?<=\n)/) };
}

/** Expects that it is refused, and that neither the log nor anything beside it is changed. */
async function refused(
  path: string,
  user: User,
  code: StoreErrorCode = 'broken',
  options: Parameters<typeof openAttested>[2] = {},
): Promise<string> {
  const before = [snapshot(dirname(path)), snapshot(user.state)];
  const error = await storeError(openAttested(path, user.attesting, options), code);
  expect([snapshot(dirname(path)), snapshot(user.state)]).toEqual(before);
  return error.message;
}

describe('a log that was cut', () => {
  test.each([0, 1, 2, 3, 4])(
    'to %i records is refused, with a torn tail and without',
    async (count) => {
      const { path, user, lines } = await openLog();
      const cut = lines.slice(0, count).join('');
      for (const tail of ['', lines[count]?.slice(0, -9) ?? '', '\0\0\0']) {
        writeFileSync(path, cut + tail);
        const message = await refused(path, user, 'broken', { recover: true });
        expect(message).toMatch(/rolled_back: .*5 records.*, and it has \d/);
        expect(message).toContain(`and it has ${count}`);
        expect(message).toContain('Put back the whole file');
      }
      writeFileSync(path, lines.join(''));
      await (await openAttested(path, user.attesting)).close();
    },
  );

  test('is refused by memory alone, and by checkpoints alone', async () => {
    for (const count of [0, 3]) {
      const { path, user, lines } = await openLog();
      writeFileSync(path, lines.slice(0, count).join(''));
      const stored = readFileSync(checkpointPath(path));
      truncateSync(checkpointPath(path));
      expect(await refused(path, user)).toContain('it had 5 records when it was written');
      writeFileSync(checkpointPath(path), stored);
      const other = newUser();
      expect(await refused(path, other)).toContain('checkpoint 2 beside it states 5 records');
    }
  });

  test('of which nothing is known is gone on with: nobody could tell', async () => {
    const { path, lines } = await openLog();
    truncateSync(checkpointPath(path));
    writeFileSync(path, lines.slice(0, 3).join(''));
    const store = await openAttested(path, newUser().attesting);
    expect(store.head.count).toBe(3);
    await store.close();
  });
});

describe('a log that was rewritten', () => {
  test('is refused by memory, and by its checkpoints', async () => {
    const { path, user } = await openLog();
    const genuine = await recordsOf(path);
    const forged = newPath();
    const store = await createAttested(forged, {});
    for (const { kind, payload } of genuine.slice(0, 4)) await store.append([{ kind, payload }]);
    await store.append([toolRecord('forged'), toolRecord('more')]);
    await store.close();
    writeFileSync(path, readFileSync(forged));
    expect(await refused(path, user)).toMatch(/root_mismatch: checkpoint 2 .*records 1 to 4/);
    truncateSync(checkpointPath(path));
    expect(await refused(path, user)).toMatch(
      /diverged: by this machine's memory of heads it had 5 records/,
    );
  });

  test('another log at its path, with its checkpoints beside, is refused', async () => {
    const { path, user } = await openLog();
    const other = await openLog();
    writeFileSync(path, readFileSync(other.path));
    expect(await refused(path, user)).toContain('checkpoint 1 beside it is of another log');
  });
});

describe('checkpoints that are damaged', () => {
  test.each(['garbage\n', 'no newline', '\n'])(
    '%j after them: refused, and told what to do',
    async (text) => {
      const { path, user } = await openLog();
      appendFileSync(checkpointPath(path), text);
      const message = await refused(path, user);
      expect(message).toContain("its checkpoints can't be used: checkpoint 3");
      expect(message).toContain(`Move ${path}.checkpoint away`);
    },
  );

  test('a folder in their place: refused', async () => {
    const [path, user] = [newPath(), newUser()];
    await writeLog(path, {}, { sealed: false });
    mkdirSync(checkpointPath(path));
    expect(await refused(path, user)).toContain('is no plain file');
  });

  test('cut off, as a crash leaves them: gone on with', async () => {
    const { path, user } = await openLog();
    const bytes = readFileSync(checkpointPath(path));
    for (const cut of [bytes.length - 1, bytes.length - 150]) {
      writeFileSync(checkpointPath(path), bytes.subarray(0, cut));
      const store = await openAttested(path, user.attesting);
      await store.append([toolRecord(cut)]);
      await store.close();
      expect(readCheckpoints(path)).toMatchObject({ torn: false });
      expect(await examine(path, user.knowledge)).toMatchObject({
        ok: true,
        coverage: [{ records: store.head.count }, { records: store.head.count }],
      });
    }
    expect(user.problems).toEqual([]);
  });
});

describe('what it opens', () => {
  test('goes on, and the recovered record counts', async () => {
    const { path, user } = await openLog();
    appendFileSync(path, '{"hash":"12');
    const store = await openAttested(path, user.attesting, { recover: true });
    expect(store.head.count).toBe(6);
    await store.sync();
    expect(readCheckpoints(path)?.checkpoints.map(({ checkpoint: { size } }) => size)).toEqual([
      1, 5, 6,
    ]);
    await store.append([FINAL]);
    await store.close();
    expect(await examine(path, user.knowledge, {})).toMatchObject({
      ok: true,
      count: 7,
      coverage: [{ records: 7 }, { records: 7 }],
    });
    expect(user.problems).toEqual([]);
  });

  test('a log whose first record was torn goes on as one like no other', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 2; i += 1) {
      const [path, user] = [newPath(), newUser()];
      writeFileSync(path, '{"hash"');
      const store = await openAttested(path, user.attesting, { recover: true });
      await store.append([FINAL]);
      await store.close();
      const examined = await examine(path, user.knowledge, {});
      expect(examined).toMatchObject({ ok: true, count: 2, remembered: true, coverage: [{}, {}] });
      ids.add(String(examined.origin));
    }
    expect(ids.size).toBe(2);
  });

  test('`accept` sees all records, and may stop early: the rest is compared all the same', async () => {
    const { path, user, lines } = await openLog();
    const seen: number[] = [];
    const store = await openAttested(path, user.attesting, {
      async accept(records) {
        for await (const { seq } of records) {
          seen.push(seq);
          if (seq === 2) break;
        }
      },
    });
    expect(seen).toEqual([0, 1, 2]);
    await store.append([toolRecord(1)]);
    await store.close();
    expect(await examine(path, user.knowledge)).toMatchObject({
      ok: true,
      coverage: [{ records: 6 }, { records: 6 }],
    });
    writeFileSync(path, lines.slice(0, 4).join(''));
    const blind = { accept: () => Promise.resolve() };
    expect(await refused(path, user, 'broken', blind)).toContain('rolled_back');
  });

  test('what `accept` throws is thrown, and the lock is free again', async () => {
    const { path, user } = await openLog();
    const mine = new Error('mine');
    const accept = (): Promise<never> => Promise.reject(mine);
    await expect(openAttested(path, user.attesting, { accept })).rejects.toBe(mine);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('who verifies it while it is opened doesn’t make it another', async () => {
    const { path, user } = await openLog();
    // What is known says less than the file holds: the last process was killed before it stated the rest.
    const plain = await openAttested(path, {});
    await plain.append([toolRecord(6), toolRecord(7)]);
    await plain.close();
    const store = await openAttested(path, user.attesting, {
      async accept(records) {
        for await (const { seq } of records)
          if (seq === 1)
            expect(await examine(path, user.knowledge)).toMatchObject({ remembered: true });
      },
    });
    await store.append([FINAL]);
    await store.close();
    expect(user.problems).toEqual([]);
    expect(await examine(path, user.knowledge, {})).toMatchObject({
      ok: true,
      coverage: [{ records: 8 }, { records: 8 }],
    });
  });

  test('through a link it has the checkpoints of what the link leads to', async () => {
    const { path, user } = await openLog();
    const link = newPath();
    symlinkSync(path, link);
    const store = await openAttested(link, user.attesting);
    await store.append([FINAL]);
    await store.close();
    expect(existsSync(checkpointPath(link))).toBe(false);
    expect(await examine(link, user.knowledge)).toMatchObject({
      ok: true,
      coverage: [{ records: 6 }, {}],
    });
  });

  test('a sealed log, a missing one, one that another holds: as a plain store says', async () => {
    const [path, user] = [newPath(), newUser()];
    await refused(path, user, 'missing');
    await writeLog(path, user.attesting);
    await refused(path, user, 'sealed');
    const open = newPath();
    const store = await createAttested(open, user.attesting);
    await storeError(openAttested(open, user.attesting), 'locked');
    await storeError(createAttested(open, user.attesting), 'locked');
    await store.close();
  });

  test('what isn’t made durable can’t be attested', async () => {
    const [path, user] = [newPath(), newUser()];
    const never = { durability: 'never' } as const;
    await expect(createAttested(path, user.attesting, never)).rejects.toThrow(TypeError);
    await expect(openAttested(path, user.attesting, never)).rejects.toThrow(TypeError);
    expect(existsSync(path)).toBe(false);
  });
});

describe('a new log where another was', () => {
  test('sets the checkpoints of the other aside, and begins anew', async () => {
    const [path, user] = [newPath(), newUser()];
    const old: Buffer[] = [];
    for (let round = 0; round < 3; round += 1) {
      await writeLog(path, user.attesting);
      expect(await examine(path, user.knowledge, {})).toMatchObject({
        ok: true,
        notices: [[], [/another log was written here/], [/2 other logs were seen here/]][
          round
        ]?.map((words) => expect.stringMatching(words)),
        coverage: [{ records: 5 }, { records: 5 }],
      });
      old.push(readFileSync(checkpointPath(path)));
      // Its user deletes the log alone.
      rmSync(path);
    }
    expect(readFileSync(`${checkpointPath(path)}.old-1`)).toEqual(old[0]);
    expect(readFileSync(`${checkpointPath(path)}.old-2`)).toEqual(old[1]);
    expect(existsSync(`${checkpointPath(path)}.old-3`)).toBe(false);
  });

  test('isn’t begun in a file that was emptied: it would cover that up', async () => {
    const [path, user] = [newPath(), newUser()];
    await writeLog(path, user.attesting);
    writeFileSync(path, '');
    const error = await storeError(createAttested(path, user.attesting), 'broken');
    expect(error.message).toMatch(/rolled_back: .* a log of 5 records .* the file is empty/);
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(await examine(path, user.knowledge)).toMatchObject({ fault: { reason: 'rolled_back' } });
    rmSync(path);
    await writeLog(path, user.attesting);
    expect(await examine(path, user.knowledge)).toMatchObject({ ok: true });
  });

  test('isn’t written through links that lead nowhere, in the place of what goes beside it', async () => {
    const [path, user] = [newPath(), newUser()];
    const elsewhere = newPath('elsewhere');
    for (const beside of ['.checkpoint', '.anchors', '.checkpoint.old-1']) {
      symlinkSync(elsewhere, path + beside);
    }
    await writeLog(path, user.attesting);
    expect(existsSync(elsewhere)).toBe(false);
    expect(user.problems).toEqual([]);
    expect(readlinkSync(`${checkpointPath(path)}.old-2`)).toBe(elsewhere);
    expect(readlinkSync(`${path}.anchors.old-1`)).toBe(elsewhere);
    expect(readCheckpoints(path)?.checkpoints).not.toHaveLength(0);
  });

  test('isn’t listed in a catalogue that leads elsewhere', async () => {
    const { path, user } = await openLog();
    const elsewhere = newPath('elsewhere');
    symlinkSync(elsewhere, catalogPath(path));
    await expect(noteRun(await stateOf(path), user.attesting)).rejects.toThrow(
      /hashtape-catalog\.jsonl is a symbolic link: nothing is written through it/,
    );
    expect(existsSync(elsewhere)).toBe(false);
  });

  test('that is cut off in its first record isn’t taken for the other one', async () => {
    const [path, user] = [newPath(), newUser()];
    await writeLog(path, user.attesting);
    rmSync(path);
    await (await createAttested(path, user.attesting)).close();
    writeFileSync(path, '{"hash":');
    expect(await examine(path, user.knowledge)).toMatchObject({ fault: { reason: 'torn_tail' } });
    const store = await openAttested(path, user.attesting, { recover: true });
    await store.append([userRecord()]);
    await store.close();
  });

  test('isn’t begun while another holds the path, and nothing is set aside', async () => {
    const [path, user] = [newPath(), newUser()];
    const store = await createAttested(path, user.attesting);
    await store.append([userRecord()]);
    await store.sync();
    await storeError(createAttested(path, user.attesting), 'locked');
    await store.close();
    await storeError(createAttested(path, user.attesting), 'exists');
    expect(readCheckpoints(path)?.checkpoints).toHaveLength(1);
    expect(existsSync(`${checkpointPath(path)}.old-1`)).toBe(false);
  });
});

test('a catalogue that can be no witness is said, and the log is gone on with', async () => {
  const { path, user } = await openLog();
  writeFileSync(catalogPath(path), 'nonsense\n');
  const store = await openAttested(path, user.attesting);
  await store.close();
  expect(user.problems).toEqual([
    expect.stringContaining("the catalogue of its folder can't be read"),
  ]);
});

test('the catalogue alone shows that a log was cut', async () => {
  const { path, user } = await openLog();
  await noteRun(await stateOf(path), user.attesting);
  const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
  writeFileSync(path, lines.slice(0, 3).join(''));
  rmSync(checkpointPath(path));
  expect(await refused(path, newUser())).toContain('the catalogue of its folder states 5 records');
});

/** What its writer would have noted of a log. */
async function stateOf(path: string): Promise<AttestedState> {
  const { origin = '', root = '', head, count: size } = await examine(path, { keys: [] });
  const identity = { id: origin.slice('hashtape/'.length), unique: true, isCatalog: false };
  return { identity, path, size, head, root, sealed: false, closed: true };
}
