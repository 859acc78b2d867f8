/**
 * `hashtape demo`: the main job on a scripted model, with every claim checked as it is made.
 *
 * It is a gate too: it exits 0 only if all claims held, the negative ones included.
 *
 * @module
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command } from 'commander';
import {
  createAttested,
  examineFile,
  HeadMemory,
  openKeyring,
  type Examined,
} from '../attest/index.ts';
import { replay, run, tool, type Outcome } from '../index.ts';
import { scripted, type ScriptTurn } from '../models/scripted.ts';
import { readRecords, verifyFile } from '../store/index.ts';
import { shellPath } from '../store/shell-path.ts';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  isJsonObject,
  parseRecord,
  verifyTranscript,
  type TranscriptRecord,
} from '../transcript/index.ts';
import { type Io } from './io.ts';

const HELP = `
It runs small tasks with a scripted model, verifies what they recorded, runs
and replays them byte for byte, damages a copy and names the record that was
damaged. Its transcripts stay in a folder that it names. It exits 0 only if
every claim held.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command.addHelpText('after', HELP).action(async () => {
    exit(await demo(io.out));
  });
}

/** Where the demo writes; the process's own streams, but for tests. */
export interface DemoOutput {
  write(text: string): unknown;
}

interface Scene {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  readonly turns: readonly ScriptTurn[];
  readonly tokens?: number;
  readonly claims: (seen: Seen) => Claims;
}

interface Seen {
  readonly outcome: Outcome;
  readonly records: readonly TranscriptRecord[];
  /** How many times the tool `add` ran. */
  readonly added: number;
}

/** Sentences, and whether they hold. */
type Claims = Readonly<Record<string, boolean>>;

const call = (name: string, args: object, output = 10): ScriptTurn => ({
  tool_calls: [{ name, arguments: JSON.stringify(args) }],
  usage: { input: 90, output },
});
const answer = (content: string): ScriptTurn => ({ content, usage: { input: 120, output: 6 } });

const SCENES: readonly Scene[] = [
  {
    name: 'answer',
    title: 'A task, a tool, an answer, and a check that looks for itself',
    task: 'What is 2 + 40?',
    turns: [call('add', { a: 2, b: 40 }), answer('It is 42.')],
    claims: ({ outcome, records }) => ({
      'it stopped because the model asked for no more tools': outcome.reason === 'no_tool_calls',
      'success was verified by the check, not taken from the model': outcome.verified === true,
      '5 records: user, assistant, tool, assistant, final':
        records.map(({ kind }) => kind).join() === 'user,assistant,tool,assistant,final',
    }),
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
      answer('It is 42, at last.'),
    ],
    claims: ({ outcome, records }) => ({
      ...recorded(records[2], "no tool named 'multiply' (have: add, fail)"),
      ...recorded(records[4], 'invalid arguments: $.add.a: expected type integer, got string'),
      ...recorded(records[6], "tool 'fail' raised RuntimeError: the tool is broken on purpose"),
      'and the run went on to its answer': outcome.verified === true && records.length === 11,
    }),
  },
  {
    name: 'budget',
    title: 'A token budget stops the run before the tools of the turn that overran it',
    task: 'Add one, again and again.',
    turns: [1, 2, 3, 4].map((n) => call('add', { a: n, b: 1 }, n === 4 ? 400 : 10)),
    tokens: 600,
    claims: ({ outcome: { reason, spent }, added }) => ({
      [`token_budget: ${spent.tokens} of 600 tokens used`]: reason === 'token_budget',
      'the turn that overran is recorded, and its tool did not run':
        added === 3 && spent.steps === 4,
    }),
  },
  {
    name: 'repeat',
    title: 'A call that repeats itself is told so, and never blocked',
    task: 'Look up the job until you know more.',
    turns: [
      call('add', { a: 1, b: 1 }),
      call('add', { b: 1, a: 1 }),
      answer('Still 2. It was 42 once.'),
    ],
    claims: ({ records, added }) => ({
      'the second equal call ran too': added === 2,
      'its record carries a note beside the value': isNoted(records[4]) && !isNoted(records[2]),
    }),
  },
];

/** Runs the demo; returns the exit status: 0 only if every claim held. */
export async function demo(output: DemoOutput = process.stdout): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'hashtape-demo-'));
  let scenes = 0;
  let broken = 0;
  const tell = (title: string, claims: Claims): void => {
    output.write(`\n${(scenes += 1)}. ${title}\n`);
    for (const [says, holds] of Object.entries(claims)) {
      if (!holds) broken += 1;
      output.write(`  ${holds ? 'ok  ' : 'FAIL'} ${says}\n`);
    }
  };
  output.write(`hashtape demo: no key, no network. Transcripts: ${folder}\n`);
  for (const scene of SCENES) tell(scene.title, await playScene(scene, folder));
  tell('One byte is changed in a copy of answer.jsonl', await tamper(folder));
  tell('A tail is cut off, and a file is written anew with right hashes', await evidence(folder));
  const all = broken === 0 ? 'Every claim held.' : `${broken} claims did not hold.`;
  output.write(`\n${all}\n${nextSteps(folder)}`);
  return broken === 0 ? 0 : 1;
}

