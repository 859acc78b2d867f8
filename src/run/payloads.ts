/**
 * The payloads that the loop writes and reads back (docs/format.md §6), in the record's spelling.
 *
 * @module
 */
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  Verbatim,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { deepFreeze, readArguments } from './arguments.ts';
import { configurationPayload, readConfiguration, type Configuration } from './configuration.ts';
import { type FailedAttempt, type ReplyStop, type ToolCall } from './model.ts';
import { type Decision } from './permit.ts';
import { usageOf, type Usage } from './usage.ts';

/** Why a call has no value. */
export type Failure =
  /** There is no tool of that name. */
  | 'unknown_tool'
  | 'invalid_arguments'
  /** The tool threw. */
  | 'threw'
  /** It was given up when its time was over; its effect is unknown. */
  | 'timed_out'
  /** It was running when the run was aborted or its time ended; its effect is unknown. */
  | 'abandoned'
  /** It never started. */
  | 'not_run'
  /** The process ended before it was answered; whether it ran, and its effect, are unknown. */
  | 'interrupted'
  /** Policy or a person said no. */
  | 'denied'
  /** It returned something that can't be recorded. */
  | 'unrecordable'
  | 'too_large';

/** A call of a recorded turn. */
export interface TurnCall extends ToolCall {
  /** Canonical JSON of the arguments. */
  readonly text: string;
  /** Why the tool can't be called with these arguments; null if it can. */
  readonly problem: string | null;
  /** The provider's id, where the run's differs. */
  readonly providerId?: string;
}

/** One model turn, as the state keeps it. */
export interface Turn {
  readonly content: string;
  readonly calls: readonly TurnCall[];
  readonly usage: Usage | null;
  readonly stop: ReplyStop;
  readonly provider?: JsonValue;
  readonly failedAttempts: readonly FailedAttempt[];
}

/** The answer to one call, as the state keeps it. */
export interface Answer {
  readonly call: TurnCall;
  readonly ok: boolean;
  /** Canonical JSON of the arguments that the tool got, where a schema made them other than the model's. */
  readonly given?: string | undefined;
  /** Canonical JSON of the value, or the error. */
  readonly text: string;
  readonly failure?: Failure;
  /** SHA-256 of a result that was too large to keep, hex. */
  readonly digest?: string;
  readonly note?: string;
  readonly permit?: Decision;
}

/** How another process went on with a run. */
export interface Resumption {
  /** The ids of the calls that may have been started before, and have no answer. */
  readonly calls: readonly string[];
  /** The new configuration, if it isn't what it was. */
  readonly configuration?: Configuration;
}

/** The payload of the first record: the task, and the configuration that its decisions are taken by. */
export function headPayload(task: string, configuration: Configuration): JsonObject {
  return { content: task, run: configurationPayload(configuration) };
}

/** The payload of a `resumed` record. */
export function resumptionPayload({ calls, configuration }: Resumption): JsonObject {
  return {
    calls,
    ...(configuration === undefined ? {} : { run: configurationPayload(configuration) }),
  };
}

/** The payload of an `assistant` record. */
export function turnPayload(turn: Turn, estimated: number): JsonObject {
  return {
    content: turn.content,
    tool_calls: turn.calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: new Verbatim(call.text),
      ...(call.raw === undefined ? {} : { raw: call.raw }),
      ...(call.providerId === undefined ? {} : { provider_id: call.providerId }),
    })),
    usage: usagePayload(turn.usage),
    stop: turn.stop,
    ...(estimated > 0 ? { tokens_estimated: estimated } : {}),
    ...(turn.provider === undefined ? {} : { provider: turn.provider }),
    ...attemptsPayload(turn.failedAttempts),
  };
}

/** `failed_attempts` of a payload, if there were any. */
export function attemptsPayload(attempts: readonly FailedAttempt[]): JsonObject {
  if (attempts.length === 0) return {};
  return {
    failed_attempts: attempts.map(({ error, usage, streamed = 0 }) => ({
      error,
      ...(usage === undefined ? {} : { usage: usagePayload(usage) }),
      ...(streamed === 0 ? {} : { streamed }),
    })),
  };
}

function usagePayload(usage: Usage | null): JsonObject | null {
  if (usage === null) return null;
  return {
    input: usage.input,
    cache_read: usage.cacheRead,
    cache_write: usage.cacheWrite,
    output: usage.output,
    reasoning: usage.reasoning,
  };
}

/** The payload of a `tool` record. */
export function answerPayload(answer: Answer): JsonObject {
  const { call, permit } = answer;
  return {
    call: call.id,
    name: call.name,
    ok: answer.ok,
    ...(answer.given === undefined ? {} : { given: new Verbatim(answer.given) }),
    ...(answer.ok ? { value: new Verbatim(answer.text) } : { error: answer.text }),
    ...(answer.failure === undefined ? {} : { failure: answer.failure }),
    ...(answer.digest === undefined ? {} : { result_sha256: answer.digest }),
    ...(answer.note === undefined ? {} : { note: answer.note }),
    ...(permit === undefined ? {} : { permit: { ...permit } }),
  };
}

