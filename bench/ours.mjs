/**
 * hashtape's jobs, as a worker process.
 *
 * @module
 */
import { readFileSync, rmSync } from 'node:fs';
import { EMPTY_AUDIT, encodeEntry } from '../dist/computer/audit-entry.js';
import { openAudit, verifyAuditFile } from '../dist/computer/audit-log.js';
import { observationDigest } from '../dist/computer/observation.js';
import { run } from '../dist/index.js';
import { RepeatLedger } from '../dist/run/repeats.js';
import { createTranscript, memoryStore, verifyFile } from '../dist/store/index.js';
import { drafts } from './records.mjs';
import { serve, timed } from './worker.mjs';

async function verify({ path, count }) {
  let verdict;
  const seconds = await timed(async () => {
    verdict = await verifyFile(path);
  });
  if (!verdict.ok || verdict.count !== count) throw new Error(JSON.stringify(verdict));
  return seconds;
}

/** `batch` records an append; with `sync`, each batch is made durable. */
async function append({ path, shape, count, batch, durability, sync }) {
  const batches = inBatches(drafts(shape), batch);
  const store = path === undefined ? memoryStore() : await createTranscript(path, { durability });
  const seconds = await timed(async () => {
    for (let done = 0, i = 0; done < count; done += batch, i += 1) {
      await store.append(batches[i % batches.length]);
      if (sync) await store.sync();
    }
  });
  const written = store.head.count;
  await store.close();
  if (path !== undefined) rmSync(path);
  if (written !== count) throw new Error(`${written} records instead of ${count}`);
  return seconds;
}

function inBatches(all, size) {
  const batches = [];
  for (let at = 0; at < all.length; at += size) batches.push(all.slice(at, at + size));
  return batches;
}

const add = {
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  execute: async ({ a, b }) => ({ sum: a + b }),
};

function scriptedModel(steps) {
  let step = 0;
  const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };
  return async () => {
    if (step === steps) return { content: 'done', usage };
    step += 1;
    const call = { id: `c${step}`, name: 'add', arguments: `{"a":${step},"b":1}` };
    return { content: '', toolCalls: [call], usage };
  };
}

function loop({ steps }) {
  return timed(async () => {
    const outcome = await run({
      task: 'go',
      model: scriptedModel(steps),
      tools: [add],
      budget: { steps: steps + 1 },
    });
    if (outcome.answer !== 'done' || outcome.transcript.count !== 2 * steps + 3) {
      throw new Error(`the loop took another way: ${JSON.stringify(outcome)}`);
    }
  });
}

/** Each call is looked up and added, as the loop does. */
function ledger({ calls }) {
  const landings = Array.from({ length: calls }, (_, i) => ({
    tool: 'read_file',
    arguments: `{"limit":50,"offset":${i},"path":"src/main.ts"}`,
    result: JSON.stringify(`line ${i} of the file `.repeat(10)),
    ok: true,
    comparedBy: 'result',
  }));
  return timed(() => {
    const seen = new RepeatLedger();
    for (const landing of landings) {
      if (seen.occurrences(landing) !== 1 || seen.add(landing) !== 1) throw new Error('a repeat');
    }
  });
}

async function auditVerify({ path, count }) {
  let verdict;
  const seconds = await timed(async () => {
    verdict = await verifyAuditFile(path);
  });
  if (!verdict.ok || verdict.count !== count) throw new Error(JSON.stringify(verdict));
  return seconds;
}

async function auditAppend({ path, steps, count, durability }) {
  const all = JSON.parse(readFileSync(steps, 'utf8'));
  const audit = await openAudit(path, { durability });
  const seconds = await timed(async () => {
    for (let i = 0; i < count; i += 1) await audit.append(all[i % all.length]);
  });
  await audit.release();
  rmSync(path);
  return seconds;
}

/** Ties steps to what was on a screen of `elements` elements. */
function auditDigest({ elements, count }) {
  const observation = {
    elements: Array.from({ length: elements }, (_, i) => ({
      label: `Größe ${i} "wählen"`,
      kind: 'button',
      x: i,
      y: 2 * i,
      width: 120,
      height: 24,
    })),
    text: 'What a page says. '.repeat(1000),
  };
  const said = { kind: 'step', goal: 'g', action: 'a', outcome: 'o', ok: true };
  return timed(() => {
    for (let i = 0; i < count; i += 1) {
      const screen = observationDigest(observation);
      encodeEntry(EMPTY_AUDIT, { ...said, at: '2026-01-01T00:00:00+00:00', screen });
    }
  });
}

await serve({
  verify,
  append,
  loop,
  ledger,
  'audit-verify': auditVerify,
  'audit-append': auditAppend,
  'audit-digest': auditDigest,
});
