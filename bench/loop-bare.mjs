/**
 * No framework: the least that a loop over the same model and tool has to do.
 *
 * @module
 */
import { serve, timed } from './worker.mjs';

async function model(messages, steps) {
  const step = (messages.length - 1) / 2;
  if (step === steps) return { content: 'done', calls: [] };
  return {
    content: '',
    calls: [{ id: `c${step}`, name: 'add', arguments: `{"a":${step},"b":1}` }],
  };
}

const tools = { add: async ({ a, b }) => ({ sum: a + b }) };

await serve({
  loop: ({ steps }) =>
    timed(async () => {
      const messages = [{ role: 'user', content: 'go' }];
      for (;;) {
        const reply = await model(messages, steps);
        messages.push({ role: 'assistant', ...reply });
        if (reply.calls.length === 0) break;
        for (const call of reply.calls) {
          const value = await tools[call.name](JSON.parse(call.arguments));
          messages.push({ role: 'tool', id: call.id, content: JSON.stringify(value) });
        }
      }
      if (messages.length !== 2 * steps + 2) throw new Error('the loop took another way');
    }),
});
