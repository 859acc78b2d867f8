/**
 * What the loop's tests share: models that follow a script, small tools, and a run that is checked for
 * what must hold of every run.
 *
 * @module
 */
import { expect } from 'vitest';
import { run } from '../../src/run/run.ts';
import {
  type Message,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Price,
  type ReplyCall,
} from '../../src/run/model.ts';
import { type Outcome } from '../../src/run/outcome.ts';
import { type RunOptions } from '../../src/run/options.ts';
import { type AnyTool, type Tool } from '../../src/run/tool.ts';
import { memoryStore, readRecords, type TranscriptStore } from '../../src/store/index.ts';
import {
  verifyTranscript,
  type TranscriptRecord,
  type VerifyOptions,
} from '../../src/transcript/index.ts';

/** A turn of a script: what the model answers, or a function that makes it. */
export type Step =
  | Partial<ModelReply>
  | ((request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>);

/** What a model was asked, copied when it was asked. */
export interface Asked {
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number | undefined;
  readonly secondsLeft: number | undefined;
}

export interface ScriptedModel extends Model {
  readonly asked: Asked[];
}

/** A model that follows a list, and throws at its end; or asks a function, for ever. */
export function model(
  script: readonly Step[] | ((step: number, request: ModelRequest) => Step),
  extra: { id?: string; price?: Price } = {},
): ScriptedModel {
  const asked: Asked[] = [];
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    asked.push({
      messages: [...request.messages],
      maxOutputTokens: request.maxOutputTokens,
      secondsLeft: request.secondsLeft,
    });
    const index = asked.length - 1;
    const step = typeof script === 'function' ? script(index, request) : script[index];
    if (step === undefined) throw new Error('the script is over');
    return { content: '', ...(typeof step === 'function' ? await step(request) : step) };
  };
  return Object.assign(answer, { asked, ...extra });
}

/** A turn that makes calls. */
export function calls(...toolCalls: readonly ReplyCall[]): Partial<ModelReply> {
  return { toolCalls };
}

/** A call. Its arguments are given as an object, or as the model's own text. */
export function call(
  name: string,
  args: ReplyCall['arguments'] = {},
  id?: string | number | null,
): ReplyCall {
  return { name, arguments: args, ...(id === undefined ? {} : { id }) };
}

export const DONE: Partial<ModelReply> = { content: 'done' };

/** A tool that takes any object. */
export function toolOf(
  name: string,
  execute: Tool['execute'],
  extra: Partial<Omit<AnyTool, 'execute' | 'name'>> = {},
): AnyTool {
  return { name, description: name, input: { type: 'object' }, execute, ...extra };
}

export const echo: AnyTool = toolOf('echo', (args) => args);

const NUMBER = { type: 'number' };

/** The seed's tools: `add`, `echo`, `fail` and `greet`. */
export const SEED_TOOLS: readonly AnyTool[] = [
  {
    name: 'add',
    description: 'Adds two integers.',
    input: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    },
    execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
  },
  echo,
  toolOf('fail', () => {
    throw Object.assign(new Error('the tool is broken on purpose'), { name: 'RuntimeError' });
  }),
  {
    name: 'greet',
    description: 'Greets.',
    input: { type: 'object', properties: { name: { type: 'string' }, age: NUMBER } },
    execute: ({ name }: { name: string }) => `hello ${name}`,
  },
];

/** A payload: tests say what they expect of its members. */
export interface Payload {
  readonly [key: string]: unknown;
}

export interface Read {
  readonly kind: string;
  readonly seq: number;
  readonly payload: Payload;
}

/** A run that ended, and its record. */
export interface Ran {
  readonly outcome: Outcome;
  readonly text: string;
  readonly records: readonly Read[];
  /** The payloads of the `tool` records. */
  readonly results: readonly Payload[];
  readonly final: Payload;
}

/** Runs in memory, and checks that the transcript is sealed, verifies, and answers every call once. */
export async function drive(options: Omit<RunOptions, 'task'> & { task?: string }): Promise<Ran> {
  const store = memoryStore();
  const outcome = await run({ task: 'do it', transcript: store, ...options });
  const ran = await readRun(store, outcome);
  expect(outcome.transcript).toMatchObject({ sealed: true, count: ran.records.length });
  expect(ran.final['reason']).toBe(outcome.reason);
  return ran;
}

/** Reads a run's record back, and checks it. */
export async function readRun(
  store: TranscriptStore,
  outcome: Outcome,
  options: VerifyOptions = {},
): Promise<Ran> {
  const text = await textOf(store);
  const verdict = verifyTranscript(text, options);
  expect(verdict).toMatchObject({ ok: true, head: outcome.transcript.head });
  const records = await recordsOf(store);
  expectPaired(records, options.allowOpen === true);
  const results = records.filter(({ kind }) => kind === 'tool').map(({ payload }) => payload);
  return { outcome, text, records, results, final: records.at(-1)?.payload ?? {} };
}

export async function textOf(store: TranscriptStore): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for await (const piece of store.read()) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

export async function recordsOf(store: TranscriptStore): Promise<Read[]> {
  const records: TranscriptRecord[] = [];
  for await (const record of readRecords(store)) records.push(record);
  // The loop's payloads are objects; tests look into them.
  return records as unknown as Read[];
}

/**
 * Every call id has exactly one result, in declared order, before anything else follows; ids are unique
 * in the run.
 */
export function expectPaired(records: readonly Read[], open = false): void {
  const waiting: string[] = [];
  const seen = new Set<string>();
  for (const { kind, payload } of records) {
    if (kind === 'tool') {
      expect(payload['call']).toBe(waiting.shift());
      continue;
    }
    expect(waiting, `calls without a result before a record of kind ${kind}`).toEqual([]);
    if (kind !== 'assistant') continue; // `final` counts the calls under the same name
    for (const id of callIds(payload)) {
      expect(seen.has(id), `the id ${id} was used twice`).toBe(false);
      seen.add(id);
      waiting.push(id);
    }
  }
  if (!open) expect(waiting).toEqual([]);
}

/** The ids of the calls of an `assistant` payload. */
export function callIds(payload: Payload): string[] {
  // The loop writes a list of objects with an id.
  return ((payload['tool_calls'] ?? []) as { id: string }[]).map(({ id }) => id);
}

/** A promise that is settled from outside. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (error: unknown) => void;
}

export function gate<T = void>(): Gate<T> {
  let open: Gate<T>['open'] = ignore;
  let fail: Gate<T>['fail'] = ignore;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

function ignore(): void {}

/** An object with a `then`. Its name is put together, as lint takes a literal one for a mistake. */
export function thenable(then: unknown): object {
  return Object.defineProperty({}, ['th', 'en'].join(''), { value: then });
}

/** A promise that never settles. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Lets what waits on settled promises and immediates go on. */
export async function settle(rounds = 6): Promise<void> {
  for (let i = 0; i < rounds; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Collects the promises that reject with nobody to handle it while `act` runs. */
export async function unhandledDuring(act: () => Promise<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => {
    seen.push(reason);
  };
  process.on('unhandledRejection', note);
  try {
    await act();
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 1));
    return seen;
  } finally {
    process.off('unhandledRejection', note);
  }
}
