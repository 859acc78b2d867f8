/**
 * `hashtape demo`: the main job on a scripted model, with every claim checked as it is made.
 *
 * It is the gate of the seed too: it exits 0 only if all claims held, the negative ones included.
 *
 * @module
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Budget, type Spent } from '../run/budget.ts';
import { tool } from '../run/define-tool.ts';
import { run } from '../run/loop.ts';
import { type Outcome } from '../run/outcome.ts';
import { type AnyTool } from '../run/tool.ts';
import { scripted, type ScriptTurn } from '../models/scripted.ts';
import { verifyFile } from '../store/index.ts';
import {
  isJsonObject,
  parseRecord,
  verifyTranscript,
  type TranscriptRecord,
} from '../transcript/index.ts';

/** Where the demo writes; the process's own streams, but for tests. */
export interface DemoOutput {
  write(text: string): unknown;
}

interface Scene {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  readonly turns: readonly ScriptTurn[];
  readonly budget: Budget;
  /** What must be true of the run: a sentence, and whether it holds. */
  readonly claims: (seen: Seen) => readonly Claim[];
}

interface Seen {
  readonly outcome: Outcome;
  readonly records: readonly TranscriptRecord[];
  readonly added: number;
}

type Claim = readonly [says: string, holds: boolean];

const usage = (input: number, output: number): { input: number; output: number } => ({
  input,
  output,
});
const call = (name: string, args: object, content = ''): ScriptTurn => ({
  content,
  tool_calls: [{ name, arguments: JSON.stringify(args) }],
  usage: usage(90, 10),
});

const SCENES: readonly Scene[] = [
  {
    name: 'answer',
    title: 'A task, a tool, an answer, and a check that looks for itself',
    task: 'What is 2 + 40?',
    turns: [call('add', { a: 2, b: 40 }), { content: 'It is 42.', usage: usage(120, 6) }],
    budget: { steps: 8 },
    claims: ({ outcome, records }) => [
      ['it stopped because the model asked for no more tools', outcome.reason === 'no_tool_calls'],
      ['success was verified by the check, not taken from the model', outcome.verified === true],
      ['5 records: user, assistant, tool, assistant, final', kinds(records) === 'uatax'],
    ],
  },
  {
    name: 'recover',
    title: 'Failures are data: an unknown tool, bad arguments, a tool that throws',
    task: 'What is 2 + 40?',
    turns: [
      call('multiply', { a: 2, b: 40 }),
      call('add', { a: 'two', b: 40 }),
      call('fail', {}),
      call('add', { a: 2, b: 40 }),
      { content: 'It is 42, at last.', usage: usage(200, 8) },
    ],
    budget: { steps: 8 },
    claims: ({ outcome, records }) => [
      [
        "no tool named 'multiply' (have: add, fail)",
        holds(records, 2, "no tool named 'multiply' (have: add, fail)"),
      ],
      [
        'invalid arguments: $.add.a: expected type integer, got string',
        holds(records, 4, 'invalid arguments: $.add.a: expected type integer, got string'),
      ],
      [
        "tool 'fail' raised RuntimeError: the tool is broken on purpose",
        holds(records, 6, "tool 'fail' raised RuntimeError: the tool is broken on purpose"),
      ],
      ['and the run went on to its answer', outcome.verified === true && records.length === 11],
    ],
  },
  {
    name: 'budget',
    title: 'A token budget stops the run before the tools of the turn that overran it',
    task: 'Add one, again and again.',
    turns: [1, 2, 3, 4].map((n) => ({
      ...call('add', { a: n, b: 1 }),
      usage: usage(90, n === 4 ? 400 : 10),
    })),
    budget: { steps: 8, tokens: 600 },
    claims: ({ outcome, added }) => [
      [`token_budget: ${budgetWords(outcome)}`, outcome.reason === 'token_budget'],
      [
        'the turn that overran is recorded, and its tool did not run',
        added === 3 && outcome.spent.steps === 4,
      ],
    ],
  },
  {
    name: 'repeat',
    title: 'A call that repeats itself is told so, and never blocked',
    task: 'Look up the job until you know more.',
    turns: [
      call('add', { a: 1, b: 1 }),
      call('add', { b: 1, a: 1 }),
      { content: 'Still 2. It was 42 once.', usage: usage(200, 8) },
    ],
    budget: { steps: 8 },
    claims: ({ records, added }) => [
      ['the second equal call ran too', added === 2],
      ['its record carries a note beside the value', isNoted(records[4]) && !isNoted(records[2])],
    ],
  },
];

