/**
 * What a provider's error means: its words made fit for the record, and whether to try again.
 *
 * SDK errors are read by their members, not by class: several copies of an SDK may be installed.
 *
 * @module
 */
import { type Clock } from '../run/clock.ts';
import { type Usage } from '../run/usage.ts';
import { askedWaitMs, AttemptError, type AttemptFailure } from './retry.ts';
import { membersOf } from './wire.ts';

/** What reading an error needs to know. */
export interface FailureContext {
  /** Strings that must not reach a message. */
  readonly secrets: readonly string[];
  /** For `Retry-After` dates. */
  readonly clock: Clock;
}

/** What we use of a response's `Headers`. */
export interface Headers {
  get(name: string): string | null;
}

/** Longer messages are cut: some proxies answer with whole pages. */
const MAX_MESSAGE = 1000;

/** Of a longer text only the beginning is looked at: tags and spaces that go leave room in it. */
const MAX_READ = 2000;

/** Statuses below 500 after which the same request may succeed. */
const RETRIED: ReadonlySet<number> = new Set([408, 409, 429]);

/** What the same request will be refused for again. */
const PERMANENT =
  /insufficient_quota|invalid_request|authentication|permission|not_found|billing|invalid_api_key|context_length|exceed_context|content_policy|too_large/;

/** The other side isn't trusted, or sends in circles: trying again changes nothing. */
const NEVER_WILL = /^(?:TOO_MANY_REDIRECTS|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** The connection never stood, so nothing was sent, and nothing can have cost. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)/;

/** Two segments or more, and no URL's. */
const LOCAL_PATH = /(?<![\w:/])(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}/g;

/** What an SDK threw: an error status, a connection that failed, or a fault of its own. */
export function requestError(error: unknown, context: FailureContext): AttemptError {
  if (error instanceof AttemptError) return error;
  const { status: ours, statusCode, error: body, isRetryable } = membersOf(error);
  // The AI SDK has its own name for it.
  const status = ours ?? statusCode;
  if (typeof status === 'number') {
    if (status >= 300 && status < 400) return redirected(status, error);
    // The OpenAI SDK unwraps the body's `error` member, the Anthropic SDK doesn't.
    const failure = judge(error, membersOf(body)['error'] ?? body, status, context);
    // An error status means that no model worked on it; an answer that can't be read was worked on.
    return new AttemptError(status < 400 ? { ...failure, usage: null } : failure, { cause: error });
  }
  const code = connectionCode(error);
  if (code === null) {
    const failure = { message: ownFault(error, context), retryable: isRetryable === true };
    return new AttemptError(failure, { cause: error });
  }
  return new AttemptError(
    {
      message: `connection failed: ${code}`,
      label: 'connection failed',
      retryable: !NEVER_WILL.test(code),
      // A connection that broke while the answer was awaited may have had its work done.
      usage: NEVER_CONNECTED.test(code) || NEVER_WILL.test(code) ? undefined : null,
    },
    { cause: error },
  );
}

/** Not the network's doing: missing credentials, a bad option, a bug. Its text may show a path. */
function ownFault(error: unknown, { secrets }: FailureContext): string {
  const words = firstLine(error);
  // The SDKs run out of stack when they make an error of a body that is nested too deep.
  const isTooDeep = error instanceof RangeError && words.includes('call stack');
  return isTooDeep
    ? "the provider's error is nested too deep to be read"
    : scrub(words, secrets, true);
}

/** The SDKs follow a redirection where they can. Where not, nothing worked on the request. */
function redirected(status: number, cause: unknown): AttemptError {
  const message = `${status} instead of an answer: the server sends elsewhere, or to a cache; check baseURL`;
  return new AttemptError({ message, retryable: false }, { cause });
}

/**
 * An error that came inside an answer with status 200.
 *
 * @param usage what the answer had used by then; undefined if nothing of it had come.
 */
export function bodyError(
  error: unknown,
  headers: Headers | null,
  usage: Usage | null | undefined,
  context: FailureContext,
): AttemptError {
  const { code, statusCode } = membersOf(error);
  const status = typeof code === 'number' ? code : statusCode;
  const failure = judge(error, error, status, context, headers);
  return new AttemptError({ ...failure, usage }, { cause: error });
}

/**
 * An answer that isn't one: it broke off, or lacks what a reply must have. The provider had begun, so
 * what it used is unknown (null) unless it said so.
 */
export function brokenReply(
  problem: string,
  headers: Headers | null,
  usage: Usage | null = null,
  cause?: unknown,
): AttemptError {
  const message = `${problem}${requestId(headers)}`;
  return new AttemptError({ message, retryable: true, label: 'broken answer', usage }, { cause });
}

