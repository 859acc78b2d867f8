/**
 * LangChain: `createAgent` (which runs on LangGraph) with an in-process model, without a checkpointer.
 *
 * @module
 */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { serve, timed } from '../worker.mjs';

class BenchModel extends BaseChatModel {
  #step = 0;
  #steps;

  constructor(steps) {
    super({});
    this.#steps = steps;
  }

  _llmType() {
    return 'bench';
  }

  bindTools() {
    return this;
  }

  async _generate() {
    const message = this.#next();
    return { generations: [{ text: message.text, message }], llmOutput: {} };
  }

  #next() {
    const usage_metadata = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    if (this.#step === this.#steps) return new AIMessage({ content: 'done', usage_metadata });
    this.#step += 1;
    const call = {
      type: 'tool_call',
      id: `c${this.#step}`,
      name: 'add',
      args: { a: this.#step, b: 1 },
    };
    return new AIMessage({ content: '', tool_calls: [call], usage_metadata });
  }
}

const add = tool(async ({ a, b }) => JSON.stringify({ sum: a + b }), {
  name: 'add',
  description: 'Adds two numbers.',
  schema: z.object({ a: z.number(), b: z.number() }),
});

await serve({
  loop: ({ steps }) =>
    timed(async () => {
      const agent = createAgent({ model: new BenchModel(steps), tools: [add] });
      const start = { messages: [{ role: 'user', content: 'go' }] };
      // A model turn and a tool batch count one each.
      const result = await agent.invoke(start, { recursionLimit: 2 * steps + 5 });
      if (result.messages.length !== 2 * steps + 2 || result.messages.at(-1).text !== 'done') {
        throw new Error('the loop took another way');
      }
    }),
});
