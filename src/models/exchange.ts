/**
 * One HTTP exchange with a provider: the request through its SDK, the answer read by us.
 *
 * The SDKs give the raw response (`asResponse`), which we read ourselves: their own parsers hide the
 * end marker that tells a whole stream from a cut one, round large numbers, and print to the console.
 *
 * @module
 */
import { type Delta } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import { parseJson, type JsonValue } from '../transcript/index.ts';
import {
  abortedRequest,
  bodyError,
  brokenReply,
  requestError,
  type FailureContext,
  type Headers,
} from './failure.ts';
import { AttemptError } from './retry.ts';
import { serverEvents, type Bytes } from './sse.ts';
import { member } from './wire.ts';

/** What we use of a `Response`. */
export interface RawResponse {
  readonly headers: Headers;
  readonly body: Bytes | null;
  text(): Promise<string>;
}

/** What the SDKs' `create` methods return. */
export interface RawAnswer {
  asResponse(): Promise<RawResponse>;
}

/** What the SDKs' `create` methods are told beside the body. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly maxRetries: number;
  readonly timeout: number;
}

/** Gathers an answer. */
export interface Collector {
  /** Takes a streamed event; returns whether it was the last that matters. */
  event(value: JsonValue): boolean;
  /** Takes an answer that came as one body. */
  body(value: JsonValue): void;
  usage(): Usage | null;
  /**
   * Null if what came is a reply, else what it lacks.
   *
   * @param ended whether the end marker came.
   */
  problem(ended: boolean): string | null;
}

/** The longest time that Node's timers hold: the SDKs' own time-outs are off, as the loop has limits. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

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
  send: (options: SendOptions) => RawAnswer,
  collector: Collector,
  context: FailureContext,
): Promise<void> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const options = { signal: controller.signal, maxRetries: 0, timeout: NO_TIMEOUT_MS };
    const response = await send(options).asResponse();
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
    const ended = isStream
      ? await readStream(response, collector, context, abort)
      : await readBody(response, collector, context);
    const problem = collector.problem(ended);
    if (problem !== null) {
      throw brokenReply(problem, response.headers, ended ? collector.usage() : null);
    }
  } catch (error) {
    throw signal.aborted ? abortedRequest(error) : requestError(error, context);
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
}

/** Hands a piece of output on, unless it is empty; returns it. */
export function deliver(
  onDelta: (delta: Delta) => void,
  kind: Delta['kind'],
  piece: string,
): string {
  if (piece !== '') onDelta({ kind, text: piece });
  return piece;
}

/** Returns whether the end marker came. */
async function readStream(
  { headers, body }: RawResponse,
  collector: Collector,
  context: FailureContext,
  abort: () => void,
): Promise<boolean> {
  let begun = false;
  let ended = false;
  let cancelClose: (() => void) | undefined;
  const take = (event: string, data: string): boolean => {
    if (data === '[DONE]') return true;
    const parsed = parseJson(data);
    if (!parsed.ok) throw brokenReply('the stream broke off inside an event', headers);
    const error = errorIn(parsed.value, event);
    if (error !== null) throw bodyError(error, headers, begun ? null : undefined, context);
    begun = true;
    return collector.event(parsed.value);
  };
  try {
    for await (const { event, data } of serverEvents(body ?? [])) {
      if (ended || data === '') continue;
      ended = take(event, data);
      if (ended) cancelClose = context.clock.timer(CLOSE_MS, abort);
    }
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    // A whole reply stands, whatever then becomes of its connection.
    if (collector.problem(ended) !== null) throw cutOff(error, headers);
  } finally {
    cancelClose?.();
  }
  return ended;
}

async function readBody(
  response: RawResponse,
  collector: Collector,
  context: FailureContext,
): Promise<boolean> {
  const { headers } = response;
  const text = await response.text().catch((error: unknown) => {
    throw cutOff(error, headers);
  });
  const parsed = parseJson(text);
  if (!parsed.ok) throw brokenReply('the answer is not JSON', headers);
  const error = errorIn(parsed.value, '');
  if (error !== null) throw bodyError(error, headers, undefined, context);
  collector.body(parsed.value);
  return true;
}

/** The headers came, so the provider had begun: what it used is unknown, not nothing. */
function cutOff(cause: unknown, headers: Headers): AttemptError {
  return brokenReply('the connection broke before the answer was whole', headers, null, cause);
}

function errorIn(value: JsonValue, event: string): JsonValue {
  return member(value, 'error') ?? (event === 'error' ? value : null);
}
