/**
 * Errors of AI SDK models, told by their members: `instanceof` fails when several copies of the SDK are
 * installed.
 *
 * @module
 */
import { type Usage } from '../run/usage.ts';
import { type JsonObject } from '../transcript/index.ts';
import { membersOf } from './ai-sdk-types.ts';
import { bodyError, requestError, type FailureContext } from './failure.ts';
import { AttemptError } from './retry.ts';

/**
 * What is known of an attempt that threw.
 *
 * @param now milliseconds since the Unix epoch, for `Retry-After` dates.
 */
export function thrownError(error: unknown, now: () => number): AttemptError {
  if (error instanceof AttemptError) return error;
  const { statusCode: status } = membersOf(error);
  if (typeof status !== 'number') return judged(error, requestError(error, context(now)));
  // An error status means that no model worked on it; an answer that can't be read was worked on.
  return judged(error, answered(error, { code: status }, status < 400, now));
}

/** What is known of an attempt that streamed an error. */
export function streamedError(
  error: unknown,
  usage: Usage | null,
  now: () => number,
): AttemptError {
  const { type, code, statusCode, error: inner } = membersOf(error);
  const kind = type ?? membersOf(inner)['type'];
  const said = {
    ...(typeof kind === 'string' ? { type: kind } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof statusCode === 'number' ? { code: statusCode } : {}),
  };
  const judgement = judged(error, answered(error, said, true, now));
  return new AttemptError({ ...judgement.failure, usage }, { cause: error });
}

/** Reads the error as one that came in an answer's body. */
function answered(
  error: unknown,
  said: JsonObject,
  begun: boolean,
  now: () => number,
): AttemptError {
  const headers = membersOf(membersOf(error)['responseHeaders']);
  const get = (name: string): string | null => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };
  return bodyError({ ...said, message: messageOf(error) }, { get }, begun, context(now));
}

/** The SDK's own word on retrying goes first, but for a quota: no wait brings that back. */
function judged(error: unknown, { failure }: AttemptError): AttemptError {
  const { isRetryable, responseBody } = membersOf(error);
  const body = typeof responseBody === 'string' ? responseBody : '';
  const retryable = typeof isRetryable === 'boolean' ? isRetryable : failure.retryable;
  return new AttemptError(
    {
      ...failure,
      retryable: retryable && !body.includes('insufficient_quota'),
      retryAfterMs: failure.retryAfterMs ?? googleDelayMs(body),
    },
    { cause: error },
  );
}

function messageOf(error: unknown): string {
  const { message, error: inner } = membersOf(error);
  const found = [message, membersOf(inner)['message'], inner, error].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return typeof found === 'string' ? found : 'the model failed without a message';
}

/** Google says how long to wait in the body (`google.rpc.RetryInfo`), not in a header. */
function googleDelayMs(body: string): number | undefined {
  const match = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"/.exec(body);
  return match === null ? undefined : Number(match[1]) * 1000;
}

/** The SDK holds the keys, so none can be named here; those of known form are masked all the same. */
function context(now: () => number): FailureContext {
  return { secrets: [], now };
}
