/**
 * AI SDK: `generateText` with an in-process model. The first argument says which of the installed versions.
 *
 * @module
 */
import { z } from 'zod';
import { serve, timed } from '../worker.mjs';

const { generateText, isStepCount, stepCountIs, tool } = await import(process.argv[2] ?? 'ai');
// Version 7 has renamed the condition.
const stopAt = isStepCount ?? stepCountIs;
const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

function model(steps) {
  let step = 0;
  return {
    specificationVersion: isStepCount === undefined ? 'v3' : 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    async doGenerate() {
      if (step === steps) {
        const finishReason = { unified: 'stop', raw: 'stop' };
        return { content: [{ type: 'text', text: 'done' }], finishReason, usage, warnings: [] };
      }
      step += 1;
      return {
        content: [
          {
            type: 'tool-call',
            toolCallId: `c${step}`,
            toolName: 'add',
            input: `{"a":${step},"b":1}`,
          },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
        warnings: [],
      };
    },
  };
}

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

await serve({
  loop: ({ steps }) =>
    timed(async () => {
      const result = await generateText({
        model: model(steps),
        prompt: 'go',
        tools: { add },
        stopWhen: stopAt(steps + 1),
      });
      if (result.steps.length !== steps + 1 || result.text !== 'done') {
        throw new Error('the loop took another way');
      }
    }),
});