/** Aborted by the run. What the provider did until then nobody counted, but for what it had reported. */
export function abortedRequest(cause: unknown, usage: Usage | null): AttemptError {
  return new AttemptError({ message: 'aborted', retryable: false, usage }, { cause });
}

/**
 * Judges an error by what was said of it.
 *
 * @param error what was thrown, with the SDK's own members.
 * @param said the provider's `{ message, type, code }`, or its words alone.
 */
function judge(
  error: unknown,
  said: unknown,
  code: unknown,
  context: FailureContext,
  headers: Headers | null = headersOf(error),
): AttemptFailure {
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined;
  const { type, code: name } = membersOf(said);
  const kind = `${stringOf(type)} ${typeof name === 'string' ? name : ''}`
    .trim()
    .slice(0, MAX_READ);
  const words = scrub(wordsOf(error, said) || kind, context.secrets) || 'no message';
  const body = stringOf(membersOf(error)['responseBody']);
  // A quota that is used up doesn't come back in minutes, whatever anybody says.
  const isSpent = `${kind} ${body}`.includes('insufficient_quota');
  const asked = askedWaitMs((header) => headers?.get(header), context.clock.now());
  return {
    message: `${status === undefined ? '' : `${status} `}${words}${requestId(headers)}`,
    label: labelOf(status, kind),
    retryable: !isSpent && (adviceOf(error, headers) ?? isPassing(status, kind)),
    retryAfterMs: asked ?? googleDelayMs(body),
  };
}

function wordsOf(error: unknown, said: unknown): string {
  const { message, error: inner } = membersOf(said);
  return (
    stringOf(message) ||
    stringOf(membersOf(inner)['message']) ||
    stringOf(said) ||
    // SDKs put the status first, which is said anyway.
    (error instanceof Error ? firstLine(error).replace(/^[45]\d\d /, '') : '')
  );
}

/** Whether the server or the SDK says to try again; undefined if neither says. */
function adviceOf(error: unknown, headers: Headers | null): boolean | undefined {
  const { isRetryable } = membersOf(error);
  const advice = headers?.get('x-should-retry') ?? null;
  if (advice !== null) return advice === 'true';
  return typeof isRetryable === 'boolean' ? isRetryable : undefined;
}

function isPassing(status: number | undefined, kind: string): boolean {
  if (status === undefined) return !PERMANENT.test(kind);
  return status >= 500 || RETRIED.has(status);
}

function labelOf(status: number | undefined, kind: string): string {
  if (status === 429 || kind.includes('rate_limit')) return 'rate limited';
  if (status === 529 || kind.includes('overloaded')) return 'overloaded';
  return status === undefined ? 'the provider failed' : `status ${status}`;
}

/** Google says how long to wait in the body (`google.rpc.RetryInfo`), not in a header. */
function googleDelayMs(body: string): number | undefined {
  const match = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"/.exec(body);
  return match === null ? undefined : Number(match[1]) * 1000;
}

function requestId(headers: Headers | null): string {
  const id = headers?.get('x-request-id') ?? headers?.get('request-id') ?? '';
  return /^[\w.:-]{1,128}$/.test(id) ? ` (request ${id})` : '';
}

/** Takes out keys, ours and those that providers repeat (`Incorrect API key provided: sk-ab***yz`). */
function scrub(message: string, secrets: readonly string[], hidesPaths = false): string {
  let clean = message;
  // Before the cut, which could leave half a key.
  for (const secret of secrets) clean = clean.replaceAll(secret, '<key>');
  clean = clean.slice(0, MAX_READ);
  if (hidesPaths) clean = clean.replace(LOCAL_PATH, '<path>');
  clean = clean
    .replace(/\bsk-[\w*-]+/g, '<key>')
    .replace(/\bBearer\s+[^\s"']+/gi, 'Bearer <key>')
    .replace(/<(?!(?:key|path)>)[a-z!/][^<>]*>/gi, ' ')
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
    const { code } = membersOf(at);
    if (typeof code === 'string' && /^[A-Z][A-Z_]{1,63}$/.test(code)) return code;
    if (at.message === 'redirect count exceeded') return 'TOO_MANY_REDIRECTS';
    isConnection ||=
      /Connection|Timeout/.test(at.constructor.name) || /fetch failed|terminated/.test(at.message);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return isConnection ? 'no answer' : null;
}

/** An error's response headers: `Headers` in the providers' SDKs, a plain object in the AI SDK. */
function headersOf(error: unknown): Headers | null {
  const { headers, responseHeaders } = membersOf(error);
  const { get } = membersOf(headers);
  const named = membersOf(responseHeaders);
  const read = (name: string): unknown =>
    typeof get === 'function' ? Reflect.apply(get, headers, [name]) : named[name];
  return { get: (name) => stringOf(read(name)) || null };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}

function stringOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
