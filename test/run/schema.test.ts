/**
 * Tool inputs: which schemas are accepted, and the words in which arguments are refused.
 *
 * @module
 */
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compileInput } from '../../src/run/schema.ts';
import { call, calls, DONE, drive, model, toolOf } from './support.ts';
import { type AnyTool } from '../../src/run/tool.ts';
import { type JsonObject } from '../../src/transcript/index.ts';

function toolWith(input: unknown, inputSchema?: JsonObject, name = 'add'): AnyTool {
  // Callers in JavaScript give anything.
  const tool = { name, description: '', input, execute: () => null } as AnyTool;
  return inputSchema === undefined ? tool : { ...tool, inputSchema };
}

/** What is said of arguments; null if they fit. */
async function said(
  input: unknown,
  args: unknown,
  inputSchema?: JsonObject,
): Promise<string | null> {
  const checked = await compileInput(toolWith(input, inputSchema)).check(args as JsonObject);
  return checked.ok ? null : checked.error;
}

function object(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest };
}

const A = object({ a: { type: 'integer' } });

describe('JSON Schema', () => {
  test.each<[JsonObject, unknown, string | null]>([
    // The seed's words, but for the type's name: JSON Schema's instead of Python's.
    [A, { a: 'x' }, '$.add.a: expected type integer, got string'],
    [A, { a: 1.5 }, '$.add.a: expected type integer, got number'],
    [A, { a: true }, '$.add.a: expected type integer, got boolean'],
    [A, { a: null }, '$.add.a: expected type integer, got null'],
    [A, { a: [] }, '$.add.a: expected type integer, got array'],
    [A, { a: {} }, '$.add.a: expected type integer, got object'],
    [A, { a: 1 }, null],
    [A, {}, null],
    [A, { b: 1 }, null],
    [
      object({ a: { type: ['string', 'null'] } }),
      { a: 1 },
      '$.add.a: expected type string or null, got number',
    ],
    [
      object({}, { required: ['a', 'b'] }),
      {},
      '$.add.a: required, but missing; $.add.b: required, but missing',
    ],
    [object({}, { additionalProperties: false }), { b: 1 }, '$.add.b: not a known argument'],
    [object({}, { unevaluatedProperties: false }), { b: 1 }, '$.add.b: not a known argument'],
    [
      object({}, { additionalProperties: false }),
      { constructor: 1 },
      '$.add.constructor: not a known argument',
    ],
    [object({}, { required: ['toString'] }), {}, '$.add.toString: required, but missing'],
    [object({ a: { enum: ['x', 2, null] } }), { a: 'y' }, '$.add.a: expected one of "x",2,null'],
    [object({ a: { const: { k: 1 } } }), { a: 1 }, '$.add.a: expected {"k":1}'],
    [object({ a: { minimum: 3 } }), { a: 2 }, '$.add.a: must be >= 3'],
    [object({ a: { maxLength: 1 } }), { a: 'xy' }, '$.add.a: must NOT have more than 1 characters'],
    [object({ a: { pattern: '^x' } }), { a: 'y' }, '$.add.a: must match pattern "^x"'],
    [
      object({ a: { items: { type: 'string' } } }),
      { a: ['x', 1] },
      '$.add.a[1]: expected type string, got number',
    ],
    [
      object({ 'a/b~c': { type: 'string' } }),
      { 'a/b~c': 1 },
      '$.add.a/b~c: expected type string, got number',
    ],
    // An argument that has to be a number is not made one.
    [
      object({ a: { type: 'number' } }),
      { a: '200000' },
      '$.add.a: expected type number, got string',
    ],
    // #29: encoded once too often.
    [
      object({ queries: { type: 'array' } }),
      { queries: '["test"]' },
      '$.add.queries: expected type array, got string holding JSON; send the value itself',
    ],
    [
      object({ edits: { type: ['object', 'null'] } }),
      { edits: '{"oldText":"a"}' },
      '$.add.edits: expected type object or null, got string holding JSON; send the value itself',
    ],
    [
      object({ q: { type: 'array' } }),
      { q: '{"a":1}' },
      '$.add.q: expected type array, got string',
    ],
    [object({ q: { type: 'array' } }), { q: '["te' }, '$.add.q: expected type array, got string'],
    // Formats are annotations, and unknown keywords are ignored.
    [object({ a: { format: 'email', 'x-ui': 1 } }), { a: 'x' }, null],
  ])('%j of %j: %s', async (schema, args, expected) => {
    expect(await said(schema, args)).toBe(expected);
  });

  test('many problems are listed up to eight, and counted', async () => {
    const required = Array.from({ length: 11 }, (_, i) => `k${i}`);
    const text = await said(object({}, { required }), {});
    expect(text).toContain('$.add.k7: required, but missing; and 3 more');
    expect(text).not.toContain('k8');
  });

  test('a problem of any length is cut', async () => {
    const text = await said(object({}, { additionalProperties: false }), { ['k'.repeat(1e6)]: 1 });
    expect(text?.length).toBeLessThan(1100);
    expect(text).toMatch(/… \(cut\)$/);
  });

  test('arguments are checked, not changed', async () => {
    const schema = object({ a: { type: 'integer', default: 5 }, b: { type: 'string' } });
    const args = Object.freeze({ c: 1 });
    const checked = await compileInput(toolWith(schema)).check(args);
    expect(checked).toEqual({ ok: true, value: { c: 1 } });
  });

  test.each<[string, JsonObject]>([
    ['its root', object({ child: { $ref: '#' } })],
    [
      'a definition',
      object(
        { child: { $ref: '#/$defs/n' } },
        { $defs: { n: object({ child: { $ref: '#/$defs/n' } }) } },
      ),
    ],
    ['its own id', object({ child: { $ref: 'tree' } }, { $id: 'tree' })],
  ])('a schema that refers to %s is one', async (_, schema) => {
    // Twice: another tool may use the same $id.
    for (let i = 0; i < 2; i += 1) {
      expect(await said(structuredClone(schema), { child: { child: {} } })).toBeNull();
      expect(await said(structuredClone(schema), { child: 1 })).toContain('expected type object');
    }
  });

  test('the model is shown a frozen copy, in the order in which it was written', () => {
    const schema = object({ z: { type: 'string' }, a: { type: 'string' } }, { required: ['z'] });
    const shown = compileInput(toolWith(schema)).schema;
    expect(JSON.stringify(shown)).toBe(JSON.stringify(schema));
    expect(Object.isFrozen(shown)).toBe(true);
    expect(Object.isFrozen(shown['properties'])).toBe(true);
    expect(Object.isFrozen(schema)).toBe(false);
  });

  test('a schema that was changed is compiled again', async () => {
    const schema: { [key: string]: unknown } = { type: 'object' };
    expect(await said(schema, {})).toBeNull();
    schema['required'] = ['a'];
    expect(await said(schema, {})).toBe('$.add.a: required, but missing');
  });
});

