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
import { MAX_LINE_BYTES, parseJson, type JsonValue } from '../transcript/index.ts';
import {
  abortedRequest,
  bodyError,
  brokenReply,
  requestError,
  type FailureContext,
  type Headers,
} from './failure.ts';
import { AttemptError, untilAborted } from './retry.ts';
import { serverEvents, type Bytes } from './sse.ts';
import { member } from './wire.ts';

/** What we use of a `Response`. */
export interface RawResponse {
  readonly headers: Headers;
  readonly body: Bytes | null;
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
  /** What the provider has reported so far. */
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

/**
 * After a reply is whole its stream gets this long to tell the usage and to close, so that its connection
 * can be used again.
 */
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
    const response = await untilAborted(controller.signal, send(options).asResponse());
    const ended = await receive(response, collector, context, controller);
    const problem = collector.problem(ended);
    if (problem !== null) throw brokenReply(problem, response.headers, collector.usage());
    signal.throwIfAborted();
  } catch (error) {
    throw signal.aborted ? abortedRequest(error, collector.usage()) : requestError(error, context);
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

/** Reads an answer into its collector; returns whether the end marker came. */
async function receive(
  { headers, body }: RawResponse,
  collector: Collector,
  context: FailureContext,
  controller: AbortController,
): Promise<boolean> {
  let ended = false;
  let cancelClose: (() => void) | undefined;
  // The headers came, so the provider had begun: what it didn't report is unknown, not nothing.
  const broken = (problem: string, cause?: unknown): AttemptError =>
    brokenReply(problem, headers, collector.usage(), cause);
  const json = (text: string, event: string, problem: string, begun: boolean): JsonValue => {
    const parsed = parseJson(text);
    if (!parsed.ok) throw broken(problem);
    const error = member(parsed.value, 'error') ?? (event === 'error' ? parsed.value : null);
    if (error === null) return parsed.value;
    throw bodyError(error, headers, begun ? collector.usage() : undefined, context);
  };
  const read = async (): Promise<void> => {
    const answer = await opened(limited(body ?? [], broken));
    if (!isStream(headers, answer.start)) {
      collector.body(json(await wholeText(answer.body), '', 'the answer is not JSON', false));
      ended = true;
      return;
    }
    let begun = false;
    for await (const { event, data } of serverEvents(answer.body)) {
      if (ended || data === '') continue;
      ended =
        data === '[DONE]' ||
        collector.event(json(data, event, 'the stream broke off inside an event', begun));
      begun = true;
      if (!ended && collector.problem(false) !== null) continue;
      cancelClose ??= context.clock.timer(CLOSE_MS, () => controller.abort());
    }
  };
  try {
    await untilAborted(controller.signal, read());
  } catch (error) {
    if (error instanceof AttemptError) throw error;
    // A whole reply stands, whatever then becomes of its connection.
    if (collector.problem(ended) === null) return ended;
    throw broken('the connection broke before the answer was whole', error);
  } finally {
    cancelClose?.();
  }
  return ended;
}

/** Some servers label a stream as plain text, but no JSON begins like a field or a comment. */
function isStream(headers: Headers, start: string): boolean {
  const label = headers.get('content-type') ?? '';
  return /text\/event-stream/i.test(label) || /^(?:data|event|id|retry)?:/.test(start);
}

/** A body, and how it begins. */
async function opened(
  body: AsyncGenerator<Uint8Array>,
): Promise<{ readonly start: string; readonly body: Bytes }> {
  const decoder = new TextDecoder();
  const head: Uint8Array[] = [];
  let start = '';
  while (start.length < 'event:'.length) {
    const next = await body.next();
    if (next.done === true) break;
    head.push(next.value);
    start = (start + decoder.decode(next.value, { stream: true })).trimStart();
  }
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield* head;
    yield* body;
  };
  return { start, body: whole() };
}

/** A body, up to what could be recorded: none should fill the memory. */
async function* limited(
  body: Bytes,
  broken: (problem: string) => AttemptError,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > MAX_LINE_BYTES) {
      const { failure } = broken('the answer is larger than a record may be');
      throw new AttemptError({ ...failure, retryable: false });
    }
    yield bytes;
  }
}

async function wholeText(body: Bytes): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for await (const bytes of body) pieces.push(decoder.decode(bytes, { stream: true }));
  return pieces.join('') + decoder.decode();
}
