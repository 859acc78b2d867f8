/**
 * Runs whose values are taken out of the record: they do what they would have done, their files hold none of it, and
 * they go on after a crash at any write.
 *
 * @module
 */
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Revealer, type Disclosed } from '../../src/evidence/revealer.ts';
import { diff } from '../../src/replay/diff.ts';
import { replay } from '../../src/replay/replay.ts';
import { JournalError } from '../../src/run/journal.ts';
import { type Model } from '../../src/run/model.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { type Outcome } from '../../src/run/outcome.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { readDisclosures } from '../../src/store/disclosure-file.ts';
import {
  createTranscript,
  memoryStore,
  openTranscript,
  verifyFile,
} from '../../src/store/index.ts';
import { SOME_BUDGET, someScript, TOOLS } from '../run/random-run.ts';
import { call, drive, model, toolOf, type Step } from '../run/support.ts';
import { recordsOf, scratch } from '../store/helpers.ts';
import {
  completeLines,
  expectCarriedOn,
  inChild,
  placeIn,
  resumeHere,
  type Kill,
} from './killed-run.ts';
import { byTurns, expectWhole, requireBuild } from './support.ts';

const newPath = scratch();
beforeAll(requireBuild);

/** With everything in it that is spelled in more than one way. */
const PASSWORD = 'pass"wörd\n\\😀';
const TOKEN = 'token-4711';
const RULES = ['tools.login.arguments.password', 'tools.login.result.token', 'task'];
const SPELLED = `{"user": "bob", "password": ${JSON.stringify(PASSWORD).replace('ö', '\\u00f6')}}`;

const SCRIPT: readonly Step[] = [
  { content: 'I log in.', toolCalls: [call('login', SPELLED)] },
  { toolCalls: [call('login', { user: 'bob', password: PASSWORD })] },
  { toolCalls: [call('fetch', { header: `Bearer ${TOKEN}` }), call('fetch', '{"broken": ')] },
  { content: `Done, with ${PASSWORD}.` },
];

function task(): Pick<RunOptions, 'task' | 'tools' | 'redact'> & { received: unknown[] } {
  const received: unknown[] = [];
  const login = toolOf('login', (args) => {
    received.push(args);
    return { token: TOKEN, for: 'bob' };
  });
  const fetch = toolOf('fetch', (args) => {
    received.push(args);
    throw new Error(`401 for ${JSON.stringify(args)} of ${PASSWORD}`);
  });
  return { task: `Log in with ${PASSWORD}`, tools: [login, fetch], redact: RULES, received };
}

async function ran(path: string = newPath()): Promise<{
  path: string;
  outcome: Outcome;
  received: unknown[];
  asked: readonly unknown[];
}> {
  const { received, ...options } = task();
  const asked = byTurns(SCRIPT);
  const outcome = await run({ ...options, model: asked, transcript: path });
  return { path, outcome, received, asked: asked.asked };
}

/** An outcome without what differs between any two runs. */
function told({ transcript: _transcript, spent, ...outcome }: Outcome): unknown {
  return { ...outcome, spent: { ...spent, seconds: 0 } };
}

async function standing(path: string): Promise<Disclosed> {
  const revealer = new Revealer(await readDisclosures(path));
  for (const record of await recordsOf(path)) revealer.reveal(record);
  return revealer.end((await verifyFile(path)).ok);
}

function expectNoSecret(path: string): void {
  // Whatever else a run leaves beside its transcript, but for the disclosures themselves.
  for (const name of readdirSync(dirname(path)).filter((one) => !one.endsWith('.open'))) {
    const text = readFileSync(join(dirname(path), name)).toString('latin1');
    for (const secret of [PASSWORD, TOKEN]) {
      const inJson = JSON.stringify(secret).slice(1, -1);
      const twice = JSON.stringify(inJson).slice(1, -1);
      const escaped = inJson.replace('ö', '\\u00f6');
      for (const spelling of [secret, inJson, twice, escaped, JSON.stringify(escaped).slice(1, -1)])
        expect(text, name).not.toContain(Buffer.from(spelling).toString('latin1'));
      for (const some of ['pass"', 'pass\\"', 'wörd', 'w\\u00f6rd'])
        expect(text, name).not.toContain(Buffer.from(some).toString('latin1'));
    }
  }
}

