/**
 * Tools: what they are, and the checks that a definition passes before a run starts.
 *
 * @module
 */
import { type StandardSchemaV1 } from '@standard-schema/spec';
import { isMisspelt } from './spelling.ts';

/** What a tool is given beside its arguments. */
export interface ToolContext {
  /** Aborted when the run is, and when the tool's time is over. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /**
   * The same for the same call of the same run, also after a resume: a tool that passes it on to a
   * system that honours such keys can be called twice and take effect once.
   */
  readonly idempotencyKey: string;
}

/** JSON Schema (2020-12) for an object, or any Standard Schema (zod, valibot, arktype, …). */
export type ToolInput = JsonSchema | StandardSchemaV1;

/** JSON Schema of an object. It is checked when the tool is made, so any object type will do here. */
export type JsonSchema = object;

/** The arguments that a tool's function gets. */
export type ToolArguments<I> = I extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<I>
  : { readonly [key: string]: unknown };

/** A tool. A plain object of this shape is one; {@link tool} only infers and checks. */
export interface Tool<I extends ToolInput = ToolInput> {
  /** 1–64 characters of `A–Z a–z 0–9 _ -`, unique in the run: what providers accept. */
  readonly name: string;
  readonly description: string;
  readonly input: I;
  /**
   * JSON Schema of `input`, for a Standard Schema that can't describe itself (it lacks
   * `~standard.jsonSchema`). Models are shown it; `input` validates.
   */
  readonly inputSchema?: JsonSchema | undefined;
  /** What it returns or resolves to is recorded, so it must be plain data; `undefined` counts as null. */
  readonly execute: (args: ToolArguments<I>, context: ToolContext) => unknown;
  /** Milliseconds before the call is given up. Default 600,000. */
  readonly timeout?: number | undefined;
  /** It changes nothing: it may be called again after a crash. */
  readonly readOnly?: boolean | undefined;
  /** Calling it again with the same idempotency key has no further effect. */
  readonly idempotent?: boolean | undefined;
  /** It may run beside other parallel tools of the same turn. Default true. */
  readonly parallel?: boolean | undefined;
  /** `arguments`: a repeat is judged by the request alone, as every result differs (a time stamp, say). */
  readonly repeatedWhen?: 'arguments' | undefined;
  /** A call of it that succeeds ends the run once its turn's calls are answered, as a sentinel does: `submit`, `done`. */
  readonly ends?: boolean | undefined;
  /** Bytes of canonical JSON that a result may have. Default 262,144. */
  readonly maxResultBytes?: number | undefined;
}

/** A tool whose argument type no longer matters: what a list of tools holds. */
export type AnyTool = Omit<Tool, 'execute'> & {
  // A function parameter is contravariant, so a list of differently typed tools needs `never` here.
  readonly execute: (args: never, context: ToolContext) => unknown;
};

export const DEFAULT_TOOL_TIMEOUT_MS = 600_000;
export const DEFAULT_MAX_RESULT_BYTES = 262_144;

/**
 * Checks a tool, but for its schema.
 *
 * @throws {TypeError | RangeError} with what is wrong and what would be right.
 */
export function checkTool(tool: AnyTool): void {
  if (typeof tool !== 'object' || tool === null)
    throw new TypeError('a tool must be an object, as tool({ name, … }) makes it');
  const { name } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TypeError(
      `a tool's name must be 1 to 64 of A–Z a–z 0–9 _ -, got ${JSON.stringify(name)}`,
    );
  }
  if (typeof tool.description !== 'string' || !tool.description.isWellFormed()) {
    throw new TypeError(`tool '${name}': description must be a text`);
  }
  if (typeof tool.execute !== 'function')
    throw new TypeError(`tool '${name}': execute must be a function`);
  checkMembers(tool);
  checkLimits(tool);
}

const MEMBERS: { readonly [K in keyof Required<Tool>]: true } = {
  name: true,
  description: true,
  input: true,
  inputSchema: true,
  execute: true,
  timeout: true,
  readOnly: true,
  idempotent: true,
  parallel: true,
  ends: true,
  repeatedWhen: true,
  maxResultBytes: true,
};

function checkMembers(tool: AnyTool): void {
  for (const flag of ['readOnly', 'idempotent', 'parallel', 'ends'] as const) {
    const value = tool[flag];
    if (value !== undefined && typeof value !== 'boolean')
      throw new TypeError(`tool '${tool.name}': ${flag} must be true or false`);
  }
  // A misspelt member would be a limit or a barrier that isn't there; others are the tool's own affair.
  for (const key of Object.keys(tool)) {
    const meant = Object.keys(MEMBERS).find((member) => isMisspelt(key, member));
    if (meant !== undefined && !Object.hasOwn(MEMBERS, key))
      throw new TypeError(`tool '${tool.name}': unknown member '${key}'; is it '${meant}'?`);
  }
}

function checkLimits(tool: AnyTool): void {
  for (const limit of ['timeout', 'maxResultBytes'] as const) {
    const value = tool[limit];
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      throw new RangeError(`tool '${tool.name}': ${limit} must be a finite number above 0`);
    }
  }
  if (tool.repeatedWhen !== undefined && tool.repeatedWhen !== 'arguments') {
    throw new TypeError(`tool '${tool.name}': repeatedWhen can only be 'arguments'`);
  }
}
