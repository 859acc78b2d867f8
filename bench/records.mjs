/**
 * What is recorded in the benchmarks: two shapes of payload, the same in every run, and files of them.
 *
 * @module
 */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAttested } from '../dist/attest/open.js';
import { nodeEd25519 } from '../dist/evidence/ed25519-node.js';
import { signerKey } from '../dist/evidence/index.js';
import { createTranscript } from '../dist/store/index.js';

/** How many different payloads there are of a shape; they are used again and again. */
export const DISTINCT = 1000;

/** One long text, or a nested result of a tool. Both make lines of about 370 bytes. */
export const SHAPES = {
  text: { kind: 'assistant', payload: textPayload },
  nested: { kind: 'tool', payload: nestedPayload },
};

const WORDS =
  'the agent looked at each order and found that one of them had been sent twice so it asked for a refund before closing'.split(
    ' ',
  );

/** A message of a model: 165 characters of plain text. */
function textPayload(random) {
  let content = '';
  while (content.length < 165) content += `${WORDS[random(WORDS.length)]} `;
  return { content: content.slice(0, 165) };
}

/** A tool's result: arguments, rows, integers, fractions, escapes, and letters beyond ASCII. */
function nestedPayload(random) {
  const row = () => [random(100_000), random(10_000) / 64, random(2) === 0];
  return {
    args: { limit: random(50), query: `"Zürich" → ${WORDS[random(WORDS.length)]}\n` },
    call: `call_${random(100_000)}`,
    ok: true,
    rows: [row(), row(), row()],
    score: random(1000) / 1e9,
    text: `naïve\tcafé`,
  };
}

/** The payloads of a shape. */
export function payloads(shape) {
  const random = randomOf(7);
  return Array.from({ length: DISTINCT }, () => SHAPES[shape].payload(random));
}

/** The same numbers on every machine (Lehmer's generator, MINSTD). */
function randomOf(seed) {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

/** Drafts of a shape, as they are appended. */
export function drafts(shape) {
  const { kind } = SHAPES[shape];
  return payloads(shape).map((payload) => ({ kind, payload }));
}

/** The payloads as a JSON file, for a contender in another language. */
export function payloadFile(folder, shape) {
  const path = join(folder, `payloads-${shape}.json`);
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(payloads(shape)));
  return path;
}

/**
 * A sealed transcript of `count` records, made if it isn't there.
 *
 * @returns {Promise<{ path: string, bytes: number }>}
 */
export async function transcriptFile(folder, shape, count) {
  const path = join(folder, `${shape}-${count}.jsonl`);
  if (!existsSync(path)) await writeTranscript(path, shape, count);
  return { path, bytes: statSync(path).size };
}

async function writeTranscript(path, shape, count) {
  await writeAll(await createTranscript(path, { durability: 'never' }), shape, count);
}

async function writeAll(store, shape, count) {
  const all = drafts(shape);
  for (let left = count - 1; left > 0; left -= DISTINCT) await store.append(all.slice(0, left));
  await store.append([{ kind: 'final', payload: { reason: 'answered' } }]);
  await store.close();
}

/** The key that signs in benchmarks. */
export const SIGNER = signerKey('bench', new Uint8Array(32).fill(1), nodeEd25519);

/** A sealed transcript of `count` texts with its checkpoint, made if it isn't there; its path. */
export async function attestedFile(folder, count) {
  const path = join(folder, `attested-${count}.jsonl`);
  if (!existsSync(path)) {
    await writeAll(await createAttested(path, { signer: SIGNER }), 'text', count);
  }
  return path;
}