test('the run is the one that it would have been; its transcript holds none of what is taken out', async () => {
  const { path, outcome, received, asked } = await ran();
  const { redact: _rules, received: plainly, ...options } = task();
  const same = byTurns(SCRIPT);
  const store = memoryStore();
  const plain = await run({ ...options, model: same, transcript: store });
  expect(told(outcome)).toEqual(told(plain));
  expect(received).toEqual(plainly);
  expect(received[0]).toEqual({ user: 'bob', password: PASSWORD });
  expect(asked).toEqual(same.asked);
  expect(JSON.stringify(asked.at(-1))).toContain('second time in this run that login was called');
  expectNoSecret(path);
  expect(readFileSync(path, 'utf8')).toContain(`"redact":${JSON.stringify(RULES.toSorted())}`);
  const found = await standing(path);
  expect(found).toMatchObject({ withheld: 0, unused: 0, faults: [] });
  // Put together again it is the very record that there would have been, but for the rules.
  const revealer = new Revealer(await readDisclosures(path));
  const records = (await recordsOf(path)).map((record) => revealer.reveal(record).record.payload);
  const [first, ...rest] = (await recordsOf(store)).map(({ payload }) => payload);
  expect(records.slice(1)).toEqual(rest);
  expect(records[0]).toMatchObject({ content: task().task });
  expect(first).not.toHaveProperty('run.redact');
});

test('it verifies, replays and compares; without the disclosures it still verifies', async () => {
  const { path, outcome } = await ran();
  const { count } = outcome.transcript;
  expect(await replay(path)).toMatchObject({ ok: true, count, sealed: true });
  const other = await ran();
  expect((await diff(path, other.path)).same).toBe(true);
  const open = readFileSync(`${path}.open`);
  rmSync(`${path}.open`);
  expect(await verifyFile(path)).toMatchObject({ ok: true, count });
  expect(await standing(path)).toMatchObject({ disclosed: 0, unused: 0, faults: [] });
  // The task itself is withheld.
  // One after the other: of two at once, the second could fail while nobody waits for it yet.
  for (const needing of [() => replay(path), () => diff(path, other.path)])
    await expect(needing()).rejects.toThrow(
      `${path}: record 0 committed to values that are withheld`,
    );
  writeFileSync(`${path}.open`, open);
  expect(await replay(path)).toMatchObject({ ok: true });
});

test('each disclosure that is gone ends a replay where it is needed, and is never called a difference', async () => {
  const { path } = await ran();
  const lines = readFileSync(`${path}.open`, 'utf8').split(/(?<=\n)/);
  expect(lines.length).toBeGreaterThan(8);
  for (const [i, line] of lines.entries()) {
    writeFileSync(`${path}.open`, lines.filter((_, k) => k !== i).join(''));
    const seq = Number(line.split(' ')[0]);
    expect(await verifyFile(path)).toMatchObject({ ok: true });
    if (seq === 0) await expect(replay(path)).rejects.toThrow(/withheld/);
    else {
      const found = await replay(path);
      expect(found).toMatchObject({ ok: false, withheldFrom: seq, count: seq, sealed: true });
      expect(found.divergence).toBeUndefined();
    }
  }
});

test('a disclosure that is forged is a fault, and what it stood for is withheld', async () => {
  const { path } = await ran();
  const open = readFileSync(`${path}.open`, 'utf8');
  const forged = open.replace(
    /^1 .*$/m,
    `1 ${Buffer.from('["s","password","else"]').toString('base64url')}`,
  );
  writeFileSync(`${path}.open`, forged);
  expect((await standing(path)).faults).toHaveLength(1);
  expect(await replay(path)).toMatchObject({ ok: false, withheldFrom: 1 });
});

