/**
 * What the store's tests share.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect } from 'vitest';
import {
  readRecords,
  StoreError,
  type StoreErrorCode,
  type TranscriptStore,
} from '../../src/store/index.ts';
import { type Draft, type TranscriptRecord } from '../../src/transcript/index.ts';

export const USER: Draft = { kind: 'user', payload: { content: 'Zähle: 😀' } };
export const FINAL: Draft = { kind: 'final', payload: { reason: 'no_tool_calls' } };

export function tool(value: string | number): Draft {
  return { kind: 'tool', payload: { ok: true, value } };
}

/** A folder that is removed after the test file; each call of the result is a new path in it. */
export function scratch(): (name?: string) => string {
  const root = mkdtempSync(join(tmpdir(), 'hashtape-store-'));
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });
  let count = 0;
  return (name = 'run.jsonl') => {
    count += 1;
    return join(mkdtempSync(join(root, `${count}-`)), name);
  };
}

/** The error that a promise rejects with, which must be a StoreError of this code. */
export async function storeError(
  promise: Promise<unknown>,
  code: StoreErrorCode,
): Promise<StoreError> {
  const error: unknown = await promise.then(
    () => 'it resolved',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code });
  return error as StoreError;
}

export async function bytesOf(store: TranscriptStore): Promise<Buffer> {
  const copies: Uint8Array[] = [];
  for await (const piece of store.read()) copies.push(new Uint8Array(piece));
  return Buffer.concat(copies);
}

/** The store with some of its members replaced. */
export function replaced(
  store: TranscriptStore,
  members: Partial<TranscriptStore>,
): TranscriptStore {
  return {
    location: store.location,
    get head() {
      return store.head;
    },
    append: (drafts) => store.append(drafts),
    sync: () => store.sync(),
    read: () => store.read(),
    close: () => store.close(),
    ...members,
  };
}

/** The store, whose `read` lends one Buffer again and again. A Buffer's `slice` is no copy. */
export function lending(store: TranscriptStore, size: number): TranscriptStore {
  return replaced(store, {
    async *read() {
      const bytes = await bytesOf(store);
      const buffer = Buffer.alloc(size);
      for (let at = 0; at < bytes.length; at += size) {
        yield buffer.subarray(0, bytes.copy(buffer, 0, at, at + size));
        buffer.fill('?');
      }
    },
  });
}

export async function recordsOf(from: TranscriptStore | string | URL): Promise<TranscriptRecord[]> {
  const records: TranscriptRecord[] = [];
  for await (const record of readRecords(from)) records.push(record);
  return records;
}

const DIST = new URL('../../dist/store/', import.meta.url);
const SOURCE = new URL('../../src/store/', import.meta.url);

/** Other processes run the built package. An old build would test old code. */
export function requireBuild(): void {
  for (const name of [
    'file',
    'append-file',
    'file-store',
    'hold',
    'lock',
    'owner',
    'recover',
    'index',
  ]) {
    const built = statSync(new URL(`${name}.js`, DIST), { throwIfNoEntry: false });
    const source = statSync(new URL(`${name}.ts`, SOURCE));
    if (built === undefined || built.mtimeMs < source.mtimeMs) {
      throw new Error('dist is missing or older than src: npm run build');
    }
  }
}

export interface Child {
  readonly process: ChildProcess;
  /** The next line that it prints; null once it ended. */
  line(): Promise<string | null>;
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
}

/** Starts a process that runs `script`, in which the store's exports and `path` are in scope. */
export function child(path: string, script: string): Child {
  const source = `
    import { createTranscript, openTranscript } from ${JSON.stringify(new URL('index.js', DIST).href)};
    const path = ${JSON.stringify(path)};
    const tool = (value) => ({ kind: 'tool', payload: { ok: true, value } });
    const say = (text) => process.stdout.write(text + '\\n');
    ${script}`;
  const node = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  node.stdout.setEncoding('utf8');
  // Not `close`, which waits until somebody has read all of its output.
  const ended = once(node, 'exit');
  // A child that has ended takes no more input, and whether it has is not for the writer to know.
  node.stdin.on('error', () => undefined);
  const lines = eachLine(node.stdout);
  return {
    process: node,
    ended,
    async line() {
      const next = await lines.next();
      return next.done === true ? null : next.value;
    },
  };
}

async function* eachLine(stream: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  return undefined;
}
