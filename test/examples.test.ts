import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../src/index.ts';
import { recordedTools, recordedTurns, scripted } from '../src/models/scripted.ts';
import { memoryStore, readRecords } from '../src/store/index.ts';
import { isJsonObject, verifyTranscript, type JsonObject } from '../src/transcript/index.ts';

const root = new URL('..', import.meta.url);
const SAMPLES = [
  // File, calls, and how many calls were made before with the same result, as the samples' README counts them.
  { file: 'tau-bench/public-gpt4o-airline-109.json', calls: 23, same: 5 },
  { file: 'openai-chat/generated-messages.json', calls: 7, same: 2 },
] as const;

interface RecordedMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly function: { name: string; arguments: string } }[];
}

function messagesOf(recording: JsonObject): RecordedMessage[] {
  return JSON.parse(JSON.stringify(recording['traj'] ?? recording['messages']));
}

/** Sorts keys all the way down, by a way of its own: the test must not trust the code it tests. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** For each call of the recording, in order: how often its like, with the same result, has come by then. */
function expectedOccurrences(messages: readonly RecordedMessage[]): number[] {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const keys = calls.map((call, index) =>
    JSON.stringify([
      call.function.name,
      sorted(JSON.parse(call.function.arguments)),
      results[index],
    ]),
  );
  return keys.map((key, index) => keys.slice(0, index + 1).filter((other) => other === key).length);
}

async function drive(recording: JsonObject, repeats: boolean) {
  const store = memoryStore();
  const outcome = await run({
    task: 'as recorded',
    model: scripted(recordedTurns(recording, { closing: 'end' })),
    tools: recordedTools(recording),
    budget: { steps: 100 },
    transcript: store,
    repeats,
  });
  const payloads: JsonObject[] = [];
  for await (const { kind, payload } of readRecords(store)) {
    if (kind === 'tool' && isJsonObject(payload)) payloads.push(payload);
  }
  const bytes = Buffer.concat(await pieces(store.read()));
  return { outcome, payloads, bytes };
}

async function pieces(source: AsyncIterable<Uint8Array>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of source) all.push(Buffer.from(piece));
  return all;
}

describe.each(SAMPLES)('the recorded conversation $file', ({ file, calls, same }) => {
  const path = new URL(`test/testdata/samples/${file}`, root);
  const recording: JsonObject = JSON.parse(readFileSync(path, 'utf8'));
  const messages = messagesOf(recording);

  test('drives the loop, verifies, and every result is the recorded one', async () => {
    const { outcome, payloads, bytes } = await drive(recording, true);
    expect(outcome.reason).toBe('no_tool_calls');
    expect(verifyTranscript(bytes)).toMatchObject({ ok: true, count: outcome.transcript.count });
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(payloads.map((payload) => payload['value'])).toEqual(results);
    expect(payloads).toHaveLength(calls);
  });

  test('exactly the second of equal calls carry a note', async () => {
    const occurrences = expectedOccurrences(messages);
    expect(occurrences.filter((count) => count > 1)).toHaveLength(same);
    const { payloads } = await drive(recording, true);
    expect(payloads.map((payload) => 'note' in payload)).toEqual(
      occurrences.map((count) => count === 2),
    );
  });

  test('with repeats off nothing is noted, and the values are the same', async () => {
    const on = await drive(recording, true);
    const off = await drive(recording, false);
    expect(off.payloads.some((payload) => 'note' in payload)).toBe(false);
    expect(off.payloads.map(({ value }) => value)).toEqual(on.payloads.map(({ value }) => value));
  });

  test('the example says the same', () => {
    const printed = execFileSync(process.execPath, ['examples/recorded.mjs', path.pathname], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(printed).toContain(`after ${calls} tool calls`);
    expect(printed).toContain('record:   holds');
    expect(printed.match(/^repeat: /gm)).toHaveLength(same);
  });
});

test('the golden transcript is what the example records, and its test passes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hashtape-golden-'));
  try {
    const options = { cwd: root, encoding: 'utf8' } as const;
    const printed = execFileSync(process.execPath, ['--test', 'examples/golden.test.mjs'], options);
    expect(printed).toMatch(/^# pass 1$/m);
    // The example writes beside itself: a copy of it must come to the same bytes.
    for (const name of ['golden.mjs', 'golden-job.mjs']) {
      const text = readFileSync(new URL(`examples/${name}`, root), 'utf8');
      const index = new URL('dist/', root).href;
      const resolved = text
        .replace("'hashtape/models/scripted'", JSON.stringify(`${index}models/scripted.js`))
        .replace("'hashtape'", JSON.stringify(`${index}index.js`));
      writeFileSync(join(folder, name), resolved);
    }
    execFileSync(process.execPath, [join(folder, 'golden.mjs')]);
    const golden = readFileSync(new URL('examples/golden.jsonl', root), 'utf8');
    expect(readFileSync(join(folder, 'golden.jsonl'), 'utf8')).toBe(golden);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
