// An episode on a real page: a brain that is a function, a check that looks for itself, an audit log.
// Run: npm install playwright-core (and have a Chromium), then node examples/episode.mjs
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { episode, renderAudit, verifyAuditFile } from 'hashtape/computer';
import { playwrightScreen } from 'hashtape/computer/playwright';

const PAGE = `<!doctype html><title>List</title>
<label>Item <input id="item"></label> <button onclick="list.append(item.value, '. ')">Add</button>
<p id="list"></p>`;
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

// Decides on what it sees. A model does the same: brain: openai({ model: 'gpt-5-mini' }).
const brain = ({ elements, text }) => {
  if (text.includes('milk.')) return { kind: 'done', answer: 'milk is on the list' };
  const field = elements.find(({ label }) => label === 'Item');
  return field?.value === 'milk'
    ? { kind: 'click', target: { label: 'Add' } }
    : { kind: 'type', target: { label: 'Item' }, text: 'milk' };
};

for (const end of ['jsonl', 'audit.jsonl']) rmSync(`runs/milk.${end}`, { force: true });
const screen = await playwrightScreen({ url: `http://127.0.0.1:${server.address().port}/` });
const result = await episode({
  goal: 'Put milk on the list',
  screen,
  brain,
  check: ({ text }) => text.includes('milk.'),
  budget: { steps: 10 },
  transcript: 'runs/milk.jsonl',
  audit: 'runs/milk.audit.jsonl',
});
await screen.close();
server.close();

console.log(`result:  ${result.result} (${result.check?.detail})`);
console.log(`claimed: ${result.claim}`);
console.log(renderAudit(await verifyAuditFile('runs/milk.audit.jsonl')));
