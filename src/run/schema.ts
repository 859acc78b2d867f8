/**
 * Checks arguments against a tool's schema, in words that tell a model what to send instead.
 *
 * @module
 */
import { type StandardJSONSchemaV1, type StandardSchemaV1 } from '@standard-schema/spec';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { canonicalJson, type JsonObject } from '../transcript/index.ts';
import { type AnyTool } from './tool.ts';

/** Whether arguments fit, and what the tool gets. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  /** `error` lists what is wrong, as `$.add.a: expected type integer, got string`. */
  | { readonly ok: false; readonly error: string };

/** A tool's input, ready to check. */
export interface CompiledInput {
  /** What a model is shown. */
  readonly schema: JsonObject;
  check(args: JsonObject): Checked | Promise<Checked>;
}

const MAX_ISSUES = 8;

/**
 * Prepares a tool's input.
 *
 * @throws {TypeError} if it is neither a valid JSON Schema (2020-12) for an object nor a Standard Schema
 * that is described; the message names the tool.
 */
export function compileInput(tool: AnyTool): CompiledInput {
  const { input, name } = tool;
  if (isStandardSchema(input)) {
    const schema = tool.inputSchema ?? describe(input, name);
    compileJsonSchema(schema, name); // a provider would refuse the whole request over a bad one
    return {
      schema,
      check: async (args) => fromStandard(name, await input['~standard'].validate(args)),
    };
  }
  const validate = compileJsonSchema(input, name);
  return { schema: input, check: (args) => fromAjv(name, validate, args) };
}

function isStandardSchema(input: unknown): input is StandardSchemaV1 {
  return (
    (typeof input === 'object' || typeof input === 'function') &&
    input !== null &&
    '~standard' in input
  );
}

/** The JSON Schema that a Standard Schema gives of itself (zod 4.2+, arktype 2.1.28+ and others do). */
function describe(input: StandardSchemaV1, name: string): JsonObject {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = input['~standard'];
  if (standard.jsonSchema === undefined) {
    throw new TypeError(
      `tool '${name}': its schema (${standard.vendor}) can't describe itself as JSON Schema; give inputSchema beside input`,
    );
  }
  const described: JsonObject = JSON.parse(
    JSON.stringify(standard.jsonSchema.input({ target: 'draft-2020-12' })),
  );
  return described;
}

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: false, // JSON Schema itself says that unknown keywords are ignored
  validateFormats: false,
  addUsedSchema: false, // two tools may use the same $id
  logger: false,
});
const compiled = new WeakMap<
  object,
  { readonly text: string; readonly validate: ValidateFunction }
>();

function compileJsonSchema(schema: JsonObject, name: string): ValidateFunction {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new TypeError(`tool '${name}': input must be a JSON Schema or a Standard Schema`);
  }
  const text = canonicalJson(schema);
  const known = compiled.get(schema);
  if (known?.text === text) return known.validate;
  if (schema['type'] !== 'object') {
    throw new TypeError(
      `tool '${name}': input must be a schema of type object, as models send objects`,
    );
  }
  try {
    const validate = ajv.compile(JSON.parse(text));
    validate({}); // a cycle of $refs shows only when it runs
    ajv.removeSchema();
    compiled.set(schema, { text, validate });
    return validate;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`tool '${name}': input is not a valid JSON Schema (2020-12): ${why}`, {
      cause: error,
    });
  }
}

function fromAjv(name: string, validate: ValidateFunction, args: JsonObject): Checked {
  try {
    if (validate(args)) return { ok: true, value: args };
  } catch (error) {
    if (error instanceof RangeError)
      return { ok: false, error: `$.${name}: nested too deep to check` };
    throw error;
  }
  const issues = new Set((validate.errors ?? []).map((error) => issue(name, error)));
  return { ok: false, error: joinIssues([...issues]) };
}

function joinIssues(issues: readonly string[]): string {
  const more = issues.length - MAX_ISSUES;
  const shown = issues.slice(0, MAX_ISSUES).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

function issue(name: string, error: ErrorObject): string {
  const path = `$.${name}${pointerPath(error.instancePath)}`;
  const { params } = error;
  switch (error.keyword) {
    case 'type':
      return `${path}: expected type ${[params['type']].flat().join(' or ')}, got ${typeName(error.data)}${hint(error)}`;
    case 'required':
      return `${path}.${String(params['missingProperty'])}: required, but missing`;
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
      return `${path}.${String(key)}: not a known argument`;
    }
    case 'enum': {
      const allowed: unknown = params['allowedValues'];
      return `${path}: expected one of ${JSON.stringify(allowed).slice(1, -1)}`;
    }
    case 'const':
      return `${path}: expected ${JSON.stringify(params['allowedValue'])}`;
    default:
      return `${path}: ${error.message ?? error.keyword}`;
  }
}

/** Models often encode a nested value once more than they should; say so, rather than guess. */
function hint(error: ErrorObject): string {
  const wanted = new Set([error.params['type']].flat());
  if (typeof error.data !== 'string' || wanted.has('string')) return '';
  try {
    const inner: unknown = JSON.parse(error.data);
    return wanted.has(typeName(inner)) && typeof inner === 'object'
      ? ' holding JSON; send the value itself'
      : '';
  } catch {
    return '';
  }
}

/** RFC 6901 to the path that the rest of an error uses. */
function pointerPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

/** The JSON Schema name of a value's type. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function fromStandard(name: string, result: StandardSchemaV1.Result<unknown>): Checked {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = result.issues.map(({ message, path = [] }) => {
    const parts = path.map((part) => (typeof part === 'object' ? part.key : part));
    const where = parts.map((part) =>
      typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
    );
    return `$.${name}${where.join('')}: ${message}`;
  });
  return { ok: false, error: joinIssues(issues) };
}
