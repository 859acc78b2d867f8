// Drives the loop with a real conversation that was recorded elsewhere, its tools answering as they did then.
// Run: node examples/recorded.mjs [FILE]   (an OpenAI-style message array, or { messages } or { traj })
import { readFileSync, rmSync } from 'node:fs';
import { run } from 'hashtape';
import { recordedTools, recordedTurns, scripted } from 'hashtape/models/scripted';
import { verifyFile } from 'hashtape/store';

const file = process.argv[2] ?? 'test/testdata/samples/tau-bench/public-gpt4o-airline-109.json';
const recording = JSON.parse(readFileSync(file, 'utf8'));

rmSync('runs/recorded.jsonl', { force: true });
const outcome = await run({
  task: 'Help the user, as recorded.',
  model: scripted(recordedTurns(recording, { closing: '(the recording ends here)' })),
  tools: recordedTools(recording),
  budget: { steps: 100 },
  transcript: 'runs/recorded.jsonl',
  on: {
    'repeated-call': (event) =>
      console.log(
        `repeat:   ${event.tool} gave the same result again (${event.occurrences} times now)`,
      ),
  },
});

const verdict = await verifyFile('runs/recorded.jsonl');
console.log(`stopped:  ${outcome.reason} after ${outcome.spent.toolCalls} tool calls`);
console.log(`record:   ${verdict.ok ? 'holds' : verdict.fault.reason}, ${verdict.count} records`);
