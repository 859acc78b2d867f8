/**
 * Looking at a page of 5,000 elements in Chromium, and the digests of what was seen.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { median } from '../measure.mjs';
import { ROOT } from '../paths.mjs';
import { figure } from '../table.mjs';

const MOST_MS = 300;
const DIGEST_MS = 1;
const ELEMENTS = 500;

/** @returns {Promise<import('../table.mjs').Row[]>} */
export async function observeRows({ quick }) {
  const rounds = quick ? 5 : 20;
  return [...(await pageRows(rounds)), await digestRow(rounds * 10)];
}

async function pageRows(rounds) {
  const { playwrightScreen } = await import(`${ROOT}/dist/computer/playwright.js`);
  const page = readFileSync(`${ROOT}/test/testdata/pages/many.html`);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(page);
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  let screen;
  try {
    screen = await playwrightScreen({ url: `http://127.0.0.1:${server.address().port}/` });
    const { signal } = new AbortController();
    const samples = [];
    let seen;
    for (let round = -1; round < rounds; round += 1) {
      const start = performance.now();
      seen = await screen.observe({ signal });
      samples.push(performance.now() - start);
    }
    const [first, ...others] = samples;
    const name = `observe a page of ${seen.elements.length.toLocaleString('en')} elements`;
    return [
      { name: `${name}, with its load`, ours: `${figure(first)} ms`, samples: [first] },
      row(name, median(others), MOST_MS, others),
    ];
  } finally {
    await screen?.close();
    server.closeAllConnections();
    server.close();
  }
}

/** What an audit entry of a step costs beside its file: both digests, and the entry's own canonical form and hash. */
async function digestRow(rounds) {
  const { observationDigest, screenDigest } = await import(`${ROOT}/dist/computer/observation.js`);
  const { canonicalJson } = await import(`${ROOT}/dist/transcript/index.js`);
  const { sha256Hex } = await import(`${ROOT}/dist/transcript/sha256-node.js`);
  const elements = Array.from({ length: ELEMENTS }, (_, index) => ({
    label: `Delete item ${index}`,
    kind: 'button',
    x: 171,
    y: 22 * index,
    width: 66,
    height: 21,
  }));
  const observation = { elements, text: 'Item in stock. '.repeat(200), url: 'http://127.0.0.1/' };
  const samples = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const digest = observationDigest(observation);
    const screen = screenDigest(observation);
    sha256Hex(canonicalJson({ action: 'click "Save"', digest, prev: screen, seq: round }));
    samples.push(performance.now() - start);
  }
  return row(`digests and audit entry, ${ELEMENTS} elements`, median(samples), DIGEST_MS, samples);
}

function row(name, milliseconds, most, samples) {
  return {
    name,
    ours: `${figure(milliseconds)} ms`,
    target: `≤ ${most} ms`,
    met: milliseconds <= most,
    samples,
  };
}
