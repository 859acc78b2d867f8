/**
 * A tool file for `hashtape run --tools`. A plain object is a tool, so it needs no import.
 *
 * @module
 */
export default [
  {
    name: 'add',
    description: 'Adds two whole numbers.',
    input: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: ({ a, b }) => a + b,
  },
];
