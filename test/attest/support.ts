/**
 * What the tests of attested transcripts share: a user with a key and a memory, logs, and their examination.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Attesting } from '../../src/attest/attested-store.ts';
import { Examination, type Examined, type Knowledge } from '../../src/attest/examine.ts';
import { HeadMemory } from '../../src/attest/head-memory.ts';
import { createAttested } from '../../src/attest/open.ts';
import { expect } from 'vitest';
import { child, type Child } from '../store/helpers.ts';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { signerKey, type SignerKey } from '../../src/evidence/index.ts';
import { feed } from '../../src/store/verify-file.ts';
import {
  createVerifier,
  unreadable,
  type Draft,
  type VerifyOptions,
} from '../../src/transcript/index.ts';

/** A key of its own for each number. */
export function signer(number = 1, name = `key-${number}`): SignerKey {
  return signerKey(name, new Uint8Array(32).fill(number), nodeEd25519);
}

/** A user: a key, and a memory in a folder. */
export interface User {
  readonly state: string;
  readonly memory: HeadMemory;
  readonly signer: SignerKey;
  /** What a plain verify knows. */
  readonly knowledge: Knowledge;
  readonly problems: string[];
  readonly attesting: Attesting;
}

/** A user who keeps what is seen in the folder `state`. */
export function userIn(state: string, key: SignerKey = signer()): User {
  const memory = new HeadMemory(state);
  const problems: string[] = [];
  return {
    state,
    memory,
    signer: key,
    knowledge: { keys: [key.verifier], memory },
    problems,
    attesting: { signer: key, memory, onProblem: (problem) => problems.push(problem) },
  };
}

let runs = 0;

/** The first record of a run that is like no other. */
export function userRecord(id: string = `run-${process.pid}-${(runs += 1)}`): Draft {
  return { kind: 'user', payload: { content: 'x', run: { format: 'hashtape/1', id } } };
}

export function toolRecord(value: number | string): Draft {
  return { kind: 'tool', payload: { ok: true, value } };
}

export const FINAL: Draft = { kind: 'final', payload: { reason: 'no_tool_calls' } };

/** How a log is written: `count` records, the last of which ends it if it is `sealed`. */
export interface Writing {
  readonly count?: number;
  readonly sealed?: boolean;
  readonly id?: string;
}

/** Writes a new attested log. */
export async function writeLog(
  path: string,
  attesting: Attesting,
  { count = 5, sealed = true, id }: Writing = {},
): Promise<void> {
  const store = await createAttested(path, attesting);
  await store.append([id === undefined ? userRecord() : userRecord(id)]);
  await store.sync();
  const tools = count - (sealed ? 2 : 1);
  if (tools > 0) await store.append(Array.from({ length: tools }, (_, i) => toolRecord(i)));
  if (sealed) await store.append([FINAL]);
  await store.close();
}

/** A plain verify: the chain, and the evidence around it. */
export async function examine(
  path: string,
  knowledge: Knowledge,
  options: VerifyOptions = { allowOpen: true },
): Promise<Examined> {
  const examination = await Examination.of(path, knowledge);
  const verifier = createVerifier(options, examination.onRecord);
  const problem = await feed(path, verifier);
  return examination.end(problem === null ? verifier.end() : unreadable(problem));
}

/** The files in a folder and below it, each with its bytes. */
export function snapshot(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  if (!existsSync(folder)) return files;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile())
      files[name] = readFileSync(path, 'latin1');
  }
  return files;
}

/** Makes the folder of a path, and gives the path back. */
export function within(...parts: readonly string[]): string {
  const path = join(...parts);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

const ATTEST = new URL('../../src/attest/', import.meta.url);
const DIST = new URL('../../dist/attest/', import.meta.url);

/** Other processes run the built package. An old build would test old code. */
export function requireBuiltAttest(): void {
  for (const name of readdirSync(ATTEST)) {
    const built = statSync(new URL(name.replace(/ts$/, 'js'), DIST), { throwIfNoEntry: false });
    if (built === undefined || built.mtimeMs < statSync(new URL(name, ATTEST)).mtimeMs)
      throw new Error(`dist is missing or older than src (attest/${name}): npm run build`);
  }
}

/** Another process, which imports what is named from `dist/attest` and tells lines by `say`. */
export function attestChild(path: string, names: Record<string, string>, script: string): Child {
  const imports = Object.entries(names)
    .map(([file, what]) => `import ${what} from ${JSON.stringify(new URL(file, DIST).href)};`)
    .join('\n');
  return child(path, `${imports}\n${script}`);
}

/** Starts all of them at once, and gives the line that each tells in the end. */
export async function atOnce(children: readonly Child[]): Promise<(string | null)[]> {
  for (const each of children) expect(await each.line()).toBe('ready');
  for (const each of children) each.process.stdin?.end('go\n');
  const lines = await Promise.all(children.map((each) => each.line()));
  await Promise.all(children.map((each) => each.ended));
  return lines;
}

/** A script that waits until all are ready. What it does says one line. */
export function whenAllReady(act: string): string {
  return `
    say('ready');
    process.stdin.once('data', async () => {
      try {
        ${act}
      } catch (error) {
        say('failed: ' + error.message);
      }
      process.stdin.destroy();
    });`;
}
