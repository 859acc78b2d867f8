// Records the golden transcript that golden.test.mjs replays. Run once: node examples/golden.mjs
import { rmSync } from 'node:fs';
import { run } from 'hashtape';
import { scripted } from 'hashtape/models/scripted';
import { job } from './golden-job.mjs';

const transcript = new URL('golden.jsonl', import.meta.url);
rmSync(transcript, { force: true });
// Any model will do: what it said is in the transcript from here on.
const model = scripted([
  { tool_calls: [{ name: 'price_of', arguments: { item: 'tea' } }] },
  { tool_calls: [{ name: 'price_of', arguments: { item: 'gold' } }] },
  'Tea is 3; gold is not for sale.',
]);
const { reason, transcript: record } = await run({ ...job, model, transcript });
console.log(`${reason}, ${record.count} records, head ${record.head}`);
