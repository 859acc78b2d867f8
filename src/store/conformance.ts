/**
 * The contract of {@link TranscriptStore} as runnable cases, for any test runner.
 *
 * ```ts
 * for (const { name, run } of storeConformance(make)) test(name, run);
 * ```
 *
 * @module
 */
import assert from 'node:assert/strict';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  verifyTranscript,
  type Draft,
  type JsonObject,
  type RecordLine,
} from '../transcript/index.ts';
import { ODD_PAYLOADS, UNRECORDABLE } from './conformance-payloads.ts';
import { readRecords } from './read.ts';
import { StoreError, type StoreErrorCode, type TranscriptStore } from './store.ts';

/** A store under test. */
export interface StoreUnderTest {
  /** New, and without records. */
  readonly store: TranscriptStore;
  /** Opens the same place again, after the store was closed. Leave it out if the place doesn't outlive its store. */
  readonly reopen?: () => Promise<TranscriptStore>;
  /** Removes the place; called after each case, whatever came of it. */
  readonly dispose?: () => Promise<void>;
}

/** One case of the contract. `run` rejects with an `AssertionError` if the store breaks it. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The cases; `make` is called for each of them. */
export function storeConformance(make: () => Promise<StoreUnderTest>): readonly ConformanceCase[] {
  return CASES.map(([name, check]) => ({
    name,
    async run() {
      const subject = await make();
      try {
        await check(subject.store, subject.reopen);
      } finally {
        await subject.store.close();
        await subject.dispose?.();
      }
    },
  }));
}

type Check = (store: TranscriptStore, reopen: StoreUnderTest['reopen']) => Promise<void>;

const CASES: readonly (readonly [name: string, check: Check])[] = [
  ['a new store has no records', newStore],
  ['records continue the head, one by one and in batches', order],
  ['an empty append changes nothing', emptyAppend],
  ['what is written verifies and reads back', readsBack],
  ['odd payloads keep every byte', oddPayloads],
  [
    'a draft that cannot be recorded leaves all as it was, wherever it stands in a batch',
    badDrafts,
  ],
  ['a caller that changes its objects afterwards changes nothing', laterChanges],
  ['a head that was given out stays as it was', headIsAValue],
  ['nothing follows a final record, also not in its batch', sealed],
  ['a reader sees whole records while others are appended', readWhileAppending],
  ['large records and many pieces read back whole', largeRecords],
  ['two readers do not disturb each other', twoReaders],
  ['a reader may stop early', earlyStop],
  ['sync may be called at any time while it is open', sync],
  ['close is idempotent, and only head and read work afterwards', close],
  ['a transcript goes on after it was opened again', reopens],
  ['a sealed transcript is not opened again', reopenSealed],
];

const USER: Draft = { kind: 'user', payload: { content: 'What is 2 + 40?' } };
const TOOL: Draft = { kind: 'tool', payload: { ok: true, value: 42 } };
const FINAL: Draft = { kind: 'final', payload: { reason: 'no_tool_calls' } };

async function newStore(store: TranscriptStore): Promise<void> {
  assert.deepEqual({ ...store.head }, EMPTY_HEAD);
  assert.equal(await text(store), '');
  assert.ok(store.location.length > 0, 'location says where it is');
}

async function order(store: TranscriptStore): Promise<void> {
  const batches = [[USER], [TOOL, TOOL], [{ kind: 'recovered', payload: [] }], [TOOL, FINAL]];
  let head = EMPTY_HEAD;
  for (const drafts of batches) {
    const expected: RecordLine[] = [];
    for (const draft of drafts) {
      const line = encodeRecord(head, draft);
      expected.push(line);
      head = advance(line);
    }
    assert.deepEqual([...(await store.append(drafts))], expected);
    assert.deepEqual({ ...store.head }, head);
  }
}

async function emptyAppend(store: TranscriptStore): Promise<void> {
  await store.append([USER]);
  await unchanged(store, async () => {
    assert.deepEqual([...(await store.append([]))], []);
  });
}

async function readsBack(store: TranscriptStore): Promise<void> {
  const written = [await store.append([USER, TOOL]), await store.append([FINAL])].flat();
  const expected = written.map((line) => line.text).join('');
  assert.equal(await text(store), expected);
  assert.equal(await text(store), expected, 'a second read gives the same');
  const verdict = verifyTranscript(await bytes(store));
  assert.deepEqual(verdict, { ok: true, count: 3, head: store.head.hash, sealed: true });
}

async function oddPayloads(store: TranscriptStore): Promise<void> {
  const written: RecordLine[] = [];
  for (const [name, payload] of ODD_PAYLOADS) {
    written.push(...(await store.append([{ kind: name, payload }])));
  }
  assert.equal(await text(store), written.map((line) => line.text).join(''));
  const verdict = verifyTranscript(await bytes(store), { allowOpen: true });
  assert.equal(verdict.fault, undefined);
  let head = EMPTY_HEAD;
  for await (const { kind, payload } of readRecords(store)) {
    const again = encodeRecord(head, { kind, payload });
    assert.equal(again.text, written[again.seq]?.text, `${kind} reads back as it was written`);
    head = advance(again);
  }
  assert.equal(head.count, ODD_PAYLOADS.length);
}

