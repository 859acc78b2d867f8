/**
 * One HTTP request to a party that isn't trusted: it may be slow, silent, endless or gone.
 *
 * @module
 */

/** How long and how much. */
export interface PostOptions {
  /** Milliseconds until the answer must have come whole; 10 seconds if not given. */
  readonly timeoutMs?: number;
  /** Gives up earlier. */
  readonly signal?: AbortSignal;
}

/** What came of it. A status that isn't 200 is an answer too. */
export type PostAnswer =
  | { readonly status: number; readonly body: Uint8Array }
  | { readonly status: undefined; readonly detail: string };

/** An answer that is longer is none: the largest that is expected is a token with its certificates. */
const MAX_ANSWER = 100_000;

/** Sends `body` to an http or https URL. It follows no redirection, and nothing that comes back makes it throw. */
export async function post(
  url: string,
  type: string,
  body: string | Uint8Array,
  { timeoutMs = 10_000, signal }: PostOptions,
): Promise<PostAnswer> {
  const fault = urlFault(url);
  if (fault !== undefined) return { status: undefined, detail: fault };
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': type },
      // A copy: fetch refuses memory that could be shared.
      body: typeof body === 'string' ? body : new Uint8Array(body),
      redirect: 'manual',
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    const answer = await readBody(response.body);
    if (answer !== undefined) return { status: response.status, body: answer };
    return { status: undefined, detail: `its answer has over ${MAX_ANSWER} bytes` };
  } catch (error) {
    if (limit.aborted) return { status: undefined, detail: `no answer within ${timeoutMs} ms` };
    return { status: undefined, detail: reason(error) };
  }
}

/** The beginning of what was said, as words that can be shown: one line, no control characters. */
export function shown(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 500));
  return text
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/** Why a status that isn't 200 is no answer, in words. */
export function refusal(status: number, body: Uint8Array): string {
  if (status >= 300 && status < 400) return 'it sends you to another address: give that one';
  return shown(body) || 'it said nothing more';
}

/** The URL isn't repeated: it may have a password in it. */
function urlFault(url: string): string | undefined {
  if (!URL.canParse(url)) return 'its address is no URL';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'its address must be http or https';
  return username + password === '' ? undefined : 'its address must have no password in it';
}

async function readBody(
  stream: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the stream, so the rest isn't sent.
    if (length > MAX_ANSWER) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What fetch says is "fetch failed"; why is in its cause, or in the causes of that. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reason(error.cause);
  // Trying both IPv4 and IPv6 fails with an empty message and a code.
  const code = 'code' in error ? String(error.code) : error.name;
  return error.message === '' ? code : error.message;
}