describe('rules', () => {
  test('are refused before anything is written', async () => {
    const path = newPath();
    const options = { ...task(), model: byTurns(SCRIPT), transcript: path };
    const { received: _received, ...good } = options;
    for (const [redact, problem] of [
      [['tools.logn.arguments'], /would take out nothing: the tools are login, fetch/],
      [['password'], /is no rule/],
      ['task', /must be a list of texts/],
    ] as const) {
      await expect(run({ ...good, redact: redact as never })).rejects.toThrow(problem);
      expect(existsSync(path)).toBe(false);
    }
    // There has to be a place for what is taken out.
    await expect(run({ ...good, transcript: memoryStore() })).rejects.toThrow(/give its path/);
    await expect(run({ ...good, transcript: undefined })).rejects.toThrow(/give its path/);
  });

  test('without any, nothing is different', async () => {
    const { received: _received, redact: _redact, ...options } = task();
    const [one, two] = await Promise.all(
      [{}, { redact: [] }].map((more) => drive({ ...options, ...more, model: byTurns(SCRIPT) })),
    );
    expect(one?.text).toBe(two?.text);
    expect(one?.text).not.toContain('redact');
    const path = newPath();
    await run({ ...options, model: byTurns(SCRIPT), transcript: path });
    expect(readFileSync(path, 'utf8')).toBe(one?.text);
    expect(existsSync(`${path}.open`)).toBe(false);
  });

  test('a store of a file will do, and stays open', async () => {
    const path = newPath();
    const store = await createTranscript(path);
    const { received: _received, ...options } = task();
    await run({ ...options, model: byTurns(SCRIPT), transcript: store });
    await store.sync();
    await store.close();
    expectNoSecret(path);
    expect(await replay(path)).toMatchObject({ ok: true });
  });

  test('disclosures that are there already are not mixed with new ones', async () => {
    const { path } = await ran();
    const before = readFileSync(`${path}.open`);
    rmSync(path);
    await ran(path);
    expect(readFileSync(`${path}.open.old-1`)).toEqual(before);
    expect(readFileSync(`${path}.open`)).not.toEqual(before);
    expect(await replay(path)).toMatchObject({ ok: true });
  });

  test('nor with those of a transcript that was emptied', async () => {
    const { path } = await ran();
    const before = readFileSync(`${path}.open`);
    writeFileSync(path, '');
    await ran(path);
    expect(readFileSync(`${path}.open.old-1`)).toEqual(before);
  });
});

function part(text = '', share = 0): string {
  return text.slice(0, Math.floor(text.length * share));
}

/** The first records of a run, with their disclosures and with `more` of what follows. */
async function cutAfter(
  count: number,
  more: { open?: number; record?: number } = {},
): Promise<string> {
  const { path } = await ran();
  const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
  const open = readFileSync(`${path}.open`, 'utf8').split(/(?<=\n)/);
  const [kept, next] = [0, 1].map((k) =>
    open
      .filter((line) =>
        k === 0 ? Number(line.split(' ')[0]) < count : line.startsWith(`${count} `),
      )
      .join(''),
  );
  writeFileSync(path, lines.slice(0, count).join('') + part(lines[count], more.record));
  writeFileSync(`${path}.open`, kept + part(next, more.record === undefined ? more.open : 1));
  return path;
}

/** Goes on to the end, and expects the run that there would have been. */
async function goesOn(path: string): Promise<void> {
  const before = completeLines({ path, effects: '' });
  const { received: _received, task: said, ...options } = task();
  const isBegun = before.length > 0;
  const asked = byTurns(SCRIPT);
  const again = isBegun ? { tools: options.tools } : { ...options, task: said };
  const outcome = await resume(path, { ...again, model: asked });
  expect(outcome.reason).toBe('no_tool_calls');
  expect(outcome.answer).toContain(PASSWORD);
  await expectWhole(path);
  expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
  expectNoSecret(path);
  expect(await standing(path)).toMatchObject({ withheld: 0, unused: 0, faults: [] });
  expect(JSON.stringify(asked.asked.at(-1)?.messages)).toContain(
    JSON.stringify(task().task).slice(1, -1),
  );
}