/** Runs the demo; returns the exit status: 0 only if every claim held. */
export async function demo(output: DemoOutput = process.stdout): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'hashtape-demo-'));
  const say = (text: string): void => {
    output.write(`${text}\n`);
  };
  let broken = 0;
  const claim = ([says, isTrue]: Claim): void => {
    if (!isTrue) broken += 1;
    say(`  ${isTrue ? 'ok  ' : 'FAIL'} ${says}`);
  };
  say(`hashtape demo: no key, no network. Transcripts: ${folder}`);
  for (const [index, scene] of SCENES.entries()) {
    say(`\n${index + 1}. ${scene.title}`);
    for (const found of await playScene(scene, folder)) claim(found);
  }
  say(`\n${SCENES.length + 1}. One byte is changed in a copy of answer.jsonl`);
  for (const found of await tamperScene(folder)) claim(found);
  say(broken === 0 ? `\nEvery claim held.` : `\n${broken} claims did not hold.`);
  say(nextSteps(folder));
  return broken === 0 ? 0 : 1;
}

async function playScene(scene: Scene, folder: string): Promise<readonly Claim[]> {
  const path = join(folder, `${scene.name}.jsonl`);
  const first = await perform(scene, path);
  const again = await perform(scene, join(folder, `${scene.name}-again.jsonl`));
  const bytes = await readFile(path);
  const verdict = await verifyFile(path);
  const records = bytes.toString().trimEnd().split('\n').map(parseRecord);
  return [
    ...scene.claims({ ...first, records }),
    [
      `verified from disk: ${verdict.count} records, sealed, head ${verdict.head.slice(0, 12)}…`,
      verdict.ok,
    ],
    [
      'the same run again gives the same bytes',
      bytes.equals(await readFile(again.outcome.transcript.location)),
    ],
  ];
}

async function perform(scene: Scene, path: string): Promise<{ outcome: Outcome; added: number }> {
  let added = 0;
  const tools: AnyTool[] = [
    tool({
      name: 'add',
      description: 'Adds two integers.',
      input: {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
        required: ['a', 'b'],
      },
      readOnly: true,
      execute: ({ a, b }) => {
        added += 1;
        return { sum: Number(a) + Number(b) };
      },
    }),
    tool({
      name: 'fail',
      description: 'Always fails.',
      input: { type: 'object' },
      execute: () => {
        throw Object.assign(new Error('the tool is broken on purpose'), { name: 'RuntimeError' });
      },
    }),
  ];
  const outcome = await run({
    task: scene.task,
    model: scripted(scene.turns, { name: 'demo' }),
    tools,
    budget: scene.budget,
    transcript: path,
    check: ({ answer }) => ({ ok: answer.includes('42'), detail: 'the answer names 42' }),
  });
  return { outcome, added };
}

/** Flips one bit inside record 2 of a copy: the record must be named, and the untouched file still hold. */
async function tamperScene(folder: string): Promise<readonly Claim[]> {
  const bytes = await readFile(join(folder, 'answer.jsonl'));
  const at = bytes.indexOf('"sum":42') + '"sum":4'.length;
  const tampered = Uint8Array.from(bytes);
  tampered[at] = '3'.charCodeAt(0);
  const path = join(folder, 'tampered.jsonl');
  await writeFile(path, tampered);
  const { ok, fault } = await verifyFile(path);
  const bits = Array.from({ length: bytes.length * 8 }, (_, bit) => bit);
  const unseen = bits.filter((bit) => isSealedAfterFlip(bytes, bit));
  return [
    [
      `the sum 42 became 43: record ${fault?.seq ?? '?'} (line ${fault?.line ?? '?'}): ${fault?.reason ?? 'no fault'}`,
      !ok && fault?.seq === 2 && fault.reason === 'hash_mismatch',
    ],
    [`each of its ${bits.length} bits flipped in turn: every flip is found`, unseen.length === 0],
  ];
}

function isSealedAfterFlip(bytes: Uint8Array, bit: number): boolean {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return verifyTranscript(copy).ok;
}

function nextSteps(folder: string): string {
  return [
    '',
    'Next:',
    `  hashtape show ${join(folder, 'recover.jsonl')}`,
    `  hashtape verify ${folder}   (tampered.jsonl is the damaged copy)`,
    '  hashtape run --model openai:NAME --with fs "Summarise the files here"   (OPENAI_API_KEY, or a local Ollama)',
    '',
    'What the chain shows: the records that are there were not edited, reordered or cut in the middle.',
    'What it does not: a file that was rewritten from the start. Keep the head hash elsewhere to see that.',
  ].join('\n');
}

const LETTERS: ReadonlyMap<string, string> = new Map([
  ['user', 'u'],
  ['assistant', 'a'],
  ['tool', 't'],
  ['final', 'x'],
]);

function kinds(records: readonly TranscriptRecord[]): string {
  return records.map(({ kind }) => LETTERS.get(kind) ?? '?').join('');
}

function holds(records: readonly TranscriptRecord[], seq: number, error: string): boolean {
  const payload = records[seq]?.payload;
  return isJsonObject(payload) && payload['error'] === error;
}

function isNoted(record: TranscriptRecord | undefined): boolean {
  return record !== undefined && 'note' in record.payload;
}

function budgetWords({ budget, spent }: { budget?: Outcome['budget']; spent: Spent }): string {
  return budget === undefined
    ? `${spent.tokens} tokens`
    : `${budget.used} of ${budget.limit} tokens used`;
}
