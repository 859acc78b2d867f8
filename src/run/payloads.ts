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
import { readArguments } from './arguments.ts';
import { type FailedAttempt, type ReplyStop, type ToolCall } from './model.ts';
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
  readonly permit?: {
    readonly decision: 'allow' | 'deny';
    readonly reason?: string;
    readonly asked: boolean;
    readonly problem?: string;
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
    ...(permit === undefined ? {} : { permit }),
  };
}

/** Reads the task of a `user` payload back. */
export function readTask(payload: JsonObject): string {
  return textOf(payload['content']);
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
    calls: calls.map(readCall),
    usage: readUsage(usage),
    stop: stop === 'length' || stop === 'refused' ? stop : 'end',
    ...(provider === undefined ? {} : { provider }),
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
  return {
    id,
    name,
    arguments: read.value,
    text: read.text,
    problem: read.problem,
    ...(typeof raw === 'string' ? { raw } : {}),
    ...(typeof providerId === 'string' ? { providerId } : {}),
  };
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
  const { ok, value, error, note, failure, result_sha256: digest } = payload;
  if (call === undefined || payload['call'] !== call.id || typeof ok !== 'boolean')
    throw notOurs('tool');
  return {
    call,
    ok,
    text: ok ? canonicalJson(value) : textOf(error),
    ...(isFailure(failure) ? { failure } : {}),
    ...(typeof digest === 'string' ? { digest } : {}),
    ...(typeof note === 'string' ? { note } : {}),
  };
}

const FAILURES: ReadonlySet<string> = new Set<Failure>([
  'unknown_tool',
  'invalid_arguments',
  'threw',
  'timed_out',
  'abandoned',
  'not_run',
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