describe('a crash', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'at each write around record %i: the run goes on, whole',
    async (count) => {
      for (const more of [
        {},
        { open: 0.01 },
        { open: 0.5 },
        { open: 1 },
        { record: 0.01 },
        { record: 0.5 },
        { record: 0.999 },
      ])
        await goesOn(await cutAfter(count, more));
    },
  );

  test('before it goes on, what is left over is told and is no fault', async () => {
    const path = await cutAfter(2, { open: 1 });
    expect(await standing(path)).toMatchObject({ withheld: 0, unused: 1, faults: [] });
    const torn = await cutAfter(2, { open: 0.5 });
    expect(await standing(torn)).toMatchObject({ withheld: 0, unused: 1, faults: [] });
  });

  test('a run that goes on without rules leaves nothing over either', async () => {
    const path = await cutAfter(2, { open: 1 });
    const { tools } = task();
    await resume(path, { tools, model: byTurns(SCRIPT), redact: [], allow: ['redact'] });
    expect(await standing(path)).toMatchObject({ withheld: 0, unused: 0, faults: [] });
    expect(await replay(path)).toMatchObject({ ok: true });
  });
});

/** A run that was cut off, without some of its disclosures. */
async function without(keep: (line: string) => boolean): Promise<string> {
  const path = await cutAfter(4);
  const lines = readFileSync(`${path}.open`, 'utf8').split(/(?<=\n)/);
  writeFileSync(`${path}.open`, lines.filter(keep).join(''));
  return path;
}