test('a schema that declares another draft is read as 2020-12, and shown as it is', async () => {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const schema = object({ a: { type: 'integer' } }, { $schema });
  expect(await said(schema, { a: 'x' })).toBe('$.add.a: expected type integer, got string');
});

describe('what is refused where a tool is made, by name', () => {
  const cyclic: { [key: string]: unknown } = { type: 'object' };
  cyclic['properties'] = cyclic;
  test.each<[string, unknown, string]>([
    // #49
    [
      'draft-04',
      object({ x: { minimum: 1, exclusiveMinimum: true } }),
      '$.properties.x.exclusiveMinimum must be number',
    ],
    ['a type as a property', object({ x: 'number' }), '$.properties.x must be object,boolean'],
    [
      'type any',
      object({ x: { type: 'any' } }),
      '$.properties.x.type must be equal to one of the allowed values',
    ],
    [
      'a cycle',
      object(
        { x: { $ref: '#/$defs/a' } },
        { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      ),
      'it refers to itself without end',
    ],
    [
      'a cycle of one',
      object({ x: { $ref: '#/properties/x' } }),
      'it refers to itself without end',
    ],
    [
      'the root as its own meaning',
      { type: 'object', $ref: '#' },
      'it refers to itself without end',
    ],
    [
      'a reference to nothing',
      object({ x: { $ref: '#/$defs/zz' } }),
      "can't resolve reference #/$defs/zz",
    ],
    ['an array', { type: 'array' }, 'it must be of type object, as models send objects'],
    ['no type', {}, 'it must be of type object'],
    ['two types', { type: ['object', 'null'] }, 'it must be of type object'],
    ['a bad pattern', object({ x: { pattern: '(' } }), 'Invalid regular expression'],
    [
      'what only another draft says',
      object(
        { x: { type: 'array', items: [{ type: 'string' }] } },
        { $schema: 'http://json-schema.org/draft-07/schema#' },
      ),
      '$.properties.x.items must be object,boolean',
    ],
    ['a promise of a check', { $async: true, type: 'object' }, '$async is not part of it'],
    ['undefined inside', { type: 'object', required: undefined }, '$.required: undefined'],
    ['a cycle of objects', cyclic, 'a cycle'],
    ['null', null, 'input must be a JSON Schema or a Standard Schema'],
    ['a number', 5, 'input must be a JSON Schema or a Standard Schema'],
    ['a list', [], 'input must be a JSON Schema or a Standard Schema'],
    ['a zod string', z.string(), 'it must be of type object'],
    [
      'a zod date',
      z.object({ d: z.date() }),
      "its schema can't be described as JSON Schema (Error: Date cannot be represented",
    ],
    [
      'valibot alone',
      v.object({ a: v.number() }),
      "its schema (valibot) can't describe itself as JSON Schema; give inputSchema beside input",
    ],
  ])('%s', async (_, input, message) => {
    expect(() => compileInput(toolWith(input, undefined, 'multiply'))).toThrow(TypeError);
    expect(() => compileInput(toolWith(input, undefined, 'multiply'))).toThrow("tool 'multiply': ");
    expect(() => compileInput(toolWith(input))).toThrow(message);
    // It leaves nothing behind that spoils another tool's schema.
    expect(await said(object({ c: { $ref: '#' } }), { c: {} })).toBeNull();
  });

  test('a bad inputSchema beside a good input', () => {
    expect(() => compileInput(toolWith(v.object({}), { type: 'array' }))).toThrow("tool 'add': ");
  });

  test('a tool whose $id was used by a refused one', () => {
    const bad = object({ x: { $ref: '#/properties/x' } }, { $id: 'https://e.x/t' });
    expect(() => compileInput(toolWith(bad))).toThrow(TypeError);
    expect(() => compileInput(toolWith(object({}, { $id: 'https://e.x/t' })))).not.toThrow();
  });
});

const standard = (validate: () => unknown): unknown => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

function refuse(): never {
  throw new Error('lookup failed');
}

describe('Standard Schema', () => {
  const inputSchema = object({ a: { type: 'number' } }, { required: ['a'] });

  test.each<[string, unknown, JsonObject | undefined]>([
    ['zod', z.object({ a: z.number(), d: z.string().default('x') }), undefined],
    ['arktype', type({ a: 'number', d: "string = 'x'" }), undefined],
    ['valibot', v.object({ a: v.number(), d: v.optional(v.string(), 'x') }), inputSchema],
  ])('%s checks, and the tool gets what it makes of frozen arguments', async (_, input, shown) => {
    const compiled = compileInput(toolWith(input, shown));
    expect(compiled.schema['type']).toBe('object');
    const args = Object.freeze({ a: 1 });
    expect(await compiled.check(args)).toEqual({ ok: true, value: { a: 1, d: 'x' } });
    const refused = await compiled.check({ a: 'no' });
    expect(refused).toMatchObject({ ok: false });
    if (!refused.ok) expect(refused.error).toMatch(/^\$\.add\.a: .*number/);
  });

  test('a path of keys and indices', async () => {
    const nested = z.object({ list: z.array(z.object({ n: z.number() })) });
    expect(await said(nested, { list: [{ n: 1 }, { n: 'x' }] })).toMatch(
      /^\$\.add\.list\[1\]\.n: /,
    );
  });

  test.each([
    ['at once', () => refuse()],
    ['later', async () => refuse()],
  ])('a schema that throws %s is told apart from a tool that does', async (_, validate) => {
    const { results } = await drive({
      model: model([calls(call('t')), DONE]),
      tools: [toolOf('t', () => 1, { input: standard(validate) as never, inputSchema })],
    });
    expect(results[0]).toMatchObject({
      failure: 'invalid_arguments',
      error: 'invalid arguments: $.t: could not be checked: its schema raised Error: lookup failed',
    });
  });

  test('messages of any kind are made fit to record', async () => {
    const issues = [
      { message: 'half \ud800 a character', path: [{ key: 'k' }, 0, Symbol('s')] },
      { message: 'x'.repeat(5000) },
    ];
    const text = await said(
      standard(() => ({ issues })),
      {},
      inputSchema,
    );
    expect(text?.isWellFormed()).toBe(true);
    expect(text).toContain('$.add.k[0].Symbol(s): half \ufffd a character; $.add: xxx');
    expect(text?.length).toBeLessThan(1200);
  });
});