async function playScene(scene: Scene, folder: string): Promise<Claims> {
  const path = join(folder, `${scene.name}.jsonl`);
  const again = join(folder, `${scene.name}-again.jsonl`);
  const seen = await perform(scene, path);
  await perform(scene, again);
  const { ok, count, head } = await verifyFile(path);
  const records: TranscriptRecord[] = [];
  for await (const record of readRecords(path)) records.push(record);
  const bytes = await readFile(path);
  return {
    ...scene.claims({ ...seen, records }),
    [`verified from disk: ${count} records, sealed, head ${head.slice(0, 12)}…`]: ok,
    'the same run again gives the same bytes': bytes.equals(await readFile(again)),
    'replayed from the record, without a model: the same bytes': await replays(path, count),
  };
}

async function replays(path: string, count: number): Promise<boolean> {
  const again = await replay(path);
  return again.ok && again.count === count;
}

async function perform(scene: Scene, path: string): Promise<{ outcome: Outcome; added: number }> {
  const { task, turns, tokens } = scene;
  let added = 0;
  const integer = { type: 'integer' };
  const add = tool({
    name: 'add',
    description: 'Adds two integers.',
    input: { type: 'object', properties: { a: integer, b: integer }, required: ['a', 'b'] },
    readOnly: true,
    execute: ({ a, b }) => {
      added += 1;
      return { sum: Number(a) + Number(b) };
    },
  });
  const fail = tool({
    name: 'fail',
    description: 'Always fails.',
    input: { type: 'object' },
    execute: () => {
      throw Object.assign(new Error('the tool is broken on purpose'), { name: 'RuntimeError' });
    },
  });
  const outcome = await run({
    task,
    model: scripted(turns, { name: 'demo' }),
    tools: [add, fail],
    budget: { steps: 8, ...(tokens === undefined ? {} : { tokens }) },
    transcript: path,
    check: (claimed) => ({ ok: claimed.answer.includes('42'), detail: 'the answer names 42' }),
  });
  return { outcome, added };
}

/** Changes one digit inside record 2 of a copy, which must be named; then each bit in turn, in memory. */
async function tamper(folder: string): Promise<Claims> {
  const bytes = await readFile(join(folder, 'answer.jsonl'));
  const path = join(folder, 'tampered.jsonl');
  await writeFile(path, bytes.toString().replace('"sum":42', '"sum":43'));
  const { fault } = await verifyFile(path);
  const where = `record ${fault?.seq} (line ${fault?.line}): ${fault?.reason ?? 'no fault'}`;
  const bits = bytes.length * 8;
  let unseen = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const copy = Uint8Array.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    if (verifyTranscript(copy).ok) unseen += 1;
  }
  return {
    [`the sum 42 became 43: ${where}`]: fault?.seq === 2 && fault.reason === 'hash_mismatch',
    [`each of its ${bits} bits flipped in turn: every flip is found`]: unseen === 0,
  };
}

/** What a chain alone can't show, and checkpoints and memory do. Both are the demo's own, in its folder. */
async function evidence(folder: string): Promise<Claims> {
  const path = join(folder, 'attested.jsonl');
  const { signer, known } = await openKeyring(join(folder, 'key'));
  const memory = new HeadMemory(join(folder, 'memory'));
  const store = await createAttested(path, { signer, memory });
  const model = scripted([answer('It is 42.')], { name: 'demo' });
  await run({ task: 'What is 2 + 40?', model, transcript: store, runId: 'demo' });
  await store.close();
  const look = (): Promise<Examined> => examineFile(path, { keys: known, memory }, OPEN);
  const whole = await readFile(path, 'utf8');
  const before = await look();
  await writeFile(path, whole.split(/^/m).slice(0, -1).join(''));
  const [cutChain, cut] = [await verifyFile(path, OPEN), await look()];
  await writeFile(path, rewritten(whole));
  const [newChain, anew] = [await verifyFile(path, OPEN), await look()];
  return {
    [`a run is signed and remembered: ${before.coverage.map(({ by }) => by).join(', ')}`]:
      before.ok && before.coverage.length === 2,
    [`its last record is cut off: the chain holds, and the evidence says ${cut.fault?.reason}`]:
      cutChain.ok && cut.fault?.reason === 'rolled_back',
    [`its answer is changed, and all hashes made right: the chain holds, the evidence says ${anew.fault?.reason}`]:
      newChain.ok && anew.fault?.reason === 'root_mismatch',
  };
}

const OPEN = { allowOpen: true };

/** The same records with another answer, and right hashes. */
function rewritten(text: string): string {
  let head = EMPTY_HEAD;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { kind, payload } = parseRecord(line.replaceAll('It is 42.', 'It is 43.'));
      const written = encodeRecord(head, { kind, payload });
      head = advance(written);
      return written.text;
    })
    .join('');
}

/** The claim that a record holds an error, in exactly these words. */
function recorded(record: TranscriptRecord | undefined, error: string): Claims {
  return { [error]: isJsonObject(record?.payload) && record.payload['error'] === error };
}

function isNoted(record: TranscriptRecord | undefined): boolean {
  return record !== undefined && 'note' in record.payload;
}

function nextSteps(folder: string): string {
  const at = (name: string): string => shellPath(join(folder, name));
  return `
Next:
  npx hashtape show ${at('recover.jsonl')}
  npx hashtape diff ${at('answer.jsonl')} ${at('recover.jsonl')}
  npx hashtape verify ${shellPath(folder)}   (exit 1: tampered.jsonl and attested.jsonl are the two that were damaged)
  npx hashtape run --model openai:NAME --with fs "Summarise the files here"   (OPENAI_API_KEY, or a local Ollama)

What the chain shows: the records that are there were not edited, reordered or cut in the middle.
What checkpoints and memory add: that they are those that were there before, down to the last.
What neither shows: that what the records say is true.
`;
}