describe('going on', () => {
  test.each([
    ['all', (): boolean => false, 0],
    ['one', (line: string): boolean => !line.startsWith('1 '), 1],
  ])(
    'with %s of the disclosures withheld is refused, and changes nothing',
    async (_, keep, seq) => {
      const path = await without(keep);
      const before = readFileSync(path);
      const refused = await resume(path, { tools: task().tools, model: byTurns(SCRIPT) }).then(
        () => 'it went on',
        (problem: unknown) => problem,
      );
      expect(refused).toBeInstanceOf(JournalError);
      expect(String(refused)).toContain(
        `record ${seq} committed to values that are withheld: ${path}.open doesn't disclose them`,
      );
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  test('with a disclosure that is wrong is refused too, and changes nothing', async () => {
    for (const line of [
      'junk\n',
      `1 ${Buffer.from('["s","password","else"]').toString('base64url')}\n`,
    ]) {
      const path = await cutAfter(4);
      appendFileSync(`${path}.open`, line);
      const [before, open] = [readFileSync(path), readFileSync(`${path}.open`)];
      const going = resume(path, { tools: task().tools, model: byTurns(SCRIPT) });
      await expect(going).rejects.toThrow(
        /\.open: line \d+: it .*; take that line out, or put the file back/,
      );
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readFileSync(`${path}.open`).equals(open)).toBe(true);
    }
  });

  test('under other rules is a difference, which may be allowed', async () => {
    const path = await cutAfter(4);
    const options = { tools: task().tools, model: byTurns(SCRIPT), redact: ['task'] };
    await expect(resume(path, options)).rejects.toThrow(
      /redact was \["task","tools\.login\.arguments\.password","tools\.login.* and is \["task"\]. .*allow: \['redact'\]/,
    );
    await resume(path, { ...options, redact: RULES.toReversed(), model: byTurns(SCRIPT) });
    expect(await standing(path)).toMatchObject({ withheld: 0, faults: [] });
    const other = await cutAfter(4);
    await resume(other, { ...options, allow: ['redact'] });
    expect(await replay(other)).toMatchObject({ ok: true });
    expect(await standing(other)).toMatchObject({ withheld: 0, faults: [] });
  });

  test('of a run without rules may bring some: from there on they hold', async () => {
    const path = newPath();
    const { received: _received, redact, ...options } = task();
    await run({ ...options, model: byTurns(SCRIPT), transcript: path });
    const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
    writeFileSync(path, lines.slice(0, 3).join(''));
    const given = { tools: options.tools, model: byTurns(SCRIPT), redact };
    await expect(resume(path, given)).rejects.toThrow(/redact was not there and is/);
    await resume(path, { ...given, allow: ['redact'] });
    expect(await replay(path)).toMatchObject({ ok: true });
    const found = await standing(path);
    expect(found).toMatchObject({ withheld: 0, faults: [] });
    expect(found.committed).toBeGreaterThan(0);
  });

  test('with a store, whose disclosures stand beside it', async () => {
    const path = await cutAfter(4);
    const store = await openTranscript(path);
    await resume(store, { tools: task().tools, model: byTurns(SCRIPT) });
    expect(await replay(store)).toMatchObject({ ok: true });
    await store.close();
    expect(await standing(path)).toMatchObject({ withheld: 0, faults: [] });
  });
});

describe('kill -9', () => {
  const redact = ['tools.pay.arguments', 'tools.*.result.did', 'task'];

  test.each<[string, Kill]>([
    ['before the disclosures have a file', { at: 'open of disclosures' }],
    ['before the first of them', { at: 'write of disclosures' }],
    ['in the middle of it', { at: 'write of disclosures', bytes: 0.5 }],
    ['before it is synced', { at: 'sync of disclosures' }],
    ['between it and its record', { at: 'write of user' }],
    ['in the middle of its record', { at: 'write of user', bytes: 0.5 }],
    ['in the middle of those of a turn', { at: 'write of disclosures', nth: 2, bytes: 0.9 }],
    ['between them and the turn', { at: 'write of assistant' }],
    ['in the middle of the turn', { at: 'write of assistant', bytes: 0.5 }],
    ['with a loss of power after the turn', { at: 'start of pay', power: true }],
    ['in the middle of those of a result', { at: 'write of disclosures', nth: 3, bytes: 0.5 }],
    ['between them and the result', { at: 'write of tool' }],
    ['in the middle of the result', { at: 'write of tool', bytes: 0.5 }],
    ['and the power is lost too', { at: 'write of tool', nth: 2, power: true }],
  ])('%s', async (_, kill) => {
    const place = placeIn(newPath());
    expect(await inChild(place, { ...kill, redact })).toEqual({ killed: true });
    expect(await standing(place.path)).toMatchObject({ withheld: 0, faults: [] });
    const before = completeLines(place);
    const outcome = await resumeHere(place, redact);
    await expectCarriedOn(place, [before], outcome);
    const found = await standing(place.path);
    expect(found).toMatchObject({ withheld: 0, unused: 0, faults: [] });
    expect(found.committed).toBeGreaterThan(50);
    expect(readFileSync(place.path, 'utf8')).not.toContain('thirty steps');
  });
});

test('what looks like commitments in a result is none, with rules and without', async () => {
  const odd = {
    _sd: ['x'.repeat(43)],
    list: [{ '...': 'y'.repeat(43) }, { '...': 1 }],
    deep: { _sd: 1 },
  };
  for (const redact of [['task'], []]) {
    const path = newPath();
    const asked = byTurns([{ toolCalls: [call('odd')] }, { content: 'done' }]);
    const options = { tools: [toolOf('odd', () => odd)], model: asked, redact };
    await run({ task: 'go', ...options, transcript: path });
    expect(JSON.stringify(asked.asked.at(-1)?.messages)).toContain('xxx');
    expect(await replay(path)).toMatchObject({ ok: true, sealed: true });
    expect(await standing(path)).toMatchObject({ withheld: 0, faults: [] });
  }
});

/** Arguments that hold a text, in each way in which they may. */
function spelled(value: string): fc.Arbitrary<string | object> {
  return fc.constantFrom(
    { k: value },
    { list: [{ k: value }, 1], other: true },
    `{ "k": ${JSON.stringify(value)} }`,
    `{"k":${JSON.stringify(value).replaceAll('~', '\\u007e')}}`,
  );
}

describe('whatever is taken out of arguments', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
  /** No other text has it in it. */
  const secret = fc
    .tuple(text, fc.nat(999), text)
    .map(([a, n, b]) => `${a}~${n}§${b}`.toWellFormed());
  const turn = secret.chain((value) =>
    fc.record({
      value: fc.constant(value),
      name: fc.constantFrom('echo', 'throws', 'nope', 'strict'),
      given: spelled(value),
      said: fc.constantFrom(
        '',
        value,
        `I use ${value}.`,
        JSON.stringify({ is: value }),
        encodeURIComponent(value),
      ),
    }),
  );
  const tools = [
    toolOf('echo', (given) => ({ given, text: `it was ${JSON.stringify(given)}` })),
    toolOf('throws', (given) => {
      throw new Error(`no: ${JSON.stringify(given)}`);
    }),
    toolOf('strict', () => 1, {
      input: { type: 'object', properties: { k: { enum: ['only this'] } }, required: ['k'] },
    }),
  ];

  test('is in no byte of the transcript, whoever says it again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const path = newPath();
        const script = turns.map(({ name, given, said }) => ({
          content: said,
          toolCalls: [call(name, given as never)],
        }));
        const last = { content: turns.map(({ value }) => value).join(' and ') };
        const redact = ['tools.*.arguments'];
        await run({
          task: 'go',
          tools,
          model: byTurns([...script, last]),
          transcript: path,
          redact,
        });
        const bytes = readFileSync(path, 'utf8');
        for (const { value } of turns) {
          expect(bytes).not.toContain(value);
          expect(bytes).not.toContain(JSON.stringify(value).slice(1, -1));
          expect(bytes).not.toContain(encodeURIComponent(value));
        }
        expect(bytes).not.toContain('§');
        expect(await replay(path)).toMatchObject({ ok: true, sealed: true });
      }),
      { numRuns: 100 },
    );
  });
});

