/**
 * hashtape's jobs, as a worker process.
 *
 * @module
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { checkProof } from '../dist/attest/check-proof.js';
import { Examination } from '../dist/attest/examine.js';
import { HeadMemory } from '../dist/attest/head-memory.js';
import { createAttested } from '../dist/attest/open.js';
import { proveRecord } from '../dist/attest/prove.js';
import { EMPTY_AUDIT, encodeEntry } from '../dist/computer/audit-entry.js';
import { openAudit, verifyAuditFile } from '../dist/computer/audit-log.js';
import { observationDigest } from '../dist/computer/observation.js';
import { run } from '../dist/index.js';
import { RepeatLedger } from '../dist/run/repeats.js';
import { createTranscript, memoryStore, verifyFile } from '../dist/store/index.js';
import { feed } from '../dist/store/verify-file.js';
import { createVerifier } from '../dist/transcript/index.js';
import { drafts, SIGNER } from './records.mjs';
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

/** Batches of these sizes in turn, each of them synced, with or without evidence. */
async function evidenceAppend({ folder, batches: sizes, count, attested }) {
  const path = join(folder, 'evidence-append.jsonl');
  const all = drafts('text');
  const memory = new HeadMemory(join(folder, 'state'));
  const store = await (attested
    ? createAttested(path, { signer: SIGNER, memory })
    : createTranscript(path));
  await store.append([{ kind: 'user', payload: { content: 'go', run: { id: randomUUID() } } }]);
  await store.sync();
  const seconds = await timed(async () => {
    for (let done = 0, i = 0; done < count; i += 1) {
      const size = sizes[i % sizes.length];
      const from = done % (all.length - size);
      await store.append(all.slice(from, from + size));
      await store.sync();
      done += size;
    }
  });
  await store.close();
  rmSync(path);
  rmSync(`${path}.checkpoint`, { force: true });
  return seconds;
}

/** As the command verifies: the chain, the root and the signatures. */
async function evidenceVerify({ path, count }) {
  let examined;
  const seconds = await timed(async () => {
    const examination = await Examination.of(path, { keys: [SIGNER.verifier] });
    const verifier = createVerifier({}, examination.onRecord);
    await feed(path, verifier);
    examined = await examination.end(verifier.end());
  });
  if (!examined.ok || examined.coverage[0]?.records !== count) {
    throw new Error(JSON.stringify(examined));
  }
  return seconds;
}

async function evidenceProve({ path, seq, cache }) {
  let proof;
  const seconds = await timed(async () => {
    proof = await proveRecord(path, seq, { cache });
  });
  const { ok, record } = await checkProof(proof, [SIGNER.verifier]);
  if (!ok || record.seq !== seq) throw new Error(`the proof of record ${seq} doesn't hold`);
  return seconds;
}

/** The most memory of this process so far, in MB; `maxRSS` may be that of the process which started it. */
function peakMemory() {
  const status = '/proc/self/status';
  const peak = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : null;
  return (Number(peak ?? process.resourceUsage().maxRSS) * 1024) / 1e6;
}

await serve({
  'evidence-append': evidenceAppend,
  'evidence-verify': evidenceVerify,
  'evidence-prove': evidenceProve,
  'peak-memory': peakMemory,
  verify,
  append,
  loop,
  ledger,
  'audit-verify': auditVerify,
  'audit-append': auditAppend,
  'audit-digest': auditDigest,
});
