/**
 * What a provider's error means: its words made fit for the record, and whether to try again.
 *
 * SDK errors are read by their shape, not by class: several copies of an SDK may be installed.
 *
 * @module
 */
import { type Usage } from '../run/usage.ts';
import { type JsonValue } from '../transcript/index.ts';
import { askedWaitMs, AttemptError, type AttemptFailure } from './retry.ts';
import { member, text } from './wire.ts';

/** What reading an error needs to know. */
export interface FailureContext {
  /** Strings that must not reach a message. */
  readonly secrets: readonly string[];
  /** Milliseconds since the Unix epoch, for `Retry-After` dates. */
  readonly now: () => number;
}

type Headers = { get(name: string): string | null };

/** Longer messages are cut: some proxies answer with whole pages. */
const MAX_MESSAGE = 1000;

/** What the same request will be refused for again. */
const PERMANENT =
  /insufficient_quota|invalid_request|authentication|permission|not_found|billing|invalid_api_key|context_length|exceed_context|content_policy|too_large/;

/** Nothing was sent: the connection never stood, so nothing can have cost. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** Names itself wrong or isn't trusted: trying again changes nothing. */
const NEVER_WILL = /^(?:CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** A request that got no answer, or one with an error status. */
export function requestError(error: unknown, context: FailureContext): AttemptError {
  if (error instanceof AttemptError) return error;
  const status = property(error, 'status');
  if (typeof status === 'number') return new AttemptError(statusFailure(error, status, context));
  const code = connectionCode(error);
  if (code === null) {
    // Not the network's doing: missing credentials, a bad option, a bug. Its text may show a path.
    const message = scrub(firstLine(error).replace(LOCAL_PATH, '<path>'), context.secrets);
    return new AttemptError({ message, retryable: false }, { cause: error });
  }
  return new AttemptError(
    {
      message: `connection failed: ${code}`,
      label: 'connection failed',
      retryable: !NEVER_WILL.test(code),
      // A connection that broke while the answer was awaited may have had its work done.
      usage: NEVER_CONNECTED.test(code) ? undefined : null,
    },
    { cause: error },
  );
}

/** An error that came inside an answer with status 200. */
export function bodyError(
  error: JsonValue,
  headers: Headers,
  begun: boolean,
  context: FailureContext,
): AttemptError {
  const code = member(error, 'code');
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined;
  const kind = `${text(member(error, 'type'))} ${text(code)}`;
  const words = text(error) || text(member(error, 'message')) || kind.trim() || 'no message';
  const retryable =
    !PERMANENT.test(kind) && (status === undefined || status >= 500 || RETRIED.has(status));
  return new AttemptError({
    message: describe(scrub(words, context.secrets), status, requestId(headers)),
    label: labelOf(status, kind),
    retryable,
    retryAfterMs: askedWaitMs((name) => headers.get(name), context.now()),
    ...(begun ? { usage: null } : {}),
  });
}

/**
 * An answer that isn't one: it broke off, or lacks what a reply must have. The provider had begun, so
 * what it used is unknown (null) unless it said so.
 */
export function brokenReply(
  problem: string,
  headers: Headers,
  usage: Usage | null = null,
): AttemptError {
  return new AttemptError({
    message: describe(problem, undefined, requestId(headers)),
    label: 'broken answer',
    retryable: true,
    usage,
  });
}

const RETRIED: ReadonlySet<number> = new Set([408, 409, 429]);

function statusFailure(error: unknown, status: number, context: FailureContext): AttemptFailure {
  const headers = headersOf(error);
  // The OpenAI SDK unwraps the body's `error` member, the Anthropic SDK doesn't.
  const body = property(error, 'error');
  const inner = property(body, 'error') ?? body;
  const kind = `${stringOf(property(inner, 'type'))} ${stringOf(property(inner, 'code'))}`;
  const words =
    stringOf(property(inner, 'message')) ||
    stringOf(inner) ||
    firstLine(error).replace(new RegExp(`^${status} `), '');
  const advice = headers.get('x-should-retry');
  const byStatus = status >= 500 || RETRIED.has(status);
  const retryable = advice === null ? byStatus : advice === 'true';
  return {
    message: describe(scrub(words, context.secrets), status, requestId(headers)),
    label: labelOf(status, kind),
    // A quota that is used up doesn't come back in minutes, whatever the status says.
    retryable: retryable && !kind.includes('insufficient_quota'),
    retryAfterMs: askedWaitMs((name) => headers.get(name), context.now()),
  };
}

function describe(words: string, status: number | undefined, id: string): string {
  const prefix = status === undefined ? '' : `${status} `;
  return `${prefix}${words}${id === '' ? '' : ` (request ${id})`}`;
}

function labelOf(status: number | undefined, kind: string): string {
  if (status === 429 || kind.includes('rate_limit')) return 'rate limited';
  if (status === 529 || kind.includes('overloaded')) return 'overloaded';
  return status === undefined ? 'the provider failed' : `status ${status}`;
}

function requestId(headers: Headers): string {
  const id = headers.get('x-request-id') ?? headers.get('request-id') ?? '';
  return /^[\w.:-]{1,128}$/.test(id) ? id : '';
}

/** Two segments or more, and no URL's. */
const LOCAL_PATH = /(?<![\w:/])(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}/g;

/** Keys as providers repeat them in errors (`Incorrect API key provided: sk-ab***yz`) and our own. */
function scrub(message: string, secrets: readonly string[]): string {
  let clean = message;
  for (const secret of secrets) clean = clean.replaceAll(secret, '<key>');
  clean = clean
    .replace(/\bsk-[\w*-]+/g, '<key>')
    .replace(/\bBearer\s+[^\s"']+/gi, 'Bearer <key>')
    .replace(/<[a-z!/][^>]*>/gi, (tag) => (tag === '<key>' || tag === '<path>' ? tag : ' '))
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE).toWellFormed()}…` : clean;
}

/** The code of the network error that lies under an SDK's error; null if it isn't a network error. */
function connectionCode(error: unknown): string | null {
  let at = error;
  let isConnection = false;
  // A cause may be a cycle: SDKs wrap at most a few times.
  for (let depth = 0; depth < 6 && at instanceof Error; depth += 1) {
    const code = property(at, 'code');
    if (typeof code === 'string' && /^(?:E[A-Z_]+|UND_ERR\w*|[A-Z_]+)$/.test(code)) return code;
    isConnection ||=
      /Connection|Timeout/.test(at.constructor.name) || /fetch failed|terminated/.test(at.message);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return isConnection ? 'no answer' : null;
}

function headersOf(error: unknown): Headers {
  const headers = property(error, 'headers');
  const get = property(headers, 'get');
  if (typeof get !== 'function') return { get: () => null };
  return {
    get(name) {
      const value: unknown = Reflect.apply(get, headers, [name]);
      return typeof value === 'string' ? value : null;
    },
  };
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function stringOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