const PRICE = { input: 2, output: 10 };

function priced(script: readonly Step[]): Model {
  return Object.assign(model(script), { price: PRICE });
}

test('any run under any rules is the one that it would have been, replays and goes on', async () => {
  const rules = fc.subarray(
    [
      'task',
      'answer',
      'system',
      'common-secrets',
      'tools.*.arguments',
      'tools.*.arguments.a',
      'tools.*.result',
      'tools.echo.arguments.*',
      'tools.odd.result[*]',
    ],
    { minLength: 1 },
  );
  await fc.assert(
    fc.asyncProperty(
      someScript,
      SOME_BUDGET,
      rules,
      fc.nat(),
      async (script, budget, redact, at) => {
        const path = newPath();
        const options = { task: 'do it', tools: TOOLS, budget, system: 'be brief' };
        const outcome = await run({ ...options, model: priced(script), redact, transcript: path });
        const plain = await run({ ...options, model: priced(script) });
        expect(told(outcome)).toEqual(told(plain));
        expect(await replay(path)).toMatchObject({ ok: true, count: outcome.transcript.count });
        const lines = readFileSync(path, 'utf8').split(/(?<=\n)/);
        const count = 1 + (at % lines.length);
        if (count >= lines.length) return;
        writeFileSync(path, lines.slice(0, count).join(''));
        const open = readFileSync(`${path}.open`, 'utf8').split(/(?<=\n)/);
        writeFileSync(
          `${path}.open`,
          open.filter((line) => Number(line.split(' ')[0]) < count).join(''),
        );
        await resume(path, { tools: TOOLS, model: byTurns(script, { price: PRICE }) });
        expect(await replay(path)).toMatchObject({ ok: true });
        expect(await standing(path)).toMatchObject({ withheld: 0, unused: 0, faults: [] });
      },
    ),
    { numRuns: 60 },
  );
});
