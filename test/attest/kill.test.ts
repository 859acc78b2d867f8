/**
 * A run with its evidence, killed at every change of the disk: what is left is never called tampering, and the
 * next process goes on from it.
 *
 * @module
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AttestedState, type Attesting } from '../../src/attest/attested-store.ts';
import { catalogPath, readCatalog } from '../../src/attest/catalog.ts';
import { lookUp } from '../../src/attest/look-up.ts';
import { noteReplaced, noteRun } from '../../src/attest/catalog-notes.ts';
import { type Examined, type Knowledge } from '../../src/attest/examine.ts';
import { goneFrom } from '../../src/attest/gone.ts';
import { HeadMemory } from '../../src/attest/head-memory.ts';
import { openKeyring, readKeyring } from '../../src/attest/key-file.ts';
import { createAttested, openAttested } from '../../src/attest/open.ts';
import { StoreError } from '../../src/store/index.ts';
import { scratch } from '../store/helpers.ts';
import { killedAt, removeLocks, type Change } from './disk.ts';
import {
  attestChild,
  examine,
  FINAL,
  requireBuiltAttest,
  toolRecord,
  userRecord,
} from './support.ts';

const newPath = scratch();

/** Where a run and all of its evidence are. */
interface Place {
  readonly path: string;
  readonly state: string;
  readonly config: string;
}

function newPlace(): Place {
  const root = newPath('root');
  mkdirSync(join(root, 'runs'), { recursive: true });
  const path = join(root, 'runs', 'run.jsonl');
  return { path, state: join(root, 'state'), config: join(root, 'config') };
}

/** Carries a run, or goes on with it, as the command does. */
async function carry({ path, state, config }: Place): Promise<void> {
  const { signer } = await openKeyring(config);
  const memory = new HeadMemory(state);
  const plain: Attesting = { signer, memory };
  const onState = (now: AttestedState): Promise<void> => noteRun(now, plain);
  const attesting = { ...plain, onState };
  const store = await (existsSync(path)
    ? openAttested(path, attesting, { recover: true })
    : createAttested(path, attesting));
  if (store.head.count === 0) await store.append([userRecord()]);
  await store.sync();
  while (store.head.count < 270) {
    await store.append(Array.from({ length: 90 }, (_, i) => toolRecord(i)));
    await store.sync();
  }
  await store.append([FINAL]);
  await store.sync();
  await store.close();
}

async function knowledgeOf({ state, config }: Place): Promise<Knowledge> {
  const ring = await readKeyring(config);
  return { keys: ring?.known ?? [], memory: new HeadMemory(state) };
}

/** What a crash may leave of a log. */
const CRASHED = [undefined, 'torn_tail'];

/** A plain verify of all that is there. It remembers what it sees, which must do no harm either. */
async function expectNoTampering(place: Place, what: string): Promise<void> {
  const knowledge = await knowledgeOf(place);
  const all: Examined[] = [];
  const files = [catalogPath(place.path), place.path].filter((file) => existsSync(file));
  for (const file of files) {
    const examined = await examine(file, knowledge);
    expect(CRASHED, `${what}, ${file}: ${examined.fault?.detail}`).toContain(
      examined.fault?.reason,
    );
    all.push(examined);
  }
  const gone = await goneFrom([dirname(place.path)], { files, found: new Map() }, knowledge.memory);
  expect(gone, what).toEqual([]);
}

/** The run has ended, and all of it is covered. */
async function expectWhole(place: Place, what: string): Promise<void> {
  const knowledge = await knowledgeOf(place);
  const examined = await examine(place.path, knowledge, {});
  const { count: records } = examined;
  expect(examined, what).toMatchObject({ ok: true, sealed: true });
  expect(examined.coverage, what).toMatchObject([
    { by: 'signed', records },
    { by: 'remembered', records },
  ]);
  const catalog = catalogPath(place.path);
  const listing = await examine(catalog, knowledge);
  expect(listing, what).toMatchObject({ ok: true, coverage: [{ records: listing.count }, {}] });
  const listed = (await readCatalog(catalog))?.files.get('run.jsonl');
  expect(listed?.end?.size, what).toBe(records);
}

/** Goes on with what a killed process left; it may have ended the run. */
async function goOn(place: Place): Promise<boolean> {
  removeLocks(dirname(dirname(place.path)));
  try {
    await carry(place);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'sealed') return false;
    throw error;
  }
}

