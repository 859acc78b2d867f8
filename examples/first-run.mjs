// One task, one tool, four limits, and a check that looks for itself. Run: node examples/first-run.mjs
import { rmSync } from 'node:fs';
import { run, tool } from 'hashtape';
import { scripted } from 'hashtape/models/scripted';
import { verifyFile } from 'hashtape/store';

const add = tool({
  name: 'add',
  description: 'Adds two integers.',
  input: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
});

// A scripted model needs no key. With one: openai({ model: 'gpt-5-mini' }) from 'hashtape/models/openai'.
const model = scripted([
  { tool_calls: [{ name: 'add', arguments: '{"a":"2","b":40}' }] }, // wrong: a is a string
  { tool_calls: [{ name: 'add', arguments: '{"a":2,"b":40}' }] },
  'It is 42.',
]);

rmSync('runs/first.jsonl', { force: true });
const outcome = await run({
  task: 'What is 2 + 40?',
  model,
  tools: [add],
  budget: { steps: 8, tokens: 20_000, seconds: 60, toolCalls: 20 },
  transcript: 'runs/first.jsonl',
  check: ({ answer }) => ({ ok: answer.includes('42'), detail: 'the answer names 42' }),
});

console.log(`stopped:  ${outcome.reason}`);
console.log(`claimed:  ${outcome.answer}`);
console.log(`verified: ${outcome.verified} (${outcome.check?.detail})`);
console.log(`spent:    ${outcome.spent.steps} steps, ${outcome.spent.toolCalls} tool calls`);

const verdict = await verifyFile('runs/first.jsonl');
console.log(`record:   ${verdict.ok ? 'holds' : verdict.fault?.reason}, ${verdict.count} records`);
