/**
 * The run of `task.mjs`, carried by processes that are killed, and what must hold of it in the end.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type Outcome } from '../../src/run/outcome.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore, verifyFile } from '../../src/store/index.ts';
import { recordsOf, type Payload } from '../run/support.ts';
import { expectWhole } from './support.ts';
import { taskWith } from './task.mjs';

/** Where a run lives: its transcript, and the file in which its effects are counted. */
export interface Place {
  readonly path: string;
  readonly effects: string;
}

/** A new place for a run. */
export function placeIn(path: string): Place {
  return { path, effects: join(dirname(path), 'effects') };
}

/** At which operation a process kills itself; `child.mjs` says what the members mean. */
export interface Kill {
  readonly at?: string;
  readonly nth?: number;
  readonly bytes?: number;
  readonly power?: boolean;
  readonly redact?: readonly string[];
}

/** How a process ended: killed, or with its outcome and the operations that led there. */
export type Ended =
  | { readonly killed: true }
  | { readonly killed: false; readonly outcome: Outcome; readonly names: readonly string[] };

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url));

/** Carries the run of `task.mjs` in a process of its own, which goes on with what is there. */
export function inChild(place: Place, kill: Kill = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const args = [CHILD, JSON.stringify({ ...place, ...kill })];
    execFile(process.execPath, args, (error, stdout) => {
      if (error === null) resolve({ killed: false, ...JSON.parse(stdout) });
      else if (error.signal === 'SIGKILL') resolve({ killed: true });
      else reject(error);
    });
  });
}

/** Goes on with the run of `task.mjs` in this process; null if it has ended already. */
export async function resumeHere(
  { path, effects }: Place,
  redact?: readonly string[],
): Promise<Outcome | null> {
  if (existsSync(path) && (await verifyFile(path)).ok) return null;
  return run({ ...taskWith(effects), transcript: path, resume: true, redact });
}

/** The bytes of the complete lines of a transcript. */
export function completeLines({ path }: Place): Buffer {
  if (!existsSync(path)) return Buffer.alloc(0);
  const bytes = readFileSync(path);
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}

/**
 * Expects what must hold of the run of `task.mjs` after crashes: what was recorded is there, no effect that may
 * not happen twice did, what is unknown is named, and the rest is as if nothing had happened.
 *
 * @param before the complete lines that crashes left.
 * @param outcome that of the last process; null if one was killed after the run's end.
 */
export async function expectCarriedOn(
  place: Place,
  before: readonly Buffer[],
  outcome: Outcome | null,
): Promise<void> {
  const { records, final } = await expectWhole(place.path);
  const bytes = readFileSync(place.path);
  for (const lines of before)
    expect(bytes.subarray(0, lines.length).equals(lines), 'records were lost').toBe(true);
  expect(final).toEqual(await (uncut ??= uncutFinal()));
  const answers = records.filter(({ kind }) => kind === 'tool').map(({ payload }) => payload);
  const unknown = answers.filter(({ ok }) => ok !== true);
  for (const { failure } of unknown) expect(failure).toBe('interrupted');
  expectEffects(place, answers);
  expect(existsSync(`${place.path}.lock`)).toBe(outcome === null);
  if (outcome === null) return;
  const { interrupted = [], times = 0 } = outcome.resumed ?? {};
  expect(interrupted).toEqual(unknown.map(({ call, name }) => ({ id: call, tool: name })));
  expect(times).toBe(records.filter(({ kind }) => kind === 'resumed').length);
}

/** The final record of the run that nothing cuts off. */
let uncut: Promise<unknown> | undefined;

async function uncutFinal(): Promise<unknown> {
  const store = memoryStore();
  await run({ ...taskWith('/dev/null'), transcript: store });
  return (await recordsOf(store)).at(-1)?.payload;
}

/** Compares the effects that were counted with the answers that were recorded. */
function expectEffects(place: Place, answers: readonly Payload[]): void {
  const effects = effectsOf(place);
  for (const { call, name, ok } of answers) {
    const keys = effects.get(call) ?? [];
    const what = JSON.stringify({ call, name, ok, keys });
    const isRepeatable = name === 'put' || name === 'look';
    // What may run again has an answer of its own in the end.
    if (isRepeatable) expect(ok, what).toBe(true);
    if (ok === true) expect(keys, what).not.toEqual([]);
    if (!isRepeatable) expect(keys.length, what).toBeLessThanOrEqual(1);
    expect(new Set(keys).size, what).toBeLessThanOrEqual(1);
    effects.delete(call);
  }
  expect([...effects], 'effects of calls that no record names').toEqual([]);
}

/** The idempotency keys of each call's effects. */
function effectsOf({ effects }: Place): Map<unknown, string[]> {
  const keys = new Map<unknown, string[]>();
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trimEnd().split('\n') : [];
  for (const line of lines) {
    const [, id = '', key = ''] = line.split(' ');
    keys.set(id, [...(keys.get(id) ?? []), key]);
  }
  return keys;
}

/** Does `act` for each of the items, on two processes at once; the first error names its item. */
export async function twoAtOnce<T>(
  items: Iterable<T>,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      const { value } = next;
      await act(value).catch((cause: unknown) => {
        const words = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${JSON.stringify(value)}: ${words}`, { cause });
      });
    }
  };
  await Promise.all([worker(), worker()]);
}