async function badDrafts(store: TranscriptStore): Promise<void> {
  await store.append([USER]);
  for (const [name, draft] of UNRECORDABLE) {
    // The point is what a caller without types may pass.
    const bad = draft as Draft;
    for (const batch of [[bad], [bad, TOOL], [TOOL, bad, TOOL], [TOOL, TOOL, bad]]) {
      await unchanged(store, () =>
        assert.rejects(store.append(batch), { name: 'CanonicalError' }, name),
      );
    }
  }
  await store.append([TOOL, FINAL]);
  assert.equal(verifyTranscript(await bytes(store)).count, 3);
}

async function laterChanges(store: TranscriptStore): Promise<void> {
  const payload = { list: [1, 2], nested: { deep: 'before' } };
  const drafts: Draft[] = [{ kind: 'tool', payload }];
  await store.append(drafts);
  await unchanged(store, async () => {
    payload.list.push(3);
    payload.nested.deep = 'after';
    drafts.push(FINAL);
  });
  await store.append([FINAL]);
  assert.equal(verifyTranscript(await bytes(store)).ok, true);
}

async function headIsAValue(store: TranscriptStore): Promise<void> {
  const before = store.head;
  const copy = { ...before };
  await store.append([USER]);
  assert.deepEqual({ ...before }, copy);
}

async function sealed(store: TranscriptStore): Promise<void> {
  await store.append([USER]);
  await unchanged(store, () => refuses(store.append([FINAL, TOOL]), 'sealed'));
  await store.append([FINAL]);
  assert.equal(store.head.sealed, true);
  for (const draft of [TOOL, FINAL]) {
    await unchanged(store, () => refuses(store.append([draft]), 'sealed'));
  }
}

async function readWhileAppending(store: TranscriptStore): Promise<void> {
  await store.append([USER]);
  const reading = store.read();
  let seen = '';
  const decoder = new TextDecoder();
  for await (const piece of reading) {
    seen += decoder.decode(piece, { stream: true });
    if (store.head.count < 4) await store.append([TOOL]);
  }
  assert.ok((await text(store)).startsWith(seen), 'what was read is a beginning of what is there');
  assert.ok(seen.endsWith('\n'), 'it ends with a whole record');
}

async function largeRecords(store: TranscriptStore): Promise<void> {
  const written: string[] = [];
  for (const length of [1, 65_535, 200_000, 3, 1_100_000]) {
    const payload: JsonObject = { value: 'ä€😀'.repeat(length).slice(0, length).toWellFormed() };
    for (const line of await store.append([{ kind: 'tool', payload }])) written.push(line.text);
  }
  // Not `assert.equal`: its difference of two megabytes would take minutes to print.
  assert.ok((await text(store)) === written.join(''), 'every byte is there');
}

async function twoReaders(store: TranscriptStore): Promise<void> {
  await store.append([USER, TOOL, FINAL]);
  const [one, two] = await Promise.all([text(store), text(store)]);
  assert.equal(one, two);
  assert.equal(verifyTranscript(one).ok, true);
}

async function earlyStop(store: TranscriptStore): Promise<void> {
  await store.append([USER, TOOL]);
  for await (const piece of store.read()) {
    assert.ok(piece.length > 0);
    break;
  }
  await store.append([FINAL]);
  assert.equal(verifyTranscript(await bytes(store)).ok, true);
}

async function sync(store: TranscriptStore): Promise<void> {
  await store.sync();
  await store.append([USER]);
  await Promise.all([store.sync(), store.sync()]);
  await unchanged(store, () => store.sync());
}

async function close(store: TranscriptStore): Promise<void> {
  await store.append([USER, TOOL]);
  await unchanged(store, async () => {
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await refuses(store.append([FINAL]), 'closed');
    await refuses(store.sync(), 'closed');
  });
}

async function reopens(store: TranscriptStore, reopen: StoreUnderTest['reopen']): Promise<void> {
  if (reopen === undefined) return;
  await store.append([USER, TOOL]);
  const [head, before] = [{ ...store.head }, await text(store)];
  await store.close();
  const again = await reopen();
  try {
    assert.deepEqual({ ...again.head }, head);
    assert.equal(await text(again), before);
    await again.append([FINAL]);
    const after = await text(again);
    assert.ok(after.startsWith(before));
    assert.equal(verifyTranscript(after).ok, true);
  } finally {
    await again.close();
  }
}

async function reopenSealed(
  store: TranscriptStore,
  reopen: StoreUnderTest['reopen'],
): Promise<void> {
  if (reopen === undefined) return;
  await store.append([USER, FINAL]);
  await store.close();
  await refuses(reopen(), 'sealed');
}

/** Head and bytes are the same before and after. */
async function unchanged(store: TranscriptStore, action: () => Promise<unknown>): Promise<void> {
  const before = [{ ...store.head }, await text(store)];
  await action();
  assert.deepEqual([{ ...store.head }, await text(store)], before);
}

async function refuses(promise: Promise<unknown>, code: StoreErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => error instanceof StoreError && error.code === code);
}

async function bytes(store: TranscriptStore): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const piece of store.read()) copies.push(new Uint8Array(piece));
  return Buffer.concat(copies);
}

async function text(store: TranscriptStore): Promise<string> {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await bytes(store));
}