/** Kills a run, then the next process, and lets the third end it; tells how the first was killed. */
async function killedTwice(
  nth: number,
  share: number,
): Promise<{ last: Change | undefined; over: boolean }> {
  const place = newPlace();
  const root = dirname(dirname(place.path));
  const { killed, changes } = await killedAt(nth, share, () => carry(place));
  const last = killed ? changes.at(-1) : undefined;
  if (last === undefined) return { last, over: true };
  const what = `killed at ${nth}, ${last.name} ${last.path}, after ${share} of it`;
  removeLocks(root);
  await expectNoTampering(place, what);
  // Somewhere else each time.
  const next = 1 + ((nth * 7) % 60);
  await killedAt(next, share, () => carry(place)).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'sealed') throw error;
  });
  removeLocks(root);
  await expectNoTampering(place, `${what}, and then at ${next}`);
  const over = !(await goOn(place));
  if (!over) await expectWhole(place, what);
  rmSync(root, { recursive: true });
  return { last, over };
}

test('killed before any change, or in the midst of one, and then again', async () => {
  let over = 0;
  let nth = 1;
  for (; ; nth += 1) {
    const { last, ...before } = await killedTwice(nth, 0);
    if (last === undefined) break;
    if (before.over) over += 1;
    if (last.part !== undefined) await killedTwice(nth, 0.5);
  }
  expect(nth).toBeGreaterThan(80);
  // A run whose last record is on the disk is over, whatever of its evidence is missing.
  expect(over).toBeGreaterThan(0);
  expect(over).toBeLessThan(0.7 * nth);
});

/** Begins a run in the place of another, as the command does. */
async function again(place: Place): Promise<void> {
  const { signer } = await openKeyring(place.config);
  const plain: Attesting = { signer, memory: new HeadMemory(place.state) };
  await noteReplaced(place.path, plain);
  const onState = (now: AttestedState): Promise<void> => noteRun(now, plain);
  const store = await createAttested(place.path, { ...plain, onState });
  await store.append([userRecord()]);
  await store.sync();
  await store.close();
}

test('a new run where an old one was removed, killed before any change or in the midst of one', async () => {
  let nth = 1;
  for (let killed = true; killed; nth += 1) {
    for (const share of [0, 0.5]) {
      const place = newPlace();
      await carry(place);
      rmSync(place.path);
      const { killed: was, changes } = await killedAt(nth, share, () => again(place));
      killed = was;
      removeLocks(dirname(dirname(place.path)));
      const { name = '', path = '' } = changes.at(-1) ?? {};
      const knowledge = { ...(await knowledgeOf(place)), listed: lookUp() };
      for (const file of [catalogPath(place.path), place.path]) {
        if (!existsSync(file)) continue;
        const { fault } = await examine(file, knowledge);
        const what = `killed at ${nth}, ${name} ${path}, ${file}: ${fault?.detail}`;
        expect(CRASHED, what).toContain(fault?.reason);
      }
      rmSync(dirname(dirname(place.path)), { recursive: true });
    }
  }
  expect(nth).toBeGreaterThan(30);
});

describe('by the system', () => {
  beforeAll(requireBuiltAttest);

  test('at any moment', async () => {
    const place = newPlace();
    const script = `
      const [state, config] = ${JSON.stringify([place.state, place.config])};
      const { signer } = await openKeyring(config);
      const memory = new HeadMemory(state);
      const plain = { signer, memory };
      const attesting = { ...plain, onState: (now) => noteRun(now, plain) };
      const store = existsSync(path) ? await openAttested(path, attesting, { recover: true }) : await createAttested(path, attesting);
      if (store.head.count === 0)
        await store.append([{ kind: 'user', payload: { run: { id: 'x' } } }]);
      for (;;) {
        await store.append(Array.from({ length: 100 }, (_, i) => tool('x'.repeat(i))));
        await store.sync();
        say(String(store.head.count));
      }`;
    let least = 0;
    for (let round = 0; round < 8; round += 1) {
      const names = {
        'key-file.js': '{ openKeyring }',
        'head-memory.js': '{ HeadMemory }',
        'open.js': '{ createAttested, openAttested }',
        'catalog-notes.js': '{ noteRun }',
      };
      const writer = attestChild(
        place.path,
        names,
        `import { existsSync } from 'node:fs';${script}`,
      );
      // The first line shows that it got going; the moment after that is random.
      let count = Number(await writer.line());
      for (let i = Math.random() * 8; i > 0; i -= 1) count = Number(await writer.line());
      writer.process.kill('SIGKILL');
      await writer.ended;
      expect(count).toBeGreaterThan(least);
      least = count;
      await expectNoTampering(place, `round ${round}`);
    }
    await goOn(place);
    await expectWhole(place, 'at the end');
  });
});
