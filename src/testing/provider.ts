/**
 * A stub provider: a server on this machine that speaks OpenAI Chat Completions and Anthropic Messages
 * for real, from a script, with the faults of real servers.
 *
 * It refuses what the providers refuse, so a test against it shows that a conversation would be accepted.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { member } from '../models/wire.ts';
import { parseJson } from '../transcript/index.ts';
import { anthropicFormat } from './provider-anthropic.ts';
import { openaiFormat } from './provider-openai.ts';
import {
  hasQuirk,
  type AnswerContext,
  type StubAnswer,
  type StubError,
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
  /**
   * Checks that the script was followed.
   *
   * @throws {Error} if turns are left, or a request was refused or came after the last turn.
   */
  finish(): void;
  /** Ends the server and its connections. */
  close(): Promise<void>;
}

/** Starts a stub provider on a free port of the loopback interface. */
export async function startProvider(options: StubProviderOptions = {}): Promise<StubProvider> {
  const stub = new Stub(options);
  await stub.listen();
  return stub;
}

class Stub implements StubProvider {
  readonly requests: StubRequest[] = [];
  readonly #turns: StubAnswer[];
  readonly #pieceBytes: number;
  readonly #server: Server;
  readonly #formats: ReadonlyMap<string, WireFormat>;
  readonly #waiting = new Set<() => void>();
  #badTurn: string | undefined;
  #port = 0;

  constructor({ turns = [], pieceBytes = 65_536 }: StubProviderOptions) {
    this.#turns = [...turns];
    this.#pieceBytes = pieceBytes;
    this.#formats = new Map([
      ['/v1/chat/completions', openaiFormat],
      ['/v1/messages', anthropicFormat()],
    ]);
    this.#server = createServer((message, response) => {
      this.#serve(message, response).catch((error: unknown) => {
        this.#fail(error, response);
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get openaiURL(): string {
    return `${this.url}/v1`;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        if (typeof address === 'object' && address !== null) this.#port = address.port;
        resolve();
      });
    });
  }

  add(...turns: readonly StubAnswer[]): void {
    this.#turns.push(...turns);
  }

  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  finish(): void {
    if (this.#badTurn !== undefined) throw new Error(this.#badTurn);
    const refused = this.requests.find((request) => request.refused !== undefined);
    if (refused !== undefined) {
      throw new Error(`the stub provider refused a request: ${refused.refused}`);
    }
    if (this.#turns.length > 0) {
      throw new Error(
        `the stub provider has ${this.#turns.length} unused turns after ${this.requests.length} requests`,
      );
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeAllConnections();
    });
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    const format = this.#formats.get(request.path);
    const error = this.#refusal(request, format);
    this.#keep({ ...request, refused: error?.message });
    const context = { number: this.requests.length, body: request.body };
    const wire = format ?? openaiFormat;
    response.setHeader(wire.requestIdHeader, `req_${context.number}`);
    if (error !== null) {
      // A request that the script doesn't know won't be known the next time either.
      response.setHeader('x-should-retry', 'false');
      sendJson(response, error.status, wire.error(error, context));
      return;
    }
    const next = this.#turns.shift() ?? {};
    const turn = typeof next === 'function' ? next({ ...request, refused: undefined }) : next;
    await this.#answer(response, wire, turn, context);
  }

  #refusal(
    request: Omit<StubRequest, 'refused'>,
    format: WireFormat | undefined,
  ): StubError | null {
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
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.setHeader('x-should-retry', 'false');
    sendJson(response, 500, { error: { message } });
  }

  #keep(request: StubRequest): void {
    this.requests.push(request);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #answer(
    response: ServerResponse,
    wire: WireFormat,
    turn: StubTurn,
    context: AnswerContext,
  ): Promise<void> {
    const { fault } = turn;
    switch (fault?.kind) {
      case 'status':
        for (const [name, value] of Object.entries(fault.headers ?? {})) {
          response.setHeader(name, value);
        }
        sendJson(response, fault.status, wire.error({ message: 'stub fault', ...fault }, context));
        return;
      case 'drop':
        response.destroy();
        return;
      case 'error-body':
        sendJson(response, 200, { error: fault.error });
        return;
      case 'text':
        response.writeHead(200, { 'content-type': 'text/html' }).end(fault.body);
        return;
      case 'slow':
        await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
        break;
      default:
      // The others happen while the answer is written.
    }
    if (member(context.body, 'stream') === true) await this.#stream(response, wire, turn, context);
    else await this.#whole(response, wire, turn, context);
  }

  async #stream(
    response: ServerResponse,
    wire: WireFormat,
    turn: StubTurn,
    context: AnswerContext,
  ): Promise<void> {
    const { fault } = turn;
    const bytes = Buffer.from(streamed(wire, turn, context));
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    const cutAt = fault?.kind === 'cut' && 'afterBytes' in fault ? fault.afterBytes : bytes.length;
    await this.#write(response, bytes.subarray(0, cutAt));
    if (fault?.kind === 'cut') response.destroy();
    else if (fault?.kind !== 'silence' && fault?.kind !== 'pings') response.end();
  }

  async #whole(
    response: ServerResponse,
    wire: WireFormat,
    turn: StubTurn,
    context: AnswerContext,
  ): Promise<void> {
    const { fault } = turn;
    const bytes = Buffer.from(JSON.stringify(wire.whole(turn, context)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    response.flushHeaders();
    if (fault?.kind === 'silence' || fault?.kind === 'pings') return;
    if (fault?.kind === 'cut' || fault?.kind === 'short') {
      const half = Math.floor(bytes.length / 2);
      await this.#write(
        response,
        bytes.subarray(0, 'afterBytes' in fault ? fault.afterBytes : half),
      );
      response.destroy();
      return;
    }
    await this.#write(response, bytes);
    response.end();
  }

  /** Writes in pieces, each on its way before the next. */
  async #write(response: ServerResponse, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += this.#pieceBytes) {
      const piece = bytes.subarray(at, at + this.#pieceBytes);
      await new Promise<void>((resolve) => {
        response.write(piece, () => {
          resolve();
        });
      });
    }
  }
}

/** The text of a stream, as far as it comes. */
function streamed(wire: WireFormat, turn: StubTurn, context: AnswerContext): string {
  const { fault } = turn;
  if (fault?.kind === 'pings') return wire.heartbeat.repeat(fault.count);
  const beat = hasQuirk(turn, 'heartbeats') ? wire.heartbeat : '';
  const limit = fault !== undefined && 'afterEvents' in fault ? fault.afterEvents : Infinity;
  const events = wire.events(turn, context).slice(0, limit);
  if (fault?.kind === 'error-event') {
    events.push(wire.errorEvent({ status: 500, message: 'stub fault', ...fault }, context));
  }
  return events.map((event) => beat + event).join('');
}

async function readRequest(message: IncomingMessage): Promise<Omit<StubRequest, 'refused'>> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  const parsed = parseJson(text);
  const { method = '', url = '/', headers } = message;
  const path = url.split('?', 1)[0] ?? '';
  return { method, path, headers, text, body: parsed.ok ? parsed.value : undefined };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
