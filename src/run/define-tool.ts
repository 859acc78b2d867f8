/**
 * `tool()`: a tool whose function knows the type of its arguments, checked where it is written.
 *
 * @module
 */
import { compileInput } from './schema.ts';
import { checkTool, type Tool, type ToolInput } from './tool.ts';

/**
 * Makes a tool.
 *
 * @example
 * const add = tool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: {
 *     type: 'object',
 *     properties: { a: { type: 'number' }, b: { type: 'number' } },
 *     required: ['a', 'b'],
 *   },
 *   execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
 * });
 * @throws {TypeError | RangeError} if something in it is wrong; the message names the tool.
 */
export function tool<I extends ToolInput>(definition: Tool<I>): Tool<I> {
  checkTool(definition);
  compileInput(definition);
  // A copy would lose what an object of a class inherits.
  return Object.freeze(definition);
}
