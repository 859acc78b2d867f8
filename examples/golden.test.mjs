// A golden transcript as a test: no model, no key. Run: node --test examples/golden.test.mjs
import test from 'node:test';
import { expectReplay } from 'hashtape/testing';
import { job } from './golden-job.mjs';

test('the agent still does what it did when golden.jsonl was recorded', async () => {
  await expectReplay(new URL('golden.jsonl', import.meta.url), job);
});