/**
 * Reads a `user` payload back. Other programs write one without a configuration.
 *
 * @throws {TypeError | RangeError} if its configuration isn't one that the loop writes.
 */
export function readHead(payload: JsonObject): {
  readonly task: string;
  readonly configuration: Configuration | null;
} {
  const { content, run } = payload;
  const task = textOf(content);
  if (run === undefined) return { task, configuration: null };
  if (task === '') throw notOurs('user');
  return { task, configuration: readConfiguration(run) };
}

/**
 * Reads a `resumed` payload back.
 *
 * @throws {TypeError | RangeError} if it isn't one that the loop writes.
 */
export function readResumption(payload: JsonObject): Resumption {
  const { calls, run } = payload;
  if (!isJsonArray(calls)) throw notOurs('resumed');
  return {
    calls: calls.map(textOf),
    ...(run === undefined ? {} : { configuration: readConfiguration(run) }),
  };
}

/**
 * Reads an `assistant` payload back.
 *
 * @throws {TypeError} if it isn't one that the loop writes.
 */
export function readTurn(payload: JsonObject): Turn {
  const { content, tool_calls: calls, usage, stop, provider } = payload;
  if (typeof content !== 'string' || !isJsonArray(calls)) throw notOurs('assistant');
  return {
    content,
    calls: Object.freeze(calls.map(readCall)),
    usage: readUsage(usage),
    stop: stop === 'length' || stop === 'refused' ? stop : 'end',
    ...(provider === undefined ? {} : { provider: deepFreeze(provider) }),
    failedAttempts: readAttempts(payload),
  };
}

function readCall(call: JsonValue): TurnCall {
  if (!isJsonObject(call)) throw notOurs('assistant');
  const { id, name, raw, provider_id: providerId } = call;
  const args = call['arguments'];
  if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(args))
    throw notOurs('assistant');
  const read = readArguments(typeof raw === 'string' ? raw : canonicalJson(args));
  return Object.freeze({
    id,
    name,
    arguments: read.value,
    text: read.text,
    problem: read.problem,
    ...(typeof raw === 'string' ? { raw } : {}),
    ...(typeof providerId === 'string' ? { providerId } : {}),
  });
}

/** Reads `failed_attempts` back. */
export function readAttempts(payload: JsonObject): FailedAttempt[] {
  const attempts = payload['failed_attempts'];
  if (!isJsonArray(attempts)) return [];
  return attempts.filter(isJsonObject).map((attempt) => ({
    error: textOf(attempt['error']),
    ...(attempt['usage'] === undefined ? {} : { usage: readUsage(attempt['usage']) }),
    ...(typeof attempt['streamed'] === 'number' ? { streamed: attempt['streamed'] } : {}),
  }));
}

function readUsage(usage: JsonValue | undefined): Usage | null {
  if (!isJsonObject(usage)) return null;
  const { input, cache_read: cacheRead, cache_write: cacheWrite, output, reasoning } = usage;
  return usageOf({ input, cacheRead, cacheWrite, output, reasoning });
}

/**
 * Reads a `tool` payload back, as the answer to `call`.
 *
 * @throws {TypeError} if it isn't one that the loop writes, or answers another call.
 */
export function readAnswer(payload: JsonObject, call: TurnCall | undefined): Answer {
  const { ok, value, error, note, failure, given, permit, result_sha256: digest } = payload;
  if (call === undefined || payload['call'] !== call.id || typeof ok !== 'boolean')
    throw notOurs('tool');
  return {
    call,
    ok,
    text: ok ? canonicalJson(value) : textOf(error),
    ...(given === undefined ? {} : { given: canonicalJson(given) }),
    ...(isFailure(failure) ? { failure } : {}),
    ...(typeof digest === 'string' ? { digest } : {}),
    ...(typeof note === 'string' ? { note } : {}),
    ...(isJsonObject(permit) ? { permit: readPermit(permit) } : {}),
  };
}

function readPermit({ decision, reason, asked, problem }: JsonObject): Decision {
  return {
    decision: decision === 'allow' ? 'allow' : 'deny',
    ...(typeof reason === 'string' ? { reason } : {}),
    asked: asked === true,
    ...(typeof problem === 'string' ? { problem } : {}),
  };
}

const FAILURES: ReadonlySet<string> = new Set<Failure>([
  'unknown_tool',
  'invalid_arguments',
  'threw',
  'timed_out',
  'abandoned',
  'not_run',
  'interrupted',
  'denied',
  'unrecordable',
  'too_large',
]);

function isFailure(value: JsonValue | undefined): value is Failure {
  return typeof value === 'string' && FAILURES.has(value);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function notOurs(kind: string): TypeError {
  return new TypeError(`not the payload of a record of kind '${kind}' that the loop writes`);
}
