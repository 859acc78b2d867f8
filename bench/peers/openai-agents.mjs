/**
 * OpenAI Agents: a `Runner` with an in-process model, and tracing off.
 *
 * @module
 */
import { Agent, Runner, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { serve, timed } from '../worker.mjs';

function model(steps) {
  let step = 0;
  return {
    async getResponse() {
      const usage = new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });
      if (step === steps) {
        const content = [{ type: 'output_text', text: 'done' }];
        return {
          usage,
          output: [{ type: 'message', role: 'assistant', status: 'completed', content }],
        };
      }
      step += 1;
      const call = {
        type: 'function_call',
        callId: `c${step}`,
        name: 'add',
        status: 'completed',
        arguments: `{"a":${step},"b":1}`,
      };
      return { usage, output: [call] };
    },
    getStreamedResponse() {
      throw new Error('not streamed');
    },
  };
}

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

await serve({
  loop: ({ steps }) =>
    timed(async () => {
      const agent = new Agent({ name: 'bench', model: model(steps), tools: [add] });
      const runner = new Runner({ tracingDisabled: true });
      const result = await runner.run(agent, 'go', { maxTurns: steps + 1 });
      if (result.rawResponses.length !== steps + 1 || result.finalOutput !== 'done') {
        throw new Error('the loop took another way');
      }
    }),
});
