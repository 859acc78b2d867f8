/**
 * Checks arguments against a tool's schema, in words that tell a model what to send instead.
 *
 * @module
 */
import { type StandardJSONSchemaV1, type StandardSchemaV1 } from '@standard-schema/spec';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { canonicalJson, type JsonObject } from '../transcript/index.ts';
import { deepFreeze } from './arguments.ts';
import { describeError, publicText } from './result.ts';
import { type AnyTool } from './tool.ts';

/** Whether arguments fit, and what the tool gets. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  /** `error` lists what is wrong, as `$.add.a: expected type integer, got string`. */
  | { readonly ok: false; readonly error: string };

/** A tool's input, ready to check. */
export interface CompiledInput {
  /** What a model is shown: a frozen copy, so that no model changes it for another run. */
  readonly schema: JsonObject;
  check(args: JsonObject): Checked | Promise<Checked>;
}

const MAX_ISSUES = 8;
const MAX_ISSUE_LENGTH = 1000;

/**
 * Prepares a tool's input.
 *
 * @throws {TypeError} if it is neither a valid JSON Schema (2020-12) for an object nor a Standard Schema
 * that is described; the message names the tool.
 */
export function compileInput(tool: AnyTool): CompiledInput {
  const { input, name } = tool;
  if (isStandardSchema(input)) {
    // It is compiled too: a provider would refuse the whole request over a bad one.
    const { schema } = compileJsonSchema(tool.inputSchema ?? describe(input, name), name);
    return {
      schema,
      // A copy: validators may change what they are given (arktype's morphs do), and the record may not.
      check: async (args) =>
        fromStandard(name, await input['~standard'].validate(structuredClone(args))),
    };
  }
  const { schema, validate } = compileJsonSchema(input, name);
  return { schema, check: (args) => fromAjv(name, validate, args) };
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
  try {
    const described: JsonObject = JSON.parse(
      JSON.stringify(standard.jsonSchema.input({ target: 'draft-2020-12' })),
    );
    return described;
  } catch (error) {
    const why = describeError(error);
    throw new TypeError(
      `tool '${name}': its schema can't be described as JSON Schema (${why}); give inputSchema beside input`,
      { cause: error },
    );
  }
}

let ajv = newAjv();

function newAjv(): Ajv2020 {
  return new Ajv2020({
    allErrors: true,
    verbose: true,
    ownProperties: true, // `toString` is no argument that was given
    strict: false, // JSON Schema itself says that unknown keywords are ignored
    validateFormats: false,
    logger: false,
  });
}

interface Compiled {
  /** The schema's canonical JSON when it was compiled: the object may have been changed since. */
  readonly text: string;
  readonly schema: JsonObject;
  readonly validate: ValidateFunction;
}

const compiled = new WeakMap<object, Compiled>();

function compileJsonSchema(schema: object, name: string): Compiled {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new TypeError(`tool '${name}': input must be a JSON Schema or a Standard Schema`);
  }
  try {
    const text = canonicalJson(schema);
    const known = compiled.get(schema);
    if (known?.text === text) return known;
    const problem = rootProblem(schema);
    if (problem !== null) throw new Error(problem);
    // Not by way of `text`: a model reads properties in the order in which they were written.
    const copy: JsonObject = deepFreeze(JSON.parse(JSON.stringify(schema)));
    const made = { text, schema: copy, validate: compile(withoutDraft(copy)) };
    compiled.set(schema, made);
    return made;
  } catch (error) {
    const why = error instanceof RangeError ? 'it refers to itself without end' : messageOf(error);
    throw new TypeError(`tool '${name}': input is not a valid JSON Schema (2020-12): ${why}`, {
      cause: error,
    });
  }
}

/** What is wrong with the root of a schema, beside what JSON Schema says itself. */
function rootProblem(schema: {
  readonly $async?: unknown;
  readonly type?: unknown;
}): string | null {
  const { $async: isAsync, type } = schema;
  if (isAsync !== undefined) return '$async is not part of it';
  return type === 'object' ? null : 'it must be of type object, as models send objects';
}

/**
 * Schemas that declare an older draft are common (zod-to-json-schema, MCP servers) and mostly hold for
 * 2020-12 too, which is what providers read them by. One that doesn't is refused for what is wrong in it.
 */
function withoutDraft(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}

function compile(schema: JsonObject): ValidateFunction {
  try {
    if (ajv.validateSchema(schema) !== true) throw new Error(schemaProblems(ajv.errors ?? []));
    const validate = ajv.compile(schema);
    validate({}); // a cycle of $refs shows only when it runs
    ajv.removeSchema(); // another tool may use the same $id
    return validate;
  } catch (error) {
    ajv = newAjv(); // a failed compilation leaves parts behind that spoil the next one
    throw error;
  }
}

/** Ajv says the same once for each vocabulary of the meta-schema. */
function schemaProblems(errors: readonly ErrorObject[]): string {
  const problems = errors.map(
    ({ instancePath, message = 'is wrong' }) => `$${pointerPath(instancePath)} ${message}`,
  );
  return joinIssues([...new Set(problems)]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fromAjv(name: string, validate: ValidateFunction, args: JsonObject): Checked {
  try {
    if (validate(args)) return { ok: true, value: args };
  } catch (error) {
    if (error instanceof RangeError)
      return { ok: false, error: `$.${name}: nested too deep to check` };
    throw error;
  }
  const issues = new Set((validate.errors ?? []).map((error) => issueOf(name, error)));
  return { ok: false, error: joinIssues([...issues]) };
}

function joinIssues(issues: readonly string[]): string {
  const more = issues.length - MAX_ISSUES;
  // Keys come from the model and messages from anybody's schema: of any length, and not always text.
  const shown = issues
    .slice(0, MAX_ISSUES)
    .map((issue) => clip(issue))
    .join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

function clip(issue: string): string {
  const text = issue.toWellFormed();
  return text.length > MAX_ISSUE_LENGTH
    ? `${text.slice(0, MAX_ISSUE_LENGTH).toWellFormed()}… (cut)`
    : text;
}

function issueOf(name: string, error: ErrorObject): string {
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
  if (typeof result !== 'object' || result === null || !('issues' in result || 'value' in result))
    throw new TypeError('its validate returned neither a value nor issues');
  if (result.issues === undefined) return { ok: true, value: result.value };
  if (result.issues.length === 0) return { ok: false, error: `$.${name}: refused by its schema` };
  const issues = result.issues.map(({ message, path = [] }) => {
    const parts = path.map((part) => (typeof part === 'object' ? part.key : part));
    const where = parts.map((part) =>
      typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
    );
    return `$.${name}${where.join('')}: ${publicText(message)}`;
  });
  return { ok: false, error: joinIssues(issues) };
}
