/**
 * One HTTP exchange with a provider: the request through its SDK, the answer read by us.
 *
 * The SDKs give the raw response (`asResponse`), which we read ourselves: their own parsers hide the
 * end marker that tells a whole stream from a cut one, round large numbers, and print to the console.
 *
 * @module
 */
import { type Clock } from '../run/clock.ts';
import { type Delta } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import { parseJson, type JsonValue } from '../transcript/index.ts';
import { bodyError, brokenReply, requestError, type FailureContext } from './failure.ts';
import { AttemptError } from './retry.ts';
import { serverEvents } from './sse.ts';
import { member } from './wire.ts';

/** What we use of a `Response`. */
export interface RawResponse {
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
}

/** What the SDKs' `create` methods return. */
export interface RawAnswer {
  asResponse(): Promise<RawResponse>;
}

/** Gathers an answer. */
export interface Collector {
  /** Takes a streamed event. */
  event(value: JsonValue): void;
  /** Takes an answer that came as one body. */
  body(value: JsonValue): void;
  /** The end marker came: nothing that matters follows. */
  end(): void;
  /** Whether output, or a count of it, has come: the attempt has cost something. */
  readonly begun: boolean;
  /** Whether the end marker came. */
  readonly ended: boolean;
  usage(): Usage | null;
  /** Null if what came is a reply, else what it lacks. */
  problem(): string | null;
}

/** What an exchange needs beside its request. */
export interface ExchangeContext extends FailureContext {
  readonly clock: Clock;
}

/** After its end marker a stream gets this long to close, so that its connection can be used again. */
const CLOSE_MS = 1000;

/**
 * Sends a request and gathers its answer.
 *
 * @param send gets a signal of its own: SDKs leave listeners on the signal they are given, and a run
 * has one signal for all its requests.
 * @throws {AttemptError} if the collector ends up without a reply.
 */
export async function exchange(
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<RawResponse>,
  collector: Collector,
  context: ExchangeContext,
): Promise<void> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const response = await send(controller.signal);
    if (isEventStream(response)) await readStream(response, collector, context, abort);
    else await readBody(response, collector, context);
    const problem = collector.problem();
    if (problem !== null) {
      throw brokenReply(problem, response.headers, collector.ended ? collector.usage() : null);
    }
  } catch (error) {
    if (!signal.aborted) throw requestError(error, context);
    // What the provider did until then nobody counted.
    throw new AttemptError({ message: 'aborted', retryable: false, usage: null }, { cause: error });
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
}

/** Hands a piece of output on, unless it is empty. */
export function deliver(onDelta: (delta: Delta) => void, kind: Delta['kind'], piece: string): void {
  if (piece !== '') onDelta({ kind, text: piece });
}

function isEventStream(response: RawResponse): boolean {
  return (response.headers.get('content-type') ?? '').includes('text/event-stream');
}

async function readStream(
  response: RawResponse,
  collector: Collector,
  context: ExchangeContext,
  abort: () => void,
): Promise<void> {
  let cancelClose: (() => void) | undefined;
  try {
    for await (const { event, data } of serverEvents(response.body ?? noBytes())) {
      if (collector.ended || data === '') continue;
      if (data === '[DONE]') collector.end();
      else take(event, data, response, collector, context);
      if (collector.ended) cancelClose = context.clock.timer(CLOSE_MS, abort);
    }
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    // A whole reply stands, whatever then becomes of its connection.
    if (collector.problem() !== null) throw cutOff(error, response, collector);
  } finally {
    cancelClose?.();
  }
}

function take(
  event: string,
  data: string,
  response: RawResponse,
  collector: Collector,
  context: ExchangeContext,
): void {
  const parsed = parseJson(data);
  if (!parsed.ok) {
    throw brokenReply('the stream broke off inside an event', response.headers);
  }
  const error = errorIn(parsed.value, event);
  if (error !== undefined) throw bodyError(error, response.headers, collector.begun, context);
  collector.event(parsed.value);
}

async function readBody(
  response: RawResponse,
  collector: Collector,
  context: ExchangeContext,
): Promise<void> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw cutOff(error, response, collector);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw brokenReply('the answer is not JSON', response.headers);
  const error = errorIn(parsed.value, '');
  if (error !== undefined) throw bodyError(error, response.headers, false, context);
  collector.body(parsed.value);
}

/** The headers came, so the provider had begun: what it used is unknown, not nothing. */
function cutOff(cause: unknown, response: RawResponse, collector: Collector): AttemptError {
  const when = collector.begun ? 'after output had begun' : 'before the answer was whole';
  const { failure } = brokenReply(`the connection broke ${when}`, response.headers);
  return new AttemptError(failure, { cause });
}

function errorIn(value: JsonValue, event: string): JsonValue | undefined {
  const error = member(value, 'error');
  if (error !== undefined && error !== null) return error;
  return event === 'error' ? value : undefined;
}

async function* noBytes(): AsyncGenerator<Uint8Array> {
  // An answer without a body has no bytes.
}
