/**
 * A stub provider: a server on this machine that speaks OpenAI Chat Completions and Anthropic Messages
 * for real, from a script, with the faults of real servers.
 *
 * It refuses what the providers refuse, so a test against it shows that a conversation would be accepted.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { checkOptions, COUNT, orAbsent } from '../models/options.ts';
import { member } from '../models/wire.ts';
import { parseJson, type JsonValue } from '../transcript/index.ts';
import { anthropicFormat } from './provider-anthropic.ts';
import { openaiFormat } from './provider-openai.ts';
import {
  hasQuirk,
  type AnswerContext,
  type StubAnswer,
  type StubError,
  type StubFault,
  type StubRequest,
  type StubTurn,
  type WireFormat,
} from './provider-script.ts';

/** What a stub provider is started with. */
export interface StubProviderOptions {
  /** Answers in order, one for each request that is accepted. */
  readonly turns?: readonly StubAnswer[];
  /** Bodies are written in pieces of so many bytes, so that characters and events are split. */
  readonly pieceBytes?: number;
}

/** A stub provider that runs. */
export interface StubProvider {
  /** `http://127.0.0.1:<port>`, the Anthropic SDK's `baseURL`. */
  readonly url: string;
  /** The same with `/v1`, the OpenAI SDK's `baseURL`. */
  readonly openaiURL: string;
  /** Every request so far, with all its headers. */
  readonly requests: readonly StubRequest[];
  /** Adds answers to the script. */
  add(...turns: readonly StubAnswer[]): void;
  /** Resolves when so many requests have come, counted from the start. */
  arrived(count: number): Promise<void>;
  /** @throws {Error} if turns are left, or a request was refused or came after the last turn. */
  finish(): void;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

const OPTIONS = {
  turns: ['an array of turns', orAbsent(Array.isArray)],
  pieceBytes: COUNT,
} as const;

/**
 * Starts a stub provider on a free port of the loopback interface.
 *
 * @throws {TypeError | RangeError} if an option isn't usable.
 */
export async function startProvider(options: StubProviderOptions = {}): Promise<StubProvider> {
  checkOptions('startProvider', options, OPTIONS);
  const stub = new Stub(options);
  await stub.listen();
  return stub;
}

class Stub implements StubProvider {
  readonly requests: StubRequest[] = [];
  url = '';
  openaiURL = '';
  readonly #turns: StubAnswer[];
  readonly #pieceBytes: number;
  readonly #formats = new Map([
    ['/v1/chat/completions', openaiFormat],
    ['/v1/messages', anthropicFormat()],
  ]);
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #badTurn: string | undefined;

  constructor({ turns = [], pieceBytes = 65_536 }: StubProviderOptions) {
    this.#turns = [...turns];
    this.#pieceBytes = pieceBytes;
    this.#server = createServer((message, response) => {
      this.#serve(message, response).catch((error: unknown) => this.#fail(error, response));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    this.url = `http://127.0.0.1:${port}`;
    this.openaiURL = `${this.url}/v1`;
  }

  add(...turns: readonly StubAnswer[]): void {
    this.#turns.push(...turns);
  }

  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  finish(): void {
    if (this.#badTurn !== undefined) throw new Error(this.#badTurn);
    const refused = this.requests.find((request) => request.refused !== undefined);
    if (refused !== undefined) {
      throw new Error(`the stub provider refused a request: ${refused.refused}`);
    }
    const left = this.#turns.length;
    if (left === 0) return;
    throw new Error(
      `the stub provider has ${left} unused turns after ${this.requests.length} requests`,
    );
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    const format = this.#formats.get(request.path) ?? openaiFormat;
    const error = this.#refusal(request);
    this.requests.push({ ...request, refused: error?.message });
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    const context = { number: this.requests.length, body: request.body };
    response.setHeader(format.requestIdHeader, `req_${context.number}`);
    if (error !== null) {
      sendRefusal(response, error.status, format.error(error, context));
      return;
    }
    const next = this.#turns.shift() ?? {};
    const turn = typeof next === 'function' ? next(request) : next;
    if (await sendFault(response, format, turn, context)) return;
    await this.#answer(response, format, turn, context);
  }

  #refusal(request: StubRequest): StubError | null {
    const format = this.#formats.get(request.path);
    if (format === undefined || request.method !== 'POST') {
      return { status: 404, message: `unexpected request: ${request.method} ${request.path}` };
    }
    const problem = format.check(request);
    if (problem !== null || this.#turns.length > 0) return problem;
    const count = this.requests.length + 1;
    return { status: 500, message: `the script has no turn left for request ${count}` };
  }

  /** A turn that can't be sent is the script's fault: the client is told, and so is `finish`. */
  #fail(error: unknown, response: ServerResponse): void {
    // The client went away, as an aborted one does.
    if (response.destroyed || (error instanceof Error && 'code' in error)) return;
    const message = `the script has a bad turn: ${error instanceof Error ? error.message : String(error)}`;
    this.#badTurn ??= message;
    if (response.headersSent) response.destroy();
    else sendRefusal(response, 500, { error: { message } });
  }

  /** Sends an answer, as far as its fault lets it come. */
  async #answer(
    response: ServerResponse,
    format: WireFormat,
    turn: StubTurn,
    context: AnswerContext,
  ): Promise<void> {
    const isStream = member(context.body, 'stream') === true;
    const text = isStream
      ? streamed(format, turn, context)
      : JSON.stringify(format.whole(turn, context));
    const bytes = Buffer.from(text);
    const { end, how } = endOf(turn.fault, isStream, bytes.length);
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json',
      ...(isStream ? {} : { 'content-length': bytes.length }),
    });
    response.flushHeaders();
    // In pieces, each on its way before the next.
    for (let at = 0; at < end; at += this.#pieceBytes) {
      const piece = bytes.subarray(at, Math.min(at + this.#pieceBytes, end));
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    if (how === 'broken') response.destroy();
    if (how === 'whole') response.end();
  }
}

/** How many bytes of a body come, and what then becomes of the connection. */
function endOf(
  fault: StubFault | undefined,
  isStream: boolean,
  length: number,
): { readonly end: number; readonly how: 'whole' | 'broken' | 'open' } {
  const { kind } = fault ?? {};
  // Events were left out already. A whole body has none: it doesn't come, or half of it.
  if (kind === 'silence' || kind === 'pings') return { end: isStream ? length : 0, how: 'open' };
  if (kind !== 'cut' && (kind !== 'short' || isStream)) return { end: length, how: 'whole' };
  const end = isStream ? length : Math.floor(length / 2);
  return { end: fault && 'afterBytes' in fault ? fault.afterBytes : end, how: 'broken' };
}

/** Does what comes before, or instead of, an answer; returns whether that was all. */
async function sendFault(
  response: ServerResponse,
  format: WireFormat,
  { fault }: StubTurn,
  context: AnswerContext,
): Promise<boolean> {
  switch (fault?.kind) {
    case 'status':
      for (const [name, value] of Object.entries(fault.headers ?? {})) {
        response.setHeader(name, value);
      }
      sendJson(response, fault.status, format.error({ message: 'stub fault', ...fault }, context));
      return true;
    case 'drop':
      response.destroy();
      return true;
    case 'error-body':
      sendJson(response, 200, { error: fault.error });
      return true;
    case 'text':
      response.writeHead(200, { 'content-type': 'text/html' }).end(fault.body);
      return true;
    case 'slow':
      await delay(fault.milliseconds);
      return false;
    default:
      return false;
  }
}

/** The text of a stream, as far as it comes. */
function streamed(format: WireFormat, turn: StubTurn, context: AnswerContext): string {
  const { fault } = turn;
  if (fault?.kind === 'pings') return format.heartbeat.repeat(fault.count);
  const beat = hasQuirk(turn, 'heartbeats') ? format.heartbeat : '';
  const limit = fault !== undefined && 'afterEvents' in fault ? fault.afterEvents : Infinity;
  const events = format.events(turn, context).slice(0, limit);
  if (fault?.kind === 'error-event') {
    events.push(format.errorEvent({ status: 500, message: 'stub fault', ...fault }, context));
  }
  return events.map((event) => beat + event).join('');
}

async function readRequest(message: IncomingMessage): Promise<StubRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  const parsed = parseJson(text);
  const { method = '', url = '/', headers } = message;
  const path = url.split('?', 1)[0] ?? '';
  const body = parsed.ok ? parsed.value : undefined;
  return { method, path, headers, text, body, refused: undefined };
}

/** What the script doesn't know won't be known the next time either. */
function sendRefusal(response: ServerResponse, status: number, body: JsonValue): void {
  response.setHeader('x-should-retry', 'false');
  sendJson(response, status, body);
}

function sendJson(response: ServerResponse, status: number, body: JsonValue): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
