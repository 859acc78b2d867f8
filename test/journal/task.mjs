/**
 * The run that is killed: thirty steps whose effects are counted outside of the process, in a file. Parent and
 * child make it from here, so that they can go on with each other's.
 *
 * @module
 */
import { appendFileSync } from 'node:fs';
import { setImmediate as tick } from 'node:timers/promises';

export const STEPS = 30;

/** The calls of each turn, in a cycle: one, two or three, together and alone. */
const TURNS = [
  ['pay'],
  ['look', 'post'],
  ['put'],
  ['pay', 'look', 'put'],
  ['post', 'post'],
  ['look', 'pay', 'pay'],
];

/** The turn depends on the conversation alone, and on no answer in it: what the model can't know. */
function model({ messages }) {
  const step = messages.filter(({ role }) => role === 'assistant').length;
  const usage = {
    input: 100 + step,
    cacheRead: null,
    cacheWrite: null,
    output: 10,
    reasoning: null,
  };
  if (step === STEPS - 1) return { content: 'all is done', usage };
  const names = TURNS[step % TURNS.length];
  const toolCalls = names.map((name, i) => ({ name, arguments: { n: step * 10 + i } }));
  return { content: `step ${step}`, toolCalls, usage };
}

/**
 * The options of the run, but for the transcript.
 *
 * @param effects the file that gets a line for each effect: tool, call and idempotency key.
 * @param operation is told of each thing that happens.
 */
export function taskWith(effects, operation = () => undefined) {
  const tool = (name, more) => ({
    name,
    description: name,
    input: { type: 'object', properties: { n: { type: 'integer' } } },
    async execute({ n }, { callId, idempotencyKey }) {
      operation(`start of ${name}`);
      await tick();
      operation(`effect of ${name}`);
      // With O_APPEND; the system keeps what a process wrote that is killed.
      appendFileSync(effects, `${name} ${callId} ${idempotencyKey}\n`);
      operation(`end of ${name}`);
      await tick();
      return { did: name, n };
    },
    ...more,
  });
  return {
    task: 'thirty steps',
    budget: { steps: STEPS + 10 },
    model: Object.assign(
      async (request) => {
        operation('model');
        await tick();
        return model(request);
      },
      { id: 'thirty' },
    ),
    tools: [
      tool('pay', { parallel: false }),
      tool('post', {}),
      tool('put', { idempotent: true }),
      tool('look', { readOnly: true }),
    ],
  };
}
